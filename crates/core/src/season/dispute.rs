//! Deposits and disputes of players, attempts that end without a report, and the operator's decisions about them.

use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{MatchId, PlayerId, RefereeId};
use league_protocol::message::evidence::{MatchDispute, MoveDeposit};
use league_protocol::message::operate::DisputeDecision;
use league_protocol::signature::{MoveTurn, SignedMove, ViewDigest};
use league_protocol::table::Method;
use league_protocol::time::Timestamp;

use super::agent::RegisteredReferee;
use super::assignment::Assignment;
use super::event::{Event, Fact};
use super::evidence::{Alert, AlertKind, ContestedReport, DepositedMove, ReturnCause, Testimonies, keys};
use super::flow::LeaguePhase;
use super::{CommandOutcome, MatchSlot, Season, happened};
use crate::rules::registry::new_game;

impl Season {
    /// Takes a signed move of the attempt that is being played. A repeated deposit changes nothing.
    pub fn deposit(
        &self,
        player: &PlayerId,
        deposit: &MoveDeposit,
        now: Timestamp,
    ) -> Result<CommandOutcome<()>, RequestError> {
        const METHOD: Method = Method::DepositMove;
        let refused = |message: String| RequestError::new(ErrorCode::E010, METHOD, message).about("match_id");
        let MoveDeposit { match_id, attempt, turn, .. } = deposit;
        let own = self
            .contestants(match_id)
            .and_then(|players| [players.a, players.b].into_iter().find(|contestant| contestant.id == *player));
        let own = own.ok_or_else(|| refused(format!("{player} does not play in {match_id}")))?;
        if !matches!(self.slot(match_id), Some(MatchSlot::Held { attempt: current, .. }) if current == attempt) {
            return Err(refused(format!(
                "attempt {attempt} at {match_id} is not being played; deposit nothing for it"
            )));
        }
        let longest = new_game(&self.config.game_type).map_or(1, |game| game.about().max_turns);
        let games = self.config.games_per_match.get();
        if !(1..=games).contains(&deposit.game_number) || !(1..=longest).contains(turn) {
            let message = format!("game_number {} and turn {turn} do not exist in {match_id}", deposit.game_number);
            return Err(RequestError::new(ErrorCode::E002, METHOD, message).about("turn"));
        }
        let signed = SignedMove {
            league: &self.config.league_id,
            match_id,
            turn: MoveTurn { attempt: *attempt, game: deposit.game_number, turn: *turn },
            view: ViewDigest(deposit.view_sha256.0),
            played: &deposit.played,
        };
        if !keys(own).any(|key| signed.sign(key) == deposit.signature) {
            let message = "the signature does not belong to this move; send the one that the referee got";
            return Err(RequestError::new(ErrorCode::E002, METHOD, message).about("signature"));
        }
        let known = self.evidence.get(match_id).map_or(&[][..], |known| &known.deposits);
        let same = |known: &&DepositedMove| {
            let place = (known.attempt, known.game, known.turn);
            known.player == *player && place == (*attempt, deposit.game_number, *turn)
        };
        let events = match known.iter().find(same) {
            Some(first) if first.played == deposit.played => Vec::new(),
            Some(_) => {
                return Err(refused(format!("another move was deposited for turn {turn}; the first one counts")));
            }
            None => vec![happened(
                now,
                Fact::MoveDeposited {
                    match_id: match_id.clone(),
                    attempt: *attempt,
                    player: player.clone(),
                    game_number: deposit.game_number,
                    turn: *turn,
                    view: deposit.view_sha256,
                    played: deposit.played.clone(),
                },
            )],
        };
        Ok(CommandOutcome { events, reply: () })
    }

    /// Alerts the operator. The player's word changes no result.
    pub fn dispute(
        &self,
        player: &PlayerId,
        dispute: &MatchDispute,
        now: Timestamp,
    ) -> Result<CommandOutcome<()>, RequestError> {
        const METHOD: Method = Method::DisputeMatch;
        let MatchDispute { match_id, attempt, reason, .. } = dispute;
        let refused = |message: String| RequestError::new(ErrorCode::E007, METHOD, message).about("match_id");
        let plays = self.contestants(match_id).is_some_and(|of| of.a.id == *player || of.b.id == *player);
        let place = match self.slot(match_id) {
            Some(
                MatchSlot::Held { attempt: current, referee, .. }
                | MatchSlot::Suspended { attempt: current, referee, .. },
            ) if current == attempt => Some(*referee),
            Some(MatchSlot::Done { referee, .. }) => Some(*referee),
            Some(
                MatchSlot::Held { .. }
                | MatchSlot::Suspended { .. }
                | MatchSlot::Waiting { .. }
                | MatchSlot::Awarded { .. },
            )
            | None => None,
        };
        let referee = place.and_then(|place| self.referees.get(place as usize)).filter(|_| plays);
        let referee = referee.ok_or_else(|| {
            refused(format!("no referee holds attempt {attempt} at {match_id} with {player}; dispute your own matches"))
        })?;
        let alert = Alert {
            attempt: *attempt,
            referee: referee.id.clone(),
            player: Some(player.clone()),
            kind: AlertKind::from(*reason),
        };
        let events = if self.is_known(match_id, &alert) { Vec::new() } else { vec![raised(match_id, alert, now)] };
        Ok(CommandOutcome { events, reply: () })
    }

    /// One alert of a kind for each player and match, so that no agent can fill the log.
    pub(super) fn is_known(&self, match_id: &MatchId, alert: &Alert) -> bool {
        let same = |known: &Alert| (&known.player, known.kind) == (&alert.player, alert.kind);
        self.evidence.get(match_id).is_some_and(|known| known.alerts.iter().any(same))
    }

