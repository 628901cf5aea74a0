//! An agent that echoes what it received, and scripted peers.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use league_protocol::dialect::PeerDialect;
use league_protocol::envelope::Envelope;
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::ConversationId;
use league_protocol::message::round::ShutdownCommand;
use league_protocol::sender::{Role, Sender};
use league_protocol::table::{Call, Method};
use league_protocol::time::Timestamp;
use league_wire::agent::{Agent, CallAnswer, Health, IncomingCall};
use league_wire::client::Client;
use league_wire::endpoint::Endpoint;
use league_wire::exchange::{CallError, Exchange};
use league_wire::net::Listener;
use league_wire::server::serve;
use league_wire::settings::ServerSettings;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

use crate::remote_listener::RemoteListener;

pub(crate) fn envelope(conversation: &str) -> Envelope {
    Envelope {
        sender: Sender::manager(),
        timestamp: Timestamp::EPOCH,
        conversation_id: ConversationId::named(conversation),
        auth_token: None,
    }
}

/// Echoes what it received. It refuses `get_player_state`, delays `get_match_state` until released, and panics on `draw_number`.
pub(crate) struct EchoAgent {
    pub(crate) role: Role,
    pub(crate) strict: bool,
    pub(crate) received: AtomicUsize,
    pub(crate) arrived: Notify,
    pub(crate) go: Notify,
}

impl Agent for EchoAgent {
    type Call = Call;

    fn role(&self) -> Role {
        self.role
    }

    fn strict(&self) -> bool {
        self.strict
    }

    fn envelope(&self, echo: Option<ConversationId>) -> Envelope {
        Envelope { conversation_id: echo.unwrap_or_else(|| ConversationId::named("none")), ..envelope("") }
    }

    async fn call(&self, arrived: IncomingCall) -> Result<CallAnswer, RequestError> {
        self.received.fetch_add(1, Ordering::Relaxed);
        let method = arrived.method;
        if method == Method::GetPlayerState {
            return Err(RequestError::new(ErrorCode::E010, method, "not now"));
        }
        if method == Method::GetMatchState {
            self.arrived.notify_one();
            self.go.notified().await;
        }
        assert!(method != Method::DrawNumber, "this agent has been told to fall over");
        let outcome = json!({
            "heard": method.row().name,
            "frame": arrived.frame.to_string(),
            "token": arrived.head.auth_token.as_ref().map(|token| token.reveal()),
            "quirks": arrived.quirks.iter().count(),
        });
        CallAnswer::new(Agent::envelope(self, arrived.head.conversation_id.good()), &outcome)
    }

    fn health(&self) -> Health {
        Health { status: "ok", role: self.role, id: Some("P01".into()), league_id: None, state: "IDLE".into() }
    }
}

pub(crate) struct EchoServer {
    pub(crate) address: SocketAddr,
    pub(crate) agent: Arc<EchoAgent>,
    pub(crate) stop: oneshot::Sender<()>,
    pub(crate) ended: JoinHandle<std::io::Result<()>>,
}

pub(crate) async fn serve_echo(role: Role, settings: ServerSettings) -> EchoServer {
    serve_agent(EchoAgent::new(role), settings).await
}

impl EchoAgent {
    pub(crate) fn new(role: Role) -> Self {
        Self { role, strict: false, received: AtomicUsize::new(0), arrived: Notify::new(), go: Notify::new() }
    }
}

pub(crate) async fn serve_agent(agent: EchoAgent, settings: ServerSettings) -> EchoServer {
    open(agent, TcpListener::bind("127.0.0.1:0").await.unwrap(), settings)
}

/// Every client seems to call from `caller`.
pub(crate) async fn serve_remote(role: Role, caller: &str, settings: ServerSettings) -> EchoServer {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    open(EchoAgent::new(role), RemoteListener { listener, caller: caller.parse().unwrap() }, settings)
}

fn open(agent: EchoAgent, listener: impl Listener, settings: ServerSettings) -> EchoServer {
    let agent = Arc::new(agent);
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel();
    let shutdown = async { drop(stopped.await) };
    let ended = tokio::spawn(serve(listener, Arc::clone(&agent), settings, shutdown));
    EchoServer { address, agent, stop, ended }
}

pub(crate) async fn echo_player() -> EchoServer {
    serve_echo(Role::Player, ServerSettings::default()).await
}

/// `script` receives each connection and its number, counted from one.
pub(crate) async fn peer<F>(script: impl Fn(TcpStream, usize) -> F + Send + 'static) -> Endpoint
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = endpoint(listener.local_addr().unwrap());
    tokio::spawn(async move {
        for number in 1.. {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(script(stream, number));
        }
    });
    endpoint
}

pub(crate) fn endpoint(address: SocketAddr) -> Endpoint {
    format!("http://{address}/mcp").parse().unwrap()
}

pub(crate) async fn call(client: &Client, endpoint: &Endpoint, limit: Duration) -> Result<Exchange, CallError> {
    client.call(endpoint, &PeerDialect::default(), &envelope("test"), &small(), limit).await
}

pub(crate) fn small() -> Call {
    Call::Shutdown(ShutdownCommand::default())
}

pub(crate) const SECOND: Duration = Duration::from_secs(1);
pub(crate) const LONG: Duration = Duration::from_secs(10);
pub(crate) const SHORT: Duration = Duration::from_millis(150);
