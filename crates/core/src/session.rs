//! A player's own view of its league: what it was told, what it answered, how it did.
//!
//! A session takes messages and gives the answers to them. It is liberal in what it understands, since its league may be of
//! any make, and strict in one thing: where the manager promised passes, a peer without the right pass is refused. Only the
//! manager can lift that, for the matches of a round that a referee of other make may run.
//! Every message may come twice, and late. The same invitation gets the same answer, the same request the same move, and a
//! match counts once in the record. A message of an earlier round undoes nothing of a later one.

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
use league_protocol::id::{LeagueId, MatchId, RoundId};
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

/// A player's place in a league.
#[derive(Clone, Debug)]
pub struct PlayerSession {
    name: SmolStr,
    membership: Membership,
    identity: Option<PlayerIdentity>,
    round: Option<RoundId>,
    tables: ActiveMatches,
    /// Matches whose referee may be one that shows no passes.
    unproven: TrustedMatches,
    /// Both are shared with whoever thinks about them: a question costs no copy.
    history: Arc<History>,
    standings: Arc<[StandingsRow]>,
    /// The round after which the table stood so.
    standings_after: Option<RoundId>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct GameOverOutcome {
    pub acknowledgement: Acknowledgement,
    /// Whether the result was known already.
    pub repeated: bool,
}

impl PlayerSession {
    /// An empty seat for a player called `name`, which remembers `history`.
    pub fn new(name: SmolStr, history: impl Into<Arc<History>>) -> Self {
        Self {
            name,
            membership: Membership::Unregistered,
            identity: None,
            round: None,
            tables: ActiveMatches::default(),
            unproven: TrustedMatches::default(),
            history: history.into(),
            standings: Arc::default(),
            standings_after: None,
        }
    }

    /// The player asks to be let in.
    pub fn registering(&mut self) {
        if self.membership == Membership::LeagueComplete {
            self.forget_league();
        }
        self.membership = Membership::Registering;
    }

    /// The player is in. The same player of the same league goes on where it was; in another league nothing of this one counts,
    /// since match ids begin anew in each.
    pub fn registered(&mut self, identity: PlayerIdentity) {
        let again = self.identity.as_ref().is_some_and(|known| known.is_same_place(&identity));
        if !again || self.membership == Membership::LeagueComplete {
            self.forget_league();
        }
        self.identity = Some(identity);
        self.membership = Membership::Registered;
    }

    /// The player is not let in. Who was in before stays in.
    pub fn rejected(&mut self) {
        self.membership = if self.identity.is_some() { Membership::Registered } else { Membership::Unregistered };
    }

    fn forget_league(&mut self) {
        (self.round, self.tables, self.unproven) = (None, ActiveMatches::default(), TrustedMatches::default());
        (self.standings, self.standings_after) = (Arc::default(), None);
    }

    pub fn state(&self) -> SessionState {
        self.playing().map_or_else(|| self.membership.into(), |seated| seated.stage.into())
    }

    /// How far the player is in its life as a process.
    pub fn lifecycle(&self) -> PlayerLifecycle {
        match (&self.identity, self.membership) {
            (None, _) => PlayerLifecycle::Init,
            (Some(_), Membership::LeagueComplete) => PlayerLifecycle::Shutdown,
            (Some(_), _) if self.round.is_some() || !self.tables.is_empty() => PlayerLifecycle::Active,
            (Some(_), _) => PlayerLifecycle::Registered,
        }
    }

    /// The match that the player is in: the newest one without a result.
    fn playing(&self) -> Option<&ActiveMatch> {
        self.membership.plays().then(|| self.tables.newest_open()).flatten()
    }

    /// What the player does between its matches from now on. Only within its league: a result that comes after the end does
    /// not begin it again.
    fn between_matches(&mut self, membership: Membership) {
        if self.membership.plays() {
            self.membership = membership;
        }
    }

    /// Who the player is, once it is in.
    pub fn identity(&self) -> Option<&PlayerIdentity> {
        self.identity.as_ref()
    }

    pub fn history(&self) -> &Arc<History> {
        &self.history
    }

    /// The table, as it was told last.
    pub fn standings(&self) -> &Arc<[StandingsRow]> {
        &self.standings
    }

