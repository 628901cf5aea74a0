//! The waiting room: how agents join, shown as long as registration is open.

use maud::{Markup, html};

use crate::league_snapshot::LeagueSnapshot;

#[derive(Clone, Debug, Default)]
pub struct WaitingRoom {
    /// The addresses of the manager, the one that is used in the commands first.
    pub addresses: Vec<String>,
    /// The command that starts a player.
    pub player: String,
    /// The command that starts a referee.
    pub referee: String,
    /// What else agents need to know: about the join key, or that only this machine can join.
    pub notes: Vec<String>,
    /// The league starts once so many players are there.
    pub expect_players: Option<u32>,
    pub expect_referees: Option<u32>,
}

impl WaitingRoom {
    /// How many players and referees are expected; none once registration was reopened, because then the operator decides.
    pub(crate) fn expected(&self, story: &LeagueSnapshot) -> [Option<u32>; 2] {
        if story.season().was_reopened() { [None, None] } else { [self.expect_players, self.expect_referees] }
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
