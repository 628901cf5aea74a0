//! How agents join a league: printed by the manager, and shown on its page while the registration is open.

use league_dashboard::WaitingRoom;
use league_protocol::sender::Role;
use league_wire::endpoint::Endpoint;

use crate::keys::Keys;
use crate::reachable::Reachable;

const HIDDEN: &str = "KEY";

pub(crate) struct Invitation<'a> {
    pub(crate) reachable: &'a Reachable,
    pub(crate) keys: &'a Keys,
    pub(crate) has_token: bool,
    pub(crate) expect_players: Option<u32>,
    pub(crate) expect_referees: Option<u32>,
}

impl Invitation<'_> {
    /// For the operator's terminal. A generated join key is shown only here.
    pub(crate) fn printed(&self) -> String {
        let others: Vec<&str> = self.reachable.others.iter().map(Endpoint::as_str).collect();
        let others = (!others.is_empty()).then(|| format!("Other addresses of the manager: {}", others.join(" ")));
        let shown = |role: Role| self.keys.generated(role).unwrap_or(HIDDEN);
        let is_hidden = |role: &Role| self.keys.is_needed(*role) && self.keys.generated(*role).is_none();
        let hidden = [Role::Referee, Role::Player].iter().any(is_hidden);
        let lines = [
            others,
            Some(format!("Watch it at {}", self.reachable.contact.beside(""))),
            Some(format!("Players join with: {}", self.command(Role::Player, shown(Role::Player)))),
            Some(format!("Referees join with: {}", self.command(Role::Referee, shown(Role::Referee)))),
            self.keys.explanation(),
            hidden.then(|| format!("{HIDDEN} is the key that you gave the manager for this role.")),
            self.note().map(str::to_owned),
            self.operating(),
        ];
        lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
    }

    /// For the public page: without a key.
    pub(crate) fn room(&self) -> WaitingRoom {
        let endpoints = [&self.reachable.contact].into_iter().chain(&self.reachable.others);
        let key = self
            .keys
            .is_needed(Role::Referee)
            .then(|| format!("{HIDDEN} is the league's key for this role: ask the operator for it."));
        WaitingRoom {
            addresses: endpoints.map(ToString::to_string).collect(),
            player: self.command(Role::Player, HIDDEN),
            referee: self.command(Role::Referee, HIDDEN),
            notes: key.into_iter().chain(self.note().map(str::to_owned)).collect(),
            expect_players: self.expect_players,
            expect_referees: self.expect_referees,
            ..WaitingRoom::default()
        }
    }

    /// How to operate the league without a token if the advertised address does not allow it.
    fn operating(&self) -> Option<String> {
        if self.has_token || self.reachable.is_local() {
            return None;
        }
        Some(match &self.reachable.here {
            Some(here) => format!(
                "Operate it on this machine at {}; --operator-token lets you operate it from other machines.",
                here.beside("")
            ),
            None => String::from("To operate the league, start the manager with --operator-token."),
        })
    }

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

    fn command(&self, role: Role, key: &str) -> String {
        let contact = &self.reachable.contact;
        let host = match self.reachable.is_local() {
            true => "",
            // The manager reaches an agent by the version of IP by which the agent reaches the manager.
            false if contact.host().contains(':') => " --host ::",
            false => " --host 0.0.0.0",
        };
        let key = if self.keys.is_needed(role) { format!(" --join-key {key}") } else { String::new() };
        format!("league {role}{host} --manager {contact}{key}")
    }
}
