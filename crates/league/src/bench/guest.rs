//! A player from elsewhere that asks a lot: how long LEAGUE_QUERY takes while a league is played.
//!
//! It is let in like any other player, plays its matches, and asks under its own token.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use hdrhistogram::Histogram;
use league_protocol::answer::{ParsedAnswer, ReplyKind};
use league_protocol::dialect::PeerDialect;
use league_protocol::envelope::Envelope;
use league_protocol::error::RequestError;
use league_protocol::id::{ConversationId, GameType, PlayerId};
use league_protocol::message::acknowledgement::Acknowledgement;
use league_protocol::message::choice::ChooseParityResponse;
use league_protocol::message::invitation::GameJoinAck;
use league_protocol::message::query::{LeagueQuery, QueryParams, QueryType};
use league_protocol::message::registration::{AgentMeta, LeagueRegisterRequest};
use league_protocol::parity::Parity;
use league_protocol::quirk::Quirks;
use league_protocol::sender::{Role, Sender};
use league_protocol::table::Call;
use league_wire::agent::{Agent, CallAnswer, Health, IncomingCall};
use league_wire::endpoint::Endpoint;
use league_wire::environment::Environment;
use league_wire::peer_client::PeerClient;
use league_wire::registration::{RegistrationRetry, register};
use league_wire::server::serve;
use league_wire::settings::ServerSettings;
use smol_str::SmolStr;
use tokio::sync::Notify;

use crate::listen::Bound;
use crate::secure;

/// The pause between two questions: the manager is to be busy with the league and not with us.
const PAUSE: Duration = Duration::from_millis(2);
/// How long an answer may take.
const LIMIT: Duration = Duration::from_secs(10);
/// What is asked, in turns: the whole table, what a player wants to know of itself, and how far the league is.
const QUESTIONS: [QueryType; 3] = [QueryType::GetStandings, QueryType::GetPlayerStats, QueryType::GetStatus];

/// Plays as `id` in the league of `manager` until that ends, and asks meanwhile. How long the answers took, in microseconds.
pub(crate) fn ask_meanwhile(manager: &Endpoint, id: PlayerId) -> Result<Histogram<u64>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(visit(manager, id))
}

async fn visit(manager: &Endpoint, id: PlayerId) -> Result<Histogram<u64>> {
    let bound = Bound::to(IpAddr::V4(Ipv4Addr::LOCALHOST), 0, "the guest")?;
    let (guest, contact) = (Guest { id }, bound.endpoint("http")?);
    let (me, registration) = (guest.envelope(None), Call::RegisterPlayer(guest.registration(&contact)));
    tokio::spawn(serve(bound.into_tokio()?, Arc::new(guest), ServerSettings::default(), std::future::pending()));
    let client = secure::caller(None)?;
    let patience = RegistrationRetry {
        answer: LIMIT,
        pause: Duration::from_millis(50),
        longest: Duration::from_secs(1),
        tries: None,
    };
    let message = || (me.clone(), registration.clone());
    let admitted = register(&PeerClient::new(client.clone()), manager, patience, &Notify::new(), message).await?;
    let token = admitted.token.context("a guest was let in without a token")?;
    let me = Envelope { auth_token: Some(token.into()), ..me };
    let canonical = PeerDialect::default();
    let mut times = Histogram::<u64>::new_with_bounds(1, 60_000_000, 2)?;
    for query_type in QUESTIONS.into_iter().cycle() {
        let query = LeagueQuery { league_id: None, query_type, query_params: QueryParams::default() };
        let began = Instant::now();
        let Ok(exchange) = client.call(manager, &canonical, &me, &Call::LeagueQuery(query), LIMIT).await else {
            // The end of the league is the end of its manager.
            break;
        };
        let took = began.elapsed();
        if let ReplyKind::Error(error) =
            ParsedAnswer::parse(&exchange.body).context("the manager cannot be understood")?.heard()
        {
            bail!("the manager does not answer a guest: {}", error.words);
        }
        times.saturating_record(u64::try_from(took.as_micros())?);
        tokio::time::sleep(PAUSE).await;
    }
    if times.is_empty() {
        bail!("the league ended before its guest had asked anything");
    }
    Ok(times)
}

/// The player: it comes, says even, and nods.
struct Guest {
    id: PlayerId,
}

impl Guest {
    fn registration(&self, contact: &Endpoint) -> LeagueRegisterRequest {
        LeagueRegisterRequest {
            player_meta: AgentMeta {
                display_name: SmolStr::new_static("guest"),
                version: SmolStr::new_static(env!("CARGO_PKG_VERSION")),
                protocol_version: None,
                game_types: vec![GameType::even_odd()],
                contact_endpoint: contact.to_string(),
                max_concurrent_matches: None,
                pass_scheme: None,
            },
            player_id: Some(self.id.clone()),
            join_key: None,
            quirks: Quirks::default(),
        }
    }
}

impl Agent for Guest {
    fn role(&self) -> Role {
        Role::Player
    }

    fn envelope(&self, echo: Option<ConversationId>) -> Envelope {
        let conversation_id = echo.unwrap_or_else(|| ConversationId::named("conv-guest"));
        let sender = Sender::player(&self.id);
        Envelope { sender, timestamp: Environment::real().now(), conversation_id, auth_token: None }
    }

    async fn call(&self, arrived: IncomingCall) -> Result<CallAnswer, RequestError> {
        let IncomingCall { call, head, .. } = arrived;
        let envelope = Envelope { auth_token: head.auth_token, ..self.envelope(head.conversation_id.good()) };
        let player_id = self.id.clone();
        if let Call::GameInvitation(invitation) = call {
            let join = GameJoinAck {
                match_id: Some(invitation.match_id),
                player_id: Some(player_id),
                arrival_timestamp: Some(envelope.timestamp),
                accept: Some(true),
                draw_nonce: None,
                reason: None,
            };
            return CallAnswer::new(envelope, &join);
        }
        if let Call::ChooseParity(call) = call {
            let choice = ChooseParityResponse { match_id: call.match_id, player_id, parity_choice: Parity::Even };
            return CallAnswer::new(envelope, &choice);
        }
        CallAnswer::new(envelope, &Acknowledgement::default())
    }

    fn health(&self) -> Health {
        let (id, state) = (Some(self.id.to_string()), String::from("visiting"));
        Health { status: "ok", role: Role::Player, id, league_id: None, state }
    }
}
