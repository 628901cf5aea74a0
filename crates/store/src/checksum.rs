//! Checksums of the files that no log can give again.
//!
//! Such a file ends with the SHA-256 of the text before it, so that `league verify` finds damage. A person who forges the
//! file can also write the checksum.

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

const BEFORE: &str = ",\n  \"sha256\": \"";
const AFTER: &str = "\"\n}\n";

pub(crate) fn sha256(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}

/// Adds the member `sha256` to a JSON object that was written with indentation.
pub(crate) fn add(mut object: Vec<u8>) -> Vec<u8> {
    let end = object.trim_ascii_end().strip_suffix(b"\n}").map_or(object.len(), <[u8]>::len);
    object.truncate(end);
    let sum = sha256(&object);
    for part in [BEFORE, &sum, AFTER] {
        object.extend_from_slice(part.as_bytes());
    }
    object
}

/// Returns the checksum in the file and the right one, if they differ.
pub(crate) fn check(file: &[u8]) -> Result<(), (String, String)> {
    let split = file.strip_suffix(AFTER.as_bytes()).and_then(|rest| {
        let (rest, sum) = rest.split_at_checked(rest.len().checked_sub(64)?)?;
        Some((rest.strip_suffix(BEFORE.as_bytes())?, sum))
    });
    let Some((text, found)) = split else {
        return Err((String::from("missing"), String::from("the checksum at the end of the file")));
    };
    let right = sha256(text);
    if right.as_bytes() == found { Ok(()) } else { Err((String::from_utf8_lossy(found).into_owned(), right)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn every_changed_byte_of_a_file_with_a_checksum_is_found() {
        let written = add(serde_json::to_vec_pretty(&json!({ "format": 2, "words": ["a", "b"] })).unwrap());
        assert_eq!(check(&written), Ok(()));
        assert_eq!(serde_json::from_slice::<Value>(&written).unwrap()["format"], 2);
        for place in 0..written.len() {
            let mut changed = written.clone();
            changed[place] ^= 1;
            assert!(check(&changed).is_err(), "{place}");
            assert!(check(&written[..place]).is_err(), "{place}");
        }
    }
}
