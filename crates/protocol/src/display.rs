//! Text from peers on a terminal or a page.

use std::borrow::Cow;
use std::fmt::Write;

/// Replaces characters that act on a terminal or reorder or hide other text with JSON escapes such as `\u001b`. Line breaks and
/// tabs stay. JSON text stays valid, because the escapes mean the same characters there.
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_unsafe(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

fn is_unsafe(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t') || is_invisible(c)
}

/// Bidirectional controls, zero-width characters and other format characters. A zero-width joiner stays, because it builds
/// emoji and cannot reorder text.
pub fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}' | '\u{200c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_act_on_a_terminal_are_escaped() {
        for (text, shown) in [
            ("plain, é, 日本, 👩\u{200d}🔬\n\tnext line", "plain, é, 日本, 👩\u{200d}🔬\n\tnext line"),
            ("\u{1b}]0;title\u{7}", "\\u001b]0;title\\u0007"),
            ("a\rb\u{9b}1m", "a\\u000db\\u009b1m"),
            ("\u{202e}mitciV\u{2066}", "\\u202emitciV\\u2066"),
            ("Vic\u{200b}tim\u{feff}\u{e0001}", "Vic\\u200btim\\ufeff\\udb40\\udc01"),
        ] {
            assert_eq!(escaped(text), shown);
        }
        let json = serde_json::to_string("a\u{202e}b").unwrap();
        assert_eq!(serde_json::from_str::<String>(&escaped(&json)).unwrap(), "a\u{202e}b", "JSON keeps its meaning");
    }
}
