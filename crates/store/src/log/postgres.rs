//! The log in PostgreSQL: one table of events for all leagues of a database, and one lease per league.
//!
//! Two fences keep two managers from writing one league. Each append holds the row of the lease, by its epoch; and the
//! primary key (league, seq) takes each place once. Only the database's clock decides whether a lease has expired.
//!
//! - `url`: where the server is, and TLS
//! - `schema`: the tables and their versions
//! - `writer`: the lease, and the one statement that appends
//! - `held_lease`: what the leader writes beside the log

mod held_lease;
mod schema;
mod url;
mod writer;

use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, PoisonError, mpsc as blocking};
use std::time::{Duration, SystemTime};

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod, Timeouts};
use league_core::season::event::Event;
use league_protocol::id::LeagueId;
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, watch};
use tokio::time::{sleep, timeout};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Row};

use super::lease::{LeaseHolder, LeaseLook};
use super::stored::{StoredEvent, diagnose};
use super::{EventLog, LogDamage, LogError, LogHead, PendingAppend};

pub use held_lease::{HeldLease, StoredDigests};
use url::STATEMENT_LIMIT;
pub use url::StoreUrl;
use writer::{Job, RETRY_LIMIT, WriterState, Writing};

const MAX_CONNECTIONS: usize = 8;
/// Appends that wait while another one is written.
const MAX_WAITING: usize = 1;
/// A reader tries this often, because the server may just have been restarted.
const READ_TRIES: u32 = 3;
const READ_PAUSE: Duration = Duration::from_millis(200);
/// What tokio-postgres says of a server that refuses to encrypt.
const NO_TLS: &str = "server does not support TLS";
/// Events after a damaged one that are read to name the damage.
const MAX_DIAGNOSED: i64 = 10_000;
const LAST: &str = "SELECT seq, hash, '' FROM league.event WHERE league = $1 ORDER BY seq DESC LIMIT 1";
const FROM: &str = "SELECT seq, hash, body FROM league.event WHERE league = $1 AND seq >= $2 ORDER BY seq LIMIT $3";
/// Every league that was written has a lease.
const LEAGUES: &str = "
    SELECT lease.league, last.written FROM league.lease,
        LATERAL (SELECT written FROM league.event WHERE event.league = lease.league ORDER BY seq DESC LIMIT 1) AS last
    ORDER BY last.written DESC, lease.league LIMIT $1";
/// More are not listed.
pub const MAX_LISTED_LEAGUES: usize = 10_000;

/// A database with leagues. Its connections are served by a thread of their own, so that reads may block anywhere.
#[derive(Clone)]
pub struct PostgresStore(Arc<Database>);

struct Database {
    /// For people, without the password.
    name: String,
    pool: Pool,
    /// No newer version wrote the tables.
    is_checked: AtomicBool,
    /// The tables have the version of this program.
    is_current: AtomicBool,
    runtime: Option<Runtime>,
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PostgresStore").field(&self.0.name).finish()
    }
}

impl PartialEq for PostgresStore {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for PostgresStore {}

impl Drop for Database {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Why a statement failed.
struct Failure {
    reason: String,
    /// `None` if the connection failed, and the outcome of the statement is unknown.
    code: Option<SqlState>,
}

impl Failure {
    fn lost(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), code: None }
    }

    /// Trying again may help: connection, resources, shutdown, lock or conflict, and a server that is no longer or not yet the
    /// primary.
    fn is_transient(&self) -> bool {
        const CLASSES: [&str; 6] = ["08", "25006", "40", "53", "55", "57"];
        self.code.as_ref().is_none_or(|code| CLASSES.iter().any(|class| code.code().starts_with(class)))
    }

