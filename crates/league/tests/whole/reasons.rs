//! "Why did I lose?": a player's mistakes reach the manager's home, pages and commands, wherever the referee runs.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Process, TestHome, Venue, ports};

fn referee_elsewhere(venue: &Venue, home: &TestHome) -> Process {
    let port = ports::free().to_string();
    let arguments = ["referee", "--referee-id", "REF01", "--port", &port, "--manager", &venue.address];
    Process::start(&[&arguments[..], &["--home", home.path()]].concat())
}

#[test]
fn a_referee_with_its_own_home_sends_the_transcript_and_the_managers_home_tells_the_story() {
    let (venue, elsewhere) = (Venue::new(), TestHome::new());
    let manager = venue.manager(2, 1);
    let referee = referee_elsewhere(&venue, &elsewhere);
    let (_good, bad) = (venue.player("P01", "random"), venue.player("P02", "invalid"));
    let closing = manager.ended().well().talk;
    assert!(closing.contains("P02 Player P02: 1 technical loss: R1M1, sent `neither`"), "{closing}");
    let closing = referee.ended().well().talk;
    assert!(closing.contains("REF01 refereed 1 matches; 1 technical loss. R1M1: P02 made no legal move"), "{closing}");
    let console = bad.ended().well().talk;
    for part in [
        "R1M1 (try 1 of 3): you sent `neither`; send `even` or `odd`",
        "R1M1: a technical loss. you sent `neither`; send `even` or `odd`",
        "P02 Player P02 finished 2nd of 2 with 0 points; 1 technical loss: R1M1, you sent `neither`.",
    ] {
        assert!(console.contains(part), "{part}: {console}");
    }
    let here = venue.home.match_file("R1M1");
    let path = elsewhere.join("data/matches/league_2025_even_odd/R1M1.json");
    let there: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    assert!(here["transcript"].as_array().unwrap().len() > 4, "{here}");
    for field in ["transcript", "transcript_sha256", "problems", "times", "result"] {
        assert_eq!(here[field], there[field], "{field}");
    }
    assert_eq!(here["transcript_sha256"].as_str().unwrap().len(), 64);
    assert_eq!(fs::read_dir(elsewhere.join("data/outbox/league_2025_even_odd")).unwrap().count(), 0);
    venue.home.verify(1);
    let verified = Process::start(&["verify", "--json", "--home", venue.home.path()]).ended().well().json();
    assert_eq!((&verified["transcripts"], &verified["transcripts_missing"]), (&json!(1), &json!(0)), "{verified}");

    let story = Process::start(&["match", "r1m1", "--home", venue.home.path()]).ended().well().out;
    for part in [
        "Player P02 sent `neither`",
        "What to fix: send `even` or `odd`.",
        "Player P01 was invited: joined after",
        "wins by technical loss",
    ] {
        assert!(story.contains(part), "{part}: {story}");
    }
    let whole = Process::start(&["match", "R1M1", "--json", "--home", venue.home.path()]).ended().well().json();
    assert_eq!(whole, here);

    // `verify` finds a transcript that was changed later.
    let file = venue.home.join("data/matches/league_2025_even_odd/R1M1.json");
    fs::write(&file, fs::read_to_string(&file).unwrap().replace("neither", "naught!")).unwrap();
    let found = Process::start(&["verify", "--home", venue.home.path()]).ended().badly();
    assert!(found.contains("transcript of R1M1") && found.contains("SHA-256"), "{found}");
}

#[test]
fn a_shared_home_is_recognised_and_nothing_is_sent_or_written_twice() {
    let venue = Venue::new();
    let manager = venue.manager(2, 1);
    let _agents = [venue.referee("REF01"), venue.player("P01", "random"), venue.player("P02", "invalid")];
    manager.ended().well();
    let file = venue.home.match_file("R1M1");
    assert!(!file["transcript"].as_array().unwrap().is_empty());
    assert!(file.get("transcript_sha256").is_none(), "{file}");
    assert!(!venue.home.join("data/outbox").exists());
    assert_eq!(file["problems"]["P02"]["kind"], "wrong_value", "{file}");
    let log = fs::read_to_string(venue.home.join("logs/league/league_2025_even_odd/league.log.jsonl")).unwrap();
    assert!(log.contains("MATCH_EXPLAINED") && log.contains("wrong_value"), "{log}");
}

#[test]
fn a_transcript_follows_when_manager_and_referee_were_killed_before_it_was_delivered() {
    let (venue, elsewhere) = (Venue::patient(), TestHome::new());
    let mut manager = venue.manager_with(2, 1, &[]);
    manager.address();
    let mut referee = referee_elsewhere(&venue, &elsewhere);
    let _players = [venue.player("P01", "random"), venue.player("P02", "random")];
    manager.says("The league is over. Serving until Ctrl-C.");
    manager.kill();
    referee.kill();
    // As if both had been killed between the report and the transcript.
    let path = venue.home.join("data/matches/league_2025_even_odd/R1M1.json");
    let mut file: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let transcript = file["transcript"].take();
    file["transcript"] = json!([]);
    fs::write(&path, file.to_string()).unwrap();
    let outbox = elsewhere.join("data/outbox/league_2025_even_odd");
    fs::create_dir_all(&outbox).unwrap();
    fs::write(outbox.join("R1M1"), b"").unwrap();
    manager.kill_and_restart();
    manager.address();
    referee.kill_and_restart();
    referee.ended().well();
    let file: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(file["transcript"], transcript);
    assert!(!outbox.join("R1M1").exists());
    venue.home.verify(1);
}
