//! Leagues with hostile agents, each compared with the same league without them.
//!
//! The leagues have a seed, so a match that is played again has the same result.

use std::collections::BTreeMap;
use std::error::Error;

use league_core::season::Season;
use league_core::season::agent::RegisteredReferee;
use league_core::season::event::{Event, Fact};
use league_core::season::evidence::ReturnCause;
use league_protocol::id::{MatchId, PlayerId, RefereeId};
use league_protocol::message::operate::DisputeDecision;

use crate::faults::FaultRates;
use crate::hostile::Hostility;
use crate::hostile::player::PlayerTrick;
use crate::hostile::referee::RefereeLie;
use crate::invariants::Tally;
use crate::rng::Rng;
use crate::run::{Outcome, Wanted, play};
use crate::scenario::Scenario;
use crate::sim_time::SimTime;

/// Their moves do not depend on earlier matches.
const STRATEGIES: &[&str] = &["random", "random", "always_odd", "always_even"];

/// Per thousand connections, in every fourth league. Lost messages would change results of honest leagues, too.
const DOUBLED: u64 = 100;

/// How often a match may be contested, and how often it may be taken back because its players deny that they were called.
const MAX_REPEATS: u32 = 3;

/// `None` for a draw.
type Winners = BTreeMap<MatchId, Option<PlayerId>>;

type Failure = Box<dyn Error + Send + Sync>;

/// What became of a league.
#[derive(Debug)]
pub struct Verdict {
    pub seed: u64,
    pub kind: String,
    /// What must not happen.
    pub problem: Option<String>,
    /// Whether the table is that of the honest league.
    pub same_table: bool,
    /// Alerts that name the hostile referee, or an honest one if there is no other.
    pub alerts: usize,
    /// Messages that hostile agents changed.
    pub changed: u64,
    pub tally: Tally,
}

impl Verdict {
    /// A lie counts, and the operator does not know.
    pub fn is_silent_success(&self) -> bool {
        !self.same_table && self.alerts == 0
    }
}

/// A league without faults, and without agents that misbehave.
fn honest(seed: u64, strategies: Vec<&'static str>) -> Result<Scenario, Failure> {
    let mut scenario = Scenario::of(seed)?;
    (scenario.partitions, scenario.incidents) = (Vec::new(), Vec::new());
    (scenario.ambushes, scenario.withdrawal, scenario.quiet) = (0, None, SimTime::BEGIN);
    (scenario.faults, scenario.loads_history, scenario.seeded) = (FaultRates::default(), false, true);
    (scenario.referees, scenario.strategies) = (2, strategies);
    if seed % 4 == 3 {
        scenario.faults.doubled = DOUBLED;
        scenario.quiet = SimTime(20_000);
    }
    Ok(scenario)
}

/// A league of players that sign, with an honest and a hostile referee.
pub fn with_hostile_referee(seed: u64, lie: Option<RefereeLie>) -> Result<Scenario, Failure> {
    let mut rng = Rng::new(seed, &[21]);
    let turns = seed % 5 == 4;
    // At least two matches in each round, one for each referee.
    let players = rng.within(4, if turns { 4 } else { 5 });
    let strategies = (0..players).map(|_| if turns { "random" } else { rng.pick(STRATEGIES, "random") }).collect();
    let (game, lies) = match seed % 10 {
        4 => ("tic_tac_toe", RefereeLie::TIC_TAC_TOE),
        9 => ("kuhn_poker", RefereeLie::KUHN_POKER),
        _ => ("even_odd", RefereeLie::EVEN_ODD),
    };
    // Each lie in turn.
    let place = usize::try_from(if turns { seed / 10 } else { 4 * (seed / 5) + seed % 5 })? % lies.len();
    let lie = lie.or(lies.get(place).copied());
    let mut scenario = honest(seed, strategies)?;
    scenario.rules.game_type = game.parse()?;
    scenario.decision = DisputeDecision::Uphold;
    scenario.hostility = Hostility { referee: lie, players: Vec::new() };
    Ok(scenario)
}

/// A league with honest referees and one hostile player, or two that meet.
pub fn with_hostile_players(seed: u64) -> Result<Scenario, Failure> {
    let mut rng = Rng::new(seed, &[22]);
    let trick = rng.pick(PlayerTrick::ALL, PlayerTrick::DepositOnly);
    let other = rng.pick(PlayerTrick::ALL, PlayerTrick::DepositOnly);
    let strategies = (0..rng.within(3, 5)).map(|_| rng.pick(STRATEGIES, "random")).collect();
    let mut scenario = honest(seed, strategies)?;
    let second = rng.happens(500).then_some((2, other));
    scenario.hostility.players = [(1, trick)].into_iter().chain(second).collect();
    Ok(scenario)
}

fn without_hostility(scenario: &Scenario) -> Scenario {
    let unsigned = |(_, trick): &(u32, PlayerTrick)| *trick == PlayerTrick::SignsNothing;
    let players = scenario.hostility.players.iter().copied().filter(unsigned).collect();
    Scenario { hostility: Hostility { referee: None, players }, ..scenario.clone() }
}

fn season_of(outcome: &Outcome) -> Result<&Season, Failure> {
    match (&outcome.season, &outcome.violation) {
        (Some(season), None) => Ok(season),
        (_, violation) => Err(format!("the honest league {} failed: {violation:?}", outcome.seed).into()),
    }
}

