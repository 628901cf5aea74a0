//! Every kind of wrong value, and every kind of damaged file, with what is told of it.

use std::fs;

use super::{Written, one};

const SYSTEM: &str = "system.json";
const LEAGUE: &str = "leagues/league_2025_even_odd.json";
const AGENTS: &str = "agents/agents_config.json";

#[test]
fn a_wrong_value_is_told_with_its_place_and_what_is_allowed() {
    let ports = "allowed are two ports from 1 to 65535, the first not above the last";
    let host = "allowed is the name or the address of a host, without a port";
    let points = "allowed are whole numbers from 0 to 1000";
    let players = "allowed are whole numbers from 2 to 10000";
    let matches = "allowed are whole numbers from 1 to 10000";
    let port = "allowed are whole numbers from 1 to 65535";
    let id = "allowed are 1 to 64 letters, digits and `_ - : .`, not beginning with a dot";
    let seconds = "allowed are 0.01 to 3600 seconds";
    let endpoint = "allowed are addresses such as http://127.0.0.1:8101/mcp";
    let games = r#"allowed are "even_odd", "tic_tac_toe""#;
    let truth = "allowed are true and false";
    let cases = [
        (SYSTEM, r#"[1]"#, "the whole is [1]", "allowed is an object"),
        (
            SYSTEM,
            r#"{"schema_version":"2.0.0"}"#,
            r#"schema_version is "2.0.0""#,
            "allowed are versions that begin with 1.",
        ),
        (
            SYSTEM,
            r#"{"protocol_version":"league.v1"}"#,
            r#"protocol_version is "league.v1""#,
            r#"allowed is "league.v2""#,
        ),
        (SYSTEM, r#"{"default_league_id":"a/b"}"#, r#"default_league_id is "a/b""#, id),
        (SYSTEM, r#"{"network":8000}"#, "network is 8000", "allowed is an object"),
        (SYSTEM, r#"{"network":{"base_host":"a:80"}}"#, r#"network.base_host is "a:80""#, host),
        (SYSTEM, r#"{"network":{"base_host":"a/b"}}"#, r#"network.base_host is "a/b""#, host),
        (SYSTEM, r#"{"network":{"base_host":""}}"#, r#"network.base_host is """#, host),
        (
            SYSTEM,
            r#"{"network":{"default_league_manager_port":70000}}"#,
            "network.default_league_manager_port is 70000",
            port,
        ),
        (
            SYSTEM,
            r#"{"network":{"default_league_manager_port":"8000"}}"#,
            r#"network.default_league_manager_port is "8000""#,
            port,
        ),
        (
            SYSTEM,
            r#"{"network":{"default_referee_port_range":[8010,8001]}}"#,
            "network.default_referee_port_range is [8010,8001]",
            ports,
        ),
        (
            SYSTEM,
            r#"{"network":{"default_player_port_range":[8101]}}"#,
            "network.default_player_port_range is [8101]",
            ports,
        ),
        (
            SYSTEM,
            r#"{"security":{"enable_auth_tokens":false}}"#,
            "security.enable_auth_tokens is false",
            "allowed is true: tokens cannot be switched off, because without them anybody could report results and register as \
             another agent; remove the setting",
        ),
        (
            SYSTEM,
            r#"{"security":{"token_length":8}}"#,
            "security.token_length is 8",
            "allowed are whole numbers from 16 to 64 bytes",
        ),
        (
            SYSTEM,
            r#"{"security":{"token_ttl_hours":0}}"#,
            "security.token_ttl_hours is 0",
            "allowed are whole numbers from 1 to 8760 hours",
        ),
        (SYSTEM, r#"{"timeouts":{"move_timeout_sec":-3}}"#, "timeouts.move_timeout_sec is -3", seconds),
        (SYSTEM, r#"{"timeouts":{"move_timeout_sec":"30"}}"#, r#"timeouts.move_timeout_sec is "30""#, seconds),
        (
            SYSTEM,
            r#"{"timeouts":{"register_player_timeout_sec":3601}}"#,
            "timeouts.register_player_timeout_sec is 3601",
            seconds,
        ),
        (
            SYSTEM,
            r#"{"retry_policy":{"max_retries":0}}"#,
            "retry_policy.max_retries is 0",
            "allowed are whole numbers from 1 to 10",
        ),
        (
            SYSTEM,
            r#"{"retry_policy":{"max_retries":2.5}}"#,
            "retry_policy.max_retries is 2.5",
            "allowed are whole numbers from 1 to 10",
        ),
        (
            SYSTEM,
            r#"{"retry_policy":{"base_delay_sec":61}}"#,
            "retry_policy.base_delay_sec is 61",
            "allowed are 0 to 60 seconds",
        ),
        (
            SYSTEM,
            r#"{"retry_policy":{"backoff_strategy":"random"}}"#,
            r#"retry_policy.backoff_strategy is "random""#,
            r#"allowed are "exponential", "linear""#,
        ),
        (LEAGUE, r#"{"league_id":"other"}"#, r#"league_id is "other""#, r#"allowed is "league_2025_even_odd""#),
        (LEAGUE, r#"{"status":"PAUSED"}"#, r#"status is "PAUSED""#, r#"allowed is "ACTIVE""#),
        (LEAGUE, r#"{"display_name":""}"#, r#"display_name is """#, "allowed are 1 to 128 printable characters"),
        (LEAGUE, r#"{"game_type":"chess"}"#, r#"game_type is "chess""#, games),
        (LEAGUE, r#"{"strict":1}"#, "strict is 1", truth),
        (LEAGUE, r#"{"scoring":{"win_points":-1}}"#, "scoring.win_points is -1", points),
        (LEAGUE, r#"{"scoring":{"draw_points":1001}}"#, "scoring.draw_points is 1001", points),
        (
            LEAGUE,
            r#"{"scoring":{"double_forfeit":"both"}}"#,
            r#"scoring.double_forfeit is "both""#,
            r#"allowed are "draw", "technical_loss""#,
        ),
        (LEAGUE, r#"{"scoring":{"tiebreakers":"wins"}}"#, r#"scoring.tiebreakers is "wins""#, "allowed is a list"),
        (
            LEAGUE,
            r#"{"scoring":{"tiebreakers":["wins","luck"]}}"#,
            r#"scoring.tiebreakers[1] is "luck""#,
            r#"allowed are "wins", "head_to_head", "draws", "points""#,
        ),
        (
            LEAGUE,
            r#"{"scheduling":{"format":"knockout"}}"#,
            r#"scheduling.format is "knockout""#,
            r#"allowed is "round_robin""#,
        ),
        (LEAGUE, r#"{"participants":{"min_players":1}}"#, "participants.min_players is 1", players),
        (LEAGUE, r#"{"participants":{"max_players":10001}}"#, "participants.max_players is 10001", players),
        (
            AGENTS,
            r#"{"league_manager":{"endpoint":"localhost:8000"}}"#,
            r#"league_manager.endpoint is "localhost:8000""#,
            endpoint,
        ),
        (AGENTS, r#"{"referees":{}}"#, "referees is {}", "allowed is a list"),
        (AGENTS, r#"{"referees":["REF01"]}"#, r#"referees[0] is "REF01""#, "allowed is an object"),
        (AGENTS, r#"{"referees":[{}]}"#, "referees[0].referee_id is missing", id),
        (
            AGENTS,
            r#"{"referees":[{"referee_id":"REF01","max_concurrent_matches":0}]}"#,
            "referees[0].max_concurrent_matches is 0",
            matches,
        ),
        (
            AGENTS,
            r#"{"players":[{"player_id":"P01"},{"player_id":"P01"}]}"#,
            r#"players[1].player_id is "P01""#,
            "allowed is an id that stands nowhere before it",
        ),
        (
            AGENTS,
            r#"{"players":[{"player_id":"P01","default_endpoint":"http://x:0"}]}"#,
            r#"players[0].default_endpoint is "http://x:0""#,
            endpoint,
        ),
        (AGENTS, r#"{"players":[{"player_id":"P01","active":"yes"}]}"#, r#"players[0].active is "yes""#, truth),
        ("games/games_registry.json", r#"{"games":[{"game_type":"chess"}]}"#, r#"games is ["chess"]"#, games),
        ("games/games_registry.json", r#"{"games":[{}]}"#, "games[0].game_type is missing", id),
        ("defaults/referee.json", r#"{"max_concurrent_matches":10001}"#, "max_concurrent_matches is 10001", matches),
        ("defaults/referee.json", r#"{"game_types":["chess"]}"#, r#"game_types[0] is "chess""#, games),
        (
            "defaults/player.json",
            r#"{"strategy":"clever"}"#,
            r#"strategy is "clever""#,
            r#"allowed are "random", "always_even", "always_odd", "alternate", "frequency", "pattern", "markov", "bandit", "llm", "timeout", "slow", "invalid", "crash""#,
        ),
    ];
    for (file, text, found, allowed) in cases {
        assert_eq!(one(file, text).error(), format!("SHARED/config/{file}: {found}; {allowed}"));
    }
}

#[test]
fn a_long_wrong_value_is_shortened() {
    let told = one(LEAGUE, &format!(r#"{{"game_type":"{}"}}"#, "ä".repeat(5000))).error();
    assert!(told.contains(&format!("\"{}…; allowed", "ä".repeat(59))), "{told}");
}

#[test]
fn damaged_json_is_told_with_line_and_column() {
    let cases = [
        ("{\n  \"network\": {\n    \"base_host\": }\n}", "line 3, column 18: expected value"),
        ("{ \"a\": 1,\n}", "line 2, column 1: trailing comma"),
        ("", "line 1, column 0: EOF while parsing a value"),
        ("{} x", "line 1, column 4: trailing characters"),
    ];
    for (text, told) in cases {
        assert_eq!(one(SYSTEM, text).error(), format!("SHARED/config/system.json, {told}"));
    }
    let written = Written::new(&[]);
    fs::create_dir_all(written.path("")).unwrap();
    fs::write(written.path(SYSTEM), b"{ \"system_id\": \"\xff\" }").unwrap();
    assert!(written.error().starts_with("SHARED/config/system.json, line 1, column "), "{}", written.error());
}

#[test]
fn a_directory_in_place_of_a_file_is_told() {
    let written = Written::new(&[]);
    fs::create_dir_all(written.path(SYSTEM)).unwrap();
    assert_eq!(written.error(), "SHARED/config/system.json is not a file; remove it, or put a JSON file there");
}

#[test]
fn a_file_in_place_of_a_directory_is_told() {
    let told = one("agents", "").error();
    assert!(told.starts_with("SHARED/config/agents/agents_config.json cannot be read: "), "{told}");
}

/// A link that leads to itself: nobody can read it, not even who may read everything.
#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_read_is_told() {
    let written = Written::new(&[]);
    fs::create_dir_all(written.path("")).unwrap();
    std::os::unix::fs::symlink(written.path(SYSTEM), written.path(SYSTEM)).unwrap();
    assert!(written.error().starts_with("SHARED/config/system.json cannot be read: "), "{}", written.error());
}

#[test]
fn a_file_without_end_is_not_read_to_its_end() {
    let written = one(SYSTEM, "");
    fs::File::options().write(true).open(written.path(SYSTEM)).unwrap().set_len(17 * 1024 * 1024).unwrap();
    assert_eq!(written.error(), "SHARED/config/system.json has more than 16777216 bytes, which no configuration needs");
}
