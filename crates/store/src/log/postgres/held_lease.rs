//! What the manager that leads a league writes beside the log: where it is, which keys count, and transcripts.
//!
//! A successor reads the digests, so that the same keys and tokens count at every manager, and the transcripts of matches
//! that ended before it led. A manager that has lost its lease changes nothing.

use std::fmt;
use std::time::Duration;

use league_protocol::id::{LeagueId, MatchId};
use league_protocol::message::transcript::TranscriptDigest;
use league_protocol::token::{Credential, TokenDigest};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use tokio_postgres::types::ToSql;

use super::writer::{LEASE_SECONDS, RETRY_LIMIT, RETRY_PAUSE, WriterState};
use super::{Failure, PostgresStore, within};
use crate::log::LogError;

const PUBLISH: &str = "UPDATE league.lease SET url = $3, relay_key = $4 WHERE league = $1 AND epoch = $2";
const KEEP: &str = "
    WITH held AS MATERIALIZED (SELECT FROM league.lease WHERE league = $1 AND epoch = $2 FOR SHARE)
    INSERT INTO league.credential (league, role, digest) SELECT $1, $3, $4 WHERE EXISTS (SELECT FROM held)
    ON CONFLICT (league, role) DO UPDATE SET digest = excluded.digest";
/// Only one transcript of a match is kept: those of attempts that were given up would fill the disk.
const KEEP_TRANSCRIPT: &str = "
    WITH held AS MATERIALIZED (SELECT FROM league.lease WHERE league = $1 AND epoch = $2 FOR SHARE),
    replaced AS (
        DELETE FROM league.transcript
        WHERE league = $1 AND match_id = $3 AND digest <> $4 AND EXISTS (SELECT FROM held)
    )
    INSERT INTO league.transcript (league, match_id, digest, body) SELECT $1, $3, $4, $5 WHERE EXISTS (SELECT FROM held)
    ON CONFLICT (league, match_id, digest) DO UPDATE SET body = excluded.body";
const TRANSCRIPT: &str = "SELECT body FROM league.transcript WHERE league = $1 AND match_id = $2 AND digest = $3";
const KEPT: &str = "SELECT role, digest FROM league.credential WHERE league = $1";

const OPERATOR: &str = "operator";
const REFEREE: &str = "referee";
const PLAYER: &str = "player";

/// The digests of the operator's token and of the keys with which agents register.
#[derive(Clone, Debug, Default)]
pub struct StoredDigests {
    pub operator: Option<TokenDigest>,
    pub referee: Option<TokenDigest>,
    pub player: Option<TokenDigest>,
}

#[derive(Clone)]
pub struct HeldLease {
    store: PostgresStore,
    league: String,
    state: watch::Receiver<WriterState>,
}

impl fmt::Debug for HeldLease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeldLease").field("league", &self.league).finish_non_exhaustive()
    }
}

impl HeldLease {
    pub(super) fn new(store: PostgresStore, league: &LeagueId, state: watch::Receiver<WriterState>) -> Self {
        Self { store, league: league.to_string(), state }
    }

    /// Waits until this manager certainly leads, by its own clock. A manager that was frozen or cut off must not answer
    /// from a state that another one has left behind.
    pub async fn confirmed(&self) {
        let lease = Duration::from_secs_f64(LEASE_SECONDS);
        let leads = |state: &WriterState| state.renewed.is_some_and(|renewed| renewed.elapsed() < lease);
        // Without a writer the manager is about to end.
        drop(self.state.clone().wait_for(leads).await);
    }

    /// Tells standbys where this manager is, and by which key it recognises the calls that they forward. Blocks.
    pub fn publish(&self, url: &str, relay_key: &Credential) -> Result<(), LogError> {
        self.write(PUBLISH, vec![url.to_owned(), relay_key.reveal().to_owned()])
    }

    /// `body` is the transcript as compact JSON. Blocks.
    pub fn keep_transcript(&self, match_id: &MatchId, digest: TranscriptDigest, body: String) -> Result<(), LogError> {
        self.write(KEEP_TRANSCRIPT, vec![match_id.to_string(), digest.to_string(), body])
    }

    /// Blocks.
    pub fn keep(&self, digests: &StoredDigests) -> Result<(), LogError> {
        let StoredDigests { operator, referee, player } = digests;
        for (role, digest) in [(OPERATOR, operator), (REFEREE, referee), (PLAYER, player)] {
            let Some(digest) = digest else { continue };
            let text = serde_json::to_string(digest).map_err(|error| self.store.unavailable(error.to_string()))?;
            self.write(KEEP, vec![role.to_owned(), text])?;
        }
        Ok(())
    }

    /// Tries as long as an append does. An agent that waits asks another manager meanwhile; an early answer would keep it
    /// at one that is cut off from the store.
    fn write(&self, statement: &'static str, values: Vec<String>) -> Result<(), LogError> {
        let deposed = || LogError::Deposed { log: self.store.place_of(&self.league) };
        let epoch = self.state.borrow().epoch.ok_or_else(deposed)?;
        let (store, league) = (self.store.clone(), self.league.clone());
        let written = self.store.wait(async move {
            let until = Instant::now() + RETRY_LIMIT;
            let mut told = None;
            loop {
                let trying = within(async {
                    let client = store.connection().await?;
                    let statement = client.prepare_cached(statement).await?;
                    let mut parameters: Vec<&(dyn ToSql + Sync)> = vec![&league, &epoch];
                    parameters.extend(values.iter().map(|value| value as &(dyn ToSql + Sync)));
                    Ok(client.execute(&statement, &parameters).await?)
                });
                match trying.await {
                    Err(failure) if failure.is_transient() && Instant::now() < until => {
                        failure.tell_once(&mut told, "the store refuses what belongs to the log; it is tried again");
                        sleep(RETRY_PAUSE).await;
                    }
                    written => break written,
                }
            }
        })?;
        match written {
            Ok(1) => Ok(()),
            Ok(_) => Err(deposed()),
            Err(Failure { reason, .. }) => Err(self.store.unavailable(reason)),
        }
    }
}

impl PostgresStore {
    /// The transcript with this digest, as compact JSON.
    pub fn transcript(
        &self,
        league: &LeagueId,
        match_id: &MatchId,
        digest: TranscriptDigest,
    ) -> Result<Option<String>, LogError> {
        let (league, match_id, digest) = (league.to_string(), match_id.to_string(), digest.to_string());
        let row = self.reading(move |client| {
            let (league, match_id, digest) = (league.clone(), match_id.clone(), digest.clone());
            async move {
                let statement = client.prepare_cached(TRANSCRIPT).await?;
                Ok(client.query_opt(&statement, &[&league, &match_id, &digest]).await?)
            }
        });
        Ok(row?.flatten().map(|row| row.get(0)))
    }

    /// The digests that the last leader of `league` kept.
    pub fn digests(&self, league: &LeagueId) -> Result<StoredDigests, LogError> {
        let league = league.to_string();
        let rows = self.reading(move |client| {
            let league = league.clone();
            async move { Ok(client.query(KEPT, &[&league]).await?) }
        })?;
        let mut digests = StoredDigests::default();
        for row in rows.unwrap_or_default() {
            let digest = serde_json::from_str(row.get(1)).map_err(|error| self.unavailable(error.to_string()))?;
            match row.get(0) {
                OPERATOR => digests.operator = Some(digest),
                REFEREE => digests.referee = Some(digest),
                PLAYER => digests.player = Some(digest),
                other => return Err(self.unavailable(format!("there is a key of an unknown role: {other:?}"))),
            }
        }
        Ok(digests)
    }
}
