//! Who may order a match, and what is added to an order that leaves something out.
//!
//! A manager of other make names players and endpoints and little else (S1 3.2.3). What players and the manager expect all the
//! same comes from the registration, from the id of the match and from the announcement of its round.

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

/// What a match is played for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MatchPurpose {
    /// The manager ordered it and counts its result.
    League,
    /// The operator ordered it. Its result is shown and never reported.
    Friendly,
}

impl Shared {
    /// Who orders a match: the manager, or the operator, whose matches are friendly. In a league without passes the two cannot
    /// be told apart, so only the operator's token makes a match friendly there.
    pub(crate) fn purpose(&self, head: &ReceivedEnvelope, peer: SocketAddr) -> Result<MatchPurpose, RequestError> {
        const METHOD: Method = Method::StartMatch;
        let passes = self.identity().is_some_and(|identity| identity.passes);
        let shown = self.check_manager(head, METHOD).map(|()| MatchPurpose::League);
        if passes && shown.is_ok() {
            return shown;
        }
        match (&head.auth_token, &self.settings.operator) {
            (Some(_), Some(_)) if self.is_operator(head, peer, METHOD)? => Ok(MatchPurpose::Friendly),
            (None, None) if passes && peer.ip().to_canonical().is_loopback() => Ok(MatchPurpose::Friendly),
            (Some(_), Some(_)) if passes => self.refuse(peer, METHOD),
            (Some(_) | None, _) => shown,
        }
    }

    /// Whether the operator's token is shown, where one is configured.
    fn is_operator(&self, head: &ReceivedEnvelope, peer: SocketAddr, method: Method) -> Result<bool, RequestError> {
        let (Some(digest), Some(token)) = (&self.settings.operator, &head.auth_token) else { return Ok(false) };
        self.strikes.listen(ClientNetwork::of(peer)).map_err(|wait| struck(wait, method))?;
        Ok(token.opens(digest))
    }

    /// Whether whoever asks may step through matches and the like: the manager, or the operator, who is on this machine or shows
    /// the operator's token.
    pub(crate) fn check_operator(
        &self,
        head: &ReceivedEnvelope,
        peer: SocketAddr,
        method: Method,
    ) -> Result<(), RequestError> {
        if self.settings.operator.is_none() && peer.ip().to_canonical().is_loopback() {
            return Ok(());
        }
        let passes = self.identity().is_some_and(|identity| identity.passes);
        if (passes && self.check_manager(head, method).is_ok()) || self.is_operator(head, peer, method)? {
            return Ok(());
        }
        if head.auth_token.is_some() {
            return self.refuse(peer, method);
        }
        let message = "only the manager and the operator may do this: call from the referee's machine, or send the operator's token";
        Err(RequestError::new(ErrorCode::E012, method, message).about("auth_token"))
    }

    /// Refuses a token that is neither the manager's pass nor the operator's, and counts it as a guess.
    fn refuse<T>(&self, peer: SocketAddr, method: Method) -> Result<T, RequestError> {
        self.strikes.strike(ClientNetwork::of(peer)).map_err(|wait| struck(wait, method))?;
        let message = "the auth_token is neither the manager's pass for this referee nor the operator's token";
        Err(RequestError::new(ErrorCode::E012, method, message).about("auth_token"))
    }

    /// The order with everything that invitations, reports and files need. A referee that was given no pass for a player shows
    /// one that only its own token could have made: it opens nothing, and players that insist on a token have one.
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

/// The fault of a caller that has shown too many wrong tokens.
fn struck(wait: RetryAfter, method: Method) -> RequestError {
    let message = format!("too many wrong tokens from your address; try again in {} s", wait.seconds());
    RequestError { retry_after: Some(wait.seconds()), ..RequestError::new(ErrorCode::E014, method, message) }
}

/// The directory of matches whose league is not known.
pub(crate) fn unnamed_league() -> Option<LeagueId> {
    "unnamed".parse().ok()
}
