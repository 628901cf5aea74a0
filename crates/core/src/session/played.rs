//! The matches a player played, their sums, and whether the draws were honest.

use league_protocol::id::{LeagueId, MatchId, PlayerId, RoundId};
use league_protocol::message::finished_game::FinishedGame;
use league_protocol::message::game_over::{DrawProof, GameOver, OwnResult, ResultStatus};
use league_protocol::message::standings::PlayerRecord;
use league_protocol::message::start_match::MatchPoints;
use league_protocol::side::{Pair, Side};
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::active_match::ActiveMatch;
use super::identity::PlayerIdentity;
use crate::rules::draw::Draw;
use crate::rules::outcome::points_for;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PlayedMatch {
    /// Each league starts its match ids anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    pub match_id: MatchId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_id: Option<RoundId>,
    #[serde(default)]
    pub opponent_id: Option<PlayerId>,
    pub result: OwnResult,
    #[serde(default)]
    pub my_choice: Option<SmolStr>,
    #[serde(default)]
    pub opponent_choice: Option<SmolStr>,
    #[serde(default)]
    pub drawn_number: Option<u8>,
    #[serde(default)]
    pub points: u32,
    #[serde(default)]
    pub draw: DrawCheck,
    /// Of a match of several games. The oldest matches of a long history have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub games: Vec<FinishedGame>,
}

/// Whether the draw kept the referee's commitment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DrawCheck {
    /// The referee committed to nothing, or drew nothing.
    #[default]
    Unproved,
    Proved,
    /// Secret, number, attempt or seal differ, or the player's nonce is missing.
    Broken,
}

impl PlayedMatch {
    /// `None` when `over` does not say who won.
    pub(super) fn of(over: &GameOver, identity: &PlayerIdentity, active: Option<&ActiveMatch>) -> Option<Self> {
        let player = &identity.player_id;
        let result = over.game_result.as_ref();
        let own = own_result(over, player)?;
        let choices = result.map(|result| result.choices.0.as_slice()).unwrap_or_default();
        let here = choices.iter().find(|(id, _)| id == player).map(|(_, choice)| choice.clone());
        let there = choices.iter().find(|(id, _)| id != player);
        let answered = || active.and_then(ActiveMatch::last_move).cloned();
        Some(Self {
            // The player's own league id takes precedence: a foreign referee may send any name.
            league_id: identity.league_id.clone().or_else(|| over.league_id.clone()),
            match_id: over.match_id.clone(),
            round_id: over.round_id.or(active.and_then(|active| active.round)),
            opponent_id: active.and_then(|active| active.opponent.clone()).or(there.map(|(id, _)| id.clone())),
            result: own,
            my_choice: over.your_choice.clone().or_else(|| here.unwrap_or_else(answered)),
            opponent_choice: over.opponent_choice.clone().or_else(|| there.and_then(|(_, choice)| choice.clone())),
            drawn_number: over.drawn_number.or(result.and_then(|result| result.drawn_number)),
            points: over.points_earned.unwrap_or_else(|| points_for(own, &MatchPoints::default())),
            draw: check_draw(over, player, active),
            games: active.map(|active| active.games.to_vec()).unwrap_or_default(),
        })
    }

    fn is_match_of(&self, other: &Self) -> bool {
        self.match_id == other.match_id && self.league_id == other.league_id
    }

    /// Ignores the check of the draw.
    fn is_result_of(&self, other: &Self) -> bool {
        (self.result, self.points, self.drawn_number) == (other.result, other.points, other.drawn_number)
            && (&self.my_choice, &self.opponent_choice) == (&other.my_choice, &other.opponent_choice)
    }
}

/// The full result takes precedence over the flat field, whose perspective is ambiguous. The flat field counts if the full result
/// names no winner and no draw.
fn own_result(over: &GameOver, player: &PlayerId) -> Option<OwnResult> {
    let Some(result) = &over.game_result else { return over.result };
    match (&result.winner_player_id, result.status) {
        (Some(winner), _) if winner == player => Some(OwnResult::Win),
        (Some(_) | None, Some(ResultStatus::TechnicalLoss)) => Some(OwnResult::TechnicalLoss),
        (Some(_), Some(ResultStatus::Win | ResultStatus::Draw) | None) => Some(OwnResult::Loss),
        (None, Some(ResultStatus::Draw)) => Some(OwnResult::Draw),
        (None, Some(ResultStatus::Win) | None) => over.result,
    }
}

