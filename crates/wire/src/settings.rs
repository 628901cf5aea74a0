//! The limits of a server.

use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;

use crate::pages::PageHandler;
use crate::rate::Rate;

#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// Host names that requests may use, beside loopback and the bound address: `league.example`, or with a port,
    /// `league.example:8000`. `*` allows every name.
    pub allowed_hosts: Vec<String>,
    /// Origins of pages that may call it, beside loopback and the page's own host: `https://league.example`. `*` allows
    /// every origin. Programs send no origin and need none.
    pub allowed_origins: Vec<String>,
    /// Connections at a time. A further one replaces an idle one, and waits while all are being answered.
    pub max_connections: usize,
    /// Of these, from one address other than loopback.
    pub max_from_one_address: usize,
    /// Time for the head of a request, from its first byte; as much again for its body, and for a TLS handshake.
    pub read_limit: Duration,
    /// Time without a request, or without progress in sending an answer, after which a connection is closed.
    pub idle_limit: Duration,
    /// Time that running requests get when the server shuts down.
    pub grace: Duration,
    /// TLS, see [`crate::tls::server_config`]; none is plain HTTP.
    pub tls: Option<Arc<ServerConfig>>,
    /// Serves the paths that the protocol does not use.
    pub pages: Option<Arc<dyn PageHandler>>,
    /// The rate of requests for pages from one address, which many viewers may share. Loopback is not limited.
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
