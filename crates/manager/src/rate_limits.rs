//! Limits how often a client may call.
//!
//! Registrations are limited because each is stored for good, and wrong secrets because they may be guesses. Queries are
//! limited for each agent, and by network for clients without a token, except on the manager's own machine. Reports are
//! not limited: a referee sends one for each match.

use std::sync::Arc;

use league_core::season::agent::AgentId;
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::message::registration::AgentMeta;
use league_protocol::table::Method;
use league_wire::client_network::ClientNetwork;
use league_wire::failed_secrets::FailedSecrets;
use league_wire::rate::{KeyedLimiter, Rate, RetryAfter};
use smol_str::SmolStr;

/// Far above what a league at full speed needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RateSettings {
    /// From one other network: a whole class may share it.
    pub registrations: Rate,
    /// From this machine: it may host a whole league.
    pub registrations_here: Rate,
    pub registrations_again: Rate,
    pub questions: Rate,
    pub strangers: Rate,
}

impl Default for RateSettings {
    fn default() -> Self {
        Self {
            registrations: Rate::new(20, 500),
            registrations_here: Rate::new(20, 5000),
            registrations_again: Rate::new(1, 10),
            questions: Rate::new(50, 500),
            strangers: Rate::new(200, 2000),
        }
    }
}

#[derive(Debug)]
pub(crate) struct RateLimits {
    registrations: KeyedLimiter<ClientNetwork>,
    registrations_here: KeyedLimiter<ClientNetwork>,
    registrations_again: KeyedLimiter<(SmolStr, SmolStr)>,
    questions: KeyedLimiter<AgentId>,
    strangers: KeyedLimiter<ClientNetwork>,
    strikes: Arc<FailedSecrets>,
}

impl RateLimits {
    pub(crate) fn new(rates: RateSettings, strikes: Arc<FailedSecrets>) -> Self {
        Self {
            registrations: KeyedLimiter::new(rates.registrations),
            registrations_here: KeyedLimiter::new(rates.registrations_here),
            registrations_again: KeyedLimiter::new(rates.registrations_again),
            questions: KeyedLimiter::new(rates.questions),
            strangers: KeyedLimiter::new(rates.strangers),
            strikes,
        }
    }

    pub(crate) fn check_registration(
        &self,
        network: ClientNetwork,
        meta: &AgentMeta,
        method: Method,
    ) -> Result<(), RequestError> {
        let limiter = if network.is_loopback() { &self.registrations_here } else { &self.registrations };
        limiter.check(&network).map_err(|wait| limited(wait, method, "too many registrations from your address"))?;
        let agent = (SmolStr::new(meta.display_name.trim().to_lowercase()), SmolStr::new(meta.contact_endpoint.trim()));
        let again = self.registrations_again.check(&agent);
        again.map_err(|wait| limited(wait, method, "this agent registers too often; keep the token you have"))
    }

    pub(crate) fn check_query(&self, agent: &AgentId, method: Method) -> Result<(), RequestError> {
        self.questions.check(agent).map_err(|wait| limited(wait, method, "you ask too often"))
    }

    pub(crate) fn check_open_call(&self, network: ClientNetwork, method: Method) -> Result<(), RequestError> {
        if network.is_loopback() {
            return Ok(());
        }
        self.strangers.check(&network).map_err(|wait| limited(wait, method, "too many questions from there"))
    }

    /// Counts a wrong secret. After too many, the error tells the client to wait. A right secret still works.
    pub(crate) fn count_failure(&self, fault: RequestError, network: ClientNetwork, method: Method) -> RequestError {
        match fault.code {
            Some(ErrorCode::E012) => {
                let wait = self.strikes.record_failure(network).err();
                wait.map_or(fault, |wait| limited(wait, method, "too many wrong tokens or keys from there"))
            }
            Some(_) | None => fault,
        }
    }
}

fn limited(wait: RetryAfter, method: Method, what: &str) -> RequestError {
    let seconds = wait.seconds();
    let fault = RequestError::new(ErrorCode::E014, method, format!("{what}; try again in {seconds} s"));
    RequestError { retry_after: Some(seconds), ..fault }
}
