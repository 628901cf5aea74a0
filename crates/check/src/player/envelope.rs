//! Envelopes, concurrent matches, sides and games.

use league_protocol::answer::JoinAnswer;
use league_protocol::id::MatchId;
use league_protocol::message::operate::Empty;
use league_protocol::side::Side;
use league_protocol::table::{Call, LimitKind};
use serde_json::{Value, json};

use super::{PlayerCheck, joined, joins};
use crate::check_log::ensure;
use crate::excerpt::holds_secret;
use crate::messages::TestLeague;
use crate::response::Response;
use crate::rule::Rule;
use crate::rules::player as rules;

impl PlayerCheck<'_> {
    pub(super) async fn envelopes(&self) {
        let strange = json!({ "deep": [1, 2, { "er": null }], "text": "…" });
        tokio::join!(
            self.takes(&rules::UNKNOWN_FIELD, 40, "x_unknown_field", strange),
            self.takes(&rules::FRACTION, 41, "timestamp", json!("2025-01-15T10:30:00.123456Z")),
            self.takes(&rules::OFFSET, 42, "timestamp", json!("2025-01-15T10:30:00+00:00")),
            self.refuses(&rules::OTHER_PROTOCOL, 43, "protocol", "league.v1"),
            self.refuses(&rules::BAD_TIME, 44, "timestamp", "2025-01-15T10:30:00+02:00"),
        );
    }

    async fn takes(&self, rule: &'static Rule, number: u32, field: &str, value: Value) {
        let (match_id, response) = self.invite_with(number, field, value).await;
        self.log.judge(rule, &response, joins(&response, &match_id));
    }

    async fn refuses(&self, rule: &'static Rule, number: u32, field: &str, value: &str) {
        let (match_id, response) = self.invite_with(number, field, value.into()).await;
        let taken = matches!(joined(response.body(), &match_id), Some(JoinAnswer::Joined { .. }));
        self.log.judge(rule, &response, ensure(!taken, "it is joined like any other"));
    }

    pub(super) async fn invite_with(&self, number: u32, field: &str, value: Value) -> (MatchId, Response) {
        let match_id = self.league.match_id(number);
        let message = self.league.invitation(&match_id, Side::A).with(field, value);
        (match_id, self.send(&message, self.join_limit()).await)
    }

    pub(super) async fn sides_and_games(&self) {
        let (side_b, next) = (self.league.match_id(10), self.league.match_id(11));
        let response = self.send(&self.league.invitation(&side_b, Side::B), self.join_limit()).await;
        self.log.judge(&rules::SIDE_B, &response, joins(&response, &side_b));
        let (_, after) = self.invite(11).await;
        self.log.judge(&rules::NEXT_MATCH, &after, joins(&after, &next));
        match (response.field("draw_nonce"), after.field("draw_nonce")) {
            (Some(one), Some(other)) => {
                let fresh = ensure(one != other, format!("{one:?} in two matches"));
                self.log.judge(&rules::NONCE_FRESH, &after, fresh);
            }
            (_, _) => self.log.skip(&rules::NONCE_FRESH, "the player adds no draw_nonce"),
        }
    }

    pub(super) async fn parallel(&self) {
        let both = [20, 21].map(|number| self.league.match_id(number));
        let invite = |match_id: &MatchId| self.league.invitation(match_id, Side::A);
        let messages = both.each_ref().map(invite);
        let limit = self.join_limit();
        let joined = tokio::join!(self.send(&messages[0], limit), self.send(&messages[1], limit));
        let chosen = tokio::join!(self.ask(&both[1]), self.ask(&both[0]));
        let answers = [(&both[0], &joined.0), (&both[1], &joined.1), (&both[1], &chosen.0), (&both[0], &chosen.1)];
        for (match_id, response) in answers {
            let mixed = response.field("match_id").filter(|named| named != match_id.as_str());
            let apart = mixed.map_or(Ok(()), |named| Err(format!("the answer for {match_id} names {named}")));
            self.log.judge(&rules::PARALLEL_APART, response, apart);
        }
        for (match_id, response) in &answers[..2] {
            self.log.judge(&rules::PARALLEL, response, joins(response, match_id));
        }
        for (match_id, response) in &answers[2..] {
            let answered = self.chosen(response, match_id).map(|_| ());
            // Another rule covers an invalid choice.
            let invalid = answered.as_ref().is_err_and(|why| why.ends_with("is no choice"));
            self.log.judge(&rules::PARALLEL, response, if invalid { Ok(()) } else { answered });
        }
    }

    pub(super) async fn state(&self) {
        let response = self
            .send(&self.league.without_token(&Call::GetPlayerState(Empty {})), self.options.wait(LimitKind::Generic))
            .await;
        if !response.is_success() {
            self.log.skip(&rules::STATE_SECRETS, "the player does not show its state");
            return;
        }
        let text = String::from_utf8_lossy(response.body()).into_owned();
        let reveals = reveals_secret(&text, self.league);
        self.log.judge(&rules::STATE_SECRETS, &response, ensure(!reveals, "the state holds a token"));
    }
}

/// Finds the checker's token, one in the league's form, or any value under a token's name.
fn reveals_secret(text: &str, league: &TestLeague) -> bool {
    let named = ["\"auth_token\":\"", "\"auth_token\": \"", "\"token\":\"", "\"token\": \""];
    let under_its_name =
        named.iter().any(|name| text.split(name).skip(1).any(|rest| !rest.starts_with('"') && !rest.starts_with("…")));
    text.contains(&league.pass) || holds_secret(text) || under_its_name
}
