//! The kits in `examples/`: each passes the checks, plays, gives its strategy what it needs and shows its author the
//! problems.

use std::fs;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

use league_core::rules::registry::known_games;
use league_protocol::draw::DrawSeal;
use league_protocol::seal::{digest, seal};
use league_protocol::token::Token;
use league_test_agents::http_server::{HttpReply, HttpServer, ReservedPort};
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
    // The Rust kit plays the games that it is built with.
    assert!(Kit::SCRIPTS.iter().all(|kit| kit.read("README.md").contains("`--game`")));
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
    let games = about["game_types"].as_array().unwrap();
    assert!(known_games().all(|game| games.contains(&json!(game))), "{about}");
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

/// A player with the token, nonce and move of a published vector answers with its signature.
fn it_signs_as_published(kit: Kit, _: &[&str]) {
    let script = match kit {
        Kit::Python | Kit::FastMcp => {
            "import json, sys; from league_kit import Player
for vector in json.load(open(sys.argv[1])):
    player = Player(lambda *_: vector['move'], ['even_odd'], 'Guest')
    player.registration = {'auth_token': vector['token'], 'league_id': vector['league_id']}
    message = {**vector, 'sender': 'referee:REF01', 'context': {'state': vector.get('view')}}
    player.attempt(message, True, begin=True).draw_nonce = vector.get('draw_nonce')
    print(player.answer(vector['tool'], message)['signature'])"
        }
        Kit::Node | Kit::TypeScript => {
            "import { readFileSync } from 'node:fs'; import { Player } from './league_kit.mjs';
for (const vector of JSON.parse(readFileSync(process.argv[1]))) {
    const player = new Player(() => vector.move, ['even_odd'], 'Guest');
    player.registration = { auth_token: vector.token, league_id: vector.league_id };
    const message = { ...vector, sender: 'referee:REF01', context: { state: vector.view } };
    player.newAttempt(message, true).drawNonce = vector.draw_nonce;
    console.log((await player.answer(vector.tool, message)).signature);
}"
        }
        Kit::Rust => panic!("the crates of the Rust kit have tests of their own"),
    };
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/tests/vectors/signatures.json");
    let output = kit.script(script).arg(&vectors).output().unwrap();
    let signatures = String::from_utf8(output.stdout).unwrap();
    let vectors: Vec<Value> = serde_json::from_str(&fs::read_to_string(vectors).unwrap()).unwrap();
    let expected: Vec<&str> = vectors.iter().map(|vector| vector["signature"].as_str().unwrap()).collect();
    assert_eq!(signatures.lines().collect::<Vec<_>>(), expected, "{}", String::from_utf8_lossy(&output.stderr));
}

