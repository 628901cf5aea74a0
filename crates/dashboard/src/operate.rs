//! The actions of the operator, and how the operator is recognised.
//!
//! As at the manager: a client is the operator if it shows the token, compared in constant time. Without a token, every
//! client on this machine is. A form from another site is refused first.

use std::fmt;
use std::net::SocketAddr;
use std::pin::Pin;
use std::time::Duration;

use league_protocol::error::RequestError;
use league_protocol::id::{MatchId, PlayerId, RefereeId};
use league_protocol::message::step::MatchState;
use league_protocol::token::{Credential, TokenDigest};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperatorStep {
    CollectChoices,
    DrawNumber,
    FinalizeMatch,
}

impl OperatorStep {
    pub const ALL: [Self; 3] = [Self::CollectChoices, Self::DrawNumber, Self::FinalizeMatch];

    pub fn name(self) -> &'static str {
        match self {
            Self::CollectChoices => "collect_choices",
            Self::DrawNumber => "draw_number",
            Self::FinalizeMatch => "finalize_match",
        }
    }

    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::CollectChoices => "Collect the choices",
            Self::DrawNumber => "Draw the number",
            Self::FinalizeMatch => "Finish the match",
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OperatorAction {
    /// Also resumes a stopped league.
    Start,
    /// Running matches end; no match begins.
    Stop,
    Reopen,
    Withdraw(PlayerId),
    Step(MatchId, OperatorStep),
}

impl OperatorAction {
    pub(crate) fn named(name: &str, game: Option<&str>, player: Option<&str>) -> Option<Self> {
        let step = OperatorStep::ALL.into_iter().find(|step| step.name() == name);
        match (name, step) {
            ("start", _) => Some(Self::Start),
            ("stop", _) => Some(Self::Stop),
            ("reopen", _) => Some(Self::Reopen),
            ("withdraw", _) => Some(Self::Withdraw(player?.parse().ok()?)),
            (_, Some(step)) => Some(Self::Step(game?.parse().ok()?, step)),
            (_, None) => None,
        }
    }
}

pub type ActionFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, RequestError>> + Send + 'a>>;

pub trait Operator: fmt::Debug + Send + Sync + 'static {
    /// Returns when the action is durable.
    fn act(&self, action: OperatorAction) -> ActionFuture<'_, ()>;

    /// `None` when the referee was not asked lately.
    fn referee_latency(&self, referee: &RefereeId) -> Option<Duration>;

    fn match_state(&self, match_id: MatchId) -> ActionFuture<'_, MatchState>;
}

pub(crate) fn is_operator(token: Option<&TokenDigest>, secret: Option<&str>, peer: SocketAddr) -> bool {
    match token {
        None => peer.ip().to_canonical().is_loopback(),
        Some(digest) => secret.is_some_and(|secret| Credential::new(secret).opens(digest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_a_token_only_its_holder_is_the_operator() {
        let (near, far): (SocketAddr, SocketAddr) = ("127.0.0.1:1".parse().unwrap(), "10.0.0.1:1".parse().unwrap());
        let digest = Credential::new("right").digest();
        assert!(is_operator(None, None, near) && !is_operator(None, None, far));
        assert!(!is_operator(Some(&digest), None, near) && !is_operator(Some(&digest), Some("wrong"), near));
        assert!(is_operator(Some(&digest), Some("right"), far));
    }
}
