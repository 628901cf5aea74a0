//! A player's view of its league: messages received, answers given, results.
//!
//! A session accepts messages of any implementation, with one strict rule: if the manager promised passes, a peer without a valid
//! pass is refused. Only the manager lifts this rule, for a match that a foreign referee holds. Any message may
//! arrive twice or late. A repeated invitation or request gets the same answer, a match counts once, and a message of an earlier
//! round changes nothing of a later one.

mod active_match;
mod active_matches;
mod identity;
mod move_request;
mod played;
mod state;
mod trusted_matches;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use league_protocol::draw::DrawNonce;
use league_protocol::envelope::ReceivedEnvelope;
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{LeagueId, MatchId, PlayerId, RoundId};
use league_protocol::message::acknowledgement::Acknowledgement;
use league_protocol::message::game_over::GameOver;
use league_protocol::message::invitation::{GameInvitation, GameJoinAck};
use league_protocol::message::round::{AnnouncedMatch, LeagueCompleted, RoundAnnouncement, RoundCompleted};
use league_protocol::message::standings::{FinalRow, StandingsRow, StandingsUpdate};
use league_protocol::message::state::PlayerState;
use league_protocol::table::Method;
use league_protocol::time::Timestamp;
use smol_str::SmolStr;

pub use identity::PlayerIdentity;
pub use move_request::MoveRequest;
pub use played::{DrawCheck, History, PlayedMatch};
pub use state::{PlayerLifecycle, SessionState};

use active_match::ActiveMatch;
use active_matches::ActiveMatches;
use state::{MatchStage, Membership};
use trusted_matches::TrustedMatches;

#[derive(Clone, Debug)]
pub struct PlayerSession {
    name: SmolStr,
    membership: Membership,
    identity: Option<PlayerIdentity>,
    round: Option<RoundId>,
    matches: ActiveMatches,
    /// Matches whose referee may show no passes.
    trusted: TrustedMatches,
    /// History and standings are shared with the strategies, so a request copies neither.
    history: Arc<History>,
    standings: Arc<[StandingsRow]>,
    /// The round of the latest standings.
    standings_after: Option<RoundId>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct GameOverOutcome {
    pub acknowledgement: Acknowledgement,
    pub repeated: bool,
}

impl PlayerSession {
    pub fn new(name: SmolStr, history: impl Into<Arc<History>>) -> Self {
        Self {
            name,
            membership: Membership::Unregistered,
            identity: None,
            round: None,
            matches: ActiveMatches::default(),
            trusted: TrustedMatches::default(),
            history: history.into(),
            standings: Arc::default(),
            standings_after: None,
        }
    }

    pub fn registering(&mut self) {
        if self.membership == Membership::LeagueComplete {
            self.forget_league();
        }
        self.membership = Membership::Registering;
    }

    /// The same player of the same league keeps its matches. In another league they are dropped, since each league starts its
    /// match ids anew.
    pub fn registered(&mut self, identity: PlayerIdentity) {
        let again = self.identity.as_ref().is_some_and(|known| known.is_same_place(&identity));
        if !again || self.membership == Membership::LeagueComplete {
            self.forget_league();
        }
        self.identity = Some(identity);
        self.membership = Membership::Registered;
    }

    /// A player that was registered before stays registered.
    pub fn rejected(&mut self) {
        self.membership = if self.identity.is_some() { Membership::Registered } else { Membership::Unregistered };
    }

    fn forget_league(&mut self) {
        (self.round, self.matches, self.trusted) = (None, ActiveMatches::default(), TrustedMatches::default());
        (self.standings, self.standings_after) = (Arc::default(), None);
    }

    pub fn state(&self) -> SessionState {
        self.playing().map_or_else(|| self.membership.into(), |active| active.stage.into())
    }

    pub fn lifecycle(&self) -> PlayerLifecycle {
        match (&self.identity, self.membership) {
            (None, _) => PlayerLifecycle::Init,
            (Some(_), Membership::LeagueComplete) => PlayerLifecycle::Shutdown,
            (Some(_), _) if self.round.is_some() || !self.matches.is_empty() => PlayerLifecycle::Active,
            (Some(_), _) => PlayerLifecycle::Registered,
        }
    }