/// Plays the manager and the referee of a kit that takes plain calls. The kits with an MCP library have the same library.
fn it_signs_and_tells_the_manager_what_it_saw(kit: Kit, more: &[&str]) {
    let token = Token::mint("P01", &[0xA5; 32]);
    let (key, digests) = (digest(token.reveal().as_bytes()), token.digest());
    let sealed = |fields: &[&[u8]]| String::from(DrawSeal(seal(&key, fields)));
    let registered = json!({
        "message_type": "LEAGUE_REGISTER_RESPONSE", "status": "ACCEPTED", "player_id": "P01", "auth_token": token.reveal(),
        "league_id": "harbour_cup", "pass_scheme": "hmac-sha256",
    });
    let manager = HttpServer::stub(move |request| match request.json() {
        request if request["method"] == "register_player" => HttpReply::result(&request, &registered),
        // A manager of other make knows of no deposits.
        request => HttpReply::json(
            200,
            &json!({"jsonrpc": "2.0", "error": {"code": -32601, "message": "?"}, "id": request["id"]}),
        ),
    });
    let manager = manager.unwrap();
    let _player = kit.join(&manager.endpoint(), "Guest", more);
    let limit = Duration::from_secs(60);
    let about = manager.wait_for("register_player", 1, limit)[0]["params"]["player_meta"].clone();
    assert_eq!(about["signs_moves"], true, "{about}");
    let endpoint = about["contact_endpoint"].as_str().unwrap();
    let nonce = "5e".repeat(32);
    let proof = sealed(&[b"identity", nonce.as_bytes()]);
    http::until(endpoint, "prove_identity", &json!({"nonce": nonce}), |said| said["result"]["proof"] == proof);

    let (league, match_id) = ("harbour_cup".parse().unwrap(), "R2M3".parse().unwrap());
    let referee_pass = digests.referee_pass(&league, &match_id, &"REF01".parse().unwrap());
    let manager_pass = digests.manager_pass(&league);
    let call = |method: &str, sender: &str, pass: &str, fields: Value| {
        let mut message = json!({
            "protocol": "league.v2", "sender": sender, "timestamp": "2026-03-04T09:00:00Z", "conversation_id": "conv-1",
            "auth_token": pass, "league_id": "harbour_cup", "match_id": "R2M3", "player_id": "P01", "attempt": 1,
        });
        message.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        http::call(endpoint, method, &message)["result"].clone()
    };
    let referee = |method: &str, fields: Value| call(method, "referee:REF01", referee_pass.reveal(), fields);
    let seen = || {
        let said = call("confirm_match", "league_manager", manager_pass.reveal(), json!({}));
        json!([said["called"], said["joined"], said["moves"], said["revealed"]])
    };
    let invitation = json!({
        "game_type": "even_odd", "role_in_match": "PLAYER_A", "opponent_id": "P02", "draw_commitment": "ab".repeat(32),
    });
    let question = json!({"game_type": "even_odd", "game_number": 1, "turn": 1, "context": {"opponent_id": "P02"}});

    // A referee that the manager did not appoint learns nothing that it could use.
    let guessed = call("handle_game_invitation", "referee:REF01", "pass-guessed", invitation.clone());
    assert!(guessed.get("signature").is_none() && guessed.get("auth_token").is_none(), "{guessed}");
    assert_eq!(seen(), json!([false, false, 0, false]));

    let joined = referee("handle_game_invitation", invitation.clone());
    let nonce = joined["draw_nonce"].as_str().unwrap();
    let (one, commitment) = (1_u32.to_be_bytes(), [0xAB; 32]);
    let expected = sealed(&[b"join", b"harbour_cup", b"R2M3", &one, b"REF01", &commitment, nonce.as_bytes()]);
    assert_eq!(joined["signature"], expected, "{joined}");
    assert_eq!(referee("handle_game_invitation", invitation)["signature"], expected);
    assert_ne!(guessed["draw_nonce"], nonce);
    assert_eq!(seen(), json!([true, true, 0, false]));

    let moved = referee("choose_parity", question.clone());
    let choice = moved["parity_choice"].as_str().unwrap();
    let view = digest(b"");
    let expected = sealed(&[b"move", b"harbour_cup", b"R2M3", &one, &one, &one, &view, choice.as_bytes()]);
    assert_eq!(moved["signature"], expected, "{moved}");
    assert_eq!(seen(), json!([true, true, 1, false]));
    assert!(manager.calls("deposit_move").is_empty());
    assert_eq!(referee("choose_parity", question)["signature"], expected);
    let deposits = manager.wait_for("deposit_move", 1, limit);
    let deposit = &deposits[0]["params"];
    let wanted = json!({
        "message_type": "MOVE_DEPOSIT", "auth_token": token.reveal(), "match_id": "R2M3", "attempt": 1, "game_number": 1,
        "turn": 1, "view_sha256": String::from(DrawSeal(view)), "move": choice, "signature": expected,
    });
    for (field, value) in wanted.as_object().unwrap() {
        assert_eq!(deposit[field], *value, "{deposit}");
    }
    referee("notify_match_result", json!({"result": "WIN", "points_earned": 3, "drawn_number": 8}));
    assert_eq!(seen(), json!([true, true, 1, true]));
}

#[test]
#[ignore = "needs cargo xtask ci, which installs what the kits are written with"]
fn the_kits_play_every_game_with_each_other() {
    for game in known_games() {
        let venue = Venue::patient();
        let manager = venue.manager_with(Kit::ALL.len(), 1, &["--game", game, "--exit-when-done"]);
        let _referee = venue.agent(&["referee", "--game", game]);
        let players = Kit::ALL.map(|kit| kit.join(&venue.address, &format!("{kit:?}"), &[]));
        manager.wait().success();
        venue.home.verify(10);
        assert_eq!(venue.home.forfeits(), 0, "{game}");
        for player in players {
            let stderr = player.wait().success().stderr;
            assert!(stderr.ends_with("; no technical loss."), "{game}: {stderr}");
        }
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
    python: Python [], the_lines_of_its_readme_work its_strategy_gets_the_league_and_its_author_a_hint it_answers_batches_if_it_says_so
        it_signs_as_published it_signs_and_tells_the_manager_what_it_saw;
    fastmcp: FastMcp [], the_lines_of_its_readme_work its_strategy_gets_the_league_and_its_author_a_hint it_answers_batches_if_it_says_so;
    fastmcp_stateless: FastMcp ["--stateless"], the_lines_of_its_readme_work;
    node: Node [], the_lines_of_its_readme_work its_strategy_gets_the_league_and_its_author_a_hint it_answers_batches_if_it_says_so
        it_signs_as_published it_signs_and_tells_the_manager_what_it_saw;
    typescript: TypeScript [], the_lines_of_its_readme_work its_strategy_gets_the_league_and_its_author_a_hint it_answers_batches_if_it_says_so;
    typescript_stateless: TypeScript ["--stateless"], the_lines_of_its_readme_work;
    rust: Rust [], the_lines_of_its_readme_work it_answers_batches_if_it_says_so it_signs_and_tells_the_manager_what_it_saw;
}
