//! How an agent gets into its league: it asks until the manager is there, and takes no for an answer.
//!
//! A manager of other make may not know the canonical form. The others are tried then, a plain form at `/register` last, and what it
//! understood is how it is spoken to from then on.

use std::time::Duration;

use http::HeaderMap;
use league_protocol::answer::{Layers, RegistrationAnswer};
use league_protocol::head::Envelope;
use league_protocol::id::{LeagueId, PlayerId, RefereeId};
use league_protocol::manner::Manner;
use league_protocol::table::Call;
use league_protocol::token::Token;
use thiserror::Error;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use crate::endpoint::Endpoint;
use crate::exchange::Exchange;
use crate::speaker::{Message, Peer, Speaker, Verdict};

/// Let in.
#[derive(Clone, Debug)]
pub struct Admitted {
    /// The id of a player.
    pub player_id: Option<PlayerId>,
    /// The id of a referee.
    pub referee_id: Option<RefereeId>,
    /// The league.
    pub league_id: Option<LeagueId>,
    /// The token, shown this once.
    pub token: Option<Token>,
    /// Whether passes were promised.
    pub passes: bool,
    /// How the manager is spoken to.
    pub manner: Manner,
}

/// Not let in.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("the manager at {manager} did not let us in: {reason}")]
pub struct Rejected {
    /// Who said so.
    pub manager: String,
    /// Why.
    pub reason: String,
}

/// How patient an agent is.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// How long one answer may take.
    pub answer: Duration,
    /// The pause after the first try that reached nobody; it doubles.
    pub pause: Duration,
    /// The longest pause.
    pub longest: Duration,
}

/// Registers with `manager`, and goes on trying as long as nobody answers there: after a pause, or as soon as `hurry` says
/// that somebody is there after all.
pub async fn register(
    speaker: &Speaker,
    manager: &Endpoint,
    patience: Patience,
    hurry: &Notify,
    mut message: impl FnMut() -> (Envelope, Call),
) -> Result<Admitted, Rejected> {
    let mut pause = patience.pause;
    loop {
        let (envelope, call) = message();
        let trouble = match attempt(speaker, manager, patience.answer, &envelope, &call).await {
            Read::Admitted(admitted) => return Ok(*admitted),
            Read::Rejected(reason) => return Err(Rejected { manager: manager.to_string(), reason }),
            Read::Unclear(what) => what,
        };
        tracing::info!(%manager, trouble, "not registered yet; trying again");
        // Nobody can make this a flood: a short pause there is in any case.
        sleep(patience.pause).await;
        drop(timeout(pause.saturating_sub(patience.pause), hurry.notified()).await);
        pause = (pause * 2).min(patience.longest);
    }
}

/// One attempt, in all forms that make sense.
async fn attempt(speaker: &Speaker, manager: &Endpoint, limit: Duration, envelope: &Envelope, call: &Call) -> Read {
    let canonical = Manner::default();
    let peer = Peer { endpoint: manager, manner: &canonical, proven: false };
    let judge = |exchange: &Exchange| match Layers::parse(&exchange.body).map(|layers| layers.registration().said) {
        Ok(RegistrationAnswer::Accepted { .. } | RegistrationAnswer::Rejected { .. }) => Verdict::Understood,
        Ok(RegistrationAnswer::Error(_) | RegistrationAnswer::Nothing) | Err(_) => Verdict::Misunderstood,
    };
    let mut tries = Vec::new();
    let said =
        speaker.say(peer, Message { envelope, call, body: None, limit, notice: false }, &judge, &mut tries).await;
    let Some(last) = tries.into_iter().rfind(|one| !one.is_probe) else { return Read::Unclear("no time".into()) };
    let exchange = match last.came {
        Ok(exchange) => exchange,
        Err(error) => return Read::Unclear(error.to_string()),
    };
    let manner = said.learned.unwrap_or_default();
    let read = read(&exchange.body, manner);
    let error = Layers::parse(&exchange.body).ok().and_then(|layers| layers.error());
    // A code of the league is an answer to what was asked.
    if said.understood || error.is_some_and(|error| error.code.is_some() || error.is_rate_limit()) {
        return read;
    }
    // Whoever knows no form of it may still take a form in the other sense.
    match filled_in(speaker, manager, limit, call).await {
        Some(Read::Admitted(admitted)) => Read::Admitted(admitted),
        Some(Read::Rejected(_) | Read::Unclear(_)) | None => read,
    }
}

/// Registers a player at `/register`, with flat fields.
async fn filled_in(speaker: &Speaker, manager: &Endpoint, limit: Duration, call: &Call) -> Option<Read> {
    let Call::RegisterPlayer(request) = call else { return None };
    let meta = &request.player_meta;
    let body = serde_json::json!({
        "display_name": meta.display_name, "version": meta.version, "endpoint": meta.contact_endpoint,
        "game_types": meta.game_types,
    });
    let place = manager.at("/register");
    let came = speaker.client().post(&place, &HeaderMap::new(), body.to_string().into(), limit).await.ok()?;
    came.status.is_success().then(|| read(&came.body, Manner::default()))
}

enum Read {
    Admitted(Box<Admitted>),
    Rejected(String),
    Unclear(String),
}

fn read(body: &[u8], manner: Manner) -> Read {
    let layers = match Layers::parse(body) {
        Ok(layers) => layers,
        Err(unreadable) => return Read::Unclear(unreadable.to_string()),
    };
    let reading = layers.registration();
    match reading.said {
        RegistrationAnswer::Accepted { player_id, referee_id, league_id, passes } => {
            Read::Admitted(Box::new(Admitted {
                player_id,
                referee_id,
                league_id,
                token: reading.token.map(|token| Token::received(token.reveal())),
                passes,
                manner,
            }))
        }
        RegistrationAnswer::Rejected { reason, .. } => Read::Rejected(reason),
        // A manager that has trouble of its own may recover; one that does not understand us will not.
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
    use league_protocol::message::operate::Nothing;
    use league_protocol::sender::{Role, Sender};
    use league_protocol::time::Timestamp;

    use super::*;
    use crate::client::{Client, ClientSettings};
    use crate::net::{Connecting, Connector};

    /// Where nobody is, and how often that was found out.
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
        let speaker = Speaker::new(client);
        let (manager, hurry) = ("http://127.0.0.1:1/mcp".parse().unwrap(), Notify::new());
        let message = || {
            let sender = Sender::unregistered(Role::Player, "somebody");
            let (timestamp, conversation_id) = (Timestamp::EPOCH, ConversationId::named("conv"));
            (Envelope { sender, timestamp, conversation_id, auth_token: None }, Call::Ping(Nothing {}))
        };
        let second = Duration::from_secs(1);
        let patience = Patience { answer: second, pause: second, longest: second * 60 };
        let registering = register(&speaker, &manager, patience, &hurry, message);
        let tries = || nowhere.0.load(Ordering::Relaxed);
        tokio::select! {
            _ = registering => panic!("nobody is there"),
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
}
