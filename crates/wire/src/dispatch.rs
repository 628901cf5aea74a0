//! Turns the bytes of a request into the bytes of its answer.

use std::net::SocketAddr;

use bytes::Bytes;
use futures_util::future::join_all;
use http::{HeaderMap, StatusCode, header};
use league_protocol::envelope::ReceivedEnvelope;
use league_protocol::error::{ErrorCode, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR, RequestError};
use league_protocol::frame::{Frame, RequestId};
use league_protocol::reply::ReplyTo;
use league_protocol::request::{self, Incoming, Refused, Request};
use league_protocol::table::{Access, Method};
use league_protocol::token::Credential;
use serde_json::value::RawValue;
use tracing::Instrument;

use crate::agent::{Agent, IncomingCall};
use crate::guard::is_own_page;
use crate::mcp;
use crate::refusal_log::RefusedRequest;
use crate::trace;

pub(crate) const MAX_BATCH: usize = 64;

/// The client of a request. It has no `Debug`, because headers may hold a secret.
pub(crate) struct Caller<'a> {
    pub(crate) peer: SocketAddr,
    pub(crate) bearer: Option<Credential>,
    pub(crate) headers: &'a HeaderMap,
}

impl<'a> Caller<'a> {
    fn server<A: Agent>(&self, agent: &A, batched: bool) -> mcp::McpServer<'a> {
        mcp::McpServer { role: agent.role(), headers: self.headers, batched }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Media {
    Json,
    Events,
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    /// Empty for a notification.
    pub(crate) body: Bytes,
    pub(crate) media: Media,
    pub(crate) retry_after: Option<u32>,
}

impl Reply {
    pub(crate) fn new(status: StatusCode, body: impl Into<Bytes>) -> Self {
        Self { status, body: body.into(), media: Media::Json, retry_after: None }
    }

