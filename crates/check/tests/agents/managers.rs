//! Managers with planted faults: our manager, with its answers changed on the way out.

#![expect(clippy::wildcard_enum_match_arm, reason = "who has one fault has none of the others")]

use std::sync::atomic::{AtomicU32, Ordering};

use league_manager::Manager;
use league_protocol::envelope::Envelope;
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::ConversationId;
use league_protocol::message::query::QueryType;
use league_protocol::sender::Role;
use league_protocol::table::{ManagerCall, Method};
use league_wire::agent::{Agent, CallAnswer, Health, IncomingCall};
use serde_json::{Value, json};

use crate::support::ours::{manager, place, served};
use crate::support::{failed, patient, told};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wrong {
    TakesNamesTwice,
    TakesAnyGame,
    TakesAnyEndpoint,
    GivesNoToken,
    GivesNewIds,
    OwnConversation,
    AsksForNoToken,
    TakesAnyToken,
    NoHints,
    TellsEndpoints,
    TellsTokens,
    HidesStandings,
    TakesReportsOfPlayers,
    TakesAnyReport,
    AnswersNoQueries,
}

const PLANTED: &[(Wrong, &[&str])] = &[
    (Wrong::TakesNamesTwice, &["manager.registration.duplicate-name"]),
    (Wrong::TakesAnyGame, &["manager.registration.other-game"]),
    (Wrong::TakesAnyEndpoint, &["manager.registration.bad-endpoint"]),
    (Wrong::GivesNoToken, &["manager.registration.token"]),
    (Wrong::GivesNewIds, &["manager.registration.again"]),
    (Wrong::OwnConversation, &["manager.registration.envelope"]),
    (Wrong::AsksForNoToken, &["manager.auth.no-token"]),
    (Wrong::TakesAnyToken, &["manager.auth.bad-token", "manager.auth.forged-sender", "manager.errors.complete"]),
    (Wrong::NoHints, &["manager.errors.complete"]),
    (Wrong::TellsEndpoints, &["manager.query.endpoints-hidden"]),
    (Wrong::TellsTokens, &["manager.secrets.kept"]),
    (Wrong::HidesStandings, &["manager.query.standings"]),
    (Wrong::TakesReportsOfPlayers, &["manager.report.not-a-referee"]),
    (Wrong::TakesAnyReport, &["manager.report.unknown-match"]),
    (Wrong::AnswersNoQueries, &["manager.query.answers"]),
];

struct Bent {
    inner: Manager,
    wrong: Wrong,
    registered: AtomicU32,
}

impl Bent {
    fn bend(
        &self,
        call: &ManagerCall,
        method: Method,
        outcome: Result<CallAnswer, RequestError>,
    ) -> Result<CallAnswer, RequestError> {
        let anything = |envelope| CallAnswer::new(envelope, &json!({ "status": "ACCEPTED" }));
        let is = |wrong| self.wrong == wrong;
        let envelope = Agent::envelope(&self.inner, None);
        match outcome {
            Err(fault) => {
                let forgiven = match fault.code {
                    Some(ErrorCode::E011) => is(Wrong::AsksForNoToken),
                    Some(ErrorCode::E012) => is(Wrong::TakesAnyToken),
                    Some(ErrorCode::E013) => is(Wrong::TakesReportsOfPlayers),
                    Some(_) | None => is(Wrong::TakesAnyReport) && method == Method::ReportMatchResult,
                };
                match (forgiven, self.wrong) {
                    (true, _) => anything(envelope),
                    (false, Wrong::NoHints) => Err(RequestError { message: String::new(), ..fault }),
                    (false, _) => Err(fault),
                }
            }
            Ok(mut answered) => {
                let mut body: Value = serde_json::from_str(answered.body.get()).unwrap();
                if method == Method::RegisterPlayer {
                    self.bend_registration(&mut body, &mut answered);
                } else if let ManagerCall::LeagueQuery(query) = call {
                    let next = query.query_type == QueryType::GetNextMatch;
                    match self.wrong {
                        Wrong::TellsTokens => body["debug"] = json!(format!("tok-P02-{}", "A".repeat(43))),
                        Wrong::TellsEndpoints => body["at"] = json!("http://127.0.0.1:1/mcp"),
                        Wrong::AnswersNoQueries if next => {
                            return Err(RequestError::new(ErrorCode::E015, method, "KeyError"));
                        }
                        _ => {}
                    }
                } else if is(Wrong::HidesStandings) && method == Method::GetStandings {
                    return Err(RequestError::new(ErrorCode::E012, method, "not for you"));
                }
                CallAnswer::new(answered.envelope, &body)
            }
        }
    }

    fn bend_registration(&self, body: &mut Value, answered: &mut CallAnswer) {
        let code = body["reason_code"].as_i64();
        let lets_in = match self.wrong {
            Wrong::TakesNamesTwice => code == Some(2002),
            Wrong::TakesAnyGame => code == Some(2004),
            Wrong::TakesAnyEndpoint => code == Some(2003),
            _ => false,
        };
        if lets_in {
            *body = json!({ "status": "ACCEPTED", "player_id": "P77" });
        }
        match self.wrong {
            Wrong::GivesNoToken => answered.envelope.auth_token = None,
            Wrong::OwnConversation => answered.envelope.conversation_id = ConversationId::named("mine"),
            Wrong::GivesNewIds if self.registered.fetch_add(1, Ordering::SeqCst) > 0 => {
                body["player_id"] = json!("P78");
            }
            _ => {}
        }
    }
}

impl Agent for Bent {
    type Call = ManagerCall;

    fn role(&self) -> Role {
        self.inner.role()
    }

    fn envelope(&self, echo: Option<ConversationId>) -> Envelope {
        Agent::envelope(&self.inner, echo)
    }

    async fn call(&self, arrived: IncomingCall<ManagerCall>) -> Result<CallAnswer, RequestError> {
        let (call, method) = (arrived.call.clone(), arrived.method);
        let outcome = match self.inner.authorize(method.row().access, &arrived).await {
            Ok(()) => self.inner.call(arrived).await,
            Err(refused) => Err(refused),
        };
        self.bend(&call, method, outcome)
    }

    fn health(&self) -> Health {
        self.inner.health()
    }
}

#[tokio::test]
async fn every_planted_fault_is_found_and_nothing_else() {
    for (wrong, expected) in PLANTED {
        let inner = manager(league_manager::ManagerSettings::default()).await;
        let bent = served(place().await, Bent { inner, wrong: *wrong, registered: AtomicU32::new(0) });
        let report = league_check::manager(&bent.endpoint, &patient()).await;
        assert_eq!(failed(&report), *expected, "{wrong:?}:\n{}", told(&report));
    }
}
