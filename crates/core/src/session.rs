//! A player's view of its league: messages received, answers given, results.
//!
//! A session accepts messages of any implementation, with one strict rule: if the manager promised passes, a peer without a valid
//! pass is refused. Only the manager lifts this rule, for a match that a foreign referee holds. Any message may
//! arrive twice or late. A repeated invitation or request gets the same answer, a match counts once, and a message of an earlier
//! round changes nothing of a later one.
//!
//! This file has the messages of the manager; `playing` has those of referees.

mod active_match;
mod active_matches;
mod assignments;
mod evidence;
mod identity;
mod made_moves;
mod move_request;
mod played;
mod playing;
mod state;
mod trusted_matches;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use league_protocol::envelope::ReceivedEnvelope;
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{LeagueId, RoundId};
use league_protocol::message::acknowledgement::Acknowledgement;
use league_protocol::message::round::{AnnouncedMatch, LeagueCompleted, RoundAnnouncement, RoundCompleted};
use league_protocol::message::standings::{FinalRow, StandingsRow, StandingsUpdate};
use league_protocol::message::state::PlayerState;
use league_protocol::table::Method;
use smol_str::SmolStr;

pub use evidence::Evidence;
pub use identity::PlayerIdentity;
pub use move_request::{AskedMove, MoveRequest};
pub use played::{DrawCheck, History, PlayedMatch};
pub use playing::{ChosenMove, GameOverOutcome};
pub use state::{PlayerLifecycle, SessionState};

use active_match::ActiveMatch;
use active_matches::ActiveMatches;
use assignments::Assignments;
use evidence::EvidenceQueue;
use state::Membership;
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
    assignments: Assignments,
    evidence: EvidenceQueue,
    /// History and standings are shared with the strategies, so a request copies neither.
    history: Arc<History>,
    standings: Arc<[StandingsRow]>,
    /// The round of the latest standings.
    standings_after: Option<RoundId>,
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
            assignments: Assignments::default(),
            evidence: EvidenceQueue::default(),
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
        (self.assignments, self.evidence) = (Assignments::default(), EvidenceQueue::default());
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
        let plays = |announced: &&AnnouncedMatch| [&announced.player_a_id, &announced.player_b_id].contains(&&player);
        for own in round.matches.iter().filter(plays) {
            self.assignments.announced(own);
            self.compare_commitments(own);
        }
        // An announcement of an earlier round is late and changes nothing else.
        if self.round.is_none_or(|current| current <= round.round_id) {
            self.enter_round(round.round_id);
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
        score: None,
        withdrawn: last.withdrawn,
    }
}
