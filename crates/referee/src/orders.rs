//! Who may order a match, and how the referee completes an order.
//!
//! A manager of another implementation names players and endpoints and little else (S1 3.2.3). The referee takes the
//! rest from its registration, from the match id and from the announcement of the round.

use std::net::SocketAddr;

use league_protocol::envelope::ReceivedEnvelope;
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::LeagueId;
use league_protocol::message::start_match::{FRIENDLY, StartMatch};
use league_protocol::side::Side;
use league_protocol::table::Method;
use league_wire::client_network::ClientNetwork;
use league_wire::rate::RetryAfter;

use crate::referee::Shared;
use crate::registration::RefereeIdentity;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MatchPurpose {
    /// The manager ordered it and counts its result.
    League,
    /// The operator ordered it. Its result is shown and never reported.
    Friendly,
}

impl Shared {
    /// Whether the manager or the operator orders a match. A league without passes cannot tell them apart, so only the
    /// operator's token makes a match friendly there.
    pub(crate) fn purpose(&self, head: &ReceivedEnvelope, peer: SocketAddr) -> Result<MatchPurpose, RequestError> {
        const METHOD: Method = Method::StartMatch;
        let passes = self.identity().is_some_and(|identity| identity.passes);
        let shown = self.check_manager(head, METHOD).map(|()| MatchPurpose::League);
        if passes && shown.is_ok() {
            return shown;
        }
        match (&head.auth_token, &self.settings.operator) {
            (Some(_), Some(_)) if self.is_operator(head) => Ok(MatchPurpose::Friendly),
            (None, None) if passes && peer.ip().to_canonical().is_loopback() && self.trusts_this_machine() => {
                Ok(MatchPurpose::Friendly)
            }
            (Some(_), Some(_)) if passes => self.refuse(peer, METHOD),
            (Some(_) | None, _) => shown,
        }
    }

    /// False if no operator token is configured.
    fn is_operator(&self, head: &ReceivedEnvelope) -> bool {
        let secrets = self.settings.operator.as_ref().zip(head.auth_token.as_ref());
        secrets.is_some_and(|(digest, token)| token.opens(digest))
    }

    /// Whether a client on this machine is the operator: a league without an operator's token, and a referee that only this machine
    /// reaches.
    fn trusts_this_machine(&self) -> bool {
        let league_needs_token = self.identity().is_some_and(|identity| identity.operator_needs_token);
        self.settings.operator.is_none() && !league_needs_token && self.settings.contact.is_loopback()
    }

    /// Accepts the manager, and the operator: a client that shows the operator's token, or one on this machine where there is none.
    pub(crate) fn check_operator(
        &self,
        head: &ReceivedEnvelope,
        peer: SocketAddr,
        method: Method,
    ) -> Result<(), RequestError> {
        if peer.ip().to_canonical().is_loopback() && self.trusts_this_machine() {
            return Ok(());
        }
        let passes = self.identity().is_some_and(|identity| identity.passes);
        if (passes && self.check_manager(head, method).is_ok()) || self.is_operator(head) {
            return Ok(());
        }
        if head.auth_token.is_some() {
            return self.refuse(peer, method);
        }
        let message = "only the manager and the operator may do this; start the referee with --operator-token and send that token as auth_token";
        Err(RequestError::new(ErrorCode::E012, method, message).about("auth_token"))
    }

    /// Counts the token as a guess.
    fn refuse<T>(&self, peer: SocketAddr, method: Method) -> Result<T, RequestError> {
        self.strikes.record_failure(ClientNetwork::of(peer)).map_err(|wait| struck(wait, method))?;
        let message = "the auth_token is neither the manager's pass for this referee nor the operator's token";
        Err(RequestError::new(ErrorCode::E012, method, message).about("auth_token"))
    }

    /// Adds everything that invitations, reports and files need. A player for which the manager sent no pass gets a
    /// pass derived from the referee's own token: it proves nothing, but players that require a token accept it.
    pub(crate) fn completed(
        &self,
        identity: &RefereeIdentity,
        mut order: StartMatch,
        purpose: MatchPurpose,
    ) -> StartMatch {
        order.league_id = match purpose {
            MatchPurpose::Friendly => FRIENDLY.parse().ok(),
            MatchPurpose::League => order.league_id.or_else(|| identity.league.clone()),
        };
        let by_id = || order.match_id.parts().map(|(round, _)| round);
        order.round_id = order.round_id.or_else(by_id).or_else(|| self.announced_round(&order.match_id));
        if let (Some(token), Some(league)) = (&identity.token, &order.league_id) {
            let pass = token.digest().referee_pass(league, &order.match_id, &identity.id);
            for side in Side::BOTH {
                order.players[side].referee_pass.get_or_insert_with(|| pass.clone());
            }
        }
        order
    }
}

/// The error for a client that has shown too many wrong tokens.
fn struck(wait: RetryAfter, method: Method) -> RequestError {
    let message = format!("too many wrong tokens from your address; try again in {} s", wait.seconds());
    RequestError { retry_after: Some(wait.seconds()), ..RequestError::new(ErrorCode::E014, method, message) }
}

pub(crate) fn unnamed_league() -> Option<LeagueId> {
    "unnamed".parse().ok()
}
