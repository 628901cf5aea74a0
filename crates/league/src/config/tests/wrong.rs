//! Every kind of wrong value and of damaged file, with its error.

use std::fs;

use super::{Written, with_file};

const SYSTEM: &str = "system.json";
const LEAGUE: &str = "leagues/league_2025_even_odd.json";

/// File, text and error.
const WRONG: &str = r#"
system.json | [1] | the file is [1]; expected an object
system.json | {"schema_version":"2.0.0"} | schema_version is "2.0.0"; expected a version that begins with 1.
system.json | {"protocol_version":"league.v1"} | protocol_version is "league.v1"; expected `league.v2`
system.json | {"default_league_id":"a/b"} | default_league_id is "a/b"; an id has letters, digits and `_ - : .` and does not begin with a dot; found '/'
system.json | {"network":8000} | network is 8000; expected an object
system.json | {"network":["localhost"]} | network is ["localhost"]; expected an object
system.json | {"network":{"base_host":"a:80"}} | network.base_host is "a:80"; expected the name or address of a host, without a port
system.json | {"network":{"base_host":"a/b"}} | network.base_host is "a/b"; expected the name or address of a host, without a port
system.json | {"network":{"base_host":""}} | network.base_host is ""; expected the name or address of a host, without a port
system.json | {"network":{"default_league_manager_port":70000}} | network.default_league_manager_port is 70000; expected a whole number from 1 to 65535
system.json | {"network":{"default_league_manager_port":"8000"}} | network.default_league_manager_port is "8000"; expected a whole number from 1 to 65535
system.json | {"network":{"default_referee_port_range":[8010,8001]}} | network.default_referee_port_range is [8010,8001]; expected two ports from 1 to 65535, the first not above the last
system.json | {"network":{"default_player_port_range":[8101]}} | network.default_player_port_range is [8101]; expected two ports from 1 to 65535, the first not above the last
system.json | {"security":{"enable_auth_tokens":false}} | security.enable_auth_tokens is false; expected true: without tokens any agent could register as another one and report its results; remove this key
system.json | {"security":{"token_length":8}} | security.token_length is 8; expected a whole number from 16 to 64
system.json | {"security":{"token_ttl_hours":0}} | security.token_ttl_hours is 0; expected a whole number from 1 to 8760
system.json | {"timeouts":{"move_timeout_sec":-3}} | timeouts.move_timeout_sec is -3; expected 0.01 to 3600 seconds
system.json | {"timeouts":{"move_timeout_sec":"30"}} | timeouts.move_timeout_sec is "30"; expected 0.01 to 3600 seconds
system.json | {"timeouts":{"register_player_timeout_sec":3601}} | timeouts.register_player_timeout_sec is 3601; expected 0.01 to 3600 seconds
system.json | {"retry_policy":{"max_retries":0}} | retry_policy.max_retries is 0; expected a whole number from 1 to 10
system.json | {"retry_policy":{"max_retries":2.5}} | retry_policy.max_retries is 2.5; expected a whole number from 1 to 10
system.json | {"retry_policy":{"base_delay_sec":61}} | retry_policy.base_delay_sec is 61; expected 0 to 60 seconds
system.json | {"retry_policy":{"backoff_strategy":"random"}} | retry_policy.backoff_strategy is "random"; expected `exponential` or `linear`
leagues/league_2025_even_odd.json | {"league_id":"other"} | league_id is "other"; expected "league_2025_even_odd"
leagues/league_2025_even_odd.json | {"status":"PAUSED"} | status is "PAUSED"; expected `ACTIVE`
leagues/league_2025_even_odd.json | {"display_name":""} | display_name is ""; expected 1 to 128 printable characters
leagues/league_2025_even_odd.json | {"game_type":"chess"} | game_type is "chess"; expected one of even_odd, tic_tac_toe, connect_four, rock_paper_scissors, prisoners_dilemma, kuhn_poker, leduc_poker, colonel_blotto
leagues/league_2025_even_odd.json | {"strict":1} | strict is 1; expected a boolean
leagues/league_2025_even_odd.json | {"scoring":{"win_points":-1}} | scoring.win_points is -1; expected a whole number from 0 to 1000
leagues/league_2025_even_odd.json | {"scoring":{"draw_points":1001}} | scoring.draw_points is 1001; expected a whole number from 0 to 1000
leagues/league_2025_even_odd.json | {"scoring":{"double_forfeit":"both"}} | scoring.double_forfeit is "both"; expected `draw` or `technical_loss`
leagues/league_2025_even_odd.json | {"scoring":{"tiebreakers":"wins"}} | scoring.tiebreakers is "wins"; expected a sequence
leagues/league_2025_even_odd.json | {"scoring":{"tiebreakers":["wins","luck"]}} | scoring.tiebreakers[1] is "luck"; expected one of `wins`, `head_to_head`, `draws`, `buchholz`, `sonneborn_berger`
leagues/league_2025_even_odd.json | {"scheduling":{"format":"ladder"}} | scheduling.format is "ladder"; expected one of `round_robin`, `swiss`, `knockout`
leagues/league_2025_even_odd.json | {"scheduling":{"format":7}} | scheduling.format is 7; expected a format like "swiss:rounds=7" or an object like {"name": "swiss", "rounds": 7}
leagues/league_2025_even_odd.json | {"scheduling":{"format":"swiss:rounds=x"}} | scheduling.format is "swiss:rounds=x"; expected a whole number from 1 to 1000
leagues/league_2025_even_odd.json | {"scheduling":{"format":{"rounds":7}}} | scheduling.format.name is missing; this key is required
leagues/league_2025_even_odd.json | {"scheduling":{"format":{"name":"knockout","best_of":2}}} | scheduling.format is {"best_of":2,"name":"knockout"}; expected an odd number from 1 to 99
leagues/league_2025_even_odd.json | {"scheduling":{"format":{"name":"swiss","times":2}}} | scheduling.format is {"name":"swiss","times":2}; expected `rounds`
leagues/league_2025_even_odd.json | {"participants":{"min_players":1}} | participants.min_players is 1; expected a whole number from 2 to 10000
leagues/league_2025_even_odd.json | {"participants":{"max_players":10001}} | participants.max_players is 10001; expected a whole number from 2 to 10000
agents/agents_config.json | {"league_manager":{"endpoint":"localhost:8000"}} | league_manager.endpoint is "localhost:8000"; an endpoint begins with http:// or https://
agents/agents_config.json | {"referees":{}} | referees is {}; expected a sequence
agents/agents_config.json | {"referees":["REF01"]} | referees[0] is "REF01"; expected an object
agents/agents_config.json | {"referees":[{}]} | referees[0].referee_id is missing; this key is required
agents/agents_config.json | {"referees":[{"referee_id":"REF01","max_concurrent_matches":0}]} | referees[0].max_concurrent_matches is 0; expected a whole number from 1 to 10000
agents/agents_config.json | {"players":[{"player_id":"P01"},{"player_id":"P01"}]} | players[1].player_id is "P01"; expected an id that no entry before it has
agents/agents_config.json | {"players":[{"player_id":"P01","default_endpoint":"http://x:0"}]} | players[0].default_endpoint is "http://x:0"; an endpoint's port is a number from 1 to 65535
agents/agents_config.json | {"players":[{"player_id":"P01","active":"yes"}]} | players[0].active is "yes"; expected a boolean
games/games_registry.json | {"games":[{"game_type":"chess"}]} | games is [{"game_type":"chess"}]; expected one of even_odd, tic_tac_toe, connect_four, rock_paper_scissors, prisoners_dilemma, kuhn_poker, leduc_poker, colonel_blotto
games/games_registry.json | {"games":[{}]} | games[0].game_type is missing; this key is required
defaults/referee.json | {"max_concurrent_matches":10001} | max_concurrent_matches is 10001; expected a whole number from 1 to 10000
defaults/referee.json | {"game_types":["chess"]} | game_types[0] is "chess"; expected one of even_odd, tic_tac_toe, connect_four, rock_paper_scissors, prisoners_dilemma, kuhn_poker, leduc_poker, colonel_blotto
defaults/player.json | {"strategy":"clever"} | strategy is "clever"; expected one of random, always_even, always_odd, alternate, frequency, pattern, markov, bandit, llm, tic_tac_toe, connect_four, throw_pattern, mostly_rock, tit_for_tat, equilibrium
"#;

