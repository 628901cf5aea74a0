//! Log lines for refused requests, limited per address so that a client cannot fill the log.
//! The next line says how many were dropped.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use league_protocol::envelope::ReceivedEnvelope;
use league_protocol::error::RequestError;
use league_protocol::table::Method;

use crate::client_network::ClientNetwork;
use crate::rate::{KeyedLimiter, Rate};

const LINES_PER_ADDRESS: Rate = Rate::new(5, 100);
const MAX_SENDER: usize = 64;

#[derive(Clone, Copy, Debug)]
pub struct RefusedRequest<'a> {
    pub fault: &'a RequestError,
    pub method: Option<Method>,
    /// The part of the envelope that could be read.
    pub head: &'a ReceivedEnvelope,
    pub peer: SocketAddr,
}

impl RefusedRequest<'_> {
    pub fn message_name(&self) -> &'static str {
        self.method.map_or("a request", |method| method.row().message.unwrap_or(method.row().name))
    }

    pub fn is_internal(&self) -> bool {
        self.fault.code == Some(league_protocol::error::ErrorCode::E015)
    }

    fn text(&self) -> String {
        let sender = self.head.sender.as_good().map_or_else(
            || String::from("an unnamed sender"),
            |sender| sender.as_str().chars().take(MAX_SENDER).collect::<String>(),
        );
        let code = self.fault.code.map_or_else(|| self.fault.rpc.to_string(), |code| code.as_str().to_owned());
        format!(
            "{} from {sender} at {} is refused with {code}: {}",
            self.message_name(),
            self.peer.ip(),
            self.fault.message
        )
    }
}

#[derive(Debug)]
pub struct RefusalLog {
    limiter: KeyedLimiter<ClientNetwork>,
    dropped: AtomicU64,
}

impl Default for RefusalLog {
    fn default() -> Self {
        Self { limiter: KeyedLimiter::new(LINES_PER_ADDRESS), dropped: AtomicU64::new(0) }
    }
}

impl RefusalLog {
    /// `None` if the address has reached its limit.
    pub fn line(&self, refusal: &RefusedRequest<'_>) -> Option<String> {
        if self.limiter.check(&ClientNetwork::of(refusal.peer)).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        let mut text = refusal.text();
        let dropped = self.dropped.swap(0, Ordering::Relaxed);
        if dropped > 0 {
            text.push_str(&format!(" ({dropped} refusals before this one were not logged)"));
        }
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use league_protocol::error::ErrorCode;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn refusals_beyond_the_log_limit_are_counted() {
        let (refusals, fault) = (RefusalLog::default(), RequestError::new(ErrorCode::E003, None, "sender is missing"));
        let (head, peer) = (ReceivedEnvelope::default(), "192.0.2.7:1".parse().unwrap());
        let refusal = RefusedRequest { fault: &fault, method: Some(Method::ChooseParity), head: &head, peer };
        let lines = (0..1000).filter_map(|_| refusals.line(&refusal)).count();
        assert_eq!(lines, 100);
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        let next = refusals.line(&refusal).unwrap();
        assert_eq!(
            next,
            "CHOOSE_PARITY_CALL from an unnamed sender at 192.0.2.7 is refused with E003: sender is missing \
             (900 refusals before this one were not logged)"
        );
    }
}
