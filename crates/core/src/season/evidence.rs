//! What keeps a referee from lying: assigned commitments, signatures, deposited moves and the testimonies of players.
//!
//! A report that contradicts the evidence does not count. The operator gets an alert with the name of the referee, and the
//! referee does not get the match again while another one exists. The match is played again if no player has seen a move of its
//! opponent; otherwise it waits for the operator's decision.

mod made_signatures;

use league_protocol::draw::{DrawCommitment, DrawNonce};
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{PlayerId, RefereeId};
use league_protocol::message::evidence::{DisputeReason, MatchTestimony};
use league_protocol::message::report::{Account, MatchResultReport, PlayerSignatures};
use league_protocol::side::{Pair, Side};
use league_protocol::signature::{MoveTurn, SignedJoin, SignedMove, ViewDigest};
use league_protocol::table::Method;
use league_protocol::time::Timestamp;
use league_protocol::token::TokenDigest;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use made_signatures::MadeSignatures;

use super::agent::{RegisteredPlayer, RegisteredReferee};
use super::dispute::raised;
use super::event::Fact;
use super::report::ReportOutcome;
use super::{CommandOutcome, MatchSlot, Season, happened};
use crate::record::MatchRecord;
use crate::rules::game::{Game, GameStage};
use crate::rules::outcome::Outcome;
use crate::rules::series::Series;

/// The chance of one attempt, fixed before the referee starts it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AssignedDraw {
    pub commitment: DrawCommitment,
    /// Enters the draw for each player that sends no nonce. `None` if both players sign.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manager_nonce: Option<DrawNonce>,
    /// Whether the secret comes from the league's seed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub seeded: bool,
}

/// What a referee reported and players contradict. It counts if the operator rejects the alert.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ContestedReport {
    pub record: MatchRecord,
    #[serde(default, skip_serializing_if = "Account::is_empty")]
    pub account: Account,
}

/// Why an attempt ended without a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReturnCause {
    #[default]
    Refused,
    /// The referee accepted the match and did not call the players.
    Stalled,
    Overdue,
    Vanished,
    Contested,
    /// A player posts its answers, which cannot reach a referee that pulls.
    Unreachable,
}

impl ReturnCause {
    pub(super) fn is_refused(&self) -> bool {
        *self == Self::Refused
    }