#[test]
fn an_error_names_the_file_the_key_the_wrong_value_and_what_is_expected() {
    for line in WRONG.trim().lines() {
        let [file, text, error] = line.split(" | ").collect::<Vec<_>>().try_into().unwrap();
        assert_eq!(with_file(file, text).error(), format!("SHARED/config/{file}: {error}"));
    }
}

#[test]
fn a_long_wrong_value_is_shortened() {
    let error = with_file(LEAGUE, &format!(r#"{{"game_type":"{}"}}"#, "ä".repeat(5000))).error();
    assert!(error.contains(&format!("\"{}…; ", "ä".repeat(59))) && error.len() < 400, "{error}");
}

#[test]
fn the_error_for_damaged_json_names_line_and_column() {
    let cases = [
        ("{\n  \"network\": {\n    \"base_host\": }\n}", "expected value at line 3 column 18"),
        ("{ \"a\": 1,\n}", "trailing comma at line 2 column 1"),
        ("", "EOF while parsing a value at line 1 column 0"),
        ("{} x", "trailing characters at line 1 column 4"),
    ];
    for (text, error) in cases {
        assert_eq!(with_file(SYSTEM, text).error(), format!("SHARED/config/system.json is not JSON: {error}"));
    }
    let written = Written::new(&[]);
    fs::create_dir_all(written.path("")).unwrap();
    fs::write(written.path(SYSTEM), b"{ \"system_id\": \"\xff\" }").unwrap();
    assert!(written.error().starts_with("SHARED/config/system.json is not JSON: "), "{}", written.error());
}

#[test]
fn an_unreadable_or_huge_file_is_an_error() {
    let written = Written::new(&[]);
    fs::create_dir_all(written.path(SYSTEM)).unwrap();
    assert_eq!(written.error(), "SHARED/config/system.json is not a file; remove it, or put a JSON file there");
    let error = with_file("agents", "").error();
    assert!(error.starts_with("SHARED/config/agents/agents_config.json cannot be read: "), "{error}");
    let written = with_file(SYSTEM, "");
    fs::File::options().write(true).open(written.path(SYSTEM)).unwrap().set_len(17 * 1024 * 1024).unwrap();
    assert_eq!(written.error(), "SHARED/config/system.json has more than 16777216 bytes");
}

/// A link to itself, which even root cannot read.
#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_read_is_an_error() {
    let written = Written::new(&[]);
    fs::create_dir_all(written.path("")).unwrap();
    std::os::unix::fs::symlink(written.path(SYSTEM), written.path(SYSTEM)).unwrap();
    assert!(written.error().starts_with("SHARED/config/system.json cannot be read: "), "{}", written.error());
}
