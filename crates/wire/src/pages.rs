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

pub type PageFuture<'a> = Pin<Box<dyn Future<Output = Response<Body>> + Send + 'a>>;

#[derive(Debug)]
pub struct PageRequest {
    /// What is asked for, and how.
    pub parts: Parts,
    /// What came with it: of a POST only.
    pub body: Bytes,
    pub peer: SocketAddr,
}

/// What a server shows beside its agent.
pub trait PageHandler: fmt::Debug + Send + Sync + 'static {
    /// Answers a GET, HEAD or POST at a path that the protocol does not know.
    fn show(&self, visit: PageRequest) -> PageFuture<'_>;
}

pub(crate) fn takes(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::POST)
}
