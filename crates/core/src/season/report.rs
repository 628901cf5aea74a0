//! Counting results: each exactly once, and only from whoever holds the match.

use std::hash::{DefaultHasher, Hash, Hasher};

use league_protocol::error::{ErrorCode, Fault};
use league_protocol::id::{MatchId, PlayerId, RefereeId};
use league_protocol::message::game_over::{ByPlayer, ResultStatus};
use league_protocol::message::report::MatchResultReport;
use league_protocol::parity::Parity;
use league_protocol::side::{Pair, Side};
use league_protocol::table::Method;
use league_protocol::time::Timestamp;

use super::event::Fact;
use super::{Ruling, Season, Slot, happened};
use crate::record::{MatchRecord, Proof};
use crate::rules::outcome::Outcome;

const METHOD: Method = Method::ReportMatchResult;

/// What became of a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counted {
    /// Counted now.
    Now,
    /// Counted before: it is the same report again.
    Before,
}

impl Season {
    /// What a report says, in our terms.
    pub fn read_report(&self, report: &MatchResultReport) -> Result<MatchRecord, Fault> {
        if report.league_id.as_ref().is_some_and(|league| *league != self.config.league_id) {
            let message = format!("this is the league {}", self.config.league_id);
            return Err(Fault::new(ErrorCode::E008, METHOD, message).about("league_id"));
        }
        let players = self.contestants(&report.match_id).ok_or_else(|| unknown(&report.match_id))?;
        let ids = players.map(|player| &player.id);
        let (result, details) = (&report.result, &report.result.details);
        let side_of = |player: &PlayerId| Side::BOTH.into_iter().find(|side| ids[*side] == player);
        let stranger = |player: &PlayerId, field: &'static str| {
            let message = format!("{player} does not play in {} ({} against {})", report.match_id, ids.a, ids.b);
            Fault::new(ErrorCode::E003, METHOD, message).about(field)
        };
        let named = [
            ("result.score", players_in(&result.score)),
            ("result.details.choices", players_in(&details.choices)),
            ("result.details.technical_losses", details.technical_losses.iter().collect()),
            (
                "result.details.draw.nonces",
                details.draw.as_ref().map(|draw| players_in(&draw.nonces)).unwrap_or_default(),
            ),
            ("result.winner", result.winner.iter().collect()),
        ];
        for (field, players) in named {
            if let Some(player) = players.into_iter().find(|player| side_of(player).is_none()) {
                return Err(stranger(player, field));
            }
        }
        let winner = result.winner.as_ref().and_then(side_of);
        let forfeits = ids.map(|id| details.technical_losses.contains(id));
        let outcome = outcome_of(winner, forfeits, details.status)
            .ok_or_else(|| contradiction("winner, status and technical_losses contradict each other", "result"))?;
        let score = ids.map(|id| result.score.get(id));
        if let (Some(a), Some(b)) = (score.a, score.b)
            && !may_score(outcome, Pair::new(*a, *b))
        {
            return Err(contradiction("winner and score contradict each other", "result.score"));
        }
        if let (Some(number), Some(parity)) = (details.drawn_number, details.number_parity)
            && Parity::of(number) != parity
        {
            let message = "drawn_number and number_parity contradict each other";
            return Err(contradiction(message, "result.details.number_parity"));
        }
        let proof = details.draw.as_ref().map(|draw| Proof {
            commitment: draw.commitment,
            secret: draw.secret,
            nonces: ids.map(|id| draw.nonces.get(id).cloned().unwrap_or_default()),
            seal: draw.seal,
            seeded: draw.seeded,
        });
        Ok(MatchRecord {
            outcome,
            moves: ids.map(|id| details.choices.get(id).cloned().flatten()),
            drawn: details.drawn_number,
            proof,
        })
    }

    /// Counts the result of a match that `referee` holds on this attempt. A referee of other make does not know of attempts;
    /// what it reports is the current one.
    pub fn report(
        &self,
        referee: &RefereeId,
        match_id: &MatchId,
        attempt: Option<u32>,
        record: MatchRecord,
        now: Timestamp,
    ) -> Result<Ruling<Counted>, Fault> {
        let place = self
            .referee_index
            .get(referee)
            .ok_or_else(|| Fault::new(ErrorCode::E013, METHOD, format!("{referee} is not registered as a referee")))?;
        let current = match self.slot(match_id) {
            Some(Slot::Held { attempt, referee }) if referee == place => *attempt,
            Some(Slot::Done { referee, fingerprint, .. }) if referee == place => {
                return if *fingerprint == fingerprint_of(&record) {
                    Ok(Ruling { events: Vec::new(), reply: Counted::Before })
                } else {
                    let message = format!("another result of {match_id} has been counted; it stands");
                    Err(Fault::new(ErrorCode::E010, METHOD, message).numbered(5003))
                };
            }
            Some(Slot::Held { .. } | Slot::Awarded { .. } | Slot::Done { .. } | Slot::Waiting { .. }) => {
                let message = format!("{match_id} is not in the hands of {referee}");
                return Err(Fault::new(ErrorCode::E007, METHOD, message).about("match_id"));
            }
            None => return Err(unknown(match_id)),
        };
        if attempt.is_some_and(|attempt| attempt != current) {
            let message = format!("attempt {current} at {match_id} is the current one");
            return Err(Fault::new(ErrorCode::E007, METHOD, message).about("attempt"));
        }
        record
            .check(&self.config.game_type, match_id, current)
            .map_err(|bad| Fault::new(ErrorCode::E003, METHOD, bad.to_string()).about("result.details"))?;
        let fact = Fact::MatchReported { match_id: match_id.clone(), attempt: current, record };
        let mut events = vec![happened(now, fact)];
        events.extend(self.endings(1, now));
        Ok(Ruling { events, reply: Counted::Now })
    }
}

