//! HMAC-SHA-256 over fields, used for passes and draws.
//! A length prefix (four bytes, big-endian) distinguishes `("ab", "c")` from `("a", "bc")`.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

pub fn seal(key: &[u8; 32], fields: &[&[u8]]) -> [u8; 32] {
    // HMAC pads a short key with zeros to a block of 64 bytes. Padding here makes the constructor infallible.
    let mut block = [0; 64];
    block[..32].copy_from_slice(key);
    let mut mac = Hmac::<Sha256>::new(&block.into());
    for field in fields {
        // Fields are far below 4 GiB; a longer one would saturate, never wrap.
        mac.update(&u32::try_from(field.len()).unwrap_or(u32::MAX).to_be_bytes());
        mac.update(field);
    }
    mac.finalize().into_bytes().into()
}

pub fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seal_depends_on_where_each_field_ends() {
        let key = [7; 32];
        assert_ne!(seal(&key, &[b"ab", b"c"]), seal(&key, &[b"a", b"bc"]));
        assert_ne!(seal(&key, &[b"abc"]), seal(&key, &[b"abc", b""]));
    }
}
