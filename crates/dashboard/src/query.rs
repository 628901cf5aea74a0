//! Query strings and form bodies.

#[derive(Clone, Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// Reads `a=1&b=two+words`.
    pub(crate) fn read(text: &str) -> Self {
        let pairs = text.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(name), decoded(value))
        });
        Self(pairs.take(32).collect())
    }

    /// `None` when the value is missing or empty.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(given, _)| given == name).map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }

    pub(crate) fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.text(name)?.parse().ok()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(given, _)| given == name)
    }
}

fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escaped = (bytes[at] == b'%')
            .then(|| text.get(at + 1..at + 3).and_then(|digits| u8::from_str_radix(digits, 16).ok()))
            .flatten();
        match (bytes[at], escaped) {
            (_, Some(byte)) => {
                out.push(byte);
                at += 2;
            }
            (b'+', None) => out.push(b' '),
            (plain, None) => out.push(plain),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_decoded_and_broken_escapes_stay_as_they_are() {
        let query = Query::read("q=Anna+B%C3%A4r&page=2&x=%zz&y=%&z&page=3");
        assert_eq!(query.text("q"), Some("Anna Bär"));
        assert_eq!(query.number::<u32>("page"), Some(2));
        assert_eq!((query.text("x"), query.text("y"), query.text("z")), (Some("%zz"), Some("%"), None));
        assert!(query.has("z") && !query.has("w"));
    }
}
