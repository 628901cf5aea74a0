//! Referees and players that lie: the table is the honest one, or the operator is told which referee lies.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use league_simulation::hostile::league::{
    Verdict, judge_players, judge_referee, with_hostile_players, with_hostile_referee,
};
use league_simulation::hostile::player::PlayerTrick;
use league_simulation::hostile::referee::RefereeLie;

/// `cargo xtask ci` and `cargo xtask soak` set more runs by this variable.
const RUNS: &str = "LEAGUE_HOSTILE_SIMULATIONS";

fn judged(default: u64, judge: impl Fn(u64) -> Verdict + Sync) -> Vec<Verdict> {
    let runs = std::env::var(RUNS).map_or(default, |runs| runs.parse().unwrap());
    let (next, verdicts) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    let work = || {
        for seed in std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed)).take_while(|seed| *seed < runs) {
            let verdict = judge(seed);
            verdicts.lock().unwrap().push(verdict);
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    verdicts.into_inner().unwrap()
}

/// One line for each kind.
fn table(verdicts: &[Verdict]) -> String {
    let mut kinds: BTreeMap<&str, Vec<&Verdict>> = BTreeMap::new();
    verdicts.iter().for_each(|verdict| kinds.entry(&verdict.kind).or_default().push(verdict));
    let mut table = String::from(
        "kind: runs, with changed messages, with other tables, with alerts; contested reports, suspended matches\n",
    );
    for (kind, runs) in kinds {
        let count = |is: fn(&Verdict) -> bool| runs.iter().filter(|run| is(run)).count();
        let (other, alerted) = (count(|run| !run.same_table), count(|run| run.alerts > 0));
        let changed = count(|run| run.changed > 0);
        let contested: u64 = runs.iter().map(|run| run.tally.contested).sum();
        let suspended: u64 = runs.iter().map(|run| run.tally.suspended).sum();
        writeln!(table, "{kind}: {}, {changed}, {other}, {alerted}; {contested}, {suspended}", runs.len()).unwrap();
    }
    table
}

fn assert_no_problem(verdicts: &[Verdict]) {
    let wrong: Vec<_> = verdicts.iter().filter(|verdict| verdict.problem.is_some()).collect();
    let lines = wrong.iter().map(|verdict| {
        format!("seed {} ({}): {}\n", verdict.seed, verdict.kind, verdict.problem.as_deref().unwrap_or_default())
    });
    assert!(wrong.is_empty(), "{} of {} leagues fail:\n{}", wrong.len(), verdicts.len(), lines.collect::<String>());
}

#[test]
fn no_referee_lies_unnoticed() {
    let verdicts = judged(75, |seed| judge_referee(&with_hostile_referee(seed, None).unwrap()).unwrap());
    println!("{}", table(&verdicts));
    let silent: Vec<_> = verdicts.iter().filter(|verdict| verdict.is_silent_success()).collect();
    let seeds: Vec<_> = silent.iter().map(|verdict| (verdict.seed, &verdict.kind)).collect();
    let lied = verdicts.iter().filter(|verdict| verdict.changed > 0).count();
    assert!(lied * 4 > verdicts.len() * 3, "only {lied} of {} referees lied at all", verdicts.len());
    assert!(silent.is_empty(), "{} of {} referees lied unnoticed: {seeds:?}", silent.len(), verdicts.len());
    assert_no_problem(&verdicts);
}

#[test]
fn no_player_gains_by_silence_or_disputes() {
    let verdicts = judged(30, |seed| judge_players(&with_hostile_players(seed).unwrap()).unwrap());
    println!("{}", table(&verdicts));
    assert_no_problem(&verdicts);
}

/// Shows that the lies are good enough: among players that sign nothing, they succeed.
#[test]
fn without_signatures_a_referee_lies_unnoticed() {
    for lie in [RefereeLie::AlterMove, RefereeLie::Charge, RefereeLie::NeverInvite] {
        let succeeds = |seed: &u64| {
            let mut scenario = with_hostile_referee(*seed, Some(lie)).unwrap();
            let players = 1..=u32::try_from(scenario.strategies.len()).unwrap();
            scenario.hostility.players = players.map(|number| (number, PlayerTrick::SignsNothing)).collect();
            judge_referee(&scenario).unwrap().is_silent_success()
        };
        assert!((0..4).any(|seed| succeeds(&seed)), "{lie:?} never succeeds");
    }
}
