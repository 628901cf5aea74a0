//! How far the league is, for people at a terminal; nothing for anybody else.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use league_manager::Desk;
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// Nobody sees more than this.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// A bar that follows a league.
pub(crate) struct Progress {
    bar: ProgressBar,
    following: Option<JoinHandle<()>>,
}

impl Progress {
    /// Follows the league of `desk`, unless somebody else than a person is listening.
    pub(crate) fn follow(desk: Desk, quiet: bool) -> Self {
        if quiet || !std::io::stderr().is_terminal() {
            return Self { bar: ProgressBar::hidden(), following: None };
        }
        let bar = ProgressBar::new(0);
        if let Ok(style) = ProgressStyle::with_template("{msg} [{bar:40}] {pos}/{len} matches") {
            bar.set_style(style.progress_chars("=> "));
        }
        let shown = bar.clone();
        let following = tokio::spawn(async move {
            let mut changes = desk.changes();
            loop {
                changes.mark_unchanged();
                let Ok(status) = desk.look(|season, _| season.status()).await else { return };
                match status.current_round {
                    Some(round) => {
                        shown.set_length(u64::from(status.total_matches));
                        shown.set_position(u64::from(status.matches_completed));
                        shown.set_message(format!("round {round} of {}", status.total_rounds));
                    }
                    None => shown.set_message(format!("{} players, {} referees", status.players, status.referees)),
                }
                if changes.changed().await.is_err() {
                    return;
                }
                // Whoever looks has results committed that could have waited for others.
                sleep(BETWEEN_LOOKS).await;
            }
        });
        Self { bar, following: Some(following) }
    }

    /// Clears the line.
    pub(crate) fn stop(&self) {
        if let Some(following) = &self.following {
            following.abort();
        }
        self.bar.finish_and_clear();
    }
}
