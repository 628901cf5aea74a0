use std::fmt;

/// The key can only be sent: it cannot be printed, stored or compared.
#[derive(Clone)]
pub struct ApiKey(String);

impl ApiKey {
    /// Trims the line end that files and shells add.
    pub fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    pub(super) fn reveal(&self) -> &str {
        &self.0
    }

    pub(super) fn is_in(&self, text: &str) -> bool {
        !self.0.is_empty() && text.contains(&self.0)
    }
}

impl From<String> for ApiKey {
    fn from(text: String) -> Self {
        Self::new(&text)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_shows_nothing_of_itself() {
        let key = ApiKey::new("sk-very-secret\n");
        assert_eq!(format!("{key:?} {key:#?}"), "Key(…) Key(…)");
        assert_eq!(key.reveal(), "sk-very-secret");
        assert!(key.is_in("your key sk-very-secret is odd") && !key.is_in("odd") && !ApiKey::new("").is_in("odd"));
    }
}
