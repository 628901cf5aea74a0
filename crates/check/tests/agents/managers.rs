//! Managers with planted faults: our manager, with its answers changed on the way out.

#![expect(clippy::wildcard_enum_match_arm, reason = "a manager with one fault has none of the others")]

use std::sync::atomic::{AtomicU32, Ordering};

use league_check::CheckOptions;
use league_manager::Manager;
use league_protocol::envelope::Envelope;
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::ConversationId;
use league_protocol::message::query::QueryType;
use league_protocol::sender::Role;
use league_protocol::table::{ManagerCall, Method};
use league_wire::agent::{Agent, CallAnswer, Health, IncomingCall};
use serde_json::{Value, json};

use crate::support::house_agents::{listen, manager, start_agent};
use crate::support::{each_fault, faults};

faults! {
    TakesNamesTwice: "manager.registration.duplicate-name";
    TakesAnyGame: "manager.registration.other-game";
    TakesAnyEndpoint: "manager.registration.bad-endpoint";
    GivesNoToken: "manager.registration.token";
    GivesNewIds: "manager.registration.again";
    OwnConversation: "manager.registration.envelope";
    AsksForNoToken: "manager.auth.no-token";
    TakesAnyToken: "manager.auth.bad-token", "manager.auth.forged-sender", "manager.errors.complete";
    NoHints: "manager.errors.complete";
    TellsEndpoints: "manager.query.endpoints-hidden";
    TellsTokens: "manager.secrets.kept";
    HidesStandings: "manager.query.standings";
    TakesReportsOfPlayers: "manager.report.not-a-referee";
    TakesAnyReport: "manager.report.unknown-match";
    AnswersNoQueries: "manager.query.answers";
}

struct FaultyManager {
    inner: Manager,
    fault: Fault,
    registered: AtomicU32,
}

impl FaultyManager {
    fn apply_fault(
        &self,
        call: &ManagerCall,
        method: Method,
        outcome: Result<CallAnswer, RequestError>,
    ) -> Result<CallAnswer, RequestError> {
        let anything = |envelope| CallAnswer::new(envelope, &json!({ "status": "ACCEPTED" }));
        let is = |fault| self.fault == fault;
        let envelope = Agent::envelope(&self.inner, None);
        match outcome {
            Err(error) => {
                let forgiven = match error.code {
                    Some(ErrorCode::E011) => is(Fault::AsksForNoToken),
                    Some(ErrorCode::E012) => is(Fault::TakesAnyToken),
                    Some(ErrorCode::E013) => is(Fault::TakesReportsOfPlayers),
                    Some(_) | None => is(Fault::TakesAnyReport) && method == Method::ReportMatchResult,
                };
                match (forgiven, self.fault) {
                    (true, _) => anything(envelope),
                    (false, Fault::NoHints) => Err(RequestError { message: String::new(), ..error }),
                    (false, _) => Err(error),
                }
            }
            Ok(mut answered) => {
                let mut body: Value = serde_json::from_str(answered.body.get()).unwrap();
                if method == Method::RegisterPlayer {
                    self.change_registration(&mut body, &mut answered);
                } else if let ManagerCall::LeagueQuery(query) = call {
                    let next = query.query_type == QueryType::GetNextMatch;
                    match self.fault {
                        Fault::TellsTokens => body["debug"] = json!(format!("tok-P02-{}", "A".repeat(43))),
                        Fault::TellsEndpoints => body["at"] = json!("http://127.0.0.1:1/mcp"),
                        Fault::AnswersNoQueries if next => {
                            return Err(RequestError::new(ErrorCode::E015, method, "KeyError"));
                        }
                        _ => {}
                    }
                } else if is(Fault::HidesStandings) && method == Method::GetStandings {
                    return Err(RequestError::new(ErrorCode::E012, method, "not for you"));
                }
                CallAnswer::new(answered.envelope, &body)
            }
        }
    }

    fn change_registration(&self, body: &mut Value, answered: &mut CallAnswer) {
        let code = body["reason_code"].as_i64();
        let lets_in = match self.fault {
            Fault::TakesNamesTwice => code == Some(2002),
            Fault::TakesAnyGame => code == Some(2004),
            Fault::TakesAnyEndpoint => code == Some(2003),
            _ => false,
        };
        if lets_in {
            *body = json!({ "status": "ACCEPTED", "player_id": "P77" });
        }
        match self.fault {
            Fault::GivesNoToken => answered.envelope.auth_token = None,
            Fault::OwnConversation => answered.envelope.conversation_id = ConversationId::named("mine"),
            Fault::GivesNewIds if self.registered.fetch_add(1, Ordering::SeqCst) > 0 => {
                body["player_id"] = json!("P78");
            }
            _ => {}
        }
    }
}

impl Agent for FaultyManager {
    type Call = ManagerCall;

    fn role(&self) -> Role {
        self.inner.role()
    }

    fn envelope(&self, echo: Option<ConversationId>) -> Envelope {
        Agent::envelope(&self.inner, echo)
    }

    async fn call(&self, incoming: IncomingCall<ManagerCall>) -> Result<CallAnswer, RequestError> {
        let (call, method) = (incoming.call.clone(), incoming.method);
        let outcome = match self.inner.authorize(method.row().access, &incoming).await {
            Ok(()) => self.inner.call(incoming).await,
            Err(refused) => Err(refused),
        };
        self.apply_fault(&call, method, outcome)
    }

    fn health(&self) -> Health {
        self.inner.health()
    }
}

#[tokio::test]
async fn the_checker_finds_every_planted_fault_of_a_manager_and_no_other() {
    each_fault(Fault::PLANTED.iter(), async |fault| {
        let inner = manager(league_manager::ManagerSettings::default()).await;
        let faulty = FaultyManager { inner, fault, registered: AtomicU32::new(0) };
        let server = start_agent(listen().await, faulty);
        league_check::manager(&server.endpoint, &CheckOptions::default()).await
    })
    .await;
}
