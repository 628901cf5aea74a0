//! Requests that must not harm the player.

use league_protocol::answer::JoinAnswer;
use league_protocol::request::MAX_BODY;
use league_protocol::side::Side;
use league_protocol::table::{Call, LimitKind, Method};

use super::{PlayerCheck, StoppedPlaying, joined};
use crate::check_log::ensure;
use crate::response::Response;
use crate::rule::Rule;
use crate::rules::player as rules;

/// A recursive parser without a limit overflows its stack; the request fits the size limit of a body.
const DEPTH: usize = 1_000;

impl PlayerCheck<'_> {
    pub(super) async fn bounds(&self) -> Result<(), StoppedPlaying> {
        self.uninvited().await?;
        self.other_game().await?;
        self.unknown_match().await?;
        self.not_json().await?;
        self.harmless(&rules::EMPTY, 81, b"").await?;
        self.harmless(&rules::NOT_UTF8, 82, b"{\"jsonrpc\": \"2.0\", \"method\": \"\xff\xfe\", \"id\": 1}").await?;
        self.harmless(&rules::NOT_AN_OBJECT, 83, b"null").await?;
        self.harmless(&rules::NESTED, 84, &nested()).await?;
        self.oversized().await?;
        self.interrupted_request().await
    }

    async fn throw(&self, body: &[u8]) -> Response {
        let headers = self.client.headers(self.dialect, Method::GameInvitation);
        self.client.post(&headers, body.to_vec(), self.join_limit()).await
    }

    async fn harmless(&self, rule: &'static Rule, number: u32, body: &[u8]) -> Result<(), StoppedPlaying> {
        let response = self.throw(body).await;
        self.still_plays(rule, number, &response).await
    }

    async fn not_json(&self) -> Result<(), StoppedPlaying> {
        let response = self.throw(br#"{"jsonrpc": "2.0", "method": "choose_par"#).await;
        match response.status() {
            None => self.log.skip(&rules::NOT_JSON, "no answer came"),
            Some(status) => {
                let refused = response.error_number() == Some(-32700) || status.is_client_error();
                self.log.judge(
                    &rules::NOT_JSON,
                    &response,
                    ensure(refused, "it is not refused as a body that is not JSON"),
                );
            }
        }
        self.still_plays(&rules::BROKEN, 80, &response).await
    }

    async fn uninvited(&self) -> Result<(), StoppedPlaying> {
        let response = self.ask(&self.league.match_id(85)).await;
        self.still_plays(&rules::CHOICE_UNINVITED, 86, &response).await
    }

    async fn other_game(&self) -> Result<(), StoppedPlaying> {
        let (_, response) = self.invite_with(87, "game_type", "no_such_game".into()).await;
        self.still_plays(&rules::OTHER_GAME, 88, &response).await
    }

    async fn unknown_match(&self) -> Result<(), StoppedPlaying> {
        let match_id = self.league.match_id(89);
        let message = self.league.referee_message(&match_id, &Call::NotifyMatchResult(self.over(&match_id)));
        let response = self.send(&message, self.options.wait(LimitKind::GameOver)).await;
        self.still_plays(&rules::GAME_OVER_UNKNOWN, 90, &response).await
    }

    async fn oversized(&self) -> Result<(), StoppedPlaying> {
        let match_id = self.league.match_id(91);
        let request = self.league.invitation(&match_id, Side::A).written(self.dialect, self.client.next_id());
        // Spaces after the JSON: a parser has to read them before it can ignore them.
        let body = format!("{request}{}", " ".repeat(MAX_BODY));
        let response = self.throw(body.as_bytes()).await;
        let taken = matches!(joined(response.body(), &match_id), Some(JoinAnswer::Joined { .. }));
        self.log.judge(&rules::OVERSIZED, &response, ensure(!taken, "it is taken like any other"));
        self.still_plays(&rules::OVERSIZED_HARMLESS, 92, &response).await
    }

    async fn interrupted_request(&self) -> Result<(), StoppedPlaying> {
        if !self.client.is_plain() {
            return Ok(());
        }
        let beginning = self.client.head("POST", &self.client.path(), "application/json", Some(1_000));
        let response = self.client.hang_up(format!("{beginning}{{\"jsonrpc\":").as_bytes()).await;
        self.still_plays(&rules::HUNG_UP, 93, &response).await
    }
}

fn nested() -> Vec<u8> {
    let (open, close) = (r#"{"a":"#.repeat(DEPTH), "}".repeat(DEPTH));
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"handle_game_invitation","params":{open}1{close}}}"#).into_bytes()
}
