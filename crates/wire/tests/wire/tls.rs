use std::path::Path;

use league_protocol::error::ErrorCode;
use league_protocol::sender::Role;
use league_wire::client::{Client, ClientSettings};
use league_wire::endpoint::Endpoint;
use league_wire::settings::ServerSettings;
use league_wire::tls::{client_config, server_config};
use rcgen::KeyPair;

use crate::papers::Papers;
use crate::support::{LONG, SHORT, call, parrot};

fn client(authority: Option<&Path>) -> Client {
    // Without root certificates the client trusts no server, so the refusal still occurs.
    let tls = client_config(authority).ok();
    Client::new(ClientSettings { tls, ..ClientSettings::default() })
}

#[tokio::test]
async fn a_server_with_a_certificate_is_reached_by_those_who_trust_its_authority() {
    let papers = Papers::new();
    let tls = Some(server_config(&papers.path("server.pem"), &papers.path("server.key")).unwrap());
    let server = parrot(Role::Player, ServerSettings { tls, ..ServerSettings::default() }).await;
    let port = server.address.port();
    let trusting = client(Some(&papers.path("ca.pem")));
    for host in ["localhost", "127.0.0.1"] {
        let endpoint: Endpoint = format!("https://{host}:{port}").parse().unwrap();
        for _ in 0..2 {
            assert_eq!(call(&trusting, &endpoint, LONG).await.unwrap().status, 200);
        }
        let error = call(&client(None), &endpoint, LONG).await.unwrap_err();
        assert_eq!(error.code(), Some(ErrorCode::E009), "{error}");
    }
    let plain: Endpoint = format!("http://localhost:{port}").parse().unwrap();
    assert_eq!(call(&trusting, &plain, LONG).await.unwrap_err().code(), Some(ErrorCode::E009));
    let error =
        call(&Client::default(), &format!("https://localhost:{port}").parse().unwrap(), LONG).await.unwrap_err();
    assert!(error.to_string().contains("without TLS"), "{error}");
}

#[tokio::test]
async fn a_handshake_that_does_not_come_is_given_up() {
    let papers = Papers::new();
    let tls = Some(server_config(&papers.path("server.pem"), &papers.path("server.key")).unwrap());
    let server = parrot(Role::Player, ServerSettings { tls, read_limit: SHORT, ..ServerSettings::default() }).await;
    assert!(crate::raw::Raw::to(server.address).await.is_closed().await);
}

#[test]
fn what_is_wrong_with_a_file_is_said_with_its_name() {
    let papers = Papers::new();
    papers.write("empty.pem", "");
    papers.write("damaged.pem", "-----BEGIN CERTIFICATE-----\n???\n-----END CERTIFICATE-----\n");
    let locked = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    papers.write("locked.key", locked);
    papers.write("other.key", &KeyPair::generate().unwrap().serialize_pem());
    let cases = [
        ("missing.pem", "server.key", "missing.pem: No such file"),
        ("empty.pem", "server.key", "empty.pem: holds no certificate"),
        ("damaged.pem", "server.key", "damaged.pem: not in PEM form"),
        ("server.pem", "empty.pem", "empty.pem: holds no private key"),
        ("server.pem", "server.pem", "server.pem: holds no private key"),
        ("server.pem", "locked.key", "locked.key: holds a private key behind a password"),
        ("server.pem", "other.key", "other.key: is not the key of"),
    ];
    for (certificate, key, says) in cases {
        let error = server_config(&papers.path(certificate), &papers.path(key)).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
    let error = client_config(Some(&papers.path("empty.pem"))).unwrap_err().to_string();
    assert!(error.contains("empty.pem: holds no certificate"), "{error}");
}
