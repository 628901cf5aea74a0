//! A stored event as a database gives it, before its hash is checked.

use super::{Hash, LogDamage, LogHead};

pub(super) struct StoredEvent {
    pub(super) seq: i64,
    pub(super) body: String,
    pub(super) hash: Vec<u8>,
}

impl StoredEvent {
    pub(super) fn head(&self) -> Result<LogHead, LogDamage> {
        let seq = u64::try_from(self.seq).map_err(|_| LogDamage::Missing { seq: 1, next: self.seq })?;
        let hash = <[u8; 32]>::try_from(&*self.hash).map_err(|_| LogDamage::Hash { seq })?;
        Ok(LogHead { seq, hash: Hash(hash) })
    }
}

/// Names the damage of `stored`, which does not follow from `head`. `later` are the events after `stored`.
pub(super) fn diagnose<E>(
    head: LogHead,
    stored: &StoredEvent,
    later: impl Iterator<Item = Result<StoredEvent, E>>,
) -> Result<LogDamage, E> {
    let seq = head.seq + 1;
    if i64::try_from(seq) != Ok(stored.seq) {
        return Ok(LogDamage::Missing { seq, next: stored.seq });
    }
    let right = head.hash.then(seq, &stored.body);
    for later in later {
        let later = later?;
        let place = u64::try_from(later.seq).unwrap_or(u64::MAX);
        // The next event was chained to the hash that this event should have.
        if place == seq + 1 && *later.hash == right.then(place, &later.body).0 {
            return Ok(LogDamage::Hash { seq });
        }
        // The event was moved, with its hash or without it.
        let Hash(here) = head.hash.then(seq, &later.body);
        if *later.hash == here || *stored.hash == here {
            return Ok(LogDamage::Order { seq, found: place });
        }
    }
    Ok(LogDamage::Body { seq })
}
