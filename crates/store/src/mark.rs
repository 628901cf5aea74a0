//! Shows a referee whether it writes into the manager's own home.
//!
//! The manager writes a random mark into its home when it starts, and names it in each START_MATCH. A referee that reads
//! the same mark shares that home, whatever its path or machine. A copied home has an old mark.

use std::{fs, io};

use data_encoding::HEXLOWER;
use league_protocol::id::LeagueId;

use crate::checksum::sha256;
use crate::home::Home;
use crate::views::replace::{ReplaceSync, replace};

const MAX_LENGTH: usize = 64;
const RANDOM_DIGITS: usize = 32;
const CHECK_DIGITS: usize = 8;

/// 32 random digits, and 8 by which `league verify` finds damage.
pub fn of(random: [u8; 16]) -> String {
    let random = HEXLOWER.encode(&random);
    format!("{random}{}", &sha256(random.as_bytes())[..CHECK_DIGITS])
}

pub(crate) fn is_whole(mark: &[u8]) -> bool {
    let Some((random, check)) = mark.split_at_checked(RANDOM_DIGITS) else { return false };
    check.len() == CHECK_DIGITS && sha256(random).as_bytes().starts_with(check)
}

pub fn write(home: &Home, league: &LeagueId, mark: &str) -> io::Result<()> {
    replace(&home.mark(league), mark.as_bytes(), ReplaceSync::Later)
}

pub fn is_in(home: &Home, league: &LeagueId, mark: &str) -> bool {
    let fits = (1..=MAX_LENGTH).contains(&mark.len());
    fits && fs::read(home.mark(league)).is_ok_and(|found| found == mark.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_found_in_its_own_home_only() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let league: LeagueId = "cup".parse().unwrap();
        let (here, elsewhere) = (Home::at(one.path()), Home::at(other.path()));
        here.prepare(&league).unwrap();
        elsewhere.prepare(&league).unwrap();
        write(&here, &league, "0123abcd").unwrap();
        assert!(is_in(&here, &league, "0123abcd"));
        assert!(!is_in(&here, &league, "0123"));
        assert!(!is_in(&here, &league, ""));
        assert!(!is_in(&elsewhere, &league, "0123abcd"));
    }

    #[test]
    fn a_changed_mark_is_found() {
        let mark = of([7; 16]);
        assert!(is_whole(mark.as_bytes()));
        for place in 0..mark.len() {
            let mut changed = mark.clone().into_bytes();
            changed[place] ^= 1;
            assert!(!is_whole(&changed) && !is_whole(&changed[..place]), "{place}");
        }
    }
}
