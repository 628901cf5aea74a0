//! HTTPS between all agents, and the errors about its files.

use std::fs;

use crate::support::{TestHome, Venue, assert_contains, assert_played, league, wait_for_all};
use crate::test_certificates::TestCertificates;

#[test]
fn a_league_is_played_over_https_by_separate_processes() {
    let certificates = TestCertificates::new();
    let venue = Venue::secured(&certificates);
    let mut manager = venue.manager_with(2, 1, &[]);
    assert_eq!(manager.address(), venue.address);
    let ca = certificates.path("ca.pem");
    let operate = ["start", "--manager", &venue.address, "--ca", ca.to_str().unwrap()];
    // The manager answers that it is too early.
    league(&operate).fails_with(&["players"]);
    league(&operate[..3]).fails_with(&["certificate", "--ca"]);
    wait_for_all([venue.referee("REF01"), venue.player("P01", "random"), venue.player("P02", "markov")]);
    manager.wait_for_end_of_league();
    venue.home.verify(1);
    let agents = venue.home.json("agents");
    let secure = |agent: &serde_json::Value| agent["endpoint"].as_str().unwrap().starts_with("https://127.0.0.1:");
    assert!(agents.as_array().unwrap().iter().all(secure), "{agents}");
    assert_played(&venue.home.json("standings"), 1);
}

#[test]
fn league_run_uses_https_if_it_is_configured() {
    let (certificates, home) = (TestCertificates::new(), TestHome::new());
    fs::create_dir(home.join("config")).unwrap();
    for name in ["ca.pem", "server.pem", "server.key"] {
        fs::copy(certificates.path(name), home.join("config").join(name)).unwrap();
    }
    let security = r#"{"tls_certificate": "server.pem", "tls_key": "server.key", "tls_authority": "ca.pem"}"#;
    fs::write(home.join("config/system.json"), format!(r#"{{"security": {security}}}"#)).unwrap();
    assert_contains(&home.run(&[]).stderr, &["manager at https://127.0.0.1:"]);
    home.verify(6);
}

#[test]
fn an_unusable_tls_file_is_named_with_advice() {
    let (certificates, home) = (TestCertificates::new(), TestHome::new());
    certificates.write("other.key", &rcgen::KeyPair::generate().unwrap().serialize_pem());
    certificates.write("empty.pem", "");
    // Certificate, key and authority, and the error.
    let cases = [
        (["no.pem", "server.key", ""], ["no.pem: No such file", "PEM file"]),
        (["server.key", "server.key", ""], ["server.key: holds no certificate", "BEGIN"]),
        (["server.pem", "ca.pem", ""], ["ca.pem: holds no private key", "BEGIN"]),
        (["server.pem", "other.key", ""], ["other.key: is not the key of", "together"]),
        (["server.pem", "", ""], ["server.pem, and no key", "--tls-key"]),
        (["", "server.key", ""], ["server.key, and no certificate", "--tls-cert"]),
        (["", "", "empty.pem"], ["--ca", "empty.pem: holds no certificate"]),
    ];
    for (files, parts) in cases {
        let named = ["--tls-cert", "--tls-key", "--ca"].into_iter().zip(files).filter(|(_, name)| !name.is_empty());
        let files: Vec<String> = named
            .flat_map(|(flag, name)| [flag.to_owned(), certificates.path(name).to_str().unwrap().to_owned()])
            .collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        for command in ["run", "manager", "referee", "player"] {
            home.league(&[&[command, "--port", "0"], &files[..]].concat()).fails_with(&parts);
        }
    }
}
