//! Queries to the manager, and their senders.

use league_protocol::id::{MatchId, RoundId};
use league_protocol::message::game_over::ByPlayer;
use league_protocol::message::query::{LeagueQuery, QueryParams, QueryType};
use league_protocol::message::report::{Account, MatchResultReport, ReportedResult, ResultDetails};
use league_protocol::table::Call;
use serde_json::{Value, json};

use super::{ManagerCheck, Member};
use crate::check_log::ensure;
use crate::excerpt::holds_secret;
use crate::messages::{TestMessage, rpc};
use crate::response::Response;
use crate::rules::manager as rules;

const OPEN: [&str; 5] = ["GET_STANDINGS", "GET_SCHEDULE", "GET_NEXT_MATCH", "GET_PLAYER_STATS", "GET_STATUS"];

impl ManagerCheck<'_> {
    fn question(&self, member: &Member, query_type: &str) -> TestMessage {
        let (query, query_params) = (QueryType::GetStatus, QueryParams::default());
        let query = LeagueQuery { league_id: member.league.clone(), query_type: query, query_params };
        let message = self.message(&format!("player:{}", member.id), Some(&member.token), &Call::LeagueQuery(query));
        message.with("query_type", query_type)
    }

    pub(super) async fn query(&self, member: &Member, query_type: &str) -> Response {
        self.send(&self.question(member, query_type)).await
    }

    pub(super) async fn queries(&self, member: &Member) {
        for query_type in OPEN {
            let response = self.query(member, query_type).await;
            // "Not yet" is an answer, too.
            let answered = response.json().is_some_and(|answer| answer.get("result").is_some());
            self.log.judge(&rules::QUERY, &response, ensure(answered, format!("{query_type} is not answered")));
            self.judge_secrets(&response, member);
        }
        let unknown = self.query(member, "GET_EVERYTHING").await;
        let refused = unknown.error().is_some() || says_no(&unknown);
        self.log.judge(&rules::QUERY_UNKNOWN, &unknown, ensure(refused, "it is answered like any other"));
        let open = self.post(&rpc("get_standings", &json!({}), self.client.next_id())).await;
        self.log.judge(&rules::STANDINGS, &open, ensure(open.is_success(), "it is refused"));
        let others = self.query(member, "GET_REGISTRATIONS").await;
        let reveals = String::from_utf8_lossy(others.body()).contains("http://");
        self.log.judge(&rules::ENDPOINTS, &others, ensure(!reveals, "there are endpoints in the answer"));
        self.judge_secrets(&others, member);
    }

    fn judge_secrets(&self, response: &Response, member: &Member) {
        let text = String::from_utf8_lossy(response.body()).into_owned();
        let reveals = (!member.token.is_empty() && text.contains(&member.token)) || holds_secret(&text);
        self.log.judge(&rules::SECRETS, response, ensure(!reveals, "there is a token in the answer"));
    }

    pub(super) async fn envelopes(&self, member: &Member) {
        let whole = || self.question(member, "GET_STATUS");
        let without = self.send(&whole().without("auth_token")).await;
        self.refused_with(&rules::NO_TOKEN, &without, "E011");
        let wrong = self.send(&whole().with("auth_token", format!("tok-{}-{}", member.id, "A".repeat(43)))).await;
        self.refused_with(&rules::BAD_TOKEN, &wrong, "E012");
        self.judge_error(&wrong);
        self.judge_secrets(&wrong, member);
        let missing = self.send(&whole().without("timestamp")).await;
        self.refused_with(&rules::MISSING_FIELD, &missing, "E003");
        let named = String::from_utf8_lossy(missing.body()).contains("timestamp");
        self.log.judge(&rules::MISSING_FIELD, &missing, ensure(named, "the answer does not name the field"));
        let other = self.send(&whole().with("protocol", "league.v1")).await;
        self.refused_with(&rules::OTHER_PROTOCOL, &other, "E018");
        let local = self.send(&whole().with("timestamp", "2025-01-15T10:30:00+02:00")).await;
        self.refused_with(&rules::BAD_TIME, &local, "E021");
        let strange = self.send(&whole().with("x_unknown_field", json!({ "deep": [1, 2] }))).await;
        self.log.judge(&rules::UNKNOWN_FIELD, &strange, ensure(strange.is_success(), "it is refused"));
    }

    fn judge_error(&self, response: &Response) {
        let answer = response.json().unwrap_or_default();
        let data = answer.get("error").and_then(|error| error.get("data")).cloned().unwrap_or_default();
        let text = |field: &str| data.get(field).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
        let complete = text("error_code") && text("hint");
        self.log.judge(&rules::ERRORS, response, ensure(complete, "error.data has no error_code or no hint"));
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
            signatures: ByPlayer::default(),
            draw_commitments: Vec::new(),
        };
        let call = Call::ReportMatchResult(report);
        // Once as itself and once in the name of a referee: the player is not the referee of the match.
        let own = self.send(&self.message(&format!("player:{}", member.id), Some(&member.token), &call)).await;
        self.log.judge(&rules::NOT_A_REFEREE, &own, ensure(own.error().is_some(), "it is not refused"));
        let forged = self.send(&self.message("referee:REF01", Some(&member.token), &call)).await;
        self.log.judge(&rules::FORGED_SENDER, &forged, ensure(forged.error().is_some(), "it is not refused"));
        let Some(referee) = referee else { return self.log.skip(&rules::UNKNOWN_MATCH, "no referee was let in") };
        let unknown = self.send(&self.message(&format!("referee:{}", referee.id), Some(&referee.token), &call)).await;
        self.log.judge(&rules::UNKNOWN_MATCH, &unknown, ensure(unknown.error().is_some(), "it is not refused"));
    }
}

fn says_no(response: &Response) -> bool {
    response.message().get("success") == Some(&json!(false))
}
