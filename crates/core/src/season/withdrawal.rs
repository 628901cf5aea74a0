//! Withdrawal of a player, at any time, so that every match still has exactly one result.
//!
//! Before the first round the player is removed. After that its results stand. A match that a referee holds is played and counts;
//! a match that no referee holds is awarded at once. A match that a referee gives back is then awarded too.

use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{MatchId, PlayerId};
use league_protocol::side::Side;
use league_protocol::table::Method;
use league_protocol::time::Timestamp;

use super::agent::RegisteredPlayer;
use super::event::Fact;
use super::flow::LeaguePhase;
use super::{CommandOutcome, Season, happened};
use crate::rules::outcome::Outcome;

const METHOD: Method = Method::WithdrawPlayer;

impl Season {
    /// Returns the player as it was, so that the manager can tell it; `None` if it was already withdrawn.
    pub fn withdraw(
        &self,
        id: &PlayerId,
        now: Timestamp,
    ) -> Result<CommandOutcome<Option<RegisteredPlayer>>, RequestError> {
        if self.phase == LeaguePhase::LeagueCompleted {
            return Err(self.untimely("the league is over; no player needs to be withdrawn", METHOD));
        }
        let player = match self.player(id) {
            Some(player) if !player.withdrawn => player,
            Some(_) => return Ok(CommandOutcome { events: Vec::new(), reply: None }),
            None if self.withdrawn_early.contains(id) => return Ok(CommandOutcome { events: Vec::new(), reply: None }),
            None => {
                let message = format!("{id} is not registered in this league; name a registered player");
                return Err(RequestError::new(ErrorCode::E005, METHOD, message).about("player_id"));
            }
        };
        if !self.can_lose_one() {
            let what = format!(
                "the schedule needs at least {} players; open the registration again first",
                self.min_players()
            );
            return Err(self.untimely(&what, METHOD));
        }
        let fact = Fact::PlayerWithdrawn { player: id.clone() };
        Ok(CommandOutcome { events: vec![happened(now, fact)], reply: Some(player.clone()) })
    }

    /// Whether the league can continue with one player less. A schedule without results is made again and needs enough players.
    pub(super) fn can_lose_one(&self) -> bool {
        self.phase != LeaguePhase::CreatingSchedule || self.players.len() > self.min_players()
    }

    /// The outcome of a match that is awarded because of withdrawn players; `None` when it will be played.
    pub fn walkover(&self, match_id: &MatchId) -> Option<Outcome> {
        let players = self.contestants(match_id)?;
        match (players.a.withdrawn, players.b.withdrawn) {
            (false, false) => None,
            (true, false) => Some(Outcome::Forfeit(Side::A)),
            (false, true) => Some(Outcome::Forfeit(Side::B)),
            (true, true) => Some(Outcome::DoubleForfeit),
        }
    }
}
