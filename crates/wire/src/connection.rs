//! One server connection, from its handshake to its end.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;

use http_body_util::{BodyExt, Either};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use crate::connections::{Activity, ConnectionState};
use crate::io_timeout::{IoLimits, TimeoutStream};
use crate::net::Stream;
use crate::route::Site;

const MAX_HEAD: usize = 16 * 1024;

const MAX_BUFFER: usize = 128 * 1024;

pub(crate) struct ServerContext<S> {
    pub(crate) site: S,
    pub(crate) limits: IoLimits,
    pub(crate) tls: Option<TlsAcceptor>,
}

/// Serves one connection until it closes. After `closing` resolves, the running request is the last one.
pub(crate) async fn serve_connection<S: Site>(
    context: Arc<ServerContext<S>>,
    stream: impl Stream,
    peer: SocketAddr,
    state: Arc<ConnectionState>,
    closing: watch::Receiver<()>,
) {
    match &context.tls {
        None => serve_requests(Arc::clone(&context), stream, peer, state, closing).await,
        Some(tls) => match tokio::time::timeout(context.limits.read, tls.accept(stream)).await {
            Ok(Ok(stream)) => serve_requests(Arc::clone(&context), stream, peer, state, closing).await,
            Ok(Err(error)) => tracing::debug!(%peer, %error, "the TLS handshake failed"),
            Err(_) => tracing::debug!(%peer, "the TLS handshake took too long"),
        },
    }
}

/// Part of the answer's body, so it marks the connection idle when the answer is written.
struct IdleOnDrop(Arc<ConnectionState>);

impl Drop for IdleOnDrop {
    fn drop(&mut self) {
        self.0.set(Activity::Idle);
    }
}

async fn serve_requests<S: Site>(
    context: Arc<ServerContext<S>>,
    stream: impl Stream,
    peer: SocketAddr,
    state: Arc<ConnectionState>,
    mut closing: watch::Receiver<()>,
) {
    let stream = TokioIo::new(TimeoutStream::new(stream, context.limits, Arc::clone(&state)));
    let service = service_fn(|request| {
        let (context, state) = (Arc::clone(&context), Arc::clone(&state));
        async move {
            state.set(Activity::Reading);
            let idle = IdleOnDrop(Arc::clone(&state));
            let response = context.site.respond(request, peer, &state).await;
            let keep = move |never: Infallible| {
                let _ = &idle;
                never
            };
            Ok::<_, Infallible>(response.map(|body| match body {
                Either::Left(whole) => Either::Left(whole.map_err(keep)),
                Either::Right(stream) => Either::Right(stream.map_err(keep)),
            }))
        }
    });
    let mut http = http1::Builder::new();
    http.header_read_timeout(None).max_header_size(MAX_HEAD).max_buf_size(MAX_BUFFER);
    // Protocol answers are small: copying head and body into one write is cheaper. Pages share their bytes and are not copied.
    http.writev(context.site.has_pages());
    let mut connection = pin!(http.serve_connection(stream, service));
    let end = tokio::select! {
        biased;
        end = connection.as_mut() => end,
        () = async { tokio::select! { _ = closing.changed() => {}, () = state.closing() => {} } } => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = end {
        tracing::debug!(%peer, %error, "a connection failed");
    }
}
