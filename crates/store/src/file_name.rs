//! Ids as file names, on every system.
//!
//! Windows allows no colon and no final dot in a file name, and reserves device names such as `CON` and `nul.json`. Ids
//! may contain all of these, so the character at fault is percent-encoded: `player:P04` becomes `player%3AP04`. Ids have
//! no `%`, so two ids never share a name. Every system uses the same names, so a home can move between systems.

use std::borrow::Cow;

/// Windows reserves these with any extension and in any case; `COM` and `LPT` only with a digit.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "com", "lpt"];

pub fn file_name(id: &str) -> Cow<'_, str> {
    if !is_device(id) && !id.ends_with('.') && !id.contains(':') {
        return Cow::Borrowed(id);
    }
    let last = id.len().saturating_sub(1);
    let at_fault = |at: usize, letter: char| match at {
        0 if is_device(id) => true,
        at => letter == ':' || (letter == '.' && at == last),
    };
    let encode = |(at, letter): (usize, char)| match at_fault(at, letter) {
        true => format!("%{:02X}", u32::from(letter)),
        false => letter.to_string(),
    };
    Cow::Owned(id.char_indices().map(encode).collect())
}

pub fn id_of(name: &str) -> Option<String> {
    let mut parts = name.split('%');
    let mut id = parts.next()?.to_owned();
    for part in parts {
        let (code, rest) = part.split_at_checked(2)?;
        id.push(char::from(u8::from_str_radix(code, 16).ok()?));
        id.push_str(rest);
    }
    (file_name(&id) == name).then_some(id)
}

fn is_device(id: &str) -> bool {
    let stem = id.split('.').next().unwrap_or_default().to_ascii_lowercase();
    DEVICES.iter().any(|device| match *device {
        "com" | "lpt" => stem.strip_prefix(device).is_some_and(|rest| matches!(rest.as_bytes(), [b'0'..=b'9'])),
        device => stem == device,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_windows_refuses_as_names_are_encoded_and_found_again() {
        for (id, name) in [
            ("P01", "P01"),
            ("R1M1", "R1M1"),
            ("v1.2", "v1.2"),
            ("console", "console"),
            ("COM10", "COM10"),
            ("player:P04", "player%3AP04"),
            (":", "%3A"),
            ("P01.", "P01%2E"),
            ("a..", "a.%2E"),
            ("CON", "%43ON"),
            ("nul.x", "%6Eul.x"),
            ("lpt9", "%6Cpt9"),
            ("Aux.", "%41ux%2E"),
        ] {
            assert_eq!(file_name(id), name);
            assert_eq!(id_of(name).as_deref(), Some(id));
        }
    }

    #[test]
    fn a_file_name_that_encodes_no_id_is_refused() {
        for name in ["CON", "a:b", "%", "%3", "%3a", "%41", "%zz", "P%30", "ä%3", "x%+A"] {
            assert_eq!(id_of(name), None, "{name}");
        }
    }
}
