//! A league in its own home, shown by a server on a free port.

use std::net::SocketAddr;
use std::sync::Arc;

use league_core::season::config::LeagueConfig;
use league_core::season::event::Event;
use league_dashboard::{Archive, Dashboard, DashboardSettings, Feed};
use league_protocol::envelope::Envelope;
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::ConversationId;
use league_protocol::sender::{Role, Sender};
use league_protocol::table::Call;
use league_store::home::Home;
use league_store::log::{EventLog, LogHead};
use league_wire::agent::{Agent, CallAnswer, Health, IncomingCall};
use league_wire::server::serve;
use league_wire::settings::ServerSettings;
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::leagues::{GeneratedLeague, league, now};

/// An agent that answers no call.
struct SilentAgent;

impl Agent for SilentAgent {
    type Call = Call;

    fn role(&self) -> Role {
        Role::Manager
    }
    fn envelope(&self, _: Option<ConversationId>) -> Envelope {
        let conversation_id = ConversationId::named("none");
        Envelope { sender: Sender::manager(), timestamp: now(), conversation_id, auth_token: None }
    }
    async fn call(&self, call: IncomingCall) -> Result<CallAnswer, RequestError> {
        Err(RequestError::new(ErrorCode::E010, call.method, "not here"))
    }
    fn health(&self) -> Health {
        Health { status: "ok", role: Role::Manager, id: None, league_id: None, state: "serving".into() }
    }
}

pub(crate) struct Site {
    pub(crate) address: SocketAddr,
    pub(crate) dashboard: Dashboard,
    pub(crate) home: Home,
    feed: Feed,
    log: Box<dyn EventLog>,
    _directory: TempDir,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

pub(crate) fn begun(players: u32, matches: u32) -> GeneratedLeague {
    let mut generated = GeneratedLeague::open(LeagueConfig::even_odd(league()), 7);
    generated.register(players, 2);
    if matches > 0 {
        generated.play(matches);
    }
    generated
}

impl Site {
    pub(crate) async fn of(events: &[Event]) -> Self {
        Self::with(events, DashboardSettings::default()).await
    }

    pub(crate) async fn with(events: &[Event], settings: DashboardSettings) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::at(directory.path());
        home.prepare(&league()).unwrap();
        let log = home.log(&league());
        log.append(LogHead::GENESIS, events.to_vec()).await.unwrap();
        let (dashboard, feed, work) =
            Dashboard::open(Archive::of(home.log(&league()), home.clone(), league()), settings).unwrap();
        tokio::spawn(work);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let settings = ServerSettings { pages: Some(Arc::new(dashboard.clone())), ..ServerSettings::default() };
        tokio::spawn(serve(listener, Arc::new(SilentAgent), settings, std::future::pending()));
        Self { address, dashboard, home, feed, log, _directory: directory }
    }

    /// Appends the events, then feeds them to the dashboard.
    pub(crate) async fn append(&self, events: &[Event]) {
        self.log.append(self.log.head().unwrap(), events.to_vec()).await.unwrap();
        events.iter().for_each(|event| self.feed.send(event));
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], "").await
    }

    pub(crate) async fn post(&self, path: &str, headers: &[&str], body: &str) -> Answer {
        self.send("POST", path, headers, body).await
    }

    pub(crate) async fn send(&self, method: &str, path: &str, headers: &[&str], body: &str) -> Answer {
        let mut stream = self.request(method, path, headers, body).await;
        let mut text = Vec::new();
        stream.read_to_end(&mut text).await.unwrap();
        let text = String::from_utf8(text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head: head.replace('\r', ""), body: body.to_owned() }
    }

    /// Sends a request and returns the open connection.
    pub(crate) async fn request(&self, method: &str, path: &str, headers: &[&str], body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let more: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        let (host, length) = (self.address, body.len());
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n{more}content-length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        stream
    }
}
