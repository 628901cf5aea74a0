//! The one thread that writes: whatever waits goes into one transaction, and is answered after its commit.
//!
//! After a commit that failed nobody can say what is on the disk, so nothing more is written: the connection is closed, and every
//! append from then on is refused with the reason. Opening the log again shows what is there.

use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, PoisonError};

use league_core::season::event::Event;
use rusqlite::{Connection, TransactionBehavior, params};
use tokio::sync::oneshot;

use super::projection::{self, kind_of};
use super::{LogError, LogHead, MAX_WAITING};

/// Events that belong together, and who waits for them.
pub(super) struct Batch {
    pub(super) events: Vec<Event>,
    pub(super) reply: oneshot::Sender<Result<LogHead, LogError>>,
}

pub(super) struct Writer {
    connection: Connection,
    head: LogHead,
    shared: Arc<Mutex<LogHead>>,
}

impl Writer {
    pub(super) fn new(connection: Connection, head: LogHead, shared: Arc<Mutex<LogHead>>) -> Self {
        Self { connection, head, shared }
    }

    /// Writes until nobody can append any more.
    pub(super) fn run(mut self, queue: &Receiver<Batch>) {
        let mut batches = Vec::with_capacity(MAX_WAITING);
        while let Ok(first) = queue.recv() {
            batches.push(first);
            batches.extend(queue.try_iter().take(MAX_WAITING - 1));
            match self.commit(&batches) {
                Ok(heads) => {
                    if let Some(last) = heads.last() {
                        self.head = *last;
                        *self.shared.lock().unwrap_or_else(PoisonError::into_inner) = *last;
                    }
                    for (batch, head) in batches.drain(..).zip(heads) {
                        // Whoever does not wait any more does not need the answer.
                        let _ = batch.reply.send(Ok(head));
                    }
                }
                Err(reason) => {
                    tracing::error!(%reason, "the league's log cannot be written to");
                    drop(self.connection);
                    for batch in batches.drain(..) {
                        let _ = batch.reply.send(Err(LogError::Failed { reason: reason.clone() }));
                    }
                    return refuse(queue, &reason);
                }
            }
        }
    }

    /// One transaction for all of `batches`. Gives the head behind each of them.
    fn commit(&mut self, batches: &[Batch]) -> Result<Vec<LogHead>, String> {
        if batches.iter().all(|batch| batch.events.is_empty()) {
            return Ok(vec![self.head; batches.len()]);
        }
        self.write(batches).map_err(|error| error.to_string())
    }

    fn write(&mut self, batches: &[Batch]) -> Result<Vec<LogHead>, rusqlite::Error> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut heads = Vec::with_capacity(batches.len());
        let mut head = self.head;
        {
            let mut insert = transaction
                .prepare_cached("INSERT INTO events (seq, at, kind, body, hash) VALUES (?1, ?2, ?3, ?4, ?5)")?;
            for batch in batches {
                for event in &batch.events {
                    let body = serde_json::to_string(event)
                        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
                    head = head.then(&body);
                    let (at, kind) = (event.at.to_string(), kind_of(&event.fact));
                    let seq = i64::try_from(head.seq).unwrap_or(i64::MAX);
                    insert.execute(params![seq, at, kind, body, head.hash.0])?;
                    projection::apply(&transaction, event)?;
                }
                heads.push(head);
            }
        }
        transaction.commit()?;
        Ok(heads)
    }
}

fn refuse(queue: &Receiver<Batch>, reason: &str) {
    for batch in queue {
        let _ = batch.reply.send(Err(LogError::Closed { reason: reason.to_owned() }));
    }
}
