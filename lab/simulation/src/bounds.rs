//! Upper bounds for every wait of the agents, computed from a scenario.

use std::time::Duration;

use league_core::rules::registry::new_game;
use league_protocol::message::start_match::span;
use league_wire::breaker::REST;

use crate::agents::WINDOW;
use crate::hostile::Hostility;
use crate::scenario::{DECIDED_AFTER, Scenario};

/// For a few delays of the network and the disk.
const SLACK: Duration = Duration::from_secs(2);
/// Three stages of best of three, with two more matches each.
const LONGEST_BRACKET: u32 = 3 * 5;
/// The longest pause of an agent that waits for its manager, and of a referee with an undelivered report.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// From the moment in which a referee accepts a match to its first report.
    pub match_machine: Duration,
    /// From the assignment of a match to its result or its withdrawal, while the manager runs.
    pub attempt: Duration,
    /// Without faults.
    pub round: Duration,
    /// Until an agent has noticed that its token is invalid, and has another.
    pub mended: Duration,
    /// The rest of the league, without faults.
    pub league: Duration,
}

impl Bounds {
    pub fn of(scenario: &Scenario) -> Self {
        let limits = &scenario.rules.limits;
        let tries = u32::from(limits.max_retries.max(1));
        let [join, choose, tell] =
            [limits.game_join_ack_timeout_sec, limits.move_timeout_sec, limits.game_over_timeout_sec].map(span);
        // Pauses double, so their sum is one less than the next one would be.
        let pauses = span(limits.base_delay_sec) * (2_u32.pow(tries - 1) - 1);
        let turns = new_game(&scenario.rules.game_type).map_or(1, |game| game.about().max_turns);
        let asks = tries * join + pauses + turns * (tries * choose + pauses);
        // Before a retry the referee may send an error, and at the end the result.
        let match_machine = asks + ((turns + 1) * tries - turns) * tell + SLACK;
        // The manager allows extra time before it takes a match back.
        let patient = (asks + ((turns + 1) * tries + 1) * tell).mul_f64(1.5) + Duration::from_secs(5);
        let look_around = scenario.referee_check_interval
            + u32::from(scenario.referees) * scenario.referee_check_interval.min(scenario.answer_limit);
        let announcements = 3 * scenario.answer_limit;
        let offers = 3 * (scenario.answer_limit + scenario.referee_check_interval);
        let attempt = announcements + offers + patient + 2 * look_around + SLACK;
        let players = u32::try_from(scenario.strategies.len()).unwrap_or(2);
        let turns = (players / 2).div_ceil(scenario.capacity) + 1;
        // A match may be contested, wait for the operator, and be played again.
        let decisions = 2 * (2 * DECIDED_AFTER + scenario.answer_limit);
        // A hostile agent can have each match played several times.
        let repeats = if scenario.hostility == Hostility::default() { 1 } else { 6 };
        let round = announcements + repeats * (turns * attempt + decisions);
        let rounds = scenario.rules.format.max_rounds(players).unwrap_or(LONGEST_BRACKET);
        // The agent learns of it with the next round, unless the manager delays notices after too many failures.
        let mended = round + REST + LONGEST_PAUSE;
        Self { match_machine, attempt, round, mended, league: WINDOW + LONGEST_PAUSE * 2 + rounds * round }
    }
}
