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
const REST: Duration = Duration::from_millis(200);

#[derive(Debug, Default)]
pub struct TokenRecheck(Mutex<Option<Instant>>);

impl TokenRecheck {
    /// Runs `work` unless it succeeded within `REST`; concurrent callers wait for it. `work` returns whether it succeeded.
    pub async fn settle(&self, work: impl Future<Output = bool>) {
        let mut settled = self.0.lock().await;
        if settled.is_none_or(|at| at.elapsed() >= REST) && work.await {
            *settled = Some(Instant::now());
        }
    }
}

/// Whether `manager` accepts the envelope's token; `None` if the manager does not say.
pub async fn counts(client: &Client, manager: &Endpoint, envelope: &Envelope, limit: Duration) -> Option<bool> {
    let (query_type, query_params) = (QueryType::GetStatus, QueryParams::default());
    let call = Call::LeagueQuery(LeagueQuery { league_id: None, query_type, query_params });
    let came = client.call(manager, &PeerDialect::default(), envelope, &call, limit).await.ok()?;
    match ParsedAnswer::parse(&came.body).ok()?.reply_kind() {
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
    async fn many_doubts_at_once_are_settled_once_and_later_ones_again() {
        let (doubt, settled) = (TokenRecheck::default(), Cell::new(0));
        let settle = || {
            doubt.settle(async {
                tokio::time::sleep(Duration::from_millis(50)).await;
                settled.set(settled.get() + 1);
                true
            })
        };
        tokio::join!(settle(), settle(), settle());
        assert_eq!(settled.get(), 1);
        tokio::time::sleep(REST).await;
        settle().await;
        assert_eq!(settled.get(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn what_could_not_be_settled_is_tried_again_at_once() {
        let (doubt, tried) = (TokenRecheck::default(), Cell::new(0));
        for _ in 0..3 {
            let work = async {
                tried.set(tried.get() + 1);
                false
            };
            doubt.settle(work).await;
        }
        assert_eq!(tried.get(), 3);
    }
}
