use std::sync::Arc;

use league_protocol::draw::{DrawCommitment, DrawNonce};
use league_protocol::id::{ConversationId, GameType, MatchId, PlayerId, RefereeId, RoundId};
use league_protocol::message::finished_game::{FinishedGame, MAX_GAMES};
use league_protocol::message::invitation::GameInvitation;
use league_protocol::side::Side;
use smol_str::SmolStr;

use super::made_moves::{MadeMoves, Position};
use super::state::MatchStage;
use crate::rules::registry::new_game;

/// An attempt at a match, with one referee. Kept after the result, to answer repeated messages and the manager's questions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ActiveMatch {
    pub(super) match_id: MatchId,
    pub(super) attempt: Option<u32>,
    pub(super) referee: Option<RefereeId>,
    pub(super) round: Option<RoundId>,
    pub(super) opponent: Option<PlayerId>,
    pub(super) side: Option<Side>,
    pub(super) commitment: Option<DrawCommitment>,
    pub(super) nonce: DrawNonce,
    pub(super) join: JoinState,
    pub(super) stage: MatchStage,
    pub(super) conversation: Option<ConversationId>,
    pub(super) moves: MadeMoves,
    /// The last of its moves that the referee asked for, from one.
    pub(super) asked: u32,
    /// Whether the player has seen a move of its opponent, or the result.
    pub(super) revealed: bool,
    /// The games of the match that are over, as far as the referee told them. Shared with the strategies.
    pub(super) games: Arc<Vec<FinishedGame>>,
}

/// The most moves that the player remembers of a side in one game, and of a match, and the longest text of a move. Bounds on
/// hostile referees.
const MAX_MOVES: usize = 512;
const MAX_MATCH_MOVES: usize = 50_000;
const MAX_TEXT: usize = 64;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum JoinState {
    /// The referee asked for a move without an invitation, or before a restart of the player.
    Uninvited,
    Joined,
    /// Joined, with a signature.
    Signed,
    /// The player does not play this game.
    Declined,
    /// The invitation showed another commitment than the manager announced.
    Refused,
}

impl JoinState {
    pub(super) fn has_joined(self) -> bool {
        match self {
            Self::Joined | Self::Signed => true,
            Self::Uninvited | Self::Declined | Self::Refused => false,
        }
    }
}

/// Identifies an attempt with one referee.
#[derive(Clone, Copy, Debug)]
pub(super) struct AttemptKey<'a> {
    pub(super) match_id: &'a MatchId,
    pub(super) attempt: Option<u32>,
    pub(super) referee: Option<&'a RefereeId>,
}

impl AttemptKey<'_> {
    pub(super) fn is_of(&self, active: &ActiveMatch) -> bool {
        active.match_id == *self.match_id && active.attempt == self.attempt && active.referee.as_ref() == self.referee
    }

    /// Whether a message may be about this attempt. Messages may leave out the attempt or the sender.
    pub(super) fn may_mean(&self, active: &ActiveMatch) -> bool {
        active.match_id == *self.match_id
            && (self.attempt.is_none() || active.attempt == self.attempt)
            && active.referee.as_ref().zip(self.referee).is_none_or(|(one, other)| one == other)
    }
}

impl ActiveMatch {
    pub(super) fn uninvited(key: AttemptKey<'_>) -> Self {
        Self {
            match_id: key.match_id.clone(),
            attempt: key.attempt,
            referee: key.referee.cloned(),
            round: None,
            opponent: None,
            side: None,
            commitment: None,
            nonce: DrawNonce::default(),
            join: JoinState::Uninvited,
            stage: MatchStage::Joined,
            conversation: None,
            moves: MadeMoves::default(),
            asked: 0,
            revealed: false,
            games: Arc::default(),
        }
    }

    pub(super) fn key(&self) -> AttemptKey<'_> {
        AttemptKey { match_id: &self.match_id, attempt: self.attempt, referee: self.referee.as_ref() }
    }

    /// Whether the player signed its join or a move.
    pub(super) fn is_signed(&self) -> bool {
        self.join == JoinState::Signed || self.moves.signed().next().is_some()
    }

    /// Takes what the invitation says.
    pub(super) fn invite(&mut self, invitation: &GameInvitation, join: JoinState) {
        self.round = invitation.round_id.or(self.round);
        self.opponent = invitation.opponent_id.clone().or(self.opponent.take());
        self.side = invitation.role_in_match;
        self.commitment = invitation.draw_commitment;
        self.join = join;
    }

    pub(super) fn is_open(&self) -> bool {
        self.stage != MatchStage::Over
    }

    /// Whether this repeats the invitation that the player accepted, as opposed to a new match under the same name.
    pub(super) fn repeats(&self, invitation: &GameInvitation) -> bool {
        // A foreign referee sends neither attempt nor commitment. After a result, its invitation starts a new attempt.
        let marked = invitation.attempt.is_some() || invitation.draw_commitment.is_some();
        self.join.has_joined() && self.commitment == invitation.draw_commitment && (marked || self.is_open())
    }

    /// Notes what a request for a move shows.
    pub(super) fn show(&mut self, position: &Position, view: &str, game: &GameType) {
        let later = position.turn.is_some_and(|at| at.turn > 1 || at.game > 1);
        // Side A begins where the players take turns, so it has seen nothing in its first turn, unless cards were dealt.
        let has_cards = new_game(game).is_none_or(|game| game.about().chance);
        let made = u32::try_from(self.moves.count()).unwrap_or(u32::MAX);
        let is_known =
            self.moves.at(position).is_some() || position.turn.is_some_and(|at| self.moves.has_closed(at.game));
        let next = made.saturating_add(u32::from(!is_known));
        // Turns are counted in each game anew.
        self.asked = self.asked.max(position.turn.filter(|at| at.game == 1).map_or(next, |at| at.turn));
        self.revealed |= later || (!view.is_empty() && (has_cards || self.side != Some(Side::A)));
    }

    /// Takes the games that the player does not know yet.
    pub(super) fn learn(&mut self, games: &[FinishedGame]) {
        for game in games.iter().filter(|game| (1..=MAX_GAMES).contains(&game.game_number)) {
            if self.games.last().is_some_and(|known| known.game_number >= game.game_number) {
                continue;
            }
            let known = |moves: &[SmolStr]| {
                moves.iter().filter(|text| text.len() <= MAX_TEXT).take(MAX_MOVES).cloned().collect()
            };
            let (your_moves, opponent_moves) = (known(&game.your_moves), known(&game.opponent_moves));
            let games = Arc::make_mut(&mut self.games);
            games.push(FinishedGame { your_moves, opponent_moves, ..*game });
            let mut kept = 0;
            let moves = games.iter().rev().map(|game| game.your_moves.len() + game.opponent_moves.len());
            let fitting = moves.take_while(|moves| {
                kept += moves;
                kept <= MAX_MATCH_MOVES
            });
            let surplus = games.len() - fitting.count();
            games.drain(..surplus);
        }
    }

    /// A late question does not reopen a match.
    pub(super) fn set_stage(&mut self, stage: MatchStage) {
        if self.is_open() {
            self.stage = stage;
        }
    }

    pub(super) fn last_move(&self) -> Option<&SmolStr> {
        self.moves.last()
    }
}
