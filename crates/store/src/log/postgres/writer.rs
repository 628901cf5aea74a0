//! Writes to the log of one league: holds its lease, renews it, and appends.
//!
//! After a lost connection the outcome of an append is unknown. The next try finds out: a log that ends with the head of
//! the append has its events, and a log that ends before them has none.

use std::sync::mpsc::SyncSender;
use std::time::Duration;

use deadpool_postgres::Object;
use league_core::season::event::Event;
use league_protocol::id::LeagueId;
use league_protocol::token::Credential;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use tokio_postgres::error::SqlState;

use super::{Failure, PostgresStore, last, schema, within};
use crate::log::election::{Election, ElectionInput, ElectionStep};
use crate::log::lease::{LeaseHolder, LeaseLook};
use crate::log::{LogError, LogHead};

/// A statement that the server does not accept is tried again until then.
pub(super) const RETRY_LIMIT: Duration = Duration::from_secs(15);
pub(super) const RETRY_PAUSE: Duration = Duration::from_millis(100);
pub(super) const LEASE_SECONDS: f64 = 5.0;
const RENEW_EVERY: Duration = Duration::from_secs(1);
/// The lease of a manager that was killed expires within this time.
const TAKE_LIMIT: Duration = Duration::from_secs(6);
/// A manager that ends waits for this.
const RELEASE_LIMIT: Duration = Duration::from_secs(1);
const TAKE_PAUSE: Duration = Duration::from_millis(250);

/// The epoch only grows, also when a manager gives its lease back. A lease that ends later than any renewal allows was renewed
/// before the database's clock went back: without this condition its league would stop for as long as the clock went back.
const TAKE: &str = "
    INSERT INTO league.lease AS held (league, holder, url, relay_key, epoch, expires_at)
    VALUES ($1, $2, $4, $5, 1, clock_timestamp() + make_interval(secs => $3))
    ON CONFLICT (league) DO UPDATE
    SET holder = excluded.holder, url = excluded.url, relay_key = excluded.relay_key, epoch = held.epoch + 1,
        expires_at = clock_timestamp() + make_interval(secs => $3)
    WHERE held.expires_at <= clock_timestamp() OR held.expires_at > clock_timestamp() + make_interval(secs => $3 + 1)
    RETURNING epoch";
const LOOK: &str = "
    SELECT epoch, expires_at <= clock_timestamp() OR expires_at > clock_timestamp() + make_interval(secs => $2::float8 + 1),
        holder, url, relay_key
    FROM league.lease WHERE league = $1";
/// A lease that has expired may be renewed as long as no other manager has taken it, which would change the epoch.
const RENEW: &str = "
    UPDATE league.lease SET expires_at = clock_timestamp() + make_interval(secs => $3)
    WHERE league = $1 AND epoch = $2";
const RELEASE: &str = "UPDATE league.lease SET expires_at = clock_timestamp() WHERE league = $1 AND epoch = $2";
/// The lock on the lease makes a manager that takes it over wait until this append is visible.
const APPEND: &str = "
    WITH held AS MATERIALIZED (
        SELECT FROM league.lease
        WHERE league = $1 AND epoch = $2 AND expires_at > clock_timestamp()
        FOR SHARE
    )
    INSERT INTO league.event (league, seq, hash, body)
    SELECT $1, new.seq, new.hash, new.body
    FROM unnest($3::bigint[], $4::bytea[], $5::text[]) AS new (seq, hash, body)
    WHERE EXISTS (SELECT FROM held) AND (
        $6::bigint = 0
        OR EXISTS (SELECT FROM league.event AS before WHERE before.league = $1 AND before.seq = $6 AND before.hash = $7)
    )";

pub(super) enum Job {
    /// Waits until the lease of a killed manager has expired.
    Lead {
        holder: LeaseHolder,
        reply: SyncSender<Result<(), LogError>>,
    },
    /// Looks at the lease once, and takes it if it is free.
    Compete {
        holder: LeaseHolder,
        reply: SyncSender<Result<LeaseLook, LogError>>,
    },
    Append {
        after: LogHead,
        events: Vec<Event>,
        reply: oneshot::Sender<Result<LogHead, LogError>>,
    },
}

