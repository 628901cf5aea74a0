//! Finding the dialect of an unknown peer, and the number of calls it takes.

use league_protocol::dialect::{McpStyle, PeerDialect};
use league_protocol::frame::Frame;
use league_protocol::message::operate::Empty;
use league_protocol::message::round::LeagueCompleted;
use league_protocol::quirk::Quirk;
use league_protocol::table::{Call, Method};
use league_wire::endpoint::Endpoint;
use league_wire::exchange::Exchange;
use league_wire::peer_client::{OutgoingCall, Peer, PeerClient, SendAttempt, SendOutcome, heard};
use serde_json::{Value, json};

use crate::strangers::{Answer, Asked, Stranger};
use crate::support::{LONG, envelope, small};

fn says_yes(exchange: &Exchange) -> bool {
    exchange.body.windows(5).any(|window| window == b"\"yes\"")
        || exchange.body.windows(7).any(|window| window == b"\\\"yes\\\"")
}

fn yes() -> Value {
    json!({"answer": "yes"})
}

async fn ask_as(
    peer_client: &PeerClient,
    endpoint: &Endpoint,
    dialect: &PeerDialect,
    proven: bool,
) -> (SendOutcome, Vec<SendAttempt>) {
    let (call, from) = (small(), envelope("x"));
    let mut tries = Vec::new();
    let message = OutgoingCall { envelope: &from, call: &call, body: None, limit: LONG, notice: false };
    let said = peer_client.send(Peer { endpoint, dialect, proven }, message, &says_yes, &mut tries).await;
    (said, tries)
}

async fn tell(peer_client: &PeerClient, endpoint: &Endpoint, dialect: &PeerDialect) -> (SendOutcome, Vec<SendAttempt>) {
    let from = envelope("x");
    let over = LeagueCompleted {
        league_id: None,
        total_rounds: 1,
        total_matches: 1,
        champion: None,
        final_standings: vec![],
        total_players: None,
    };
    let call = Call::NotifyLeagueCompleted(over);
    let mut tries = Vec::new();
    let message = OutgoingCall { envelope: &from, call: &call, body: None, limit: LONG, notice: true };
    let said = peer_client.send(Peer { endpoint, dialect, proven: false }, message, &heard, &mut tries).await;
    (said, tries)
}

/// Asks twice; returns the learned dialect and the number of wasted calls.
async fn learn(stranger: &Stranger) -> (PeerDialect, usize) {
    let peer_client = PeerClient::default();
    let (said, tries) = ask_as(&peer_client, &stranger.endpoint, &PeerDialect::default(), false).await;
    assert!(said.understood, "{:?}", stranger.methods());
    let wasted = tries.iter().filter(|one| !one.is_probe).count() - 1;
    let dialect = said.learned.unwrap_or_default();
    let (again, tries) = ask_as(&peer_client, &stranger.endpoint, &dialect, false).await;
    assert_eq!((again.understood, again.learned, tries.len()), (true, None, 1), "what was learned is used");
    (dialect, wasted)
}

fn list(tools: &[&str], schema: &Value) -> Value {
    let tool = |name: &&str| json!({"name": name, "inputSchema": schema});
    json!({"tools": tools.iter().map(tool).collect::<Vec<_>>()})
}

fn tool_result(asked: &Asked) -> Answer {
    asked.result(&json!({"content": [{"type": "text", "text": yes().to_string()}]}))
}

#[tokio::test]
async fn the_canonical_form_costs_nothing() {
    let stranger = Stranger::new(|asked| asked.result(&yes())).await;
    assert_eq!(learn(&stranger).await, (PeerDialect::default(), 0));
    assert_eq!(stranger.methods(), ["shutdown", "shutdown"]);
}

#[tokio::test]
async fn message_types_as_methods_are_the_second_guess() {
    let stranger = Stranger::new(|asked| match asked.method() {
        "SHUTDOWN_COMMAND" => asked.result(&yes()),
        _ => asked.error(200, -32601, "Method not found"),
    })
    .await;
    assert_eq!(learn(&stranger).await, (PeerDialect::from(Frame::Typed), 1));
}

