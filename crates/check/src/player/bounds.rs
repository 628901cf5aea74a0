//! Requests that must not harm the player.

use league_protocol::answer::JoinAnswer;
use league_protocol::request::MAX_BODY;
use league_protocol::side::Side;
use league_protocol::table::{Call, LimitKind, Method};

use super::{Exam, Gone, joined};
use crate::check_log::ensure;
use crate::response::Response;
use crate::rule::Rule;
use crate::rules::player as rules;

/// A recursive parser without a limit overflows its stack; the request fits the size limit of a body.
const DEPTH: usize = 1_000;

impl Exam<'_> {
    pub(super) async fn bounds(&self) -> Result<(), Gone> {
        self.uninvited().await?;
        self.other_game().await?;
        self.unknown_match().await?;
        self.not_json().await?;
        self.harmless(&rules::EMPTY, 81, b"").await?;
        self.harmless(&rules::NOT_UTF8, 82, b"{\"jsonrpc\": \"2.0\", \"method\": \"\xff\xfe\", \"id\": 1}").await?;
        self.harmless(&rules::NOT_AN_OBJECT, 83, b"null").await?;
        self.harmless(&rules::NESTED, 84, &nested()).await?;
        self.oversized().await?;
        self.hung_up().await
    }

    async fn throw(&self, body: &[u8]) -> Response {
        let headers = self.voice.headers(self.line, Method::GameInvitation);
        self.line.post(&headers, body.to_vec(), self.join_limit()).await
    }

    async fn harmless(&self, rule: &'static Rule, number: u32, body: &[u8]) -> Result<(), Gone> {
        let heard = self.throw(body).await;
        self.still_plays(rule, number, &heard).await
    }

    async fn not_json(&self) -> Result<(), Gone> {
        let heard = self.throw(br#"{"jsonrpc": "2.0", "method": "choose_par"#).await;
        match heard.status() {
            None => self.book.skip(&rules::NOT_JSON, "no answer came"),
            Some(status) => {
                let refused = heard.error_number() == Some(-32700) || status.is_client_error();
                self.book.judge(
                    &rules::NOT_JSON,
                    &heard,
                    ensure(refused, "it is not refused as a body that is not JSON"),
                );
            }
        }
        self.still_plays(&rules::BROKEN, 80, &heard).await
    }

    async fn uninvited(&self) -> Result<(), Gone> {
        let heard = self.ask(&self.test_league.match_no(85)).await;
        self.still_plays(&rules::CHOICE_UNINVITED, 86, &heard).await
    }

    async fn other_game(&self) -> Result<(), Gone> {
        let letter =
            self.test_league.invitation(&self.test_league.match_no(87), Side::A).with("game_type", "no_such_game");
        let heard = self.say(&letter, self.join_limit()).await;
        self.still_plays(&rules::OTHER_GAME, 88, &heard).await
    }

    async fn unknown_match(&self) -> Result<(), Gone> {
        let match_id = self.test_league.match_no(89);
        let letter = self.test_league.word(&match_id, &Call::NotifyMatchResult(self.over(&match_id)));
        let heard = self.say(&letter, self.options.wait(LimitKind::GameOver)).await;
        self.still_plays(&rules::GAME_OVER_UNKNOWN, 90, &heard).await
    }

    async fn oversized(&self) -> Result<(), Gone> {
        let match_id = self.test_league.match_no(91);
        let request = self.voice.write(&self.test_league.invitation(&match_id, Side::A), self.line.next_id());
        // Spaces after the JSON: a parser has to read them before it can ignore them.
        let body = format!("{request}{}", " ".repeat(MAX_BODY));
        let heard = self.throw(body.as_bytes()).await;
        let taken = matches!(joined(heard.body(), &match_id), Some(JoinAnswer::Joined { .. }));
        self.book.judge(&rules::OVERSIZED, &heard, ensure(!taken, "it is taken like any other"));
        self.still_plays(&rules::OVERSIZED_HARMLESS, 92, &heard).await
    }

    async fn hung_up(&self) -> Result<(), Gone> {
        if !self.line.is_plain() {
            return Ok(());
        }
        let beginning = self.line.head("POST", &self.line.path(), "application/json", Some(1_000));
        let heard = self.line.hang_up(format!("{beginning}{{\"jsonrpc\":").as_bytes()).await;
        self.still_plays(&rules::HUNG_UP, 93, &heard).await
    }
}

fn nested() -> Vec<u8> {
    let (open, close) = (r#"{"a":"#.repeat(DEPTH), "}".repeat(DEPTH));
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"handle_game_invitation","params":{open}1{close}}}"#).into_bytes()
}
