//! A player's own view of its league: what it was told, what it answered, how it did.
//!
//! A seat takes what comes and gives the answer to it. It is liberal in what it understands, since its league may be of any
//! make, and strict in one thing: where the manager promised passes, whoever cannot show the right one is not listened to.
//! Everything may come twice. The same invitation gets the same answer, the same question the same choice, and a match
//! counts once in the record, whatever is repeated.

mod identity;
mod played;
mod seated;
mod state;

#[cfg(test)]
mod tests;

use league_protocol::draw::DrawNonce;
use league_protocol::error::{ErrorCode, Fault};
use league_protocol::head::Head;
use league_protocol::id::{GameType, LeagueId, MatchId, PlayerId, RoundId};
use league_protocol::message::acknowledgement::Acknowledgement;
use league_protocol::message::choice::{ChooseParityCall, ChooseParityResponse};
use league_protocol::message::game_move::{GameMoveCall, GameMoveResponse};
use league_protocol::message::game_over::GameOver;
use league_protocol::message::invitation::{GameInvitation, GameJoinAck};
use league_protocol::message::round::{LeagueCompleted, RoundAnnouncement, RoundCompleted};
use league_protocol::message::standings::{PlayerRecord, StandingsRow, StandingsUpdate};
use league_protocol::message::state::PlayerState;
use league_protocol::parity::Parity;
use league_protocol::table::Method;
use league_protocol::time::Timestamp;
use smol_str::SmolStr;

pub use identity::Identity;
pub use played::{DrawCheck, History, Played};
pub use state::State;

use seated::Seated;

/// The most matches that a seat keeps open: far more than any league asks for, few enough to bound a hostile one.
const MAX_OPEN: usize = 64;

/// A player's place in a league.
#[derive(Clone, Debug)]
pub struct Seat {
    name: SmolStr,
    state: State,
    identity: Option<Identity>,
    round: Option<RoundId>,
    /// Matches without a result, the newest last.
    open: Vec<Seated>,
    history: History,
    standings: Vec<StandingsRow>,
}

/// What a strategy is asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Question {
    /// The match.
    pub match_id: MatchId,
    /// The round.
    pub round: Option<RoundId>,
    /// The game.
    pub game: GameType,
    /// The opponent, where it is known.
    pub opponent: Option<PlayerId>,
    /// The player's own record, as the referee tells it.
    pub record: PlayerRecord,
    /// What the game shows; empty in Even/Odd.
    pub view: SmolStr,
    /// When the answer must be there.
    pub deadline: Option<Timestamp>,
    /// What was answered to the same question before: that stands.
    pub answered: Option<SmolStr>,
}

impl Seat {
    /// An empty seat for a player called `name`, which remembers `history`.
    pub fn new(name: SmolStr, history: History) -> Self {
        let (state, open, standings) = (State::Unregistered, Vec::new(), Vec::new());
        Self { name, state, identity: None, round: None, open, history, standings }
    }

    /// The player asks to be let in.
    pub fn registering(&mut self) {
        self.state = State::Registering;
    }

    /// The player is in.
    pub fn registered(&mut self, identity: Identity) {
        self.identity = Some(identity);
        self.state = State::Registered;
    }

    /// The player is not in.
    pub fn rejected(&mut self) {
        self.state = State::Unregistered;
    }

    /// What the player is doing.
    pub fn state(&self) -> State {
        self.state
    }

    /// Who the player is, once it is in.
    pub fn identity(&self) -> Option<&Identity> {
        self.identity.as_ref()
    }

    /// What it has played.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The table, as it was told last.
    pub fn standings(&self) -> &[StandingsRow] {
        &self.standings
    }

    /// A round is announced.
    pub fn round_announced(&mut self, head: &Head, round: &RoundAnnouncement) -> Result<Acknowledgement, Fault> {
        let identity = self.heard_from_manager(head, Method::NotifyRound, round.league_id.as_ref())?;
        let plays = round
            .matches
            .iter()
            .any(|announced| [&announced.player_a_id, &announced.player_b_id].contains(&&identity.player_id));
        let acknowledgement = Acknowledgement::of_player(identity.player_id.clone()).for_round(round.round_id);
        self.round = Some(round.round_id);
        // An announcement that comes late must not undo an invitation that came first.
        if self.open.is_empty() {
            self.state = if plays { State::WaitingForRound } else { State::Registered };
        }
        Ok(acknowledgement)
    }