#[tokio::test]
async fn a_message_alone_is_the_second_guess_where_a_framework_misses_its_type() {
    let stranger = Stranger::new(|asked| match asked.body.get("message_type") {
        Some(_) => Answer::json(200, &yes()),
        None => Answer::json(422, &json!({"detail": [{"type": "missing", "loc": ["body", "message_type"]}]})),
    })
    .await;
    assert_eq!(learn(&stranger).await, (PeerDialect::from(Frame::Bare), 1));
}

#[tokio::test]
async fn a_nested_message_is_the_second_guess_where_it_is_missed() {
    let stranger = Stranger::new(|asked| match asked.body["params"].get("message") {
        Some(_) => asked.result(&yes()),
        None => asked.error(200, -32602, "Invalid params: 'message' is a required property"),
    })
    .await;
    assert_eq!(learn(&stranger).await, (PeerDialect::from(Frame::Nested), 1));
}

#[tokio::test]
async fn tools_are_listed_and_then_called_as_they_want_to_be() {
    let stranger = Stranger::new(|asked| match asked.method() {
        "tools/list" => {
            let schema = json!({"properties": {"reason": {}}, "additionalProperties": false});
            asked.result(&list(&["Shutdown"], &schema))
        }
        "tools/call" if asked.body["params"]["name"] == "Shutdown" => {
            let arguments = asked.body["params"]["arguments"].as_object().unwrap();
            assert!(arguments.keys().all(|name| name == "reason"), "{arguments:?}");
            tool_result(asked)
        }
        _ => asked.error(200, -32601, "Method not found"),
    })
    .await;
    let (dialect, wasted) = learn(&stranger).await;
    assert_eq!((dialect.frame(), dialect.era(), wasted), (Frame::Tool, McpStyle::AtOnce, 1));
    assert_eq!(dialect.name_of(Method::Shutdown), "Shutdown");
}

/// A server with sessions as in the Python SDK. The first session is lost after `lasts` calls.
async fn with_sessions(lasts: usize) -> Stranger {
    let (opened, calls) = (std::sync::atomic::AtomicUsize::new(0), std::sync::atomic::AtomicUsize::new(0));
    let count = |number: &std::sync::atomic::AtomicUsize| number.fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1;
    Stranger::new(move |asked| {
        let session = asked.header("mcp-session-id");
        match asked.method() {
            "initialize" => {
                let number = count(&opened);
                asked
                    .result(&json!({"protocolVersion": "2025-06-18", "capabilities": {}}))
                    .with(&format!("mcp-session-id: s{number}"))
                    .streamed()
            }
            _ if session.is_none() => {
                asked.error(400, -32600, "Bad Request: Missing session ID").with("mcp-session-id: useless")
            }
            _ if asked.header("mcp-protocol-version") != Some("2025-06-18") => asked.error(400, -32600, "which one?"),
            "notifications/initialized" => {
                Answer { status: 202, headers: String::new(), body: String::new(), open: false }
            }
            "tools/list" => asked.result(&list(&["shutdown"], &json!({}))).streamed(),
            _ if session == Some("s1") && count(&calls) > lasts => asked.error(404, -32600, "Session not found"),
            _ => Answer { open: true, ..tool_result(asked).streamed() },
        }
    })
    .await
}

#[tokio::test]
async fn a_server_with_sessions_is_greeted_once() {
    let stranger = with_sessions(usize::MAX).await;
    let (dialect, wasted) = learn(&stranger).await;
    assert_eq!((dialect.to_string().as_str(), wasted), ("C session", 1));
    let asked = [
        "shutdown",
        "server/discover",
        "initialize",
        "notifications/initialized",
        "tools/list",
        "tools/call",
        "tools/call",
    ];
    assert_eq!(stranger.methods(), asked);
    assert_eq!(stranger.last().header("mcp-session-id"), Some("s1"));
}

