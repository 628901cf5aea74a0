//! The game kit: what every registered game is tested for, and the values that are known of our games.

mod chance;
mod deals;
mod kit;
mod playthroughs;
mod references;

use std::num::NonZeroU32;

use league_protocol::draw::{DrawNonce, DrawSecret};
use league_protocol::id::{GameType, MatchId};
use league_protocol::message::start_match::Backoff;
use league_protocol::side::{Pair, Side};
use smol_str::SmolStr;

use super::chance::ChanceStream;
use super::draw::Draw;
use super::game::{DrawnNumber, Game, GameStage};
use super::registry::new_game;
use crate::game_match::MatchMachine;
use crate::game_match::effect::Effect;
use crate::game_match::input::{Input, ReportDelivery};
use crate::game_match::terms::{AnswerLimits, DriveMode, MatchTerms};
use crate::record::MatchRecord;

const MATCH: &str = "R1M1";

fn match_id() -> MatchId {
    MATCH.parse().unwrap()
}

fn nonces() -> Pair<DrawNonce> {
    Pair::new("heads".parse().unwrap(), "tails".parse().unwrap())
}

/// Repeatable numbers for choices in tests.
#[derive(Clone, Debug)]
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    fn pick<'a>(&mut self, moves: &'a [SmolStr]) -> &'a SmolStr {
        &moves[self.below(moves.len())]
    }

    fn stream(&mut self) -> ChanceStream {
        let mut secret = [0; 32];
        secret[..8].copy_from_slice(&self.next().to_be_bytes());
        draw(secret).chance(1)
    }
}

fn draw(secret: [u8; 32]) -> Draw {
    Draw { secret: DrawSecret(secret), match_id: match_id(), attempt: 1, nonces: nonces(), seeded: false }
}

/// Gives the game all chance that it asks for.
fn serve(game: &mut dyn Game, stream: &mut ChanceStream) {
    loop {
        match game.stage() {
            GameStage::Draw => game.draw(DrawnNumber::new(1 + stream.up_to(9) as u8).unwrap()),
            GameStage::Chance(request) => game.chance(&stream.answer(request)),
            GameStage::Moves(_) | GameStage::Over(_) => return,
        }
    }
}

/// Plays random moves to the end. Calls `see` before each move and at the end.
fn play_out(game: &mut dyn Game, dice: &mut Dice, see: impl FnMut(&dyn Game, &mut Dice)) {
    play_moves(game, usize::MAX, dice, see);
}

/// The same, but ends after `most` moves.
fn play_moves(game: &mut dyn Game, most: usize, dice: &mut Dice, mut see: impl FnMut(&dyn Game, &mut Dice)) {
    let mut stream = dice.stream();
    for moved in 0.. {
        serve(game, &mut stream);
        see(game, dice);
        let GameStage::Moves(due) = game.stage() else { return };
        if moved == most {
            return;
        }
        let side = if due.a && (!due.b || dice.below(2) == 0) { Side::A } else { Side::B };
        let moves = game.legal_moves(side);
        game.play(side, dice.pick(&moves)).unwrap();
    }
}

/// A whole match of `games` games with random moves, through the match machine.
fn play_match(game: &GameType, secret: [u8; 32], games: u32, dice: &mut Dice) -> MatchRecord {
    let none = std::time::Duration::ZERO;
    let terms = MatchTerms {
        match_id: match_id(),
        attempt: 1,
        secret: DrawSecret(secret),
        seeded: false,
        manager_nonce: DrawNonce::default(),
        games: NonZeroU32::new(games).unwrap(),
        salt: [0; 32],
        tries: Pair::new(1, 1),
        limits: AnswerLimits { to_join: none, to_move: none, to_acknowledge: none },
        base_delay: none,
        backoff: Backoff::default(),
        mode: DriveMode::Flowing,
    };
    let mut machine = MatchMachine::new(terms, new_game(game).unwrap());
    let mut effects = Vec::new();
    machine.handle(Input::Start, &mut effects);
    while !effects.is_empty() {
        let answer = match effects.remove(0) {
            Effect::Invite { side, call, .. } => {
                Input::Joined { side, call: Some(call), nonce: nonces()[side].clone(), signature: None }
            }
            Effect::AskMove { side, call, .. } => {
                let text = dice.pick(&machine.game().legal_moves(side)).clone();
                Input::Moved { side, call: Some(call), text, signature: None }
            }
            Effect::Report => Input::Reported(ReportDelivery::Accepted),
            Effect::SendGameOver { side, call, .. } => Input::GameOverSent { side, call },
            Effect::Pause { side, call, .. } => Input::PauseOver { side, call },
            Effect::SendError { attempt_error, .. } => panic!("{attempt_error}"),
        };
        machine.handle(answer, &mut effects);
    }
    MatchRecord::of(&machine, machine.ending().unwrap())
}
