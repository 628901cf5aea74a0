//! Writes the files of a league soon after each change, and once more at the end.
//!
//! The league continues when its files cannot be written. A file never shows more than the log.

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

/// Files are at most a quarter of a second late.
const PAUSE: Duration = Duration::from_millis(200);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct FiledState {
    /// For `standings.json` and `rounds.json`: phase, round, and numbers of results, players and withdrawn players.
    tables: Option<(LeaguePhase, RoundId, u32, usize, usize)>,
    /// For the register of agents: a hash of its entries.
    agents: Option<u64>,
}

impl FiledState {
    fn of(season: &Season) -> Self {
        let (players, referees) = (season.players(), season.referees());
        let scheduled = season.phase() != LeaguePhase::WaitingForRegistrations || season.was_reopened();
        let withdrawn = players.iter().filter(|player| player.withdrawn).count();
        let counts = (season.matches_completed(), players.len(), withdrawn);
        let mut hasher = DefaultHasher::new();
        players.iter().for_each(|one| (&one.id, &one.profile, one.withdrawn).hash(&mut hasher));
        referees.iter().for_each(|one| (&one.id, &one.profile, one.capacity, one.condition()).hash(&mut hasher));
        Self {
            tables: scheduled.then(|| (season.phase(), season.round_number(), counts.0, counts.1, counts.2)),
            agents: (!players.is_empty() || !referees.is_empty()).then(|| hasher.finish()),
        }
    }
}

impl Shared {
    pub(crate) async fn keep_files(&self) -> Infallible {
        let mut changes = self.league_handle.changes();
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

    pub(crate) async fn file(&self) -> Result<(), RequestError> {
        self.write(FiledState::default()).await.map(|_| ())
    }

    /// Writes only the files that differ from `shown`; returns the new state.
    async fn write(&self, shown: FiledState) -> Result<FiledState, RequestError> {
        let Some(views) = &self.views else { return Ok(shown) };
        let contact = self.settings.contact.clone();
        let look = move |season: &Season, _: Timestamp| {
            let due = FiledState::of(season);
            let tables =
                (due.tables != shown.tables).then(|| (StandingsFile::of(season), RoundsFile::of(season, MATCH_FILES)));
            let register = (due.agents != shown.agents).then(|| RegisterFile::of(season, contact.as_deref()));
            (due, tables, register)
        };
        let (due, tables, register) = self.league_handle.read(look).await?;
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
