//! The URL of a PostgreSQL server. The password is never printed: errors, `Debug` and `Display` show the URL without it.
//!
//! `sslmode` decides about TLS: `disable` (the default for a server on this machine) sends plain text; `require` and
//! `verify-full` (the default for every other server) encrypt and check the server's certificate and name. `sslrootcert`
//! names a PEM file with the authority to trust instead of those of the system; with it, `require` is the default.

use std::convert::Infallible;
use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

/// A server that does not answer a statement within this time has failed.
pub(super) const STATEMENT_LIMIT: Duration = Duration::from_secs(2);
const SESSION: &str =
    "-c statement_timeout=2000 -c lock_timeout=2000 -c idle_in_transaction_session_timeout=2000 -c search_path=league";
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// The text as the operator gave it. Any text is accepted here, because a refused argument would be printed with its
/// password.
#[derive(Clone, PartialEq, Eq)]
pub struct StoreUrl(String);

impl StoreUrl {
    fn is_postgres(text: &str) -> bool {
        SCHEMES.iter().any(|scheme| text.starts_with(scheme))
    }

    /// `None` for a URL.
    pub fn path(&self) -> Option<&Path> {
        (!self.0.contains("://")).then(|| Path::new(&self.0))
    }

    pub(super) fn server(&self) -> Result<Server, String> {
        Server::of(&self.0)
    }
}

impl FromStr for StoreUrl {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.path(), self.server()) {
            (Some(path), _) => path.display().fmt(f),
            (None, Ok(server)) => f.write_str(&server.name),
            (None, Err(_)) => f.write_str("the store"),
        }
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

pub(super) struct Server {
    /// For people, without the password.
    pub(super) name: String,
    pub(super) config: Config,
    pub(super) tls: MakeRustlsConnect,
}

impl Server {
    fn of(url: &str) -> Result<Self, String> {
        if !StoreUrl::is_postgres(url) {
            return Err(String::from("--store expects a URL like postgres://user@host:5432/database"));
        }
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let (mut mode, mut authority, mut others) = (None, None, Vec::new());
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            match parameter.split_once('=') {
                Some(("sslmode", value)) => mode = Some(value),
                Some(("sslrootcert", value)) => authority = Some(PathBuf::from(value)),
                _ => others.push(parameter),
            }
        }
        let rest = if others.is_empty() { base.to_owned() } else { format!("{base}?{}", others.join("&")) };
        // The reason names a parameter and never a value.
        let mut config: Config = rest.parse().map_err(|_| {
            String::from("the URL of --store cannot be read; write it like postgres://user:password@host:5432/database")
        })?;
        let hosts: Vec<String> = config
            .get_hosts()
            .iter()
            .map(|host| match host {
                Host::Tcp(name) => name.clone(),
                #[cfg(unix)]
                Host::Unix(path) => path.display().to_string(),
            })
            .collect();
        if hosts.is_empty() || hosts.iter().any(|host| host.contains('@')) {
            return Err(String::from("the URL of --store needs a host; write @ in a password as %40, / as %2F"));
        }
        if config.get_password().is_none()
            && let Ok(password) = std::env::var("PGPASSWORD")
        {
            config.password(password);
        }
        // An address in `hostaddr` takes the place of the host's name.
        let is_local =
            hosts.iter().all(|host| is_local(host)) && config.get_hostaddrs().iter().all(IpAddr::is_loopback);
        config.ssl_mode(match mode {
            None if is_local && authority.is_none() => SslMode::Disable,
            None | Some("require" | "verify-full") => SslMode::Require,
            Some("disable") => SslMode::Disable,
            Some(_) => return Err(String::from("sslmode of --store is disable, require or verify-full")),
        });
        let options = config.get_options().map_or_else(|| SESSION.to_owned(), |given| format!("{given} {SESSION}"));
        config.options(options).application_name("league").connect_timeout(STATEMENT_LIMIT);
        config.tcp_user_timeout(STATEMENT_LIMIT).keepalives_idle(STATEMENT_LIMIT);
        let user = config.get_user().map(|user| format!("{user}@")).unwrap_or_default();
        let ports: Vec<String> = config.get_ports().iter().map(|port| format!(":{port}")).collect();
        let database = config.get_dbname().map(|name| format!("/{name}")).unwrap_or_default();
        let name = format!("postgres://{user}{}{}{database}", hosts.join(","), ports.join(","));
        let is_encrypted = config.get_ssl_mode() != SslMode::Disable;
        let tls = connector(authority.as_ref(), is_encrypted)?;
        Ok(Self { name, config, tls })
    }
}

fn is_local(host: &str) -> bool {
    host == "localhost" || host.starts_with('/') || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

fn connector(authority: Option<&PathBuf>, is_used: bool) -> Result<MakeRustlsConnect, String> {
    let mut roots = RootCertStore::empty();
    match authority {
        Some(path) => {
            let unreadable =
                |error: &dyn fmt::Display| format!("sslrootcert {} cannot be read: {error}", path.display());
            for certificate in CertificateDer::pem_file_iter(path).map_err(|error| unreadable(&error))? {
                let certificate = certificate.map_err(|error| unreadable(&error))?;
                roots.add(certificate).map_err(|error| unreadable(&error))?;
            }
        }
        None if is_used => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
        None => {}
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(|error| format!("TLS is not available: {error}"))?;
    Ok(MakeRustlsConnect::new(config.with_root_certificates(roots).with_no_client_auth()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_printed() {
        for url in [
            "postgres://ana:s3cret@db.example:5433/league?sslmode=require",
            "postgres://ana:s3cret@db.example:port/league",
            "postgres://ana:p@s3cret@db.example/league",
            "postgres://ana:x/s3cret@db.example/league",
            "postgres://ana:s3cret@db.example/league?sslmode=s3cret",
            "postgres://ana:s3cret@db.example/league?s3cret=1",
            "postgres://ana:s3cret@db.example/league?sslrootcert=/nowhere",
            "mysql://ana:s3cret@db.example/league",
        ] {
            let store: StoreUrl = url.parse().unwrap();
            let error = store.server().err().unwrap_or_default();
            let printed = format!("{store} {store:?} {error}");
            assert!(!printed.contains("s3cret"), "{printed}");
        }
        let store: StoreUrl = "postgres://ana:s3cret@db.example:5433/league".parse().unwrap();
        assert_eq!(store.to_string(), "postgres://ana@db.example:5433/league");
    }

    #[test]
    fn only_a_server_on_this_machine_is_reached_without_tls() {
        let mode = |url: &str| StoreUrl(url.to_owned()).server().map(|server| server.config.get_ssl_mode());
        for local in ["postgres://a@127.0.0.1/d", "postgres://a@localhost/d", "postgres://a@%2Frun%2Fpostgresql/d"] {
            assert_eq!(mode(local), Ok(SslMode::Disable), "{local}");
        }
        assert_eq!(mode("postgres://a@db.example/d"), Ok(SslMode::Require));
        assert_eq!(mode("postgres://a@db.example/d?sslmode=disable"), Ok(SslMode::Disable));
        assert_eq!(mode("postgres://a@127.0.0.1/d?sslmode=verify-full"), Ok(SslMode::Require));
        assert_eq!(mode("postgres://a@localhost/d?hostaddr=192.0.2.7"), Ok(SslMode::Require));
        assert!(mode("postgres://a@db.example/d?sslmode=prefer").is_err(), "it may send the password in plain text");
    }
}