#[tokio::test]
async fn a_session_that_is_lost_is_opened_again_once() {
    let stranger = with_sessions(1).await;
    let peer_client = PeerClient::default();
    let (said, _) = ask_as(&peer_client, &stranger.endpoint, &PeerDialect::default(), false).await;
    let dialect = said.learned.unwrap();
    let (said, tries) = ask_as(&peer_client, &stranger.endpoint, &dialect, true).await;
    assert!(said.understood);
    assert_eq!(
        tries.iter().map(|one| one.what).collect::<Vec<_>>(),
        ["SHUTDOWN_COMMAND", "initialize", "notifications/initialized", "SHUTDOWN_COMMAND"]
    );
    assert_eq!(stranger.last().header("mcp-session-id"), Some("s2"));
}

#[tokio::test]
async fn who_knows_of_a_session_from_elsewhere_opens_its_own() {
    let stranger = with_sessions(usize::MAX).await;
    let learned =
        ask_as(&PeerClient::default(), &stranger.endpoint, &PeerDialect::default(), false).await.0.learned.unwrap();
    let (said, tries) = ask_as(&PeerClient::default(), &stranger.endpoint, &learned, true).await;
    assert!(said.understood && tries.iter().filter(|one| !one.is_probe).count() == 1);
}

#[tokio::test]
async fn a_stateless_server_is_told_everything_in_each_request() {
    let stranger = Stranger::new(|asked| {
        let meta = &asked.body["params"]["_meta"];
        let version = meta["io.modelcontextprotocol/protocolVersion"].as_str();
        if version.is_none() {
            return asked.error(400, -32600, "Bad Request");
        }
        let fits =
            asked.header("mcp-protocol-version") == version && asked.header("mcp-method") == Some(asked.method());
        match asked.method() {
            _ if !fits => asked.error(400, -32020, "Header mismatch"),
            "server/discover" => asked.result(&json!({"supportedVersions": ["2026-07-28"]})),
            "tools/list" => asked.result(&list(&["shutdown"], &json!({}))),
            "tools/call" if asked.header("mcp-name") == Some("shutdown") => tool_result(asked),
            _ => asked.error(404, -32601, "Method not found"),
        }
    })
    .await;
    let (dialect, wasted) = learn(&stranger).await;
    assert_eq!((dialect.to_string().as_str(), wasted), ("C 2026-07-28", 1));
}

#[tokio::test]
async fn an_endpoint_without_a_path_may_mean_the_root() {
    let stranger = Stranger::new(|asked| match asked.path() {
        "/" => asked.result(&yes()),
        _ => Answer { status: 404, headers: String::new(), body: "Not Found".into(), open: false },
    })
    .await;
    let pathless: Endpoint = stranger.endpoint.to_string().trim_end_matches("/mcp").parse().unwrap();
    let (said, tries) = ask_as(&PeerClient::default(), &pathless, &PeerDialect::default(), false).await;
    assert_eq!((said.learned, tries.len()), (Some(PeerDialect::default().at_root()), 2));
    let (said, tries) = ask_as(&PeerClient::default(), &stranger.endpoint, &PeerDialect::default(), false).await;
    assert_eq!((said.understood, tries.len()), (false, 1), "who names a path means it");
}

#[tokio::test(start_paused = true)]
async fn a_rate_limit_is_waited_out_within_the_limit() {
    let calls = std::sync::atomic::AtomicUsize::new(0);
    let stranger = Stranger::new(move |asked| match calls.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
        0 => asked.error(200, -32000, "Rate limit exceeded"),
        1 => Answer::json(429, &json!({"error": "slow down", "retry_after": 1.5})),
        _ => asked.result(&yes()),
    })
    .await;
    let began = tokio::time::Instant::now();
    let (said, tries) = ask_as(&PeerClient::default(), &stranger.endpoint, &PeerDialect::default(), true).await;
    assert!(said.understood && said.learned.is_none() && said.quirks.has(Quirk::RateLimits));
    assert_eq!(tries.len(), 3);
    let waited = began.elapsed().as_millis();
    assert!((1600..2500).contains(&waited), "{waited}");
}