    fn playing(&self) -> Option<&ActiveMatch> {
        self.membership.plays().then(|| self.matches.newest_open()).flatten()
    }

    /// Changes the state between matches only within the league: a late result does not reopen a finished league.
    fn between_matches(&mut self, membership: Membership) {
        if self.membership.plays() {
            self.membership = membership;
        }
    }

    pub fn identity(&self) -> Option<&PlayerIdentity> {
        self.identity.as_ref()
    }

    pub fn history(&self) -> &Arc<History> {
        &self.history
    }

    pub fn standings(&self) -> &Arc<[StandingsRow]> {
        &self.standings
    }

    pub fn round_announced(
        &mut self,
        head: &ReceivedEnvelope,
        round: &RoundAnnouncement,
    ) -> Result<Acknowledgement, RequestError> {
        let identity = self.check_manager_message(head, Method::NotifyRound, round.league_id.as_ref())?;
        let player = identity.player_id.clone();
        // An announcement of an earlier round is late and changes nothing.
        if self.round.is_none_or(|current| current <= round.round_id) {
            self.enter_round(round.round_id);
            let plays =
                |announced: &&AnnouncedMatch| [&announced.player_a_id, &announced.player_b_id].contains(&&player);
            let all_show = round.referees_show_passes != Some(false);
            for own in round.matches.iter().filter(plays) {
                self.trusted.announced(&own.match_id, own.referee_shows_passes.unwrap_or(all_show));
            }
            let mut own = round.matches.iter().filter(plays).peekable();
            if own.peek().is_none() {
                self.between_matches(Membership::Registered);
            } else if own.any(|announced| !self.matches.knows(&announced.match_id)) {
                self.between_matches(Membership::WaitingForRound);
            }
        }
        Ok(Acknowledgement::of_player(player).for_round(round.round_id))
    }

    /// Ignores rounds before the current one.
    fn enter_round(&mut self, round: RoundId) {
        if self.round.is_none_or(|current| current < round) {
            self.round = Some(round);
            self.matches.close_before(round);
        }
    }

    /// Uses `nonce` for a new match; a repeated invitation gets the first nonce again.
    pub fn invited(
        &mut self,
        head: &ReceivedEnvelope,
        invitation: &GameInvitation,
        nonce: DrawNonce,
        now: Timestamp,
    ) -> Result<GameJoinAck, RequestError> {
        let match_id = &invitation.match_id;
        let player_id = self.check_referee_message(head, Method::GameInvitation, match_id)?.player_id.clone();
        let conversation = head.conversation_id.as_good().cloned();
        let again = self.matches.find(match_id).filter(|active| active.is_same_invitation(invitation));
        let draw_nonce = match again {
            Some(active) => {
                active.conversation = conversation;
                active.nonce.clone()
            }
            None => {
                invitation.round_id.into_iter().for_each(|round| self.enter_round(round));
                self.add_match(ActiveMatch::invited(invitation, nonce.clone(), conversation));
                nonce
            }
        };
        Ok(GameJoinAck { draw_nonce: Some(draw_nonce), ..join_ack(match_id, player_id, true, now) })
    }

    pub fn declined(
        &self,
        head: &ReceivedEnvelope,
        invitation: &GameInvitation,
        reason: SmolStr,
        now: Timestamp,
    ) -> Result<GameJoinAck, RequestError> {
        let match_id = &invitation.match_id;
        let player_id = self.check_referee_message(head, Method::GameInvitation, match_id)?.player_id.clone();
        Ok(GameJoinAck { reason: Some(reason), ..join_ack(match_id, player_id, false, now) })
    }

    /// Whether the referee of `match_id` needs no pass, because the manager said that it may have none.
    pub fn trusts_without_pass(&self, head: &ReceivedEnvelope, match_id: &MatchId) -> bool {
        let lacks_pass =
            |identity: &PlayerIdentity| identity.check_referee(head, Method::GameInvitation, match_id).is_err();
        self.trusted.holds(match_id) && self.identity.as_ref().is_some_and(lacks_pass)
    }

    /// Also true when the conversation of the invitation is unknown.
    pub fn continues_invitation(&mut self, head: &ReceivedEnvelope, match_id: &MatchId) -> bool {
        let invited = self.matches.find(match_id).and_then(|active| active.conversation.as_ref());
        invited.is_none_or(|invited| head.conversation_id.as_good() == Some(invited))
    }

