//! The one cryptographic form of the protocol: HMAC-SHA-256 over fields, each with its length before it.
//!
//! The length (four bytes, big-endian) keeps `("ab", "c")` and `("a", "bc")` apart. Passes and draws are made of this.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// HMAC-SHA-256 of `fields` under `key`.
pub fn seal(key: &[u8; 32], fields: &[&[u8]]) -> [u8; 32] {
    // HMAC pads a short key with zeros to the block of 64 bytes; done here, nothing is left that could fail.
    let mut block = [0; 64];
    block[..32].copy_from_slice(key);
    let mut mac = Hmac::<Sha256>::new(&block.into());
    for field in fields {
        // Every field is bounded far below 4 GiB at the edge; a longer one would only saturate, never wrap.
        mac.update(&u32::try_from(field.len()).unwrap_or(u32::MAX).to_be_bytes());
        mac.update(field);
    }
    mac.finalize().into_bytes().into()
}

/// SHA-256 of `bytes`.
pub fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_field_ends_matters() {
        let key = [7; 32];
        assert_ne!(seal(&key, &[b"ab", b"c"]), seal(&key, &[b"a", b"bc"]));
        assert_ne!(seal(&key, &[b"abc"]), seal(&key, &[b"abc", b""]));
    }
}