pub(super) struct Writing {
    store: PostgresStore,
    league: String,
    election: Election,
    /// Why nothing more may be written.
    closed: Option<LogError>,
    /// What others see of it: the epoch of the lease, and why the log is closed.
    state: watch::Sender<WriterState>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct WriterState {
    pub(super) epoch: Option<i64>,
    pub(super) deposed: Option<LogError>,
    /// When the last renewal was asked for that succeeded. The lease lasts at least until five seconds after it.
    pub(super) renewed: Option<Instant>,
}

/// The rows of an append.
struct Batch {
    after: LogHead,
    end: LogHead,
    seqs: Vec<i64>,
    hashes: Vec<Vec<u8>>,
    bodies: Vec<String>,
}

impl Batch {
    fn of(after: LogHead, events: &[Event]) -> Result<Self, LogError> {
        let mut batch = Self { after, end: after, seqs: Vec::new(), hashes: Vec::new(), bodies: Vec::new() };
        for event in events {
            let body = serde_json::to_string(event).map_err(|error| LogError::Failed { reason: error.to_string() })?;
            batch.end = batch.end.then(&body);
            batch.seqs.push(i64::try_from(batch.end.seq).unwrap_or(i64::MAX));
            batch.hashes.push(batch.end.hash.0.to_vec());
            batch.bodies.push(body);
        }
        Ok(batch)
    }
}

impl Writing {
    pub(super) fn new(store: PostgresStore, league: &LeagueId, state: watch::Sender<WriterState>) -> Self {
        Self { store, league: league.to_string(), election: Election::default(), closed: None, state }
    }

    fn epoch(&self) -> Option<i64> {
        self.election.epoch().map(|epoch| i64::try_from(epoch).unwrap_or(i64::MAX))
    }

    fn decide(&mut self, input: ElectionInput) -> ElectionStep {
        let step = self.election.decide(input);
        let epoch = self.epoch();
        self.state.send_if_modified(|state| std::mem::replace(&mut state.epoch, epoch) != epoch);
        if step == ElectionStep::Stop {
            self.close(self.deposed());
        }
        step
    }

    fn close(&mut self, error: LogError) {
        if matches!(error, LogError::Deposed { .. }) {
            self.state.send_modify(|state| state.deposed = Some(error.clone()));
        }
        self.closed.get_or_insert(error);
    }

    /// Ends when the log is dropped.
    pub(super) async fn work(mut self, mut jobs: mpsc::Receiver<Job>) {
        let mut renewals = interval(RENEW_EVERY);
        renewals.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let job = tokio::select! {
                biased;
                // First, so that a queue that is never empty does not let the lease expire.
                _ = renewals.tick() => {
                    self.keep_lease().await;
                    continue;
                }
                job = jobs.recv() => job,
            };
            match job {
                None => break,
                Some(Job::Lead { holder, reply }) => {
                    let taken = self.lead(&holder, TAKE_LIMIT).await;
                    let _ = reply.send(taken);
                }
                Some(Job::Compete { holder, reply }) => {
                    let look = within(self.try_lead(&holder)).await;
                    let look = look.unwrap_or_else(|Failure { reason, .. }| {
                        self.decide(ElectionInput::Unanswered);
                        Err(self.store.unavailable(reason))
                    });
                    let _ = reply.send(look);
                }
                Some(Job::Append { after, events, reply }) => {
                    let answer = self.append(after, &events).await;
                    if let Err(error @ (LogError::Failed { .. } | LogError::Deposed { .. })) = &answer {
                        tracing::error!(reason = %error, "the league's log cannot be written to");
                        self.close(closed(error));
                    }
                    let _ = reply.send(answer);
                }
            }
        }
        // After a refused append the store is probably away, and the lease expires.
        if let Some(epoch) = self.epoch().filter(|_| self.closed.is_none()) {
            let released = timeout(RELEASE_LIMIT, self.run(RELEASE, epoch)).await;
            if !matches!(released, Ok(Ok(_))) {
                tracing::info!(league = self.league, "the lease could not be given back; it expires");
            }
        }
    }