fn check_draw(over: &GameOver, player: &PlayerId, active: Option<&ActiveMatch>) -> DrawCheck {
    let Some((active, commitment)) = active.and_then(|active| Some((active, active.commitment?))) else {
        return DrawCheck::Unproved;
    };
    let whole = over.game_result.as_ref().and_then(|result| result.drawn_number);
    match (over.drawn_number.or(whole), &over.draw, active.side) {
        // Cards have no number: the secret and the nonces are checked, and the manager replays the cards.
        (None, Some(proof), Some(side)) => {
            let kept = is_own(proof, player, active)
                && draw_of(over, player, side, proof).verify_seal(&commitment, proof.seal.as_ref()).is_ok();
            if kept { DrawCheck::Proved } else { DrawCheck::Broken }
        }
        (None, _, _) => DrawCheck::Unproved,
        // A referee that committed and proves nothing broke its promise.
        (Some(_), None, _) => DrawCheck::Broken,
        // Without sides the order of the nonces is unknown.
        (Some(_), Some(_), None) => DrawCheck::Unproved,
        (Some(_), Some(proof), Some(side)) if over.games_per_match.is_some_and(|games| games > 1) => {
            let draw = draw_of(over, player, side, proof);
            let follows = |game: &FinishedGame| {
                game.drawn_number.is_none_or(|number| number == draw.number_of_game(game.game_number).get())
            };
            let kept = is_own(proof, player, active)
                && draw.verify_seal(&commitment, proof.seal.as_ref()).is_ok()
                && active.games.iter().all(follows);
            if kept { DrawCheck::Proved } else { DrawCheck::Broken }
        }
        (Some(number), Some(proof), Some(side)) => {
            let kept = whole.is_none_or(|whole| whole == number)
                && is_own(proof, player, active)
                && draw_of(over, player, side, proof).verify(&commitment, proof.seal.as_ref(), number).is_ok();
            if kept { DrawCheck::Proved } else { DrawCheck::Broken }
        }
    }
}

/// Whether the proof is of the attempt that the player joined, with its nonce. A referee that chose the attempt afterwards could
/// choose the number.
fn is_own(proof: &DrawProof, player: &PlayerId, active: &ActiveMatch) -> bool {
    proof.attempt == active.attempt.unwrap_or(1) && proof.nonces.get(player) == Some(&active.nonce)
}

fn draw_of(over: &GameOver, player: &PlayerId, side: Side, proof: &DrawProof) -> Draw {
    let own = proof.nonces.get(player).cloned().unwrap_or_default();
    let other = proof.nonces.0.iter().find(|(id, _)| id != player).map(|(_, nonce)| nonce.clone()).unwrap_or_default();
    let nonces = match side {
        Side::A => Pair::new(own, other),
        Side::B => Pair::new(other, own),
    };
    let DrawProof { secret, attempt, seeded, .. } = *proof;
    Draw { secret, match_id: over.match_id.clone(), attempt, nonces, seeded }
}

/// What a history did with a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Added {
    New,
    /// Another result of this match was known.
    Replaced,
    Known,
}

/// The oldest matches are dropped first.
pub(super) const MAX_REMEMBERED: usize = 10_000;
/// The most moves in the games of all matches. The games of the oldest matches are dropped first.
const MAX_REMEMBERED_MOVES: usize = 100_000;

/// Each match once, the oldest first.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct History(Vec<PlayedMatch>);

impl History {
    pub fn matches(&self) -> &[PlayedMatch] {
        &self.0
    }

    pub fn against<'a>(&'a self, opponent: &'a PlayerId) -> impl DoubleEndedIterator<Item = &'a PlayedMatch> {
        self.0.iter().filter(move |played| played.opponent_id.as_ref() == Some(opponent))
    }

    pub(super) fn add(&mut self, played: PlayedMatch) -> Added {
        let Some(known) = self.0.iter_mut().rfind(|known| known.is_match_of(&played)) else {
            // A history from a file may exceed the limit.
            let surplus = (self.0.len() + 1).saturating_sub(MAX_REMEMBERED);
            self.0.drain(..surplus);
            self.0.push(played);
            self.bound_games();
            return Added::New;
        };
        // Without the commitment the earlier check of the draw still counts.
        if *known == played || played.draw == DrawCheck::Unproved && played.is_result_of(known) {
            return Added::Known;
        }
        *known = played;
        Added::Replaced
    }

    fn bound_games(&mut self) {
        let mut moves = 0;
        for played in self.0.iter_mut().rev().filter(|played| !played.games.is_empty()) {
            moves += played.games.iter().map(|game| game.your_moves.len() + game.opponent_moves.len()).sum::<usize>();
            if moves > MAX_REMEMBERED_MOVES {
                played.games = Vec::new();
            }
        }
    }

    pub fn record(&self) -> PlayerRecord {
        self.0.iter().fold(PlayerRecord::default(), |mut record, played| {
            match played.result {
                OwnResult::Win => record.wins += 1,
                OwnResult::Draw => record.draws += 1,
                OwnResult::Loss | OwnResult::TechnicalLoss => record.losses += 1,
            }
            // Foreign points may be any number.
            record.points = record.points.saturating_add(played.points);
            record
        })
    }
}
