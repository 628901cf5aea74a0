//! Finding the dialect of an unknown peer, and the number of calls it takes.

use std::sync::atomic::{AtomicUsize, Ordering};

use league_protocol::dialect::{McpStyle, PeerDialect};
use league_protocol::frame::Frame;
use league_protocol::message::operate::Empty;
use league_protocol::quirk::Quirk;
use league_protocol::table::{Call, Method};
use league_wire::endpoint::Endpoint;
use league_wire::exchange::Exchange;
use league_wire::peer_client::{OutgoingCall, Peer, PeerClient, SendAttempt, SendOutcome, is_acknowledged};
use serde_json::{Value, json};

use crate::stub_peer::{StubAnswer, StubPeer, StubRequest};
use crate::support::{LONG, envelope, small};

fn says_yes(exchange: &Exchange) -> bool {
    String::from_utf8_lossy(&exchange.body).replace('\\', "").contains("\"yes\"")
}

fn yes() -> Value {
    json!({"answer": "yes"})
}

async fn send_as(
    peer_client: &PeerClient,
    endpoint: &Endpoint,
    dialect: &PeerDialect,
    proven: bool,
) -> (SendOutcome, Vec<SendAttempt>) {
    let (call, from) = (small(), envelope("x"));
    let mut tries = Vec::new();
    let message = OutgoingCall { envelope: &from, call: &call, body: None, limit: LONG, notice: false };
    let outcome = peer_client.send(Peer { endpoint, dialect, proven }, message, &says_yes, &mut tries).await;
    (outcome, tries)
}

async fn send_first(endpoint: &Endpoint) -> (SendOutcome, Vec<SendAttempt>) {
    send_as(&PeerClient::default(), endpoint, &PeerDialect::default(), false).await
}

async fn send_notice(
    peer_client: &PeerClient,
    endpoint: &Endpoint,
    dialect: &PeerDialect,
) -> (SendOutcome, Vec<SendAttempt>) {
    let from = envelope("x");
    let body = json!({"total_rounds": 1, "total_matches": 1, "champion": null, "final_standings": []});
    let call = Call::NotifyLeagueCompleted(serde_json::from_value(body).unwrap());
    let mut tries = Vec::new();
    let message = OutgoingCall { envelope: &from, call: &call, body: None, limit: LONG, notice: true };
    let outcome =
        peer_client.send(Peer { endpoint, dialect, proven: false }, message, &is_acknowledged, &mut tries).await;
    (outcome, tries)
}

/// Asks twice; returns the learned dialect and the number of wasted calls.
async fn learn(stub: &StubPeer) -> (PeerDialect, usize) {
    let peer_client = PeerClient::default();
    let (outcome, tries) = send_as(&peer_client, &stub.endpoint, &PeerDialect::default(), false).await;
    assert!(outcome.understood, "{:?}", stub.methods());
    let wasted = tries.iter().filter(|attempt| !attempt.is_probe).count() - 1;
    let dialect = outcome.learned.unwrap_or_default();
    let (again, tries) = send_as(&peer_client, &stub.endpoint, &dialect, false).await;
    assert_eq!((again.understood, again.learned, tries.len()), (true, None, 1), "what was learned is used");
    (dialect, wasted)
}

fn list(tools: &[&str], schema: &Value) -> Value {
    let tool = |name: &&str| json!({"name": name, "inputSchema": schema});
    json!({"tools": tools.iter().map(tool).collect::<Vec<_>>()})
}

fn tool_result(request: &StubRequest) -> StubAnswer {
    request.result(&json!({"content": [{"type": "text", "text": yes().to_string()}]}))
}

fn canonical(request: &StubRequest) -> StubAnswer {
    request.result(&yes())
}

fn only_message_types(request: &StubRequest) -> StubAnswer {
    match request.method() {
        "SHUTDOWN_COMMAND" => request.result(&yes()),
        _ => request.error(200, -32601, "Method not found"),
    }
}