    pub(crate) fn nothing() -> Self {
        Self::new(StatusCode::ACCEPTED, Bytes::new())
    }
}

pub(crate) async fn answer_post<A: Agent>(agent: &A, body: &[u8], caller: &Caller<'_>) -> Reply {
    let server = caller.server(agent, false);
    match request::read(body) {
        Ok(Incoming::Batch(parts)) => match server.refuse_batch() {
            Some(refusal) => or_internal_error(refusal),
            None => answer_batch(agent, parts, caller).await,
        },
        read @ (Ok(Incoming::Call(_) | Incoming::Mcp(_)) | Err(_)) => {
            answer_request(agent, read, body, caller, server).await
        }
    }
}

/// Answers one request. Only MCP methods are checked against an MCP revision.
async fn answer_request<A: Agent>(
    agent: &A,
    read: Result<Incoming<'_>, Box<Refused>>,
    body: &[u8],
    caller: &Caller<'_>,
    server: mcp::McpServer<'_>,
) -> Reply {
    match read {
        Ok(Incoming::Call(request)) if request.frame != Frame::Tool => answer_call(agent, *request, caller, "").await,
        Ok(Incoming::Call(request)) => {
            let reply = match result_tail(server, body) {
                Ok(tail) => answer_call(agent, *request, caller, tail).await,
                Err(reply) => reply,
            };
            server.fit(reply)
        }
        Ok(Incoming::Mcp(request)) => server.fit(or_internal_error(server.answer(&request))),
        Ok(Incoming::Batch(_)) => {
            let fault = RequestError::rpc(INVALID_REQUEST, "a batch holds requests, not batches");
            refuse(agent, Box::new(without_id(fault)), caller, "")
        }
        Err(refusal) if refusal.reply_to.frame != Frame::Tool => refuse(agent, refusal, caller, ""),
        Err(refusal) => server
            .fit(result_tail(server, body).map_or_else(|reply| reply, |tail| refuse(agent, refusal, caller, tail))),
    }
}

fn result_tail(server: mcp::McpServer<'_>, body: &[u8]) -> Result<&'static str, Reply> {
    match request::outline(body) {
        Some(outline) => server.admit_tool(&outline).map_err(or_internal_error),
        None => Ok(""),
    }
}

pub(crate) async fn answer_registration<A: Agent>(agent: &A, body: &[u8], caller: &Caller<'_>) -> Reply {
    match request::read_registration(body) {
        Ok(request) => answer_call(agent, request, caller, "").await,
        Err(refusal) => refuse(agent, refusal, caller, ""),
    }
}

/// Runs the requests of a batch concurrently, so that their commands share a commit.
async fn answer_batch<A: Agent>(agent: &A, parts: Vec<&RawValue>, caller: &Caller<'_>) -> Reply {
    if parts.len() > MAX_BATCH {
        let message = format!("a batch has at most {MAX_BATCH} requests, this one has {}", parts.len());
        return refuse(agent, Box::new(without_id(RequestError::rpc(INVALID_REQUEST, message))), caller, "");
    }
    let server = caller.server(agent, true);
    let replies = join_all(parts.into_iter().map(async |part| {
        let body = part.get().as_bytes();
        answer_request(agent, request::read(body), body, caller, server).await
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

/// `tail` ends the result of a tool.
async fn answer_call<A: Agent>(agent: &A, request: Request<'_>, caller: &Caller<'_>, tail: &str) -> Reply {
    let reply_to = request.reply_to();
    let method = request.method();
    let checked = if is_for(agent, method) { request.check(agent.strict()) } else { Err(wrong_role(agent, &reply_to)) };
    let Request { call, mut head, frame, spelling, one_name, .. } = request;
    let (echo, sender) = (head.conversation_id.clone(), head.sender.clone());
    let outcome = match (checked, A::Call::try_from(call).ok()) {
        (Ok(quirks), Some(call)) => {
            if head.auth_token.is_none() {
                head.auth_token.clone_from(&caller.bearer);
            }
            let incoming = IncomingCall { call, method, head, quirks, frame, spelling, one_name, peer: caller.peer };
            let answering = async {
                check_page(caller.headers, method)?;
                agent.authorize(method.row().access, &incoming).await?;
                agent.call(incoming).await
            };
            // Boxed, because the future of a request is moved before its first poll and this is most of its size.
            Box::pin(answering).instrument(trace::answer_span(caller.headers, method)).await
        }
        (Ok(_), None) => Err(wrong_role(agent, &reply_to)),
        (Err(fault), _) => Err(fault),
    };
    match outcome {
        Ok(answered) => {
            if !reply_to.expects_answer() {
                return Reply::nothing();
            }
            let mut out = Vec::with_capacity(answered.body.get().len() + 512);
            let answer = reply_to.answer_ending(&answered.envelope, &answered.body, tail, &mut out);
            or_internal_error(answer.map(|()| Reply::new(StatusCode::OK, out)))
        }
        Err(fault) => {
            let head = ReceivedEnvelope { conversation_id: echo, sender, ..ReceivedEnvelope::default() };
            refuse(agent, Box::new(Refused { fault, reply_to, head }), caller, tail)
        }
    }
}

/// A page of another site must not act for the operator. A browser sends other types than `application/json` without asking first.
/// Calls with a pass are checked too, because the operator may start a match without one.
fn check_page(headers: &HeaderMap, method: Method) -> Result<(), RequestError> {
    let access = method.row().access;
    if matches!(access, Access::Operator | Access::Pass) && !is_own_page(headers) {
        let message =
            "this call came from a page of another site; the operator's pages are those of the manager itself";
        return Err(RequestError::new(ErrorCode::E012, method, message).about("Origin"));
    }
    let media = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media = media.split(';').next().unwrap_or_default().trim();
    if access == Access::Operator && !media.eq_ignore_ascii_case("application/json") {
        let message = "an operator call needs the header Content-Type: application/json";
        return Err(RequestError::new(ErrorCode::E002, method, message).about("Content-Type"));
    }
    Ok(())
}

/// A call that the agent does not serve is an unknown method, whatever else is wrong with it.
fn refuse<A: Agent>(agent: &A, refusal: Box<Refused>, caller: &Caller<'_>, tail: &str) -> Reply {
    let Refused { mut fault, mut reply_to, head } = *refusal;
    agent.refused(&RefusedRequest { fault: &fault, method: reply_to.method, head: &head, peer: caller.peer });
    if !reply_to.expects_answer() {
        return Reply::nothing();
    }
    if reply_to.method.is_some_and(|method| !is_for(agent, method)) {
        fault = wrong_role(agent, &reply_to);
        reply_to.method = None;
    }
    let status = status(&fault, reply_to.frame);
    let envelope = agent.envelope(head.conversation_id.good());
    let mut out = Vec::with_capacity(512);
    let refusal = reply_to.refuse_ending(&envelope, &fault, tail, &mut out);
    or_internal_error(refusal.map(|()| Reply { retry_after: fault.retry_after, ..Reply::new(status, out) }))
}

/// In MCP a refusal by a tool is a normal result.
fn status(fault: &RequestError, frame: Frame) -> StatusCode {
    match fault.code {
        Some(ErrorCode::E014) if frame != Frame::Tool => StatusCode::TOO_MANY_REQUESTS,
        Some(_) | None if fault.rpc == PARSE_ERROR => StatusCode::BAD_REQUEST,
        // A client that posts a form reads the status.
        Some(ErrorCode::E011 | ErrorCode::E012) if frame == Frame::Register => StatusCode::FORBIDDEN,
        Some(ErrorCode::E015) if frame == Frame::Register => StatusCode::INTERNAL_SERVER_ERROR,
        Some(_) | None if frame == Frame::Register => StatusCode::BAD_REQUEST,
        Some(_) | None => StatusCode::OK,
    }
}

fn is_for<A: Agent>(agent: &A, method: Method) -> bool {
    method.row().to.contains(&agent.role())
}

/// The error for a call that another role serves. In MCP the tool's name is a parameter.
fn wrong_role<A: Agent>(agent: &A, reply_to: &ReplyTo) -> RequestError {
    let name = reply_to.method.map_or("this", |method| method.row().name);
    let code = if reply_to.frame == Frame::Tool { INVALID_PARAMS } else { METHOD_NOT_FOUND };
    RequestError::rpc(code, format!("there is no method {name:?} here: this is a {}", agent.role()))
}

fn without_id(fault: RequestError) -> Refused {
    let reply_to = ReplyTo { frame: Frame::Direct, id: RequestId::Null, method: None };
    Refused { fault, reply_to, head: ReceivedEnvelope::default() }
}

fn or_internal_error(reply: serde_json::Result<Reply>) -> Reply {
    reply.unwrap_or_else(|error| {
        tracing::error!(%error, "an answer of ours cannot be written");
        Reply::new(StatusCode::INTERNAL_SERVER_ERROR, &b"{\"error\":\"the answer could not be written\"}"[..])
    })
}
