//! Results count exactly once, and only from the referee that holds the match.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZeroU32;

use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{MatchId, PlayerId, RefereeId};
use league_protocol::message::game_over::{ByPlayer, ResultStatus};
use league_protocol::message::report::{Account, MatchResultReport};
use league_protocol::message::start_match::MatchPoints;
use league_protocol::message::transcript::TranscriptDigest;
use league_protocol::parity::Parity;
use league_protocol::quirk::Quirk;
use league_protocol::side::{Pair, Side};
use league_protocol::table::Method;
use league_protocol::time::Timestamp;
use smol_str::SmolStr;

use super::event::Fact;
use super::evidence::AlertKind;
use super::{CommandOutcome, MatchSlot, Season, happened};
use crate::record::{MatchRecord, RevealedDraw};
use crate::rules::outcome::Outcome;

const METHOD: Method = Method::ReportMatchResult;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReportOutcome {
    Now,
    Before,
    /// The result does not count.
    Contested(AlertKind),
}

/// Which transcript the manager takes from a referee.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TranscriptDue {
    /// The referee plays this attempt.
    BeforeReport { attempt: u32 },
    /// Its report of this attempt counted, and named the hash.
    Reported { attempt: u32, digest: TranscriptDigest },
}

impl Season {
    pub fn read_report(&self, report: &MatchResultReport) -> Result<MatchRecord, RequestError> {
        if report.league_id.as_ref().is_some_and(|league| *league != self.config.league_id) {
            let message = format!("there is no such league here; send {}", self.config.league_id);
            return Err(RequestError::new(ErrorCode::E008, METHOD, message).about("league_id"));
        }
        let players = self.contestants(&report.match_id).ok_or_else(|| unknown(&report.match_id))?;
        let ids = players.map(|player| &player.id);
        let (result, details) = (&report.result, &report.result.details);
        let side_of = |player: &PlayerId| Side::BOTH.into_iter().find(|side| ids[*side] == player);
        let stranger = |player: &PlayerId, field: &'static str| {
            let message =
                format!("{field} names {player}; {} is between {} and {}: name those", report.match_id, ids.a, ids.b);
            RequestError::new(ErrorCode::E002, METHOD, message).about(field)
        };
        let named = [
            ("result.score", players_in(&result.score)),
            ("result.details.choices", players_in(&details.choices)),
            ("result.details.technical_losses", details.technical_losses.iter().collect()),
            (
                "result.details.draw.nonces",
                details.draw.as_ref().map(|draw| players_in(&draw.nonces)).unwrap_or_default(),
            ),
            ("result.details.game_score", details.game_score.as_ref().map(players_in).unwrap_or_default()),
            ("result.details.moves", details.moves.iter().map(|one| &one.player_id).collect()),
            ("result.winner", result.winner.iter().collect()),
        ];
        for (field, players) in named {
            if let Some(player) = players.into_iter().find(|player| side_of(player).is_none()) {
                return Err(stranger(player, field));
            }
        }
        let winner = result.winner.as_ref().and_then(side_of);
        let forfeits = ids.map(|id| details.technical_losses.contains(id));
        let outcome = outcome_of(winner, forfeits, details.status).ok_or_else(|| {
            let message = "result.winner, details.status and details.technical_losses contradict each other; send the winner, or \
                           null for a draw, and list who did not play";
            contradiction(message, "result")
        })?;
        let score = ids.map(|id| result.score.get(id).copied());
        if !self.may_score(outcome, score) {
            let points = outcome.points(&self.config.scoring.match_points());
            let shown =
                |points: Option<u32>| points.map_or_else(|| String::from("nothing"), |points| points.to_string());
            let message = format!(
                "result.score gives {} {} and {} {}; for this result send {} for {} and {} for {}",
                ids.a,
                shown(score.a),
                ids.b,
                shown(score.b),
                points.a,
                ids.a,
                points.b,
                ids.b
            );
            return Err(contradiction(&message, "result.score"));
        }
        if let (Some(number), Some(parity)) = (details.drawn_number, details.number_parity)
            && Parity::of(number) != parity
        {
            let message =
                format!("number_parity is {parity} and drawn_number is {number}; send the parity of the number");
            return Err(contradiction(&message, "result.details.number_parity"));
        }
        let games = self.reported_games(details.games_per_match)?;
        let proof = details.draw.as_ref().map(|draw| {
            Box::new(RevealedDraw {
                commitment: draw.commitment,
                secret: draw.secret,
                nonces: ids.map(|id| draw.nonces.get(id).cloned().unwrap_or_default()),
                seal: draw.seal,
                seeded: draw.seeded,
            })
        });
        let listed = details.moves.iter().filter_map(|one| Some((side_of(&one.player_id)?, one.played.clone())));
        let course = match &details.coded_moves {
            Some(coded) => coded.decode().ok_or_else(|| {
                let message =
                    "a code of result.details.coded_moves stands for no move; PROTOCOL.md section 7 describes them";
                contradiction(message, "result.details.coded_moves")
            })?,
            None => listed.collect::<Vec<_>>(),
        };
        let last = |side: Side| course.iter().rfind(|(mover, _)| *mover == side).map(|(_, text)| text.clone());
        let choice = |side: Side| details.choices.get(ids[side]).cloned().flatten();
        Ok(MatchRecord {
            outcome,
            moves: Pair::from_fn(|side| last(side).or_else(|| choice(side))),
            games,
            course,
            drawn: details.drawn_number,
            score: details
                .game_score
                .as_ref()
                .and_then(|score| Some(Pair::new(*score.get(ids.a)?, *score.get(ids.b)?))),
            proof,
        })
    }

    /// A referee that does not know of several games plays one: its report is not the result of the match.
    fn reported_games(&self, reported: Option<u32>) -> Result<NonZeroU32, RequestError> {
        let (games, field) = (self.config.games_per_match, "result.details.games_per_match");
        let rule = format!("a match of this league has {games} games: play them all and send {field} with all moves");
        match reported {
            None if games > NonZeroU32::MIN => {
                Err(RequestError::new(ErrorCode::E003, METHOD, format!("{field} is missing; {rule}")).about(field))
            }
            Some(found) if found != games.get() => {
                Err(RequestError::new(ErrorCode::E002, METHOD, format!("{field} is {found}; {rule}")).about(field))
            }
            Some(_) | None => Ok(games),
        }
    }

    /// Accepts the league's points, the course's (3, 1, 0), or 1 for the winner. The league always counts its own points; any
    /// other score is an error of the referee.
    fn may_score(&self, outcome: Outcome, score: Pair<Option<u32>>) -> bool {
        let course = MatchPoints::default();
        let known = [
            outcome.points(&self.config.scoring.match_points()),
            outcome.points(&course),
            outcome.points(&MatchPoints { win_points: 1, draw_points: 0, ..course }),
        ];
        let known = if self.config.strict { &known[..1] } else { &known[..] };
        known
            .iter()
            .any(|points| Side::BOTH.into_iter().all(|side| score[side].is_none_or(|given| given == points[side])))
    }

    pub fn score_quirk(&self, report: &MatchResultReport, outcome: Outcome) -> Option<Quirk> {
        let points = outcome.points(&self.config.scoring.match_points());
        let ids = self.contestants(&report.match_id)?.map(|player| &player.id);
        let differs = |side| report.result.score.get(ids[side]).is_some_and(|given| *given != points[side]);
        Side::BOTH.into_iter().any(differs).then_some(Quirk::OtherScore)
    }

    /// Counts the result of a match that `referee` holds. A foreign referee reports no attempt; its report counts for the current
    /// one.
    pub fn report(
        &self,
        referee: &RefereeId,
        match_id: &MatchId,
        attempt: Option<u32>,
        record: MatchRecord,
        now: Timestamp,
    ) -> Result<CommandOutcome<ReportOutcome>, RequestError> {
        let place = self.referee_index.get(referee).ok_or_else(|| not_registered(referee))?;
        let reportable = self.slot(match_id).and_then(MatchSlot::reportable);
        let current = match self.slot(match_id) {
            Some(_) if reportable.is_some_and(|(_, referee, _)| referee == *place) => {
                reportable.map_or(0, |(attempt, _, _)| attempt)
            }
            Some(MatchSlot::Done { referee, report_hash, at, .. }) if referee == place => {
                return if *report_hash == hash_of(&record) {
                    Ok(CommandOutcome { events: Vec::new(), reply: ReportOutcome::Before })
                } else {
                    let message =
                        format!("another result of {match_id} was counted before; it stands: report each match once");
                    let previous_report = Some((match_id.clone(), Timestamp::from_unix(*at)));
                    let fault = RequestError::new(ErrorCode::E010, METHOD, message).numbered(5003);
                    Err(RequestError { previous_report, ..fault })
                };
            }
            Some(
                MatchSlot::Held { .. }
                | MatchSlot::Suspended { .. }
                | MatchSlot::Awarded { .. }
                | MatchSlot::Done { .. }
                | MatchSlot::Waiting { .. },
            ) => {
                let message = format!("{match_id} was not given to {referee}; get_assigned_matches lists what was");
                return Err(RequestError::new(ErrorCode::E007, METHOD, message).about("match_id"));
            }
            None => return Err(unknown(match_id)),
        };
        if attempt.is_some_and(|attempt| attempt != current) {
            let message = format!("attempt {current} at {match_id} is the current one; report only that");
            return Err(RequestError::new(ErrorCode::E007, METHOD, message).about("attempt"));
        }
        self.reported_games(Some(record.games.get()))?;
        record.check(&self.config.game_type, match_id, current).map_err(|bad| {
            RequestError::new(ErrorCode::E002, METHOD, format!("{bad}; report what was played")).about("result.details")
        })?;
        let commitments = Vec::new();
        let fact = Fact::MatchReported { match_id: match_id.clone(), attempt: current, record, commitments };
        let mut events = vec![happened(now, fact)];
        events.extend(self.endings(1, now));
        Ok(CommandOutcome { events, reply: ReportOutcome::Now })
    }
}

