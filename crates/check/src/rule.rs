use std::fmt;

use serde::Serialize;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleLevel {
    /// An agent that breaks it cannot take part, or loses matches.
    Required,
    /// The protocol asks for it, and some implementation relies on it.
    Recommended,
    /// A difference that this league understands and others may not.
    Quirk,
}

impl fmt::Display for RuleLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Required => "required",
            Self::Recommended => "recommended",
            Self::Quirk => "quirk",
        })
    }
}

#[derive(PartialEq, Eq, Debug)]
pub struct Rule {
    /// Never changes, like `player.choice.exact`.
    pub id: &'static str,
    pub level: RuleLevel,
    pub section: u8,
    pub text: &'static str,
    pub hint: &'static str,
}

impl Rule {
    /// The part between the dots, by which checks are grouped.
    pub fn group(&self) -> &'static str {
        self.id.split('.').nth(1).unwrap_or(self.id)
    }
}

/// Declares the rules for a role, in the order in which they are shown.
macro_rules! rules {
    ($($name:ident = $id:literal, $level:ident, $section:literal: $text:literal, $hint:literal;)*) => {
        $(
            #[doc = $text]
            pub(crate) static $name: $crate::rule::Rule = $crate::rule::Rule {
                id: $id,
                level: $crate::rule::RuleLevel::$level,
                section: $section,
                text: $text,
                hint: $hint,
            };
        )*

        /// Every rule of this role.
        pub(crate) static ALL: &[&$crate::rule::Rule] = &[$(&$name),*];
    };
}
pub(crate) use rules;
