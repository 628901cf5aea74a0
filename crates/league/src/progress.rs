//! The progress of a league on a terminal: which agents it waits for, then a bar with rate and remaining time.

use std::fmt::Write;
use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use league_manager::LeagueHandle;
use league_wire::endpoint::Endpoint;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::words::counted;

const READ_INTERVAL: Duration = Duration::from_millis(100);
const SPINNER_INTERVAL: Duration = Duration::from_millis(200);

pub(crate) struct Expected {
    pub(crate) players: Option<u32>,
    /// How many of the players the operator starts.
    pub(crate) guests: u32,
    pub(crate) referees: Option<u32>,
    pub(crate) manager: Endpoint,
}

impl Expected {
    fn waiting_for(&self, players: u32, referees: u32) -> String {
        let missing_players = self.players.map_or(0, |expected| expected.saturating_sub(players));
        let missing_referees = self.referees.map_or(0, |expected| expected.saturating_sub(referees));
        let guests = missing_players.min(self.guests);
        let manager = &self.manager;
        if guests > 0 {
            let start = if guests == 1 { "yours" } else { "them" };
            return format!("waiting for {}: start {start} with --manager {manager}", counted(guests, "guest"));
        }
        let missing = [(missing_players, "player"), (missing_referees, "referee")]
            .into_iter()
            .filter(|(missing, _)| *missing > 0);
        let missing: Vec<String> = missing.map(|(missing, noun)| counted(missing, noun)).collect();
        if missing.is_empty() {
            return format!("{}, {}", counted(players, "player"), counted(referees, "referee"));
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
        bar.enable_steady_tick(SPINNER_INTERVAL);
        let shown = bar.clone();
        let following = tokio::spawn(async move {
            let (mut changes, mut playing) = (league_handle.changes(), false);
            loop {
                changes.mark_unchanged();
                let Ok(status) = league_handle.read(|season, _| season.status()).await else { return };
                match status.current_round.0 {
                    0 => shown.set_message(expected.waiting_for(status.players, status.referees)),
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
                sleep(READ_INTERVAL).await;
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

    #[test]
    fn a_league_names_the_missing_agents() {
        let waiting_for = |players, guests, referees, registered: (u32, u32)| {
            let manager = "http://h:1/mcp".parse().unwrap();
            Expected { players, guests, referees, manager }.waiting_for(registered.0, registered.1)
        };
        let one_guest = "waiting for 1 guest: start yours with --manager http://h:1/mcp";
        assert_eq!(waiting_for(Some(4), 1, Some(2), (3, 2)), one_guest);
        let two_guests = "waiting for 2 guests: start them with --manager http://h:1/mcp";
        assert_eq!(waiting_for(Some(4), 2, Some(2), (1, 2)), two_guests);
        let missing = "waiting for 1 player and 1 referee at http://h:1/mcp";
        assert_eq!(waiting_for(Some(4), 0, Some(1), (3, 0)), missing);
        assert_eq!(waiting_for(None, 0, None, (1, 2)), "1 player, 2 referees");
    }
}
