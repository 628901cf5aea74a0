//! Each player takes its own frame and refuses all others, as the frameworks do that they are written with.

use league_test_agents::frame::Frame;
use league_test_agents::player::Plan;
use league_test_agents::player::dialect::{PlayerDialect, Speech};
use league_test_agents::post::{post, post_text};
use serde_json::{Value, json};

use crate::support::{all, ask, message};

pub(crate) fn speech(frame: Frame) -> Speech {
    match frame {
        Frame::Direct => Speech::Direct,
        Frame::Types => Speech::Types,
        Frame::Tools => Speech::Tools,
        Frame::Bare => Speech::Bare,
        Frame::Nested => Speech::Nested,
    }
}

fn opened(frame: Frame, answer: &Value) -> Value {
    match frame {
        Frame::Direct | Frame::Types | Frame::Nested => answer["result"].clone(),
        Frame::Tools => serde_json::from_str(answer["result"]["content"][0]["text"].as_str().unwrap()).unwrap(),
        Frame::Bare => answer.clone(),
    }
}

#[tokio::test]
async fn a_player_joins_and_chooses_in_its_own_frame() {
    for frame in Frame::ALL {
        let player = Plan::new("Ada", speech(frame)).always("odd").serve().unwrap();
        let join = opened(frame, &ask(&player, frame, "GAME_INVITATION").await.json());
        assert_eq!((&join["message_type"], &join["accept"]), (&json!("GAME_JOIN_ACK"), &json!(true)), "{frame:?}");
        assert_eq!(join["conversation_id"], "conv-r1m1");
        let choice = opened(frame, &ask(&player, frame, "CHOOSE_PARITY_CALL").await.json());
        assert_eq!(choice["parity_choice"], "odd");
        assert_eq!(player.log().of("CHOOSE_PARITY_CALL").len(), 1);
        assert!(player.log().refused().is_empty());
    }
}

#[tokio::test]
async fn a_player_refuses_every_other_frame() {
    for own in Frame::ALL {
        let player = Plan::new("Ada", speech(own)).serve().unwrap();
        for other in Frame::ALL.into_iter().filter(|other| *other != own) {
            let answer = ask(&player, other, "CHOOSE_PARITY_CALL").await;
            assert!(!answer.text.contains("parity_choice"), "{own:?} {other:?}: {}", answer.text);
        }
    }
}

#[tokio::test]
async fn the_words_of_a_refusal_are_those_of_the_framework() {
    let bare = Plan::new("Ada", Speech::Bare).serve().unwrap();
    let answer = ask(&bare, Frame::Direct, "GAME_OVER").await;
    assert_eq!((answer.status, &answer.json()["detail"][0]["loc"][1]), (422, &json!("message_type")));
    let direct = Plan::new("Ada", Speech::ParityChoose).serve().unwrap();
    assert_eq!(ask(&direct, Frame::Direct, "CHOOSE_PARITY_CALL").await.json()["error"]["code"], -32601);
    let other = all().renamed("CHOOSE_PARITY_CALL", "parity_choose");
    let request = Frame::Direct.request("CHOOSE_PARITY_CALL", &other, 7, &message("CHOOSE_PARITY_CALL"));
    assert_eq!(post(&direct.endpoint(), &[], &request).await.unwrap().json()["result"]["parity_choice"], "even");
    let tools = Plan::new("Ada", Speech::Tools).dialect(PlayerDialect::OtherToolNames).serve().unwrap();
    assert_eq!(ask(&tools, Frame::Tools, "GAME_OVER").await.json()["result"]["isError"], true);
    let broken = post_text(&direct.endpoint(), &[], "{".to_owned()).await.unwrap();
    assert_eq!((broken.status, &broken.json()["error"]["code"]), (400, &json!(-32700)));
}

#[tokio::test]
async fn a_player_that_is_dropped_is_gone() {
    let player = Plan::new("Ada", Speech::Direct).serve().unwrap();
    let endpoint = player.endpoint();
    drop(player);
    tokio::task::yield_now().await;
    assert!(post(&endpoint, &[], &json!({})).await.is_err());
}
