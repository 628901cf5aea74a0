//! The files of a league, written while it goes on: soon after each change, several changes at a time, and once more at its end.
//!
//! They are views: that they cannot be written stops nobody. A file never shows more than is durable in the log.

use std::convert::Infallible;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use league_core::season::{LeaguePhase, Season};
use league_protocol::error::RequestError;
use league_protocol::id::RoundId;
use league_protocol::time::Timestamp;
use league_store::views::MATCH_FILES;
use league_store::views::register::RegisterFile;
use league_store::views::rounds::RoundsFile;
use league_store::views::standings::StandingsFile;
use league_store::views::writer::ViewUpdate;
use tokio::time::sleep;

use crate::manager::Shared;

/// The pause between two writings. The files are at most a quarter of a second late, writing included.
const PAUSE: Duration = Duration::from_millis(200);

/// What the files show, in short: they are written again when this differs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct FiledState {
    tables: Option<Tables>,
    agents: Option<u64>,
}

/// What `standings.json` and `rounds.json` depend on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Tables {
    phase: LeaguePhase,
    round: RoundId,
    results: u32,
    players: usize,
    withdrawn: usize,
}

impl FiledState {
    fn of(season: &Season) -> Self {
        let scheduled = season.phase() != LeaguePhase::WaitingForRegistrations || season.was_reopened();
        let tables = scheduled.then(|| Tables {
            phase: season.phase(),
            round: season.round_number(),
            results: season.matches_completed(),
            players: season.players().len(),
            withdrawn: season.players().iter().filter(|player| player.withdrawn).count(),
        });
        let is_empty = season.players().is_empty() && season.referees().is_empty();
        Self { tables, agents: (!is_empty).then(|| agents(season)) }
    }
}

/// Equal for equal entries in the register.
fn agents(season: &Season) -> u64 {
    let mut hasher = DefaultHasher::new();
    for player in season.players() {
        (&player.id, &player.profile.name, &player.profile.endpoint, &player.profile.version).hash(&mut hasher);
        (&player.profile.games, player.withdrawn).hash(&mut hasher);
    }
    for referee in season.referees() {
        (&referee.id, &referee.profile.name, &referee.profile.endpoint, &referee.profile.version).hash(&mut hasher);
        (&referee.profile.games, referee.capacity, referee.lost).hash(&mut hasher);
    }
    hasher.finish()
}

impl Shared {
    /// Has the files written whenever what they show has changed. Never ends.
    pub(crate) async fn keep_files(&self) -> Infallible {
        let mut changes = self.desk.changes();
        let mut shown = FiledState::default();
        while self.views.is_some() {
            changes.mark_unchanged();
            match self.write(shown).await {
                Ok(now) => shown = now,
                Err(_) => break,
            }
            sleep(PAUSE).await;
            if changes.changed().await.is_err() {
                break;
            }
        }
        std::future::pending().await
    }

    /// Has the files written as they stand.
    pub(crate) async fn file(&self) -> Result<(), RequestError> {
        self.write(FiledState::default()).await.map(|_| ())
    }

    /// Has those files written that do not show what was `shown`; gives what they show then.
    async fn write(&self, shown: FiledState) -> Result<FiledState, RequestError> {
        let Some(views) = &self.views else { return Ok(shown) };
        let contact = self.settings.contact.clone();
        let look = move |season: &Season, now: Timestamp| {
            let due = FiledState::of(season);
            let tables = (due.tables != shown.tables)
                .then(|| (StandingsFile::of(season, now), RoundsFile::of(season, MATCH_FILES, now)));
            let register = (due.agents != shown.agents).then(|| RegisterFile::of(season, contact.as_deref(), now));
            (due, tables, register)
        };
        let (due, tables, register) = self.desk.read(look).await?;
        if let Some((standings, rounds)) = tables {
            views.put(ViewUpdate::Standings(standings)).await;
            views.put(ViewUpdate::Rounds(rounds)).await;
        }
        if let Some(register) = register {
            views.put(ViewUpdate::Register(register)).await;
        }
        Ok(due)
    }
}