    pub fn words(self) -> &'static str {
        match self {
            Self::Refused => "the referee does not take the match",
            Self::Stalled => "the referee does not call the players",
            Self::Overdue => "the referee takes too long",
            Self::Vanished => "the referee left after a player had moved",
            Self::Contested => "the report contradicts the players",
            Self::Unreachable => "a player posts its answers, which cannot reach the referee",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AlertKind {
    NotCalled,
    AnswerDeposited,
    AnswerDenied,
    BadSignature,
    ForgedDraw,
    Vanished,
    OtherCommitment,
    BrokenDraw,
    OtherMove,
}

impl AlertKind {
    pub fn concerns_a_player(self) -> bool {
        !matches!(self, Self::ForgedDraw | Self::Vanished)
    }

    /// The words follow the name of the player, if the alert concerns one.
    pub fn words(self) -> &'static str {
        match self {
            Self::NotCalled => "was not called, and the referee charges it with silence",
            Self::AnswerDeposited => "had deposited the move that the referee says is missing",
            Self::AnswerDenied => "says that it made the move that the referee says is missing",
            Self::BadSignature => "did not sign what the referee reports",
            Self::ForgedDraw => "the reported number does not follow from the assigned commitment",
            Self::Vanished => "the referee left without a report after a player had moved",
            Self::OtherCommitment => DisputeReason::OtherCommitment.words(),
            Self::BrokenDraw => DisputeReason::BrokenDraw.words(),
            Self::OtherMove => DisputeReason::OtherMove.words(),
        }
    }
}

impl From<DisputeReason> for AlertKind {
    fn from(reason: DisputeReason) -> Self {
        match reason {
            DisputeReason::OtherCommitment => Self::OtherCommitment,
            DisputeReason::BrokenDraw => Self::BrokenDraw,
            DisputeReason::OtherMove => Self::OtherMove,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Alert {
    pub attempt: u32,
    pub referee: RefereeId,
    pub player: Option<PlayerId>,
    pub kind: AlertKind,
}

/// What the league knows about the attempts at one match besides its slot.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct MatchEvidence {
    /// Referees that do not get the match again; indices in the list of referees.
    pub(super) barred: Vec<u32>,
    /// Attempts whose report did not count.
    pub(super) contested: u32,
    pub(super) deposits: Vec<DepositedMove>,
    /// Alerts that the operator has not decided about.
    pub(super) alerts: Vec<Alert>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct DepositedMove {
    pub(super) player: PlayerId,
    pub(super) attempt: u32,
    pub(super) game: u32,
    pub(super) turn: u32,
    pub(super) view: ViewDigest,
    pub(super) played: SmolStr,
}

/// The answers of the players that the manager asked about an attempt; `None` for a player that did not answer.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Testimonies(pub Vec<(PlayerId, Option<MatchTestimony>)>);

impl Testimonies {
    fn of(&self, player: &PlayerId) -> Option<Option<MatchTestimony>> {
        self.0.iter().find(|(id, _)| id == player).map(|(_, said)| *said)
    }

    pub fn given(&self) -> impl Iterator<Item = &MatchTestimony> {
        self.0.iter().filter_map(|(_, said)| said.as_ref())
    }
}

/// After this many contested reports of one match the operator decides.
const MAX_CONTESTED: u32 = 3;

impl Season {
    /// The attempt, and the players that the manager must ask before it can judge the report: those that sign and are charged with
    /// silence.
    pub fn players_to_ask(&self, referee: &RefereeId, report: &MatchResultReport) -> (u32, Vec<PlayerId>) {
        let Ok(record) = self.read_report(report) else { return (0, Vec::new()) };
        let Some(case) = Case::of(self, referee, report, &record) else { return (0, Vec::new()) };
        let charged = Side::BOTH.into_iter().filter(|side| case.charge(*side) == Charge::Unproved);
        (case.attempt, charged.map(|side| case.players[side].id.clone()).collect())
    }

    /// Counts the report like [`Season::report`], unless it contradicts the evidence. `testimonies` has the answers of
    /// [`Season::players_to_ask`].
    pub fn judge_report(
        &self,
        referee: &RefereeId,
        report: &MatchResultReport,
        record: &MatchRecord,
        testimonies: &Testimonies,
        now: Timestamp,
    ) -> Result<CommandOutcome<ReportOutcome>, RequestError> {
        let mut counted = self.report(referee, &report.match_id, report.attempt, record.clone(), now)?;
        if counted.reply != ReportOutcome::Now {
            return Ok(counted);
        }
        if let Some(case) = Case::of(self, referee, report, record)
            && let Some((player, kind)) = case.objection(testimonies)?
        {
            let is_revealed = case.is_revealed(kind, testimonies);
            return Ok(self.contest(&case, (player, kind), is_revealed, now));
        }
        for event in &mut counted.events {
            if let Fact::MatchReported { commitments, .. } = &mut event.fact {
                commitments.clone_from(&report.draw_commitments);
            }
        }
        Ok(counted)
    }

    fn contest(
        &self,
        case: &Case<'_>,
        (player, kind): (Option<PlayerId>, AlertKind),
        is_revealed: bool,
        now: Timestamp,
    ) -> CommandOutcome<ReportOutcome> {
        let (match_id, attempt) = (case.report.match_id.clone(), case.attempt);
        let alert = Alert { attempt, referee: case.referee.id.clone(), player, kind };
        // A match that waits already goes on waiting. A repeated lie about it does not fill the log.
        if !matches!(self.slot(&match_id), Some(MatchSlot::Held { .. })) {
            let events =
                if self.is_known(&match_id, &alert) { Vec::new() } else { vec![raised(&match_id, alert, now)] };
            return CommandOutcome { events, reply: ReportOutcome::Contested(kind) };
        }
        let mut events = vec![raised(&match_id, alert, now)];
        let contested = self.evidence.get(&match_id).map_or(0, |known| known.contested);
        let next = if is_revealed || contested + 1 >= MAX_CONTESTED {
            let mut account = self.account(case.report, attempt, case.record);
            // A referee sends the transcript after its report has counted.
            account.transcript_sha256 = account.transcript_sha256.filter(|_| account.in_your_home);
            let report = ContestedReport { record: case.record.clone(), account };
            Fact::MatchSuspended { match_id, attempt, report: Some(Box::new(report)) }
        } else {
            Fact::MatchReturned { match_id, attempt, cause: ReturnCause::Contested }
        };
        events.push(happened(now, next));
        CommandOutcome { events, reply: ReportOutcome::Contested(kind) }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Charge {
    None,
    /// The player signed an illegal move.
    Proved,
    /// The player deposited the move that the referee says is missing.
    Refuted,
    Unproved,
}

/// A report of a match that its referee holds.
struct Case<'a> {
    season: &'a Season,
    referee: &'a RegisteredReferee,
    report: &'a MatchResultReport,
    record: &'a MatchRecord,
    attempt: u32,
    draw: Option<&'a AssignedDraw>,
    players: Pair<&'a RegisteredPlayer>,
}

impl<'a> Case<'a> {
    /// `None` if the referee does not hold the match, or is one that cannot pass signatures on.
    fn of(
        season: &'a Season,
        referee: &RefereeId,
        report: &'a MatchResultReport,
        record: &'a MatchRecord,
    ) -> Option<Self> {
        let place = season.referee_index.get(referee)?;
        let (attempt, holder, draw) = season.slot(&report.match_id)?.reportable()?;
        let referee = season.referees.get(*place as usize).filter(|_| holder == *place)?;
        let players = season.contestants(&report.match_id)?;
        referee.profile.shows_passes.then_some(Self { season, referee, report, record, attempt, draw, players })
    }

    /// The player, if one is concerned, and how the report contradicts the evidence. An error if a player must be asked first.
    fn objection(&self, testimonies: &Testimonies) -> Result<Option<(Option<PlayerId>, AlertKind)>, RequestError> {
        let signing = || Side::BOTH.into_iter().filter(|side| self.players[*side].profile.signs_moves);
        if let Some(side) = signing().find(|side| !self.joined(*side)) {
            return Ok(Some((Some(self.players[side].id.clone()), AlertKind::BadSignature)));
        }
        if !self.draws_as_assigned() {
            return Ok(Some((None, AlertKind::ForgedDraw)));
        }
        for side in signing() {
            let player = self.players[side];
            let because = |kind| Ok(Some((Some(player.id.clone()), kind)));
            if !self.replay(side).is_some_and(|(game, _)| self.follows_from(&game)) {
                return because(AlertKind::BadSignature);
            }
            match self.charge(side) {
                Charge::None | Charge::Proved => {}
                Charge::Refuted => return because(AlertKind::AnswerDeposited),
                Charge::Unproved => {
                    let said = testimonies.of(&player.id).ok_or_else(|| {
                        let message = format!("{} has not been asked yet; report again", player.id);
                        RequestError::new(ErrorCode::E015, Method::ReportMatchResult, message)
                    })?;
                    // A player that does not answer the manager either was silent.
                    if let Some(kind) = said.and_then(|said| self.contradiction(side, &said)) {
                        return because(kind);
                    }
                }
            }
        }
        Ok(None)
    }

    /// Whether the number was drawn, or a player may have seen a move of its opponent. The referee may have left the moves out of its
    /// report.
    fn is_revealed(&self, kind: AlertKind, testimonies: &Testimonies) -> bool {
        let has_turns = self.season.config.match_about().is_some_and(|about| about.max_turns > 1);
        // These say that the player was not asked for a move.
        let is_unasked = matches!(kind, AlertKind::NotCalled | AlertKind::OtherCommitment);
        let is_seen = testimonies.given().any(|said| said.revealed);
        self.record.drawn.is_some() || !self.record.course.is_empty() || is_seen || (has_turns && !is_unasked)
    }

    /// How the testimony of a player contradicts the charge that a move of this player is missing.
    fn contradiction(&self, side: Side, said: &MatchTestimony) -> Option<AlertKind> {
        let was_asked = said.asked.is_none_or(|asked| asked > self.moves(side));
        // A player that is shown another commitment, or none, does not join.
        let saw_other = self.draw.is_some_and(|draw| match said.draw_commitment {
            Some(shown) => shown != draw.commitment,
            None => !said.joined && said.asked == Some(0),
        });
        match () {
            // A player that was started again during the attempt does not remember it.
            () if !said.called && !self.players[side].former_keys.is_empty() => None,
            () if !said.called => Some(AlertKind::NotCalled),
            () if said.moves > self.moves(side) => Some(AlertKind::AnswerDenied),
            () if saw_other => Some(AlertKind::OtherCommitment),
            () if said.joined && !was_asked => Some(AlertKind::NotCalled),
            () => None,
        }
    }

    /// Whether the moves and the number decide the reported result. A technical loss is judged by its charge.
    fn follows_from(&self, game: &Series) -> bool {
        match (self.record.outcome, game.stage()) {
            (Outcome::Forfeit(_) | Outcome::DoubleForfeit, _) => true,
            (outcome, GameStage::Over(verdict)) => Outcome::from(verdict) == outcome,
            (Outcome::Win(_) | Outcome::Draw, GameStage::Moves(_) | GameStage::Draw | GameStage::Chance(_)) => false,
        }
    }

    /// Whether the number follows from the commitment and the nonces of this attempt.
    fn draws_as_assigned(&self) -> bool {
        let Some(draw) = self.draw else { return true };
        let Some(proof) = &self.record.proof else { return self.record.drawn.is_none() };
        let stands_in = |side| draw.manager_nonce.is_none() || !proof.nonces[side].as_bytes().is_empty();
        proof.commitment == draw.commitment
            && proof.seeded == draw.seeded
            && Side::BOTH.into_iter().all(|side| stands_in(side) && self.drew_own_nonce(side, &proof.nonces[side]))
    }

    /// Whether the nonce is the one that the player signed, or stands in for a missing one.
    fn drew_own_nonce(&self, side: Side, nonce: &DrawNonce) -> bool {
        let signed = self.signatures(side).and_then(|signed| signed.draw_nonce.as_ref());
        match (self.players[side].profile.signs_moves, signed.filter(|nonce| !nonce.as_bytes().is_empty())) {
            (true, Some(signed)) => signed == nonce,
            (true, None) => match self.draw.and_then(|draw| draw.manager_nonce.as_ref()) {
                Some(own) => own == nonce,
                None => nonce.as_bytes().is_empty(),
            },
            (false, _) => true,
        }
    }

    fn charge(&self, side: Side) -> Charge {
        let player = self.players[side];
        if !self.record.outcome.forfeited(side) || !player.profile.signs_moves {
            return Charge::None;
        }
        let Some((game, turn)) = self.replay(side) else { return Charge::Unproved };
        let view = game.view(side);
        let deposits = self.season.evidence.get(&self.report.match_id).map_or(&[][..], |known| &known.deposits);
        let is_this = |deposit: &DepositedMove| {
            let is_own = deposit.player == player.id && deposit.attempt == self.attempt;
            is_own
                && (deposit.game, deposit.turn) == (turn.game, turn.turn)
                && deposit.view == ViewDigest::of(&view)
                && game.check(side, &deposit.played).is_ok()
        };
        let illegal = self.signatures(side).and_then(|signed| signed.illegal_move.as_ref());
        let is_illegal = illegal.is_some_and(|illegal| {
            let made = self.signed_move(turn, &view, &illegal.played);
            let signed = keys(player).any(|key| made.sign(key) == illegal.signature);
            signed && game.check(side, &illegal.played).is_err()
        });
        match (is_illegal, deposits.iter().any(is_this)) {
            (true, _) => Charge::Proved,
            (false, true) => Charge::Refuted,
            (false, false) => Charge::Unproved,
        }
    }

    /// Whether the player signed its join, where the report needs one.
    fn joined(&self, side: Side) -> bool {
        let (player, signed) = (self.players[side], self.signatures(side));
        let is_needed = !self.record.outcome.forfeited(side) || self.moves(side) > 0;
        let (Some(draw), true) = (self.draw, is_needed) else { return true };
        let nonce = signed.and_then(|signed| signed.draw_nonce.clone()).unwrap_or_default();
        let join = SignedJoin {
            league: &self.season.config.league_id,
            match_id: &self.report.match_id,
            attempt: self.attempt,
            referee: &self.referee.id,
            commitment: Some(draw.commitment),
            nonce: &nonce,
        };
        let shown = signed.and_then(|signed| signed.join);
        shown.is_some_and(|shown| keys(player).any(|key| join.sign(key) == shown))
    }

    /// The game after all moves, and the next turn of `side`; `None` if `side` did not sign one of its moves.
    fn replay(&self, side: Side) -> Option<(Series, MoveTurn)> {
        let (player, signed) = (self.players[side], self.signatures(side));
        let mut due = MoveTurn { attempt: self.attempt, game: 1, turn: 1 };
        let mut made = MadeSignatures::new(player, self.record.games);
        let attempt = (&self.report.match_id, self.attempt);
        let game = self.record.replay(&self.season.config.game_type, attempt, |game, mover, played| {
            if mover == side {
                due = turn_in(game, due);
                made.add(&self.signed_move(due, &game.view(side), played), signed);
                due.turn += 1;
            }
        });
        let game = game.ok().filter(|_| made.are_shown(signed))?;
        let due = turn_in(&game, due);
        Some((game, due))
    }

    fn signed_move<'b>(&'b self, turn: MoveTurn, view: &str, played: &'b str) -> SignedMove<'b> {
        SignedMove {
            league: &self.season.config.league_id,
            match_id: &self.report.match_id,
            turn,
            view: ViewDigest::of(view),
            played,
        }
    }

    fn moves(&self, side: Side) -> u32 {
        self.record.played().filter(|(mover, _)| *mover == side).fold(0, |count, _| count + 1)
    }

    fn signatures(&self, side: Side) -> Option<&PlayerSignatures> {
        self.report.signatures.get(&self.players[side].id)
    }
}

/// Turns are counted in each game anew.
fn turn_in(game: &Series, due: MoveTurn) -> MoveTurn {
    if game.number() == due.game { due } else { MoveTurn { game: game.number(), turn: 1, ..due } }
}

/// The key of the player, then those that it replaced during this attempt.
pub(super) fn keys(player: &RegisteredPlayer) -> impl Iterator<Item = &TokenDigest> {
    std::iter::once(&player.grant.digest).chain(&player.former_keys)
}
