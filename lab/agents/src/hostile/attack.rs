//! The attacks of hostile players.

use std::io::Write as _;
use std::sync::LazyLock;
use std::sync::atomic::Ordering;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use super::{AttackedCall, Shared, framed, honest};
use crate::http_server::Stream;
use crate::message::{text, with};

/// Declares the attacks, and `ALL` of them.
macro_rules! attacks {
    ($($(#[$meta:meta])* $name:ident,)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Attack {
            $($(#[$meta])* $name,)*
        }

        impl Attack {
            pub const ALL: [Self; 22] = [$(Self::$name,)*];
        }
    };
}

attacks! {
    Silent,
    LateBody,
    Dribbles,
    Endless,
    TooLong,
    Nested,
    NotText,
    SaysShorter,
    /// Declares a longer body than it sends, and waits.
    SaysLonger,
    HangsUp,
    Resets,
    Redirects,
    /// Uses HTTP/1.0, which is allowed.
    OldHttp,
    /// Sends a few compressed bytes that unpack to very many.
    Inflates,
    OtherMatch,
    OtherName,
    ResultAndError,
    TwoResults,
    /// Sends both choices under the same key.
    DoubledKeys,
    SecondAnswer,
    OnlyPings,
    Flaps,
}

impl Attack {
    pub(crate) fn prepare(self) {
        if self == Self::Inflates {
            LazyLock::force(&BOMB);
        }
    }

    /// Returns whether the connection continues.
    pub(crate) async fn answer(self, stream: &mut Stream, shared: &Shared, call: &AttackedCall, number: usize) -> bool {
        let good = framed(call, &honest(call));
        let whole = good.to_string();
        let length = whole.len();
        match self {
            Self::Silent => forever().await,
            Self::OnlyPings if text(&call.body, "method") != "ping" => forever().await,
            Self::LateBody => {
                send(stream, shared, http_answer(length, "", "{")).await;
                forever().await
            }
            Self::Dribbles => {
                send(stream, shared, http_answer(10_000, "", "")).await;
                while send(stream, shared, " ").await {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                false
            }
            Self::Endless => {
                send(stream, shared, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{").await;
                while send(stream, shared, [b' '; 4096]).await {}
                false
            }
            Self::TooLong => {
                let padded = whole + &" ".repeat(TOO_LONG - length);
                send(stream, shared, http_answer(TOO_LONG, "", padded)).await
            }
            Self::Nested => {
                let nested = format!("{{\"result\":{}{}}}", "[".repeat(DEPTH), "]".repeat(DEPTH));
                send(stream, shared, http_answer(nested.len(), "", nested)).await
            }
            Self::NotText => {
                let mut bytes = whole.into_bytes();
                if let Some(byte) = bytes.iter_mut().rfind(|byte| byte.is_ascii_alphabetic()) {
                    *byte = 0xff;
                }
                send(stream, shared, http_answer(length, "", bytes)).await
            }
            Self::SaysShorter => send(stream, shared, http_answer(length - 5, "", whole)).await,
            Self::SaysLonger => {
                send(stream, shared, http_answer(length + 5, "", whole)).await;
                forever().await
            }
            Self::HangsUp => {
                send(stream, shared, http_answer(length + 5, "", whole)).await;
                false
            }
            Self::Resets => {
                send(stream, shared, http_answer(length, "", &whole[..length / 2])).await;
                // The rest of the answer is lost on purpose.
                drop(stream.get_ref().set_zero_linger());
                false
            }
            Self::Redirects if call.path == "/mcp" => {
                let place = format!("http://{}/elsewhere", shared.address);
                let head = format!("HTTP/1.1 307 Temporary Redirect\r\nLocation: {place}\r\nContent-Length: 0\r\n\r\n");
                send(stream, shared, head).await
            }
            Self::OldHttp => {
                send(stream, shared, format!("HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{whole}")).await;
                false
            }
            Self::Inflates => send(stream, shared, http_answer(BOMB.len(), "Content-Encoding: gzip\r\n", &*BOMB)).await,
            Self::OtherMatch => self.answer_with(stream, shared, call, json!({"match_id": "R99M99"})).await,
            Self::OtherName => {
                let name = json!({"player_id": "P99", "sender": "player:P99"});
                self.answer_with(stream, shared, call, name).await
            }
            Self::ResultAndError => {
                let both = with(good, json!({"error": {"code": -32000, "message": "I will not"}}));
                send(stream, shared, whole_answer(&both)).await
            }
            Self::TwoResults => {
                let other = with(honest(call), json!({"accept": false, "parity_choice": "odd"}));
                send(stream, shared, whole_answer(&json!([good, framed(call, &other)]))).await
            }
            Self::DoubledKeys => {
                let doubled = whole
                    .replace("\"accept\":true", "\"accept\":false,\"accept\":true")
                    .replace("\"parity_choice\":\"even\"", "\"parity_choice\":\"odd\",\"parity_choice\":\"even\"");
                send(stream, shared, http_answer(doubled.len(), "", doubled)).await
            }
            Self::SecondAnswer => {
                let other = framed(call, &with(honest(call), json!({"accept": false, "parity_choice": "odd"})));
                send(stream, shared, [whole_answer(&good), whole_answer(&other)].concat()).await
            }
            Self::Flaps if number.is_multiple_of(2) => false,
            Self::OnlyPings | Self::Redirects | Self::Flaps => send(stream, shared, whole_answer(&good)).await,
        }
    }

    async fn answer_with(self, stream: &mut Stream, shared: &Shared, call: &AttackedCall, changed: Value) -> bool {
        send(stream, shared, whole_answer(&framed(call, &with(honest(call), changed)))).await
    }
}

/// One byte more than our limit.
const TOO_LONG: usize = 64 * 1024 + 1;

/// Deep enough for any stack, and within our limit for bodies.
const DEPTH: usize = 30_000;

const INFLATED: usize = 16 * 1024 * 1024;

fn whole_answer(body: &Value) -> Vec<u8> {
    let body = body.to_string();
    http_answer(body.len(), "", body)
}

/// Blanks that are JSON once unpacked. Compression takes a while, so it runs once, in advance.
static BOMB: LazyLock<Vec<u8>> = LazyLock::new(bomb);

fn bomb() -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    // Writing to memory cannot fail.
    drop(packed.write_all(&vec![b' '; INFLATED]));
    drop(packed.write_all(b"{}"));
    packed.finish().unwrap_or_default()
}

async fn forever() -> bool {
    std::future::pending().await
}

/// Returns whether all bytes were sent.
async fn send(stream: &mut Stream, shared: &Shared, bytes: impl AsRef<[u8]>) -> bool {
    let mut left = bytes.as_ref();
    while !left.is_empty() {
        match stream.write(left).await {
            Ok(0) | Err(_) => return false,
            Ok(written) => {
                shared.pushed.fetch_add(written, Ordering::Relaxed);
                left = &left[written..];
            }
        }
    }
    true
}

fn http_answer(length: usize, more: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{more}Content-Length: {length}\r\n\r\n");
    [head.as_bytes(), body.as_ref()].concat()
}