    pub fn round_announced(
        &mut self,
        head: &ReceivedEnvelope,
        round: &RoundAnnouncement,
    ) -> Result<Acknowledgement, RequestError> {
        let identity = self.heard_from_manager(head, Method::NotifyRound, round.league_id.as_ref())?;
        let player = identity.player_id.clone();
        // An announcement of an earlier round is late: there is nothing to do about it.
        if self.round.is_none_or(|current| current <= round.round_id) {
            self.come_to(round.round_id);
            let plays =
                |announced: &&AnnouncedMatch| [&announced.player_a_id, &announced.player_b_id].contains(&&player);
            let shown = round.referees_show_passes != Some(false);
            round.matches.iter().filter(plays).for_each(|own| self.unproven.announced(&own.match_id, shown));
            let mut own = round.matches.iter().filter(plays).peekable();
            if own.peek().is_none() {
                self.between_matches(Membership::Registered);
            } else if own.any(|announced| !self.tables.knows(&announced.match_id)) {
                self.between_matches(Membership::WaitingForRound);
            }
        }
        Ok(Acknowledgement::of_player(player).for_round(round.round_id))
    }

    /// The league is in `round`, as far as it is not in a later one.
    fn come_to(&mut self, round: RoundId) {
        if self.round.is_none_or(|current| current < round) {
            self.round = Some(round);
            self.tables.close_before(round);
        }
    }

    /// An invitation. `nonce` is what a new match gets; a repeated invitation gets what the first one got.
    pub fn invited(
        &mut self,
        head: &ReceivedEnvelope,
        invitation: &GameInvitation,
        nonce: DrawNonce,
        now: Timestamp,
    ) -> Result<GameJoinAck, RequestError> {
        let match_id = &invitation.match_id;
        let player_id = self.heard_from_referee(head, Method::GameInvitation, match_id)?.player_id.clone();
        let conversation = head.conversation_id.as_good().cloned();
        let again = self.tables.find(match_id).filter(|seated| seated.is_same_invitation(invitation));
        let draw_nonce = match again {
            Some(seated) => {
                seated.conversation = conversation;
                seated.nonce.clone()
            }
            None => {
                invitation.round_id.into_iter().for_each(|round| self.come_to(round));
                self.sit(ActiveMatch::invited(invitation, nonce.clone(), conversation));
                nonce
            }
        };
        Ok(GameJoinAck {
            match_id: Some(match_id.clone()),
            player_id: Some(player_id),
            arrival_timestamp: Some(now),
            accept: Some(true),
            draw_nonce: Some(draw_nonce),
            reason: None,
        })
    }

    /// An invitation that the player does not take, for this reason.
    pub fn declined(
        &self,
        head: &ReceivedEnvelope,
        invitation: &GameInvitation,
        reason: SmolStr,
        now: Timestamp,
    ) -> Result<GameJoinAck, RequestError> {
        let match_id = &invitation.match_id;
        let player_id = self.heard_from_referee(head, Method::GameInvitation, match_id)?.player_id.clone();
        Ok(GameJoinAck {
            match_id: Some(match_id.clone()),
            player_id: Some(player_id),
            arrival_timestamp: Some(now),
            accept: Some(false),
            draw_nonce: None,
            reason: Some(reason),
        })
    }

    /// Whether the referee of `match_id` is believed without a pass that proves it, because the manager said that it may have
    /// none.
    pub fn takes_on_trust(&self, head: &ReceivedEnvelope, match_id: &MatchId) -> bool {
        let unproven =
            |identity: &PlayerIdentity| identity.check_referee(head, Method::GameInvitation, match_id).is_err();
        self.unproven.holds(match_id) && self.identity.as_ref().is_some_and(unproven)
    }

    /// Whether a message about `match_id` is in the conversation of its invitation, as far as that is known.
    pub fn continues_invitation(&mut self, head: &ReceivedEnvelope, match_id: &MatchId) -> bool {
        let invited = self.tables.find(match_id).and_then(|seated| seated.conversation.as_ref());
        invited.is_none_or(|invited| head.conversation_id.as_good() == Some(invited))
    }

    fn sit(&mut self, seated: ActiveMatch) {
        self.tables.sit(seated);
        // Whatever becomes of this match, afterwards it is over.
        self.between_matches(Membership::MatchComplete);
    }

    /// A referee asks for a move. Completes the request by what the session knows.
    pub fn asked(&mut self, head: &ReceivedEnvelope, mut request: MoveRequest) -> Result<MoveRequest, RequestError> {
        self.heard_from_referee(head, request.method, &request.match_id)?;
        // A referee of other make may ask without having invited.
        if !self.tables.knows(&request.match_id) {
            self.sit(ActiveMatch::uninvited(request.match_id.clone()));
        }
        let active = self.tables.find(&request.match_id).ok_or_else(|| unknown(&request.match_id, request.method))?;
        active.opponent = active.opponent.take().or(request.opponent);
        active.round = active.round.or(request.round);
        active.ask(&request.view);
        (request.opponent, request.round) = (active.opponent.clone(), active.round);
        request.answered = active.answer().cloned();
        Ok(request)
    }

