//! Handles an invalid pass at an agent.
//!
//! Either an unknown client calls, or the agent's own token expired or was replaced by a delayed duplicate of the registration.
//! The agent asks the manager which, and registers again only if its token is invalid. Registering again costs a referee its running
//! matches, so an unknown client must not be able to cause it.

use std::time::Duration;

use league_protocol::answer::{ParsedAnswer, ReplyKind};
use league_protocol::dialect::PeerDialect;
use league_protocol::envelope::Envelope;
use league_protocol::message::query::{LeagueQuery, QueryParams, QueryType};
use league_protocol::table::Call;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::client::Client;
use crate::endpoint::Endpoint;

/// Limits rechecks caused by unknown clients. Short, because a match does not wait for an agent with an invalid token.
const MIN_INTERVAL: Duration = Duration::from_millis(200);

#[derive(Debug, Default)]
pub struct TokenRecheck(Mutex<Option<Instant>>);

impl TokenRecheck {
    /// Runs `work` unless it succeeded within `REST`; concurrent callers wait for it. `work` returns whether it succeeded.
    pub async fn run_if_due(&self, work: impl Future<Output = bool>) {
        let mut last_success = self.0.lock().await;
        if last_success.is_none_or(|at| at.elapsed() >= MIN_INTERVAL) && work.await {
            *last_success = Some(Instant::now());
        }
    }
}

/// Whether `manager` accepts the envelope's token; `None` if the manager does not say.
pub async fn accepts_token(client: &Client, manager: &Endpoint, envelope: &Envelope, limit: Duration) -> Option<bool> {
    let (query_type, query_params) = (QueryType::GetStatus, QueryParams::default());
    let call = Call::LeagueQuery(LeagueQuery { league_id: None, query_type, query_params });
    let result = client.call(manager, &PeerDialect::default(), envelope, &call, limit).await.ok()?;
    match ParsedAnswer::parse(&result.body).ok()?.reply_kind() {
        ReplyKind::NoError => Some(true),
        ReplyKind::Error(error) if error.code.as_deref() == Some("E012") => Some(false),
        ReplyKind::Error(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[tokio::test(start_paused = true)]
    async fn concurrent_rechecks_run_once_and_a_failed_one_is_repeated_at_once() {
        let (recheck, runs) = (TokenRecheck::default(), Cell::new(0));
        let run = async |succeeds: bool| {
            let work = async {
                tokio::time::sleep(Duration::from_millis(50)).await;
                runs.set(runs.get() + 1);
                succeeds
            };
            recheck.run_if_due(work).await;
        };
        for expected in 1..=3 {
            run(false).await;
            assert_eq!(runs.get(), expected);
        }
        tokio::join!(run(true), run(true), run(true));
        assert_eq!(runs.get(), 4);
        tokio::time::sleep(MIN_INTERVAL).await;
        run(true).await;
        assert_eq!(runs.get(), 5);
    }
}
