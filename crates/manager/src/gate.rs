//! How often anybody may ask.
//!
//! What leaves a trace is limited for everybody: a registration is written down for good, and a secret that was wrong may have been a guess.
//! What only costs time is limited for each agent, and for strangers by where they call from; who is a stranger on this machine
//! costs it nothing that it could not have otherwise. Reports are not limited: a referee has as many as it was given matches.

use std::sync::Arc;

use league_core::season::agent::AgentId;
use league_protocol::error::{ErrorCode, Fault};
use league_protocol::message::registration::AgentMeta;
use league_protocol::table::Method;
use league_wire::rate::{Meter, Rate, Wait};
use league_wire::strikes::Strikes;
use league_wire::whence::Whence;
use smol_str::SmolStr;

/// How often, for each kind of request. Far above what a league at full speed needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rates {
    /// Registrations from one address elsewhere: a class may be behind it.
    pub registrations: Rate,
    /// Registrations from this machine: a whole league may be hosted here.
    pub registrations_here: Rate,
    /// Registrations of one agent, by its name and endpoint.
    pub registrations_again: Rate,
    /// What one agent asks.
    pub questions: Rate,
    /// What is asked from one address by nobody in particular.
    pub strangers: Rate,
}

impl Default for Rates {
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

/// Who asked how often.
#[derive(Debug)]
pub(crate) struct Gate {
    registrations: Meter<Whence>,
    registrations_here: Meter<Whence>,
    registrations_again: Meter<(SmolStr, SmolStr)>,
    questions: Meter<AgentId>,
    strangers: Meter<Whence>,
    strikes: Arc<Strikes>,
}

impl Gate {
    pub(crate) fn new(rates: Rates, strikes: Arc<Strikes>) -> Self {
        Self {
            registrations: Meter::new(rates.registrations),
            registrations_here: Meter::new(rates.registrations_here),
            registrations_again: Meter::new(rates.registrations_again),
            questions: Meter::new(rates.questions),
            strangers: Meter::new(rates.strangers),
            strikes,
        }
    }

    /// An agent wants to register.
    pub(crate) fn registers(&self, whence: Whence, meta: &AgentMeta, method: Method) -> Result<(), Fault> {
        let meter = if whence.is_here() { &self.registrations_here } else { &self.registrations };
        meter.pass(&whence).map_err(|wait| limited(wait, method, "too many registrations from your address"))?;
        let agent = (SmolStr::new(meta.display_name.trim().to_lowercase()), SmolStr::new(meta.contact_endpoint.trim()));
        let again = self.registrations_again.pass(&agent);
        again.map_err(|wait| limited(wait, method, "this agent registers too often; keep the token you have"))
    }

    /// An agent asks something.
    pub(crate) fn asks(&self, agent: &AgentId, method: Method) -> Result<(), Fault> {
        self.questions.pass(agent).map_err(|wait| limited(wait, method, "you ask too often"))
    }

    /// Somebody asks what anybody may.
    pub(crate) fn wonders(&self, whence: Whence, method: Method) -> Result<(), Fault> {
        if whence.is_here() {
            return Ok(());
        }
        self.strangers.pass(&whence).map_err(|wait| limited(wait, method, "too many questions from there"))
    }

    /// Somebody shows a secret that a person may have chosen: whether it is looked at.
    pub(crate) fn shows_secret(&self, whence: Whence, method: Method) -> Result<(), Fault> {
        self.strikes.listen(whence).map_err(|wait| limited(wait, method, GUESSED))
    }

    /// The fault of whoever was refused; where that was for a wrong secret once too often, that.
    pub(crate) fn refused(&self, fault: Fault, whence: Whence, method: Method) -> Fault {
        match fault.code {
            Some(ErrorCode::E012) => {
                self.strikes.strike(whence).err().map_or(fault, |wait| limited(wait, method, GUESSED))
            }
            Some(_) | None => fault,
        }
    }
}

const GUESSED: &str = "too many wrong tokens or keys from there";

fn limited(wait: Wait, method: Method, what: &str) -> Fault {
    let seconds = wait.seconds();
    let fault = Fault::new(ErrorCode::E014, method, format!("{what}; try again in {seconds} s"));
    Fault { retry_after: Some(seconds), ..fault }
}
