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
    pub dialect: PeerDialect,
    /// The manager has answered in this dialect. Flat fields prove nothing about its frame.
    pub proven: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Rejected {
    #[error("the manager at {manager} did not let us in: {reason}")]
    Refused { manager: String, reason: String },
    #[error(
        "no manager at {manager} after {tries} tries: {trouble}; start it first, or leave out --give-up-after and it is waited for"
    )]
    Unreached { manager: String, tries: NonZeroU32, trouble: String },
}

impl Rejected {
    pub fn reason(&self) -> &str {
        match self {
            Self::Refused { reason, .. } => reason,
            Self::Unreached { trouble, .. } => trouble,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct RegistrationRetry {
    /// For one answer.
    pub answer: Duration,
    /// After the first unanswered try; it doubles.
    pub pause: Duration,
    pub longest: Duration,
    /// `None` retries forever.
    pub tries: Option<NonZeroU32>,
}

/// Retries after a pause, or as soon as `hurry` is notified.
pub async fn register(
    peer_client: &PeerClient,
    manager: &Endpoint,
    patience: RegistrationRetry,
    hurry: &Notify,
    mut message: impl FnMut() -> (Envelope, Call),
) -> Result<Admitted, Rejected> {
    let mut pause = patience.pause;
    let mut tried: u32 = 0;
    loop {
        let (envelope, call) = message();
        let trouble = match attempt(peer_client, manager, patience.answer, &envelope, &call).await {
            Read::Admitted(admitted) => return Ok(*admitted),
            Read::Rejected(reason) => return Err(Rejected::Refused { manager: manager.to_string(), reason }),
            Read::Unclear(what) => what,
        };
        tried = tried.saturating_add(1);
        if let Some(tries) = patience.tries.filter(|tries| tried >= tries.get()) {
            return Err(Rejected::Unreached { manager: manager.to_string(), tries, trouble });
        }
        tracing::info!(%manager, trouble, "not registered yet; trying again");
        // `hurry` never skips the first pause, so it cannot cause a flood of requests.
        sleep(patience.pause).await;
        drop(timeout(pause.saturating_sub(patience.pause), hurry.notified()).await);
        pause = (pause * 2).min(patience.longest);
    }
}

async fn attempt(
    peer_client: &PeerClient,
    manager: &Endpoint,
    limit: Duration,
    envelope: &Envelope,
    call: &Call,
) -> Read {
    let began = Instant::now();
    let canonical = PeerDialect::default();
    let peer = Peer { endpoint: manager, dialect: &canonical, proven: false };
    let message = OutgoingCall { envelope, call, body: None, limit, notice: false };
    let mut tries = Vec::new();
    let said = peer_client.search(peer, message, &answers, &mut tries).await;
    let dialect = said.learned.unwrap_or_default();
    tries.retain(|one| !one.is_probe);
    match tries.last().map(|last| &last.came) {
        None => return Read::Unclear("no time".into()),
        Some(Err(CallError { kind: Failure::HungUp(_), .. })) => {}
        Some(Err(error)) => return Read::Unclear(error.to_string()),
        Some(Ok(last)) if said.understood || is_refusal(last) => return read(&last.body, dialect, true),
        Some(Ok(_)) => {}
    }
    let left = limit.saturating_sub(began.elapsed());
    if let Some(admitted) = flat(peer_client, manager, left, envelope, call).await {
        return admitted;
    }
    let complaints = tries.iter().filter_map(|one| one.came.as_ref().ok());
    let best = complaints.reduce(|best, next| if weight(next) > weight(best) { next } else { best });
    best.map_or(Read::Unclear("it hangs up on every form".into()), |best| {
        read(&best.body, PeerDialect::default(), false)
    })
}

/// A bare `ok` may answer anything, so it does not count and further forms are tried.
fn answers(exchange: &Exchange) -> bool {
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
    is_final(exchange)
        || ParsedAnswer::parse(&exchange.body)
            .ok()
            .and_then(|layers| layers.error())
            .is_some_and(|error| error.is_rate_limit())
}

/// A more specific refusal has a larger weight.
fn weight(exchange: &Exchange) -> u8 {
    let Ok(layers) = ParsedAnswer::parse(&exchange.body) else { return 0 };
    match layers.registration().answer {
        RegistrationAnswer::Accepted { .. } | RegistrationAnswer::Rejected { .. } => 10,
        RegistrationAnswer::Error(error) => 1 + error.weight(),
        RegistrationAnswer::Nothing => 0,
    }
}

/// Registers with flat fields: at their own path, and as the message of S2. A referee never posts to the players' path, because
/// the manager would register it as a player.
async fn flat(
    peer_client: &PeerClient,
    manager: &Endpoint,
    limit: Duration,
    envelope: &Envelope,
    call: &Call,
) -> Option<Read> {
    let (meta, path, id, key) = if let Call::RegisterPlayer(request) = call {
        let id = ("player_id", request.player_id.as_ref().map(ToString::to_string));
        (&request.player_meta, "/register", id, &request.join_key)
    } else if let Call::RegisterReferee(request) = call {
        let id = ("referee_id", request.referee_id.as_ref().map(ToString::to_string));
        (&request.referee_meta, "/register_referee", id, &request.join_key)
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
    let (began, client) = (Instant::now(), peer_client.client());
    for place in [manager.at(path), manager.clone()] {
        let left = limit.saturating_sub(began.elapsed());
        let came = client.post(&place, &HeaderMap::new(), body.to_string().into(), left).await.ok()?;
        if came.status.is_success() && answers(&came) {
            return Some(read(&came.body, PeerDialect::default(), false));
        }
    }
    None
}

enum Read {
    Admitted(Box<Admitted>),
    Rejected(String),
    Unclear(String),
}

fn read(body: &[u8], dialect: PeerDialect, proven: bool) -> Read {
    let layers = match ParsedAnswer::parse(body) {
        Ok(layers) => layers,
        Err(unreadable) => return Read::Unclear(unreadable.to_string()),
    };
    let reading = layers.registration();
    match reading.answer {
        RegistrationAnswer::Accepted { player_id, referee_id, league_id, passes } => {
            Read::Admitted(Box::new(Admitted {
                player_id,
                referee_id,
                league_id,
                token: reading.token.map(|token| Token::received(token.reveal())),
                passes,
                dialect,
                proven,
            }))
        }
        RegistrationAnswer::Rejected { reason, .. } => Read::Rejected(reason),
        // An internal error may pass; a request that the manager does not understand stays that way.
        RegistrationAnswer::Error(error) if error.code.as_deref() == Some("E015") || error.is_rate_limit() => {
            Read::Unclear(error.words)
        }
        RegistrationAnswer::Error(error) => Read::Rejected(error.words),
        RegistrationAnswer::Nothing => Read::Unclear(String::from("the answer says nothing about the registration")),
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

    #[tokio::test(start_paused = true)]
    async fn who_hears_from_the_manager_asks_again_at_once_but_not_all_the_time() {
        let nowhere = Arc::new(Nowhere::default());
        let client = Client::new(ClientSettings { connector: nowhere.clone(), ..ClientSettings::default() });
        let peer_client = PeerClient::new(client);
        let (manager, hurry) = ("http://127.0.0.1:1/mcp".parse().unwrap(), Notify::new());
        let message = || {
            let sender = Sender::unregistered(Role::Player, "player");
            let (timestamp, conversation_id) = (Timestamp::EPOCH, ConversationId::named("conv"));
            (Envelope { sender, timestamp, conversation_id, auth_token: None }, Call::Ping(Empty {}))
        };
        let second = Duration::from_secs(1);
        let patience = RegistrationRetry { answer: second, pause: second, longest: second * 60, tries: None };
        let registering = register(&peer_client, &manager, patience, &hurry, message);
        let tries = || nowhere.0.load(Ordering::Relaxed);
        tokio::select! {
            _ = registering => panic!("no manager listens"),
            () = async {
                // The pauses are 1, 2, 4 and 8 seconds.
                sleep(second * 15 + second / 2).await;
                assert_eq!(tries(), 5);
                hurry.notify_one();
                sleep(second / 4).await;
                assert_eq!(tries(), 5);
                sleep(second).await;
                assert_eq!(tries(), 6);
            } => {}
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_agent_that_is_to_give_up_does_so_after_its_tries() {
        let nowhere = Arc::new(Nowhere::default());
        let client = Client::new(ClientSettings { connector: nowhere.clone(), ..ClientSettings::default() });
        let (manager, hurry, second) =
            ("http://127.0.0.1:1/mcp".parse().unwrap(), Notify::new(), Duration::from_secs(1));
        let message = || {
            let sender = Sender::unregistered(Role::Player, "player");
            let (timestamp, conversation_id) = (Timestamp::EPOCH, ConversationId::named("conv"));
            (Envelope { sender, timestamp, conversation_id, auth_token: None }, Call::Ping(Empty {}))
        };
        let patience = RegistrationRetry { answer: second, pause: second, longest: second, tries: NonZeroU32::new(3) };
        let rejected = register(&PeerClient::new(client), &manager, patience, &hurry, message).await.unwrap_err();
        assert_eq!(nowhere.0.load(Ordering::Relaxed), 3);
        assert!(rejected.to_string().contains("after 3 tries"), "{rejected}");
    }
}
