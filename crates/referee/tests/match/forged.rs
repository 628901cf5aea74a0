//! Answers that are posted in the name of another player.

use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::token::{Credential, TokenDigest};
use tokio::sync::mpsc::unbounded_channel;

use super::*;

pub(crate) fn pass(token: &str) -> Value {
    let digest: TokenDigest = Credential::new(token).digest();
    let pass = digest.player_pass(&"league".parse().unwrap(), &"R1M1".parse().unwrap());
    json!(Credential::from(pass).reveal())
}

async fn post(referee: &Referee, choice: &str, shown: Option<&str>) -> Result<(), RequestError> {
    let letter = json!({"match_id": "R1M1", "player_id": "P02", "parity_choice": choice});
    let mut arrived = arrived(Call::PostChoice(serde_json::from_value(letter).unwrap()));
    arrived.head.auth_token = shown.map(Credential::new);
    referee.call(arrived).await.map(drop)
}

#[tokio::test]
async fn a_player_cannot_post_an_answer_for_its_opponent() {
    let (asked, mut is_asked) = unbounded_channel();
    let b = stub(move |question| {
        let letter = answer(&question["params"], "P02");
        if letter["message_type"] != "CHOOSE_PARITY_RESPONSE" {
            return result(question, &letter);
        }
        // The player only acknowledges, so the referee waits for a post.
        asked.send(()).unwrap();
        result(question, &json!({"status": "received"}))
    })
    .await;
    let (a, place) = (canonical("P01").await, Arc::new(OnceLock::<Referee>::new()));
    let (ours, theirs) = (pass("tok-P01-a"), pass("tok-P02-b"));
    let order = json!({"league_id": "league", "players": [
        {"player_id": "P01", "endpoint": a.endpoint(), "player_pass": ours},
        {"player_id": "P02", "endpoint": b.endpoint(), "player_pass": theirs, "shows_token": true},
    ]});
    let posting = async {
        is_asked.recv().await.unwrap();
        let referee = place.get().unwrap();
        let forged = [None, Some("tok-P01-a"), ours.as_str(), Some("pass-x"), Some("")];
        for shown in forged {
            let refused = post(referee, "odd", shown).await.unwrap_err();
            let code = if shown.is_none() { ErrorCode::E011 } else { ErrorCode::E012 };
            assert_eq!(refused.code, Some(code), "{shown:?}");
        }
        post(referee, "even", theirs.as_str()).await.unwrap();
    };
    let (report, ()) = tokio::join!(play_with(Arc::clone(&place), &a, &b, order), posting);
    assert_eq!((forfeits(&report), &report["result"]["details"]["choices"]["P02"]), (0, &json!("even")), "{report}");
}
