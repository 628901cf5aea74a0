//! Every file, as operators write it.

use std::time::Duration;

use league_core::rules::registry::known_games;
use league_core::season::config::LeagueConfig;
use league_core::season::standings::{DoubleForfeit, Scoring, TieBreak};
use league_protocol::message::start_match::{Backoff, MatchLimits};
use league_wire::rate::Rate;

use super::{Written, with_file};
use crate::config::files::Rates;
use crate::config::network::{Network, Ports};

const SYSTEM: &str = r#"{
  "schema_version": "1.0.0", "system_id": "league_system_test", "protocol_version": "league.v2",
  "default_league_id": "autumn",
  "network": {
    "base_host": "127.0.0.1", "default_league_manager_port": 9000,
    "default_referee_port_range": [9001, 9005], "default_player_port_range": [9101, 9150]
  },
  "security": { "enable_auth_tokens": true, "token_length": 48, "token_ttl_hours": 48 },
  "timeouts": {
    "register_referee_timeout_sec": 7, "register_player_timeout_sec": 8, "game_join_ack_timeout_sec": 2.5,
    "move_timeout_sec": 20, "game_over_timeout_sec": 4, "generic_response_timeout_sec": 0.5
  },
  "rate_limits": { "registrations": { "per_second": 3, "burst": 30 }, "pages": { "burst": 7 } },
  "retry_policy": { "max_retries": 2, "base_delay_sec": 0.25, "backoff_strategy": "linear" }
}"#;

const LEAGUE: &str = r#"{
  "schema_version": "1.0.0", "league_id": "league_2025_even_odd", "display_name": "Even/Odd, the autumn league",
  "game_type": "even_odd", "status": "ACTIVE", "created_at": "2025-09-01T00:00:00Z", "strict": true,
  "scoring": {
    "win_points": 2, "draw_points": 1, "loss_points": 0, "technical_loss_points": 0,
    "double_forfeit": "technical_loss", "tiebreakers": ["head_to_head", "wins"]
  },
  "scheduling": { "format": "round_robin", "matches_per_round": 3 },
  "participants": { "min_players": 3, "max_players": 30, "max_referees": 4 }
}"#;

const AGENTS: &str = r#"{
  "schema_version": "1.0.0", "last_updated": "2025-09-01T00:00:00Z",
  "league_manager": { "display_name": "Manager", "endpoint": "https://league.example/mcp", "version": "1.0.0" },
  "referees": [{
    "referee_id": "REF07", "display_name": "Seven", "endpoint": "http://localhost:8700/mcp", "version": "1.0.0",
    "game_types": ["even_odd"], "max_concurrent_matches": 3, "active": true
  }],
  "players": [
    {
      "player_id": "P01", "display_name": "First", "version": "1.0.0", "game_types": ["even_odd", "chess"],
      "default_endpoint": "http://localhost:8901/mcp", "active": false
    },
    { "player_id": "P02" }
  ]
}"#;

#[test]
fn without_files_the_default_league_is_configured() {
    let configured = Written::new(&[]).load();
    assert_eq!(configured.league, LeagueConfig::even_odd("league_2025_even_odd".parse().unwrap()));
    assert_eq!(configured.league.title(), "league_2025_even_odd");
    assert_eq!(configured.network, Network::default());
    assert_eq!(configured.manager.as_str(), "http://localhost:8000/mcp");
    assert_eq!(configured.timeouts.response, Duration::from_secs(10));
    assert_eq!(configured.player.strategy, "random");
    assert!(configured.agents.referees.is_empty() && configured.agents.players.is_empty());
}

#[test]
fn empty_files_nulls_and_a_byte_order_mark_change_nothing() {
    let names = ["system.json", "agents/agents_config.json", "games/games_registry.json", "defaults/player.json"];
    assert_eq!(Written::new(&names.map(|name| (name, "{}"))).load(), Written::new(&[]).load());
    let nulls = "\u{feff}{ \"timeouts\": null, \"network\": { \"base_host\": null } }";
    assert_eq!(with_file("system.json", nulls).load(), Written::new(&[]).load());
}

