//! Compares the histories of players with the log.
//!
//! A history is what a player was told, so a match may be missing there. What it has of this league must be what the log
//! says, except for a match that took several attempts: the player may remember one that did not count.

use std::path::Path;

use league_core::season::Season;
use league_core::session::PlayedMatch;
use league_protocol::id::LeagueId;
use league_protocol::side::{Pair, Side};

use super::difference::Findings;
use super::matches::{MatchCheck, hash};
use crate::checksum;
use crate::file_name::file_name;
use crate::views::history::HistoryFile;

pub(super) fn check(
    path: &Path,
    bytes: &[u8],
    league: &LeagueId,
    (season, matches): (&Season, &MatchCheck<'_>),
    findings: &mut Findings,
) {
    let file: HistoryFile = match serde_json::from_slice(bytes) {
        Ok(file) => file,
        Err(error) => return findings.unreadable(path, &error),
    };
    let before = findings.different;
    let directory = path.parent().and_then(Path::file_name).unwrap_or_default();
    if *directory != *file_name(file.player_id.as_str()) {
        findings.differs(path, "player_id", file.player_id.as_str(), directory.to_string_lossy());
    }
    let sums = HistoryFile::of(file.player_id.clone(), file.matches.clone(), file.last_updated).stats;
    if file.stats != sums {
        findings.differs(path, "stats", format!("{:?}", file.stats), format!("{sums:?}"));
    }
    for played in file.matches.matches().iter().filter(|played| played.league_id.as_ref() == Some(league)) {
        if let Some((field, found, expected)) = difference(&file, played, season, matches) {
            findings.differs(path, &format!("{field} of {}", played.match_id), found, expected);
        }
    }
    if findings.different > before {
        return;
    }
    if let Err((found, right)) = checksum::check(bytes) {
        findings.differs(path, "sha256", found, right);
    }
}

fn difference(
    file: &HistoryFile,
    played: &PlayedMatch,
    season: &Season,
    matches: &MatchCheck<'_>,
) -> Option<(&'static str, String, String)> {
    let differs = |field, found: String, expected: String| (found != expected).then_some((field, found, expected));
    let text = |choice: &Option<smol_str::SmolStr>| choice.as_deref().unwrap_or("none").to_owned();
    let Some(players) = season.contestants(&played.match_id) else {
        return Some(("the match", String::from("there"), String::from("no such match")));
    };
    let side = match (players.a.id == file.player_id, players.b.id == file.player_id) {
        (true, _) => Side::A,
        (_, true) => Side::B,
        (false, false) => return Some(("the match", String::from("there"), String::from("a match of others"))),
    };
    // The players are told before the report, and a match may be awarded to a player that was told nothing.
    let outcome = season.outcome(&played.match_id)?;
    let told = matches.told.get(&played.match_id.parts()?).filter(|told| told.is_first_attempt)?;
    let worth = season.config().scoring.match_points();
    let points: Pair<u32> = outcome.points(&worth);
    let result = outcome.own_result(side, worth.double_forfeit);
    let (here, there) = match side {
        Side::A => (told.moves[0], told.moves[1]),
        Side::B => (told.moves[1], told.moves[0]),
    };
    // A referee of another make may leave out what was played.
    let other_move = |found: &Option<smol_str::SmolStr>, expected: Option<u64>| {
        found.as_deref().map(hash).zip(expected).is_some_and(|(found, expected)| found != expected)
    };
    differs("result", format!("{:?}", played.result), format!("{result:?}"))
        .or_else(|| differs("points", played.points.to_string(), points[side].to_string()))
        .or_else(|| {
            let opponent = players.map(|player| player.id.as_str())[side.other()].to_owned();
            let found = played.opponent_id.as_ref()?;
            differs("opponent_id", found.to_string(), opponent)
        })
        .or_else(|| {
            let found = played.drawn_number?;
            differs(
                "drawn_number",
                found.to_string(),
                told.drawn.map_or_else(|| String::from("none"), |n| n.to_string()),
            )
        })
        .or_else(|| {
            let found = played.round_id?;
            let (round, _) = played.match_id.parts()?;
            differs("round_id", found.to_string(), round.to_string())
        })
        .or_else(|| other_move(&played.my_choice, here).then(|| ("my_choice", text(&played.my_choice), other())))
        .or_else(|| {
            other_move(&played.opponent_choice, there)
                .then(|| ("opponent_choice", text(&played.opponent_choice), other()))
        })
}

fn other() -> String {
    String::from("the move in the log")
}