    /// Warns, unless the try before failed for the same reason.
    fn tell_once(self, told: &mut Option<String>, what: &str) {
        if told.as_ref() != Some(&self.reason) {
            tracing::warn!(reason = self.reason, "{what}");
            *told = Some(self.reason);
        }
    }
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        let reason = match (error.as_db_error(), std::error::Error::source(&error)) {
            (Some(refused), _) => refused.message().to_owned(),
            (None, Some(source)) if source.to_string() == NO_TLS => {
                format!(
                    "{source}; give the server a certificate, or append ?sslmode=disable to the URL in a network of your own"
                )
            }
            (None, Some(source)) => format!("{error}: {source}"),
            (None, None) => error.to_string(),
        };
        Self { reason, code: error.code().cloned() }
    }
}

impl PostgresStore {
    /// Connects, and fails if a newer version wrote the tables.
    pub fn open(url: &StoreUrl) -> Result<Self, LogError> {
        let unavailable = |reason: String| LogError::Unavailable { log: url.to_string(), reason };
        let server = url.server().map_err(unavailable)?;
        let manager = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_config(server.config, server.tls, manager);
        let limit = Some(STATEMENT_LIMIT + Duration::from_secs(1));
        let pool = Pool::builder(manager)
            .max_size(MAX_CONNECTIONS)
            .timeouts(Timeouts { wait: limit, create: limit, recycle: limit })
            .runtime(deadpool_postgres::Runtime::Tokio1)
            .build()
            .map_err(|error| unavailable(error.to_string()))?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("league-postgres")
            .enable_all()
            .build()
            .map_err(|error| unavailable(error.to_string()))?;
        let (is_checked, is_current) = (AtomicBool::new(false), AtomicBool::new(false));
        let database = Database { name: server.name, pool, is_checked, is_current, runtime: Some(runtime) };
        let store = Self(Arc::new(database));
        store.reading(|_| async { Ok(()) })?;
        Ok(store)
    }

    /// Its URL without the password.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    pub fn log(&self, league: &LeagueId) -> PostgresLog {
        let state = watch::Sender::default();
        PostgresLog { store: self.clone(), league: league.clone(), writer: Mutex::default(), state }
    }

    /// With the time of the last write, newest first.
    pub fn leagues(&self) -> Result<Vec<(LeagueId, SystemTime)>, LogError> {
        let limit = i64::try_from(MAX_LISTED_LEAGUES).unwrap_or(i64::MAX);
        let rows = self.reading(move |client| async move { Ok(client.query(LEAGUES, &[&limit]).await?) })?;
        let rows = rows.unwrap_or_default();
        Ok(rows.iter().filter_map(|row| Some((row.get::<_, &str>(0).parse().ok()?, row.get(1)))).collect())
    }

    /// For people: a league in this database.
    fn place_of(&self, league: impl fmt::Display) -> String {
        format!("{league} in {}", self.0.name)
    }

    fn unavailable(&self, reason: impl Into<String>) -> LogError {
        LogError::Unavailable { log: self.0.name.clone(), reason: reason.into() }
    }

    /// Runs `work` on the thread of the connections.
    fn wait<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> Result<T, LogError> {
        let (give, taken) = sync_channel(1);
        let runtime = self.0.runtime.as_ref().ok_or(LogError::Ended)?;
        runtime.spawn(async move {
            let _ = give.send(work.await);
        });
        taken.recv().map_err(|_| LogError::Ended)
    }

    async fn connection(&self) -> Result<Object, Failure> {
        self.0.pool.get().await.map_err(|error| {
            if let deadpool_postgres::PoolError::Backend(error) = error {
                Failure::from(error)
            } else {
                Failure::lost(error.to_string())
            }
        })
    }

    /// `None` where no league was ever written.
    fn reading<T, W>(&self, read: impl Fn(Object) -> W + Send + Sync + 'static) -> Result<Option<T>, LogError>
    where
        T: Send + 'static,
        W: Future<Output = Result<T, Failure>> + Send,
    {
        let store = self.clone();
        self.wait(async move {
            let mut tries = 1;
            loop {
                let trying = async {
                    let client = store.connection().await?;
                    match store.is_checked(&client).await? {
                        Ok(true) => Ok(Ok(Some(read(client).await?))),
                        Ok(false) => Ok(Ok(None)),
                        Err(newer) => Ok::<_, Failure>(Err(newer)),
                    }
                };
                match within(trying).await {
                    Ok(found) => return found,
                    Err(failure) if tries < READ_TRIES && failure.is_transient() => {
                        tries += 1;
                        sleep(READ_PAUSE).await;
                    }
                    Err(failure) => return Err(store.unavailable(failure.reason)),
                }
            }
        })?
    }

    /// False where no league was ever written.
    async fn is_checked(&self, client: &Client) -> Result<Result<bool, LogError>, Failure> {
        if self.0.is_checked.load(Ordering::Relaxed) {
            return Ok(Ok(true));
        }
        let version = schema::version(client).await?;
        Ok(if version == 0 { Ok(false) } else { self.checked(version).map(|()| true) })
    }

    fn checked(&self, version: i64) -> Result<(), LogError> {
        if version > schema::VERSION {
            let (log, newer) = (self.0.name.clone(), String::from("a newer version"));
            return Err(LogError::OtherVersion { log, format: version, version: newer });
        }
        self.0.is_checked.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn is_current(&self) -> bool {
        self.0.is_current.load(Ordering::Relaxed)
    }

    fn migrated(&self) {
        self.0.is_current.store(true, Ordering::Relaxed);
    }
}

/// The server ends a statement by itself; this limit is for a connection that is cut.
async fn within<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let limit = STATEMENT_LIMIT * 2;
    timeout(limit, work).await.unwrap_or_else(|_| Err(Failure::lost(format!("no answer within {limit:?}"))))
}