#[test]
fn the_system_file_sets_ports_times_and_the_league() {
    let configured = with_file("system.json", SYSTEM).load();
    assert_eq!(configured.league.league_id.as_str(), "autumn");
    let network = Network {
        host: "127.0.0.1".into(),
        manager_port: 9000,
        referee_ports: Ports::new(9001, 9005).unwrap(),
        player_ports: Ports::new(9101, 9150).unwrap(),
        ..Network::default()
    };
    assert_eq!(configured.network, network);
    assert_eq!(configured.manager.as_str(), "http://127.0.0.1:9000/mcp");
    assert_eq!((configured.league.token_ttl_hours, configured.league.token_length), (48, 48));
    let limits = MatchLimits {
        game_join_ack_timeout_sec: 2.5,
        move_timeout_sec: 20.0,
        game_over_timeout_sec: 4.0,
        max_retries: 2,
        base_delay_sec: 0.25,
        backoff_strategy: Backoff::Linear,
    };
    assert_eq!(configured.league.limits, limits);
    let timeouts = configured.timeouts;
    let times = [timeouts.register_referee, timeouts.register_player, timeouts.response];
    assert_eq!(times, [7000, 8000, 500].map(Duration::from_millis));
    let (rates, usual) = (configured.rates, Rates::default());
    assert_eq!(rates.manager.registrations, Rate::new(3, 30));
    assert_eq!(rates.visits, Rate { burst: Rate::new(1, 7).burst, ..usual.visits });
    assert_eq!(rates.manager.questions, usual.manager.questions);
}

#[test]
fn the_league_file_sets_the_rules() {
    let configured = with_file("leagues/league_2025_even_odd.json", LEAGUE).load();
    assert_eq!(configured.league.title(), "Even/Odd, the autumn league");
    let scoring = Scoring {
        win_points: 2,
        double_forfeit: DoubleForfeit::TechnicalLoss,
        tiebreakers: vec![TieBreak::HeadToHead, TieBreak::Wins],
        ..Scoring::default()
    };
    assert_eq!(configured.league.scoring, scoring);
    assert!(configured.league.strict);
    assert_eq!((configured.league.min_players, configured.league.max_players), (3, 30));
    assert_eq!(configured.league.max_referees, 4);
}

