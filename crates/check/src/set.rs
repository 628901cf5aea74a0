//! Frozen sets of rules. A published set never changes: new rules go into a new set.

use league_protocol::sender::Role;
use serde_json::{Value, json};

use crate::rule::Rule;
use crate::rules;

#[derive(PartialEq, Eq, Debug)]
pub struct RuleSet {
    /// The protocol and the date of the freeze.
    pub name: &'static str,
    player: &'static [&'static Rule],
    referee: &'static [&'static Rule],
    manager: &'static [&'static Rule],
}

static SETS: &[RuleSet] = &[RuleSet {
    name: "league.v2/2026-11",
    player: rules::player::ALL,
    referee: rules::referee::ALL,
    manager: rules::manager::ALL,
}];

impl RuleSet {
    pub fn all() -> &'static [Self] {
        SETS
    }

    pub fn newest() -> &'static Self {
        // The list above is not empty.
        &SETS[SETS.len() - 1]
    }

    pub fn named(name: &str) -> Option<&'static Self> {
        SETS.iter().find(|set| set.name == name)
    }

    /// An operator is not checked.
    pub fn for_role(&self, role: Role) -> &'static [&'static Rule] {
        match role {
            Role::Player => self.player,
            Role::Referee => self.referee,
            Role::Manager => self.manager,
            Role::Operator => &[],
        }
    }

    pub fn rules(&self) -> impl Iterator<Item = &'static Rule> {
        [self.player, self.referee, self.manager].into_iter().flatten().copied()
    }

    /// What must never change about it: names and levels.
    pub fn frozen(&self) -> Value {
        let rules = self.rules().map(|rule| (rule.id.to_owned(), json!(rule.level)));
        json!({ "set": self.name, "checks": rules.collect::<serde_json::Map<_, _>>() })
    }
}
