//! `keys.json`: the keys with which a player recognises its referees, written by the player for itself.
//!
//! A restarted player registers again and gets another token, while the referee of its open match still uses a pass of
//! the old one. So the player keeps the digests of its last tokens, each the key of the passes made with it. A digest
//! lets its reader impersonate this player and its referees in that league, but not call the manager. So only the owner
//! can read the file.

use std::io;

use league_protocol::id::{LeagueId, PlayerId};
use league_protocol::time::Timestamp;
use league_protocol::token::TokenDigest;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::replace::{ReplaceSync, replace_private};
use super::schema_version;
use crate::checksum;
use crate::home::Home;

/// A player that restarts more often within one match has lost it anyway.
const KEPT: usize = 4;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KeysFile {
    pub schema_version: SmolStr,
    pub player_id: PlayerId,
    pub league_id: LeagueId,
    pub last_updated: Timestamp,
    pub token_digests: Vec<TokenDigest>,
}

impl KeysFile {
    pub fn of(player: PlayerId, league: LeagueId, key: TokenDigest, former: &[TokenDigest], now: Timestamp) -> Self {
        Self {
            schema_version: schema_version(),
            player_id: player,
            league_id: league,
            last_updated: now,
            token_digests: [&[key], former].concat().into_iter().take(KEPT).collect(),
        }
    }

    /// Empty for a missing or damaged file, and for a file of another league.
    pub fn former(home: &Home, player: &PlayerId, league: &LeagueId) -> Vec<TokenDigest> {
        let read = std::fs::read(home.keys(player)).ok();
        let file = read.and_then(|bytes| serde_json::from_slice::<Self>(&bytes).ok());
        file.filter(|file| file.league_id == *league && file.player_id == *player)
            .map(|file| file.token_digests)
            .unwrap_or_default()
    }

    pub fn write(&self, home: &Home) -> io::Result<()> {
        let text = checksum::add(serde_json::to_vec_pretty(self)?);
        replace_private(&home.keys(&self.player_id), &text, ReplaceSync::Later)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use league_protocol::token::Token;

    #[test]
    fn keys_are_kept_for_one_league_and_for_their_owner_only() {
        let directory = tempfile::tempdir().unwrap();
        let (home, player) = (Home::at(directory.path()), PlayerId::numbered(1));
        let (league, other): (LeagueId, LeagueId) = ("here".parse().unwrap(), "elsewhere".parse().unwrap());
        let key = |number: u8| Token::mint("P01", &[number; 32]).digest();
        for number in 1..=6 {
            let former = KeysFile::former(&home, &player, &league);
            let expected: Vec<_> = (1..number).rev().take(KEPT).map(key).collect();
            assert_eq!(former, expected);
            let file = KeysFile::of(player.clone(), league.clone(), key(number), &former, Timestamp::EPOCH);
            file.write(&home).unwrap();
        }
        assert_eq!(KeysFile::former(&home, &player, &other), []);
        assert_eq!(KeysFile::former(&home, &PlayerId::numbered(2), &league), []);
        #[cfg(unix)]
        {
            let about = std::fs::metadata(home.keys(&player)).unwrap();
            assert_eq!(std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o777, 0o600);
        }
        std::fs::write(home.keys(&player), "{").unwrap();
        assert_eq!(KeysFile::former(&home, &player, &league), []);
    }
}
