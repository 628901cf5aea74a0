use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};
use league_protocol::answer::{ParsedAnswer, PeerError};
use league_protocol::id::MatchId;
use league_protocol::problem::{Problem, QuestionKind};
use league_wire::exchange::{CallError, Exchange, Failure};
use serde_json::{Map, Value};

use crate::excerpt::excerpt;

#[derive(Clone, Debug)]
pub(crate) struct ResponseBody {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    /// The JSON of the answer, extracted from an event stream if necessary.
    pub(crate) body: Bytes,
    pub(crate) took: Duration,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum NoResponse {
    TimedOut(Duration),
    Broken(String),
    TooLong,
}

impl std::fmt::Display for NoResponse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TimedOut(limit) => write!(f, "no whole answer within {limit:?}"),
            Self::Broken(why) => write!(f, "no answer: {why}"),
            Self::TooLong => f.write_str("an answer of more than 64 KiB"),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Response {
    pub(crate) sent: Bytes,
    pub(crate) result: Result<ResponseBody, NoResponse>,
}

impl ResponseBody {
    pub(crate) fn of(exchange: &Exchange) -> Self {
        Self {
            status: exchange.status,
            headers: exchange.headers.clone(),
            body: exchange.body.clone(),
            took: exchange.receipt.last_byte.unwrap_or_default(),
        }
    }
}

impl Response {
    pub(crate) fn of(sent: Bytes, result: Result<Exchange, CallError>) -> Self {
        let result = result.map(|exchange| ResponseBody::of(&exchange)).map_err(|error| {
            let limit = error.receipt.limit;
            match error.kind {
                Failure::TimedOut => NoResponse::TimedOut(limit),
                Failure::TooLong => NoResponse::TooLong,
                Failure::NotListening => NoResponse::Broken(String::from("nothing listens there (connection refused)")),
                Failure::Unreachable(why) | Failure::HungUp(why) | Failure::Unwritable(why) => NoResponse::Broken(why),
                Failure::Refused => NoResponse::Broken(String::from("not tried")),
            }
        });
        Self { sent, result }
    }

    /// For a request that was not sent because no time was left.
    pub(crate) fn nothing(limit: Duration) -> Self {
        Self { sent: Bytes::new(), result: Err(NoResponse::TimedOut(limit)) }
    }

    pub(crate) fn problem(&self, question: QuestionKind, match_id: &MatchId) -> Option<Problem> {
        match &self.result {
            Ok(answer) => Problem::of_answer(question, match_id, answer.status.as_u16(), &answer.body),
            Err(NoResponse::TimedOut(limit)) => Some(Problem::silent(*limit)),
            Err(NoResponse::Broken(_)) => Some(Problem::HungUp),
            Err(NoResponse::TooLong) => Some(Problem::TooLong),
        }
    }

    pub(crate) fn request_text(&self) -> String {
        excerpt(&String::from_utf8_lossy(&self.sent))
    }

    pub(crate) fn result_text(&self) -> String {
        match &self.result {
            Ok(answer) => format!("{} {}", answer.status.as_u16(), excerpt(&String::from_utf8_lossy(&answer.body))),
            Err(error) => error.to_string(),
        }
    }

    pub(crate) fn took(&self) -> Option<Duration> {
        self.result.as_ref().ok().map(|answer| answer.took)
    }

    pub(crate) fn body(&self) -> &[u8] {
        self.result.as_ref().map(|answer| &answer.body[..]).unwrap_or_default()
    }

    pub(crate) fn status(&self) -> Option<StatusCode> {
        self.result.as_ref().ok().map(|answer| answer.status)
    }

    pub(crate) fn json(&self) -> Option<Value> {
        serde_json::from_slice(self.body()).ok()
    }

    pub(crate) fn error(&self) -> Option<PeerError> {
        ParsedAnswer::parse(self.body()).ok()?.error()
    }

    pub(crate) fn error_number(&self) -> Option<i64> {
        self.json()?.get("error")?.get("code")?.as_i64()
    }

    pub(crate) fn is_success(&self) -> bool {
        ParsedAnswer::parse(self.body()).is_ok_and(|layers| layers.error().is_none())
            && self.status().is_some_and(|status| !status.is_server_error())
    }

    /// The innermost object with a field of a message.
    pub(crate) fn message(&self) -> Map<String, Value> {
        fn innermost(value: Value) -> Option<Map<String, Value>> {
            const SIGNS: [&str; 7] =
                ["message_type", "type", "accept", "accepted", "parity_choice", "match_id", "status"];
            let Value::Object(mut object) = value else { return None };
            let text = |content: Value| {
                let text = content.get(0)?.get("text")?.as_str()?.to_owned();
                serde_json::from_str(&text).ok()
            };
            let inner = ["result", "structuredContent", "params", "data"]
                .into_iter()
                .find_map(|key| object.get(key).cloned().and_then(innermost))
                .or_else(|| object.get("content").cloned().and_then(text).and_then(innermost));
            inner.or_else(|| SIGNS.iter().any(|sign| object.contains_key(*sign)).then(|| std::mem::take(&mut object)))
        }
        self.json().and_then(innermost).unwrap_or_default()
    }

    pub(crate) fn field(&self, name: &str) -> Option<String> {
        self.message().get(name)?.as_str().map(str::to_owned)
    }

    /// Without parameters.
    pub(crate) fn content_type(&self) -> Option<String> {
        let value = self.result.as_ref().ok()?.headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
        Some(value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
    }
}

/// In an event stream, the last event with data.
pub(crate) fn out_of_stream(headers: &HeaderMap, body: &Bytes) -> Bytes {
    let streamed = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.starts_with("text/event-stream"));
    if !streamed {
        return body.clone();
    }
    let text = String::from_utf8_lossy(body);
    let mut data = text.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim_start);
    data.rfind(|data| data.starts_with('{')).map_or_else(Bytes::new, |data| Bytes::from(data.to_owned()))
}