fn only_bare_messages(request: &StubRequest) -> StubAnswer {
    match request.body.get("message_type") {
        Some(_) => StubAnswer::json(200, &yes()),
        None => StubAnswer::json(422, &json!({"detail": [{"type": "missing", "loc": ["body", "message_type"]}]})),
    }
}

fn only_nested_messages(request: &StubRequest) -> StubAnswer {
    match request.body["params"].get("message") {
        Some(_) => request.result(&yes()),
        None => request.error(200, -32602, "Invalid params: 'message' is a required property"),
    }
}

#[tokio::test]
async fn the_first_error_of_a_peer_leads_to_its_frame() {
    type Respond = fn(&StubRequest) -> StubAnswer;
    let cases: [(Respond, Frame, usize); 4] = [
        (canonical, Frame::Direct, 0),
        (only_message_types, Frame::Typed, 1),
        (only_bare_messages, Frame::Bare, 1),
        (only_nested_messages, Frame::Nested, 1),
    ];
    for (respond, frame, wasted) in cases {
        assert_eq!(learn(&StubPeer::new(respond).await).await, (PeerDialect::from(frame), wasted));
    }
}

#[tokio::test]
async fn a_peer_with_tools_is_called_by_their_names_and_arguments() {
    let stub = StubPeer::new(|request| match request.method() {
        "tools/list" => {
            let schema = json!({"properties": {"reason": {}}, "additionalProperties": false});
            request.result(&list(&["Shutdown"], &schema))
        }
        "tools/call" if request.body["params"]["name"] == "Shutdown" => {
            let arguments = request.body["params"]["arguments"].as_object().unwrap();
            assert!(arguments.keys().all(|name| name == "reason"), "{arguments:?}");
            tool_result(request)
        }
        _ => request.error(200, -32601, "Method not found"),
    })
    .await;
    let (dialect, wasted) = learn(&stub).await;
    assert_eq!((dialect.frame(), dialect.era(), wasted), (Frame::Tool, McpStyle::AtOnce, 1));
    assert_eq!(dialect.name_of(Method::Shutdown), "Shutdown");
}

/// A server with sessions as in the Python SDK. The first session is lost after `lasts` calls.
async fn with_sessions(lasts: usize) -> StubPeer {
    let (opened, calls) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let count = |number: &AtomicUsize| number.fetch_add(1, Ordering::SeqCst) + 1;
    StubPeer::new(move |request| {
        let session = request.header("mcp-session-id");
        match request.method() {
            "initialize" => {
                let number = count(&opened);
                request
                    .result(&json!({"protocolVersion": "2025-06-18", "capabilities": {}}))
                    .with(&format!("mcp-session-id: s{number}"))
                    .streamed()
            }
            _ if session.is_none() => {
                request.error(400, -32600, "Bad Request: Missing session ID").with("mcp-session-id: useless")
            }
            _ if request.header("mcp-protocol-version") != Some("2025-06-18") => {
                request.error(400, -32600, "which one?")
            }
            "notifications/initialized" => {
                StubAnswer { status: 202, headers: String::new(), body: String::new(), open: false }
            }
            "tools/list" => request.result(&list(&["shutdown"], &json!({}))).streamed(),
            _ if session == Some("s1") && count(&calls) > lasts => request.error(404, -32600, "Session not found"),
            _ => StubAnswer { open: true, ..tool_result(request).streamed() },
        }
    })
    .await
}

#[tokio::test]
async fn one_session_is_opened_with_a_peer() {
    let stub = with_sessions(usize::MAX).await;
    let (dialect, wasted) = learn(&stub).await;
    assert_eq!((dialect.to_string().as_str(), wasted), ("C session", 1));
    let opening = ["shutdown", "server/discover", "initialize", "notifications/initialized", "tools/list"];
    assert_eq!(stub.methods(), [&opening[..], &["tools/call"; 2]].concat());
    assert_eq!(stub.last().header("mcp-session-id"), Some("s1"));
}

