//! How agents join, shown while registration is open.

use maud::{Markup, html};

use crate::league_snapshot::LeagueSnapshot;

#[derive(Clone, Debug, Default)]
pub struct WaitingRoom {
    /// The commands use the first one.
    pub addresses: Vec<String>,
    pub player: String,
    pub referee: String,
    /// Hints, such as the join key, or that only agents on this machine can join.
    pub notes: Vec<String>,
    /// The league starts with this many players.
    pub expect_players: Option<u32>,
    pub expect_referees: Option<u32>,
}

impl WaitingRoom {
    /// `None` once registration was reopened, because then the operator decides.
    pub(crate) fn expected(&self, snapshot: &LeagueSnapshot) -> [Option<u32>; 2] {
        if snapshot.season().was_reopened() { [None, None] } else { [self.expect_players, self.expect_referees] }
    }

    pub(crate) fn shown(&self) -> Markup {
        html! {
            section #join aria-labelledby="join-title" {
                h2 #join-title { "Join this league" }
                dl.join {
                    div { dt { "Manager" } dd { @for address in &self.addresses { code { (address) } " " } } }
                    div { dt { "Start a player" } dd { code { (self.player) } } }
                    div { dt { "Start a referee" } dd { code { (self.referee) } } }
                }
                @for note in &self.notes { p.small { (note) } }
            }
        }
    }
}
