//! How an agent gets into its league: it asks until the manager is there, and takes no for an answer.

use std::time::Duration;

use league_protocol::answer::{Layers, RegistrationAnswer};
use league_protocol::head::Envelope;
use league_protocol::id::{LeagueId, PlayerId, RefereeId};
use league_protocol::speech::Form;
use league_protocol::table::Call;
use league_protocol::token::Token;
use thiserror::Error;
use tokio::time::sleep;

use crate::client::Client;
use crate::endpoint::Endpoint;

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

/// Registers with `manager`, and goes on trying as long as nobody answers there.
pub async fn register(
    client: &Client,
    manager: &Endpoint,
    patience: Patience,
    mut message: impl FnMut() -> (Envelope, Call),
) -> Result<Admitted, Rejected> {
    let mut pause = patience.pause;
    loop {
        let (envelope, call) = message();
        let trouble = match client.call(manager, Form::default(), &envelope, &call, patience.answer).await {
            Ok(exchange) => match read(&exchange.body) {
                Read::Admitted(admitted) => return Ok(admitted),
                Read::Rejected(reason) => return Err(Rejected { manager: manager.to_string(), reason }),
                Read::Unclear(what) => what,
            },
            Err(error) => error.to_string(),
        };
        tracing::info!(%manager, trouble, "not registered yet; trying again");
        sleep(pause).await;
        pause = (pause * 2).min(patience.longest);
    }
}

enum Read {
    Admitted(Admitted),
    Rejected(String),
    Unclear(String),
}

fn read(body: &[u8]) -> Read {
    let layers = match Layers::parse(body) {
        Ok(layers) => layers,
        Err(unreadable) => return Read::Unclear(unreadable.to_string()),
    };
    let reading = layers.registration();
    match reading.said {
        RegistrationAnswer::Accepted { player_id, referee_id, league_id, passes } => Read::Admitted(Admitted {
            player_id,
            referee_id,
            league_id,
            token: reading.token.map(|token| Token::received(token.reveal())),
            passes,
        }),
        RegistrationAnswer::Rejected { reason, .. } => Read::Rejected(reason),
        // A manager that has trouble of its own may recover; one that does not understand us will not.
        RegistrationAnswer::Error(error) if error.code.as_deref() == Some("E015") || error.is_rate_limit() => {
            Read::Unclear(error.words)
        }
        RegistrationAnswer::Error(error) => Read::Rejected(error.words),
        RegistrationAnswer::Nothing => Read::Unclear(String::from("the answer says nothing about the registration")),
    }
}