    async fn run(&self, statement: &str, epoch: i64) -> Result<u64, Failure> {
        let client = self.store.connection().await?;
        let statement = client.prepare_cached(statement).await?;
        Ok(client.execute(&statement, &[&self.league, &epoch]).await?)
    }

    async fn keep_lease(&mut self) {
        let Some(epoch) = self.epoch().filter(|_| self.closed.is_none()) else { return };
        let asked = Instant::now();
        let renewed = within(async {
            let client = self.store.connection().await?;
            self.renew(&client, epoch).await
        });
        let seen = match renewed.await {
            Ok(renewed) => ElectionInput::Renewed(renewed),
            Err(Failure { reason, .. }) => {
                tracing::warn!(reason, "the lease of the league could not be renewed");
                ElectionInput::Unanswered
            }
        };
        if seen == ElectionInput::Renewed(true) {
            self.state.send_modify(|state| state.renewed = Some(asked));
        }
        self.decide(seen);
    }

    /// Otherwise the lease expires while a server without free space refuses the append, and a standby, which the server
    /// refuses as well, takes over.
    async fn keep_lease_while_trying(&mut self) {
        if self.state.borrow().renewed.is_none_or(|renewed| renewed.elapsed() >= RENEW_EVERY) {
            self.keep_lease().await;
        }
    }

    async fn renew(&self, client: &Object, epoch: i64) -> Result<bool, Failure> {
        let statement = client.prepare_cached(RENEW).await?;
        Ok(client.execute(&statement, &[&self.league, &epoch, &LEASE_SECONDS]).await? == 1)
    }

    fn deposed(&self) -> LogError {
        LogError::Deposed { log: self.store.place_of(&self.league) }
    }

    /// Waits at most `limit` for the lease of another manager to expire.
    async fn lead(&mut self, holder: &LeaseHolder, limit: Duration) -> Result<(), LogError> {
        if self.epoch().is_some() {
            return Ok(());
        }
        let began = Instant::now();
        let mut until = began + limit;
        loop {
            match within(self.try_lead(holder)).await {
                Ok(Err(newer)) => return Err(newer),
                Ok(Ok(LeaseLook { step: ElectionStep::Lead { .. }, .. })) => return Ok(()),
                Ok(Ok(LeaseLook { step: ElectionStep::Stop, .. })) => return Err(self.deposed()),
                Ok(Ok(LeaseLook { leader, .. })) if Instant::now() >= until => {
                    let log = self.store.place_of(&self.league);
                    return Err(LogError::Led { log, holder: leader.map_or_else(String::new, |leader| leader.name) });
                }
                Ok(Ok(LeaseLook { step: ElectionStep::Follow | ElectionStep::Take, .. })) => sleep(TAKE_PAUSE).await,
                Err(failure) if failure.is_transient() && began.elapsed() < RETRY_LIMIT => {
                    self.decide(ElectionInput::Unanswered);
                    // The lease may be that of this manager, whose answer was lost. It expires, too.
                    until = Instant::now() + TAKE_LIMIT;
                    sleep(RETRY_PAUSE).await;
                }
                Err(Failure { reason, .. }) => return Err(self.store.unavailable(reason)),
            }
        }
    }

