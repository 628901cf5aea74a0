//! HTTP for players and the manager: as little of it as will do, so that the machine is the referee's.

use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde::Deserialize;

/// As much of a request as anybody here wants to know.
#[derive(Debug, Deserialize)]
pub(crate) struct Asked {
    pub(crate) id: u64,
    pub(crate) method: String,
    pub(crate) params: Params,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    pub(crate) match_id: String,
    pub(crate) conversation_id: String,
    pub(crate) referee_meta: Option<Meta>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Meta {
    pub(crate) contact_endpoint: String,
}

pub(crate) trait Resident: Send + Sync + 'static {
    /// The result; nothing when there is never to be one.
    fn answer(&self, asked: Asked) -> impl Future<Output = Option<String>> + Send;
}

pub(crate) fn listen() -> io::Result<TcpListener> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Serves `resident` as long as the runtime lasts.
pub(crate) fn open<R: Resident>(listener: TcpListener, resident: Arc<R>) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            drop(stream.set_nodelay(true));
            let resident = Arc::clone(&resident);
            let service = service_fn(move |request| respond(Arc::clone(&resident), request));
            // A connection that breaks is the other side's affair.
            tokio::spawn(
                async move { drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await) },
            );
        }
    });
    Ok(())
}

async fn respond<R: Resident>(
    resident: Arc<R>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let said = match request.into_body().collect().await {
        Ok(body) => match serde_json::from_slice::<Asked>(&body.to_bytes()) {
            Ok(asked) => {
                let id = asked.id;
                let result = resident.answer(asked).await;
                result.map(|result| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
            }
            Err(error) => {
                Some(format!(r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":-32600,"message":"{error}"}}}}"#))
            }
        },
        Err(_) => None,
    };
    match said {
        Some(said) => Ok(Response::new(Full::new(Bytes::from(said)))),
        None => std::future::pending().await,
    }
}
