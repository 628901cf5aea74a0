//! Messages of a match: to each player from its own side, and to the manager.
//!
//! The machine knows only sides and calls. The manager's order holds the players' ids, names and records. This module decides
//! nothing.

#[cfg(test)]
mod tests;

use std::num::NonZeroU32;
use std::time::Duration;

use league_protocol::draw::{DrawCommitment, DrawSecret};
use league_protocol::envelope::Envelope;
use league_protocol::error::ErrorCode;
use league_protocol::id::{ConversationId, GameType, PlayerId, RefereeId};
use league_protocol::message::choice::{ChoiceContext, ChooseParityCall};
use league_protocol::message::coded_moves::CodedMoves;
use league_protocol::message::finished_game::FinishedGame;
use league_protocol::message::game_error::{GameError, RetryInfo};
use league_protocol::message::game_move::{GameMoveCall, MoveContext};
use league_protocol::message::game_over::{ByPlayer, GameOver, GameResult};
use league_protocol::message::invitation::GameInvitation;
use league_protocol::message::report::{Account, MatchResultReport, PlayerSignatures, ReportedMove};
use league_protocol::message::start_match::{MatchMode, StartMatch, span};
use league_protocol::message::step::MatchState;
use league_protocol::problem::Problem;
use league_protocol::seal::seal;
use league_protocol::sender::Sender;
use league_protocol::side::{Pair, Side};
use league_protocol::table::Call;
use league_protocol::time::Timestamp;
use smol_str::{SmolStr, format_smolstr};

use super::MatchMachine;
use super::effect::{AskKind, AttemptError};
use super::ending::{Ending, ForfeitReason};
use super::terms::{AnswerLimits, DriveMode, MatchTerms};
use crate::record::MatchRecord;
use crate::record::wire::{by_player, reported_move};
use crate::rules::game::Game;

/// The referee supplies `secret` and `salt`. In a league with a seed, the secret in the order replaces `secret`.
pub fn terms(order: &StartMatch, secret: DrawSecret, salt: [u8; 32]) -> MatchTerms {
    let limits = &order.timeouts;
    MatchTerms {
        match_id: order.match_id.clone(),
        attempt: order.attempt,
        secret: order.draw_secret.unwrap_or(secret),
        seeded: order.draw_secret.is_some(),
        manager_nonce: order.manager_nonce.clone().unwrap_or_default(),
        games: NonZeroU32::new(order.games_per_match).unwrap_or(NonZeroU32::MIN),
        salt,
        tries: order.players.as_ref().map(|player| player.attempts.unwrap_or(limits.max_retries)),
        limits: AnswerLimits {
            to_join: span(limits.game_join_ack_timeout_sec),
            to_move: span(limits.move_timeout_sec),
            to_acknowledge: span(limits.game_over_timeout_sec),
        },
        base_delay: span(limits.base_delay_sec),
        backoff: limits.backoff_strategy,
        mode: match order.mode {
            MatchMode::Flowing => DriveMode::Flowing,
            MatchMode::Stepped => DriveMode::Stepped,
        },
    }
}

#[derive(Debug)]
pub struct MatchMessages<'a> {
    match_machine: &'a MatchMachine,
    order: &'a StartMatch,
    referee: &'a RefereeId,
    commitment: DrawCommitment,
    problems: Pair<Option<&'a Problem>>,
}

impl<'a> MatchMessages<'a> {
    /// The caller computes `commitment` once, because it is a hash.
    pub fn new(
        match_machine: &'a MatchMachine,
        order: &'a StartMatch,
        referee: &'a RefereeId,
        commitment: DrawCommitment,
    ) -> Self {
        Self { match_machine, order, referee, commitment, problems: Pair::default() }
    }

    /// Adds details about the last wrong answer of each side that the machine does not know.
    #[must_use]
    pub fn explained(self, problems: Pair<Option<&'a Problem>>) -> Self {
        Self { problems, ..self }
    }

    fn problem(&self, side: Side) -> Option<Problem> {
        let limits = self.match_machine.terms().limits;
        let limit = if self.match_machine.has_joined(side) { limits.to_move } else { limits.to_join };
        let declined =
            self.match_machine.ending().and_then(|ending| ending.faults[side]) == Some(ForfeitReason::Declined);
        if declined {
            return Some(Problem::Declined);
        }
        let told = self.problems[side].cloned();
        told.or_else(|| self.match_machine.last_error(side).map(|attempt_error| attempt_error.problem(limit)))
    }

    fn forfeit(&self, ending: &Ending, side: Side) -> Option<Problem> {
        if ending.outcome.forfeited(side) { self.problem(side) } else { None }
    }

    pub fn envelope(&self, side: Side, now: Timestamp) -> Envelope {
        Envelope {
            sender: Sender::referee(self.referee),
            timestamp: now,
            conversation_id: self.conversation(side),
            auth_token: self.order.players[side].referee_pass.clone().map(Into::into),
        }
    }

