//! Queries to the manager, and their senders.

use league_protocol::id::{MatchId, RoundId};
use league_protocol::message::game_over::ByPlayer;
use league_protocol::message::query::{LeagueQuery, QueryParams, QueryType};
use league_protocol::message::report::{Account, MatchResultReport, ReportedResult, ResultDetails};
use league_protocol::table::Call;
use serde_json::{Value, json};

use super::{Exam, Member};
use crate::check_log::ensure;
use crate::messages::{TestMessage, rpc};
use crate::response::Response;
use crate::rules::manager as rules;
use crate::shown::holds_secret;

const OPEN: [&str; 5] = ["GET_STANDINGS", "GET_SCHEDULE", "GET_NEXT_MATCH", "GET_PLAYER_STATS", "GET_STATUS"];

impl Exam<'_> {
    fn question(&self, member: &Member, query_type: &str) -> TestMessage {
        let (query, query_params) = (QueryType::GetStatus, QueryParams::default());
        let query = LeagueQuery { league_id: member.league.clone(), query_type: query, query_params };
        let letter = self.letter(&format!("player:{}", member.id), Some(&member.token), &Call::LeagueQuery(query));
        letter.with("query_type", query_type)
    }

    pub(super) async fn query(&self, member: &Member, query_type: &str) -> Response {
        self.say(&self.question(member, query_type)).await
    }

    pub(super) async fn queries(&self, member: &Member) {
        for query_type in OPEN {
            let heard = self.query(member, query_type).await;
            // "Not yet" is an answer, too.
            let answered = heard.json().is_some_and(|answer| answer.get("result").is_some());
            self.book.judge(&rules::QUERY, &heard, ensure(answered, format!("{query_type} is not answered")));
            self.judge_secrets(&heard, member);
        }
        let unknown = self.query(member, "GET_EVERYTHING").await;
        let refused = unknown.error().is_some() || says_no(&unknown);
        self.book.judge(&rules::QUERY_UNKNOWN, &unknown, ensure(refused, "it is answered like any other"));
        let open = self.post(&rpc("get_standings", &json!({}), self.line.next_id())).await;
        self.book.judge(&rules::STANDINGS, &open, ensure(open.is_success(), "it is refused"));
        let others = self.query(member, "GET_REGISTRATIONS").await;
        let told = String::from_utf8_lossy(others.body()).contains("http://");
        self.book.judge(&rules::ENDPOINTS, &others, ensure(!told, "there are endpoints in the answer"));
        self.judge_secrets(&others, member);
    }

    fn judge_secrets(&self, heard: &Response, member: &Member) {
        let text = String::from_utf8_lossy(heard.body()).into_owned();
        let shown = (!member.token.is_empty() && text.contains(&member.token)) || holds_secret(&text);
        self.book.judge(&rules::SECRETS, heard, ensure(!shown, "there is a token in the answer"));
    }

    pub(super) async fn envelopes(&self, member: &Member) {
        let whole = || self.question(member, "GET_STATUS");
        let without = self.say(&whole().without("auth_token")).await;
        self.refused_with(&rules::NO_TOKEN, &without, "E011");
        let wrong = self.say(&whole().with("auth_token", format!("tok-{}-{}", member.id, "A".repeat(43)))).await;
        self.refused_with(&rules::BAD_TOKEN, &wrong, "E012");
        self.judge_error(&wrong);
        self.judge_secrets(&wrong, member);
        let missing = self.say(&whole().without("timestamp")).await;
        self.refused_with(&rules::MISSING_FIELD, &missing, "E003");
        let named = String::from_utf8_lossy(missing.body()).contains("timestamp");
        self.book.judge(&rules::MISSING_FIELD, &missing, ensure(named, "the answer does not name the field"));
        let other = self.say(&whole().with("protocol", "league.v1")).await;
        self.refused_with(&rules::OTHER_PROTOCOL, &other, "E018");
        let local = self.say(&whole().with("timestamp", "2025-01-15T10:30:00+02:00")).await;
        self.refused_with(&rules::BAD_TIME, &local, "E021");
        let strange = self.say(&whole().with("x_unknown_field", json!({ "deep": [1, 2] }))).await;
        self.book.judge(&rules::UNKNOWN_FIELD, &strange, ensure(strange.is_success(), "it is refused"));
    }

    fn judge_error(&self, heard: &Response) {
        let answer = heard.json().unwrap_or_default();
        let data = answer.get("error").and_then(|error| error.get("data")).cloned().unwrap_or_default();
        let text = |field: &str| data.get(field).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
        let complete = text("error_code") && text("hint");
        self.book.judge(&rules::ERRORS, heard, ensure(complete, "error.data has no error_code or no hint"));
    }

    pub(super) async fn reports(&self, member: &Member, referee: Option<&Member>) {
        let report = MatchResultReport {
            league_id: member.league.clone(),
            round_id: Some(RoundId(1)),
            match_id: MatchId::of(RoundId(9_999), 1),
            game_type: Some(self.game.clone()),
            attempt: Some(1),
            result: ReportedResult { winner: None, score: ByPlayer::default(), details: ResultDetails::default() },
            learned: ByPlayer::default(),
            account: Account::default(),
        };
        let call = Call::ReportMatchResult(report);
        // Once as itself and once in the name of a referee: the player is not the referee of the match.
        let own = self.say(&self.letter(&format!("player:{}", member.id), Some(&member.token), &call)).await;
        self.book.judge(&rules::NOT_A_REFEREE, &own, ensure(own.error().is_some(), "it is not refused"));
        let forged = self.say(&self.letter("referee:REF01", Some(&member.token), &call)).await;
        self.book.judge(&rules::FORGED_SENDER, &forged, ensure(forged.error().is_some(), "it is not refused"));
        let Some(referee) = referee else { return self.book.skip(&rules::UNKNOWN_MATCH, "no referee was let in") };
        let unknown = self.say(&self.letter(&format!("referee:{}", referee.id), Some(&referee.token), &call)).await;
        self.book.judge(&rules::UNKNOWN_MATCH, &unknown, ensure(unknown.error().is_some(), "it is not refused"));
    }
}

fn says_no(heard: &Response) -> bool {
    heard.message().get("success") == Some(&json!(false))
}