    fn add_match(&mut self, active: ActiveMatch) {
        self.matches.add(active);
        self.between_matches(Membership::MatchComplete);
    }

    /// Completes the referee's request with what the session knows.
    pub fn move_requested(
        &mut self,
        head: &ReceivedEnvelope,
        mut request: MoveRequest,
    ) -> Result<MoveRequest, RequestError> {
        self.check_referee_message(head, request.method, &request.match_id)?;
        // A foreign referee may ask without an invitation.
        if !self.matches.knows(&request.match_id) {
            self.add_match(ActiveMatch::uninvited(request.match_id.clone()));
        }
        let active = self.matches.find(&request.match_id).ok_or_else(|| unknown(&request.match_id, request.method))?;
        active.opponent = active.opponent.take().or(request.opponent);
        active.round = active.round.or(request.round);
        active.request_move(&request.view);
        (request.opponent, request.round) = (active.opponent.clone(), active.round);
        request.answered = active.answer().cloned();
        Ok(request)
    }

    /// Returns the answer that counts: the first one in this position.
    pub fn move_chosen(
        &mut self,
        match_id: &MatchId,
        method: Method,
        played: SmolStr,
    ) -> Result<SmolStr, RequestError> {
        self.myself(method)?;
        Ok(self.matches.find(match_id).ok_or_else(|| unknown(match_id, method))?.choose(played))
    }

    pub fn match_over(&mut self, head: &ReceivedEnvelope, over: &GameOver) -> Result<GameOverOutcome, RequestError> {
        let identity = self.check_referee_message(head, Method::NotifyMatchResult, &over.match_id)?.clone();
        let active = self.matches.find(&over.match_id);
        // The session acknowledges even an unreadable result, because a repetition would not help.
        let played = PlayedMatch::of(over, &identity, active.as_deref());
        let says_nothing = played.is_none();
        let unheard = played.is_some_and(|played| Arc::make_mut(&mut self.history).add(played));
        let news =
            active.map_or(unheard, |active| std::mem::replace(&mut active.stage, MatchStage::Over) != MatchStage::Over);
        if news {
            self.between_matches(Membership::MatchComplete);
        }
        let acknowledgement = Acknowledgement::of_player(identity.player_id).for_match(over.match_id.clone());
        Ok(GameOverOutcome { acknowledgement, repeated: !(unheard || says_nothing && news) })
    }

    pub fn game_error(
        &self,
        head: &ReceivedEnvelope,
        match_id: Option<&MatchId>,
    ) -> Result<Acknowledgement, RequestError> {
        const METHOD: Method = Method::NotifyGameError;
        match match_id {
            Some(match_id) => {
                let player = self.check_referee_message(head, METHOD, match_id)?.player_id.clone();
                Ok(Acknowledgement::of_player(player).for_match(match_id.clone()))
            }
            None => {
                let identity = self.myself(METHOD)?;
                identity.check_named(METHOD)?;
                Ok(Acknowledgement::of_player(identity.player_id.clone()))
            }
        }
    }

    pub fn standings_updated(
        &mut self,
        head: &ReceivedEnvelope,
        update: &StandingsUpdate,
    ) -> Result<Acknowledgement, RequestError> {
        let identity = self.check_manager_message(head, Method::UpdateStandings, update.league_id.as_ref())?;
        let acknowledgement = Acknowledgement::of_player(identity.player_id.clone());
        // Standings of an earlier round are late.
        if self.standings_after <= update.round_id || update.round_id.is_none() {
            self.standings = update.standings.as_slice().into();
            self.standings_after = self.standings_after.max(update.round_id);
        }
        Ok(match update.round_id {
            Some(round) => acknowledgement.for_round(round),
            None => acknowledgement,
        })
    }

    pub fn round_completed(
        &mut self,
        head: &ReceivedEnvelope,
        round: &RoundCompleted,
    ) -> Result<Acknowledgement, RequestError> {
        let identity = self.check_manager_message(head, Method::NotifyRoundCompleted, round.league_id.as_ref())?;
        let acknowledgement = Acknowledgement::of_player(identity.player_id.clone()).for_round(round.round_id);
        if self.round.is_none_or(|current| current <= round.round_id) {
            self.round = Some(round.round_id);
            self.matches.close_before(RoundId(round.round_id.0.saturating_add(1)));
            if round.next_round_id.is_some() {
                self.between_matches(Membership::Registered);
            }
        }
        Ok(acknowledgement)
    }

