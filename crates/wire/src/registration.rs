//! An agent's registration: it retries until the manager answers, and accepts a rejection.
//!
//! A manager of another implementation may not know the canonical form. The client then tries all frames within the time for one
//! answer, flat fields last, and keeps the frame that worked. If none worked, it reports the most specific error.

use std::num::NonZeroU32;
use std::time::Duration;

use http::HeaderMap;
use league_protocol::answer::{ParsedAnswer, RegistrationAnswer};
use league_protocol::dialect::PeerDialect;
use league_protocol::envelope::{Envelope, PROTOCOL};
use league_protocol::id::{LeagueId, PlayerId, RefereeId};
use league_protocol::table::Call;
use league_protocol::token::Token;
use thiserror::Error;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

use crate::endpoint::Endpoint;
use crate::exchange::{CallError, Exchange, Failure};
use crate::peer_client::{OutgoingCall, Peer, PeerClient, is_final};

#[derive(Clone, Debug)]
pub struct Admitted {
    pub player_id: Option<PlayerId>,
    pub referee_id: Option<RefereeId>,
    pub league_id: Option<LeagueId>,
    pub token: Option<Token>,
    pub passes: bool,
    pub operator_needs_token: bool,
    pub dialect: PeerDialect,
    /// The manager has answered in this dialect. Flat fields prove nothing about its frame.
    pub proven: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Rejected {
    #[error("the manager at {manager} did not let us in: {reason}")]
    Refused { manager: String, reason: String },
    #[error(
        "no manager at {manager} after {tries} tries: {error}; start it first, or leave out --give-up-after and it is waited for"
    )]
    Unreached { manager: String, tries: NonZeroU32, error: String },
}

