//! What the referee learns about a player's dialect after it has sent the report: how the player wants GAME_OVER. The next
//! match of the player uses it, and the report of that match tells the manager.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use league_protocol::dialect::PeerDialect;
use league_protocol::id::PlayerId;
use league_protocol::message::start_match::Contestant;

const MAX_KEPT: usize = 1024;

#[derive(Debug, Default)]
pub(crate) struct LateLessons(Mutex<VecDeque<Lesson>>);

#[derive(Debug)]
struct Lesson {
    player_id: PlayerId,
    endpoint: String,
    dialect: PeerDialect,
}

impl Lesson {
    fn is_about(&self, player: &Contestant) -> bool {
        self.player_id == player.player_id && self.endpoint == player.endpoint
    }
}

impl LateLessons {
    fn kept(&self) -> MutexGuard<'_, VecDeque<Lesson>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn keep(&self, player: &Contestant, dialect: PeerDialect) {
        let mut kept = self.kept();
        kept.retain(|lesson| !lesson.is_about(player));
        if kept.len() == MAX_KEPT {
            kept.pop_front();
        }
        kept.push_back(Lesson { player_id: player.player_id.clone(), endpoint: player.endpoint.clone(), dialect });
    }

    /// The dialect of the order with what the referee learned since. A lesson applies once, so that the operator can make the
    /// league forget a dialect.
    pub(crate) fn apply(&self, player: &Contestant) -> PeerDialect {
        let mut kept = self.kept();
        let place = kept.iter().position(|lesson| lesson.is_about(player));
        let Some(Lesson { dialect, .. }) = place.and_then(|place| kept.remove(place)) else {
            return player.dialect.clone();
        };
        // In another frame the names are others.
        let same_form = (dialect.frame(), dialect.era()) == (player.dialect.frame(), player.dialect.era());
        if same_form { player.dialect.learning(&dialect) } else { player.dialect.clone() }
    }
}