    pub fn league_completed(
        &mut self,
        head: &ReceivedEnvelope,
        end: &LeagueCompleted,
    ) -> Result<Acknowledgement, RequestError> {
        let identity = self.check_manager_message(head, Method::NotifyLeagueCompleted, end.league_id.as_ref())?;
        let acknowledgement = Acknowledgement::of_player(identity.player_id.clone());
        self.membership = Membership::LeagueComplete;
        if !end.final_standings.is_empty() {
            self.standings = end.final_standings.iter().map(row_of).collect();
        }
        Ok(acknowledgement)
    }

    /// Ends the league for this player.
    pub fn shut_down(&mut self, head: &ReceivedEnvelope) -> Result<Acknowledgement, RequestError> {
        let player = self.check_manager_message(head, Method::Shutdown, None)?.player_id.clone();
        self.membership = Membership::LeagueComplete;
        Ok(Acknowledgement::of_player(player))
    }

    pub fn league_error(&self, head: &ReceivedEnvelope) -> Result<Acknowledgement, RequestError> {
        let player = self.check_manager_message(head, Method::NotifyLeagueError, None)?.player_id.clone();
        Ok(Acknowledgement::of_player(player))
    }

    /// Contains no secrets.
    pub fn player_state(&self, strategy: Option<SmolStr>) -> PlayerState {
        let identity = self.identity.as_ref();
        let own = |row: &&StandingsRow| identity.is_some_and(|identity| identity.player_id == row.player_id);
        PlayerState {
            player_id: identity.map(|identity| identity.player_id.clone()),
            display_name: self.name.clone(),
            state: SmolStr::new_static(self.state().as_str()),
            lifecycle: Some(SmolStr::new_static(self.lifecycle().as_str())),
            league_id: identity.and_then(|identity| identity.league_id.clone()),
            current_round: self.round,
            current_match: self.playing().map(|active| active.match_id.clone()),
            record: self.history.record(),
            matches_played: u32::try_from(self.history.matches().len()).unwrap_or(u32::MAX),
            rank: self.standings.iter().find(own).map(|row| row.rank),
            strategy,
        }
    }

    fn myself(&self, method: Method) -> Result<&PlayerIdentity, RequestError> {
        let message = "this player is not registered in any league yet";
        self.identity.as_ref().ok_or_else(|| RequestError::new(ErrorCode::E005, method, message))
    }

    fn check_manager_message(
        &self,
        head: &ReceivedEnvelope,
        method: Method,
        league: Option<&LeagueId>,
    ) -> Result<&PlayerIdentity, RequestError> {
        let identity = self.myself(method)?;
        identity.check_league(league, method)?;
        identity.check_manager(head, method)?;
        Ok(identity)
    }

    fn check_referee_message(
        &self,
        head: &ReceivedEnvelope,
        method: Method,
        match_id: &MatchId,
    ) -> Result<&PlayerIdentity, RequestError> {
        let identity = self.myself(method)?;
        if !self.trusted.holds(match_id) {
            identity.check_referee(head, method, match_id)?;
        }
        Ok(identity)
    }
}

fn join_ack(match_id: &MatchId, player_id: PlayerId, accept: bool, now: Timestamp) -> GameJoinAck {
    GameJoinAck {
        match_id: Some(match_id.clone()),
        player_id: Some(player_id),
        arrival_timestamp: Some(now),
        accept: Some(accept),
        draw_nonce: None,
        reason: None,
    }
}

fn unknown(match_id: &MatchId, method: Method) -> RequestError {
    RequestError::new(ErrorCode::E007, method, format!("{match_id} is not being played here")).about("match_id")
}

fn row_of(last: &FinalRow) -> StandingsRow {
    StandingsRow {
        rank: last.rank,
        player_id: last.player_id.clone(),
        display_name: last.display_name.clone(),
        played: last.wins.saturating_add(last.draws).saturating_add(last.losses),
        wins: last.wins,
        draws: last.draws,
        losses: last.losses,
        points: last.points,
        withdrawn: last.withdrawn,
    }
}
