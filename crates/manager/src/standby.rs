//! A manager that does not lead: it refuses the calls that cannot be sent to the leader.

use league_protocol::envelope::Envelope;
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{ConversationId, LeagueId};
use league_protocol::sender::Role;
use league_protocol::table::ManagerCall;
use league_wire::agent::{Agent, CallAnswer, Health, IncomingCall};
use league_wire::environment::Environment;

use crate::notices::envelope;

#[derive(Clone, Debug)]
pub struct Standby {
    league: LeagueId,
    environment: Environment,
}

impl Standby {
    pub fn new(league: LeagueId, environment: Environment) -> Self {
        Self { league, environment }
    }
}

impl Agent for Standby {
    type Call = ManagerCall;

    fn role(&self) -> Role {
        Role::Manager
    }

    fn envelope(&self, echo: Option<ConversationId>) -> Envelope {
        let conversation = echo.unwrap_or_else(|| ConversationId::named("conv-manager"));
        envelope(conversation, self.environment.now(), None)
    }

    async fn call(&self, incoming: IncomingCall<ManagerCall>) -> Result<CallAnswer, RequestError> {
        let message = "this manager is a standby, and no manager that leads the league can be reached; try again";
        Err(RequestError::new(ErrorCode::E015, incoming.method, message))
    }

    fn health(&self) -> Health {
        Health {
            status: "ok",
            role: Role::Manager,
            id: None,
            league_id: Some(self.league.to_string()),
            state: String::from("standby"),
        }
    }
}
