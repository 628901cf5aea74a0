//! What a player has played, in its own words: the matches, the sums, and whether the draws were honest.

use league_protocol::id::{LeagueId, MatchId, PlayerId, RoundId};
use league_protocol::message::game_over::{DrawProof, GameOver, OwnResult, ResultStatus};
use league_protocol::message::standings::PlayerRecord;
use league_protocol::side::{Pair, Side};
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::identity::Identity;
use super::seated::Seated;
use crate::rules::draw::Draw;

/// One match, as it is remembered.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Played {
    /// The league: match ids begin anew in each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    /// The match.
    pub match_id: MatchId,
    /// Its round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_id: Option<RoundId>,
    /// Against whom.
    #[serde(default)]
    pub opponent_id: Option<PlayerId>,
    /// How it ended.
    pub result: OwnResult,
    /// What was chosen here.
    #[serde(default)]
    pub my_choice: Option<SmolStr>,
    /// What was chosen there.
    #[serde(default)]
    pub opponent_choice: Option<SmolStr>,
    /// The number.
    #[serde(default)]
    pub drawn_number: Option<u8>,
    /// What it gave.
    #[serde(default)]
    pub points: u32,
    /// Whether the draw was what had been promised.
    #[serde(default)]
    pub draw: DrawCheck,
}

/// Whether a draw was what had been promised.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DrawCheck {
    /// Nothing was promised, or nothing drawn.
    #[default]
    Unproved,
    /// It was.
    Proved,
    /// It was not: another secret, another number, or the player's own nonce left out.
    Broken,
}

impl Played {
    /// What `over` means to whoever `identity` is, who had sat down as `seated`.
    pub(super) fn of(over: &GameOver, identity: &Identity, seated: Option<&Seated>) -> Self {
        let player = &identity.player_id;
        let result = over.game_result.as_ref();
        let choices = result.map(|result| &result.choices);
        let choice_of = |test: &dyn Fn(&PlayerId) -> bool| {
            choices.and_then(|choices| choices.0.iter().find(|(id, _)| test(id))).and_then(|(_, choice)| choice.clone())
        };
        let other = choices.and_then(|choices| choices.0.iter().find(|(id, _)| id != player)).map(|(id, _)| id.clone());
        let own = own_result(over, player);
        Self {
            league_id: over.league_id.clone().or_else(|| identity.league_id.clone()),
            match_id: over.match_id.clone(),
            round_id: over.round_id.or(seated.and_then(|seated| seated.round)),
            opponent_id: seated.and_then(|seated| seated.opponent.clone()).or(other),
            result: own,
            my_choice: over.your_choice.clone().or_else(|| choice_of(&|id| id == player)),
            opponent_choice: over.opponent_choice.clone().or_else(|| choice_of(&|id| id != player)),
            drawn_number: over.drawn_number.or(result.and_then(|result| result.drawn_number)),
            points: over.points_earned.unwrap_or(match own {
                OwnResult::Win => 3,
                OwnResult::Draw => 1,
                OwnResult::Loss | OwnResult::TechnicalLoss => 0,
            }),
            draw: check_draw(over, player, seated),
        }
    }
}

/// The result from this player's side. What the whole result says counts more than a flat word, which may mean anybody.
fn own_result(over: &GameOver, player: &PlayerId) -> OwnResult {
    let Some(result) = &over.game_result else { return over.result.unwrap_or(OwnResult::Draw) };
    match (&result.winner_player_id, result.status) {
        (Some(winner), _) if winner == player => OwnResult::Win,
        (Some(_), ResultStatus::TechnicalLoss) | (None, ResultStatus::TechnicalLoss) => OwnResult::TechnicalLoss,
        (Some(_), ResultStatus::Win | ResultStatus::Draw) => OwnResult::Loss,
        (None, ResultStatus::Win | ResultStatus::Draw) => OwnResult::Draw,
    }
}

fn check_draw(over: &GameOver, player: &PlayerId, seated: Option<&Seated>) -> DrawCheck {
    let promised = seated.and_then(|seated| Some((seated, seated.commitment?, seated.side?)));
    let number = over.drawn_number.or(over.game_result.as_ref().and_then(|result| result.drawn_number));
    match (promised, number, &over.draw) {
        (None, _, _) | (Some(_), None, _) => DrawCheck::Unproved,
        // A referee that binds itself and then proves nothing has not kept its promise.
        (Some(_), Some(_), None) => DrawCheck::Broken,
        (Some((seated, commitment, side)), Some(number), Some(proof)) => {
            let kept = proof.nonces.get(player) == Some(&seated.nonce)
                && draw_of(over, player, side, proof).verify(&commitment, number).is_ok();
            if kept { DrawCheck::Proved } else { DrawCheck::Broken }
        }
    }
}

fn draw_of(over: &GameOver, player: &PlayerId, side: Side, proof: &DrawProof) -> Draw {
    let own = proof.nonces.get(player).cloned().unwrap_or_default();
    let other = proof.nonces.0.iter().find(|(id, _)| id != player).map(|(_, nonce)| nonce.clone()).unwrap_or_default();
    let nonces = match side {
        Side::A => Pair::new(own, other),
        Side::B => Pair::new(other, own),
    };
    Draw { secret: proof.secret, match_id: over.match_id.clone(), attempt: proof.attempt, nonces }
}

/// The most matches that are remembered; the oldest are forgotten first.
const MAX_REMEMBERED: usize = 10_000;

/// Every match that a player remembers, each once.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct History(Vec<Played>);

impl History {
    /// The matches, the oldest first.
    pub fn matches(&self) -> &[Played] {
        &self.0
    }

    /// The matches against `opponent`, the oldest first.
    pub fn against<'a>(&'a self, opponent: &'a PlayerId) -> impl DoubleEndedIterator<Item = &'a Played> {
        self.0.iter().filter(move |played| played.opponent_id.as_ref() == Some(opponent))
    }

    /// Remembers a match; what was known of the same match before is replaced.
    pub(super) fn add(&mut self, played: Played) {
        // A result is repeated soon or never, so the search begins at the end.
        let same = |known: &Played| known.match_id == played.match_id && known.league_id == played.league_id;
        match self.0.iter().rposition(same) {
            Some(place) => self.0[place] = played,
            None => {
                if self.0.len() == MAX_REMEMBERED {
                    self.0.remove(0);
                }
                self.0.push(played);
            }
        }
    }

    /// The sums.
    pub fn record(&self) -> PlayerRecord {
        self.0.iter().fold(PlayerRecord::default(), |mut record, played| {
            match played.result {
                OwnResult::Win => record.wins += 1,
                OwnResult::Draw => record.draws += 1,
                OwnResult::Loss | OwnResult::TechnicalLoss => record.losses += 1,
            }
            record.points += played.points;
            record
        })
    }
}
