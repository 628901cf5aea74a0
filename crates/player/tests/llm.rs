//! A runner with the `llm` strategy asks a server on this machine that offers both APIs.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic, and so may what helps it")]

#[path = "../../wire/tests/test_certificates/mod.rs"]
mod test_certificates;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use league_core::rules::seed::Seed;
use league_core::session::MoveRequest;
use league_player::chance::Chance;
use league_player::llm::{ApiKey, MAX_ANSWER, Model, ModelApi, Provider};
use league_player::memory::Memory;
use league_player::strategy::registry::strategy;
use league_player::strategy_runner::{StrategyOutcome, StrategyRunner};
use league_protocol::id::PlayerId;
use league_protocol::message::choice::ChooseParityCall;
use league_wire::tls::{client_config, server_config};
use serde_json::{Value, json};
use test_certificates::TestCertificates;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

const KEY: &str = "sk-right-key";
const APIS: [ModelApi; 2] = [ModelApi::Gemini, ModelApi::OpenAi];
/// More than a third of [`SHORT`], and less than all of it.
const THOROUGH: Duration = Duration::from_millis(2500);
const SHORT: Duration = Duration::from_secs(6);

async fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(serve)));
        }
    });
    format!("http://{address}")
}

async fn secure_server(certificates: &TestCertificates) -> String {
    let tls =
        TlsAcceptor::from(server_config(&certificates.path("server.pem"), &certificates.path("server.key")).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let accepting = tls.accept(stream);
            tokio::spawn(async move {
                // A client that does not trust the certificate disconnects here.
                let Ok(stream) = accepting.await else { return };
                drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(serve)).await);
            });
        }
    });
    format!("https://{address}")
}

async fn serve(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let body: Value = serde_json::from_slice(&body.collect().await.unwrap().to_bytes()).unwrap();
    let path = head.uri.path();
    let header = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let gemini = path.strip_prefix("/v1beta/models/").and_then(|rest| rest.strip_suffix(":generateContent"));
    let (model, key, prompt) = match gemini {
        Some(model) => (model, header("x-goog-api-key"), &body["contents"][0]["parts"][0]["text"]),
        None => {
            assert_eq!(path, "/v1/chat/completions");
            let key = header("authorization").strip_prefix("Bearer ").unwrap_or_default();
            (body["model"].as_str().unwrap(), key, &body["messages"][0]["content"])
        }
    };
    assert!(prompt.as_str().unwrap().ends_with("Answer with one word and nothing else: even or odd.\n"));
    let say = |text: &str| match gemini {
        Some(_) => json!({
            "candidates": [{ "content": { "role": "model", "parts": [{ "text": text }] } }],
            "usageMetadata": { "promptTokenCount": 210, "candidatesTokenCount": 2, "thoughtsTokenCount": 40 },
        }),
        None => json!({
            "choices": [{ "message": { "role": "assistant", "content": text } }],
            "usage": { "prompt_tokens": 210, "completion_tokens": 42, "total_tokens": 252 },
        }),
    };
    let (status, text) = match model {
        _ if key != KEY => (401, json!({ "error": format!("Incorrect API key provided: {key}") }).to_string()),
        "good" => (200, say("Odd.\n").to_string()),
        "thorough" => {
            tokio::time::sleep(THOROUGH).await;
            (200, say("odd").to_string())
        }
        "late" => {
            tokio::time::sleep(Duration::from_secs(60)).await;
            (200, say("odd").to_string())
        }
        "talkative" => (200, say("Odd, unless you feel like even.").to_string()),
        "garbage" => (200, String::from("<html>odd</html>")),
        "elsewhere" => (200, json!({ "answer": "odd" }).to_string()),
        "broken" => (500, say("odd").to_string()),
        "huge" => (200, say(&"odd ".repeat(MAX_ANSWER / 4)).to_string()),
        "moved" => (307, String::new()),
        "indiscreet" => (200, say(&format!("your key is {key}")).to_string()),
        other => panic!("no such model: {other}"),
    };
    let response = Response::builder().status(StatusCode::from_u16(status).unwrap());
    let response = if status == 307 { response.header("location", "http://127.0.0.1:9/") } else { response };
    Ok(response.body(Full::from(text)).unwrap())
}

fn provider(api: ModelApi, base_url: &str, model: &str, key: &str) -> Provider {
    Provider { api, base_url: base_url.into(), model: model.into(), key: Some(ApiKey::new(key)) }
}

fn runner(api: ModelApi, base_url: &str, model: &str, key: &str) -> StrategyRunner {
    let provider = provider(api, base_url, model, key);
    StrategyRunner::new(strategy("llm").unwrap()).with_model(Model::new(provider).unwrap())
}

fn question() -> MoveRequest {
    let call = serde_json::json!({"match_id": "R1M1", "context": {"opponent_id": "P02"}});
    serde_json::from_value::<ChooseParityCall>(call).unwrap().into()
}

fn says_odd(outcome: &StrategyOutcome) -> bool {
    matches!(outcome, StrategyOutcome::Advised { played, .. } if played == "odd")
}

fn memory() -> Memory {
    let chance = Chance::Seeded(Seed::new(1, "league".parse().unwrap()));
    Memory { player: PlayerId::numbered(1), history: Arc::default(), standings: Arc::default(), chance }
}

async fn think(runner: &StrategyRunner) -> StrategyOutcome {
    runner.think(question(), memory(), Duration::from_secs(30)).await
}