impl Rejected {
    pub fn reason(&self) -> &str {
        match self {
            Self::Refused { reason, .. } => reason,
            Self::Unreached { error, .. } => error,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct RegistrationRetry {
    pub answer_limit: Duration,
    /// After the first unanswered try; it doubles.
    pub pause: Duration,
    pub max_pause: Duration,
    /// `None` retries forever.
    pub max_tries: Option<NonZeroU32>,
}

/// Retries after a pause, or as soon as `hurry` is notified.
pub async fn register(
    peer_client: &PeerClient,
    manager: &Endpoint,
    retry: RegistrationRetry,
    retry_now: &Notify,
    mut message: impl FnMut() -> (Envelope, Call),
) -> Result<Admitted, Rejected> {
    let mut pause = retry.pause;
    let mut tried: u32 = 0;
    loop {
        let (envelope, call) = message();
        let error = match try_register(peer_client, manager, retry.answer_limit, &envelope, &call).await {
            Outcome::Admitted(admitted) => return Ok(*admitted),
            Outcome::Rejected(reason) => return Err(Rejected::Refused { manager: manager.to_string(), reason }),
            Outcome::Unclear(error) => error,
        };
        tried = tried.saturating_add(1);
        if let Some(tries) = retry.max_tries.filter(|max| tried >= max.get()) {
            return Err(Rejected::Unreached { manager: manager.to_string(), tries, error });
        }
        tracing::info!(%manager, error, "not registered yet; trying again");
        // `hurry` never skips the first pause, so it cannot cause a flood of requests.
        sleep(retry.pause).await;
        drop(timeout(pause.saturating_sub(retry.pause), retry_now.notified()).await);
        pause = (pause * 2).min(retry.max_pause);
    }
}

async fn try_register(
    peer_client: &PeerClient,
    manager: &Endpoint,
    limit: Duration,
    envelope: &Envelope,
    call: &Call,
) -> Outcome {
    let started = Instant::now();
    let canonical = PeerDialect::default();
    let peer = Peer { endpoint: manager, dialect: &canonical, proven: false };
    let message = OutgoingCall { envelope, call, body: None, limit, notice: false };
    let mut tries = Vec::new();
    let search = peer_client.search(peer, message, &answers_registration, &mut tries).await;
    let dialect = search.learned.unwrap_or_default();
    tries.retain(|attempt| !attempt.is_probe);
    match tries.last().map(|last| &last.result) {
        None => return Outcome::Unclear("no time".into()),
        Some(Err(CallError { kind: Failure::HungUp(_), .. })) => {}
        Some(Err(error)) => return Outcome::Unclear(error.to_string()),
        Some(Ok(last)) if search.understood || is_refusal(last) => return read_answer(&last.body, dialect, true),
        Some(Ok(_)) => {}
    }
    let left = limit.saturating_sub(started.elapsed());
    if let Some(admitted) = register_flat(peer_client, manager, left, envelope, call).await {
        return admitted;
    }
    let errors = tries.iter().filter_map(|attempt| attempt.result.as_ref().ok());
    let best = errors.reduce(|best, next| if specificity(next) > specificity(best) { next } else { best });
    match best {
        Some(best) => read_answer(&best.body, PeerDialect::default(), false),
        None => Outcome::Unclear("it hangs up on every form".into()),
    }
}

/// A bare `ok` may answer anything, so it does not count and further forms are tried.
fn answers_registration(exchange: &Exchange) -> bool {
    let Ok(layers) = ParsedAnswer::parse(&exchange.body) else { return false };
    let reading = layers.registration();
    match reading.answer {
        RegistrationAnswer::Accepted { player_id: None, referee_id: None, .. } if reading.token.is_none() => false,
        RegistrationAnswer::Accepted { .. } | RegistrationAnswer::Rejected { .. } => true,
        RegistrationAnswer::Error(_) | RegistrationAnswer::Nothing => false,
    }
}

/// The manager understood and refuses, or limits the rate: another form would not help.
fn is_refusal(exchange: &Exchange) -> bool {
    let error = ParsedAnswer::parse(&exchange.body).ok().and_then(|layers| layers.error());
    is_final(exchange) || error.is_some_and(|error| error.is_rate_limit())
}

/// A more specific refusal has a larger weight.
fn specificity(exchange: &Exchange) -> u8 {
    let Ok(layers) = ParsedAnswer::parse(&exchange.body) else { return 0 };
    match layers.registration().answer {
        RegistrationAnswer::Accepted { .. } | RegistrationAnswer::Rejected { .. } => 10,
        RegistrationAnswer::Error(error) => 1 + error.weight(),
        RegistrationAnswer::Nothing => 0,
    }
}

/// Registers with flat fields: at their own path, and as the message of S2. A referee never posts to the players' path, because
/// the manager would register it as a player.
async fn register_flat(
    peer_client: &PeerClient,
    manager: &Endpoint,
    limit: Duration,
    envelope: &Envelope,
    call: &Call,
) -> Option<Outcome> {
    let (meta, path, id, key) = if let Call::RegisterPlayer(request) = call {
        let id = ("player_id", request.player_id.as_ref().map(ToString::to_string));
        (&request.player_meta, "register", id, &request.join_key)
    } else if let Call::RegisterReferee(request) = call {
        let id = ("referee_id", request.referee_id.as_ref().map(ToString::to_string));
        (&request.referee_meta, "register_referee", id, &request.join_key)
    } else {
        return None;
    };
    let mut body = serde_json::json!({
        "protocol": PROTOCOL, "message_type": call.method().row().message, "sender": envelope.sender,
        "timestamp": envelope.timestamp, "conversation_id": envelope.conversation_id,
        "display_name": meta.display_name, "version": meta.version, "endpoint": meta.contact_endpoint,
        "game_types": meta.game_types,
    });
    body[id.0] = id.1.into();
    if let Some(key) = key {
        body["join_key"] = key.reveal().into();
    }
    let (started, client) = (Instant::now(), peer_client.client());
    for endpoint in [manager.beside(path), manager.clone()] {
        let left = limit.saturating_sub(started.elapsed());
        let result = client.post(&endpoint, &HeaderMap::new(), body.to_string().into(), left).await.ok()?;
        if result.status.is_success() && answers_registration(&result) {
            return Some(read_answer(&result.body, PeerDialect::default(), false));
        }
    }
    None
}

enum Outcome {
    Admitted(Box<Admitted>),
    Rejected(String),
    Unclear(String),
}

fn read_answer(body: &[u8], dialect: PeerDialect, proven: bool) -> Outcome {
    let layers = match ParsedAnswer::parse(body) {
        Ok(layers) => layers,
        Err(unreadable) => return Outcome::Unclear(unreadable.to_string()),
    };
    let reading = layers.registration();
    match reading.answer {
        RegistrationAnswer::Accepted { player_id, referee_id, league_id, passes, operator_needs_token } => {
            Outcome::Admitted(Box::new(Admitted {
                player_id,
                referee_id,
                league_id,
                token: reading.token.map(|token| Token::received(token.reveal())),
                passes,
                operator_needs_token,
                dialect,
                proven,
            }))
        }
        RegistrationAnswer::Rejected { reason, .. } => Outcome::Rejected(reason),
        // An internal error may pass; a request that the manager does not understand stays that way.
        RegistrationAnswer::Error(error) if error.code.as_deref() == Some("E015") || error.is_rate_limit() => {
            Outcome::Unclear(error.words)
        }
        RegistrationAnswer::Error(error) => Outcome::Rejected(error.words),
        RegistrationAnswer::Nothing => Outcome::Unclear(String::from("the answer says nothing about the registration")),
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use league_protocol::id::ConversationId;
    use league_protocol::message::operate::Empty;
    use league_protocol::sender::{Role, Sender};
    use league_protocol::time::Timestamp;

    use super::*;
    use crate::client::{Client, ClientSettings};
    use crate::net::{Connecting, Connector};

    #[derive(Default)]
    struct Nowhere(AtomicU32);

    impl Connector for Nowhere {
        fn connect<'a>(&'a self, _: &'a str, _: u16) -> Connecting<'a> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Box::pin(async { Err(io::Error::from(io::ErrorKind::ConnectionRefused)) })
        }
    }

    fn client(network: &Arc<Nowhere>) -> PeerClient {
        let connector = Arc::clone(network) as Arc<dyn Connector>;
        PeerClient::new(Client::new(ClientSettings { connector, ..ClientSettings::default() }))
    }

    fn message() -> (Envelope, Call) {
        let sender = Sender::unregistered(Role::Player, "player");
        let (timestamp, conversation_id) = (Timestamp::EPOCH, ConversationId::named("conv"));
        (Envelope { sender, timestamp, conversation_id, auth_token: None }, Call::Ping(Empty {}))
    }

    const SECOND: Duration = Duration::from_secs(1);
    const RETRY: RegistrationRetry =
        RegistrationRetry { answer_limit: SECOND, pause: SECOND, max_pause: Duration::from_secs(60), max_tries: None };

    #[tokio::test(start_paused = true)]
    async fn a_notified_agent_tries_again_at_once_but_not_before_the_first_pause() {
        let (network, retry_now) = (Arc::new(Nowhere::default()), Notify::new());
        let (manager, client) = ("http://127.0.0.1:1/mcp".parse().unwrap(), client(&network));
        let tries = || network.0.load(Ordering::Relaxed);
        tokio::select! {
            _ = register(&client, &manager, RETRY, &retry_now, message) => panic!("no manager listens"),
            () = async {
                // The pauses are 1, 2, 4 and 8 seconds.
                sleep(SECOND * 15 + SECOND / 2).await;
                assert_eq!(tries(), 5);
                retry_now.notify_one();
                sleep(SECOND / 4).await;
                assert_eq!(tries(), 5);
                sleep(SECOND).await;
                assert_eq!(tries(), 6);
            } => {}
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_agent_gives_up_after_its_number_of_tries() {
        let (network, manager) = (Arc::new(Nowhere::default()), "http://127.0.0.1:1/mcp".parse().unwrap());
        let retry = RegistrationRetry { max_tries: NonZeroU32::new(3), ..RETRY };
        let rejected = register(&client(&network), &manager, retry, &Notify::new(), message).await.unwrap_err();
        assert_eq!(network.0.load(Ordering::Relaxed), 3);
        assert!(rejected.to_string().contains("after 3 tries"), "{rejected}");
    }
}
