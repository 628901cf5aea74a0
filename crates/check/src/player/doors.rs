//! HTTP as real clients use it.

use std::time::Duration;

use league_protocol::frame::Frame;
use league_protocol::side::Side;
use league_protocol::table::Method;

use super::{Exam, joins};
use crate::check_log::ensure;
use crate::rule::Rule;
use crate::rules::player as rules;

const PAUSE: Duration = Duration::from_millis(200);

static BY_HAND: [&Rule; 6] = [
    &rules::KEEP_ALIVE,
    &rules::GET,
    &rules::SPLIT_BODY,
    &rules::IDLE_NEIGHBOUR,
    &rules::ODD_CONTENT_TYPE,
    &rules::HUNG_UP,
];

impl Exam<'_> {
    pub(super) async fn doors(&self) {
        if !self.line.is_plain() {
            BY_HAND.iter().for_each(|rule| self.book.skip(rule, "not checked over TLS"));
            return;
        }
        tokio::join!(self.kept_alive(), self.split_body(), self.odd_content_type(), self.get());
    }

    fn by_hand(&self, number: u32) -> (Vec<u8>, Vec<u8>) {
        let match_id = self.test_league.match_no(number);
        let body = self.voice.write(&self.test_league.invitation(&match_id, Side::A), self.line.next_id()).to_string();
        let mut head = self.line.head("POST", &self.line.path(), "application/json", Some(body.len()));
        for (name, value) in &self.voice.headers(self.line, Method::GameInvitation) {
            let line = format!("{name}: {}\r\n", value.to_str().unwrap_or_default());
            head.insert_str(head.len() - 2, &line);
        }
        (head.into_bytes(), body.into_bytes())
    }

    async fn kept_alive(&self) {
        let (head, body) = self.by_hand(70);
        let (first, second) = self.line.twice(&[head, body].concat(), self.join_limit()).await;
        // A player may close the connection if it announces that.
        let last = second.unwrap_or(first);
        self.book.judge(&rules::KEEP_ALIVE, &last, ensure(last.json().is_some(), last.came_text()));
    }

    async fn split_body(&self) {
        let (head, body) = self.by_hand(71);
        let (one, other) = body.split_at(body.len() / 2);
        let pieces = [head, one.to_vec(), other.to_vec()];
        let match_id = self.test_league.match_no(71);
        let posted = self.posts.waiting(&match_id, Method::GameInvitation);
        let heard = self.line.by_hand(&pieces, PAUSE, self.join_limit()).await;
        let heard = posted.or(heard, self.voice, self.join_limit()).await;
        self.book.judge(&rules::SPLIT_BODY, &heard, joins(&heard, &match_id));
    }

    async fn get(&self) {
        let heard = self.line.get(&self.line.path(), Duration::from_secs(3)).await;
        let judgement = match &heard.came {
            Ok(came) if came.status.is_client_error() => Ok(()),
            Ok(came) => Err(format!("the status is {}", came.status)),
            // An MCP server may answer with an event stream that stays open.
            Err(_) if self.voice.frame() == Frame::Tool => Ok(()),
            Err(silence) => Err(silence.to_string()),
        };
        self.book.judge(&rules::GET, &heard, judgement);
    }

    async fn odd_content_type(&self) {
        let (head, body) = self.by_hand(72);
        let head = String::from_utf8_lossy(&head).replace("content-type: application/json", "content-type: text/plain");
        let heard = self.line.by_hand(&[head.into_bytes(), body], Duration::ZERO, self.join_limit()).await;
        let judgement = match &heard.came {
            Ok(came) => ensure(!came.status.is_server_error(), format!("the status is {}", came.status)),
            Err(silence) => Err(silence.to_string()),
        };
        self.book.judge(&rules::ODD_CONTENT_TYPE, &heard, judgement);
    }

    /// Runs alone: a server that takes one connection at a time would fail all other checks.
    pub(super) async fn idle_neighbour(&self) {
        if !self.line.is_plain() {
            return;
        }
        let Ok(idle) = self.line.idle().await else { return };
        // Enough for a slow server, too short for one that waits until the other connection closes.
        let match_id = self.test_league.match_no(73);
        let limit = self.join_limit().min(Duration::from_secs(3));
        let heard = self.say(&self.test_league.invitation(&match_id, Side::A), limit).await;
        drop(idle);
        self.book.judge(&rules::IDLE_NEIGHBOUR, &heard, joins(&heard, &match_id));
    }
}
