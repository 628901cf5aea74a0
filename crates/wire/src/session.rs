//! Open MCP sessions with peers, one per endpoint, in memory. A lost session is reopened.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use http::HeaderValue;

use crate::endpoint::Endpoint;

/// A further session replaces the oldest.
const MAX_SESSIONS: usize = 4096;

#[derive(Clone)]
pub(crate) struct Session {
    pub(crate) id: Option<HeaderValue>,
    pub(crate) revision: HeaderValue,
}

/// The id is a secret, because it gives access to the session.
impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("revision", &self.revision).finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
pub(crate) struct Sessions(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    /// With a sequence number in the order of opening.
    open: HashMap<Endpoint, (u64, Session)>,
    opened: u64,
}

impl Sessions {
    pub(crate) fn of(&self, endpoint: &Endpoint) -> Option<Session> {
        self.table().open.get(endpoint).map(|(_, session)| session.clone())
    }

    pub(crate) fn keep(&self, endpoint: &Endpoint, session: Session) {
        let mut table = self.table();
        table.opened += 1;
        let number = table.opened;
        table.open.insert(endpoint.clone(), (number, session));
        if table.open.len() > MAX_SESSIONS {
            let oldest = table.open.iter().min_by_key(|(_, (number, _))| *number).map(|(endpoint, _)| endpoint.clone());
            oldest.map(|oldest| table.open.remove(&oldest));
        }
    }

    pub(crate) fn forget(&self, endpoint: &Endpoint) {
        self.table().open.remove(endpoint);
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_table_drops_the_oldest_session() {
        let sessions = Sessions::default();
        let endpoint = |number: usize| format!("http://localhost:{number}/mcp").parse::<Endpoint>().unwrap();
        let session = || Session { id: None, revision: HeaderValue::from_static("2025-11-25") };
        (1..=MAX_SESSIONS).for_each(|number| sessions.keep(&endpoint(number), session()));
        // A reopened session is no longer the oldest.
        sessions.keep(&endpoint(1), session());
        sessions.keep(&endpoint(MAX_SESSIONS + 1), session());
        let kept: Vec<bool> =
            [1, 2, 3, MAX_SESSIONS, MAX_SESSIONS + 1].map(|n| sessions.of(&endpoint(n)).is_some()).into();
        assert_eq!(kept, [true, false, true, true, true]);
    }
}
