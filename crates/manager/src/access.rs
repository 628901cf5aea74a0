//! Checks the credential of a call: the join key, an agent's token, or the operator's token.

use std::net::SocketAddr;

use league_core::season::Season;
use league_core::season::agent::AgentId;
use league_protocol::envelope::ReceivedEnvelope;
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::RefereeId;
use league_protocol::message::operate::KeyRole;
use league_protocol::quirk::Quirk;
use league_protocol::sender::Sender;
use league_protocol::table::{Access, ManagerCall, Method};
use league_protocol::time::Timestamp;
use league_protocol::token::Credential;
use league_wire::agent::IncomingCall;
use league_wire::client_network::ClientNetwork;

use crate::manager::Shared;

impl Shared {
    pub(crate) fn check_access(
        &self,
        access: Access,
        incoming: &IncomingCall<ManagerCall>,
    ) -> Result<(), RequestError> {
        let IncomingCall { method, head, peer, .. } = incoming;
        match access {
            Access::Open if *method == Method::Ping => Ok(()),
            Access::Open => self.rate_limits.check_open_call(ClientNetwork::of(*peer), *method),
            Access::JoinKey => self.check_join_key(incoming),
            Access::Token => head.token(*method).map(|_| ()),
            Access::Operator => self.check_operator(head, *peer, *method),
            Access::Pass => Err(RequestError::new(ErrorCode::E012, *method, "a manager accepts no passes")),
        }
    }

    fn check_join_key(&self, incoming: &IncomingCall<ManagerCall>) -> Result<(), RequestError> {
        let (meta, shown, role) = if let ManagerCall::RegisterPlayer(request) = &incoming.call {
            (&request.player_meta, &request.join_key, KeyRole::Player)
        } else if let ManagerCall::RegisterReferee(request) = &incoming.call {
            (&request.referee_meta, &request.join_key, KeyRole::Referee)
        } else {
            return Ok(());
        };
        let (network, method) = (ClientNetwork::of(incoming.peer), incoming.method);
        self.rate_limits.check_registration(network, meta, method)?;
        if self.keys.admits(role, shown.as_ref()) {
            return Ok(());
        }
        let message = format!(
            "join_key is missing or wrong; ask the operator for the {role} key, and give it with --join-key or send it as join_key"
        );
        Err(RequestError::new(ErrorCode::E012, method, message).about("join_key"))
    }

    pub(crate) fn check_operator(
        &self,
        head: &ReceivedEnvelope,
        peer: SocketAddr,
        method: Method,
    ) -> Result<(), RequestError> {
        match &self.settings.operator {
            None if peer.ip().to_canonical().is_loopback() => Ok(()),
            None => {
                let message = "only the machine of the manager may do this; start the manager with --operator-token to allow others";
                Err(RequestError::new(ErrorCode::E012, method, message))
            }
            Some(digest) => {
                let token = head.auth_token.as_ref().ok_or_else(|| {
                    let message = "the operator's token is missing; give it with --token or LEAGUE_OPERATOR_TOKEN, or send it as auth_token";
                    RequestError::new(ErrorCode::E011, method, message).about("auth_token")
                })?;
                if token.opens(digest) {
                    return Ok(());
                }
                let message =
                    "this is not the operator's token; give the right one with --token or LEAGUE_OPERATOR_TOKEN";
                Err(RequestError::new(ErrorCode::E012, method, message).about("auth_token"))
            }
        }
    }
}

/// The command that answers the call also looks up the owner of the token. A separate lookup would wait for the league
/// twice.
#[derive(Clone)]
pub(crate) struct ShownToken {
    token: Credential,
    sender: Option<Sender>,
    method: Method,
}

impl ShownToken {
    pub(crate) fn of(head: &ReceivedEnvelope, method: Method) -> Result<Self, RequestError> {
        Ok(Self { token: head.token(method)?.clone(), sender: head.sender.as_good().cloned(), method })
    }

    /// Also returns the quirk when the `sender` does not fit the token.
    pub(crate) fn owner(&self, season: &Season, now: Timestamp) -> Result<(AgentId, Option<Quirk>), RequestError> {
        let owner = season.authenticate(&self.token, self.method, now)?;
        let odd = season.check_sender(&owner, self.sender.as_ref(), self.method)?;
        Ok((owner, odd))
    }

    pub(crate) fn referee(&self, season: &Season, now: Timestamp) -> Result<(RefereeId, Option<Quirk>), RequestError> {
        match self.owner(season, now)? {
            (AgentId::Referee(id), odd) => Ok((id, odd)),
            (AgentId::Player(id), _) => {
                let message = format!("{id} is a player; register as a referee first");
                Err(RequestError::new(ErrorCode::E013, self.method, message))
            }
        }
    }
}
