use std::time::Duration;

use league_protocol::dialect::PeerDialect;
use league_protocol::envelope::Envelope;
use league_protocol::table::Call;
use league_wire::peer_client::PeerClient;
use league_wire::registration::{Admitted, RegistrationRetry, Rejected, register};
use serde_json::{Value, json};

use crate::stub_peer::{StubAnswer, StubPeer};
use crate::support::{LONG, envelope};

fn registration() -> (Envelope, Call) {
    let request = json!({"player_meta": {
        "display_name": "Ada", "version": "1.0.0", "game_types": ["even_odd"], "contact_endpoint": "http://127.0.0.1:9/mcp",
    }});
    (envelope("reg"), Call::RegisterPlayer(serde_json::from_value(request).unwrap()))
}

async fn ask(manager: &StubPeer) -> Result<Admitted, Rejected> {
    let pause = Duration::from_millis(1);
    let retry = RegistrationRetry { answer_limit: LONG, pause, max_pause: pause, max_tries: None };
    register(&PeerClient::default(), &manager.endpoint, retry, &tokio::sync::Notify::new(), registration).await
}

fn welcome() -> Value {
    json!({"status": "REGISTERED", "player_id": "P03", "auth_token": "tok"})
}

#[tokio::test]
async fn an_agent_falls_back_to_flat_fields_at_register() {
    let manager = StubPeer::new(|request| match request.path() {
        "/register" if request.body["display_name"] == "Ada" => StubAnswer::json(200, &welcome()),
        _ => request.error(200, -32601, "Method not found"),
    })
    .await;
    let admitted = ask(&manager).await.unwrap();
    assert_eq!(admitted.player_id.unwrap().as_str(), "P03");
    assert_eq!(admitted.dialect, PeerDialect::default());
}

#[tokio::test]
async fn an_agent_keeps_the_frame_that_its_manager_understood() {
    let manager = StubPeer::new(|request| match request.method() {
        "LEAGUE_REGISTER_REQUEST" => request.result(&welcome()),
        _ => request.error(200, -32601, "Method not found"),
    })
    .await;
    assert_eq!(ask(&manager).await.unwrap().dialect.to_string(), "B");
}

#[tokio::test]
async fn a_rejection_is_final_and_not_tried_in_another_frame() {
    let no = json!({"status": "REJECTED", "reason": "full"});
    let manager = StubPeer::new(move |request| request.result(&no)).await;
    assert_eq!(ask(&manager).await.unwrap_err().reason(), "full");
    let refusal = json!({"error": {"code": -32602, "message": "no key", "data": {"error_code": "E012"}}});
    let other = StubPeer::new(move |_| StubAnswer::json(200, &refusal)).await;
    assert_eq!(ask(&other).await.unwrap_err().reason(), "no key");
    assert_eq!((manager.methods().len(), other.methods().len()), (1, 1));
}
