use std::sync::Arc;
use std::time::Duration;

use league_protocol::token::TokenDigest;
use rustls::ServerConfig;

use crate::pages::PageHandler;
use crate::rate::Rate;
use crate::relay::Relay;
use crate::trusted_proxies::TrustedProxies;

#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// Accepted `Host` names beside loopback and the bound address: `league.example`, or with a port,
    /// `league.example:8000`. `*` allows every name.
    pub allowed_hosts: Vec<String>,
    /// Accepted origins beside loopback and the page's own host: `https://league.example`. `*` allows every origin.
    /// Programs send no origin and need none.
    pub allowed_origins: Vec<String>,
    /// A further connection replaces an idle one, and waits while all are being answered.
    pub max_connections: usize,
    /// Applies to every address except loopback.
    pub max_from_one_address: usize,
    /// For the head of a request from its first byte, again for its body, and for a TLS handshake.
    pub read_limit: Duration,
    /// Closes a connection without a request, or without progress in sending an answer.
    pub idle_limit: Duration,
    pub grace: Duration,
    /// See [`crate::tls::server_config`]. `None` serves plain HTTP.
    pub tls: Option<Arc<ServerConfig>>,
    pub pages: Option<Arc<dyn PageHandler>>,
    /// Requests for pages from one address, which many viewers may share. Loopback has no limit.
    pub page_rate: Rate,
    /// Believed about the address of a client. They may open any number of connections.
    pub trusted_proxies: TrustedProxies,
    /// For a standby: where calls go.
    pub relay: Option<Arc<Relay>>,
    /// Recognises calls that a standby forwards.
    pub relay_key: Option<TokenDigest>,
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
            page_rate: Rate::new(200, 2000),
            trusted_proxies: TrustedProxies::default(),
            relay: None,
            relay_key: None,
        }
    }
}