fn table(season: &Season) -> Vec<(PlayerId, [u32; 4])> {
    let rows = season.standings().into_iter();
    rows.map(|row| (row.player_id.clone(), [row.points, row.wins, row.draws, row.losses])).collect()
}

/// Runs the league with its hostile referee, and without.
pub fn judge_referee(scenario: &Scenario) -> Result<Verdict, Failure> {
    let expected = play(without_hostility(scenario), Wanted::default())?;
    let expected = table(season_of(&expected)?);
    let outcome = play(scenario.clone(), Wanted::default())?;
    let hostile = RefereeId::numbered(u32::from(Hostility::REFEREE.0));
    let names_it = |event: &&Event| matches!(&event.fact, Fact::AlertRaised { referee, .. } if *referee == hostile);
    let names_other = |event: &&Event| matches!(&event.fact, Fact::AlertRaised { referee, .. } if *referee != hostile);
    let honest_alert = outcome.events.iter().find(names_other);
    let mut problem = outcome.violation.as_ref().map(ToString::to_string);
    problem = problem.or(honest_alert.map(|alert| format!("an honest referee is accused: {:?}", alert.fact)));
    Ok(Verdict {
        seed: scenario.seed,
        kind: format!("{} {:?}", scenario.rules.game_type, scenario.hostility.referee.unwrap_or(RefereeLie::AlterMove)),
        problem,
        same_table: outcome.season.as_ref().is_some_and(|season| table(season) == expected),
        alerts: outcome.events.iter().filter(names_it).count(),
        changed: outcome.changed,
        tally: outcome.tally,
    })
}

/// The winner of each match that counts.
fn results(outcome: &Outcome) -> Winners {
    let Some(season) = &outcome.season else { return BTreeMap::new() };
    let counted = outcome.events.iter().filter_map(|event| event.fact.result());
    let winner = |(match_id, record): (&MatchId, league_core::record::MatchRecord)| {
        let players = season.contestants(match_id)?;
        Some((match_id.clone(), record.outcome.winner().map(|side| players[side].id.clone())))
    };
    counted.filter_map(winner).collect()
}

/// Runs the league with its hostile players, and without.
pub fn judge_players(scenario: &Scenario) -> Result<Verdict, Failure> {
    let expected = play(without_hostility(scenario), Wanted::default())?;
    season_of(&expected)?;
    let outcome = play(scenario.clone(), Wanted::default())?;
    let (expected, counted) = (results(&expected), results(&outcome));
    let problem = match (&outcome.violation, &outcome.season) {
        (Some(violation), _) => Some(violation.to_string()),
        (None, None) => Some(String::from("there is no league")),
        (None, Some(season)) => gained_by_players(scenario, season, &outcome, (&expected, &counted)),
    };
    let tricks: Vec<_> = scenario.hostility.players.iter().map(|(_, trick)| format!("{trick:?}")).collect();
    Ok(Verdict {
        seed: scenario.seed,
        kind: tricks.join(" and "),
        problem,
        same_table: expected == counted,
        alerts: outcome.events.iter().filter(|event| matches!(event.fact, Fact::AlertRaised { .. })).count(),
        changed: outcome.changed,
        tally: outcome.tally,
    })
}

/// What hostile players must not gain.
fn gained_by_players(
    scenario: &Scenario,
    season: &Season,
    outcome: &Outcome,
    (expected, counted): (&Winners, &Winners),
) -> Option<String> {
    let is_hostile = |id: &PlayerId| scenario.hostility.is_hostile_player(id.number().unwrap_or_default());
    if let Some(referee) = season.referees().iter().find(|referee| referee.faults > 0) {
        return Some(format!("{} has {} of {} faults", referee.id, referee.faults, RegisteredReferee::MAX_FAULTS));
    }
    for (match_id, winner) in counted {
        let players = season.contestants(match_id)?;
        let [a, b] = [players.a, players.b].map(|player| is_hostile(&player.id));
        if !a && !b && expected.get(match_id) != Some(winner) {
            return Some(format!("{match_id} of honest players ends otherwise: {winner:?}"));
        }
        let gains = winner.as_ref().is_some_and(is_hostile) && expected.get(match_id) != Some(winner);
        if gains && !(a && b) {
            return Some(format!("{winner:?} wins {match_id}, which it does not win in an honest league"));
        }
        let named = winner.as_ref().map(PlayerId::as_str);
        let other = outcome.told.get(match_id.as_str()).into_iter().flatten().find(|told| told.as_deref() != named);
        if let Some(other) = other {
            return Some(format!("{match_id} counts with the winner {named:?} after a player was told {other:?}"));
        }
    }
    let mut ended: BTreeMap<&MatchId, [u32; 2]> = BTreeMap::new();
    for event in &outcome.events {
        // A busy referee refuses a match before a player hears of the attempt, so that is no attempt.
        if let Fact::MatchReturned { match_id, cause: ReturnCause::Contested, .. }
        | Fact::MatchSuspended { match_id, .. } = &event.fact
        {
            ended.entry(match_id).or_default()[0] += 1;
        } else if let Fact::MatchReturned { match_id, cause: ReturnCause::Stalled, .. } = &event.fact {
            ended.entry(match_id).or_default()[1] += 1;
        }
    }
    let repeated = ended.into_iter().find(|(_, ended)| ended.iter().any(|count| *count > MAX_REPEATS));
    repeated.map(|(match_id, [contested, stalled])| {
        format!("{match_id} was contested {contested} times, and taken back {stalled} times")
    })
}
