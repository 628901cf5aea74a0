//! Checks PROTOCOL.md: its tables match the code, its examples can be read, its verifier works.
//! `LEAGUE_BLESS=1` writes the tables instead of comparing them.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic, and so may what helps it")]

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use league_protocol::answer::{JoinAnswer, MoveAnswer, ParsedAnswer, RegistrationAnswer};
use league_protocol::draw::{DrawCommitment, DrawSeal};
use league_protocol::frame::Frame;
use league_protocol::id::{MatchId, RefereeId, RoundId};
use league_protocol::quirk::Quirk;
use league_protocol::reference::SECTIONS;
use league_protocol::request::{self, Incoming};
use league_protocol::seal::{digest, seal};
use league_protocol::token::Token;

const END: &str = "<!-- end -->";

fn in_repository(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn document() -> String {
    std::fs::read_to_string(in_repository("PROTOCOL.md")).unwrap()
}

fn refreshed(document: &str) -> String {
    let mut text = document.to_owned();
    for section in SECTIONS {
        let mark = format!("<!-- generated: {} -->\n", section.name);
        let (before, rest) = text.split_once(&mark).unwrap_or_else(|| panic!("no place for {}", section.name));
        let (_, after) = rest.split_once(END).unwrap_or_else(|| panic!("{} does not end", section.name));
        text = format!("{before}{mark}{}{END}{after}", (section.render)());
    }
    text
}

/// The info string and the text of each fenced block in `language`.
fn fenced(language: &str) -> Vec<(String, String)> {
    let document = document();
    let mut blocks = Vec::new();
    let mut lines = document.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let text: Vec<_> = lines.by_ref().take_while(|line| *line != "```").collect();
        if let Some(kind) = info.strip_prefix(language) {
            blocks.push((kind.trim().to_owned(), text.join("\n")));
        }
    }
    blocks
}

#[test]
fn the_tables_are_those_of_the_code() {
    let old = document();
    let new = refreshed(&old);
    assert_eq!(new.matches("<!-- generated: ").count(), SECTIONS.len(), "a part that nothing generates");
    if std::env::var_os("LEAGUE_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(in_repository("PROTOCOL.md"), new).unwrap();
    } else {
        assert!(old == new, "PROTOCOL.md is out of date: `cargo xtask bless` writes its tables again");
    }
}

#[test]
fn every_example_is_read_and_accepted() {
    let examples = fenced("json");
    for (kind, text) in &examples {
        match kind.split_once(' ') {
            Some(("request", letter)) => accept_request(letter, text),
            Some(("answer", question)) => accept_answer(question, text),
            Some(_) | None => panic!("is {kind:?} a request or an answer? {text}"),
        }
    }
    for frame in Frame::ALL {
        assert!(examples.iter().any(|(kind, _)| *kind == format!("request {frame}")), "no example of frame {frame}");
    }
}

fn accept_request(letter: &str, text: &str) {
    let request = match letter {
        "R" => request::read_registration(text.as_bytes()).unwrap(),
        _ => match request::read(text.as_bytes()).unwrap() {
            Incoming::Call(call) => *call,
            other @ (Incoming::Mcp(_) | Incoming::Batch(_)) => panic!("not a call of the league: {other:?}"),
        },
    };
    assert_eq!(request.frame.to_string(), letter, "{text}");
    request.check(false).unwrap();
    // A canonical example must have no quirks.
    if request.frame == Frame::Direct {
        assert!(request.check(true).unwrap().is_empty(), "{:?} in {text}", request.check(true));
    }
}

fn accept_answer(question: &str, text: &str) {
    let layers = ParsedAnswer::parse(text.as_bytes()).unwrap();
    let match_id = MatchId::of(RoundId(1), 1);
    let quirks = match question {
        "join" => {
            let reading = layers.join(&match_id);
            assert!(matches!(reading.answer, JoinAnswer::Joined { .. }), "{:?}", reading.answer);
            reading.quirks.iter().filter(|quirk| *quirk != Quirk::NoToken).collect()
        }
        "parity" => {
            let reading = layers.parity(&match_id);
            assert_eq!(reading.answer, MoveAnswer::Move("even".into()));
            reading.quirks
        }
        "registration" => {
            let reading = layers.registration();
            assert!(matches!(reading.answer, RegistrationAnswer::Accepted { .. }), "{:?}", reading.answer);
            assert_eq!(reading.token.unwrap().reveal(), token().reveal());
            reading.quirks
        }
        "error" => {
            assert_eq!(layers.error().unwrap().code.as_deref(), Some("E012"));
            return;
        }
        other => panic!("nobody asks {other:?}"),
    };
    assert!(quirks.is_empty(), "{quirks:?} in {text}");
}

fn token() -> Token {
    Token::mint("P01", &[0xA5; 32])
}

