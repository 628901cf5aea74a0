//! No secret is in any file or output.

use std::fs;
use std::path::Path;

use league_test_agents::http_server::{HttpReply, HttpRequest, HttpServer};
use serde_json::json;

use crate::support::wiretap::Wiretap;
use crate::support::{Process, TestHome, assert_contains, http, league};

const OPERATOR: &str = "operator-whisper-7Hq2";
const REFEREE_KEY: &str = "referee-whisper-9Xw4";
const PLAYER_KEY: &str = "player-whisper-9Xw4";
const MODEL: &str = "model-whisper-3Kd8";
/// A wrong secret, which may be valid elsewhere.
const GUESS: &str = "guess-whisper-5Zt6";

/// Refuses every key, and repeats it in the error.
fn indiscreet_model() -> HttpServer {
    let answer = |request: &HttpRequest| {
        let values = request.headers.iter().map(|(_, value)| value.as_str());
        let keys: Vec<&str> = values.filter(|value| value.contains(MODEL)).collect();
        HttpReply::json(
            401,
            &json!({"error": {"message": format!("this key is not right: {keys:?} {}", request.path)}}),
        )
    };
    HttpServer::stub(answer).unwrap()
}

fn leaks(directory: &TestHome, printed: &[(String, String)], secrets: &[String]) -> Vec<String> {
    let read = |path: &Path| (path.display().to_string(), fs::read(path).unwrap());
    let files = directory.files().into_iter().map(|path| read(&path));
    let lines = printed.iter().map(|(name, text)| (name.clone(), text.clone().into_bytes()));
    let mut found = Vec::new();
    for (place, bytes) in files.chain(lines) {
        let holds = |secret: &&String| bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
        found.extend(secrets.iter().filter(holds).map(|secret| format!("{secret} is in {place}")));
    }
    found
}

#[test]
fn no_secret_of_a_league_is_in_any_file_or_log_of_it() {
    let (home, server) = (TestHome::new(), indiscreet_model());
    let model = format!("http://{}", server.address);
    let log_everything = [("LEAGUE_LOG", "debug")];
    let key = |key| [("LEAGUE_JOIN_KEY", key)];
    let begin = |more: &[(&str, &str)], arguments: &[&str]| {
        let arguments = [arguments, &["--port", "0", "--home", home.path()]].concat();
        Process::start_in(home.path(), &[&log_everything, more].concat(), &arguments)
    };
    let expecting = ["manager", "--expect-players", "2", "--expect-referees", "1"];
    let rules = ["--move-timeout", "2", "--retry-delay", "0.05"];
    let manager_secrets =
        [("LEAGUE_OPERATOR_TOKEN", OPERATOR), ("LEAGUE_REFEREE_KEY", REFEREE_KEY), ("LEAGUE_PLAYER_KEY", PLAYER_KEY)];
    let mut manager = begin(&manager_secrets, &[&expecting[..], &rules].concat());
    let address = manager.address();
    let tap = Wiretap::on(&address);
    let through = tap.endpoint();

    // A request with a wrong value for every secret.
    let meta = json!({
        "display_name": "Guess", "version": "1.0.0", "game_types": ["even_odd"], "contact_endpoint": "http://127.0.0.1:1/mcp",
    });
    http::call(&through, "register_referee", &json!({"referee_meta": meta, "join_key": GUESS}));
    http::call(&through, "start_league", &json!({"auth_token": GUESS}));
    http::page(&address.replace("/mcp", "/operate"), Some(&format!("action=start&token={GUESS}")));

    let with_model = [("LEAGUE_LLM_BASE_URL", model.as_str()), ("LEAGUE_LLM_MODEL", "m"), ("LEAGUE_LLM_KEY", MODEL)];
    let with_model = [&with_model[..], &key(PLAYER_KEY)].concat();
    let agents = [
        ("referee", begin(&key(REFEREE_KEY), &["referee", "--referee-id", "REF01", "--manager", &through])),
        ("player", begin(&key(PLAYER_KEY), &["player", "--player-id", "P01", "--manager", &through])),
        ("model", begin(&with_model, &["player", "--strategy", "llm", "--player-id", "P02", "--manager", &through])),
    ];
    let mut printed = Vec::new();
    for (name, agent) in agents {
        let ended = agent.wait().success();
        assert_contains(&ended.stderr, &["DEBUG"]);
        printed.push((name.to_owned(), ended.stderr + &ended.stdout));
    }
    manager.wait_for_end_of_league();
    let seen = league(&["agents", "--manager", &through, "--token", OPERATOR, "--json"]).success();
    printed.push(("the operator".to_owned(), seen.stderr + &seen.stdout));
    home.verify(1);
    manager.kill();
    printed.push(("manager".to_owned(), manager.wait().stderr));

    let tokens = tap.words_with_prefix("tok-");
    let of = |id: &str| tokens.iter().any(|token| token.starts_with(&format!("tok-{id}-")) && token.len() > 40);
    assert!(["REF01", "P01", "P02"].into_iter().all(of), "{tokens:?}");
    let secrets: Vec<String> =
        tokens.into_iter().chain([OPERATOR, REFEREE_KEY, PLAYER_KEY, MODEL, GUESS].map(str::to_owned)).collect();
    assert_eq!(leaks(&home, &printed, &secrets), [""; 0]);

    // Shows that the search finds a secret.
    fs::write(home.join("logs/slip"), format!("a slip: {}", secrets[0])).unwrap();
    assert_eq!(leaks(&home, &printed, &secrets).len(), 1);
    printed.push(("slip".to_owned(), format!("key={MODEL}")));
    assert_eq!(leaks(&home, &printed, &secrets).len(), 2);
}
