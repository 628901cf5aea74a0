//! Messages in reports: shortened and without secrets.

use league_protocol::display::escaped;

const MAX_SHOWN: usize = 600;

pub(crate) fn excerpt(text: &str) -> String {
    let hidden = escaped(&hide(text).replace(char::is_control, " ")).into_owned();
    let mut cut: String = hidden.chars().take(MAX_SHOWN).collect();
    let length = hidden.chars().count();
    if length > MAX_SHOWN {
        cut.push_str(&format!("… ({length} characters)"));
    }
    cut
}

pub(crate) fn holds_secret(text: &str) -> bool {
    hide(text) != text
}

fn hide(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = ["tok-", "pass-"].iter().filter_map(|mark| rest.find(mark)).min() {
        out.push_str(&rest[..at]);
        let secret = &rest[at..];
        let mark = if secret.starts_with("tok-") { "tok-" } else { "pass-" };
        let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let length = secret.find(|c| !inside(c)).unwrap_or(secret.len());
        out.push_str(mark);
        // A shorter word is no secret.
        out.push_str(if length > 20 { "…" } else { &secret[mark.len()..length] });
        rest = &secret[length..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_hides_tokens_and_passes() {
        let text = r#"{"auth_token": "tok-P01-paWlpaWlpaWlpaWlpaWlpaWlpaWl", "x": "pass-u6t1-sVzf0SBMTHYJFBT32", "a": "tok-1"}"#;
        assert_eq!(excerpt(text), r#"{"auth_token": "tok-…", "x": "pass-…", "a": "tok-1"}"#);
    }

    #[test]
    fn an_excerpt_of_a_long_text_ends_with_its_length() {
        let long = excerpt(&"é".repeat(1000));
        assert!(long.ends_with("… (1000 characters)") && long.chars().count() < 650);
        assert_eq!(excerpt("a\nb\u{7}\u{202e}"), "a b \\u202e");
    }
}