#[test]
fn the_format_is_text_or_an_object_and_brings_its_tie_breaks_unless_others_are_configured() {
    let league = |scheduling: &str| {
        let configured = with_file("leagues/league_2025_even_odd.json", &format!("{{ {scheduling} }}")).load();
        (configured.league.format.to_string(), configured.league.scoring.tiebreakers)
    };
    let (format, tiebreakers) = league(r#""scheduling": { "format": "round_robin" }"#);
    assert_eq!((format.as_str(), tiebreakers), ("round_robin", Scoring::default().tiebreakers));
    for swiss in [r#""swiss:rounds=7""#, r#"{ "name": "swiss", "rounds": 7 }"#] {
        let (format, tiebreakers) = league(&format!(r#""scheduling": {{ "format": {swiss} }}"#));
        assert_eq!((format.as_str(), tiebreakers[0]), ("swiss:rounds=7", TieBreak::Buchholz));
    }
    let (_, tiebreakers) = league(r#""scheduling": { "format": "swiss" }, "scoring": { "tiebreakers": ["draws"] }"#);
    assert_eq!(tiebreakers, [TieBreak::Draws]);
}

#[test]
fn the_file_of_another_league_is_not_read() {
    let configured = Written::new(&[("system.json", SYSTEM), ("leagues/league_2025_even_odd.json", LEAGUE)]).load();
    assert_eq!((configured.league.min_players, configured.league.title()), (2, "autumn"));
}

#[test]
fn the_agents_file_lists_agents_and_their_endpoints() {
    let configured = with_file("agents/agents_config.json", AGENTS).load();
    assert_eq!(configured.manager.as_str(), "https://league.example/mcp");
    let referee = &configured.agents.referees[0];
    assert_eq!((referee.id.as_str(), referee.name.as_deref(), referee.active), ("REF07", Some("Seven"), true));
    assert_eq!(referee.max_concurrent_matches, Some(3));
    let [first, second] = configured.agents.players.as_slice() else { panic!("two players") };
    assert_eq!((first.id.as_str(), first.name.as_deref(), first.active), ("P01", Some("First"), false));
    assert_eq!(first.game_types.len(), 2);
    assert_eq!((second.name.as_deref(), second.active, second.endpoint()), (None, true, None));
}

#[test]
fn an_agent_listens_at_its_listed_port_or_at_the_port_of_its_number() {
    let configured = with_file("agents/agents_config.json", AGENTS).load();
    let referee = |id: &str| configured.referee_port(&id.parse().unwrap());
    let player = |id: &str| configured.player_port(&id.parse().unwrap());
    assert_eq!((referee("REF07"), referee("REF01"), referee("REF11")), (Some(8700), Some(8001), None));
    assert_eq!((player("P01"), player("P02"), player("P100"), player("bob")), (Some(8901), Some(8102), None, None));
}

#[test]
fn the_games_registry_lists_the_offered_games() {
    let offered = |text: &str| -> Vec<String> {
        with_file("games/games_registry.json", text).load().games.iter().map(ToString::to_string).collect()
    };
    assert_eq!(offered("{}"), known_games().collect::<Vec<_>>());
    let list = r#"{ "games": [{ "game_type": "even_odd", "max_round_time_sec": 60, "rules_module": "x" }] }"#;
    assert_eq!(offered(list), ["even_odd"]);
    assert_eq!(offered(r#"{ "games": [{ "game_type_id": "even_odd" }] }"#), ["even_odd"]);
    let object = r#"{ "games": { "tic_tac_toe": { "anything": 1 } } }"#;
    assert_eq!(offered(object), ["tic_tac_toe"]);
    let league = with_file("games/games_registry.json", object).load().league;
    assert_eq!(league.game_type.as_str(), "tic_tac_toe", "a league plays an offered game");
}

#[test]
fn the_default_files_configure_agents() {
    let configured = Written::new(&[
        ("defaults/referee.json", r#"{ "version": "1.0.0", "game_types": ["even_odd"], "max_concurrent_matches": 5 }"#),
        ("defaults/player.json", r#"{ "version": "1.0.0", "strategy": "pattern:4" }"#),
    ])
    .load();
    assert_eq!(configured.referee.max_concurrent_matches, 5);
    assert_eq!(configured.player.strategy, "pattern:4");
}

/// File, text and warnings.
const QUESTIONABLE: [(&str, &str, &[&str]); 5] = [
    (
        "system.json",
        r#"{ "timeouts": { "move_timout_sec": 3 }, "logging": {}, "_remark": 1, "network": { "host": "x" } }"#,
        &[
            "logging is not known and has no effect",
            "network.host is not known and has no effect; did you mean base_host?",
            "timeouts.move_timout_sec is not known and has no effect; did you mean move_timeout_sec?",
        ],
    ),
    (
        "agents/agents_config.json",
        r#"{ "players": [{ "player_id": "P01", "colour": 1 }, { "player_id": "P02", "colour": 2 }] }"#,
        &["players[].colour is not known and has no effect"],
    ),
    (
        "agents/agents_config.json",
        r#"{ "league_manager": { "endpoint": "http://localhost:9999/mcp" } }"#,
        &["league_manager.endpoint has port 9999, but the manager listens on 8000"],
    ),
    (
        "games/games_registry.json",
        r#"{ "games": [{ "game_type": "chess" }, { "game_type": "even_odd" }] }"#,
        &[
            "the game chess is not known; expected one of even_odd, tic_tac_toe, connect_four, rock_paper_scissors, prisoners_dilemma, kuhn_poker, leduc_poker, colonel_blotto",
        ],
    ),
    (
        "leagues/league_2025_even_odd.json",
        r#"{ "scoring": { "tiebreakers": ["points", "draws"] } }"#,
        &["scoring.tiebreakers lists \"points\", which always come first; remove it"],
    ),
];

#[test]
fn a_questionable_setting_is_warned_of_once() {
    for (file, text, warnings) in QUESTIONABLE {
        let expected: Vec<_> = warnings.iter().map(|warning| format!("SHARED/config/{file}: {warning}")).collect();
        let (configured, warnings) = with_file(file, text).load_with(&[]).unwrap();
        assert_eq!(warnings, expected);
        if text.contains("points") {
            assert_eq!(configured.league.scoring.tiebreakers, [TieBreak::Draws]);
        }
    }
}

#[test]
fn entries_of_the_manager_configure_nothing() {
    let register = r#"{
      "league_manager": { "endpoint": "http://127.0.0.1:9999/mcp", "written_by": "league_manager" },
      "referees": [{ "referee_id": "REF01", "endpoint": "http://127.0.0.1:9998/mcp", "written_by": "league_manager" }],
      "players": [
        { "player_id": "P01", "display_name": "Of old", "default_endpoint": "http://127.0.0.1:9997/mcp", "written_by": "league_manager" },
        { "player_id": "P02", "display_name": "By hand" }
      ]
    }"#;
    let configured = with_file("agents/agents_config.json", register).load();
    assert_eq!((configured.agents.manager.as_ref(), configured.agents.referees.len()), (None, 0));
    let known: Vec<_> = configured.agents.players.iter().map(|player| player.name.as_deref()).collect();
    assert_eq!(known, [Some("By hand")]);
}
