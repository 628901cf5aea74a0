//! The agent behind a server.

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

/// A call that has been read, and that this agent serves.
#[derive(Clone, Debug)]
pub struct IncomingCall<C = Call> {
    pub call: C,
    pub method: Method,
    /// The envelope; its token may have come as `Authorization: Bearer`.
    pub head: ReceivedEnvelope,
    pub quirks: Quirks,
    /// The form of the request, which its sender understands, too.
    pub frame: Frame,
    pub spelling: MethodSpelling,
    /// The one method name that its sender uses for every message, if it does.
    pub one_name: Option<SmolStr>,
    pub peer: SocketAddr,
}

/// The answer; its form is that of the request.
#[derive(Clone, Debug)]
pub struct CallAnswer {
    pub envelope: Envelope,
    pub body: Box<RawValue>,
}

impl CallAnswer {
    /// Answers with `body`, which is an object.
    pub fn new(envelope: Envelope, body: &impl Serialize) -> Result<Self, RequestError> {
        let body = serde_json::value::to_raw_value(body).map_err(|error| {
            tracing::error!(%error, "an answer of ours cannot be written");
            RequestError::new(ErrorCode::E015, None, "the answer could not be written")
        })?;
        Ok(Self { envelope, body })
    }
}

/// The answer to `GET /health`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Health {
    /// `ok` if the agent works.
    pub status: &'static str,
    pub role: Role,
    /// Its id, once it has one.
    pub id: Option<String>,
    /// Its league, once it is in one.
    pub league_id: Option<String>,
    pub state: String,
}

/// A manager, a referee or a player, as the network sees it.
pub trait Agent: Send + Sync + 'static {
    /// The calls that it serves: the enum of its role, or [`Call`] where the role is known only at run time.
    type Call: TryFrom<Call> + Send + Sync;

    /// The role whose calls it serves.
    fn role(&self) -> Role;

    /// Whether every leniency is an error.
    fn strict(&self) -> bool {
        false
    }

    /// The envelope of a refusal, in the conversation `echo` when the request named one.
    fn envelope(&self, echo: Option<ConversationId>) -> Envelope;

    /// Checks the credential that the call's row demands. Every call is checked before it is answered.
    fn authorize(
        &self,
        _access: Access,
        _incoming: &IncomingCall<Self::Call>,
    ) -> impl Future<Output = Result<(), RequestError>> + Send {
        std::future::ready(Ok(()))
    }

    /// Answers a call.
    ///
    /// The future is dropped when the client closes the connection before the answer: work that must be finished belongs in a task of
    /// its own.
    fn call(&self, incoming: IncomingCall<Self::Call>)
    -> impl Future<Output = Result<CallAnswer, RequestError>> + Send;

    /// Called for every refused request, also for one that could not be read: for the agent's log.
    fn refused(&self, _refusal: &RefusedRequest<'_>) {}

    /// Holds no secret.
    fn health(&self) -> Health;
}
