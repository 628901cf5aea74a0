//! Pages beside the agent, at paths that the protocol does not use. An answer may be an endless stream ([`Body`]).
//! The server checks Host and Origin and reads the body before it calls the handler.

use std::convert::Infallible;
use std::fmt;
use std::net::SocketAddr;
use std::pin::Pin;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, Response, header};
use http_body_util::combinators::UnsyncBoxBody;
use league_protocol::token::Credential;

pub type Body = UnsyncBoxBody<Bytes, Infallible>;

pub type PageFuture<'a> = Pin<Box<dyn Future<Output = Response<Body>> + Send + 'a>>;

#[derive(Debug)]
pub struct PageRequest {
    pub parts: Parts,
    /// Empty unless it is a POST.
    pub body: Bytes,
    pub peer: SocketAddr,
}

pub trait PageHandler: fmt::Debug + Send + Sync + 'static {
    fn respond(&self, request: PageRequest) -> PageFuture<'_>;
}

/// The secret of `Authorization: Bearer`.
pub fn bearer(headers: &HeaderMap) -> Option<Credential> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then(|| Credential::new(token))
}