/// The first append takes the lease, unless [`PostgresLog::lead`] did. Dropping the log waits for the answers to all
/// appends and gives the lease back.
#[derive(Debug)]
pub struct PostgresLog {
    store: PostgresStore,
    league: LeagueId,
    writer: Mutex<Option<Writer>>,
    state: watch::Sender<WriterState>,
}

#[derive(Debug)]
struct Writer {
    queue: mpsc::Sender<Job>,
    ended: blocking::Receiver<()>,
}

impl PostgresLog {
    /// Takes the lease for `holder`. Waits for the lease of a manager that was killed to expire, and fails if another
    /// manager keeps renewing it. Read the log after this, not before.
    pub fn lead(&self, holder: &LeaseHolder) -> Result<(), LogError> {
        let (reply, taken) = sync_channel(1);
        self.give(Job::Lead { holder: holder.clone(), reply })?;
        taken.recv().map_err(|_| LogError::Ended)?
    }

    /// Looks at the lease once, and takes it for `holder` if it is free. Read the log after this, not before.
    pub fn compete(&self, holder: &LeaseHolder) -> Result<LeaseLook, LogError> {
        let (reply, look) = sync_channel(1);
        self.give(Job::Compete { holder: holder.clone(), reply })?;
        look.recv().map_err(|_| LogError::Ended)?
    }

    /// For a log that leads.
    pub fn held_lease(&self) -> HeldLease {
        HeldLease::new(self.store.clone(), &self.league, self.state.subscribe())
    }

    fn give(&self, job: Job) -> Result<(), LogError> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let queue = match &*writer {
            Some(writer) => writer.queue.clone(),
            None => {
                let runtime = self.store.0.runtime.as_ref().ok_or(LogError::Ended)?;
                let (queue, jobs) = mpsc::channel(MAX_WAITING);
                let (end, ended) = sync_channel(1);
                let writing = Writing::new(self.store.clone(), &self.league, self.state.clone());
                runtime.spawn(async move {
                    writing.work(jobs).await;
                    let _ = end.send(());
                });
                *writer = Some(Writer { queue: queue.clone(), ended });
                queue
            }
        };
        queue.try_send(job).map_err(|refused| match refused {
            mpsc::error::TrySendError::Full(_) => LogError::Busy,
            mpsc::error::TrySendError::Closed(_) => LogError::Ended,
        })
    }

    fn damaged(&self, damage: LogDamage) -> LogError {
        LogError::Damaged { log: self.store.place_of(&self.league), damage }
    }

    fn rows(&self, from: i64, limit: i64) -> Result<Vec<Row>, LogError> {
        let league = self.league.clone();
        let rows = self.store.reading(move |client| {
            let league = league.clone();
            async move {
                let statement = client.prepare_cached(FROM).await?;
                Ok(client.query(&statement, &[&league.as_str(), &from, &limit]).await?)
            }
        });
        Ok(rows?.unwrap_or_default())
    }
}

