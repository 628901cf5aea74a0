//! HTTP as real clients use it.

use std::time::Duration;

use league_protocol::frame::Frame;
use league_protocol::side::Side;
use league_protocol::table::Method;

use super::{PlayerCheck, joins};
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

impl PlayerCheck<'_> {
    pub(super) async fn http_requests(&self) {
        if !self.client.is_plain() {
            BY_HAND.iter().for_each(|rule| self.log.skip(rule, "not checked over TLS"));
            return;
        }
        tokio::join!(self.kept_alive(), self.split_body(), self.odd_content_type(), self.get());
    }

    fn by_hand(&self, number: u32) -> (Vec<u8>, Vec<u8>) {
        let match_id = self.league.match_id(number);
        let body = self.league.invitation(&match_id, Side::A).written(self.dialect, self.client.next_id()).to_string();
        let mut head = self.client.head("POST", &self.client.path(), "application/json", Some(body.len()));
        for (name, value) in &self.client.headers(self.dialect, Method::GameInvitation) {
            let header = format!("{name}: {}\r\n", value.to_str().unwrap_or_default());
            head.insert_str(head.len() - 2, &header);
        }
        (head.into_bytes(), body.into_bytes())
    }

    async fn kept_alive(&self) {
        let (head, body) = self.by_hand(70);
        let (first, second) = self.client.twice(&[head, body].concat(), self.join_limit()).await;
        // A player may close the connection if it announces that.
        let last = second.unwrap_or(first);
        self.log.judge(&rules::KEEP_ALIVE, &last, ensure(last.json().is_some(), last.result_text()));
    }

    async fn split_body(&self) {
        let (head, body) = self.by_hand(71);
        let (one, other) = body.split_at(body.len() / 2);
        let pieces = [head, one.to_vec(), other.to_vec()];
        let match_id = self.league.match_id(71);
        let posted = self.posts.waiting(&match_id, Method::GameInvitation);
        let response = self.client.by_hand(&pieces, PAUSE, self.join_limit()).await;
        let response = posted.or(response, self.dialect, self.join_limit()).await;
        self.log.judge(&rules::SPLIT_BODY, &response, joins(&response, &match_id));
    }

    async fn get(&self) {
        let response = self.client.get(&self.client.path(), Duration::from_secs(3)).await;
        let judgement = match &response.result {
            Ok(answer) if answer.status.is_client_error() => Ok(()),
            Ok(answer) => Err(format!("the status is {}", answer.status)),
            // An MCP server may answer with an event stream that stays open.
            Err(_) if self.dialect.frame() == Frame::Tool => Ok(()),
            Err(error) => Err(error.to_string()),
        };
        self.log.judge(&rules::GET, &response, judgement);
    }

    async fn odd_content_type(&self) {
        let (head, body) = self.by_hand(72);
        let head = String::from_utf8_lossy(&head).replace("content-type: application/json", "content-type: text/plain");
        let response = self.client.by_hand(&[head.into_bytes(), body], Duration::ZERO, self.join_limit()).await;
        let judgement = match &response.result {
            Ok(answer) => ensure(!answer.status.is_server_error(), format!("the status is {}", answer.status)),
            Err(error) => Err(error.to_string()),
        };
        self.log.judge(&rules::ODD_CONTENT_TYPE, &response, judgement);
    }

    /// Runs alone: a server that takes one connection at a time would fail all other checks.
    pub(super) async fn idle_neighbour(&self) {
        if !self.client.is_plain() {
            return;
        }
        let Ok(idle) = self.client.connect().await else { return };
        // Enough for a slow server, too short for one that waits until the other connection closes.
        let match_id = self.league.match_id(73);
        let limit = self.join_limit().min(Duration::from_secs(3));
        let response = self.send(&self.league.invitation(&match_id, Side::A), limit).await;
        drop(idle);
        self.log.judge(&rules::IDLE_NEIGHBOUR, &response, joins(&response, &match_id));
    }
}
