//! A referee's request for a move, from either of the two calls that ask for one.

use std::sync::Arc;

use league_protocol::id::{GameType, MatchId, PlayerId, RoundId};
use league_protocol::message::choice::ChooseParityCall;
use league_protocol::message::finished_game::FinishedGame;
use league_protocol::message::game_move::GameMoveCall;
use league_protocol::message::standings::PlayerRecord;
use league_protocol::side::Side;
use league_protocol::signature::{MoveTurn, ViewDigest};
use league_protocol::table::Method;
use league_protocol::time::Timestamp;
use smol_str::SmolStr;

use super::made_moves::Position;
use crate::rules::registry::first_position;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MoveRequest {
    pub method: Method,
    pub match_id: MatchId,
    pub round: Option<RoundId>,
    pub game: GameType,
    pub opponent: Option<PlayerId>,
    pub record: PlayerRecord,
    /// Empty in Even/Odd.
    pub view: SmolStr,
    /// Empty when neither the referee nor the rules list them.
    pub legal_moves: Vec<SmolStr>,
    pub deadline: Option<Timestamp>,
    /// The answer to the same request before, which counts.
    pub answered: Option<SmolStr>,
    pub attempt: Option<u32>,
    /// `None` if the referee does not number its calls.
    pub turn: Option<MoveTurn>,
    /// How many games the match has.
    pub games_per_match: u32,
    /// The games of this match that are over, the oldest first.
    pub finished_games: Arc<Vec<FinishedGame>>,
}

/// Identifies a request for a move until it is answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AskedMove {
    pub(super) method: Method,
    pub(super) match_id: MatchId,
    pub(super) attempt: Option<u32>,
    pub(super) position: Position,
}

impl MoveRequest {
    pub fn asked(&self) -> AskedMove {
        let position = Position { turn: self.turn, view: ViewDigest::of(&self.view) };
        AskedMove { method: self.method, match_id: self.match_id.clone(), attempt: self.attempt, position }
    }
}

/// `None` unless the referee says all of it.
fn turn_of(attempt: Option<u32>, game: Option<u32>, turn: Option<u32>) -> Option<MoveTurn> {
    Some(MoveTurn { attempt: attempt?, game: game?, turn: turn? })
}

impl From<ChooseParityCall> for MoveRequest {
    fn from(call: ChooseParityCall) -> Self {
        let game = GameType::even_odd();
        Self {
            method: Method::ChooseParity,
            match_id: call.match_id,
            round: call.round_id.or(call.context.round_id),
            opponent: call.context.opponent_id,
            record: call.context.your_standings,
            view: SmolStr::default(),
            legal_moves: first_moves(&game),
            game,
            deadline: call.deadline,
            answered: None,
            attempt: call.attempt,
            turn: turn_of(call.attempt, call.game_number, call.turn),
            games_per_match: call.games_per_match.unwrap_or(1),
            finished_games: Arc::new(call.finished_games),
        }
    }
}

impl From<GameMoveCall> for MoveRequest {
    fn from(call: GameMoveCall) -> Self {
        let context = call.context;
        let is_untold = context.legal_moves.is_empty() && context.state.is_empty();
        Self {
            method: Method::MakeMove,
            match_id: call.match_id,
            round: call.round_id,
            opponent: context.opponent_id,
            record: context.your_standings,
            legal_moves: if is_untold { first_moves(&call.game_type) } else { context.legal_moves },
            view: context.state,
            game: call.game_type,
            deadline: call.deadline,
            answered: None,
            attempt: call.attempt,
            turn: turn_of(call.attempt, call.game_number, call.turn),
            games_per_match: call.games_per_match.unwrap_or(1),
            finished_games: Arc::new(call.finished_games),
        }
    }
}

fn first_moves(game: &GameType) -> Vec<SmolStr> {
    first_position(game).map(|game| game.legal_moves(Side::A)).unwrap_or_default()
}