#[tokio::test]
async fn a_lost_session_is_reopened_once() {
    let stub = with_sessions(1).await;
    let peer_client = PeerClient::default();
    let (outcome, _) = send_as(&peer_client, &stub.endpoint, &PeerDialect::default(), false).await;
    let dialect = outcome.learned.unwrap();
    let (outcome, tries) = send_as(&peer_client, &stub.endpoint, &dialect, true).await;
    assert!(outcome.understood);
    assert_eq!(
        tries.iter().map(|attempt| attempt.name).collect::<Vec<_>>(),
        ["SHUTDOWN_COMMAND", "initialize", "notifications/initialized", "SHUTDOWN_COMMAND"]
    );
    assert_eq!(stub.last().header("mcp-session-id"), Some("s2"));
}

#[tokio::test]
async fn a_client_with_a_learned_dialect_opens_its_own_session() {
    let stub = with_sessions(usize::MAX).await;
    let learned = send_first(&stub.endpoint).await.0.learned.unwrap();
    let (outcome, tries) = send_as(&PeerClient::default(), &stub.endpoint, &learned, true).await;
    assert!(outcome.understood && tries.iter().filter(|attempt| !attempt.is_probe).count() == 1);
}

#[tokio::test]
async fn every_request_to_a_stateless_server_has_version_and_capabilities() {
    let stub = StubPeer::new(|request| {
        let meta = &request.body["params"]["_meta"];
        let version = meta["io.modelcontextprotocol/protocolVersion"].as_str();
        if version.is_none() {
            return request.error(400, -32600, "Bad Request");
        }
        let fits =
            request.header("mcp-protocol-version") == version && request.header("mcp-method") == Some(request.method());
        match request.method() {
            _ if !fits => request.error(400, -32020, "Header mismatch"),
            "server/discover" => request.result(&json!({"supportedVersions": ["2026-07-28"]})),
            "tools/list" => request.result(&list(&["shutdown"], &json!({}))),
            "tools/call" if request.header("mcp-name") == Some("shutdown") => tool_result(request),
            _ => request.error(404, -32601, "Method not found"),
        }
    })
    .await;
    let (dialect, wasted) = learn(&stub).await;
    assert_eq!((dialect.to_string().as_str(), wasted), ("C 2026-07-28", 1));
}

