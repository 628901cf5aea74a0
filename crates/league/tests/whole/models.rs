//! Players with a language model: a local server implements Gemini's API, and the test runs the commands of
//! docs/llm.md.

use std::fs;

use league_test_agents::http_server::{HttpReply, HttpRequest, HttpServer};
use serde_json::{Value, json};

use crate::support::{Process, TestHome, read_json_lines};

const GUIDE: &str = include_str!("../../../../docs/llm.md");
const KEY: &str = "key-of-the-test";

/// The model `silent` names no choice.
fn gemini() -> HttpServer {
    let answer = |request: &HttpRequest| {
        let body = request.json();
        let prompt = body["contents"][0]["parts"][0]["text"].as_str().unwrap();
        assert!(prompt.contains("league of Even/Odd"), "{prompt}");
        let word = if request.path.contains("silent") { "I would rather not say." } else { "odd" };
        let answer = json!({
            "candidates": [{"content": {"role": "model", "parts": [{"text": word}]}}],
            "usageMetadata": {"promptTokenCount": 200, "candidatesTokenCount": 1},
        });
        HttpReply::json(if request.header("x-goog-api-key") == KEY { 200 } else { 401 }, &answer)
    };
    HttpServer::stub(answer).unwrap()
}

fn commands() -> Vec<Vec<String>> {
    let blocks = GUIDE.split("```console\n").skip(1).filter_map(|rest| rest.split("\n```").next());
    let lines = blocks.flat_map(str::lines).filter_map(|line| line.strip_prefix("league "));
    lines.map(|line| line.split_whitespace().map(String::from).collect()).collect()
}

fn model_lines(home: &TestHome, player: &str) -> Vec<Value> {
    let lines = read_json_lines(&home.join(&format!("SHARED/logs/agents/{player}.log.jsonl")));
    lines.into_iter().filter(|line| line["event_type"].as_str().unwrap().starts_with("MODEL_")).collect()
}

#[test]
fn the_commands_of_the_guide_play_leagues_with_models() {
    let server = gemini();
    let base = format!("http://{}", server.address);
    let environment = [("GEMINI_API_KEY", KEY), ("LEAGUE_LLM_BASE_URL", base.as_str())];
    let commands = commands();
    assert!(commands.iter().any(|words| words.concat().contains("llm:")) && commands.len() >= 2, "{commands:?}");
    for words in commands.iter().filter(|words| words[0] == "run") {
        let home = TestHome::new();
        let words: Vec<&str> = words.iter().map(String::as_str).chain(["--port", "0"]).collect();
        let ended = Process::start_in(home.path(), &environment, &words).wait().success();
        assert!(ended.stdout.contains("gemini-2.5-"), "a model is known by its name: {}", ended.stdout);
        let lines = model_lines(&home, "P01");
        assert!(!lines.is_empty());
        for line in lines {
            assert_eq!(line["event_type"], "MODEL_ANSWERED", "{line}");
            assert_eq!((&line["data"]["prompt_tokens"], &line["data"]["answer_tokens"]), (&json!(200), &json!(1)));
            assert!(line["data"]["latency_ms"].is_u64() && line["data"]["fallback"] == false, "{line}");
        }
        let held =
            home.files().into_iter().filter(|path| fs::read_to_string(path).is_ok_and(|text| text.contains(KEY)));
        assert_eq!(held.count(), 0, "the key is in no file");
        assert!(!format!("{}{}", ended.stdout, ended.stderr).contains(KEY));
    }
    assert!(server.requests().iter().all(|request| request.path.starts_with("/v1beta/models/gemini-2.5-")));
}

#[test]
fn a_model_that_fails_costs_its_move_and_the_log_says_why() {
    let server = gemini();
    let base = format!("http://{}", server.address);
    let environment = [("GEMINI_API_KEY", KEY), ("LEAGUE_LLM_BASE_URL", base.as_str())];
    let home = TestHome::new();
    let words = ["run", "--players", "2", "--strategies", "llm:silent,random", "--port", "0"];
    Process::start_in(home.path(), &environment, &words).wait().success();
    let lines = model_lines(&home, "P01");
    assert_eq!(lines.len(), 1);
    assert_eq!((&lines[0]["event_type"], &lines[0]["level"]), (&json!("MODEL_FAILED"), &json!("WARN")));
    assert!(lines[0]["message"].as_str().unwrap().contains("I would rather not say."), "{}", lines[0]);
    assert_eq!(lines[0]["data"]["fallback"], true);
}
