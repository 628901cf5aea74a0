//! Checking a player. Nothing but its URL is needed.
//!
//! First a match as any other; then everything that does not depend on each other at the same time; then what might harm the
//! player, one thing after the other, each followed by an invitation that shows whether it still plays; at last the end of the
//! league, after which some players leave.

mod bounds;
mod doors;
mod envelope;
mod first;
mod mcp;
mod notices;
mod rpc;

use std::time::Duration;

use league_protocol::answer::{JoinAnswer, Layers, MoveAnswer, Reading};
use league_protocol::id::MatchId;
use league_protocol::sender::Role;
use league_protocol::side::Side;
use league_protocol::table::Limit;
use league_wire::endpoint::Endpoint;
use league_wire::world::World;

use crate::approach::{self, Reached};
use crate::heard::Heard;
use crate::letters::{Letter, Pretence};
use crate::line::Line;
use crate::notebook::{Judgement, Notebook};
use crate::options::Options;
use crate::report::Report;
use crate::rule::Rule;
use crate::rules::player as rules;
use crate::voice::Voice;

/// Everything that a check of a player needs.
pub(crate) struct Exam<'a> {
    line: &'a Line,
    voice: &'a Voice,
    pretence: &'a Pretence,
    book: &'a Notebook,
    options: &'a Options,
}

/// Checks the player at `endpoint`.
pub async fn player(endpoint: &Endpoint, options: &Options) -> Report {
    let (line, book) = (Line::to(endpoint.clone()), Notebook::default());
    let pretence = Pretence::new(&World::real());
    let mut report = Report {
        set: options.set.name,
        endpoint: endpoint.to_string(),
        role: Role::Player,
        role_because: String::from("as you say"),
        form: None,
        notes: Vec::new(),
        complete: false,
        findings: Vec::new(),
        stale: Vec::new(),
    };
    let unreached = match reach(&line, &pretence, &book, options).await {
        Ok((voice, heard)) => {
            report.form = Some(voice.to_string());
            let exam = Exam { line: &line, voice: &voice, pretence: &pretence, book: &book, options };
            match exam.run(&heard).await {
                Ok(()) => {
                    report.complete = true;
                    "it did not come to that"
                }
                Err(why) => {
                    report.notes.push(format!("Most of the checks need a player that plays, and {why}."));
                    why
                }
            }
        }
        Err(note) => {
            report.notes.push(note);
            "the player could not be checked"
        }
    };
    report.findings = book.close(options.set.for_role(Role::Player), unreached);
    report
}

/// Finds the form in which the player joins a match; otherwise what its author should know.
async fn reach(line: &Line, pretence: &Pretence, book: &Notebook, options: &Options) -> Result<(Voice, Heard), String> {
    let limit = options.wait(Limit::Join);
    let invitation = pretence.invitation(&pretence.match_no(1), Side::A);
    let answers = |heard: &Heard| {
        matches!(joined(heard, &pretence.match_no(1)), Some(JoinAnswer::Joined { .. } | JoinAnswer::Declined))
    };
    let reached = approach::try_all(line, &invitation, limit, answers).await;
    match reached {
        Reached::Understood(voice, heard) => {
            book.judge(&rules::REACHABLE, &heard, Ok(()));
            Ok((voice, heard))
        }
        Reached::Nobody(heard, note) => {
            book.judge(&rules::REACHABLE, &heard, Err(heard.came_text()));
            Err(note)
        }
        Reached::Stranger(heard, note) => {
            book.judge(&rules::REACHABLE, &heard, Ok(()));
            book.judge(&rules::JOINS, &heard, Err(note.clone()));
            Err(note)
        }
        Reached::Slow(heard) => {
            book.judge(&rules::REACHABLE, &heard, Ok(()));
            let note = format!("the invitation was not answered within {limit:?}");
            book.judge(&rules::JOIN_TIME, &heard, Err(note.clone()));
            Err(note)
        }
    }
}

/// What a join says.
fn joined(heard: &Heard, match_id: &MatchId) -> Option<JoinAnswer> {
    Some(Layers::parse(heard.body()).ok()?.join(match_id).said)
}

impl Exam<'_> {
    async fn run(&self, heard: &Heard) -> Result<(), &'static str> {
        self.first_match(heard).await?;
        tokio::join!(
            self.parallel(),
            self.sides_and_games(),
            self.requests(),
            self.envelopes(),
            self.mcp(),
            self.doors(),
            self.state(),
        );
        self.idle_neighbour().await;
        if self.notices().await.is_ok() && self.bounds().await.is_ok() && self.options.to_the_end {
            self.the_end().await;
        }
        Ok(())
    }

    fn join_limit(&self) -> Duration {
        self.options.wait(Limit::Join)
    }

    fn move_limit(&self) -> Duration {
        self.options.wait(Limit::Move)
    }

    async fn say(&self, letter: &Letter, limit: Duration) -> Heard {
        let heard = self.voice.say(self.line, letter, limit).await;
        if matches!(heard.came, Err(crate::heard::Silence::TooLong)) {
            self.book.judge(&rules::SHORT_ANSWERS, &heard, Err(heard.came_text()));
        }
        heard
    }

    async fn invite(&self, number: u32) -> (MatchId, Heard) {
        let match_id = self.pretence.match_no(number);
        let letter = self.pretence.invitation(&match_id, Side::A);
        (match_id, self.say(&letter, self.join_limit()).await)
    }

    async fn ask(&self, match_id: &MatchId) -> Heard {
        let limit = self.move_limit();
        self.say(&self.pretence.call(match_id, limit), limit).await
    }

    /// Judges `rule` by whether the player still joins a match after what it `heard`. If not, whatever comes next would only show
    /// the same once more.
    async fn still_plays(&self, rule: &'static Rule, number: u32, heard: &Heard) -> Result<(), Gone> {
        let (match_id, next) = self.invite(number).await;
        let alive = joins(&next, &match_id);
        let plays = if alive.is_ok() { Ok(()) } else { Err(Gone) };
        let judgement = alive.map_err(|why| format!("after this the player no longer joins a match: {why}"));
        self.book.judge(rule, heard, judgement);
        plays
    }
}

/// The player no longer plays.
struct Gone;

/// Whether it is a join.
fn joins(heard: &Heard, match_id: &MatchId) -> Judgement {
    if let Err(silence) = &heard.came {
        return Err(silence.to_string());
    }
    match joined(heard, match_id) {
        Some(JoinAnswer::Joined { .. }) => Ok(()),
        Some(JoinAnswer::Declined) => Err(String::from("it declines")),
        Some(JoinAnswer::Error(error)) => Err(format!("it answers with an error: {}", error.words)),
        Some(JoinAnswer::Nothing) => Err(String::from("there is no join in the answer")),
        None => Err(String::from("the answer is not a JSON object")),
    }
}

/// What a choice says.
fn choice(heard: &Heard, match_id: &MatchId) -> Result<Reading<MoveAnswer>, String> {
    if let Err(silence) = &heard.came {
        return Err(silence.to_string());
    }
    Layers::parse(heard.body()).map(|layers| layers.parity(match_id)).map_err(|error| error.to_string())
}

/// The choice itself.
fn chosen(heard: &Heard, match_id: &MatchId) -> Result<String, String> {
    match choice(heard, match_id)?.said {
        MoveAnswer::Move(parity) => Ok(parity.to_string()),
        MoveAnswer::Invalid(text) => Err(format!("{text:?} is no choice")),
        MoveAnswer::Error(error) => Err(format!("it answers with an error: {}", error.words)),
        MoveAnswer::Nothing => Err(String::from("there is no choice in the answer")),
    }
}