async fn failure(runner: &StrategyRunner) -> String {
    let outcome = think(runner).await;
    let StrategyOutcome::Fallback { played, because, .. } = outcome else { panic!("{outcome:?}") };
    assert_eq!(played, memory().random_move(&question()));
    let shown = format!("{because} {because:?} {runner:?}");
    assert!(!shown.contains("sk-"), "{shown}");
    because.to_string()
}

#[tokio::test]
async fn a_model_s_word_is_the_choice() {
    let base = server().await;
    for api in APIS {
        let outcome = think(&runner(api, &base, "good", KEY)).await;
        assert!(says_odd(&outcome), "{api:?}: {outcome:?}");
    }
    let with_version = think(&runner(ModelApi::OpenAi, &format!("{base}/v1/"), "good", KEY)).await;
    assert!(says_odd(&with_version), "{with_version:?}");
}

#[tokio::test]
async fn a_model_that_takes_most_of_the_time_is_heard_and_its_cost_is_told() {
    let base = server().await;
    let model = runner(ModelApi::Gemini, &base, "thorough", KEY);
    assert_eq!(model.model(), Some("thorough"));
    let outcome = model.think(question(), memory(), SHORT).await;
    assert!(says_odd(&outcome), "{outcome:?}");
    let StrategyOutcome::Advised { asked, .. } = outcome else { panic!("{outcome:?}") };
    assert!(asked.latency >= THOROUGH, "{asked:?}");
    for api in APIS {
        let outcome = think(&runner(api, &base, "good", KEY)).await;
        let StrategyOutcome::Advised { asked, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(asked.model, "good");
        assert_eq!((asked.usage.prompt_tokens, asked.usage.answer_tokens), (Some(210), Some(42)), "{api:?}");
    }
}

#[tokio::test]
async fn a_model_behind_tls_is_asked_by_those_who_trust_it() {
    let certificates = TestCertificates::new();
    let base = secure_server(&certificates).await;
    let tls = client_config(Some(&certificates.path("ca.pem"))).unwrap();
    for api in APIS {
        for base in [base.clone(), base.replace("127.0.0.1", "localhost")] {
            let model = Model::trusting(provider(api, &base, "good", KEY), Arc::clone(&tls)).unwrap();
            let outcome = think(&StrategyRunner::new(strategy("llm").unwrap()).with_model(model)).await;
            assert!(says_odd(&outcome), "{api:?} {base}: {outcome:?}");
            // The player sends nothing to a server with an untrusted certificate, least of all the key.
            let failure = failure(&runner(api, &base, "good", KEY)).await;
            assert!(failure.contains("it cannot be reached") && failure.contains("certificate"), "{failure}");
        }
    }
}

#[tokio::test]
async fn a_model_that_is_late_is_not_waited_for() {
    let base = server().await;
    for api in APIS {
        let runner = runner(api, &base, "late", KEY).with_time_limit(Duration::from_millis(100));
        let begun = Instant::now();
        assert_eq!(failure(&runner).await, "nothing came within 100ms");
        assert!(begun.elapsed() < Duration::from_secs(5));
    }
}

#[tokio::test]
async fn whatever_else_a_model_does_costs_its_word_and_no_more() {
    let base = server().await;
    let cases = [
        ("talkative", "the model was to name a legal move, and said \"Odd, unless you feel like even.\""),
        ("garbage", "no answer from the model: its answer is not what its API says"),
        ("elsewhere", "no answer from the model: its answer is not what its API says"),
        ("broken", "no answer from the model: it answered HTTP 500 Internal Server Error"),
        ("huge", "no answer from the model: its answer is larger than 262144 bytes"),
        ("moved", "no answer from the model: it answered HTTP 307 Temporary Redirect"),
        ("indiscreet", "no answer from the model: its answer gives the key away, and is not looked at"),
    ];
    for (model, expected) in cases {
        for api in APIS {
            assert_eq!(failure(&runner(api, &base, model, KEY)).await, expected, "{api:?}");
        }
    }
}

#[tokio::test]
async fn a_wrong_key_is_told_and_never_shown() {
    let base = server().await;
    for api in APIS {
        let failure = failure(&runner(api, &base, "good", "sk-wrong-key")).await;
        assert_eq!(failure, "no answer from the model: it refuses the key (HTTP 401 Unauthorized)");
    }
}

#[tokio::test]
async fn a_model_that_is_not_there_is_noticed_at_once() {
    // Bound and released: no process listens there now.
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    for api in APIS {
        let failure = failure(&runner(api, &format!("http://{free}"), "good", KEY)).await;
        assert!(failure.starts_with("no answer from the model: it cannot be reached: "), "{failure}");
        assert!(failure.to_lowercase().contains("refused"), "{failure}");
    }
}

async fn half_a_server(then: Duration) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let _ = stream.read(&mut [0; 4096]).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"choices\": [").await;
        tokio::time::sleep(then).await;
    });
    base
}

#[tokio::test]
async fn a_connection_that_breaks_in_the_middle_of_an_answer_is_no_answer() {
    let failure = failure(&runner(ModelApi::OpenAi, &half_a_server(Duration::ZERO).await, "good", KEY)).await;
    assert!(failure.starts_with("no answer from the model: it cannot be reached: "), "{failure}");
}

#[tokio::test]
async fn the_deadline_runs_to_the_last_byte_and_not_to_the_first() {
    let base = half_a_server(Duration::from_secs(60)).await;
    let runner = runner(ModelApi::OpenAi, &base, "good", KEY).with_time_limit(Duration::from_millis(100));
    assert_eq!(failure(&runner).await, "nothing came within 100ms");
}
