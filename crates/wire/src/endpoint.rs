use std::fmt;
use std::hash::{Hash, Hasher};
use std::net::IpAddr;
use std::str::FromStr;

use http::Uri;
use http::uri::{Authority, PathAndQuery, Scheme};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use smol_str::SmolStr;
use thiserror::Error;

pub const DEFAULT_PATH: &str = "/mcp";

/// It prints as it was registered. Two endpoints are equal if their URIs are.
#[derive(Clone, Debug)]
pub struct Endpoint {
    text: SmolStr,
    uri: Uri,
    site: SmolStr,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum BadEndpoint {
    #[error("an endpoint is a URL such as http://127.0.0.1:8101/mcp")]
    NotAUrl,
    #[error("an endpoint begins with http:// or https://")]
    Scheme,
    #[error("an endpoint names a host")]
    Host,
    #[error("an endpoint's port is a number from 1 to 65535")]
    Port,
    #[error("an endpoint holds no user name or password")]
    UserInfo,
}

impl Endpoint {
    /// Reads an endpoint as operators type it: `localhost:8101` is `http://localhost:8101/mcp`.
    pub fn typed(text: &str) -> Result<Self, BadEndpoint> {
        let text = text.trim();
        if text.contains("://") || text.is_empty() { text.parse() } else { format!("http://{text}").parse() }
    }

    pub fn uri(&self) -> &Uri {
        &self.uri
    }

    /// Without the brackets of an IPv6 address.
    pub fn host(&self) -> &str {
        bare_host(&self.uri)
    }

    /// Only this machine reaches it.
    pub fn is_loopback(&self) -> bool {
        let host = self.host();
        let address = host.parse::<IpAddr>();
        host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.to_canonical().is_loopback())
    }

    pub fn port(&self) -> u16 {
        self.uri.port_u16().unwrap_or(if self.is_secure() { 443 } else { 80 })
    }

    pub fn path(&self) -> &str {
        self.uri.path()
    }

    pub fn is_secure(&self) -> bool {
        self.uri.scheme() == Some(&Scheme::HTTPS)
    }

    /// Scheme, host and port, such as `http://127.0.0.1:8101`.
    pub fn site(&self) -> &SmolStr {
        &self.site
    }

    /// The value of the `Host` header; it omits the scheme's default port.
    pub(crate) fn authority(&self) -> &str {
        let usual = self.port() == if self.is_secure() { 443 } else { 80 };
        let host = self.uri.host().unwrap_or_default();
        if usual { host } else { self.uri.authority().map_or(host, Authority::as_str) }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// True if the endpoint names no path, so that [`DEFAULT_PATH`] is only a guess.
    pub fn is_pathless(&self) -> bool {
        let path = self.text.split("://").nth(1).and_then(|rest| rest.split_once('/'));
        path.is_none_or(|(_, path)| path.is_empty())
    }

    #[must_use]
    pub fn at(&self, path: &'static str) -> Self {
        self.with_path(PathAndQuery::from_static(path))
    }

    /// Replaces what follows the last `/` of the path: the page of a manager is beside its `/mcp`. A `path` that no URL can have
    /// changes nothing.
    #[must_use]
    pub fn beside(&self, path: &str) -> Self {
        let directory = self.path().rsplit_once('/').map_or("", |(directory, _)| directory);
        match format!("{directory}/{path}").parse() {
            Ok(path) => self.with_path(path),
            Err(_) => self.clone(),
        }
    }

    fn with_path(&self, path: PathAndQuery) -> Self {
        let mut parts = self.uri.clone().into_parts();
        parts.path_and_query = Some(path);
        let uri = Uri::from_parts(parts).unwrap_or_else(|_| self.uri.clone());
        Self { text: SmolStr::new(uri.to_string()), uri, site: self.site.clone() }
    }
}

pub(crate) fn bare_host(uri: &Uri) -> &str {
    uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']')
}

impl FromStr for Endpoint {
    type Err = BadEndpoint;

    fn from_str(text: &str) -> Result<Self, BadEndpoint> {
        let uri: Uri = text.trim().parse().map_err(|_| BadEndpoint::NotAUrl)?;
        let scheme = uri.scheme().filter(|scheme| [Scheme::HTTP, Scheme::HTTPS].contains(scheme));
        let scheme = scheme.ok_or(BadEndpoint::Scheme)?;
        let authority = uri.authority().map(Authority::as_str).unwrap_or_default();
        if authority.contains('@') {
            return Err(BadEndpoint::UserInfo);
        }
        if bare_host(&uri).is_empty() {
            return Err(BadEndpoint::Host);
        }
        let colon = authority.rfind(':').filter(|colon| !authority[*colon..].contains(']'));
        if colon.is_some() && uri.port_u16().is_none_or(|port| port == 0) {
            return Err(BadEndpoint::Port);
        }
        let mut site = format!("{scheme}://{authority}");
        site.make_ascii_lowercase();
        let endpoint = Self { text: SmolStr::new(text.trim()), site: SmolStr::new(site), uri };
        let pathless = endpoint.path() == "/" && endpoint.uri.query().is_none();
        Ok(if pathless { Self { uri: endpoint.at(DEFAULT_PATH).uri, ..endpoint } } else { endpoint })
    }
}

