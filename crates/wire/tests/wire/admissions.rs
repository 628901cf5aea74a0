use std::time::Duration;

use league_protocol::dialect::PeerDialect;
use league_protocol::envelope::Envelope;
use league_protocol::table::Call;
use league_wire::peer_client::PeerClient;
use league_wire::registration::{Admitted, RegistrationRetry, Rejected, register};
use serde_json::{Value, json};

use crate::strangers::{Answer, Stranger};
use crate::support::{LONG, envelope};

fn registration() -> (Envelope, Call) {
    let request = json!({"player_meta": {
        "display_name": "Ada", "version": "1.0.0", "game_types": ["even_odd"], "contact_endpoint": "http://127.0.0.1:9/mcp",
    }});
    (envelope("reg"), Call::RegisterPlayer(serde_json::from_value(request).unwrap()))
}

async fn ask(manager: &Stranger) -> Result<Admitted, Rejected> {
    let pause = Duration::from_millis(1);
    let patience = RegistrationRetry { answer: LONG, pause, longest: pause, tries: None };
    register(&PeerClient::default(), &manager.endpoint, patience, &tokio::sync::Notify::new(), registration).await
}

fn welcome() -> Value {
    json!({"status": "REGISTERED", "player_id": "P03", "auth_token": "tok"})
}

#[tokio::test]
async fn a_manager_that_knows_no_form_of_it_may_have_a_form_at_register() {
    let manager = Stranger::new(|asked| match asked.path() {
        "/register" if asked.body["display_name"] == "Ada" => Answer::json(200, &welcome()),
        _ => asked.error(200, -32601, "Method not found"),
    })
    .await;
    let admitted = ask(&manager).await.unwrap();
    assert_eq!(admitted.player_id.unwrap().as_str(), "P03");
    assert_eq!(admitted.dialect, PeerDialect::default());
}

#[tokio::test]
async fn the_form_that_a_manager_understood_is_remembered() {
    let manager = Stranger::new(|asked| match asked.method() {
        "LEAGUE_REGISTER_REQUEST" => asked.result(&welcome()),
        _ => asked.error(200, -32601, "Method not found"),
    })
    .await;
    assert_eq!(ask(&manager).await.unwrap().dialect.to_string(), "B");
}

#[tokio::test]
async fn a_no_is_taken_for_an_answer_and_not_tried_in_other_words() {
    let no = json!({"status": "REJECTED", "reason": "full"});
    let manager = Stranger::new(move |asked| asked.result(&no)).await;
    assert_eq!(ask(&manager).await.unwrap_err().reason(), "full");
    let refusal = json!({"error": {"code": -32602, "message": "no key", "data": {"error_code": "E012"}}});
    let other = Stranger::new(move |_| Answer::json(200, &refusal)).await;
    assert_eq!(ask(&other).await.unwrap_err().reason(), "no key");
    assert_eq!((manager.methods().len(), other.methods().len()), (1, 1));
}
