//! Which layer overrides which.

use std::time::Duration;

use league_store::home::Home;

use super::{Written, with_file};
use crate::config::network::Ports;
use crate::config::tls::TlsFiles;
use crate::config::{Configured, seconds_flag};

#[test]
fn the_environment_overrides_the_files() {
    let written = Written::new(&[
        ("system.json", r#"{ "default_league_id": "file", "timeouts": { "move_timeout_sec": 20 } }"#),
        ("leagues/variable.json", r#"{ "participants": { "min_players": 4, "max_players": 8 } }"#),
        ("defaults/player.json", r#"{ "strategy": "markov" }"#),
    ]);
    let environment = [
        ("LEAGUE_ID", "variable"),
        ("LEAGUE_HOST", "127.0.0.1"),
        ("LEAGUE_MANAGER_PORT", "8500"),
        ("LEAGUE_REFEREE_PORTS", "8501-8510"),
        ("LEAGUE_PLAYER_PORTS", "[8601, 8699]"),
        ("LEAGUE_TOKEN_TTL_HOURS", "2"),
        ("LEAGUE_REGISTER_TIMEOUT", "3"),
        ("LEAGUE_JOIN_TIMEOUT", "1.5"),
        ("LEAGUE_MOVE_TIMEOUT", "2"),
        ("LEAGUE_GAME_OVER_TIMEOUT", "0.5"),
        ("LEAGUE_RESPONSE_TIMEOUT", "4"),
        ("LEAGUE_MAX_RETRIES", "1"),
        ("LEAGUE_RETRY_DELAY", "0"),
        ("LEAGUE_MAX_PLAYERS", "6"),
        ("LEAGUE_STRICT", "true"),
        ("LEAGUE_MAX_MATCHES", "7"),
        ("LEAGUE_STRATEGY", "slow:90"),
    ];
    let (configured, _) = written.load_with(&environment).unwrap();
    assert_eq!(configured.league.league_id.as_str(), "variable");
    assert_eq!(configured.manager.as_str(), "http://127.0.0.1:8500/mcp");
    assert_eq!(configured.network.manager_port, 8500);
    assert_eq!(configured.network.referee_ports, Ports::new(8501, 8510).unwrap());
    assert_eq!(configured.network.player_ports, Ports::new(8601, 8699).unwrap());
    assert_eq!(configured.league.token_ttl_hours, 2);
    let timeouts = configured.timeouts;
    let times = [timeouts.register_referee, timeouts.register_player, timeouts.response];
    assert_eq!(times, [3, 3, 4].map(Duration::from_secs));
    let limits = configured.league.limits;
    assert_eq!(
        (limits.game_join_ack_timeout_sec, limits.move_timeout_sec, limits.game_over_timeout_sec),
        (1.5, 2.0, 0.5)
    );
    assert_eq!((limits.max_retries, limits.base_delay_sec), (1, 0.0));
    assert_eq!((configured.league.min_players, configured.league.max_players), (4, 6));
    assert!(configured.league.strict);
    assert_eq!(configured.referee.max_concurrent_matches, 7);
    assert_eq!(configured.player.strategy, "slow:90");
}

#[test]
fn a_given_league_overrides_the_environment() {
    let written = with_file("leagues/asked.json", r#"{ "display_name": "Asked for" }"#);
    let environment = |name: &str| (name == "LEAGUE_ID").then(|| String::from("variable"));
    let home = Home::at(written.directory.path());
    let (configured, _) = Configured::load(&home, Some("asked".parse().unwrap()), environment).unwrap();
    assert_eq!((configured.league.league_id.as_str(), configured.league.title()), ("asked", "Asked for"));
}

#[test]
fn the_files_of_https_are_named_in_every_layer() {
    let security = r#"{ "security": { "tls_certificate": "own.pem", "tls_key": "/keys/own.key" } }"#;
    let written = with_file("system.json", security);
    let (configured, _) = written.load_with(&[("LEAGUE_TLS_KEY", "other.key"), ("LEAGUE_CA", "ca.pem")]).unwrap();
    let flags = TlsFiles { authority: Some("flag.pem".into()), ..TlsFiles::default() };
    let tls = configured.with_tls(flags).unwrap().tls;
    // A path in a file is relative to that file; other paths are taken as they are.
    assert_eq!(tls.certificate, Some(written.path("own.pem")));
    assert_eq!((tls.key, tls.authority), (Some("other.key".into()), Some("flag.pem".into())));
    assert_eq!(written.load().tls.key, Some("/keys/own.key".into()));
}

#[test]
fn with_https_the_default_endpoint_of_the_manager_changes() {
    let own = TlsFiles { certificate: Some("own.pem".into()), ..TlsFiles::default() };
    let found = |environment: &[(&str, &str)], flags: &TlsFiles| {
        let (configured, _) = Written::new(&[]).load_with(environment).unwrap();
        configured.with_tls(flags.clone()).unwrap().manager.to_string()
    };
    assert_eq!(found(&[], &TlsFiles::default()), "http://localhost:8000/mcp");
    assert_eq!(found(&[], &own), "https://localhost:8000/mcp");
    assert_eq!(found(&[("LEAGUE_TLS_CERT", "own.pem")], &TlsFiles::default()), "https://localhost:8000/mcp");
    assert_eq!(found(&[("LEAGUE_MANAGER", "http://far:1/mcp")], &own), "http://far:1/mcp");
}

#[test]
fn trusted_proxies_are_a_list_in_a_file_and_a_line_in_a_variable() {
    let written = with_file("system.json", r#"{ "network": { "trusted_proxies": ["10.0.0.0/8", "fd00::1"] } }"#);
    let lists =
        |configured: &Configured, address: &str| configured.network.trusted_proxies.lists(address.parse().unwrap());
    let configured = written.load();
    assert!(lists(&configured, "10.1.1.1") && lists(&configured, "fd00::1") && !lists(&configured, "fd00::2"));
    let (configured, _) = written.load_with(&[("LEAGUE_TRUSTED_PROXIES", "192.0.2.7, 192.0.2.8")]).unwrap();
    assert!(lists(&configured, "192.0.2.8") && !lists(&configured, "10.1.1.1"));
    for wrong in ["0.0.0.0/0", "proxy.example", "192.0.2.7,,"] {
        let error = written.load_with(&[("LEAGUE_TRUSTED_PROXIES", wrong)]).unwrap_err().to_string();
        assert!(error.contains("LEAGUE_TRUSTED_PROXIES") && error.contains("10.0.0.0/8"), "{error}");
    }
}

#[test]
fn an_empty_variable_is_not_set() {
    let (configured, _) = Written::new(&[]).load_with(&[("LEAGUE_ID", ""), ("LEAGUE_MOVE_TIMEOUT", " ")]).unwrap();
    assert_eq!(configured, Written::new(&[]).load());
}

#[test]
fn the_last_layer_decides_where_the_manager_is() {
    let text = r#"{ "league_manager": { "endpoint": "http://files.example:8000/mcp" } }"#;
    let written = with_file("agents/agents_config.json", text);
    let manager = |environment: &[(&str, &str)]| written.load_with(environment).unwrap().0.manager.to_string();
    assert_eq!(manager(&[]), "http://files.example:8000/mcp");
    assert_eq!(manager(&[("LEAGUE_MANAGER_PORT", "81")]), "http://localhost:81/mcp");
    assert_eq!(manager(&[("LEAGUE_HOST", "::1")]), "http://[::1]:8000/mcp");
    let both = [("LEAGUE_MANAGER_PORT", "81"), ("LEAGUE_MANAGER", "http://variable.example/mcp")];
    assert_eq!(manager(&both), "http://variable.example/mcp");
    let (several, _) = written.load_with(&[("LEAGUE_MANAGER", "http://one:8000/mcp, http://two:8000/mcp")]).unwrap();
    assert_eq!(several.manager.as_str(), "http://one:8000/mcp");
    assert_eq!(several.other_managers, ["http://two:8000/mcp".parse().unwrap()]);
}

#[test]
fn a_wrong_variable_is_named() {
    let error = |name: &str, text: &str| Written::new(&[]).load_with(&[(name, text)]).unwrap_err().to_string();
    for (name, text, expected) in [
        ("LEAGUE_MOVE_TIMEOUT", "-3", "is \"-3\"; expected 0.01 to 3600 seconds"),
        ("LEAGUE_MOVE_TIMEOUT", "1e999", "is \"1e999\"; expected 0.01 to 3600 seconds"),
        ("LEAGUE_STRICT", "yes", "is \"yes\"; expected a boolean"),
        ("LEAGUE_MANAGER", "far", "is \"far\"; an endpoint begins with http:// or https://"),
        (
            "LEAGUE_ID",
            "a/b",
            "is \"a/b\"; an id has letters, digits and `_ - : .` and does not begin with a dot; found '/'",
        ),
        ("LEAGUE_PLAYER_PORTS", "9-8", "is \"9-8\"; expected two ports from 1 to 65535, the first not above the last"),
    ] {
        assert_eq!(error(name, text), format!("{name} {expected}"));
    }
}

#[test]
fn a_wrong_value_is_an_error_even_if_it_is_overridden() {
    let written = with_file("system.json", r#"{ "timeouts": { "move_timeout_sec": 0 } }"#);
    assert!(written.load_with(&[("LEAGUE_MOVE_TIMEOUT", "5")]).is_err());
}

#[test]
fn values_that_do_not_fit_each_other_are_refused_also_across_layers() {
    let expected = "min_players is 9 and max_players is 8; min_players must not exceed max_players";
    let written = with_file("leagues/league_2025_even_odd.json", r#"{ "participants": { "max_players": 8 } }"#);
    assert_eq!(written.load_with(&[("LEAGUE_MIN_PLAYERS", "9")]).unwrap_err().to_string(), expected);
    let mut configured = written.load();
    configured.league.min_players = 9;
    assert_eq!(configured.check().unwrap_err().to_string(), expected);
}

#[test]
fn flags_have_the_bounds_of_the_files() {
    assert_eq!(seconds_flag("0.5"), Ok(0.5));
    assert_eq!(seconds_flag("0"), Err(String::from("expected 0.01 to 3600 seconds")));
}