impl<'de> Deserialize<'de> for Endpoint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for Endpoint {
    fn eq(&self, other: &Self) -> bool {
        self.uri == other.uri
    }
}

impl Eq for Endpoint {}

impl Hash for Endpoint {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // `Uri` hashes its host byte by byte; the text is faster.
        (&self.site, self.uri.path()).hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_without_a_path_leads_to_mcp_and_prints_as_it_was_registered() {
        for text in ["http://localhost:8101", "http://localhost:8101/"] {
            let endpoint: Endpoint = text.parse().unwrap();
            assert_eq!(endpoint.to_string(), text);
            assert_eq!(endpoint.uri().to_string(), "http://localhost:8101/mcp");
            assert!(endpoint.is_pathless());
        }
        let with_path: Endpoint = "https://example.org/players/7?x=1".parse().unwrap();
        assert_eq!((with_path.host(), with_path.port(), with_path.path()), ("example.org", 443, "/players/7"));
        assert!(with_path.is_secure() && !with_path.is_pathless());
        assert_eq!(with_path.at("/health").to_string(), "https://example.org/health");
        assert_eq!(with_path.beside("register").to_string(), "https://example.org/players/register");
    }

    #[test]
    fn the_pages_of_a_manager_are_beside_its_endpoint() {
        let manager: Endpoint = "http://localhost:8000".parse().unwrap();
        assert_eq!(manager.beside("").to_string(), "http://localhost:8000/");
        let league = manager.beside("leagues/spring/mcp");
        assert_eq!(league.to_string(), "http://localhost:8000/leagues/spring/mcp");
        assert_eq!(league.beside("").to_string(), "http://localhost:8000/leagues/spring/");
        assert_eq!(league.site(), manager.site());
    }

    #[test]
    fn an_operator_may_omit_scheme_and_path() {
        for (typed, meant) in [
            ("localhost:8101", "http://localhost:8101/mcp"),
            ("192.168.1.10:8000/mcp", "http://192.168.1.10:8000/mcp"),
            ("teacher-laptop.local", "http://teacher-laptop.local/mcp"),
            ("[::1]:8101", "http://[::1]:8101/mcp"),
            ("https://example.org/players/7", "https://example.org/players/7"),
        ] {
            assert_eq!(Endpoint::typed(typed).unwrap().uri(), meant, "{typed}");
        }
        assert_eq!(Endpoint::typed("ftp://localhost:21/"), Err(BadEndpoint::Scheme));
        assert_eq!(Endpoint::typed("user@localhost:8101"), Err(BadEndpoint::UserInfo));
        for nothing in ["", " ", "no host"] {
            assert_eq!(Endpoint::typed(nothing), Err(BadEndpoint::NotAUrl));
        }
    }

    #[test]
    fn the_host_header_omits_the_default_port_and_the_host_the_brackets_of_ipv6() {
        for (text, host, port, authority, site) in [
            ("http://LOCALHOST:8101", "LOCALHOST", 8101, "LOCALHOST:8101", "http://localhost:8101"),
            ("http://localhost:80/x", "localhost", 80, "localhost", "http://localhost:80"),
            ("https://example.org/players/7", "example.org", 443, "example.org", "https://example.org"),
            ("https://example.org:80/", "example.org", 80, "example.org:80", "https://example.org:80"),
            ("http://[::1]:80", "::1", 80, "[::1]", "http://[::1]:80"),
            ("http://[::1]", "::1", 80, "[::1]", "http://[::1]"),
            ("http://[::1]:8101/mcp", "::1", 8101, "[::1]:8101", "http://[::1]:8101"),
        ] {
            let endpoint: Endpoint = text.parse().unwrap();
            assert_eq!((endpoint.host(), endpoint.port()), (host, port));
            assert_eq!((endpoint.authority(), endpoint.site().as_str()), (authority, site));
            assert_eq!(endpoint.at("/elsewhere").site(), endpoint.site());
        }
    }

    #[test]
    fn endpoints_with_the_same_uri_are_equal() {
        let endpoints =
            ["http://LOCALHOST:8101", "http://localhost:8101/mcp"].map(|text| text.parse::<Endpoint>().unwrap());
        assert_eq!(endpoints[0], endpoints[1]);
        assert_eq!(std::collections::HashSet::from(endpoints).len(), 1);
    }

    #[test]
    fn an_invalid_url_is_no_endpoint() {
        for (text, error) in [
            ("ftp://localhost:21/", BadEndpoint::Scheme),
            ("localhost:8101", BadEndpoint::Scheme),
            ("/mcp", BadEndpoint::Scheme),
            ("http://user:secret@localhost:8101", BadEndpoint::UserInfo),
            ("http://localhost:0/mcp", BadEndpoint::Port),
            ("http://localhost:99999/mcp", BadEndpoint::Port),
            ("http://localhost:8101/with space", BadEndpoint::NotAUrl),
            ("", BadEndpoint::NotAUrl),
        ] {
            assert_eq!(text.parse::<Endpoint>().unwrap_err(), error, "{text}");
        }
    }
}
