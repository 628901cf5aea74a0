use smol_str::SmolStr;

/// Accepts a legal move in any case, punctuation or markup. It does not search sentences: "not even close" names no move. If the
/// legal moves are unknown, a single word counts.
pub fn named_move(text: &str, legal: &[SmolStr]) -> Option<SmolStr> {
    let word = text.trim_matches(|c: char| c.is_whitespace() || c.is_ascii_punctuation() || "“”‘’«»…。".contains(c));
    if legal.is_empty() {
        return (!word.is_empty() && !word.contains(char::is_whitespace)).then(|| SmolStr::new(word));
    }
    legal.iter().find(|known| known.eq_ignore_ascii_case(word)).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parity(text: &str) -> Option<SmolStr> {
        named_move(text, &["even", "odd"].map(SmolStr::new))
    }

    #[test]
    fn one_word_is_one_move_in_any_case_and_punctuation() {
        for even in ["even", "Even.", "EVEN\n", "  even ", "**Even**", "\"even\"", "“Even”", "`even`!"] {
            assert_eq!(parity(even).as_deref(), Some("even"), "{even:?}");
        }
        assert_eq!(named_move("**5**", &["1", "5"].map(SmolStr::new)).as_deref(), Some("5"));
    }

    #[test]
    fn anything_else_is_no_move() {
        for none in ["", "maybe", "even or odd", "even, odd", "evenly", "I choose odd.", "not even close", "7", "evеn"]
        {
            assert_eq!(parity(none), None, "{none:?}");
        }
        assert_eq!(named_move("5", &["1", "3"].map(SmolStr::new)), None);
    }
}
