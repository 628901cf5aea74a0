use std::path::Path;

use league_protocol::error::ErrorCode;
use league_protocol::sender::Role;
use league_wire::client::{Client, ClientSettings};
use league_wire::endpoint::Endpoint;
use league_wire::settings::ServerSettings;
use league_wire::tls::{client_config, server_config};
use rcgen::KeyPair;

use crate::support::{LONG, SHORT, call, serve_echo};
use crate::test_certificates::TestCertificates;

fn client(authority: Option<&Path>) -> Client {
    // Without root certificates the client trusts no server, so the refusal still occurs.
    let tls = client_config(authority).ok();
    Client::new(ClientSettings { tls, ..ClientSettings::default() })
}

#[tokio::test]
async fn a_client_reaches_a_tls_server_only_if_it_trusts_the_authority() {
    let certificates = TestCertificates::new();
    let tls = Some(server_config(&certificates.path("server.pem"), &certificates.path("server.key")).unwrap());
    let server = serve_echo(Role::Player, ServerSettings { tls, ..ServerSettings::default() }).await;
    let port = server.address.port();
    let trusting = client(Some(&certificates.path("ca.pem")));
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
async fn a_missing_tls_handshake_ends_after_the_read_limit() {
    let certificates = TestCertificates::new();
    let tls = Some(server_config(&certificates.path("server.pem"), &certificates.path("server.key")).unwrap());
    let server = serve_echo(Role::Player, ServerSettings { tls, read_limit: SHORT, ..ServerSettings::default() }).await;
    assert!(crate::raw::Raw::to(server.address).await.is_closed().await);
}

#[test]
fn an_error_in_a_tls_file_names_the_file() {
    let certificates = TestCertificates::new();
    certificates.write("empty.pem", "");
    certificates.write("damaged.pem", "-----BEGIN CERTIFICATE-----\n???\n-----END CERTIFICATE-----\n");
    let locked = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    certificates.write("locked.key", locked);
    certificates.write("other.key", &KeyPair::generate().unwrap().serialize_pem());
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
        let error = server_config(&certificates.path(certificate), &certificates.path(key)).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
    let error = client_config(Some(&certificates.path("empty.pem"))).unwrap_err().to_string();
    assert!(error.contains("empty.pem: holds no certificate"), "{error}");
}
