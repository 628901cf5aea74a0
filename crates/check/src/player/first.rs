//! The first match: an invitation, a choice, the same again, an error and another try.

use std::time::Duration;

use league_protocol::answer::{JoinAnswer, MoveAnswer, ParsedAnswer};
use league_protocol::draw::MAX_NONCE;
use league_protocol::id::{MatchId, PlayerId};
use league_protocol::message::game_error::GameError;
use league_protocol::problem::{Problem, QuestionKind};
use league_protocol::quirk::{Quirk, Quirks};
use league_protocol::side::Side;
use league_protocol::table::{Call, LimitKind};
use league_protocol::time::Timestamp;

use super::{Exam, joins};
use crate::check_log::{Judgement, RuleViolation, ensure};
use crate::response::{NoResponse, Response};
use crate::rule::Rule;
use crate::rules::player as rules;

impl Exam<'_> {
    pub(super) async fn first_match(&self, heard: &Response, chose: Option<&Response>) -> Result<(), &'static str> {
        let match_id = self.test_league.match_no(1);
        self.judge_join(heard, &match_id);
        if joins(heard, &match_id).is_err() {
            return Err("this one does not join");
        }
        let asked = match chose {
            Some(chose) => chose.clone(),
            None => self.ask(&match_id).await,
        };
        self.judge_choice(&asked, &match_id);
        if let Err(NoResponse::TimedOut(_)) = asked.came {
            // Every further request would take as long.
            return Err("this one does not choose in time");
        }
        let said = self.choice(&asked, &match_id).map(|reading| reading.answer);
        if !matches!(said, Ok(MoveAnswer::Move(_) | MoveAnswer::Invalid(_))) {
            return Err("this one does not choose");
        }
        let again = self.say(&self.test_league.invitation(&match_id, Side::A), self.join_limit()).await;
        self.book.judge(&rules::JOIN_AGAIN, &again, joins(&again, &match_id));
        let (first, second) = (heard.field("draw_nonce"), again.field("draw_nonce"));
        match &first {
            Some(_) if joins(&again, &match_id).is_err() => {
                self.book.skip(&rules::NONCE_AGAIN, "it does not join again");
            }
            None => self.book.skip(&rules::NONCE_AGAIN, "the player adds no draw_nonce"),
            Some(nonce) => {
                let same = ensure(first == second, format!("first {nonce:?}, then {second:?}"));
                self.book.judge(&rules::NONCE_AGAIN, &again, same);
            }
        }
        self.asked_again(&asked, &match_id).await;
        Ok(())
    }

    async fn asked_again(&self, first: &Response, match_id: &MatchId) {
        let second = self.ask(match_id).await;
        match self.chosen(first, match_id) {
            Err(_) => self.book.skip(&rules::CHOICE_AGAIN, "the first choice was none"),
            Ok(before) => {
                let same = self
                    .chosen(&second, match_id)
                    .and_then(|now| ensure(now == before, format!("first {before}, then {now}")));
                self.book.judge(&rules::CHOICE_AGAIN, &second, same);
            }
        }
        let told = self.say(&self.error(match_id), self.options.wait(LimitKind::GameOver)).await;
        self.acknowledged(&rules::GAME_ERROR, &told);
        let retry = self.ask(match_id).await;
        let answered = self.chosen(&retry, match_id).map(|_| ());
        match self.chosen(first, match_id) {
            // Another rule covers an invalid choice.
            Err(_) if matches!(self.choice(&retry, match_id), Ok(ref reading) if matches!(reading.answer, MoveAnswer::Invalid(_))) =>
            {
                self.book.judge(&rules::CHOICE_RETRY, &retry, Ok(()));
            }
            Ok(_) | Err(_) => self.book.judge(&rules::CHOICE_RETRY, &retry, answered),
        }
    }

    fn error(&self, match_id: &MatchId) -> crate::messages::TestMessage {
        let text = |text: &'static str| Some(smol_str::SmolStr::new_static(text));
        let error = GameError {
            league_id: self.test_league.league.clone(),
            round_id: Some(self.test_league.round()),
            match_id: Some(match_id.clone()),
            player_id: Some(PlayerId::numbered(1)),
            affected_player: Some(PlayerId::numbered(1)),
            error_code: text("E001"),
            error_name: text("TIMEOUT_ERROR"),
            error_description: text("TIMEOUT_ERROR"),
            hint: text("no answer came in time; you are asked again"),
            game_state: text("COLLECTING_CHOICES"),
            action_required: text(self.test_league.answer_name()),
            retryable: Some(true),
            retry_count: Some(1),
            max_retries: Some(3),
            retry_info: None,
            consequence: text("technical loss"),
        };
        self.test_league.word(match_id, &Call::NotifyGameError(error))
    }

    fn judge_join(&self, heard: &Response, match_id: &MatchId) {
        let judge = |rule: &'static Rule, judgement: Judgement| self.book.judge(rule, heard, judgement);
        self.book.explain(&rules::JOINS, heard, explained(heard, QuestionKind::Join, match_id));
        let quirks = match ParsedAnswer::parse(heard.body()).map(|layers| layers.join(match_id)) {
            Ok(reading) if matches!(reading.answer, JoinAnswer::Joined { .. }) => reading.quirks,
            Ok(_) | Err(_) => Quirks::default(),
        };
        self.judge_time(heard, &rules::JOIN_TIME, &rules::JOIN_PROMPT, self.join_limit());
        judge(&rules::JOIN_TYPE, named(heard, "GAME_JOIN_ACK"));
        judge(&rules::JOIN_ACCEPT, no_quirk(quirks, &[Quirk::NoAccept, Quirk::StatusJoin]));
        judge(&rules::JOIN_MATCH, same(heard, "match_id", match_id.as_str()));
        judge(&rules::JOIN_PLAYER, player_named(heard));
        judge(
            &rules::JOIN_ARRIVAL,
            match heard.field("arrival_timestamp") {
                None => Err(String::from("there is no arrival_timestamp")),
                Some(text) => text.parse::<Timestamp>().map(|_| ()).map_err(|bad| bad.to_string()),
            },
        );
        let nonce = match heard.message().get("draw_nonce") {
            None => Err(String::from("there is no draw_nonce")),
            Some(nonce) => ensure(
                nonce.as_str().is_some_and(|nonce| (1..=MAX_NONCE).contains(&nonce.len())),
                format!("{nonce} is not a text of 1 to {MAX_NONCE} bytes"),
            ),
        };
        judge(&rules::NONCE, nonce);
        self.judge_envelope(heard, quirks);
        self.judge_frame(heard, quirks);
        judge(&rules::SHORT_ANSWERS, Ok(()));
    }

    fn judge_choice(&self, heard: &Response, match_id: &MatchId) {
        let judge = |rule: &'static Rule, judgement: Judgement| self.book.judge(rule, heard, judgement);
        if matches!(heard.came, Err(NoResponse::TooLong)) {
            judge(&rules::SHORT_ANSWERS, Err(heard.came_text()));
        }
        self.judge_time(heard, &rules::CHOICE_TIME, &rules::CHOICE_PROMPT, self.move_limit());
        let reading = match self.choice(heard, match_id) {
            Ok(reading) => reading,
            Err(_) => {
                if !matches!(heard.came, Err(NoResponse::TimedOut(_))) {
                    self.book.explain(&rules::CHOOSES, heard, explained(heard, self.test_league.kind(), match_id));
                }
                return;
            }
        };
        match &reading.answer {
            MoveAnswer::Move(_) => {
                judge(&rules::CHOOSES, Ok(()));
                judge(&rules::CHOICE_EXACT, Ok(()));
            }
            MoveAnswer::Invalid(text) if self.test_league.kind() == QuestionKind::Move => {
                judge(&rules::CHOOSES, Ok(()));
                judge(&rules::CHOICE_EXACT, Err(format!("{text:?} is not a legal move")));
            }
            MoveAnswer::Invalid(_) => {
                let found = explained(heard, self.test_league.kind(), match_id);
                // A value under the right name is a wrong choice; anything else is no choice.
                if matches!(
                    heard.problem(self.test_league.kind(), match_id),
                    Some(Problem::WrongValue { .. } | Problem::TwoAnswers)
                ) {
                    judge(&rules::CHOOSES, Ok(()));
                    self.book.explain(&rules::CHOICE_EXACT, heard, found);
                } else {
                    self.book.explain(&rules::CHOOSES, heard, found);
                    self.book.skip(&rules::CHOICE_EXACT, "there is no choice");
                }
            }
            MoveAnswer::Error(_) | MoveAnswer::Nothing => {
                self.book.explain(&rules::CHOOSES, heard, explained(heard, self.test_league.kind(), match_id));
                self.book.skip(&rules::CHOICE_EXACT, "there is no choice");
                return;
            }
        }
        judge(&rules::CHOICE_TYPE, named(heard, self.test_league.answer_name()));
        judge(&rules::CHOICE_MATCH, same(heard, "match_id", match_id.as_str()));
        judge(&rules::CHOICE_PLAYER, player_named(heard));
        self.judge_envelope(heard, reading.quirks);
        self.judge_frame(heard, reading.quirks);
    }

    fn judge_time(&self, heard: &Response, limit: &'static Rule, prompt: &'static Rule, span: Duration) {
        match (&heard.came, heard.took()) {
            (_, Some(took)) => {
                self.book.judge(limit, heard, ensure(took <= span, format!("it took {took:?}")));
                let said = format!("it took {took:?} of {span:?}");
                self.book.judge(prompt, heard, ensure(took <= span.mul_f32(0.8), said));
            }
            (Err(NoResponse::TimedOut(after)), None) => {
                self.book.judge(limit, heard, Err(format!("no answer within {after:?}")));
                self.book.skip(prompt, "no answer came");
            }
            (Ok(_) | Err(_), None) => {
                self.book.skip(limit, "no answer came");
                self.book.skip(prompt, "no answer came");
            }
        }
    }

    fn judge_envelope(&self, heard: &Response, quirks: Quirks) {
        let groups: [(&'static Rule, &[Quirk]); 4] = [
            (&rules::PROTOCOL, &[Quirk::NoProtocol, Quirk::OddProtocol]),
            (&rules::SENDER, &[Quirk::NoSender, Quirk::OddSender]),
            (&rules::TIMESTAMP, &[Quirk::NoTimestamp, Quirk::OddTime]),
            (&rules::TIMESTAMP_FORM, &[Quirk::FractionalTime, Quirk::OffsetTime]),
        ];
        for (rule, watched) in groups {
            self.book.judge(rule, heard, no_quirk(quirks, watched));
        }
        let asked = asked_in(heard, "conversation_id").unwrap_or_default();
        self.book.judge(&rules::CONVERSATION, heard, same(heard, "conversation_id", &asked));
        let echoed = String::from_utf8_lossy(heard.body()).contains(&self.test_league.pass);
        self.book.judge(&rules::ECHO, heard, ensure(!echoed, "the answer holds the auth_token that it was shown"));
    }

    fn judge_frame(&self, heard: &Response, quirks: Quirks) {
        let form = ensure(self.voice.is_canonical(), format!("understood only in {}", self.voice));
        self.book.judge(&rules::FRAME, heard, form);
        // A bare message may be answered by a bare one, and a tool's answer may be in its text.
        let mut odd = vec![Quirk::AnswerInParams, Quirk::AnswerInData, Quirk::NullError];
        if self.voice.frame().is_rpc() {
            odd.push(Quirk::BareAnswer);
        }
        self.book.judge(&rules::PLACE, heard, no_quirk(quirks, &odd));
        let status = heard.status().unwrap_or_default();
        self.book.judge(&rules::STATUS, heard, ensure(status.as_u16() == 200, format!("the status is {status}")));
        let kind = heard.content_type().unwrap_or_else(|| String::from("missing"));
        let fine = matches!(kind.as_str(), "application/json" | "text/event-stream");
        self.book.judge(&rules::CONTENT_TYPE, heard, ensure(fine, format!("the Content-Type is {kind}")));
    }
}

