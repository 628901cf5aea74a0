//! A referee's request for a move, from either of the two calls that ask for one.

use league_protocol::id::{GameType, MatchId, PlayerId, RoundId};
use league_protocol::message::choice::ChooseParityCall;
use league_protocol::message::game_move::GameMoveCall;
use league_protocol::message::standings::PlayerRecord;
use league_protocol::side::Side;
use league_protocol::table::Method;
use league_protocol::time::Timestamp;
use smol_str::SmolStr;

use crate::rules::registry::new_game;

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
        }
    }
}

fn first_moves(game: &GameType) -> Vec<SmolStr> {
    new_game(game).map(|game| game.legal_moves(Side::A)).unwrap_or_default()
}
