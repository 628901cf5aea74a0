//! The bounds of a server.

use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;

use crate::pages::PageHandler;
use crate::rate::Rate;

#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// Names under which it may be addressed, beside loopback and the address it is bound to: `league.example`, or with a
    /// port, `league.example:8000`. `*` allows every name.
    pub allowed_hosts: Vec<String>,
    /// Origins of pages that may call it, beside loopback and the page's own host: `https://league.example`. `*` allows
    /// every origin. Programs send no origin and need none.
    pub allowed_origins: Vec<String>,
    /// Connections at a time. The next one takes the place of one on which nothing happens; when all are being answered, it waits.
    pub max_connections: usize,
    /// Of these, from one address other than this machine's.
    pub max_from_one_address: usize,
    /// Time for the head of a request, from its first byte; as much again for its body, and for a TLS handshake.
    pub read_limit: Duration,
    /// Time without a request, or with an answer that is not taken, after which a connection is closed.
    pub idle_limit: Duration,
    /// Time that running requests get when the server shuts down.
    pub grace: Duration,
    /// TLS, see [`crate::tls::server_config`]; none is plain HTTP.
    pub tls: Option<Arc<ServerConfig>>,
    /// What is shown at the paths that the protocol does not know; nothing is there without it.
    pub pages: Option<Arc<dyn PageHandler>>,
    /// How often one address may look at those; a room full of viewers may share one. This machine's own is not counted.
    pub visits: Rate,
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            max_connections: 1024,
            max_from_one_address: 256,
            read_limit: Duration::from_secs(5),
            idle_limit: Duration::from_secs(60),
            grace: Duration::from_secs(10),
            tls: None,
            pages: None,
            visits: Rate::new(200, 2000),
        }
    }
}
