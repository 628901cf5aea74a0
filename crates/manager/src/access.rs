//! Who may do what at the manager: the join key, the endpoint that is named, the operator's token.

use std::net::SocketAddr;

use league_protocol::error::{ErrorCode, Fault};
use league_protocol::head::Head;
use league_protocol::message::registration::RegisterResponse;
use league_protocol::sender::Role;
use league_protocol::table::Method;
use league_protocol::token::Credential;
use league_wire::endpoint::Endpoint;
use league_wire::whence::Whence;

use crate::manager::Shared;
use crate::reach::Reach;
use crate::settings::Settings;

impl Shared {
    /// What must hold before the desk is bothered with a registration: `endpoint` may be called, and the key that is `shown` is
    /// the one that is `needed`. A rejection is an answer.
    pub(crate) fn admissible(
        &self,
        method: Method,
        endpoint: &str,
        shown: Option<&Credential>,
        needed: Option<&Credential>,
        peer: SocketAddr,
    ) -> Result<Option<RegisterResponse>, Fault> {
        let whence = Whence::of(peer);
        self.gate.registers(whence, method)?;
        if let Some(needed) = needed {
            self.gate.shows_secret(whence, method)?;
            if !shown.is_some_and(|shown| shown.opens(&needed.digest())) {
                let message = "this league needs its join key in join_key: ask the operator for it, and start your agent with --join-key";
                return Err(Fault::new(ErrorCode::E012, method, message).about("join_key"));
            }
        }
        // What is no endpoint at all is rejected by the season, which says why.
        let Ok(parsed) = endpoint.trim().parse::<Endpoint>() else { return Ok(None) };
        let (role, code) = if method == Method::RegisterReferee { (Role::Referee, 1002) } else { (Role::Player, 2003) };
        let Settings { here, own_addresses, allowed_hosts, .. } = &self.settings;
        let reach = Reach { here: *here, own_addresses: *own_addresses, allowed: allowed_hosts };
        let reachable = reach.check(&parsed, peer, role);
        Ok(reachable.err().map(|reason| self.rejected(reason, code)))
    }

    /// Whether whoever asks may operate the league.
    pub(crate) fn check_operator(&self, head: &Head, peer: SocketAddr, method: Method) -> Result<(), Fault> {
        match &self.settings.operator {
            None if peer.ip().to_canonical().is_loopback() => Ok(()),
            None => {
                let message = "only the machine of the manager may do this, unless an operator's token is configured";
                Err(Fault::new(ErrorCode::E012, method, message))
            }
            Some(digest) => {
                let token = head.token(method)?;
                self.gate.shows_secret(Whence::of(peer), method)?;
                if token.opens(digest) {
                    return Ok(());
                }
                Err(Fault::new(ErrorCode::E012, method, "this is not the operator's token").about("auth_token"))
            }
        }
    }
}
