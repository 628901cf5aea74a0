//! The result of a match: its report to the manager and its file.

use std::sync::Arc;

use league_core::game_match::input::{Input, ReportDelivery};
use league_core::record::MatchRecord;
use league_protocol::id::RoundId;
use league_protocol::message::game_over::ByPlayer;
use league_protocol::message::report::{AnswerTimes, LearnedDialect};
use league_protocol::message::transcript::TranscriptDigest;
use league_protocol::side::Side;
use league_store::journal::JournalLevel;
use league_store::views::match_file::{MatchContext, MatchFile};
use league_store::views::writer::ViewUpdate;
use smol_str::SmolStr;

use super::{Done, MatchRunner};
use crate::orders::{MatchPurpose, unnamed_league};
use crate::report::{PendingReport, ReportAnswer};
use crate::transcript::{OwedTranscript, TranscriptTarget};

pub(super) enum ReportStep {
    /// A friendly match is not reported.
    NotReported,
    Answered(ReportAnswer),
    /// The manager could not be reached in the tries that a match has.
    Undelivered(Box<PendingReport>),
}

impl MatchRunner {
    /// What the referee learned about the players and the manager does not know.
    fn learned(&self) -> ByPlayer<LearnedDialect> {
        let news = Side::BOTH.into_iter().map(|side| {
            let (player, known) = (&self.order.players[side], &self.known[side]);
            let own = known.dialect.of_referees();
            let dialect = (own != player.dialect.of_referees()).then_some(own);
            let shows_token = known.shows_token && !player.shows_token;
            (player.player_id.clone(), LearnedDialect { dialect, quirks: known.quirks, shows_token })
        });
        ByPlayer(news.filter(|(_, learned)| !learned.is_nothing()).collect())
    }

    /// Writes the match file before it reports: when a league has all results, all files are on their way. The transcript
    /// ends here; GAME_OVER is in the log only.
    pub(super) fn report(&mut self) {
        let Some(mut report) = self.match_messages().report() else { return };
        report.learned = self.learned();
        self.reported_dialects = self.known.as_ref().map(|known| known.dialect.of_referees());
        if self.shared.logs(JournalLevel::Debug) {
            let message = format!("{} is decided; the manager is told", report.match_id);
            self.shared.write(self.shared.entry(JournalLevel::Debug, "MATCH_DECIDED", message).with(&report.result));
        }
        report.account.started = Some(self.began);
        report.account.times = self.times();
        let (target, mut file) = (self.shared.transcript_target(&self.order), self.file());
        let mut transcript = None;
        if let Some(file) = &mut file {
            match target {
                TranscriptTarget::Send => {
                    file.shorten_transcript();
                    let owed = transcript.insert(OwedTranscript::of(file));
                    report.account.transcript_sha256 = Some(owed.digest);
                }
                TranscriptTarget::InManagersHome => {
                    report.account.transcript_sha256 = Some(TranscriptDigest::of(&file.transcript_bytes()));
                    report.account.in_your_home = true;
                }
                TranscriptTarget::Own => {}
            }
            file.explain(report.account.clone());
        }
        let (shared, appointed, purpose) = (Arc::clone(&self.shared), self.appointed.clone(), self.purpose);
        if purpose == MatchPurpose::League {
            report.draw_commitments = shared.draw_secrets.top_up(&shared.environment);
        }
        let (order, tries) = (Arc::clone(&self.order), self.order.timeouts.max_retries);
        // The manager keeps the only copy of a match that it gets from a referee of a fleet.
        let file = file.filter(|_| !(shared.settings.pulls && target == TranscriptTarget::Send));
        self.work.push(Box::pin(async move {
            if let (Some(views), Some(file)) = (&shared.views, file) {
                // `league verify` takes a result without a file for a deleted file.
                views.write(ViewUpdate::Match(Box::new(file))).await;
            }
            // The manager may give the next match before this referee has read its answer to the report.
            shared.decided(&order, purpose);
            if purpose == MatchPurpose::Friendly {
                return Done { reported: Some(ReportStep::NotReported), ..Done::default() };
            }
            let mut pending = PendingReport::new(shared, appointed, report, transcript);
            let reported = match pending.first_tries(tries).await {
                Some(answer) => ReportStep::Answered(answer),
                None => ReportStep::Undelivered(Box::new(pending)),
            };
            Done { reported: Some(reported), ..Done::default() }
        }));
    }

    /// A manager of another implementation may refuse a report for its form, and does not play the match again.
    pub(super) fn reported(&mut self, step: ReportStep) {
        let delivery = match step {
            ReportStep::NotReported => ReportDelivery::Accepted,
            ReportStep::Answered(answer) => {
                self.answer = Some(answer);
                match answer {
                    ReportAnswer::Accepted => ReportDelivery::Accepted,
                    ReportAnswer::Refused if self.appointed.passes => ReportDelivery::Refused,
                    ReportAnswer::Refused => ReportDelivery::Accepted,
                }
            }
            ReportStep::Undelivered(pending) => {
                self.work.push(Box::pin(async move {
                    let answer = pending.further_tries().await;
                    Done { reported: Some(ReportStep::Answered(answer)), ..Done::default() }
                }));
                ReportDelivery::Undelivered
            }
        };
        // The match machine ignores the answer that follows a provisional result.
        self.tell(Input::Reported(delivery));
    }

    /// Whether the manager waits for the confirmation that the players know the result.
    pub(super) fn owes_confirmation(&self) -> bool {
        self.appointed.passes && self.answer == Some(ReportAnswer::Accepted)
    }

    /// The time of an answer ends with its last byte.
    fn times(&self) -> ByPlayer<AnswerTimes> {
        let took = |player: &str, what: &str| {
            let mut answers = self.transcript.newest().filter(|said| said.from == player && said.message_type == what);
            answers.find_map(|said| said.receipt?.last_byte_ms)
        };
        let times = self.order.players.as_ref().map(|player| {
            let id = player.player_id.as_str();
            let moved = took(id, "CHOOSE_PARITY_RESPONSE").or_else(|| took(id, "GAME_MOVE_RESPONSE"));
            (player.player_id.clone(), AnswerTimes { join_ms: took(id, "GAME_JOIN_ACK"), move_ms: moved })
        });
        ByPlayer(vec![times.a, times.b])
    }

    fn file(&mut self) -> Option<MatchFile> {
        let ending = self.match_machine.ending()?;
        let occasion = MatchContext {
            league_id: self.order.league_id.clone().or_else(unnamed_league)?,
            round_id: self.order.round_id.unwrap_or(RoundId(0)),
            match_id: self.order.match_id.clone(),
            attempt: self.order.attempt,
            game_type: self.order.game_type.clone(),
            players: self.order.players.as_ref().map(|player| player.player_id.clone()),
            referee_id: self.appointed.id.clone(),
        };
        let record = MatchRecord::of(&self.match_machine, ending);
        let names = self.order.players.as_ref().map(|player| player.player_id.as_str());
        let reason = self.match_machine.reason(names).map(SmolStr::new);
        let mut file = MatchFile::new(occasion, self.began);
        file.lifecycle.started = Some(self.began);
        let mut transcript = std::mem::take(&mut self.transcript);
        for side in Side::BOTH {
            transcript.extend(self.posted[side].drain(..));
        }
        file.transcript = transcript.into_entries(&self.appointed.id);
        let finished = file.last_entry().unwrap_or(self.began);
        file.finish(&record, &self.order.scoring, reason, finished);
        Some(file)
    }
}
