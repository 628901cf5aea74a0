//! The kits in `examples/`: each passes the checks, plays, gives its strategy what it needs and shows its author the
//! problems.

use std::fs;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

use league_test_agents::http_server::ReservedPort;
use serde_json::{Value, json};

use crate::support::{Kit, TestHome, Venue, assert_contains, assert_played, http, league, ports};

/// What a player on a separate machine needs; `league player` has the same.
const FLAGS: [&str; 6] = ["--manager", "--name", "--host", "--port", "--advertise", "--join-key"];

#[test]
fn every_kit_says_in_its_readme_which_flags_it_takes() {
    for kit in Kit::ALL {
        let readme = kit.read("README.md");
        let missing: Vec<_> = FLAGS.iter().filter(|flag| !readme.contains(&format!("`{flag}`"))).collect();
        assert!(missing.is_empty(), "{kit:?} does not mention {missing:?}");
    }
}

/// A kit can be copied alone, so the kits of a language have copies of one library.
#[test]
fn kits_of_one_language_have_the_same_library_and_all_explain_their_lines_alike() {
    for (one, other, library) in
        [(Kit::Python, Kit::FastMcp, "league_kit.py"), (Kit::Node, Kit::TypeScript, "league_kit.mjs")]
    {
        assert!(one.read(library) == other.read(library), "{library} differs between {one:?} and {other:?}");
    }
    let section = |kit: Kit| {
        kit.read("README.md").split("\n## ").find(|part| part.starts_with("What the lines")).map(str::to_owned)
    };
    let expected = section(Kit::Python).unwrap();
    for kit in Kit::SCRIPTS {
        assert_eq!(section(kit).as_ref(), Some(&expected), "{kit:?}");
    }
}

/// The packages that a kit tells to install, and those that it is tested with, must not drift apart.
#[test]
fn the_kits_are_tested_with_what_they_ask_for() {
    let tested = |file: &str| {
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/whole/peers").join(file)).unwrap()
    };
    let (wanted, known) = (Kit::FastMcp.read("requirements.txt"), tested("requirements.txt"));
    assert!(wanted.lines().all(|line| known.lines().any(|known| known == line)), "{wanted}");
    let wanted: Value = serde_json::from_str(&Kit::TypeScript.read("package.json")).unwrap();
    let known: Value = serde_json::from_str(&tested("package-lock.json")).unwrap();
    for (package, version) in wanted["dependencies"].as_object().unwrap() {
        assert_eq!(known["packages"][format!("node_modules/{package}")]["version"], *version, "{package}");
    }
}

/// Runs the three lines of its README: the kit passes every check, plays with three of our players, and prints its
/// result.
fn the_lines_of_its_readme_work(kit: Kit, more: &[&str]) {
    let (home, port, manager_port) = (TestHome::new(), ports::free(), ports::free().to_string());
    let mut player = kit.start(port, &format!("localhost:{manager_port}"), "Guest", more);
    ports::wait_until_listening(port, &mut player);
    let [_, check, run] = kit.lines();
    let (command, address) = check.rsplit_once(' ').unwrap();
    assert!(
        command == "league check" && kit.read("README.md").contains(&format!("{} unless", &address[17..21])),
        "{check}"
    );
    let report = league(&["check", &ports::endpoint(port)]).success().stdout;
    let grade = ["grade: 100 % of required (", "), 100 % of recommended (", "verdict: ready for a league"];
    assert_contains(&report, &grade);
    let mut words: Vec<&str> = run.strip_prefix("league ").unwrap().split(' ').collect();
    words.extend(["--port", &manager_port, "--home", home.path(), "--json"]);
    let standings = league(&words).success().json();
    assert_played(&standings, 3);
    home.verify(6);
    assert_eq!(home.forfeits(), 0);
    assert_eq!(home.json("verify")["draws_proved"], 6);
    let stderr = player.wait().success().stderr;
    let closing = stderr.lines().last().unwrap();
    let mine = standings.as_array().unwrap().iter().find(|row| row["display_name"] == "Guest").unwrap();
    let finished = format!("{} Guest finished ", mine["player_id"].as_str().unwrap());
    assert_contains(closing, &[&finished, &format!("with {} points", mine["points"])]);
    assert!(closing.ends_with("; no technical loss."), "{stderr}");
}

/// The strategy prints its input and returns no legal move. The author reads what to send, and why the match was lost.
fn its_strategy_gets_the_league_and_its_author_a_hint(kit: Kit, more: &[&str]) {
    let shown = match kit {
        Kit::Python | Kit::FastMcp => {
            "import sys; print('asked', opponent.player_id, len(history.all), len(history.with_opponent), len(standings), \
             game.game_type, ','.join(game.legal_moves), file=sys.stderr); return 'ODD'"
        }
        Kit::Node | Kit::TypeScript => {
            "console.error('asked', opponent.playerId, history.all.length, history.withOpponent.length, standings.length, \
             game.gameType, game.legalMoves.join()); return 'ODD';"
        }
        Kit::Rust => panic!("the strategy of the Rust kit is compiled"),
    };
    let venue = Venue::patient();
    let guest = kit.join_changed(&venue.address, "Guest", more, shown);
    let manager = venue.manager(3, 1);
    let _ours = [venue.referee("REF01"), venue.player("P08", "markov"), venue.player("P09", "random")];
    manager.wait().success();
    let stderr = guest.wait().success().stderr;
    let moves: Vec<&str> = stderr.lines().filter(|line| line.starts_with("asked P0")).collect();
    // Called once for each match: a repeated question gets the same answer.
    assert!(moves.len() == 2 && moves[1].ends_with(" 1 0 3 even_odd even,odd"), "{stderr}");
    let lines: Vec<&str> = stderr.lines().collect();
    for part in ["(try 1 of 3): you sent `ODD`; send `odd`", ": a technical loss. you sent `ODD`; send `odd`"] {
        assert_eq!(lines.iter().filter(|line| line.contains(part)).count(), 2, "{part}: {stderr}");
    }
    let closing = lines.last().unwrap();
    assert!(closing.contains(" Guest finished 3rd of 3 with 0 points; 2 technical losses: R"), "{stderr}");
}

