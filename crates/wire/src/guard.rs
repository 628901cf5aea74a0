//! Checks `Host` and `Origin` of every request.
//!
//! A web page can send requests to the browser's own machine; `Origin` reveals that. With DNS rebinding the page uses a host name
//! that resolves to this machine; `Host` reveals that. Programs send no origin.

use std::net::{IpAddr, SocketAddr};

use http::uri::Authority;
use http::{HeaderMap, Uri, header};

use crate::endpoint::bare_host;
use crate::settings::ServerSettings;

/// Accepts pages of this server and programs. Operator actions need this: `Guard` also accepts pages of other ports here, which may
/// belong to players.
pub fn is_own_page(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site").and_then(|value| value.to_str().ok());
    if site.is_some_and(|site| !matches!(site, "same-origin" | "none")) {
        return false;
    }
    match (text(headers, header::ORIGIN), text(headers, header::HOST)) {
        (None, _) => !headers.contains_key(header::ORIGIN),
        (Some(origin), Some(host)) => origin.split_once("://").is_some_and(|(_, own)| own.eq_ignore_ascii_case(host)),
        (Some(_), None) => false,
    }
}

#[derive(Debug)]
pub(crate) struct Guard {
    bound: IpAddr,
    hosts: Vec<String>,
    origins: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum GuardError {
    #[error("exactly one Host header is required")]
    NoHost,
    #[error(
        "{0:?} is not a name of this server; use its address, or ask its operator to start it with --advertise http://{0}/mcp"
    )]
    Host(String),
    #[error("pages from {0:?} may not call this server; its operator can allow them (allowed_origins)")]
    Origin(String),
}

impl Guard {
    pub(crate) fn new(bound: SocketAddr, settings: &ServerSettings) -> Self {
        let (hosts, origins) = (settings.allowed_hosts.clone(), settings.allowed_origins.clone());
        Self { bound: bound.ip(), hosts, origins }
    }

    pub(crate) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), GuardError> {
        // With two headers, a proxy may have checked the other one.
        if headers.get_all(header::HOST).iter().nth(1).is_some() {
            return Err(GuardError::NoHost);
        }
        let named = match uri.authority() {
            Some(authority) => authority.as_str(),
            None => text(headers, header::HOST).ok_or(GuardError::NoHost)?,
        };
        let host: Authority = named.parse().map_err(|_| GuardError::Host(clipped(named)))?;
        if !self.knows(&host) {
            return Err(GuardError::Host(clipped(named)));
        }
        match headers.get(header::ORIGIN) {
            None => Ok(()),
            Some(_) => {
                let origin = text(headers, header::ORIGIN).unwrap_or_default();
                if self.trusts(origin, &host) { Ok(()) } else { Err(GuardError::Origin(clipped(origin))) }
            }
        }
    }

    /// With an unspecified bind address the server cannot list its own, so it accepts any IP address: DNS rebinding needs a name.
    fn knows(&self, host: &Authority) -> bool {
        self.is_here(host.host())
            || (self.bound.is_unspecified() && address(host.host()).is_some())
            || self.hosts.iter().any(|allowed| {
                allowed == "*"
                    || allowed.eq_ignore_ascii_case(host.host())
                    || allowed.eq_ignore_ascii_case(host.as_str())
            })
    }

    fn trusts(&self, origin: &str, host: &Authority) -> bool {
        if self.origins.iter().any(|allowed| allowed == "*" || allowed.eq_ignore_ascii_case(origin)) {
            return true;
        }
        let page: Option<Uri> = origin.parse().ok();
        page.as_ref().is_some_and(|page| {
            page.scheme().is_some() && (self.is_here(bare_host(page)) || page.authority() == Some(host))
        })
    }

    fn is_here(&self, host: &str) -> bool {
        let loopback = |ip: IpAddr| ip.is_loopback() || (ip == self.bound && !ip.is_unspecified());
        host.eq_ignore_ascii_case("localhost") || address(host).is_some_and(loopback)
    }
}

fn address(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

fn clipped(text: &str) -> String {
    text.chars().take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bound: &str, host: Option<&str>, origin: Option<&str>) -> Result<(), GuardError> {
        let settings = ServerSettings {
            allowed_hosts: vec!["league.example".into(), "other.example:8000".into()],
            allowed_origins: vec!["https://board.example".into()],
            ..ServerSettings::default()
        };
        let mut headers = HeaderMap::new();
        host.map(|host| headers.insert(header::HOST, host.parse().unwrap()));
        origin.map(|origin| headers.insert(header::ORIGIN, origin.parse().unwrap()));
        Guard::new(bound.parse().unwrap(), &settings).check(&Uri::from_static("/mcp"), &headers)
    }

    #[test]
    fn the_host_must_be_loopback_the_bound_address_or_allowed() {
        for host in ["localhost:1", "LOCALHOST", "127.0.0.1:9", "[::1]:9", "192.0.2.7:8000", "league.example:1"] {
            assert_eq!(check("192.0.2.7:8000", Some(host), None), Ok(()), "{host}");
        }
        assert_eq!(check("192.0.2.7:8000", Some("other.example:8000"), None), Ok(()));
        for host in ["evil.example", "192.0.2.8:8000", "other.example:8001", "0.0.0.0:8000", "localhost.evil.example"] {
            assert_eq!(check("192.0.2.7:8000", Some(host), None), Err(GuardError::Host(host.into())), "{host}");
        }
        assert_eq!(check("192.0.2.7:8000", None, None), Err(GuardError::NoHost));
    }

    #[test]
    fn a_server_on_every_address_accepts_any_ip_address_as_host_and_no_name() {
        assert_eq!(check("0.0.0.0:8000", Some("192.0.2.8:8000"), None), Ok(()));
        assert!(check("0.0.0.0:8000", Some("evil.example:8000"), None).is_err());
    }

    #[test]
    fn the_origin_must_be_loopback_the_same_host_or_allowed() {
        for origin in ["http://localhost:6274", "http://127.0.0.1:1", "https://board.example", "http://[::1]:3"] {
            assert_eq!(check("0.0.0.0:8000", Some("localhost:8000"), Some(origin)), Ok(()), "{origin}");
        }
        assert_eq!(check("0.0.0.0:8000", Some("192.0.2.8:8000"), Some("http://192.0.2.8:8000")), Ok(()));
        for origin in ["http://evil.example", "null", "http://192.0.2.9:8000", "http://board.example", ""] {
            let turned_away = Err(GuardError::Origin(origin.into()));
            assert_eq!(check("0.0.0.0:8000", Some("192.0.2.8:8000"), Some(origin)), turned_away, "{origin}");
        }
    }
}