fn stored(row: &Row) -> StoredEvent {
    StoredEvent { seq: row.get(0), hash: row.get(1), body: row.get(2) }
}

async fn last(client: &Object, league: &str) -> Result<Option<StoredEvent>, Failure> {
    let statement = client.prepare_cached(LAST).await?;
    Ok(client.query_opt(&statement, &[&league]).await?.as_ref().map(stored))
}

impl EventLog for PostgresLog {
    fn append(&self, after: LogHead, events: Vec<Event>) -> PendingAppend {
        let (reply, appending) = PendingAppend::pending();
        match self.give(Job::Append { after, events, reply }) {
            Ok(()) => appending,
            Err(error) => PendingAppend::answered(Err(error)),
        }
    }

    fn deposed(&self) -> Pin<Box<dyn Future<Output = LogError> + Send>> {
        let mut state = self.state.subscribe();
        Box::pin(async move {
            let deposed = state.wait_for(|state| state.deposed.is_some()).await;
            match deposed.ok().and_then(|state| state.deposed.clone()) {
                Some(error) => error,
                None => std::future::pending().await,
            }
        })
    }

    fn head(&self) -> Result<LogHead, LogError> {
        let league = self.league.clone();
        let found = self.store.reading(move |client| {
            let league = league.clone();
            async move { last(&client, league.as_str()).await }
        });
        let head = found?.flatten().map_or(Ok(LogHead::GENESIS), |last| last.head());
        head.map_err(|damage| self.damaged(damage))
    }

    fn read(&self, after: u64, limit: usize) -> Result<Vec<(LogHead, Event)>, LogError> {
        let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        // The row before the first event is read for its hash.
        let (from, more) = if after == 0 { (0, 0) } else { (number(after), 1) };
        let rows = self.rows(from, number(limit as u64).saturating_add(more))?;
        let mut rows = rows.iter();
        let mut head = match after {
            0 => LogHead::GENESIS,
            _ => match rows.next().map(stored) {
                None => return Ok(Vec::new()),
                Some(before) if before.seq != number(after) => {
                    return Err(self.damaged(LogDamage::Missing { seq: after, next: before.seq }));
                }
                Some(before) => before.head().map_err(|damage| self.damaged(damage))?,
            },
        };
        let mut entries = Vec::with_capacity(rows.len());
        for row in rows {
            let body: &str = row.get(2);
            let next = head.then(body);
            if row.get::<_, i64>(0) != number(next.seq) || row.get::<_, &[u8]>(1) != next.hash.0 {
                let found = stored(row);
                let later = self.rows(found.seq.saturating_add(1), MAX_DIAGNOSED)?;
                let later = later.iter().map(|row| Ok::<_, LogError>(stored(row)));
                return Err(self.damaged(diagnose(head, &found, later)?));
            }
            let event = serde_json::from_str(body);
            let event = event
                .map_err(|error| self.damaged(LogDamage::Unreadable { seq: next.seq, reason: error.to_string() }))?;
            head = next;
            entries.push((head, event));
        }
        Ok(entries)
    }
}

impl Drop for PostgresLog {
    fn drop(&mut self) {
        let Some(Writer { queue, ended }) = self.writer.get_mut().unwrap_or_else(PoisonError::into_inner).take() else {
            return;
        };
        drop(queue);
        if ended.recv_timeout(RETRY_LIMIT * 2).is_err() {
            tracing::error!(store = %self.store.0.name, "the log's writer did not end");
        }
    }
}