    /// Looks at the lease, and takes it if it is free.
    async fn try_lead(&mut self, holder: &LeaseHolder) -> Result<Result<LeaseLook, LogError>, Failure> {
        let mut client = self.store.connection().await?;
        if !self.store.is_current() {
            let version = schema::migrate(&mut client).await?;
            if let Err(newer) = self.store.checked(version) {
                return Ok(Err(newer));
            }
            self.store.migrated();
        }
        let statement = client.prepare_cached(LOOK).await?;
        let (seen, mut leader) = match client.query_opt(&statement, &[&self.league, &LEASE_SECONDS]).await? {
            None => (ElectionInput::Seen { epoch: 0, is_free: true }, None),
            Some(row) => {
                let epoch = u64::try_from(row.get::<_, i64>(0)).unwrap_or_default();
                let relay_key = row.get::<_, Option<&str>>(4).map(Credential::new);
                let (is_free, leader) = (row.get(1), LeaseHolder { name: row.get(2), url: row.get(3), relay_key });
                (ElectionInput::Seen { epoch, is_free }, (!is_free).then_some(leader))
            }
        };
        let mut step = self.decide(seen);
        if step == ElectionStep::Take {
            let (statement, asked) = (client.prepare_cached(TAKE).await?, Instant::now());
            let key = holder.relay_key.as_ref().map(Credential::reveal);
            let taken = client
                .query_opt(&statement, &[&self.league, &holder.name, &LEASE_SECONDS, &holder.url, &key])
                .await?
                .and_then(|row| u64::try_from(row.get::<_, i64>(0)).ok());
            step = self.decide(ElectionInput::Taken(taken));
            if taken.is_some() {
                self.state.send_modify(|state| state.renewed = Some(asked));
            }
            leader = None;
        }
        Ok(Ok(LeaseLook { step, leader }))
    }

    async fn append(&mut self, after: LogHead, events: &[Event]) -> Result<LogHead, LogError> {
        if let Some(closed) = &self.closed {
            return Err(closed.clone());
        }
        let holder = LeaseHolder::named(format!("process {}", std::process::id()));
        self.lead(&holder, Duration::ZERO).await?;
        let Some(epoch) = self.epoch() else { return Err(LogError::Ended) };
        let batch = Batch::of(after, events)?;
        let until = Instant::now() + RETRY_LIMIT;
        let mut told = None;
        loop {
            match within(self.try_append(epoch, &batch)).await {
                Ok(Some(answer)) => return answer,
                // The lease had expired and is renewed.
                Ok(None) if Instant::now() < until => {}
                Ok(None) => return Err(LogError::Failed { reason: String::from("the lease expires again and again") }),
                Err(failure) if failure.is_transient() && Instant::now() < until => {
                    failure.tell_once(&mut told, "the store refuses an append; it is tried again");
                    sleep(RETRY_PAUSE).await;
                    self.keep_lease_while_trying().await;
                    if let Some(closed) = &self.closed {
                        return Err(closed.clone());
                    }
                }
                Err(Failure { reason, .. }) => return Err(LogError::Failed { reason }),
            }
        }
    }

    /// `None` to try again.
    async fn try_append(&self, epoch: i64, batch: &Batch) -> Result<Option<Result<LogHead, LogError>>, Failure> {
        let Batch { after, end, seqs, hashes, bodies } = batch;
        let client = self.store.connection().await?;
        if !seqs.is_empty() {
            let statement = client.prepare_cached(APPEND).await?;
            let (place, hash) = (i64::try_from(after.seq).unwrap_or(i64::MAX), &after.hash.0[..]);
            match client.execute(&statement, &[&self.league, &epoch, seqs, hashes, bodies, &place, &hash]).await {
                Ok(written) if written == seqs.len() as u64 => return Ok(Some(Ok(*end))),
                // Nothing was written.
                Ok(_) => {}
                // Another append took the same place: of this manager, if its answer was lost.
                Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {}
                Err(error) => return Err(error.into()),
            }
        }
        if !self.renew(&client, epoch).await? {
            return Ok(Some(Err(self.deposed())));
        }
        let found = last(&client, &self.league).await?.map_or(Ok(LogHead::GENESIS), |last| last.head());
        Ok(match found {
            Err(damage) => Some(Err(LogError::Failed { reason: damage.to_string() })),
            Ok(found) if found == *end => Some(Ok(found)),
            Ok(found) if found == *after => None,
            Ok(found) => Some(Err(LogError::Conflict { after: *after, found })),
        })
    }
}

fn closed(error: &LogError) -> LogError {
    if matches!(error, LogError::Deposed { .. }) {
        error.clone()
    } else {
        LogError::Closed { reason: error.to_string() }
    }
}
