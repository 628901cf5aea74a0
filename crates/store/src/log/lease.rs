//! The lease of a league: which manager leads it, and where that manager is.

use league_protocol::token::Credential;

use super::election::ElectionStep;

/// What the other managers of a league know of the one that leads.
#[derive(Clone, Debug)]
pub struct LeaseHolder {
    /// For people: a process and its home.
    pub name: String,
    /// The URL at which agents reach it.
    pub url: Option<String>,
    /// A standby shows this key when it forwards a call.
    pub relay_key: Option<Credential>,
}

impl LeaseHolder {
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), url: None, relay_key: None }
    }
}

/// The outcome of one look at the lease.
#[derive(Clone, Debug)]
pub struct LeaseLook {
    pub step: ElectionStep,
    /// The manager that leads, if its lease has not expired.
    pub leader: Option<LeaseHolder>,
}
