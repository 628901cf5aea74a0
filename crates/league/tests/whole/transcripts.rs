//! "Why did I lose?": a player's mistakes reach the manager's home, pages and commands, wherever the referee runs.

use std::fs;

use league_protocol::side::Pair;
use league_store::views::match_file::{MatchContext, MatchFile};
use serde_json::json;

use crate::support::home::LEAGUE;
use crate::support::{Process, TestHome, Venue, assert_contains, poll, read_json};

fn referee_elsewhere(venue: &Venue, home: &TestHome) -> Process {
    venue.agent_in(home.path(), &["referee", "--referee-id", "REF01"])
}

#[test]
fn a_referee_with_its_own_home_sends_the_transcript_and_the_managers_home_explains_the_match() {
    let (venue, elsewhere) = (Venue::new(), TestHome::new());
    let manager = venue.manager(2, 1);
    let referee = referee_elsewhere(&venue, &elsewhere);
    let (_good, bad) = (venue.player("P01", "random"), venue.player("P02", "invalid"));
    assert_contains(&manager.wait().success().stderr, &["P02 Player P02: 1 technical loss: R1M1, sent `neither`"]);
    assert_contains(
        &referee.wait().success().stderr,
        &["REF01 refereed 1 matches; 1 technical loss. R1M1: P02 made no legal move"],
    );
    assert_contains(
        &bad.wait().success().stderr,
        &[
            "R1M1 (try 1 of 3): you sent `neither`; send `even` or `odd`",
            "R1M1: a technical loss. you sent `neither`; send `even` or `odd`",
            "P02 Player P02 finished 2nd of 2 with 0 points; 1 technical loss: R1M1, you sent `neither`.",
        ],
    );
    let (here, there) = (venue.home.match_file("R1M1"), elsewhere.match_file("R1M1"));
    assert!(here["transcript"].as_array().unwrap().len() > 4, "{here}");
    for field in ["transcript", "transcript_sha256", "problems", "times", "result"] {
        assert_eq!(here[field], there[field], "{field}");
    }
    assert_eq!(here["transcript_sha256"].as_str().unwrap().len(), 64);
    venue.home.verify(1);
    let report = venue.home.json("verify");
    assert_eq!((&report["transcripts"], &report["transcripts_missing"]), (&json!(1), &json!(0)), "{report}");

    assert_contains(
        &venue.home.league(&["match", "r1m1"]).success().stdout,
        &[
            "Player P02 sent `neither`",
            "What to fix: send `even` or `odd`.",
            "Player P01 was invited: joined after",
            "wins by technical loss",
        ],
    );
    assert_eq!(venue.home.league(&["match", "R1M1", "--json"]).success().json(), here);

    // `verify` finds a transcript that was changed later.
    let file = venue.home.match_path("R1M1");
    fs::write(&file, fs::read_to_string(&file).unwrap().replace("neither", "naught!")).unwrap();
    venue.home.league(&["verify"]).fails_with(&["transcript of R1M1", "SHA-256"]);
}

#[test]
fn a_shared_home_is_recognised_and_no_transcript_is_sent() {
    let venue = Venue::new();
    let manager = venue.manager(2, 1);
    let _agents = [venue.referee("REF01"), venue.player("P01", "random"), venue.player("P02", "invalid")];
    manager.wait().success();
    let file = venue.home.match_file("R1M1");
    assert!(!file["transcript"].as_array().unwrap().is_empty());
    assert_eq!(file["transcript_sha256"].as_str().unwrap().len(), 64, "the log has it, too: {file}");
    venue.home.verify(1);
    let path = venue.home.match_path("R1M1");
    fs::write(&path, fs::read_to_string(&path).unwrap().replacen("GAME_JOIN_ACK", "GAME_JOIN_ICK", 1)).unwrap();
    venue.home.league(&["verify"]).fails_with(&["the transcript of R1M1 is SHA-256"]);
    assert_eq!(file["problems"]["P02"]["kind"], "wrong_value", "{file}");
    let log = fs::read_to_string(venue.home.join(&format!("logs/league/{LEAGUE}/league.log.jsonl"))).unwrap();
    assert_contains(&log, &["MATCH_EXPLAINED", "wrong_value"]);
}

/// As if both had been killed between the commit of the report and the writing of its file.
#[test]
fn a_manager_that_was_killed_completes_a_match_file_that_has_only_the_transcript() {
    let (venue, elsewhere) = (Venue::patient(), TestHome::new());
    let mut manager = venue.manager_with(2, 1, &[]);
    manager.address();
    let mut referee = referee_elsewhere(&venue, &elsewhere);
    let _players = [venue.player("P01", "random"), venue.player("P02", "random")];
    manager.wait_for_end_of_league();
    manager.kill();
    referee.kill();
    let path = venue.home.match_path("R1M1");
    let whole: MatchFile = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let context = MatchContext {
        league_id: whole.league_id.clone(),
        round_id: whole.round_id,
        match_id: whole.match_id.clone(),
        attempt: whole.attempt,
        game_type: whole.game_type.clone(),
        players: Pair::new(whole.player_a_id.clone(), whole.player_b_id.clone()),
        referee_id: whole.referee_id.clone(),
    };
    let unreported = MatchFile::unreported(context, whole.transcript.clone());
    fs::write(&path, format!("{}\n", serde_json::to_string_pretty(&unreported).unwrap())).unwrap();
    let stale = venue.home.league(&["verify"]);
    assert_eq!(stale.code, Some(3), "{}", stale.stderr);
    assert_contains(&stale.stderr, &["the result of R1M1 is not in it yet"]);
    manager.kill_and_restart();
    manager.address();
    let whole = serde_json::to_value(&whole).unwrap();
    // On a thread of its own.
    poll("the whole file", || (read_json(&path) == whole).then_some(()));
    venue.home.verify(1);
}
