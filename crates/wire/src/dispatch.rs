//! From the bytes of a request to the bytes of its answer.

use std::net::SocketAddr;

use bytes::Bytes;
use http::StatusCode;
use league_protocol::error::{Fault, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR};
use league_protocol::frame::{Frame, RequestId};
use league_protocol::head::Head;
use league_protocol::reply::ReplyTo;
use league_protocol::request::{self, Incoming, Refused, Request};
use league_protocol::table::Method;
use league_protocol::token::Credential;
use serde_json::value::RawValue;

use crate::agent::{Agent, Arrived};
use crate::mcp;
use crate::together::together;

/// The most requests of a batch.
pub(crate) const MAX_BATCH: usize = 64;

/// Who asks.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) peer: SocketAddr,
    /// The credential of the `Authorization` header.
    pub(crate) bearer: Option<Credential>,
}

/// What goes back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    /// JSON, or nothing at all.
    pub(crate) body: Bytes,
}

impl Reply {
    pub(crate) fn new(status: StatusCode, body: impl Into<Bytes>) -> Self {
        Self { status, body: body.into() }
    }

    /// The answer to a notification.
    pub(crate) fn nothing() -> Self {
        Self::new(StatusCode::ACCEPTED, Bytes::new())
    }
}

/// Answers what was posted to `/mcp`.
pub(crate) async fn posted<A: Agent>(agent: &A, body: &[u8], caller: &Caller) -> Reply {
    match request::read(body) {
        Ok(Incoming::Batch(parts)) if parts.len() > MAX_BATCH => {
            let message = format!("a batch has at most {MAX_BATCH} requests, this one has {}", parts.len());
            refused(agent, Box::new(nobody(Fault::rpc(INVALID_REQUEST, message))))
        }
        Ok(Incoming::Batch(parts)) => batch(agent, parts, caller).await,
        Ok(Incoming::Call(request)) => called(agent, *request, caller).await,
        Ok(Incoming::Mcp(request)) => written(mcp::answer(agent, request)),
        Err(refusal) => refused(agent, refusal),
    }
}

/// Answers what was posted to `/register`.
pub(crate) async fn registered<A: Agent>(agent: &A, body: &[u8], caller: &Caller) -> Reply {
    match request::read_registration(body) {
        Ok(request) => called(agent, request, caller).await,
        Err(refusal) => refused(agent, refusal),
    }
}

/// Answers a batch as an array. Its requests run together: what arrives together can be decided together.
async fn batch<A: Agent>(agent: &A, parts: Vec<&RawValue>, caller: &Caller) -> Reply {
    let replies = together(parts.into_iter().map(async |part| match request::read(part.get().as_bytes()) {
        Ok(Incoming::Call(request)) => called(agent, *request, caller).await,
        Ok(Incoming::Mcp(request)) => written(mcp::answer(agent, request)),
        Ok(Incoming::Batch(_)) => {
            refused(agent, Box::new(nobody(Fault::rpc(INVALID_REQUEST, "a batch holds requests, not batches"))))
        }
        Err(refusal) => refused(agent, refusal),
    }))
    .await;
    let mut out = Vec::with_capacity(replies.iter().map(|reply| reply.body.len() + 1).sum::<usize>() + 1);
    for reply in replies.iter().filter(|reply| !reply.body.is_empty()) {
        out.push(if out.is_empty() { b'[' } else { b',' });
        out.extend_from_slice(&reply.body);
    }
    if out.is_empty() {
        return Reply::nothing();
    }
    out.push(b']');
    Reply::new(StatusCode::OK, out)
}

async fn called<A: Agent>(agent: &A, request: Request<'_>, caller: &Caller) -> Reply {
    let reply_to = request.reply_to();
    let checked =
        if is_for(agent, request.method()) { request.check(agent.strict()) } else { Err(elsewhere(agent, &reply_to)) };
    let Request { call, mut head, frame, spelling, .. } = request;
    let echo = head.conversation_id.clone();
    let outcome = match checked {
        Ok(quirks) => {
            if head.auth_token.is_none() {
                head.auth_token.clone_from(&caller.bearer);
            }
            agent.call(Arrived { call, head, quirks, frame, spelling, peer: caller.peer }).await
        }
        Err(fault) => Err(fault),
    };
    match outcome {
        Ok(answered) => {
            if !reply_to.expects_answer() {
                return Reply::nothing();
            }
            let mut out = Vec::with_capacity(answered.body.get().len() + 512);
            written(
                reply_to.answer(&answered.envelope, &answered.body, &mut out).map(|()| Reply::new(StatusCode::OK, out)),
            )
        }
        Err(fault) => {
            let head = Head { conversation_id: echo, ..Head::default() };
            refused(agent, Box::new(Refused { fault, reply_to, head }))
        }
    }
}

/// Writes a refusal. Whatever is wrong with a call that is not for this agent, to it the method does not exist.
fn refused<A: Agent>(agent: &A, refusal: Box<Refused>) -> Reply {
    let Refused { mut fault, mut reply_to, head } = *refusal;
    if !reply_to.expects_answer() {
        return Reply::nothing();
    }
    if reply_to.method.is_some_and(|method| !is_for(agent, method)) {
        fault = elsewhere(agent, &reply_to);
        reply_to.method = None;
    }
    let status = if fault.rpc == PARSE_ERROR { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    let envelope = agent.envelope(head.conversation_id.good());
    let mut out = Vec::with_capacity(512);
    written(reply_to.refuse(&envelope, &fault, &mut out).map(|()| Reply::new(status, out)))
}

fn is_for<A: Agent>(agent: &A, method: Method) -> bool {
    method.row().to.contains(&agent.role())
}

/// The fault of a call that another role answers. MCP counts the name of a tool among the parameters.
fn elsewhere<A: Agent>(agent: &A, reply_to: &ReplyTo) -> Fault {
    let name = reply_to.method.map_or("this", |method| method.row().name);
    let code = if reply_to.frame == Frame::Tool { INVALID_PARAMS } else { METHOD_NOT_FOUND };
    Fault::rpc(code, format!("there is no method {name:?} here: this is a {}", agent.role()))
}

fn nobody(fault: Fault) -> Refused {
    let reply_to = ReplyTo { frame: Frame::Direct, id: RequestId::Null, method: None };
    Refused { fault, reply_to, head: Head::default() }
}

fn written(reply: serde_json::Result<Reply>) -> Reply {
    reply.unwrap_or_else(|error| {
        tracing::error!(%error, "an answer of ours cannot be written");
        Reply::new(StatusCode::INTERNAL_SERVER_ERROR, &b"{\"error\":\"the answer could not be written\"}"[..])
    })
}
