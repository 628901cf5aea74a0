//! How agents join, shown while registration is open.

use std::time::{Duration, Instant};

use league_core::season::LeaguePhase;
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
    /// When the manager began to wait, and how long it waits for the first start; `None` when it waits for the operator.
    pub window: Option<(Instant, Duration)>,
}

impl WaitingRoom {
    /// `None` once registration was reopened, because then the operator decides.
    pub(crate) fn expected(&self, snapshot: &LeagueSnapshot) -> [Option<u32>; 2] {
        if snapshot.season().was_reopened() { [None, None] } else { [self.expect_players, self.expect_referees] }
    }

    /// Such as "2 players and 1 referee"; `None` when all expected agents are there.
    pub(crate) fn missing(&self, snapshot: &LeagueSnapshot) -> Option<String> {
        let season = snapshot.season();
        let missing = |expected: Option<u32>, there: usize, word: &str| {
            let missing = (expected? as usize).saturating_sub(there);
            let plural = if missing == 1 { "" } else { "s" };
            (missing > 0).then(|| format!("{missing} {word}{plural}"))
        };
        let [players, referees] = self.expected(snapshot);
        let present = season.referees().iter().filter(|referee| !referee.is_absent()).count();
        let missing = [missing(players, season.players().len(), "player"), missing(referees, present, "referee")];
        let missing: Vec<String> = missing.into_iter().flatten().collect();
        (!missing.is_empty() && season.phase() == LeaguePhase::WaitingForRegistrations).then(|| missing.join(" and "))
    }

    /// `None` once it has ended, or registration was reopened, because then the manager measures another window.
    fn open_window(&self, snapshot: &LeagueSnapshot) -> Option<(Instant, Duration)> {
        self.window.filter(|(since, span)| since.elapsed() < *span && !snapshot.season().was_reopened())
    }

    /// What the league waits for, in a sentence.
    pub(crate) fn beginning(&self, snapshot: &LeagueSnapshot) -> String {
        let [players, referees] = self.expected(snapshot);
        match self.missing(snapshot) {
            Some(missing) => format!("Waiting for {missing}."),
            None if players.or(referees).is_some() => String::from("All expected agents are here; the league begins."),
            None if self.open_window(snapshot).is_some() => {
                String::from("Waiting for players until the registration closes.")
            }
            None if self.window.is_some() && !snapshot.season().was_reopened() => {
                String::from("Waiting for enough players and referees.")
            }
            None => String::from("Waiting for the operator, who starts the league."),
        }
    }

    /// How the league begins.
    pub(crate) fn rule(&self, snapshot: &LeagueSnapshot) -> String {
        let [players, referees] = self.expected(snapshot);
        let all = players.or(referees).map(|_| "when all expected agents are here");
        let window = self.window.map(|_| "when the registration closes and enough agents are here");
        let ways = [all, window, Some("when the operator starts it")];
        format!("The league begins {}.", ways.into_iter().flatten().collect::<Vec<_>>().join(", or "))
    }

    pub(crate) fn shown(&self, snapshot: &LeagueSnapshot) -> Markup {
        let left = self.open_window(snapshot).map(|(since, span)| (span.saturating_sub(since.elapsed()), span));
        html! {
            p.headline #waiting-for { (self.beginning(snapshot)) }
            @if let Some((left, span)) = left {
                p.clock #closes data-left=(left.as_millis()) { "Registration closes in " b { (left.as_secs()) } " s." }
                progress max=(span.as_millis()) value=(left.as_millis()) aria-label="Time left to register" {}
            }
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
