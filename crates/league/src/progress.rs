//! The progress of a league on a terminal: which agents it waits for, then a bar with rate and remaining time.

use std::fmt::Write;
use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use league_manager::LeagueHandle;
use league_protocol::message::query::LeagueStatus;
use league_wire::endpoint::Endpoint;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::words::counted;

const BETWEEN_LOOKS: Duration = Duration::from_millis(100);
const TURN: Duration = Duration::from_millis(200);

pub(crate) struct Expected {
    pub(crate) players: Option<u32>,
    /// How many of the players the operator starts.
    pub(crate) guests: u32,
    pub(crate) referees: Option<u32>,
    pub(crate) manager: Endpoint,
}

impl Expected {
    fn waiting_for(&self, status: &LeagueStatus) -> String {
        let players = self.players.map_or(0, |expected| expected.saturating_sub(status.players));
        let referees = self.referees.map_or(0, |expected| expected.saturating_sub(status.referees));
        let guests = players.min(self.guests);
        let manager = &self.manager;
        if guests > 0 {
            let start = if guests == 1 { "yours" } else { "them" };
            return format!("waiting for {}: start {start} with --manager {manager}", counted(guests, "guest"));
        }
        let missing = [(players, "player"), (referees, "referee")].into_iter().filter(|(missing, _)| *missing > 0);
        let missing: Vec<String> = missing.map(|(missing, noun)| counted(missing, noun)).collect();
        if missing.is_empty() {
            return format!("{}, {}", counted(status.players, "player"), counted(status.referees, "referee"));
        }
        format!("waiting for {} at {manager}", missing.join(" and "))
    }
}

pub(crate) struct Progress {
    bar: ProgressBar,
    following: Option<JoinHandle<()>>,
}

impl Progress {
    pub(crate) fn bar(&self) -> ProgressBar {
        self.bar.clone()
    }

    /// Without a terminal it prints once which guests are expected. Prints nothing if `quiet`.
    pub(crate) fn follow(league_handle: LeagueHandle, expected: Expected, quiet: bool) -> Self {
        if quiet || !std::io::stderr().is_terminal() {
            if !quiet && expected.guests > 0 {
                let (guests, manager) = (counted(expected.guests, "guest"), &expected.manager);
                eprintln!("Waiting for {guests}: start an agent with --manager {manager}");
            }
            return Self { bar: ProgressBar::hidden(), following: None };
        }
        let bar = ProgressBar::new(0).with_style(waiting_style());
        bar.enable_steady_tick(TURN);
        let shown = bar.clone();
        let following = tokio::spawn(async move {
            let (mut changes, mut playing) = (league_handle.changes(), false);
            loop {
                changes.mark_unchanged();
                let Ok(status) = league_handle.read(|season, _| season.status()).await else { return };
                match status.current_round.0 {
                    0 => shown.set_message(expected.waiting_for(&status)),
                    round => {
                        if !playing {
                            playing = true;
                            shown.set_style(playing_style());
                            // The wait for agents does not count.
                            shown.reset_eta();
                        }
                        shown.set_length(u64::from(status.total_matches));
                        shown.set_position(u64::from(status.matches_completed));
                        shown.set_message(format!("round {round} of {}", status.total_rounds));
                    }
                }
                if changes.changed().await.is_err() {
                    return;
                }
                // Each read makes the manager commit results that it could have batched.
                sleep(BETWEEN_LOOKS).await;
            }
        });
        Self { bar, following: Some(following) }
    }

    pub(crate) fn stop(&self) {
        if let Some(following) = &self.following {
            following.abort();
        }
        self.bar.finish_and_clear();
    }
}

/// Without a bar: an empty one would look full.
fn waiting_style() -> ProgressStyle {
    ProgressStyle::with_template("{spinner} {msg}").unwrap_or_else(|_| ProgressStyle::default_spinner())
}

fn playing_style() -> ProgressStyle {
    let style = ProgressStyle::with_template("{msg} [{bar:30}] {pos}/{len} matches, {rate}, {eta} left");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> ");
    style.with_key("rate", |state: &ProgressState, out: &mut dyn Write| {
        let _ = write!(out, "{:.0}/s", state.per_sec());
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(expected: (Option<u32>, u32, Option<u32>), there: (u32, u32)) -> String {
        let manager: Endpoint = "http://127.0.0.1:8000/mcp".parse().unwrap();
        let expected = Expected { players: expected.0, guests: expected.1, referees: expected.2, manager };
        let status = LeagueStatus {
            league_id: "cup".parse().unwrap(),
            display_name: None,
            state: "WAITING_FOR_REGISTRATIONS".into(),
            halted: false,
            current_round: league_protocol::id::RoundId(0),
            total_rounds: 0,
            players: there.0,
            referees: there.1,
            matches_completed: 0,
            total_matches: 0,
        };
        expected.waiting_for(&status)
    }

    #[test]
    fn a_league_says_whom_it_waits_for() {
        let manager = "http://127.0.0.1:8000/mcp";
        assert_eq!(
            told((Some(4), 1, Some(2)), (3, 2)),
            format!("waiting for 1 guest: start yours with --manager {manager}")
        );
        assert_eq!(
            told((Some(4), 2, Some(2)), (1, 2)),
            format!("waiting for 2 guests: start them with --manager {manager}")
        );
        assert_eq!(told((Some(4), 0, Some(1)), (3, 0)), format!("waiting for 1 player and 1 referee at {manager}"));
        assert_eq!(told((None, 0, None), (1, 2)), "1 player, 2 referees");
    }
}
