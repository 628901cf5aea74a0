//! The first match: an invitation, a choice, the same again, an error and another try.

use std::time::Duration;

use league_protocol::answer::{JoinAnswer, MoveAnswer, ParsedAnswer};
use league_protocol::draw::MAX_NONCE;
use league_protocol::frame::Frame;
use league_protocol::id::{MatchId, PlayerId};
use league_protocol::message::game_error::GameError;
use league_protocol::problem::{Problem, QuestionKind};
use league_protocol::quirk::{Quirk, Quirks};
use league_protocol::side::Side;
use league_protocol::table::{Call, LimitKind};
use league_protocol::time::Timestamp;

use super::{PlayerCheck, joins};
use crate::check_log::{Judgement, RuleViolation, ensure};
use crate::response::{NoResponse, Response};
use crate::rule::Rule;
use crate::rules::player as rules;

impl PlayerCheck<'_> {
    pub(super) async fn first_match(&self, response: &Response, chose: Option<&Response>) -> Result<(), &'static str> {
        let match_id = self.league.match_id(1);
        self.judge_join(response, &match_id);
        if joins(response, &match_id).is_err() {
            return Err("this one does not join");
        }
        let choice = match chose {
            Some(chose) => chose.clone(),
            None => self.ask(&match_id).await,
        };
        self.judge_choice(&choice, &match_id);
        if let Err(NoResponse::TimedOut(_)) = choice.result {
            // Every further request would take as long.
            return Err("this one does not choose in time");
        }
        let reading = self.choice(&choice, &match_id).map(|reading| reading.answer);
        if !matches!(reading, Ok(MoveAnswer::Move(_) | MoveAnswer::Invalid(_))) {
            return Err("this one does not choose");
        }
        let again = self.send(&self.league.invitation(&match_id, Side::A), self.join_limit()).await;
        self.log.judge(&rules::JOIN_AGAIN, &again, joins(&again, &match_id));
        let (first, second) = (response.field("draw_nonce"), again.field("draw_nonce"));
        match &first {
            Some(_) if joins(&again, &match_id).is_err() => {
                self.log.skip(&rules::NONCE_AGAIN, "it does not join again");
            }
            None => self.log.skip(&rules::NONCE_AGAIN, "the player adds no draw_nonce"),
            Some(nonce) => {
                let same = ensure(first == second, format!("first {nonce:?}, then {second:?}"));
                self.log.judge(&rules::NONCE_AGAIN, &again, same);
            }
        }
        self.ask_again(&choice, &match_id).await;
        Ok(())
    }

    async fn ask_again(&self, first: &Response, match_id: &MatchId) {
        let second = self.ask(match_id).await;
        match self.chosen(first, match_id) {
            Err(_) => self.log.skip(&rules::CHOICE_AGAIN, "the first choice was none"),
            Ok(before) => {
                let same = self
                    .chosen(&second, match_id)
                    .and_then(|now| ensure(now == before, format!("first {before}, then {now}")));
                self.log.judge(&rules::CHOICE_AGAIN, &second, same);
            }
        }
        let noticed = self.send(&self.error(match_id), self.options.wait(LimitKind::GameOver)).await;
        self.acknowledged(&rules::GAME_ERROR, &noticed);
        let retry = self.ask(match_id).await;
        // Another rule covers an invalid choice.
        let invalid = matches!(self.choice(&retry, match_id).map(|reading| reading.answer), Ok(MoveAnswer::Invalid(_)));
        let known = invalid && self.chosen(first, match_id).is_err();
        let answered = if known { Ok(()) } else { self.chosen(&retry, match_id).map(|_| ()) };
        self.log.judge(&rules::CHOICE_RETRY, &retry, answered);
    }

    fn error(&self, match_id: &MatchId) -> crate::messages::TestMessage {
        let text = |text: &'static str| Some(smol_str::SmolStr::new_static(text));
        let error = GameError {
            league_id: self.league.league.clone(),
            round_id: Some(self.league.round()),
            match_id: Some(match_id.clone()),
            player_id: Some(PlayerId::numbered(1)),
            affected_player: Some(PlayerId::numbered(1)),
            error_code: text("E001"),
            error_name: text("TIMEOUT_ERROR"),
            error_description: text("TIMEOUT_ERROR"),
            hint: text("no answer came in time; you are asked again"),
            game_state: text("COLLECTING_CHOICES"),
            action_required: text(self.league.answer_name()),
            retryable: Some(true),
            retry_count: Some(1),
            max_retries: Some(3),
            retry_info: None,
            consequence: text("technical loss"),
        };
        self.league.referee_message(match_id, &Call::NotifyGameError(error))
    }

    fn judge_join(&self, response: &Response, match_id: &MatchId) {
        let judge = |rule: &'static Rule, judgement: Judgement| self.log.judge(rule, response, judgement);
        self.log.explain(&rules::JOINS, response, explained(response, QuestionKind::Join, match_id));
        let quirks = match ParsedAnswer::parse(response.body()).map(|layers| layers.join(match_id)) {
            Ok(reading) if matches!(reading.answer, JoinAnswer::Joined { .. }) => reading.quirks,
            Ok(_) | Err(_) => Quirks::default(),
        };
        self.judge_time(response, &rules::JOIN_TIME, &rules::JOIN_PROMPT, self.join_limit());
        judge(&rules::JOIN_TYPE, named(response, "GAME_JOIN_ACK"));
        judge(&rules::JOIN_ACCEPT, no_quirk(quirks, &[Quirk::NoAccept, Quirk::StatusJoin]));
        judge(&rules::JOIN_MATCH, same(response, "match_id", match_id.as_str()));
        judge(&rules::JOIN_PLAYER, player_named(response));
        judge(
            &rules::JOIN_ARRIVAL,
            match response.field("arrival_timestamp") {
                None => Err(String::from("there is no arrival_timestamp")),
                Some(text) => text.parse::<Timestamp>().map(|_| ()).map_err(|bad| bad.to_string()),
            },
        );
        let nonce = match response.message().get("draw_nonce") {
            None => Err(String::from("there is no draw_nonce")),
            Some(nonce) => ensure(
                nonce.as_str().is_some_and(|nonce| (1..=MAX_NONCE).contains(&nonce.len())),
                format!("{nonce} is not a text of 1 to {MAX_NONCE} bytes"),
            ),
        };
        judge(&rules::NONCE, nonce);
        self.judge_envelope(response, quirks);
        self.judge_frame(response, quirks);
        judge(&rules::SHORT_ANSWERS, Ok(()));
    }

    fn judge_choice(&self, response: &Response, match_id: &MatchId) {
        let judge = |rule: &'static Rule, judgement: Judgement| self.log.judge(rule, response, judgement);
        if matches!(response.result, Err(NoResponse::TooLong)) {
            judge(&rules::SHORT_ANSWERS, Err(response.result_text()));
        }
        self.judge_time(response, &rules::CHOICE_TIME, &rules::CHOICE_PROMPT, self.move_limit());
        let reading = match self.choice(response, match_id) {
            Ok(reading) => reading,
            Err(_) => {
                if !matches!(response.result, Err(NoResponse::TimedOut(_))) {
                    self.log.explain(&rules::CHOOSES, response, explained(response, self.league.kind(), match_id));
                }
                return;
            }
        };
        match &reading.answer {
            MoveAnswer::Move(_) => {
                judge(&rules::CHOOSES, Ok(()));
                judge(&rules::CHOICE_EXACT, Ok(()));
            }
            MoveAnswer::Invalid(text) if self.league.kind() == QuestionKind::Move => {
                judge(&rules::CHOOSES, Ok(()));
                judge(&rules::CHOICE_EXACT, Err(format!("{text:?} is not a legal move")));
            }
            MoveAnswer::Invalid(_) => {
                let found = explained(response, self.league.kind(), match_id);
                // A value under the right name is a wrong choice; anything else is no choice.
                if matches!(
                    response.problem(self.league.kind(), match_id),
                    Some(Problem::WrongValue { .. } | Problem::TwoAnswers)
                ) {
                    judge(&rules::CHOOSES, Ok(()));
                    self.log.explain(&rules::CHOICE_EXACT, response, found);
                } else {
                    self.log.explain(&rules::CHOOSES, response, found);
                    self.log.skip(&rules::CHOICE_EXACT, "there is no choice");
                }
            }
            MoveAnswer::Error(_) | MoveAnswer::Nothing => {
                self.log.explain(&rules::CHOOSES, response, explained(response, self.league.kind(), match_id));
                self.log.skip(&rules::CHOICE_EXACT, "there is no choice");
                return;
            }
        }
        judge(&rules::CHOICE_TYPE, named(response, self.league.answer_name()));
        judge(&rules::CHOICE_MATCH, same(response, "match_id", match_id.as_str()));
        judge(&rules::CHOICE_PLAYER, player_named(response));
        self.judge_envelope(response, reading.quirks);
        self.judge_frame(response, reading.quirks);
    }

    fn judge_time(&self, response: &Response, limit: &'static Rule, prompt: &'static Rule, span: Duration) {
        match (&response.result, response.took()) {
            (_, Some(took)) => {
                self.log.judge(limit, response, ensure(took <= span, format!("it took {took:?}")));
                let found = format!("it took {took:?} of {span:?}");
                self.log.judge(prompt, response, ensure(took <= span.mul_f32(0.8), found));
            }
            (Err(NoResponse::TimedOut(after)), None) => {
                self.log.judge(limit, response, Err(format!("no answer within {after:?}")));
                self.log.skip(prompt, "no answer came");
            }
            (Ok(_) | Err(_), None) => {
                self.log.skip(limit, "no answer came");
                self.log.skip(prompt, "no answer came");
            }
        }
    }

    fn judge_envelope(&self, response: &Response, quirks: Quirks) {
        let groups: [(&'static Rule, &[Quirk]); 4] = [
            (&rules::PROTOCOL, &[Quirk::NoProtocol, Quirk::OddProtocol]),
            (&rules::SENDER, &[Quirk::NoSender, Quirk::OddSender]),
            (&rules::TIMESTAMP, &[Quirk::NoTimestamp, Quirk::OddTime]),
            (&rules::TIMESTAMP_FORM, &[Quirk::FractionalTime, Quirk::OffsetTime]),
        ];
        for (rule, watched) in groups {
            self.log.judge(rule, response, no_quirk(quirks, watched));
        }
        let expected = sent_field(response, "conversation_id").unwrap_or_default();
        self.log.judge(&rules::CONVERSATION, response, same(response, "conversation_id", &expected));
        let echoed = String::from_utf8_lossy(response.body()).contains(&self.league.pass);
        self.log.judge(&rules::ECHO, response, ensure(!echoed, "the answer holds the auth_token that it was shown"));
    }

    fn judge_frame(&self, response: &Response, quirks: Quirks) {
        // The path, and whether answers are posted, do not matter here.
        let canonical = self.dialect.frame() == Frame::Direct && self.dialect.in_frame(Frame::Direct) == *self.dialect;
        let form = ensure(canonical, format!("understood only in frame {}", self.dialect));
        self.log.judge(&rules::FRAME, response, form);
        // A bare message may be answered by a bare one, and a tool's answer may be in its text.
        let mut odd = vec![Quirk::AnswerInParams, Quirk::AnswerInData, Quirk::NullError];
        if self.dialect.frame().is_rpc() {
            odd.push(Quirk::BareAnswer);
        }
        self.log.judge(&rules::PLACE, response, no_quirk(quirks, &odd));
        let status = response.status().unwrap_or_default();
        self.log.judge(&rules::STATUS, response, ensure(status.as_u16() == 200, format!("the status is {status}")));
        let kind = response.content_type().unwrap_or_else(|| String::from("missing"));
        let fine = matches!(kind.as_str(), "application/json" | "text/event-stream");
        self.log.judge(&rules::CONTENT_TYPE, response, ensure(fine, format!("the Content-Type is {kind}")));
    }
}

