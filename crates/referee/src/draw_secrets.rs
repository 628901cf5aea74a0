//! Secrets of draws that the referee makes ahead of use.
//!
//! The referee deposits their commitments with the manager, at registration and with each report. START_MATCH names the
//! commitment of a match, so the referee is bound to a secret before it knows which match the secret decides.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use league_protocol::draw::{DrawCommitment, DrawSecret};
use league_protocol::message::registration::MAX_COMMITMENTS;
use league_wire::environment::Environment;
use tokio::time::Instant;

/// The newest secrets are kept. The manager may have bound a match to an older deposit before it took the last one.
const MAX_KEPT: usize = 4 * MAX_COMMITMENTS;

/// Orders from before a registration may still arrive for this time; they do not make the referee register again.
const SETTLING: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(crate) struct DrawSecrets(Mutex<Deposit>);

#[derive(Debug, Default)]
struct Deposit {
    kept: VecDeque<(DrawCommitment, DrawSecret)>,
    /// How many commitments the manager has used up since the last deposit.
    used: usize,
    registered_at: Option<Instant>,
}

impl Deposit {
    fn make(&mut self, count: usize, environment: &Environment) -> Vec<DrawCommitment> {
        let count = count.min(MAX_COMMITMENTS);
        for _ in 0..count {
            if self.kept.len() == MAX_KEPT {
                self.kept.pop_front();
            }
            let secret = DrawSecret(environment.random());
            self.kept.push_back((secret.commitment(), secret));
        }
        self.kept.iter().skip(self.kept.len() - count).map(|(commitment, _)| *commitment).collect()
    }
}

impl DrawSecrets {
    fn deposit(&self) -> MutexGuard<'_, Deposit> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The commitments of a registration: two for each match that the referee plays at once.
    pub(crate) fn begin(&self, capacity: u32, environment: &Environment) -> Vec<DrawCommitment> {
        self.deposit().make((capacity as usize).saturating_mul(2), environment)
    }

    /// The commitments of a report: as many as the manager has used up since the last deposit.
    pub(crate) fn top_up(&self, environment: &Environment) -> Vec<DrawCommitment> {
        let mut deposit = self.deposit();
        let used = std::mem::take(&mut deposit.used);
        deposit.make(used, environment)
    }

    /// The manager did not take `count` commitments of a report, so the next report brings others.
    pub(crate) fn not_deposited(&self, count: usize) {
        self.deposit().used += count;
    }

    /// Each secret decides one draw.
    pub(crate) fn take(&self, commitment: &DrawCommitment) -> Option<DrawSecret> {
        let mut deposit = self.deposit();
        let place = deposit.kept.iter().position(|(known, _)| known == commitment)?;
        deposit.used += 1;
        deposit.kept.remove(place).map(|(_, secret)| secret)
    }

    /// The manager has taken the deposit of [`DrawSecrets::begin`].
    pub(crate) fn registered(&self) {
        let mut deposit = self.deposit();
        (deposit.used, deposit.registered_at) = (0, Some(Instant::now()));
    }

    /// Whether an order with an unknown commitment shows that the manager lacks the current deposit.
    pub(crate) fn is_settled(&self) -> bool {
        self.deposit().registered_at.is_none_or(|at| at.elapsed() >= SETTLING)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_used_once_and_replaced_with_the_next_report() {
        let (secrets, environment) = (DrawSecrets::default(), Environment::real());
        let first = secrets.begin(2, &environment);
        assert_eq!(first.len(), 4);
        assert_eq!(secrets.take(&first[1]).map(|secret| secret.commitment()), Some(first[1]));
        assert_eq!(secrets.take(&first[1]).map(|secret| secret.commitment()), None, "it was used");
        secrets.take(&first[3]).unwrap();
        let second = secrets.top_up(&environment);
        assert_eq!((second.len(), secrets.top_up(&environment).len()), (2, 0));
        assert!(second.iter().all(|commitment| !first.contains(commitment)));
        secrets.not_deposited(2);
        assert_eq!(secrets.top_up(&environment).len(), 2);
        secrets.take(&second[0]).unwrap();
        secrets.begin(2, &environment);
        secrets.registered();
        assert_eq!(secrets.top_up(&environment).len(), 0, "a registration fills the deposit");
        assert!(secrets.take(&first[0]).is_some(), "an order may name the deposit before the last");
    }

    #[test]
    fn deposits_and_memory_are_bounded() {
        let (secrets, environment) = (DrawSecrets::default(), Environment::real());
        let first = secrets.begin(u32::MAX, &environment);
        assert_eq!(first.len(), MAX_COMMITMENTS);
        for _ in 0..10 {
            secrets.begin(u32::MAX, &environment);
        }
        assert_eq!(secrets.deposit().kept.len(), MAX_KEPT);
        assert!(secrets.take(&first[0]).is_none());
        secrets.not_deposited(MAX_COMMITMENTS + 1);
        assert_eq!(secrets.top_up(&environment).len(), MAX_COMMITMENTS);
    }
}
