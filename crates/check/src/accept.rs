//! Known failures: a text file with one check per line. `#` begins a comment. A listed check that passes is reported as
//! stale.

use std::collections::BTreeSet;

use thiserror::Error;

use crate::set::RuleSet;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Accepted {
    ids: BTreeSet<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("line {line}: there is no check {name:?} in {set}; docs/checks.md lists them")]
pub struct UnknownCheck {
    line: usize,
    name: String,
    set: &'static str,
}

impl Accepted {
    pub fn read(text: &str, set: &RuleSet) -> Result<Self, UnknownCheck> {
        let mut ids = BTreeSet::new();
        for (line, written) in text.lines().enumerate() {
            let name = written.split('#').next().unwrap_or_default().trim();
            if name.is_empty() {
                continue;
            }
            if !set.rules().any(|rule| rule.id == name) {
                return Err(UnknownCheck { line: line + 1, name: name.to_owned(), set: set.name });
            }
            ids.insert(name.to_owned());
        }
        Ok(Self { ids })
    }

    pub fn has(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.ids.iter().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_known_failures_has_one_check_per_line_and_comments() {
        let text = "# known\nplayer.rpc.batch   # not sent here\n\n  player.http.get\n";
        let accepted = Accepted::read(text, RuleSet::newest()).unwrap();
        assert_eq!(accepted.ids().collect::<Vec<_>>(), ["player.http.get", "player.rpc.batch"]);
        let wrong = Accepted::read("\nplayer.rpc.bach", RuleSet::newest()).unwrap_err().to_string();
        assert!(wrong.contains("line 2") && wrong.contains("player.rpc.bach"), "{wrong}");
    }
}