    /// The conversation with `side` in this match. It ends in 64 unpredictable bits, so a posted answer that echoes it comes from
    /// the player.
    pub fn conversation(&self, side: Side) -> ConversationId {
        let id = self.order.match_id.as_str();
        let player = self.order.players[side].player_id.as_str();
        let attempt = self.order.attempt;
        let sealed = seal(
            &self.match_machine.terms().salt,
            &[b"conversation", id.as_bytes(), &attempt.to_be_bytes(), player.as_bytes()],
        );
        let [a, b, c, d, e, f, g, h, ..] = sealed;
        let unguessable = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
        ConversationId::named(format_args!("conv-{}-{attempt:03}-{unguessable:016x}", id.to_ascii_lowercase()))
    }

    fn ids(&self) -> Pair<&str> {
        self.order.players.as_ref().map(|player| player.player_id.as_str())
    }

    pub fn invitation(&self, side: Side) -> GameInvitation {
        let players = &self.order.players;
        GameInvitation {
            league_id: self.order.league_id.clone(),
            round_id: self.order.round_id,
            match_id: self.order.match_id.clone(),
            player_id: Some(players[side].player_id.clone()),
            game_type: Some(self.order.game_type.clone()),
            role_in_match: Some(side),
            opponent_id: Some(players[side.other()].player_id.clone()),
            attempt: Some(self.order.attempt),
            draw_commitment: Some(self.commitment),
            games_per_match: self.games_per_match(),
        }
    }

    /// `None` for one game: messages of such a match are those of the course.
    fn games_per_match(&self) -> Option<u32> {
        Some(self.match_machine.terms().games.get()).filter(|games| *games > 1)
    }

    /// Empty in a match of one game.
    fn finished_games(&self, side: Side) -> Vec<FinishedGame> {
        if self.games_per_match().is_some() { self.match_machine.finished_games(side) } else { Vec::new() }
    }

    /// Even/Odd asks for a parity, every other game for a move.
    pub fn ask(&self, side: Side, now: Timestamp, limit: Duration) -> Call {
        let players = &self.order.players;
        let opponent_id = Some(players[side.other()].player_id.clone());
        let (league_id, round_id) = (self.order.league_id.clone(), self.order.round_id);
        let (match_id, player_id) = (self.order.match_id.clone(), Some(players[side].player_id.clone()));
        let (your_standings, deadline) = (players[side].standings, Some(now.after(limit)));
        let (attempt, game_number) = (Some(self.order.attempt), Some(self.match_machine.game().number()));
        let turn = Some(self.match_machine.turn(side));
        let (games_per_match, finished_games) = (self.games_per_match(), self.finished_games(side));
        if self.order.game_type == GameType::even_odd() {
            let context = ChoiceContext { opponent_id, round_id, your_standings };
            let game_type = Some(self.order.game_type.clone());
            return Call::ChooseParity(ChooseParityCall {
                league_id,
                round_id,
                match_id,
                player_id,
                game_type,
                context,
                deadline,
                attempt,
                game_number,
                turn,
                games_per_match,
                finished_games,
            });
        }
        let game = self.match_machine.game();
        let context = MoveContext {
            opponent_id,
            state: game.view(side),
            view: game.fields(side),
            your_standings,
            legal_moves: game.legal_moves(side),
            rules: SmolStr::new_static(game.about().rules),
        };
        let game_type = self.order.game_type.clone();
        Call::MakeMove(GameMoveCall {
            league_id,
            round_id,
            match_id,
            player_id,
            game_type,
            context,
            deadline,
            attempt,
            game_number,
            turn,
            games_per_match,
            finished_games,
        })
    }

    pub fn error(
        &self,
        side: Side,
        ask: AskKind,
        attempt_error: &AttemptError,
        tries: (u8, u8),
        next: Timestamp,
    ) -> GameError {
        let (made, allowed) = tries;
        let limits = self.match_machine.terms().limits;
        let generic = attempt_error.problem(match ask {
            AskKind::Join => limits.to_join,
            AskKind::Move => limits.to_move,
        });
        let code = code_of(attempt_error);
        let player = &self.order.players[side].player_id;
        let name = SmolStr::new_static(code.name());
        GameError {
            league_id: self.order.league_id.clone(),
            round_id: self.order.round_id,
            match_id: Some(self.order.match_id.clone()),
            player_id: Some(player.clone()),
            affected_player: Some(player.clone()),
            error_code: Some(SmolStr::new_static(code.as_str())),
            error_name: Some(name.clone()),
            error_description: Some(name),
            hint: Some(format_smolstr!("{}", self.problems[side].unwrap_or(&generic))),
            game_state: Some(SmolStr::new_static(self.match_machine.phase().as_str())),
            action_required: Some(SmolStr::new_static(match ask {
                AskKind::Join => "GAME_JOIN_ACK",
                AskKind::Move if self.order.game_type == GameType::even_odd() => "CHOOSE_PARITY_RESPONSE",
                AskKind::Move => "GAME_MOVE_RESPONSE",
            })),
            retryable: Some(code.retryable()),
            retry_count: Some(made),
            max_retries: Some(allowed),
            retry_info: Some(RetryInfo { retry_count: made, max_retries: allowed, next_retry_at: Some(next) }),
            consequence: Some(format_smolstr!("after {allowed} tries in all, a technical loss")),
        }
    }