fn explained(response: &Response, question: QuestionKind, match_id: &MatchId) -> Result<(), RuleViolation> {
    response.problem(question, match_id).map_or(Ok(()), |problem| Err(problem.into()))
}

fn no_quirk(quirks: Quirks, watched: &[Quirk]) -> Judgement {
    match watched.iter().find(|quirk| quirks.has(**quirk)) {
        None => Ok(()),
        Some(quirk) => Err(quirk.what().to_owned()),
    }
}

fn named(response: &Response, name: &str) -> Judgement {
    match response.field("message_type") {
        Some(found) => ensure(found == name, format!("message_type is {found:?}")),
        None => Err(String::from("there is no message_type")),
    }
}

fn same(response: &Response, field: &str, expected: &str) -> Judgement {
    match response.message().get(field) {
        Some(found) => ensure(found.as_str() == Some(expected), format!("{field} is {found} and not {expected:?}")),
        None => Err(format!("there is no {field}")),
    }
}

fn player_named(response: &Response) -> Judgement {
    match response.message().get("player_id") {
        None => Err(String::from("there is no player_id")),
        Some(id) => {
            let formed = id.as_str().is_some_and(|id| id.parse::<PlayerId>().is_ok());
            ensure(formed, format!("{id} is no player's id"))
        }
    }
}

/// Works in any dialect.
fn sent_field(response: &Response, field: &str) -> Option<String> {
    fn find(value: &serde_json::Value, field: &str) -> Option<String> {
        let object = value.as_object()?;
        if let Some(text) = object.get(field).and_then(serde_json::Value::as_str) {
            return Some(text.to_owned());
        }
        ["params", "message", "arguments"].iter().find_map(|key| find(object.get(*key)?, field))
    }
    find(&serde_json::from_slice(&response.sent).ok()?, field)
}