#[test]
fn the_passes_of_the_examples_are_right() {
    let document = document();
    let (league, match_id) = ("league_2025_even_odd".parse().unwrap(), MatchId::of(RoundId(1), 1));
    let key = token().digest();
    let referees = key.referee_pass(&league, &match_id, &RefereeId::numbered(1));
    let own = key.player_pass(&league, &match_id);
    assert_eq!(document.matches(referees.reveal()).count(), 1, "{}", referees.reveal());
    assert_eq!(document.matches(own.reveal()).count(), 2, "{}", own.reveal());
    // No other text in the document may look like a pass.
    assert_eq!(document.matches("\"pass-").count(), 2 + 2, "two in examples, one in the rule, one in the verifier");
}

/// Python's `hmac` computed the vectors. Each stands in the document.
#[test]
fn the_published_signatures_are_right() {
    let vectors = std::fs::read_to_string(in_repository("crates/core/tests/vectors/signatures.json")).unwrap();
    let vectors: Vec<serde_json::Value> = serde_json::from_str(&vectors).unwrap();
    assert_eq!(vectors.len(), 4);
    for vector in vectors {
        let text = |name: &str| vector[name].as_str().unwrap_or_default();
        let number = |name: &str| u32::try_from(vector[name].as_u64().unwrap()).unwrap().to_be_bytes();
        let key = digest(text("token").as_bytes());
        let [league, match_id, nonce, played] =
            ["league_id", "match_id", "draw_nonce", "move"].map(|name| text(name).as_bytes());
        let signature = if text("tool") == "handle_game_invitation" {
            let commitment: Option<DrawCommitment> = text("draw_commitment").parse().ok();
            let commitment: &[u8] = commitment.as_ref().map_or(&[], |commitment| &commitment.0);
            let referee = text("referee_id").as_bytes();
            seal(&key, &[b"join", league, match_id, &number("attempt"), referee, commitment, nonce])
        } else {
            let [attempt, game, turn] = ["attempt", "game_number", "turn"].map(number);
            let view = digest(text("view").as_bytes());
            seal(&key, &[b"move", league, match_id, &attempt, &game, &turn, &view, played])
        };
        assert_eq!(String::from(DrawSeal(signature)), text("signature"), "{vector}");
        assert_eq!(document().matches(text("signature")).count(), 1, "{vector}");
    }
}

#[test]
fn the_verifier_in_python_agrees() {
    let (league, match_id) = ("league_2025_even_odd".parse().unwrap(), MatchId::of(RoundId(1), 1));
    let pass = token().digest().player_pass(&league, &match_id);
    let verifier = fenced("python").into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("\n");
    let script = format!(
        r#"
{verifier}

import json, sys
for v in json.load(open(sys.argv[1], encoding="utf-8")):
    attempt = 0 if v.get("seeded") else v["attempt"]
    rest = v["match_id"], attempt, v["nonce_a"], v["nonce_b"]
    assert verify(v["commitment"], v["secret"], v["seal"], v["number"], *rest), v
    assert not verify(v["commitment"], v["secret"], v["seal"], v["number"] % 10 + 1, *rest), v
    assert not verify(v["commitment"], v["secret"], "00" * 32, v["number"], *rest), v
    assert not verify("00" * 32, v["secret"], v["seal"], v["number"], *rest), v
    for other in range(1000):
        changed = v["match_id"], attempt, v["nonce_a"], f"other {{other}}"
        assert not verify(v["commitment"], v["secret"], v["seal"], v["number"], *changed), changed
for v in json.load(open(sys.argv[3], encoding="utf-8")):
    attempt = 0 if v.get("seeded") else v["attempt"]
    stream = words(bytes.fromhex(v["secret"]), v["match_id"], attempt, v["nonce_a"], v["nonce_b"], v["game"])
    assert all(number(stream, n["up_to"]) == n["number"] for n in v["numbers"]), v
    assert all(order(stream, len(dealt)) == dealt for dealt in v["shuffles"]), v
game_over = json.loads(sys.argv[2])
proof, nonces = game_over["draw"], game_over["draw"]["nonces"]
rest = game_over["match_id"], proof["attempt"], nonces["P01"], nonces["P02"]
assert verify(proof["commitment"], proof["secret"], proof["seal"], game_over["drawn_number"], *rest)
assert make_pass({token:?}, "player", {league:?}, {match_id:?}) == {pass:?}
print("agreed")
"#,
        token = token().reveal(),
        league = "league_2025_even_odd",
        match_id = match_id.as_str(),
        pass = pass.reveal(),
    );
    let proved = |value: serde_json::Value| value["params"]["draw"].is_object().then(|| value["params"].to_string());
    let game_over = fenced("json").iter().find_map(|(_, text)| proved(serde_json::from_str(text).unwrap())).unwrap();
    let vectors = in_repository("crates/core/tests/vectors/draws.json");
    let python = Command::new("python3")
        .arg("-")
        .arg(vectors)
        .arg(game_over)
        .arg(in_repository("crates/core/tests/vectors/chance.json"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut python) = python else {
        println!("python3 is not here: the verifier of PROTOCOL.md was not run");
        return;
    };
    python.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success(), "the verifier of PROTOCOL.md fails");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "agreed");
}
