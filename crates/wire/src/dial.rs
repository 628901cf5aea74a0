//! Connections for the client: the network's, with TLS on top where the endpoint asks for it.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::Uri;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio_rustls::TlsConnector;
use tower_service::Service;

use crate::endpoint::{bare_host, is_secure, port};
use crate::line::Line;
use crate::net::Connector;

/// Makes connections for hyper's pool.
#[derive(Clone)]
pub(crate) struct Dialer {
    connector: Arc<dyn Connector>,
    tls: Option<TlsConnector>,
}

impl Dialer {
    pub(crate) fn new(connector: Arc<dyn Connector>, tls: Option<Arc<ClientConfig>>) -> Self {
        Self { connector, tls: tls.map(TlsConnector::from) }
    }

    async fn dial(self, uri: Uri) -> io::Result<TokioIo<Line>> {
        let host = bare_host(&uri);
        if !is_secure(&uri) {
            return Ok(TokioIo::new(Line::new(self.connector.connect(host, port(&uri)).await?)));
        }
        let Some(tls) = &self.tls else {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "this client was set up without TLS"));
        };
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        let plain = self.connector.connect(host, port(&uri)).await?;
        Ok(TokioIo::new(Line::new(Box::new(tls.connect(name, plain).await?))))
    }
}

impl Service<Uri> for Dialer {
    type Response = TokioIo<Line>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<TokioIo<Line>>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        Box::pin(self.clone().dial(uri))
    }
}