    /// `None` before the end.
    pub fn over(&self, side: Side) -> Option<GameOver> {
        let ending = self.match_machine.ending()?;
        let (record, worth) = (self.record(ending), &self.order.scoring);
        Some(GameOver {
            league_id: self.order.league_id.clone(),
            round_id: self.order.round_id,
            match_id: self.order.match_id.clone(),
            player_id: Some(self.order.players[side].player_id.clone()),
            game_type: Some(self.order.game_type.clone()),
            result: Some(ending.outcome.own_result(side, worth.double_forfeit)),
            drawn_number: record.drawn,
            your_choice: ending.moves[side].clone(),
            opponent_choice: ending.moves[side.other()].clone(),
            points_earned: Some(ending.outcome.points(worth)[side]),
            draw: record.draw_proof(self.player_ids(), self.order.attempt),
            game_result: Some(self.result(ending)),
            hint: self.forfeit(ending, side).map(|problem| format_smolstr!("{problem}")),
            provisional: self.match_machine.is_provisional(),
            games_per_match: self.games_per_match(),
            finished_games: self.finished_games(side),
        })
    }

    /// `None` before the end.
    pub fn report(&self) -> Option<MatchResultReport> {
        let ending = self.match_machine.ending()?;
        let (record, players) = (self.record(ending), self.player_ids());
        let reason = SmolStr::new(self.match_machine.reason(self.ids()).unwrap_or_default());
        let mut result = record.reported(players, &self.order.scoring, Some(reason));
        result.details.draw = record.draw_proof(players, self.order.attempt);
        if self.games_per_match().is_some() {
            result.details.moves.clear();
            result.details.coded_moves = Some(CodedMoves::encode(record.played()));
        }
        Some(MatchResultReport {
            league_id: self.order.league_id.clone(),
            round_id: self.order.round_id,
            match_id: self.order.match_id.clone(),
            game_type: Some(self.order.game_type.clone()),
            attempt: Some(self.order.attempt),
            result,
            learned: ByPlayer::default(),
            account: Account {
                problems: ByPlayer(
                    Side::BOTH
                        .into_iter()
                        .filter_map(|side| Some((players[side].clone(), self.forfeit(ending, side)?)))
                        .collect(),
                ),
                ..Account::default()
            },
            signatures: self.signatures(),
            draw_commitments: Vec::new(),
        })
    }

    fn signatures(&self) -> ByPlayer<PlayerSignatures> {
        let players = self.player_ids();
        let signed = Side::BOTH.map(|side| (players[side].clone(), self.match_machine.signatures(side)));
        ByPlayer(signed.into_iter().filter(|(_, signed)| !signed.is_empty()).collect())
    }

    /// Contains no choice that is still secret.
    pub fn state(&self) -> MatchState {
        let players = self.player_ids();
        MatchState {
            match_id: self.order.match_id.clone(),
            attempt: self.order.attempt,
            game_type: self.order.game_type.clone(),
            state: SmolStr::new_static(self.match_machine.phase().as_str()),
            waiting_for: self.match_machine.awaited_step().map(|step| SmolStr::new_static(step.as_str())),
            player_a_id: players.a.clone(),
            player_b_id: players.b.clone(),
            joined: by_player(players, Pair::from_fn(|side| self.match_machine.has_joined(side))),
            chosen: by_player(players, Pair::from_fn(|side| self.match_machine.has_moved(side))),
            moves: self.public_moves(),
            open_calls: ByPlayer::default(),
            game_number: self.games_per_match().map(|_| self.match_machine.game().number()),
            game_score: self.games_per_match().map(|_| by_player(players, self.match_machine.game().score())),
            draw_commitment: Some(self.commitment),
            game_result: self.match_machine.ending().map(|ending| self.result(ending)),
        }
    }

    fn public_moves(&self) -> Vec<ReportedMove> {
        let players = self.player_ids();
        let moves = self.match_machine.public_moves().iter();
        moves.map(|(side, text)| reported_move(players[*side], text)).collect()
    }

    fn player_ids(&self) -> Pair<&PlayerId> {
        self.order.players.as_ref().map(|player| &player.player_id)
    }

    fn record(&self, ending: &Ending) -> MatchRecord {
        MatchRecord::of(self.match_machine, ending)
    }

    fn result(&self, ending: &Ending) -> GameResult {
        let reason = self.match_machine.reason(self.ids()).unwrap_or_default();
        self.record(ending).game_result(self.player_ids(), self.order.scoring.double_forfeit, reason)
    }
}

fn code_of(attempt_error: &AttemptError) -> ErrorCode {
    match attempt_error {
        AttemptError::TimedOut => ErrorCode::E001,
        AttemptError::Unreachable => ErrorCode::E009,
        AttemptError::Unreadable => ErrorCode::E002,
        AttemptError::Refused(refusal) => refusal.code(),
        AttemptError::Irregular(quirk) => quirk.code(),
        AttemptError::Illegal(_) => ErrorCode::E004,
    }
}
