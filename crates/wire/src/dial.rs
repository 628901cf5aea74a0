//! New connections of the client, with TLS for `https` endpoints.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::time::{Instant, sleep};
use tokio_rustls::TlsConnector;

use crate::endpoint::Endpoint;
use crate::net::{Connector, Stream};
use crate::runtime_lag::LagMonitor;

pub(crate) struct Dialer {
    connector: Arc<dyn Connector>,
    tls: Option<TlsConnector>,
    lag_monitor: Option<LagMonitor>,
}

/// The pause when this machine has no descriptors or memory left: another connection must end first.
const PAUSE: Duration = Duration::from_millis(20);

impl Dialer {
    pub(crate) fn new(
        connector: Arc<dyn Connector>,
        tls: Option<Arc<ClientConfig>>,
        lag_monitor: Option<LagMonitor>,
    ) -> Self {
        Self { connector, tls: tls.map(TlsConnector::from), lag_monitor }
    }

    /// Waits while this machine lacks resources, because that is not the peer's fault.
    async fn connect(&self, host: &str, port: u16) -> io::Result<Box<dyn Stream>> {
        let mut warned = false;
        loop {
            match self.connector.connect(host, port).await {
                Err(error) if is_our_own(&error) => {
                    if !warned {
                        tracing::warn!(%error, host, port, "this machine lacks resources for a connection; waiting");
                        warned = true;
                    }
                    let began = Instant::now();
                    sleep(PAUSE).await;
                    if let Some(lag_monitor) = &self.lag_monitor {
                        lag_monitor.lose_since(began);
                    }
                }
                connected => return connected,
            }
        }
    }

    pub(crate) async fn dial(&self, endpoint: &Endpoint) -> io::Result<Box<dyn Stream>> {
        let (host, port) = (endpoint.host(), endpoint.port());
        if !endpoint.is_secure() {
            return self.connect(host, port).await;
        }
        let Some(tls) = &self.tls else {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "this client was set up without TLS"));
        };
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        let plain = self.connect(host, port).await?;
        Ok(Box::new(tls.connect(name, plain).await?))
    }
}

fn is_our_own(error: &io::Error) -> bool {
    // Too many open files here (EMFILE) or everywhere (ENFILE); no buffer (ENOBUFS on Linux and macOS).
    const UNIX: &[i32] = &[24, 23, 105, 55];
    // Too many sockets (WSAEMFILE); no buffer or no free port (WSAENOBUFS).
    const WINDOWS: &[i32] = &[10_024, 10_055];
    let numbers = if cfg!(windows) { WINDOWS } else { UNIX };
    let numbered = error.raw_os_error().is_some_and(|number| numbers.contains(&number));
    numbered || error.kind() == io::ErrorKind::OutOfMemory
}