    /// Takes the attempt from a referee that does not report it. `testimonies` says what the players saw of it. Without a `cause`,
    /// an attempt in which no player has moved stays with the referee: the caller releases it.
    ///
    /// A referee that leaves without a report after a player has moved may do so because it did not like the result. A player that posts
    /// its answers is found out when its opponent may have moved; no player saw that move yet.
    pub fn interrupt(
        &self,
        assignment: &Assignment,
        cause: Option<ReturnCause>,
        testimonies: &Testimonies,
        now: Timestamp,
    ) -> Result<CommandOutcome<()>, RequestError> {
        if !self.holds(assignment) {
            return Ok(CommandOutcome { events: Vec::new(), reply: () });
        }
        let Assignment { match_id, attempt, referee } = assignment.clone();
        let (mut moved, mut revealed) = (false, false);
        for said in testimonies.given() {
            moved |= said.moves > 0 || said.revealed;
            revealed |= said.revealed;
        }
        if !moved || (cause == Some(ReturnCause::Unreachable) && !revealed) {
            let returned = cause.map(|cause| happened(now, Fact::MatchReturned { match_id, attempt, cause }));
            return Ok(CommandOutcome { events: returned.into_iter().collect(), reply: () });
        }
        let alert = Alert { attempt, referee, player: None, kind: AlertKind::Vanished };
        let mut events = vec![raised(&match_id, alert, now)];
        let next = if revealed {
            Fact::MatchSuspended { match_id, attempt, report: None }
        } else {
            Fact::MatchReturned { match_id, attempt, cause: ReturnCause::Vanished }
        };
        events.push(happened(now, next));
        Ok(CommandOutcome { events, reply: () })
    }

    /// The operator decides about all open alerts of a match.
    pub fn resolve(
        &self,
        match_id: &MatchId,
        decision: DisputeDecision,
        now: Timestamp,
    ) -> Result<CommandOutcome<()>, RequestError> {
        const METHOD: Method = Method::ResolveDispute;
        let has_alerts = self.evidence.get(match_id).is_some_and(|known| !known.alerts.is_empty());
        if !has_alerts {
            let message = format!("{match_id} has no open alert; `league alerts` lists the matches that have one");
            return Err(RequestError::new(ErrorCode::E007, METHOD, message).about("match_id"));
        }
        let resolved = Fact::DisputeResolved { match_id: match_id.clone(), decision };
        let mut events = vec![happened(now, resolved)];
        if let (Some(MatchSlot::Suspended { attempt, report: Some(report), .. }), DisputeDecision::Reject) =
            (self.slot(match_id), decision)
        {
            let (match_id, attempt) = (match_id.clone(), *attempt);
            let ContestedReport { record, account } = ContestedReport::clone(report);
            let explained = Fact::explained(match_id.clone(), attempt, account).map(|fact| happened(now, fact));
            events.extend(explained);
            events.push(happened(now, Fact::MatchReported { match_id, attempt, record, commitments: Vec::new() }));
            events.extend(self.endings(1, now));
        }
        Ok(CommandOutcome { events, reply: () })
    }

    /// The referees that this decision would suspend.
    pub fn suspended_by_upholding(&self, match_id: &MatchId) -> Vec<RefereeId> {
        let alerts = self.evidence.get(match_id).map_or(&[][..], |known| &known.alerts);
        let is_last = |referee: &RegisteredReferee| referee.faults + 1 == RegisteredReferee::MAX_FAULTS;
        let named = self.referees.iter().filter(|referee| is_last(referee));
        named.map(|referee| referee.id.clone()).filter(|id| alerts.iter().any(|alert| alert.referee == *id)).collect()
    }

    /// The referee of a match that waits for the operator.
    pub fn suspended_referee(&self, match_id: &MatchId) -> Option<&RefereeId> {
        let Some(MatchSlot::Suspended { referee, .. }) = self.slot(match_id) else { return None };
        self.referees.get(*referee as usize).map(|referee| &referee.id)
    }

    /// Other referees play its open matches.
    pub fn withdraw_referee(&self, id: &RefereeId, now: Timestamp) -> Result<CommandOutcome<()>, RequestError> {
        const METHOD: Method = Method::WithdrawReferee;
        if self.phase == LeaguePhase::LeagueCompleted {
            return Err(self.untimely("the league is over; no referee needs to be withdrawn", METHOD));
        }
        let referee = self.referee(id).ok_or_else(|| {
            let message = format!("{id} is not registered in this league; name a registered referee");
            RequestError::new(ErrorCode::E013, METHOD, message).about("referee_id")
        })?;
        let withdrawn = happened(now, Fact::RefereeWithdrawn { referee: id.clone() });
        let events = if referee.withdrawn { Vec::new() } else { vec![withdrawn] };
        Ok(CommandOutcome { events, reply: () })
    }

    /// Open alerts by match, and whether the match waits for the decision.
    pub fn alerts(&self) -> impl Iterator<Item = (&MatchId, &Alert, bool)> {
        self.evidence.iter().flat_map(|(match_id, known)| {
            let waits = matches!(self.slot(match_id), Some(MatchSlot::Suspended { .. }));
            known.alerts.iter().map(move |alert| (match_id, alert, waits))
        })
    }
}

pub(super) fn raised(match_id: &MatchId, alert: Alert, now: Timestamp) -> Event {
    let Alert { attempt, referee, player, kind } = alert;
    happened(now, Fact::AlertRaised { match_id: match_id.clone(), attempt, referee, player, kind })
}