    /// Answers the latest request of a match with `played`. The first answer in a position stands; returns that.
    pub fn answered(&mut self, match_id: &MatchId, method: Method, played: SmolStr) -> Result<SmolStr, RequestError> {
        self.myself(method)?;
        Ok(self.tables.find(match_id).ok_or_else(|| unknown(match_id, method))?.choose(played))
    }

    pub fn over(&mut self, head: &ReceivedEnvelope, over: &GameOver) -> Result<GameOverOutcome, RequestError> {
        let identity = self.heard_from_referee(head, Method::NotifyMatchResult, &over.match_id)?.clone();
        let seated = self.tables.find(&over.match_id);
        // A result that says nothing is acknowledged all the same: nobody is helped by a referee that tells it again.
        let played = PlayedMatch::of(over, &identity, seated.as_deref());
        let says_nothing = played.is_none();
        let unheard = played.is_some_and(|played| Arc::make_mut(&mut self.history).add(played));
        let news =
            seated.map_or(unheard, |seated| std::mem::replace(&mut seated.stage, MatchStage::Over) != MatchStage::Over);
        if news {
            self.between_matches(Membership::MatchComplete);
        }
        let acknowledgement = Acknowledgement::of_player(identity.player_id).for_match(over.match_id.clone());
        Ok(GameOverOutcome { acknowledgement, repeated: !(unheard || says_nothing && news) })
    }

    /// Something went wrong with an answer; nothing changes by knowing it.
    pub fn game_error(
        &self,
        head: &ReceivedEnvelope,
        match_id: Option<&MatchId>,
    ) -> Result<Acknowledgement, RequestError> {
        const METHOD: Method = Method::NotifyGameError;
        match match_id {
            Some(match_id) => {
                let player = self.heard_from_referee(head, METHOD, match_id)?.player_id.clone();
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
        let identity = self.heard_from_manager(head, Method::UpdateStandings, update.league_id.as_ref())?;
        let acknowledgement = Acknowledgement::of_player(identity.player_id.clone());
        // What stood after an earlier round comes late.
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
        let identity = self.heard_from_manager(head, Method::NotifyRoundCompleted, round.league_id.as_ref())?;
        let acknowledgement = Acknowledgement::of_player(identity.player_id.clone()).for_round(round.round_id);
        if self.round.is_none_or(|current| current <= round.round_id) {
            self.round = Some(round.round_id);
            self.tables.close_before(RoundId(round.round_id.0.saturating_add(1)));
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
        let identity = self.heard_from_manager(head, Method::NotifyLeagueCompleted, end.league_id.as_ref())?;
        let acknowledgement = Acknowledgement::of_player(identity.player_id.clone());
        self.membership = Membership::LeagueComplete;
        if !end.final_standings.is_empty() {
            self.standings = end.final_standings.iter().map(row_of).collect();
        }
        Ok(acknowledgement)
    }

    /// The manager tells the player to leave: for this player the league is over.
    pub fn told_to_leave(&mut self, head: &ReceivedEnvelope) -> Result<Acknowledgement, RequestError> {
        let player = self.heard_from_manager(head, Method::Shutdown, None)?.player_id.clone();
        self.membership = Membership::LeagueComplete;
        Ok(Acknowledgement::of_player(player))
    }

    /// The manager complains; nothing changes by knowing it.
    pub fn league_error(&self, head: &ReceivedEnvelope) -> Result<Acknowledgement, RequestError> {
        let player = self.heard_from_manager(head, Method::NotifyLeagueError, None)?.player_id.clone();
        Ok(Acknowledgement::of_player(player))
    }

    /// How the player sees itself. No secrets.
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
            current_match: self.playing().map(|seated| seated.match_id.clone()),
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

    fn heard_from_manager(
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

    fn heard_from_referee(
        &self,
        head: &ReceivedEnvelope,
        method: Method,
        match_id: &MatchId,
    ) -> Result<&PlayerIdentity, RequestError> {
        let identity = self.myself(method)?;
        if !self.unproven.holds(match_id) {
            identity.check_referee(head, method, match_id)?;
        }
        Ok(identity)
    }
}

fn unknown(match_id: &MatchId, method: Method) -> RequestError {
    RequestError::new(ErrorCode::E007, method, format!("{match_id} is not being played here")).about("match_id")
}

/// A line of the final table as one of the table.
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
