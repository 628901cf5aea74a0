//! The interface between a server and the agent that it serves.

use std::net::SocketAddr;

use league_protocol::envelope::{Envelope, ReceivedEnvelope};
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::frame::Frame;
use league_protocol::id::ConversationId;
use league_protocol::quirk::Quirks;
use league_protocol::sender::Role;
use league_protocol::table::{Access, Call, Method, MethodSpelling};
use serde::Serialize;
use serde_json::value::RawValue;
use smol_str::SmolStr;

use crate::refusal_log::RefusedRequest;

#[derive(Clone, Debug)]
pub struct IncomingCall<C = Call> {
    pub call: C,
    pub method: Method,
    /// The envelope; its token may have come as `Authorization: Bearer`.
    pub head: ReceivedEnvelope,
    pub quirks: Quirks,
    pub frame: Frame,
    pub spelling: MethodSpelling,
    /// Set if the sender uses one method name for every message.
    pub one_name: Option<SmolStr>,
    pub peer: SocketAddr,
}

#[derive(Clone, Debug)]
pub struct CallAnswer {
    pub envelope: Envelope,
    pub body: Box<RawValue>,
}

impl CallAnswer {
    /// `body` must serialize to an object.
    pub fn new(envelope: Envelope, body: &impl Serialize) -> Result<Self, RequestError> {
        let body = serde_json::value::to_raw_value(body).map_err(|error| {
            tracing::error!(%error, "an answer of ours cannot be written");
            RequestError::new(ErrorCode::E015, None, "the answer could not be written")
        })?;
        Ok(Self { envelope, body })
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Health {
    pub status: &'static str,
    pub role: Role,
    pub id: Option<String>,
    pub league_id: Option<String>,
    pub state: String,
}

pub trait Agent: Send + Sync + 'static {
    /// The enum of the agent's role, or [`Call`] where the role is known only at run time.
    type Call: TryFrom<Call> + Send + Sync;

    fn role(&self) -> Role;

    /// In strict mode a quirk is an error.
    fn strict(&self) -> bool {
        false
    }

    /// The envelope of a refusal; `echo` is the conversation of the refused request.
    fn envelope(&self, echo: Option<ConversationId>) -> Envelope;

    /// Checks the credential that the call's row demands. The server calls this before every `call`.
    fn authorize(
        &self,
        _access: Access,
        _incoming: &IncomingCall<Self::Call>,
    ) -> impl Future<Output = Result<(), RequestError>> + Send {
        std::future::ready(Ok(()))
    }

    /// The server drops the future when the client closes the connection early.
    /// Work that must finish belongs in a task of its own.
    fn call(&self, incoming: IncomingCall<Self::Call>)
    -> impl Future<Output = Result<CallAnswer, RequestError>> + Send;

    /// The server reports every refused request here, also an unreadable one, so that the agent can log it.
    fn refused(&self, _refusal: &RefusedRequest<'_>) {}

    /// Unauthenticated clients read this, so it must hold no secret.
    fn health(&self) -> Health;
}
