//! Parameters of a format: `swiss:rounds=7` on the command line and in the log, `{ "name": "swiss", "rounds": 7 }` in a
//! configuration file.

use smol_str::SmolStr;
use thiserror::Error;

use super::FORMATS;

#[derive(Debug)]
pub struct Parameter {
    pub name: &'static str,
    pub about: &'static str,
    pub allowed: Allowed,
}

#[derive(Debug)]
pub enum Allowed {
    Number { least: u32, most: u32 },
    OddNumber { most: u32 },
    OneOf(&'static [&'static str]),
}

impl Allowed {
    fn allows(&self, value: &str) -> bool {
        let number = || value.parse::<u32>().ok().filter(|number| number.to_string() == value);
        match self {
            Self::Number { least, most } => number().is_some_and(|number| (*least..=*most).contains(&number)),
            Self::OddNumber { most } => number().is_some_and(|number| number % 2 == 1 && number <= *most),
            Self::OneOf(words) => words.contains(&value),
        }
    }

    fn expected(&self) -> String {
        match self {
            Self::Number { least, most } => format!("a whole number from {least} to {most}"),
            Self::OddNumber { most } => format!("an odd number from 1 to {most}"),
            Self::OneOf(words) => words.join(" or "),
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum BadFormat {
    #[error("unknown format {found:?}: expected {}", quoted(FORMATS.iter().map(|entry| entry.name)))]
    Name { found: String },
    #[error("{format} has no parameter {found:?}: expected {}", expected_parameters(format))]
    Parameter { format: &'static str, found: String },
    #[error("{parameter} is given twice: expected each parameter once")]
    Twice { parameter: &'static str },
    #[error("{parameter} is {found:?}: expected {expected}")]
    Value { parameter: &'static str, found: String, expected: String },
    #[error("{found:?} is no parameter: expected NAME=VALUE, as in `swiss:rounds=7`")]
    Assignment { found: String },
}

fn quoted<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.map(|word| format!("`{word}`")).collect();
    match words.as_slice() {
        [.., _] if words.len() > 2 => format!("one of {}", words.join(", ")),
        words => words.join(" or "),
    }
}

fn expected_parameters(format: &str) -> String {
    let known = FORMATS.iter().find(|entry| entry.name == format);
    match known.map_or(&[][..], |entry| entry.parameters) {
        [] => String::from("no parameter"),
        parameters => quoted(parameters.iter().map(|parameter| parameter.name)),
    }
}

/// The values that were given, in the order in which the format declares its parameters.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Values(Vec<(&'static str, SmolStr)>);

impl Values {
    pub(super) fn checked<'a>(
        format: &'static str,
        known: &'static [Parameter],
        given: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, BadFormat> {
        let mut values: Vec<(usize, &'static str, SmolStr)> = Vec::new();
        for (name, value) in given {
            let found = || BadFormat::Parameter { format, found: name.to_owned() };
            let place = known.iter().position(|parameter| parameter.name == name).ok_or_else(found)?;
            let Parameter { name: parameter, allowed, .. } = &known[place];
            if !allowed.allows(value) {
                return Err(BadFormat::Value { parameter, found: value.to_owned(), expected: allowed.expected() });
            }
            if values.iter().any(|(other, ..)| *other == place) {
                return Err(BadFormat::Twice { parameter });
            }
            values.push((place, parameter, SmolStr::new(value)));
        }
        values.sort_by_key(|(place, ..)| *place);
        Ok(Self(values.into_iter().map(|(_, name, value)| (name, value)).collect()))
    }

    pub fn word(&self, parameter: &str) -> Option<&str> {
        self.0.iter().find(|(name, _)| *name == parameter).map(|(_, value)| value.as_str())
    }

    pub fn number(&self, parameter: &str) -> Option<u32> {
        self.word(parameter)?.parse().ok()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(name, value)| (*name, value.as_str()))
    }
}
