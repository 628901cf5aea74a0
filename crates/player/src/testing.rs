use std::sync::Arc;

use league_core::rules::seed::Seed;
use league_core::session::{DrawCheck, History, MoveRequest, PlayedMatch};
use league_protocol::id::{MatchId, PlayerId, RoundId};
use league_protocol::message::choice::{ChoiceContext, ChooseParityCall};
use league_protocol::message::game_over::OwnResult;
use league_protocol::parity::Parity;
use smol_str::SmolStr;

use crate::chance::Chance;
use crate::memory::Memory;
use crate::strategy::{Decision, Strategy};

pub(crate) fn question(number: u32) -> MoveRequest {
    let context = ChoiceContext { opponent_id: Some(PlayerId::numbered(2)), ..ChoiceContext::default() };
    let call = ChooseParityCall {
        finished_games: Vec::new(),
        games_per_match: None,
        league_id: None,
        round_id: Some(RoundId(number)),
        match_id: MatchId::of(RoundId(number), 1),
        player_id: None,
        game_type: None,
        context,
        deadline: None,
        attempt: None,
        game_number: None,
        turn: None,
    };
    call.into()
}

/// If the choices differ, the player that said even wins.
pub(crate) fn played(number: u32, opponent: &str, own: Parity, theirs: Parity) -> PlayedMatch {
    let (result, points) = match (own, theirs) {
        (Parity::Even, Parity::Even) | (Parity::Odd, Parity::Odd) => (OwnResult::Draw, 1),
        (Parity::Even, Parity::Odd) => (OwnResult::Win, 3),
        (Parity::Odd, Parity::Even) => (OwnResult::Loss, 0),
    };
    PlayedMatch {
        games: Vec::new(),
        league_id: None,
        match_id: MatchId::of(RoundId(number), 1),
        round_id: Some(RoundId(number)),
        opponent_id: Some(opponent.parse().unwrap()),
        result,
        my_choice: Some(SmolStr::new_static(own.as_str())),
        opponent_choice: Some(SmolStr::new_static(theirs.as_str())),
        drawn_number: Some(8),
        points,
        draw: DrawCheck::Proved,
    }
}

pub(crate) fn remembering(matches: &[PlayedMatch]) -> Memory {
    let history: History = serde_json::from_value(serde_json::to_value(matches).unwrap()).unwrap();
    let chance = Chance::Seeded(Seed::new(7, "league".parse().unwrap()));
    Memory { player: PlayerId::numbered(1), history: history.into(), standings: Arc::default(), chance }
}

/// Matches of P01 by opponent. Each word of `eo oo` is a match, the choice of P01 first.
pub(crate) fn memory(histories: &[(&str, &str)]) -> Memory {
    let words = histories.iter().flat_map(|(who, matches)| matches.split(' ').map(move |word| (*who, word)));
    let parity = |letter: u8| if letter == b'e' { Parity::Even } else { Parity::Odd };
    let both = words.filter(|(_, word)| !word.is_empty()).map(|(who, word)| (who, word.as_bytes()));
    let matches: Vec<PlayedMatch> =
        both.zip(1..).map(|((who, word), number)| played(number, who, parity(word[0]), parity(word[1]))).collect();
    remembering(&matches)
}

pub(crate) fn bet(strategy: &dyn Strategy, request: &MoveRequest, memory: &Memory) -> Parity {
    let decision = strategy.choose(request, memory);
    let Decision::Move(text) = &decision else { panic!("{} does not bet: {decision:?}", strategy.name()) };
    Parity::exact(text).unwrap()
}
