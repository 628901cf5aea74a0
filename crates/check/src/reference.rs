//! docs/checks.md: every check of every set, rendered from the rules that the checker runs on.

use league_protocol::sender::Role;

use crate::set::RuleSet;

pub fn document() -> String {
    let mut text = String::from(
        "# Checks\n\n\
         What `league check` looks at, generated from the checker itself. The numbers are sections of\n\
         [PROTOCOL.md](../PROTOCOL.md). *Required*: who breaks it cannot take part, or loses matches by it. *Recommended*: the\n\
         protocol asks for it. *Quirk*: this league understands it, others may not.\n",
    );
    for set in RuleSet::all() {
        for role in [Role::Player, Role::Referee, Role::Manager] {
            let rules = set.for_role(role);
            text.push_str(&format!("\n## {role}: {} checks of {}\n\n", rules.len(), set.name));
            text.push_str("| check | level | rule | | when it fails |\n|---|---|---|---|---|\n");
            for rule in rules {
                let cells = [rule.text, rule.hint].map(|cell| cell.replace('|', "\\|"));
                let (id, level, section) = (rule.id, rule.level, rule.section);
                text.push_str(&format!("| `{id}` | {level} | {} | {section} | {} |\n", cells[0], cells[1]));
            }
        }
    }
    text
}