/// The outcome that a winner, the technical losses and a status describe; none when they contradict each other.
///
/// The list says who forfeited, so it is believed also beside a status that does not mention it; only without a list does
/// the status TECHNICAL_LOSS tell of a forfeit.
fn outcome_of(winner: Option<Side>, forfeits: Pair<bool>, status: Option<ResultStatus>) -> Option<Outcome> {
    let technical = status == Some(ResultStatus::TechnicalLoss);
    let outcome = match (winner, forfeits.a, forfeits.b) {
        (None, true, true) => Outcome::DoubleForfeit,
        (None, false, false) if technical => Outcome::DoubleForfeit,
        (None, false, false) => Outcome::Draw,
        (Some(Side::B), true, false) => Outcome::Forfeit(Side::A),
        (Some(Side::A), false, true) => Outcome::Forfeit(Side::B),
        (Some(side), false, false) if technical => Outcome::Forfeit(side.other()),
        (Some(side), false, false) => Outcome::Win(side),
        (Some(_), true, _) | (Some(_), _, true) | (None, true, false) | (None, false, true) => return None,
    };
    let agrees = match status {
        Some(ResultStatus::Win) => winner.is_some(),
        Some(ResultStatus::Draw) => winner.is_none(),
        Some(ResultStatus::TechnicalLoss) | None => true,
    };
    agrees.then_some(outcome)
}

/// Whether a referee may have given these points for `outcome`. How many points there are is the league's to say; who has
/// more of them is not. A winner left out beside 3 : 0 must not pass for a draw.
fn may_score(outcome: Outcome, score: Pair<u32>) -> bool {
    match outcome.winner() {
        Some(side) => score[side] >= score[side.other()],
        None => score.a == score.b,
    }
}

fn players_in<T>(entries: &ByPlayer<T>) -> Vec<&PlayerId> {
    entries.0.iter().map(|(player, _)| player).collect()
}

fn contradiction(message: &str, field: &str) -> Fault {
    Fault::new(ErrorCode::E003, METHOD, message).about(field)
}

fn unknown(match_id: &MatchId) -> Fault {
    let message = format!("there is no match {match_id} in the rounds that have begun");
    Fault::new(ErrorCode::E007, METHOD, message).about("match_id")
}

/// Equal for equal results. Within one process only: it is computed again at every replay.
pub(super) fn fingerprint_of(record: &MatchRecord) -> u64 {
    let mut hasher = DefaultHasher::new();
    record.hash(&mut hasher);
    hasher.finish()
}
