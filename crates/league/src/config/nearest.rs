//! What somebody may have meant.

/// The longest word that is compared.
const LONGEST: usize = 64;

/// The word of `known` that is nearest to `word`, when one is near at all: one holds the other, or no more than every third
/// letter differs.
pub(super) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    // A key may be as long as its file; nothing that long resembles any of ours.
    if word.len() > LONGEST {
        return None;
    }
    let near = |candidate: &&&str| {
        let holds = candidate.contains(word) || word.contains(**candidate);
        (holds && word.len() >= 4) || steps(word, candidate) * 3 <= word.len()
    };
    known.iter().filter(near).min_by_key(|candidate| steps(word, candidate)).copied()
}

/// How many letters must be put in, left out or replaced to make `b` of `a`.
fn steps(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, right) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(left != *right);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 4] = ["move_timeout_sec", "game_join_ack_timeout_sec", "base_host", "strict"];

    #[test]
    fn a_slip_leads_to_the_word_that_was_meant() {
        for (slip, meant) in [
            ("move_timout_sec", "move_timeout_sec"),
            ("moveTimeoutSec", "move_timeout_sec"),
            ("move_timeout", "move_timeout_sec"),
            ("host", "base_host"),
            ("stirct", "strict"),
        ] {
            assert_eq!(nearest(slip, &KNOWN), Some(meant), "{slip}");
        }
    }

    #[test]
    fn what_resembles_nothing_leads_nowhere() {
        for strange in ["logging", "", "x", "sec", &"x".repeat(1000)] {
            assert_eq!(nearest(strange, &KNOWN), None, "{strange}");
        }
    }

    #[test]
    fn steps_are_counted_both_ways() {
        assert_eq!((steps("kitten", "sitting"), steps("sitting", "kitten"), steps("", "abc")), (3, 3, 3));
    }
}