impl Season {
    /// `league verify` compares the match file with this, so the log keeps the account of a referee that writes into the manager's
    /// home, too.
    pub fn account(&self, report: &MatchResultReport, attempt: u32, record: &MatchRecord) -> Account {
        let mut account = report.account.clone();
        let Some(players) = self.contestants(&report.match_id) else { return account };
        let ids = players.map(|player| &player.id);
        let plays = |player: &PlayerId| ids.a == player || ids.b == player;
        account.problems.0.retain(|(player, _)| plays(player));
        account.times.0.retain(|(player, _)| plays(player));
        let said = report.result.details.reason.as_deref().map(clipped);
        // A sentence that the rules give again from moves and number is not stored.
        account.reason = said.filter(|said| {
            let given = record.reason(&self.config.game_type, (&report.match_id, attempt), ids.map(PlayerId::as_str));
            given.as_deref() != Some(said)
        });
        account
    }

    /// Whether the result of this match came from this referee.
    pub fn has_reported(&self, referee: &RefereeId, match_id: &MatchId) -> bool {
        let place = self.referee_index.get(referee);
        matches!(self.slot(match_id), Some(MatchSlot::Done { referee, .. }) if Some(referee) == place)
    }

    pub fn transcript_due(&self, referee: &RefereeId, match_id: &MatchId) -> Result<TranscriptDue, RequestError> {
        const METHOD: Method = Method::StoreTranscript;
        let refused = |message: String| RequestError::new(ErrorCode::E007, METHOD, message).about("match_id");
        let sender = self.referee_index.get(referee);
        match self.slot(match_id) {
            Some(MatchSlot::Held { attempt, referee: place, .. }) if sender == Some(place) => {
                return Ok(TranscriptDue::BeforeReport { attempt: *attempt });
            }
            Some(MatchSlot::Done { referee: place, .. }) if sender == Some(place) => {}
            Some(_) => return Err(refused(format!("{referee} neither plays {match_id} nor has it reported"))),
            None => return Err(refused(format!("there is no match {match_id} in the rounds that have begun"))),
        }
        let unannounced = || {
            let message = format!("the report of {match_id} named no transcript_sha256, so no transcript is expected");
            RequestError::new(ErrorCode::E010, METHOD, message).about("match_id")
        };
        let (attempt, digest) = self.transcripts.get(match_id).copied().ok_or_else(unannounced)?;
        Ok(TranscriptDue::Reported { attempt, digest })
    }
}