    /// An invitation. `nonce` is what a new match gets; a repeated invitation gets what the first one got.
    pub fn invited(
        &mut self,
        head: &Head,
        invitation: &GameInvitation,
        nonce: DrawNonce,
        now: Timestamp,
    ) -> Result<GameJoinAck, Fault> {
        let match_id = &invitation.match_id;
        let identity = self.heard_from_referee(head, Method::GameInvitation, match_id)?.clone();
        let again = self.open.iter().position(|seated| seated.is_same_invitation(invitation));
        let place = again.unwrap_or_else(|| {
            self.open.retain(|seated| seated.match_id != *match_id);
            if self.open.len() == MAX_OPEN {
                self.open.remove(0);
            }
            self.open.push(Seated::invited(invitation, nonce));
            self.open.len() - 1
        });
        if self.open[place].answer.is_none() {
            self.state = State::WaitingForChoiceRequest;
        }
        Ok(GameJoinAck {
            match_id: Some(match_id.clone()),
            player_id: Some(identity.player_id),
            arrival_timestamp: Some(now),
            accept: Some(true),
            draw_nonce: Some(self.open[place].nonce.clone()),
        })
    }

    /// Even or odd? The strategy is to answer.
    pub fn asked_parity(&mut self, head: &Head, call: &ChooseParityCall) -> Result<Question, Fault> {
        let asked = Asked {
            match_id: &call.match_id,
            round: call.round_id.or(call.context.round_id),
            game: call.game_type.clone().unwrap_or_else(GameType::even_odd),
            opponent: call.opponent().cloned(),
            record: call.context.your_standings,
            view: SmolStr::default(),
            deadline: call.deadline,
        };
        self.asked(head, Method::ChooseParity, asked)
    }

    /// Which move? The strategy is to answer.
    pub fn asked_move(&mut self, head: &Head, call: &GameMoveCall) -> Result<Question, Fault> {
        let asked = Asked {
            match_id: &call.match_id,
            round: call.round_id,
            game: call.game_type.clone(),
            opponent: call.context.opponent_id.clone(),
            record: call.context.your_standings,
            view: call.context.state.clone(),
            deadline: call.deadline,
        };
        self.asked(head, Method::MakeMove, asked)
    }

    fn asked(&mut self, head: &Head, method: Method, asked: Asked<'_>) -> Result<Question, Fault> {
        self.heard_from_referee(head, method, asked.match_id)?;
        let place = match self.open.iter().position(|seated| seated.match_id == *asked.match_id) {
            Some(place) => place,
            // A referee of other make may ask without having invited.
            None => {
                if self.open.len() == MAX_OPEN {
                    self.open.remove(0);
                }
                self.open.push(Seated::uninvited(asked.match_id.clone()));
                self.open.len() - 1
            }
        };
        let seated = &mut self.open[place];
        seated.opponent = seated.opponent.take().or(asked.opponent);
        seated.round = seated.round.or(asked.round);
        // With another position on the board it is another question, though the match is the same.
        if seated.view != asked.view {
            (seated.view, seated.answer) = (asked.view.clone(), None);
        }
        self.state = State::ChoosingParity;
        Ok(Question {
            match_id: seated.match_id.clone(),
            round: seated.round,
            game: asked.game,
            opponent: seated.opponent.clone(),
            record: asked.record,
            view: asked.view,
            deadline: asked.deadline,
            answered: seated.answer.clone(),
        })
    }

    /// The strategy has chosen. The first choice for a match stands.
    pub fn chose_parity(&mut self, match_id: &MatchId, parity: Parity) -> Result<ChooseParityResponse, Fault> {
        let answer = self.answered(match_id, SmolStr::new_static(parity.as_str()), Method::ChooseParity)?;
        let player_id = self.myself(Method::ChooseParity)?.player_id.clone();
        // What was answered before to this question was a parity too: only this method answers it.
        let parity_choice = Parity::exact(&answer).unwrap_or(parity);
        Ok(ChooseParityResponse { match_id: match_id.clone(), player_id, parity_choice })
    }

    /// The strategy has moved. The first move in a position stands.
    pub fn chose_move(&mut self, match_id: &MatchId, played: SmolStr) -> Result<GameMoveResponse, Fault> {
        let played = self.answered(match_id, played, Method::MakeMove)?;
        let player_id = self.myself(Method::MakeMove)?.player_id.clone();
        Ok(GameMoveResponse { match_id: match_id.clone(), player_id, played })
    }

    fn answered(&mut self, match_id: &MatchId, answer: SmolStr, method: Method) -> Result<SmolStr, Fault> {
        let seated = self.open.iter_mut().find(|seated| seated.match_id == *match_id);
        let seated = seated.ok_or_else(|| {
            Fault::new(ErrorCode::E007, method, format!("{match_id} is not being played here")).about("match_id")
        })?;
        let stands = seated.answer.get_or_insert(answer).clone();
        self.state = State::WaitingForResult;
        Ok(stands)
    }

