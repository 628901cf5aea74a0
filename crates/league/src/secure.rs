//! The TLS settings of this process's servers and clients. The files are read first, so that a wrong file is an error
//! at the start.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use league_wire::call_tally::CallTally;
use league_wire::client::{Client, ClientSettings};
use league_wire::endpoint::Endpoint;
use league_wire::runtime_lag::LagMonitor;
use league_wire::settings::ServerSettings;
use league_wire::tls::{ClientConfig, client_config, server_config};
use league_wire::trusted_proxies::TrustedProxies;

use crate::config::tls::TlsFiles;

#[derive(Clone)]
pub(crate) struct Secure {
    server: ServerSettings,
    client: ClientSettings,
    has_own_authority: bool,
}

impl Secure {
    /// Without a certificate the servers use HTTP.
    pub(crate) fn read(files: &TlsFiles) -> Result<Self> {
        let tls = match (&files.certificate, &files.key) {
            (Some(certificate), Some(key)) => Some(server_config(certificate, key).context(SERVE)?),
            (Some(certificate), None) => bail!(
                "there is a certificate, {}, and no key; name its key with --tls-key (or LEAGUE_TLS_KEY)",
                certificate.display()
            ),
            (None, Some(key)) => bail!(
                "there is a key, {}, and no certificate; name its certificate with --tls-cert (or LEAGUE_TLS_CERT)",
                key.display()
            ),
            (None, None) => None,
        };
        let server =
            ServerSettings { max_connections: 4096, max_from_one_address: 1024, tls, ..ServerSettings::default() };
        Ok(Self {
            server,
            client: client_settings(files.authority.as_deref())?,
            has_own_authority: files.authority.is_some(),
        })
    }

    /// The servers believe these proxies about the addresses of clients.
    pub(crate) fn behind(mut self, proxies: TrustedProxies) -> Self {
        self.server.trusted_proxies = proxies;
        self
    }

    pub(crate) fn tallied(mut self, tally: Option<Arc<CallTally>>) -> Self {
        self.client.tally = tally;
        self
    }

    pub(crate) fn scheme(&self) -> &'static str {
        if self.server.tls.is_some() { "https" } else { "http" }
    }

    pub(crate) fn server(&self) -> ServerSettings {
        self.server.clone()
    }

    /// `None` stands for the default of each client.
    pub(crate) fn trust(&self) -> Option<Arc<ClientConfig>> {
        self.client.tls.clone().filter(|_| self.has_own_authority)
    }

    /// A client for the current runtime; if that runtime is late, peers get the time back.
    pub(crate) fn client(&self) -> Client {
        self.client_of(&[])
    }

    /// A client of an agent that knows these managers.
    pub(crate) fn client_of(&self, managers: &[Endpoint]) -> Client {
        let (lag_monitor, managers) = (Some(LagMonitor::start()), managers.to_vec());
        Client::new(ClientSettings { lag_monitor, managers, ..self.client.clone() })
    }
}

pub(crate) fn operator_client(authority: Option<&Path>, managers: &[Endpoint]) -> Result<Client> {
    let variable = std::env::var_os("LEAGUE_CA").filter(|name| !name.is_empty());
    let settings = client_settings(authority.or(variable.as_deref().map(Path::new)))?;
    Ok(Client::new(ClientSettings { managers: managers.to_vec(), ..settings }))
}

const SERVE: &str = "HTTPS cannot be served";

fn client_settings(authority: Option<&Path>) -> Result<ClientSettings> {
    let tls = match authority {
        Some(_) => Some(client_config(authority).context("the authority of --ca cannot be trusted")?),
        // A machine without root certificates can still use HTTP.
        None => client_config(None).inspect_err(|error| tracing::debug!(%error, "HTTPS cannot be called")).ok(),
    };
    Ok(ClientSettings { tls, ..ClientSettings::default() })
}
