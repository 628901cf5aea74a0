//! Our Swiss pairings beside those of `caissify-pairings`, a Python implementation of FIDE's Dutch system.
//!
//! Both start from the same history in every round. Their rules coincide in rematches, byes, balanced sides and score groups. We
//! minimise the distance of scores over all pairs and the Dutch system does it from the top, so ours must be as good or better.

use std::process::Command;

use league_core::in_memory::InMemoryLeague;
use league_core::rules::seed::Seed;
use league_core::season::config::LeagueConfig;
use league_core::season::event::Fact;
use league_core::season::standings::Scoring;
use league_protocol::id::{MatchId, PlayerId};
use league_protocol::side::Pair;
use league_protocol::time::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use smol_str::{SmolStr, format_smolstr};

use super::{beside, peers, printed};
use crate::support::TestHome;

/// Rematches, second byes, unbalanced pairs, score groups below the bye, distance of scores.
type Kept = [u32; 5];

#[derive(Deserialize)]
struct Round {
    ours: Kept,
    theirs: Kept,
}

fn number(player: &PlayerId) -> u32 {
    player.number().unwrap()
}

fn league(players: u32, rounds: u32) -> Value {
    let scoring = Scoring { win_points: 2, ..Scoring::default() };
    let config = LeagueConfig { scoring, ..LeagueConfig::even_odd("swiss".parse().unwrap()) };
    let config = config.with_format(format!("swiss:rounds={rounds}").parse().unwrap());
    let worth = config.scoring.match_points();
    let names: Vec<SmolStr> = (1..=players).map(|number| format_smolstr!("Player {number}")).collect();
    let seed = Seed::new(u64::from(players), config.league_id.clone());
    let mut league = InMemoryLeague::kept(config, &names, seed, Timestamp::EPOCH).unwrap();
    while league.play_round().unwrap() {}
    let mut played = Vec::new();
    for event in league.take_events() {
        if let Fact::RoundStarted { round, pairings, byes } = event.fact {
            let points = (1..).zip(&pairings).map(|(match_number, _)| {
                let Pair { a, b } = league.season().outcome(&MatchId::of(round, match_number)).unwrap().points(&worth);
                [a, b]
            });
            let points: Vec<[u32; 2]> = points.collect();
            let pairings: Vec<[u32; 2]> = pairings.iter().map(|pair| pair.each_ref().map(number)).collect();
            let byes: Vec<u32> = byes.iter().map(number).collect();
            played.push(json!({ "pairings": pairings, "byes": byes, "points": points }));
        }
    }
    assert_eq!(played.len() as u32, rounds);
    json!({ "players": players, "rounds": played })
}

#[test]
#[ignore = "needs cargo xtask ci, which installs the clients"]
fn swiss_pairings_keep_the_rules_as_well_as_those_of_the_dutch_system() {
    let home = TestHome::new();
    let leagues: Vec<Value> = (8..=40).map(|players| league(players, (players / 2 - 1).min(9))).collect();
    home.write("leagues.json", &Value::from(leagues));
    let mut python = Command::new("python3");
    python.arg(beside("swiss.py")).arg(home.join("leagues.json")).env("PYTHONPATH", peers().join("python"));
    let rounds: Vec<Round> = serde_json::from_str(&printed(&mut python)).unwrap();
    for Round { ours, theirs } in &rounds {
        assert_eq!(ours[..2], [0, 0], "no rematch and no second bye is needed");
        assert!(ours <= theirs, "{ours:?} instead of {theirs:?}");
    }
    let equal = rounds.iter().filter(|round| round.ours == round.theirs).count();
    println!("{equal} of {} rounds keep the common rules equally well", rounds.len());
    assert!(equal * 10 >= rounds.len() * 9, "only {equal} of {} rounds are alike", rounds.len());
}
