//! The draw in messages: the commitment before, the nonces during, the secret and the seal after the match.

use std::fmt;
use std::str::FromStr;

use data_encoding::HEXLOWER_PERMISSIVE;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use smol_str::SmolStr;
use thiserror::Error;

use crate::seal::digest;
use crate::text::parsed;

pub const MAX_NONCE: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BadDrawField {
    #[error("expected 64 hexadecimal digits")]
    Hex,
    #[error("a draw_nonce has at most {MAX_NONCE} bytes")]
    Nonce,
}

macro_rules! hex32 {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
        #[serde(into = "String")]
        #[schemars(with = "String")]
        pub struct $name(pub [u8; 32]);

        impl FromStr for $name {
            type Err = BadDrawField;
            fn from_str(text: &str) -> Result<Self, BadDrawField> {
                // The decoder requires an exact buffer size.
                if text.len() != 64 {
                    return Err(BadDrawField::Hex);
                }
                let mut bytes = [0; 32];
                HEXLOWER_PERMISSIVE.decode_mut(text.as_bytes(), &mut bytes).map_err(|_| BadDrawField::Hex)?;
                Ok(Self(bytes))
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                parsed(deserializer)
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                HEXLOWER_PERMISSIVE.encode(&value.0)
            }
        }
    };
}

hex32!(
    /// What decides a draw: made before the players are invited, shown when the match is over.
    DrawSecret);
hex32!(
    /// SHA-256 of the secret: published before, it binds the referee to the secret without giving it away.
    DrawCommitment);
hex32!(
    /// The bytes from which the number is taken: the secret's HMAC of match, attempt and nonces.
    ///
    /// A number is one of ten, so a wrong field gives the right number once in ten times; the right seal it never gives.
    DrawSeal);

hex32!(
    /// What the manager asks an agent to prove its identity with.
    #[derive(Debug)]
    IdentityNonce);
hex32!(
    /// Proves that an agent holds its token.
    #[derive(Debug)]
    IdentityProof);

hex32!(
    /// A player's signature of a join or a move: an HMAC that only the player and the manager can compute.
    #[derive(Debug)]
    Signature);

impl Signature {
    /// The bytes of all signatures by XOR. A referee that lacks one of them cannot make it: each is an HMAC of another message.
    pub fn combined(signatures: &[Self]) -> Self {
        signatures.iter().fold(Self([0; 32]), |combined, signature| combined.xor(signature))
    }

    #[must_use]
    pub fn xor(self, other: &Self) -> Self {
        Self(std::array::from_fn(|place| self.0[place] ^ other.0[place]))
    }
}

impl DrawSecret {
    pub fn commitment(&self) -> DrawCommitment {
        DrawCommitment(digest(&self.0))
    }
}

/// An unpublished secret must not reach a log.
impl fmt::Debug for DrawSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("secret:…")
    }
}

impl fmt::Debug for DrawCommitment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from(*self))
    }
}

/// A seal is computed after all decisions and reveals nothing about the secret.
impl fmt::Debug for DrawSeal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from(*self))
    }
}

/// What a player adds to the draw, so that the referee alone cannot have chosen it. Any short text; empty when the player
/// sent none.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "SmolStr")]
#[schemars(with = "String")]
pub struct DrawNonce(SmolStr);

impl DrawNonce {
    /// In hexadecimal; at most the first 32 bytes.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        let bytes = bytes.get(..MAX_NONCE / 2).unwrap_or(bytes);
        Self(SmolStr::new(HEXLOWER_PERMISSIVE.encode(bytes)))
    }

    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl TryFrom<SmolStr> for DrawNonce {
    type Error = BadDrawField;
    fn try_from(text: SmolStr) -> Result<Self, BadDrawField> {
        if text.len() <= MAX_NONCE { Ok(Self(text)) } else { Err(BadDrawField::Nonce) }
    }
}

impl FromStr for DrawNonce {
    type Err = BadDrawField;
    fn from_str(text: &str) -> Result<Self, BadDrawField> {
        SmolStr::new(text).try_into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_written_in_hexadecimal_and_read_back() {
        let secret = DrawSecret([0xAB; 32]);
        let text = serde_json::to_string(&secret).unwrap();
        assert_eq!(text, format!("\"{}\"", "ab".repeat(32)));
        assert_eq!(serde_json::from_str::<DrawSecret>(&text).unwrap(), secret);
        assert_eq!(format!("{secret:?}"), "secret:…");
        for bad in ["", "ab", &"ab".repeat(33), &"ab".repeat(31), &"zz".repeat(32), &"é".repeat(32)] {
            assert!(bad.parse::<DrawSecret>().is_err(), "{bad}");
        }
    }

    #[test]
    fn the_commitment_is_the_plain_sha_256() {
        // A reference value: SHA-256 of 32 zero bytes.
        let expected = "66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925";
        assert_eq!(String::from(DrawSecret([0; 32]).commitment()), expected);
    }
}
