//! Leagues of hostile and honest players.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use league_core::season::Season;
use league_core::season::config::LeagueConfig;
use league_manager::ManagerSettings;
use league_protocol::message::start_match::MatchLimits;
use league_protocol::side::Side;
use league_store::home::Home;
use league_store::views::writer::{ViewLimits, ViewWriter};
use league_test_agents::hostile::HostileAgent;
use league_test_agents::hostile::attack::Attack;
use serde_json::Value;

use crate::league::League;

/// By player id: the attack, or `None` for an honest player.
type Parts = BTreeMap<String, Option<Attack>>;

/// Short limits, because many hostile players never answer.
fn short_limits() -> LeagueConfig {
    let limits = MatchLimits {
        game_join_ack_timeout_sec: 1.0,
        move_timeout_sec: 1.0,
        game_over_timeout_sec: 0.3,
        max_retries: 2,
        base_delay_sec: 0.01,
        ..MatchLimits::default()
    };
    LeagueConfig { limits, ..LeagueConfig::even_odd("league".parse().unwrap()) }
}

/// The match and the player of each technical loss.
fn charged(season: &Season) -> Vec<(String, String)> {
    let rounds = season.scheduled_rounds();
    let matches = rounds.iter().flat_map(|round| &round.matches);
    let mut charged = Vec::new();
    for game in matches {
        let outcome = season.outcome(&game.match_id).unwrap();
        let players = season.contestants(&game.match_id).unwrap().map(|player| player.id.to_string());
        for side in Side::BOTH.into_iter().filter(|side| outcome.forfeited(*side)) {
            charged.push((game.match_id.to_string(), players[side].clone()));
        }
    }
    charged
}

fn error_codes(file: &Value, player: &str) -> BTreeSet<String> {
    let entries = file["transcript"].as_array().unwrap().iter();
    let errors = entries.filter(|entry| entry["to"] == player && entry["message_type"] == "GAME_ERROR");
    errors.filter_map(|entry| entry["message"]["params"]["error_code"].as_str().map(str::to_owned)).collect()
}

/// The error code of the technical loss; `None` when no loss is certain.
fn reason(attack: Attack) -> Option<&'static str> {
    match attack {
        Attack::Silent | Attack::LateBody | Attack::Dribbles | Attack::SaysLonger | Attack::OnlyPings => Some("E001"),
        Attack::HangsUp | Attack::Resets => Some("E009"),
        Attack::Endless
        | Attack::TooLong
        | Attack::Nested
        | Attack::NotText
        | Attack::SaysShorter
        | Attack::Redirects
        | Attack::Inflates
        | Attack::OtherMatch
        | Attack::ResultAndError
        | Attack::TwoResults
        | Attack::DoubledKeys => Some("E002"),
        Attack::OldHttp | Attack::OtherName | Attack::SecondAnswer | Attack::Flaps => None,
    }
}

/// Plays the attacks against two honest players; returns the error codes of each.
async fn league(attacks: &[Attack]) -> BTreeMap<Attack, BTreeSet<String>> {
    let directory = tempfile::tempdir().unwrap();
    let (home, rules) = (Home::at(directory.path()), short_limits());
    home.prepare(&rules.league_id).unwrap();
    let views = ViewWriter::start(home, ViewLimits::default()).unwrap();
    let settings = ManagerSettings { answer_limit: Duration::from_millis(300), ..ManagerSettings::default() };
    let count = u32::try_from(attacks.len() + 2).unwrap();
    let league = League::under(rules, count, 1, settings).await.with_referee_that_writes(Some(views.clone())).await;

    let (mut parts, mut hostile_agents) = (Parts::new(), Vec::new());
    for attack in attacks {
        let hostile_agent = HostileAgent::open(*attack).unwrap();
        parts.insert(hostile_agent.register(&league.url).await.unwrap(), Some(*attack));
        hostile_agents.push(hostile_agent);
    }
    let honest = league.join(&["One", "Two"]).await;
    parts.extend(honest.iter().map(|player| (player.id(), None)));
    let season = league.play().await;
    views.flush().await.unwrap();

    assert_eq!(season.matches_completed(), count * (count - 1) / 2);
    assert!(hostile_agents.iter().all(|hostile_agent| hostile_agent.followed() == 0), "a request followed a redirect");
    assert!(honest.iter().all(|player| player.log().refused().is_empty()));
    let mut reasons: BTreeMap<Attack, BTreeSet<String>> = BTreeMap::new();
    for (game, player) in charged(&season) {
        let attack = parts[&player];
        assert!(attack.is_some(), "{player} is honest, and was charged in {game}");
        let path = directory.path().join(format!("data/matches/league/{game}.json"));
        let file: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        reasons.entry(attack.unwrap()).or_default().extend(error_codes(&file, &player));
    }
    reasons
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_players_lose_with_a_reason_and_harm_no_other_player() {
    // Four attacks per league, leagues in parallel: most attacks use up their time limits.
    let leagues = futures_util::future::join_all(Attack::ALL.chunks(4).map(league)).await;
    let mut reasons: BTreeMap<_, _> = leagues.into_iter().flatten().collect();
    // Whether this player is reachable at the right moment is chance.
    let absent = reasons.remove(&Attack::Flaps).unwrap_or_default();
    assert!(absent.iter().all(|code| code == "E009"), "{absent:?}");
    let expected: BTreeMap<_, _> = Attack::ALL
        .into_iter()
        .filter_map(|attack| reason(attack).map(|code| (attack, BTreeSet::from([code.to_owned()]))))
        .collect();
    assert_eq!(reasons, expected);
}
