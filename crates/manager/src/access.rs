//! Who may do what at the manager: the join key, the endpoint that is named, the operator's token.

use std::net::SocketAddr;

use league_core::season::{Rejection, RejectionReason};
use league_protocol::envelope::ReceivedEnvelope;
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::message::registration::{AgentMeta, RegisterResponse};
use league_protocol::sender::Role;
use league_protocol::table::Method;
use league_protocol::token::Credential;
use league_wire::client_network::ClientNetwork;
use league_wire::endpoint::Endpoint;

use crate::endpoint_policy::EndpointPolicy;
use crate::manager::Shared;
use crate::settings::ManagerSettings;

impl Shared {
    /// What must hold before the desk is bothered with a registration: its endpoint may be called, and the key that is `shown` is
    /// the one that is `needed`. A rejection is an answer.
    pub(crate) fn admissible(
        &self,
        method: Method,
        meta: &AgentMeta,
        shown: Option<&Credential>,
        needed: Option<&Credential>,
        peer: SocketAddr,
    ) -> Result<Option<RegisterResponse>, RequestError> {
        let whence = ClientNetwork::of(peer);
        self.gate.registers(whence, meta, method)?;
        if let Some(needed) = needed {
            self.gate.shows_secret(whence, method)?;
            if !shown.is_some_and(|shown| shown.opens(&needed.digest())) {
                let message = "join_key is missing or wrong; ask the operator for the join key, and give it with --join-key or send it as join_key";
                return Err(RequestError::new(ErrorCode::E012, method, message).about("join_key"));
            }
        }
        // What is no endpoint at all is rejected by the season, which says why.
        let Ok(parsed) = meta.contact_endpoint.trim().parse::<Endpoint>() else { return Ok(None) };
        let role = if method == Method::RegisterReferee { Role::Referee } else { Role::Player };
        let ManagerSettings { here, own_addresses, allowed_hosts, .. } = &self.settings;
        let reach = EndpointPolicy { here: *here, own_addresses: *own_addresses, allowed: allowed_hosts };
        let reachable = reach.check(&parsed, peer, role);
        if reachable.is_ok() && reach.is_out_of_reach(&parsed) {
            tracing::warn!(
                "a {role} registers {parsed}, which agents on other machines cannot reach; start it with --host 0.0.0.0"
            );
        }
        let unreachable = |reason| self.rejected(Rejection::new(RejectionReason::Endpoint, method, reason));
        Ok(reachable.err().map(unreachable))
    }

    /// Whether whoever asks may operate the league.
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
                self.gate.shows_secret(ClientNetwork::of(peer), method)?;
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