/// If a kit registers for batches, it answers an array of requests with an array.
fn it_answers_batches_if_it_says_so(kit: Kit, more: &[&str]) {
    // The manager never answers: the kit keeps serving.
    let (note, requests) = channel();
    let manager = ReservedPort::free().unwrap().serve(move |request| {
        drop(note.send(request.json()));
        std::future::pending()
    });
    let manager = manager.unwrap();
    let _player = kit.join(&manager.endpoint(), "Guest", more);
    let request = requests.recv_timeout(Duration::from_secs(60)).unwrap();
    let params = request.pointer("/params/arguments").unwrap_or(&request["params"]);
    let about = &params["player_meta"];
    assert!(
        ["even_odd", "tic_tac_toe"].iter().all(|game| about["game_types"].as_array().unwrap().contains(&json!(game))),
        "{about}"
    );
    let takes_batches = matches!(kit, Kit::Python | Kit::Node | Kit::Rust);
    assert_eq!(about["accepts_batches"] == true, takes_batches, "{about}");
    if !takes_batches {
        return;
    }
    let call = |id: u8, method: &str, game: &str, state: &str| {
        let context = json!({"opponent_id": "P02", "state": state, "legal_moves": ["4", "9"]});
        let params = json!({
            "protocol": "league.v2", "league_id": "batch", "match_id": format!("R1M{id}"), "player_id": "P01", "game_type": game,
            "role_in_match": "PLAYER_A", "opponent_id": "P02", "context": context, "sender": "referee:REF01",
            "timestamp": "2026-03-04T09:00:00Z", "conversation_id": format!("conv-{id}"),
        });
        json!({"jsonrpc": "2.0", "method": method, "params": params, "id": id})
    };
    let endpoint = about["contact_endpoint"].as_str().unwrap();
    let invitations = json!([
        call(1, "handle_game_invitation", "even_odd", ""),
        call(2, "handle_game_invitation", "tic_tac_toe", "")
    ]);
    let joined = http::post(endpoint, http::authority(endpoint).0, &invitations);
    assert!(joined.as_array().unwrap().iter().all(|answer| answer["result"]["accept"] == true), "{joined}");
    let questions = json!([call(1, "choose_parity", "even_odd", ""), call(2, "make_move", "tic_tac_toe", "XO.......")]);
    let answers = http::post(endpoint, http::authority(endpoint).0, &questions);
    let answer = |id: u8| answers.as_array().unwrap().iter().find(|answer| answer["id"] == id).unwrap();
    assert!(["even", "odd"].iter().any(|choice| answer(1)["result"]["parity_choice"] == *choice), "{answers}");
    assert!(["4", "9"].iter().any(|cell| answer(2)["result"]["move"] == *cell), "{answers}");
}

#[test]
#[ignore = "needs cargo xtask ci, which installs what the kits are written with"]
fn the_kits_play_tic_tac_toe_with_each_other() {
    let venue = Venue::patient();
    let manager = venue.manager_with(Kit::ALL.len(), 1, &["--game", "tic_tac_toe", "--exit-when-done"]);
    let _referee = venue.agent(&["referee", "--game", "tic_tac_toe"]);
    let players = Kit::ALL.map(|kit| kit.join(&venue.address, &format!("{kit:?}"), &[]));
    manager.wait().success();
    venue.home.verify(10);
    assert_eq!(venue.home.forfeits(), 0);
    for player in players {
        let stderr = player.wait().success().stderr;
        assert!(stderr.ends_with("; no technical loss."), "{stderr}");
    }
}

macro_rules! kits {
    ($($name:ident: $kit:ident $more:expr, $($test:ident)*;)*) => {
        $(mod $name {
            use super::*;

            $(#[test]
            #[ignore = "needs cargo xtask ci, which installs what the kit is written with"]
            fn $test() {
                super::$test(Kit::$kit, &$more);
            })*
        })*
    };
}

kits! {
    python: Python [], the_lines_of_its_readme_work its_strategy_gets_the_league_and_its_author_a_hint it_answers_batches_if_it_says_so;
    fastmcp: FastMcp [], the_lines_of_its_readme_work its_strategy_gets_the_league_and_its_author_a_hint it_answers_batches_if_it_says_so;
    fastmcp_stateless: FastMcp ["--stateless"], the_lines_of_its_readme_work;
    node: Node [], the_lines_of_its_readme_work its_strategy_gets_the_league_and_its_author_a_hint it_answers_batches_if_it_says_so;
    typescript: TypeScript [], the_lines_of_its_readme_work its_strategy_gets_the_league_and_its_author_a_hint it_answers_batches_if_it_says_so;
    typescript_stateless: TypeScript ["--stateless"], the_lines_of_its_readme_work;
    rust: Rust [], the_lines_of_its_readme_work it_answers_batches_if_it_says_so;
}
