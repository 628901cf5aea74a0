//! How agents join a league: what its manager prints, and shows on its page as long as registration is open.

use league_dashboard::WaitingRoom;
use league_protocol::sender::Role;
use league_wire::endpoint::Endpoint;

use crate::join_key::JoinKey;
use crate::reachable::Reachable;

/// What stands for a join key that is not shown.
const HIDDEN: &str = "KEY";

pub(crate) struct Invitation<'a> {
    pub(crate) reachable: &'a Reachable,
    pub(crate) key: &'a JoinKey,
    /// Whether there is an operator's token.
    pub(crate) has_token: bool,
    pub(crate) expect_players: Option<u32>,
    pub(crate) expect_referees: Option<u32>,
}

impl Invitation<'_> {
    /// For the operator's console. A join key that the manager made is shown here and nowhere else.
    pub(crate) fn printed(&self) -> String {
        let shown = self.key.made().unwrap_or(HIDDEN);
        let others: Vec<&str> = self.reachable.others.iter().map(Endpoint::as_str).collect();
        let others = (!others.is_empty()).then(|| format!("Other addresses of the manager: {}", others.join(" ")));
        let chosen = self.key.of_referees().filter(|_| self.key.made().is_none());
        let lines = [
            others,
            Some(format!("Watch it at {}", self.reachable.contact.at("/"))),
            Some(format!("Players join with: {}", self.command(Role::Player, shown))),
            Some(format!("Referees join with: {}", self.command(Role::Referee, shown))),
            self.key.told(),
            chosen.map(|_| format!("{HIDDEN} is the join key that you gave the manager.")),
            self.note().map(str::to_owned),
            self.operating(),
        ];
        lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
    }

    /// For the page, which everybody may look at: no key is on it.
    pub(crate) fn room(&self) -> WaitingRoom {
        let endpoints = [&self.reachable.contact].into_iter().chain(&self.reachable.others);
        let key =
            self.key.of_referees().map(|_| format!("{HIDDEN} is the league's join key: ask the operator for it."));
        WaitingRoom {
            addresses: endpoints.map(ToString::to_string).collect(),
            player: self.command(Role::Player, HIDDEN),
            referee: self.command(Role::Referee, HIDDEN),
            notes: key.into_iter().chain(self.note().map(str::to_owned)).collect(),
            expect_players: self.expect_players,
            expect_referees: self.expect_referees,
        }
    }

    /// How the league is operated without a token, where the address that is watched does not do for it.
    fn operating(&self) -> Option<String> {
        if self.has_token || self.reachable.is_local() {
            return None;
        }
        Some(match &self.reachable.here {
            Some(here) => format!(
                "Operate it on this machine at {}; --operator-token lets you operate it from other machines.",
                here.at("/")
            ),
            None => String::from("To operate the league, start the manager with --operator-token."),
        })
    }

    /// What agents of other machines have to know.
    fn note(&self) -> Option<&'static str> {
        if self.reachable.is_cut_off {
            Some(
                "This machine has no address but loopback, so only agents on this machine can join. Connect it to a network and \
                 start the manager again.",
            )
        } else if self.reachable.is_local() {
            Some(
                "Only agents on this machine can join. Start the manager with --host 0.0.0.0 to let in other machines.",
            )
        } else {
            None
        }
    }

    /// The command that starts an agent of this `role` on any machine that reaches the manager.
    fn command(&self, role: Role, key: &str) -> String {
        let contact = &self.reachable.contact;
        let host = match self.reachable.is_local() {
            true => "",
            // An agent that reaches the manager by version six is reached by it.
            false if contact.host().contains(':') => " --host ::",
            false => " --host 0.0.0.0",
        };
        let needed = if role == Role::Referee { self.key.of_referees() } else { self.key.of_players() };
        let key = needed.map_or_else(String::new, |_| format!(" --join-key {key}"));
        format!("league {role}{host} --manager {contact}{key}")
    }
}
