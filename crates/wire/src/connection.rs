//! One connection, from its handshake to its end.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;

use http_body_util::Either;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use crate::agent::Agent;
use crate::connections::ConnectionState;
use crate::io_timeout::{IoLimits, RequestActivity, TimeoutStream};
use crate::net::Stream;
use crate::route::AgentSite;
use crate::streaming_body::StreamingBody;

/// The most bytes of a request's head.
const MAX_HEAD: usize = 16 * 1024;

/// The most bytes that wait in one connection's buffer.
const MAX_BUFFER: usize = 128 * 1024;

/// What every connection of a server has in common.
pub(crate) struct ServerContext<A> {
    pub(crate) site: AgentSite<A>,
    pub(crate) limits: IoLimits,
    pub(crate) tls: Option<TlsAcceptor>,
}

/// Serves one connection until it is closed, or until `closing` lets the running request be the last.
pub(crate) async fn attend<A: Agent>(
    house: Arc<ServerContext<A>>,
    stream: impl Stream,
    peer: SocketAddr,
    place: ConnectionState,
    closing: watch::Receiver<()>,
) {
    let turn = RequestActivity::new(place);
    match &house.tls {
        None => converse(Arc::clone(&house), stream, peer, turn, closing).await,
        Some(tls) => match tokio::time::timeout(house.limits.read, tls.accept(stream)).await {
            Ok(Ok(stream)) => converse(Arc::clone(&house), stream, peer, turn, closing).await,
            Ok(Err(error)) => tracing::debug!(%peer, %error, "TLS was not agreed upon"),
            Err(_) => tracing::debug!(%peer, "TLS was not agreed upon in time"),
        },
    }
}

/// Waits until the server closes, or another wants the place of this connection.
async fn until_over(closing: &mut watch::Receiver<()>, turn: &RequestActivity) {
    tokio::select! {
        _ = closing.changed() => {}
        () = turn.place().is_wanted() => {}
    }
}

async fn converse<A: Agent>(
    house: Arc<ServerContext<A>>,
    stream: impl Stream,
    peer: SocketAddr,
    turn: RequestActivity,
    mut closing: watch::Receiver<()>,
) {
    let stream = TokioIo::new(TimeoutStream::new(stream, house.limits, turn.clone()));
    let service = service_fn(|request| {
        let (house, turn) = (Arc::clone(&house), turn.clone());
        async move {
            turn.begin_or_end();
            let response = house.site.respond(request, peer, &turn).await;
            Ok::<_, Infallible>(response.map(|body| match body {
                Either::Left(whole) => {
                    turn.begin_or_end();
                    Either::Left(whole)
                }
                Either::Right(body) => Either::Right(StreamingBody::new(body, turn)),
            }))
        }
    });
    let mut http = http1::Builder::new();
    http.header_read_timeout(None).max_header_size(MAX_HEAD).max_buf_size(MAX_BUFFER);
    // Head and body of an answer are small: copied together they are one plain write. Pages are not, and are shared by all who look.
    http.writev(house.site.pages.is_some());
    let mut connection = pin!(http.serve_connection(stream, service));
    let end = tokio::select! {
        biased;
        end = connection.as_mut() => end,
        () = until_over(&mut closing, &turn) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = end {
        tracing::debug!(%peer, %error, "a connection ended badly");
    }
}
