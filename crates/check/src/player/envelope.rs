//! Envelopes, concurrent matches, sides and games.

use league_protocol::answer::JoinAnswer;
use league_protocol::id::MatchId;
use league_protocol::message::operate::Empty;
use league_protocol::side::Side;
use league_protocol::table::{Call, LimitKind};
use serde_json::json;

use super::{Exam, joined, joins};
use crate::check_log::ensure;
use crate::messages::{TestLeague, TestMessage};
use crate::rule::Rule;
use crate::rules::player as rules;
use crate::shown::holds_secret;

impl Exam<'_> {
    pub(super) async fn envelopes(&self) {
        let strange = json!({ "deep": [1, 2, { "er": null }], "text": "…" });
        tokio::join!(
            self.takes(&rules::UNKNOWN_FIELD, 40, |letter| letter.with("x_unknown_field", strange)),
            self.takes(&rules::FRACTION, 41, |letter| letter.with("timestamp", "2025-01-15T10:30:00.123456Z")),
            self.takes(&rules::OFFSET, 42, |letter| letter.with("timestamp", "2025-01-15T10:30:00+00:00")),
            self.refuses(&rules::OTHER_PROTOCOL, 43, |letter| letter.with("protocol", "league.v1")),
            self.refuses(&rules::BAD_TIME, 44, |letter| letter.with("timestamp", "2025-01-15T10:30:00+02:00")),
        );
    }

    async fn takes(&self, rule: &'static Rule, number: u32, change: impl FnOnce(TestMessage) -> TestMessage) {
        let match_id = self.test_league.match_no(number);
        let letter = change(self.test_league.invitation(&match_id, Side::A));
        let heard = self.say(&letter, self.join_limit()).await;
        self.book.judge(rule, &heard, joins(&heard, &match_id));
    }

    async fn refuses(&self, rule: &'static Rule, number: u32, change: impl FnOnce(TestMessage) -> TestMessage) {
        let match_id = self.test_league.match_no(number);
        let letter = change(self.test_league.invitation(&match_id, Side::A));
        let heard = self.say(&letter, self.join_limit()).await;
        let taken = matches!(joined(heard.body(), &match_id), Some(JoinAnswer::Joined { .. }));
        self.book.judge(rule, &heard, ensure(!taken, "it is joined like any other"));
    }

    pub(super) async fn sides_and_games(&self) {
        let (side_b, next) = (self.test_league.match_no(10), self.test_league.match_no(11));
        let heard = self.say(&self.test_league.invitation(&side_b, Side::B), self.join_limit()).await;
        self.book.judge(&rules::SIDE_B, &heard, joins(&heard, &side_b));
        let (_, after) = self.invite(11).await;
        self.book.judge(&rules::NEXT_MATCH, &after, joins(&after, &next));
        match (heard.field("draw_nonce"), after.field("draw_nonce")) {
            (Some(one), Some(other)) => {
                let fresh = ensure(one != other, format!("{one:?} in two matches"));
                self.book.judge(&rules::NONCE_FRESH, &after, fresh);
            }
            (_, _) => self.book.skip(&rules::NONCE_FRESH, "the player adds no draw_nonce"),
        }
    }

    pub(super) async fn parallel(&self) {
        let both = [20, 21].map(|number| self.test_league.match_no(number));
        let invite = |match_id: &MatchId| self.test_league.invitation(match_id, Side::A);
        let letters = both.each_ref().map(invite);
        let limit = self.join_limit();
        let joined = tokio::join!(self.say(&letters[0], limit), self.say(&letters[1], limit));
        let asked = tokio::join!(self.ask(&both[1]), self.ask(&both[0]));
        let answers = [(&both[0], &joined.0), (&both[1], &joined.1), (&both[1], &asked.0), (&both[0], &asked.1)];
        for (match_id, heard) in answers {
            let mixed = heard.field("match_id").filter(|named| named != match_id.as_str());
            let said = |named: &String| format!("the answer for {match_id} names {named}");
            self.book.judge(&rules::PARALLEL_APART, heard, mixed.as_ref().map_or(Ok(()), |named| Err(said(named))));
        }
        for (match_id, heard) in &answers[..2] {
            self.book.judge(&rules::PARALLEL, heard, joins(heard, match_id));
        }
        for (match_id, heard) in &answers[2..] {
            let answered = self.chosen(heard, match_id).map(|_| ());
            // Another rule covers an invalid choice.
            let invalid = answered.as_ref().is_err_and(|why| why.ends_with("is no choice"));
            self.book.judge(&rules::PARALLEL, heard, if invalid { Ok(()) } else { answered });
        }
    }

    pub(super) async fn state(&self) {
        let heard = self
            .say(&self.test_league.plain(&Call::GetPlayerState(Empty {})), self.options.wait(LimitKind::Generic))
            .await;
        if !heard.is_success() {
            self.book.skip(&rules::STATE_SECRETS, "the player does not show its state");
            return;
        }
        let text = String::from_utf8_lossy(heard.body()).into_owned();
        let told = tells_a_secret(&text, self.test_league);
        self.book.judge(&rules::STATE_SECRETS, &heard, ensure(!told, "the state holds a token"));
    }
}

/// Finds the checker's token, one in the league's form, or any value under a token's name.
fn tells_a_secret(text: &str, test_league: &TestLeague) -> bool {
    let named = ["\"auth_token\":\"", "\"auth_token\": \"", "\"token\":\"", "\"token\": \""];
    let under_its_name =
        named.iter().any(|name| text.split(name).skip(1).any(|rest| !rest.starts_with('"') && !rest.starts_with("…")));
    text.contains(&test_league.pass) || holds_secret(text) || under_its_name
}