#[tokio::test]
async fn what_says_something_else_is_not_asked_again() {
    for answer in [(200, -32000, "Invalid state"), (200, -32603, "internal error"), (401, -32001, "E012")] {
        let stranger = Stranger::new(move |asked| asked.error(answer.0, answer.1, answer.2)).await;
        let (said, tries) = ask_as(&PeerClient::default(), &stranger.endpoint, &PeerDialect::default(), false).await;
        assert_eq!((said.understood, tries.len()), (false, 1), "{answer:?}");
    }
}

#[tokio::test]
async fn a_peer_is_not_asked_again_after_a_broken_connection() {
    let peer = crate::support::peer(|_, _| async {}).await;
    let (said, tries) = ask_as(&PeerClient::default(), &peer, &PeerDialect::default(), false).await;
    assert!(!said.understood && tries.len() == 1 && tries[0].came.is_err());
}

#[tokio::test]
async fn who_says_ok_to_anything_is_found_out() {
    let stranger = Stranger::new(|asked| match asked.method() {
        "SHUTDOWN_COMMAND" => asked.result(&yes()),
        _ => Answer::json(200, &json!({"status": "ok"})),
    })
    .await;
    let (said, tries) = ask_as(&PeerClient::default(), &stranger.endpoint, &PeerDialect::default(), false).await;
    assert!(said.understood && said.quirks.has(Quirk::SaysOkToAnything));
    assert_eq!(tries.len(), 2);
}

#[tokio::test]
async fn an_unknown_notice_is_sent_by_two_names_and_never_again() {
    let stranger = Stranger::new(|asked| asked.error(200, -32601, "Method not found")).await;
    let peer_client = PeerClient::default();
    let (said, tries) = tell(&peer_client, &stranger.endpoint, &PeerDialect::default()).await;
    let dialect = said.learned.unwrap();
    assert!(tries.len() == 2 && said.quirks.has(Quirk::UnknownNotice));
    assert!(!dialect.knows(Method::NotifyLeagueCompleted));
    let (said, tries) = tell(&peer_client, &stranger.endpoint, &dialect).await;
    assert_eq!((said, tries.len()), (SendOutcome::default(), 0));
}

#[tokio::test]
async fn a_notice_finds_out_about_tools_so_that_the_first_question_knows() {
    let stranger = with_sessions(usize::MAX).await;
    let (said, tries) = tell(&PeerClient::default(), &stranger.endpoint, &PeerDialect::default()).await;
    let dialect = said.learned.unwrap();
    assert_eq!(dialect.frame(), Frame::Tool);
    assert!(!dialect.knows(Method::NotifyLeagueCompleted), "there is no such tool");
    assert_eq!(tries.iter().filter(|one| !one.is_probe).count(), 1);
}

#[tokio::test]
async fn a_happy_answer_to_a_notice_changes_nothing() {
    let stranger = Stranger::new(|_| Answer::json(200, &json!({"status": "ok"}))).await;
    let (said, tries) = tell(&PeerClient::default(), &stranger.endpoint, &PeerDialect::default()).await;
    assert_eq!((said.understood, said.learned, tries.len()), (true, None, 1));
}

#[tokio::test]
async fn all_forms_share_one_limit() {
    let stranger = crate::support::player().await;
    let (call, from, dialect) = (Call::Ping(Empty {}), envelope("x"), PeerDialect::default());
    let endpoint = crate::support::endpoint(stranger.address);
    let mut tries = Vec::new();
    let never = |_: &Exchange| false;
    let message = OutgoingCall { envelope: &from, call: &call, body: None, limit: LONG, notice: false };
    let peer = Peer { endpoint: &endpoint, dialect: &dialect, proven: false };
    let said = PeerClient::default().send(peer, message, &never, &mut tries).await;
    assert!(!said.understood);
    let limits: Vec<_> = tries.iter().map(|one| one.came.as_ref().unwrap().receipt.limit).collect();
    assert!(limits.len() > 1 && limits.is_sorted_by(|a, b| a > b), "{limits:?}");
}
