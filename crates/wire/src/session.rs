//! The MCP sessions that are open with peers: kept in memory, one for each endpoint, and opened anew when they are lost.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use http::HeaderValue;

use crate::endpoint::Endpoint;

/// The most sessions that are remembered. One that was forgotten is opened again.
const MAX_SESSIONS: usize = 4096;

#[derive(Clone)]
pub(crate) struct Session {
    /// The session, where the server keeps any.
    pub(crate) id: Option<HeaderValue>,
    pub(crate) revision: HeaderValue,
}

/// Whoever has the id has the session.
impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("revision", &self.revision).finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
pub(crate) struct Sessions {
    open: Mutex<HashMap<Endpoint, Session>>,
}

impl Sessions {
    pub(crate) fn of(&self, endpoint: &Endpoint) -> Option<Session> {
        self.open().get(endpoint).cloned()
    }

    pub(crate) fn keep(&self, endpoint: &Endpoint, session: Session) {
        let mut open = self.open();
        if open.len() >= MAX_SESSIONS {
            open.clear();
        }
        open.insert(endpoint.clone(), session);
    }

    pub(crate) fn forget(&self, endpoint: &Endpoint) {
        self.open().remove(endpoint);
    }

    fn open(&self) -> MutexGuard<'_, HashMap<Endpoint, Session>> {
        // Every change is a single step: a panic elsewhere leaves nothing half done.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
