//! What a server shows beside its agent: whatever is at a path that the protocol does not know.
//!
//! Pages are for people, so an answer may be a stream without end ([`Body`]). Host and origin have been checked, and the body has
//! been read within its bounds, before a visit gets here.

use std::convert::Infallible;
use std::fmt;
use std::net::SocketAddr;
use std::pin::Pin;

use bytes::Bytes;
use http::request::Parts;
use http::{Method, Response};
use http_body_util::combinators::UnsyncBoxBody;

/// What is answered: some bytes, or a stream of them.
pub type Body = UnsyncBoxBody<Bytes, Infallible>;

/// An answer on its way.
pub type Showing<'a> = Pin<Box<dyn Future<Output = Response<Body>> + Send + 'a>>;

/// Somebody who looks.
#[derive(Debug)]
pub struct Visit {
    /// What is asked for, and how.
    pub parts: Parts,
    /// What came with it: of a POST only.
    pub body: Bytes,
    /// From where.
    pub peer: SocketAddr,
}

/// What a server shows beside its agent.
pub trait Pages: fmt::Debug + Send + Sync + 'static {
    /// Answers a GET, HEAD or POST at a path that the protocol does not know.
    fn show(&self, visit: Visit) -> Showing<'_>;
}

/// The methods that pages take.
pub(crate) fn takes(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::POST)
}
