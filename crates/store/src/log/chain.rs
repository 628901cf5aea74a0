//! The hash chain: `hash = SHA-256(previous hash ‖ number as 8 bytes, big endian ‖ body)`, starting from 32 zero bytes.

use std::fmt;
use std::str::FromStr;

use data_encoding::HEXLOWER_PERMISSIVE;
use serde::Serialize;
use sha2::{Digest, Sha256};
use thiserror::Error;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    pub const GENESIS: Self = Self([0; 32]);

    pub fn then(self, seq: u64, body: &str) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(self.0);
        hasher.update(seq.to_be_bytes());
        hasher.update(body);
        Self(hasher.finalize().into())
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HEXLOWER_PERMISSIVE.encode(&self.0))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The last event of a log, which stands for the whole log. Written `42:9f86d0…`, the number and 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LogHead {
    /// Counts from one; zero for an empty log.
    pub seq: u64,
    pub hash: Hash,
}

#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("a head is a number, a colon and 64 hexadecimal digits, as `verify` prints it")]
pub struct BadHead;

impl Default for LogHead {
    fn default() -> Self {
        Self::GENESIS
    }
}

impl LogHead {
    pub const GENESIS: Self = Self { seq: 0, hash: Hash::GENESIS };

    #[must_use]
    pub fn then(self, body: &str) -> Self {
        let seq = self.seq + 1;
        Self { seq, hash: self.hash.then(seq, body) }
    }
}

impl fmt::Display for LogHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.seq, self.hash)
    }
}

impl FromStr for LogHead {
    type Err = BadHead;

    fn from_str(text: &str) -> Result<Self, BadHead> {
        let (seq, hash) = text.split_once(':').ok_or(BadHead)?;
        let bytes = HEXLOWER_PERMISSIVE.decode(hash.as_bytes()).map_err(|_| BadHead)?;
        Ok(Self { seq: seq.parse().map_err(|_| BadHead)?, hash: Hash(bytes.try_into().map_err(|_| BadHead)?) })
    }
}

impl Serialize for LogHead {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum LogDamage {
    #[error("event {seq} is missing; the next one that is there is {next}")]
    Missing { seq: u64, next: i64 },
    #[error("event {seq} was changed: its hash does not follow from its text and the events before")]
    Body { seq: u64 },
    /// The event fits its neighbours, but its own hash does not.
    #[error("the hash of event {seq} was changed: the event itself fits, and so does the one behind it")]
    Hash { seq: u64 },
    #[error("event {seq} is out of order: what stands at {found} belongs there")]
    Order { seq: u64, found: u64 },
    /// The chain is intact, but this program cannot parse the text.
    #[error("event {seq} cannot be read: {reason}")]
    Unreadable { seq: u64, reason: String },
    /// The storage itself is broken, so it is unknown which events are lost.
    #[error("{reason}")]
    Storage { reason: String },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_chain_can_be_recomputed_from_its_description() {
        // python3: h = hashlib.sha256(bytes(32) + (1).to_bytes(8, "big") + b"{}"), then with h and 2.
        let first = LogHead::GENESIS.then("{}");
        let second = first.then("{}");
        assert_eq!(first.to_string(), "1:1bad765d926feacace97a8ddcd329a1f4254c208affc1ba86b3c7d59e8fba83e");
        assert_eq!(second.to_string(), "2:f3a2f7117ec70a4475364945fc5338e1e7e3198d39fe37688a9c021c1bb74e74");
        assert_eq!(second.to_string().parse(), Ok(second));
    }

    #[test]
    fn anything_else_is_no_head() {
        for text in
            ["", "1", "1:", "1:00", ":", "x:00", &format!("1:{}", "zz".repeat(32)), &format!("-1:{}", "00".repeat(32))]
        {
            assert_eq!(text.parse::<LogHead>(), Err(BadHead), "{text}");
        }
    }
}