fn explained(heard: &Response, question: QuestionKind, match_id: &MatchId) -> Result<(), RuleViolation> {
    heard.problem(question, match_id).map_or(Ok(()), |problem| Err(problem.into()))
}

fn no_quirk(quirks: Quirks, watched: &[Quirk]) -> Judgement {
    match watched.iter().find(|quirk| quirks.has(**quirk)) {
        None => Ok(()),
        Some(quirk) => Err(quirk.what().to_owned()),
    }
}

fn named(heard: &Response, name: &str) -> Judgement {
    match heard.field("message_type") {
        Some(found) => ensure(found == name, format!("message_type is {found:?}")),
        None => Err(String::from("there is no message_type")),
    }
}

fn same(heard: &Response, field: &str, expected: &str) -> Judgement {
    match heard.message().get(field) {
        Some(found) => ensure(found.as_str() == Some(expected), format!("{field} is {found} and not {expected:?}")),
        None => Err(format!("there is no {field}")),
    }
}

fn player_named(heard: &Response) -> Judgement {
    match heard.message().get("player_id") {
        None => Err(String::from("there is no player_id")),
        Some(id) => {
            let formed = id.as_str().is_some_and(|id| id.parse::<PlayerId>().is_ok());
            ensure(formed, format!("{id} is no player's id"))
        }
    }
}

/// Works in any dialect.
fn asked_in(heard: &Response, field: &str) -> Option<String> {
    fn find(value: &serde_json::Value, field: &str) -> Option<String> {
        let object = value.as_object()?;
        if let Some(text) = object.get(field).and_then(serde_json::Value::as_str) {
            return Some(text.to_owned());
        }
        ["params", "message", "arguments"].iter().find_map(|key| find(object.get(*key)?, field))
    }
    find(&serde_json::from_slice(&heard.sent).ok()?, field)
}