    /// A match is over.
    pub fn over(&mut self, head: &Head, over: &GameOver) -> Result<Acknowledgement, Fault> {
        let identity = self.heard_from_referee(head, Method::NotifyMatchResult, &over.match_id)?.clone();
        let place = self.open.iter().position(|seated| seated.match_id == over.match_id);
        let seated = place.map(|place| self.open.remove(place));
        self.history.add(Played::of(over, &identity, seated.as_ref()));
        self.state = State::MatchComplete;
        Ok(Acknowledgement::of_player(identity.player_id).for_match(over.match_id.clone()))
    }

    /// Something went wrong with an answer; nothing changes by knowing it.
    pub fn game_error(&self, head: &Head, match_id: Option<&MatchId>) -> Result<Acknowledgement, Fault> {
        const METHOD: Method = Method::NotifyGameError;
        match match_id {
            Some(match_id) => {
                let player = self.heard_from_referee(head, METHOD, match_id)?.player_id.clone();
                Ok(Acknowledgement::of_player(player).for_match(match_id.clone()))
            }
            None => Ok(Acknowledgement::of_player(self.myself(METHOD)?.player_id.clone())),
        }
    }

    /// The table is told.
    pub fn standings_updated(&mut self, head: &Head, update: &StandingsUpdate) -> Result<Acknowledgement, Fault> {
        let identity = self.heard_from_manager(head, Method::UpdateStandings, update.league_id.as_ref())?;
        let acknowledgement = Acknowledgement::of_player(identity.player_id.clone());
        self.standings.clone_from(&update.standings);
        Ok(match update.round_id {
            Some(round) => acknowledgement.for_round(round),
            None => acknowledgement,
        })
    }

    /// A round is over.
    pub fn round_completed(&mut self, head: &Head, round: &RoundCompleted) -> Result<Acknowledgement, Fault> {
        let identity = self.heard_from_manager(head, Method::NotifyRoundCompleted, round.league_id.as_ref())?;
        let acknowledgement = Acknowledgement::of_player(identity.player_id.clone()).for_round(round.round_id);
        if round.next_round_id.is_some() && self.open.is_empty() {
            self.state = State::Registered;
        }
        Ok(acknowledgement)
    }

    /// The league is over.
    pub fn league_completed(&mut self, head: &Head, end: &LeagueCompleted) -> Result<Acknowledgement, Fault> {
        let identity = self.heard_from_manager(head, Method::NotifyLeagueCompleted, end.league_id.as_ref())?;
        let acknowledgement = Acknowledgement::of_player(identity.player_id.clone());
        self.state = State::LeagueComplete;
        self.open.clear();
        Ok(acknowledgement)
    }

    /// Whether a command to leave comes from the manager.
    pub fn told_to_leave(&self, head: &Head) -> Result<Acknowledgement, Fault> {
        let identity = self.heard_from_manager(head, Method::Shutdown, None)?;
        Ok(Acknowledgement::of_player(identity.player_id.clone()))
    }

    /// How the player sees itself. No secrets.
    pub fn player_state(&self, strategy: Option<SmolStr>) -> PlayerState {
        let identity = self.identity.as_ref();
        let own = |row: &&StandingsRow| identity.is_some_and(|identity| identity.player_id == row.player_id);
        PlayerState {
            player_id: identity.map(|identity| identity.player_id.clone()),
            display_name: self.name.clone(),
            state: SmolStr::new_static(self.state.as_str()),
            league_id: identity.and_then(|identity| identity.league_id.clone()),
            current_round: self.round,
            current_match: self.open.last().map(|seated| seated.match_id.clone()),
            record: self.history.record(),
            matches_played: u32::try_from(self.history.matches().len()).unwrap_or(u32::MAX),
            rank: self.standings.iter().find(own).map(|row| row.rank),
            strategy,
        }
    }

    fn myself(&self, method: Method) -> Result<&Identity, Fault> {
        let message = "this player is not registered in any league yet";
        self.identity.as_ref().ok_or_else(|| Fault::new(ErrorCode::E005, method, message))
    }

    fn heard_from_manager(&self, head: &Head, method: Method, league: Option<&LeagueId>) -> Result<&Identity, Fault> {
        let identity = self.myself(method)?;
        identity.check_league(league, method)?;
        identity.check_manager(head, method)?;
        Ok(identity)
    }

    fn heard_from_referee(&self, head: &Head, method: Method, match_id: &MatchId) -> Result<&Identity, Fault> {
        let identity = self.myself(method)?;
        identity.check_referee(head, method, match_id)?;
        Ok(identity)
    }
}

/// What both kinds of questions have in common.
struct Asked<'a> {
    match_id: &'a MatchId,
    round: Option<RoundId>,
    game: GameType,
    opponent: Option<PlayerId>,
    record: PlayerRecord,
    view: SmolStr,
    deadline: Option<Timestamp>,
}
