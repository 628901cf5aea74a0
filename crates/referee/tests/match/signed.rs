//! The referee passes the signatures of joins and moves on to the manager, whichever way the answers come.

use league_protocol::message::transcript::MatchTranscript;

use super::posted::{Post, Stage};
use super::reported::{ordered, our_manager, our_referee, until};
use super::*;

fn signature(number: u32) -> String {
    format!("{number:064x}")
}

/// A player that signs: with 1 its join, with 10 and the turn each move.
async fn signing(id: &'static str, moves: impl Fn(&Value) -> Value + Send + Sync + 'static) -> HttpServer {
    stub(move |request| {
        let call = &request["params"];
        let mut message = answer(call, id);
        match call["message_type"].as_str().unwrap() {
            "GAME_INVITATION" => {
                (message["draw_nonce"], message["signature"]) = (json!(format!("nonce {id}")), json!(signature(1)));
            }
            "CHOOSE_PARITY_CALL" | "GAME_MOVE_CALL" => {
                let turn = u32::try_from(call["turn"].as_u64().unwrap()).unwrap();
                message["signature"] = json!(signature(10 + turn));
                let field = if call["message_type"] == "GAME_MOVE_CALL" { "move" } else { "parity_choice" };
                message[field] = moves(call);
            }
            _ => {}
        }
        result(request, &message)
    })
    .await
}

#[tokio::test]
async fn the_report_of_an_even_odd_match_carries_the_signatures_of_the_player_that_signs() {
    let a = signing("P01", |_| json!("even")).await;
    let report = play(&a, &canonical("P02").await, json!({})).await;
    let expected = json!({"P01": {"draw_nonce": "nonce P01", "join": signature(1), "moves": [signature(11)]}});
    assert_eq!(report["signatures"], expected, "{report}");
    let unsigned = play(&canonical("P01").await, &canonical("P02").await, json!({})).await;
    assert_eq!(unsigned.get("signatures"), None);
}

#[tokio::test]
async fn the_report_of_a_tic_tac_toe_match_carries_a_signature_for_each_move() {
    let first = |call: &Value| call["context"]["legal_moves"][0].clone();
    let last = |call: &Value| call["context"]["legal_moves"].as_array().unwrap().last().unwrap().clone();
    let (a, b) = (signing("P01", first).await, signing("P02", last).await);
    let report = play(&a, &b, json!({"game_type": "tic_tac_toe"})).await;
    let moves = |id: &str| {
        report["result"]["details"]["moves"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|played| played["player_id"] == id)
            .count()
    };
    for id in ["P01", "P02"] {
        let expected: Vec<String> = (1..=u32::try_from(moves(id)).unwrap()).map(|turn| signature(10 + turn)).collect();
        assert!(expected.len() > 1);
        assert_eq!(report["signatures"][id]["moves"], json!(expected), "{report}");
    }
}

#[tokio::test]
async fn a_signed_illegal_move_is_evidence_against_the_player_that_lost_by_it() {
    let b = signing("P02", |_| json!("maybe")).await;
    let report = play(&canonical("P01").await, &b, json!({})).await;
    assert_eq!(report["result"]["details"]["technical_losses"], json!(["P02"]));
    let evidence = json!({"move": "maybe", "signature": signature(11)});
    let expected = json!({"draw_nonce": "nonce P02", "join": signature(1), "illegal_move": evidence});
    assert_eq!(report["signatures"]["P02"], expected, "{report}");
}

#[tokio::test]
async fn the_signature_of_a_posted_move_is_reported() {
    for token in [Some("tok-P02-b"), None] {
        let (stage, call) = Stage::called("tok", json!({}), json!({})).await;
        let signature = signature(7);
        let post = Post::of("odd").answering(&call).signed(&signature);
        let post = if let Some(token) = token { post.with_token(token) } else { post };
        stage.post(post).await.unwrap();
        let (report, _) = stage.ended().await;
        assert_eq!(report["signatures"]["P02"], json!({"moves": [signature]}), "{report}");
    }
}

#[tokio::test]
async fn the_transcript_and_its_digest_end_before_the_report() {
    let manager = our_manager("store_transcript", |request| result(request, &json!({"complete": true}))).await;
    let (a, b) = (canonical("P01").await, canonical("P02").await);
    let referee = our_referee(&manager, 8).await;
    let own = json!({"league_id": "league", "round_id": 1, "home_mark": "elsewhere"});
    ordered(&referee, order([&a.endpoint(), &b.endpoint()], &own)).await;
    until("the report", || !manager.calls("report_match_result").is_empty()).await;
    let part = manager.calls("store_transcript")[0]["params"].clone();
    let part: MatchTranscript = serde_json::from_value(part).unwrap();
    let report = &manager.calls("report_match_result")[0]["params"];
    assert_eq!(report["account"]["transcript_sha256"], json!(part.sha256));
    let transcript: Value = serde_json::from_slice(&part.bytes().unwrap()).unwrap();
    let kinds: Vec<&str> =
        transcript.as_array().unwrap().iter().map(|entry| entry["message_type"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"CHOOSE_PARITY_RESPONSE") && !kinds.contains(&"GAME_OVER"), "{kinds:?}");
}
