//! Taking a player out of the league: at any time, and without a match too many or too few.
//!
//! Before the first round a withdrawn player is simply gone. After that everything that was played stands. A match that a referee has
//! in hand is played to its end and counts; a match that nobody has is decided at once, and never given to anybody. So every match
//! has one result, whenever its player was withdrawn, and a match that comes back from its referee is just one that nobody has.

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
    /// Takes a player out. The answer is the player as it was, for somebody to tell it; nothing when it was out already.
    pub fn withdraw(
        &self,
        id: &PlayerId,
        now: Timestamp,
    ) -> Result<CommandOutcome<Option<RegisteredPlayer>>, RequestError> {
        if self.phase == LeaguePhase::LeagueCompleted {
            return Err(self.untimely("the league is over; nobody needs to be withdrawn", METHOD));
        }
        let player = match self.player(id) {
            Some(player) if !player.withdrawn => player,
            Some(_) => return Ok(CommandOutcome { events: Vec::new(), reply: None }),
            None if self.gone.contains(id) => return Ok(CommandOutcome { events: Vec::new(), reply: None }),
            None => {
                let message = format!("{id} is not registered in this league; name a registered player");
                return Err(RequestError::new(ErrorCode::E005, METHOD, message).about("player_id"));
            }
        };
        if !self.can_lose_one() {
            let what =
                format!("the schedule needs at least {} players; open the registration again first", self.fewest());
            return Err(self.untimely(&what, METHOD));
        }
        let fact = Fact::PlayerWithdrawn { player: id.clone() };
        Ok(CommandOutcome { events: vec![happened(now, fact)], reply: Some(player.clone()) })
    }

    /// Whether the league goes on with one player less: a schedule that nobody has played by is made again, and needs players.
    pub(super) fn can_lose_one(&self) -> bool {
        self.phase != LeaguePhase::CreatingSchedule || self.players.len() > self.fewest()
    }

    /// How a match ends that no referee has, because players of it have been withdrawn; nothing when it is to be played.
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
