//! A player's identity in its league, and how it authenticates its peers.

use league_protocol::envelope::ReceivedEnvelope;
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{LeagueId, MatchId, PlayerId};
use league_protocol::lenient::Field;
use league_protocol::sender::Sender;
use league_protocol::table::Method;
use league_protocol::token::{Pass, Token, TokenDigest};

/// From the answer to its registration.
#[derive(Clone, Debug)]
pub struct PlayerIdentity {
    pub player_id: PlayerId,
    pub league_id: Option<LeagueId>,
    pub token: Option<Token>,
    /// Whether the manager promised passes. Without this promise the player accepts every peer.
    pub passes: bool,
    /// Digests of earlier tokens in this league. A match that began before a restart continues with passes made from them.
    pub former: Vec<TokenDigest>,
}

/// What a player signs its answers with, and the league that they are for.
pub(super) type SigningKey<'a> = (TokenDigest, &'a LeagueId);

impl PlayerIdentity {
    /// The pass that the player shows to the referee of `match_id` in place of its token.
    pub fn own_pass(&self, match_id: &MatchId) -> Option<Pass> {
        let (token, league) = (self.token.as_ref()?, self.league_id.as_ref()?);
        Some(token.digest().player_pass(league, match_id))
    }

    /// The pass for an answer, made from the same token as the referee's own pass. A referee without a valid pass gets none, because
    /// that referee could use it to answer other referees in the player's name.
    pub fn answering_pass(&self, head: &ReceivedEnvelope, match_id: &MatchId) -> Option<Pass> {
        let (key, league) = self.signing_key(head, match_id)?;
        Some(key.player_pass(league, match_id))
    }

    /// `None` for a referee without a valid pass.
    pub(super) fn signing_key(&self, head: &ReceivedEnvelope, match_id: &MatchId) -> Option<SigningKey<'_>> {
        self.check_referee(head, Method::GameInvitation, match_id).ok()?
    }

    pub(super) fn check_league(&self, named: Option<&LeagueId>, method: Method) -> Result<(), RequestError> {
        match (named, &self.league_id) {
            (Some(named), Some(own)) if named != own => {
                let message = format!("this player plays in {own}, not in {named}");
                Err(RequestError::new(ErrorCode::E008, method, message).about("league_id"))
            }
            (Some(_) | None, _) => Ok(()),
        }
    }

    pub(super) fn check_manager(&self, head: &ReceivedEnvelope, method: Method) -> Result<(), RequestError> {
        let Some((token, league)) = self.promised() else { return Ok(()) };
        check(head, &token.digest().manager_pass(league), method)
    }

    /// Whether the sender is the referee that the manager appointed for `match_id`. Returns the key of the answer: the digest of the
    /// token from which the referee's pass was made. In a league without passes it is the digest of the player's token.
    pub(super) fn check_referee(
        &self,
        head: &ReceivedEnvelope,
        method: Method,
        match_id: &MatchId,
    ) -> Result<Option<SigningKey<'_>>, RequestError> {
        let Some((token, league)) = self.token.as_ref().zip(self.league_id.as_ref()) else { return Ok(None) };
        if !self.passes {
            return Ok(Some((token.digest(), league)));
        }
        let referee = head.sender.as_good().and_then(Sender::referee_id).ok_or_else(|| {
            let (code, found) = match &head.sender {
                Field::Absent => (ErrorCode::E003, "missing"),
                Field::Good(_) | Field::Bad(_) => (ErrorCode::E002, "not the name of a referee"),
            };
            let message = format!("sender is {found}; send one like referee:REF01");
            RequestError::new(code, method, message).about("sender")
        })?;
        let (shown, current) = (head.token(method)?, token.digest());
        let made_from = |key: &&TokenDigest| shown.is(&key.referee_pass(league, match_id, &referee));
        match std::iter::once(&current).chain(&self.former).find(made_from) {
            Some(key) => Ok(Some((key.clone(), league))),
            None => Err(wrong_pass(method)),
        }
    }

    /// A message without a sender cannot come from a referee.
    pub(super) fn check_named(&self, method: Method) -> Result<(), RequestError> {
        match self.promised() {
            None => Ok(()),
            Some(_) => {
                let message = "match_id is missing; send it, because the pass in auth_token is checked against it";
                Err(RequestError::new(ErrorCode::E003, method, message).about("match_id"))
            }
        }
    }

    /// Same player of the same league, whatever the tokens.
    pub(super) fn is_same_place(&self, other: &Self) -> bool {
        self.player_id == other.player_id && self.league_id == other.league_id
    }

    /// `None` without token or league: then there is nothing to check.
    fn promised(&self) -> Option<(&Token, &LeagueId)> {
        self.passes.then_some(self.token.as_ref().zip(self.league_id.as_ref())).flatten()
    }
}

fn check(head: &ReceivedEnvelope, expected: &Pass, method: Method) -> Result<(), RequestError> {
    if head.token(method)?.is(expected) {
        return Ok(());
    }
    Err(wrong_pass(method))
}

fn wrong_pass(method: Method) -> RequestError {
    let message = "the auth_token is not the pass that the manager of this league made for this message";
    RequestError::new(ErrorCode::E012, method, message).about("auth_token")
}