/// The longest stored sentence of a referee, in characters.
const MAX_REASON: usize = 300;

fn clipped(text: &str) -> SmolStr {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_REASON).collect()
}

/// `None` when winner, technical losses and status contradict each other.
///
/// The list of technical losses takes precedence over the status. The status TECHNICAL_LOSS means a forfeit only without a list.
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

fn players_in<T>(entries: &ByPlayer<T>) -> Vec<&PlayerId> {
    entries.0.iter().map(|(player, _)| player).collect()
}

fn contradiction(message: &str, field: &str) -> RequestError {
    RequestError::new(ErrorCode::E002, METHOD, message).about(field)
}

fn not_registered(referee: &RefereeId) -> RequestError {
    let message = format!("{referee} is not registered as a referee; register first");
    RequestError::new(ErrorCode::E013, METHOD, message)
}

fn unknown(match_id: &MatchId) -> RequestError {
    let message = format!("there is no match {match_id} in the rounds that have begun; GET_SCHEDULE lists them");
    RequestError::new(ErrorCode::E007, METHOD, message).about("match_id")
}

/// Stable within one process only.
pub(super) fn hash_of(record: &MatchRecord) -> u64 {
    let mut hasher = DefaultHasher::new();
    record.hash(&mut hasher);
    hasher.finish()
}
