//! One word out of what a model says.

use league_protocol::parity::Parity;

/// `even` or `odd`, when `text` is that one word, in whatever case, punctuation or markup. A sentence is not taken apart: who
/// says "not even close" has chosen nothing.
pub fn one_word(text: &str) -> Option<Parity> {
    Parity::folded(
        text.trim_matches(|c: char| c.is_whitespace() || c.is_ascii_punctuation() || "“”‘’«»…。".contains(c)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_word_is_one_word_however_it_is_dressed() {
        for even in ["even", "Even.", "EVEN\n", "  even ", "**Even**", "\"even\"", "“Even”", "`even`!"] {
            assert_eq!(one_word(even), Some(Parity::Even), "{even:?}");
        }
        for odd in ["odd", "Odd.", "(odd)", "odd…"] {
            assert_eq!(one_word(odd), Some(Parity::Odd), "{odd:?}");
        }
    }

    #[test]
    fn anything_else_is_no_choice() {
        for none in ["", "maybe", "even or odd", "even, odd", "evenly", "I choose odd.", "not even close", "7", "evеn"]
        {
            assert_eq!(one_word(none), None, "{none:?}");
        }
    }
}