#[tokio::test]
async fn a_peer_without_a_path_may_listen_at_the_root() {
    let stub = StubPeer::new(|request| match request.path() {
        "/" => request.result(&yes()),
        _ => StubAnswer { status: 404, headers: String::new(), body: "Not Found".into(), open: false },
    })
    .await;
    let pathless: Endpoint = stub.endpoint.to_string().trim_end_matches("/mcp").parse().unwrap();
    let (outcome, tries) = send_first(&pathless).await;
    assert_eq!((outcome.learned, tries.len()), (Some(PeerDialect::default().at_root()), 2));
    let (outcome, tries) = send_first(&stub.endpoint).await;
    assert_eq!((outcome.understood, tries.len()), (false, 1), "who names a path means it");
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_a_rate_limit_within_its_own_limit() {
    let calls = AtomicUsize::new(0);
    let stub = StubPeer::new(move |request| match calls.fetch_add(1, Ordering::SeqCst) {
        0 => request.error(200, -32000, "Rate limit exceeded"),
        1 => StubAnswer::json(429, &json!({"error": "slow down", "retry_after": 1.5})),
        _ => request.result(&yes()),
    })
    .await;
    let began = tokio::time::Instant::now();
    let (outcome, tries) = send_as(&PeerClient::default(), &stub.endpoint, &PeerDialect::default(), true).await;
    assert!(outcome.understood && outcome.learned.is_none() && outcome.quirks.has(Quirk::RateLimits));
    assert_eq!(tries.len(), 3);
    let waited = began.elapsed().as_millis();
    assert!((1600..2500).contains(&waited), "{waited}");
}

#[tokio::test]
async fn an_error_that_is_no_misunderstanding_ends_the_search() {
    for answer in [(200, -32000, "Invalid state"), (200, -32603, "internal error"), (401, -32001, "E012")] {
        let stub = StubPeer::new(move |request| request.error(answer.0, answer.1, answer.2)).await;
        let (outcome, tries) = send_first(&stub.endpoint).await;
        assert_eq!((outcome.understood, tries.len()), (false, 1), "{answer:?}");
    }
}

#[tokio::test]
async fn a_broken_connection_ends_the_search() {
    let peer = crate::support::peer(|_, _| async {}).await;
    let (outcome, tries) = send_first(&peer).await;
    assert!(!outcome.understood && tries.len() == 1 && tries[0].result.is_err());
}

#[tokio::test]
async fn a_peer_that_says_ok_to_every_frame_gets_a_quirk() {
    let stub = StubPeer::new(|request| match request.method() {
        "SHUTDOWN_COMMAND" => request.result(&yes()),
        _ => StubAnswer::json(200, &json!({"status": "ok"})),
    })
    .await;
    let (outcome, tries) = send_first(&stub.endpoint).await;
    assert!(outcome.understood && outcome.quirks.has(Quirk::SaysOkToAnything));
    assert_eq!(tries.len(), 2);
}

#[tokio::test]
async fn an_unknown_notice_is_tried_under_two_names_and_never_again() {
    let stub = StubPeer::new(|request| request.error(200, -32601, "Method not found")).await;
    let peer_client = PeerClient::default();
    let (outcome, tries) = send_notice(&peer_client, &stub.endpoint, &PeerDialect::default()).await;
    let dialect = outcome.learned.unwrap();
    assert!(tries.len() == 2 && outcome.quirks.has(Quirk::UnknownNotice));
    assert!(!dialect.knows(Method::NotifyLeagueCompleted));
    let (outcome, tries) = send_notice(&peer_client, &stub.endpoint, &dialect).await;
    assert_eq!((outcome, tries.len()), (SendOutcome::default(), 0));
}

#[tokio::test]
async fn a_notice_learns_the_tools_of_a_peer() {
    let stub = with_sessions(usize::MAX).await;
    let (outcome, tries) = send_notice(&PeerClient::default(), &stub.endpoint, &PeerDialect::default()).await;
    let dialect = outcome.learned.unwrap();
    assert_eq!(dialect.frame(), Frame::Tool);
    assert!(!dialect.knows(Method::NotifyLeagueCompleted), "there is no such tool");
    assert_eq!(tries.iter().filter(|attempt| !attempt.is_probe).count(), 1);
}

#[tokio::test]
async fn a_plain_acknowledgement_of_a_notice_teaches_no_dialect() {
    let stub = StubPeer::new(|_| StubAnswer::json(200, &json!({"status": "ok"}))).await;
    let (outcome, tries) = send_notice(&PeerClient::default(), &stub.endpoint, &PeerDialect::default()).await;
    assert_eq!((outcome.understood, outcome.learned, tries.len()), (true, None, 1));
}

#[tokio::test]
async fn all_tries_of_a_message_share_its_limit() {
    let stub = crate::support::echo_player().await;
    let (call, from, dialect) = (Call::Ping(Empty {}), envelope("x"), PeerDialect::default());
    let endpoint = crate::support::endpoint(stub.address);
    let mut tries = Vec::new();
    let never = |_: &Exchange| false;
    let message = OutgoingCall { envelope: &from, call: &call, body: None, limit: LONG, notice: false };
    let peer = Peer { endpoint: &endpoint, dialect: &dialect, proven: false };
    let outcome = PeerClient::default().send(peer, message, &never, &mut tries).await;
    assert!(!outcome.understood);
    let limits: Vec<_> = tries.iter().map(|attempt| attempt.result.as_ref().unwrap().receipt.limit).collect();
    assert!(limits.len() > 1 && limits.is_sorted_by(|a, b| a > b), "{limits:?}");
}
