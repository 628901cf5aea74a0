//! Hosts and ports: `network` in `system.json`.

use std::net::Ipv6Addr;

use league_wire::endpoint::Endpoint;
use league_wire::trusted_proxies::{ProxyNetworkError, TrustedProxies};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use smol_str::SmolStr;

use super::error::ConfigError;
use super::values::{HOST, host, whole};

#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Network {
    #[serde(rename = "base_host", deserialize_with = "host")]
    pub(crate) host: SmolStr,
    #[serde(rename = "default_league_manager_port", deserialize_with = "whole::<1, 65535, _, _>")]
    pub(crate) manager_port: u16,
    /// The first port is for `REF01`.
    #[serde(rename = "default_referee_port_range")]
    pub(crate) referee_ports: Ports,
    /// The first port is for `P01`.
    #[serde(rename = "default_player_port_range")]
    pub(crate) player_ports: Ports,
    /// Believed about the addresses of the clients behind them.
    #[serde(deserialize_with = "proxies")]
    pub(crate) trusted_proxies: TrustedProxies,
}

impl Default for Network {
    fn default() -> Self {
        Self {
            host: SmolStr::new_static("localhost"),
            manager_port: 8000,
            referee_ports: Ports { first: 8001, last: 8010 },
            player_ports: Ports { first: 8101, last: 8199 },
            trusted_proxies: TrustedProxies::default(),
        }
    }
}

impl Network {
    /// Used if no setting names the endpoint.
    pub(crate) fn manager(&self, secure: bool) -> Result<Endpoint, ConfigError> {
        endpoint(if secure { "https" } else { "http" }, &self.host, self.manager_port).ok_or_else(|| {
            let (setting, found) = (String::from("network.base_host"), Some(format!("{:?}", self.host)));
            ConfigError::Setting { setting, found, expected: format!("expected {HOST}") }
        })
    }
}

/// Adds brackets to an IPv6 address.
pub(super) fn endpoint(scheme: &str, host: &str, port: u16) -> Option<Endpoint> {
    let text = match host.parse::<Ipv6Addr>() {
        Ok(address) => format!("{scheme}://[{address}]:{port}/mcp"),
        Err(_) => format!("{scheme}://{host}:{port}/mcp"),
    };
    text.parse().ok()
}

/// At least one port, and never port 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ports {
    first: u16,
    last: u16,
}

impl Ports {
    pub(crate) fn new(first: u16, last: u16) -> Option<Self> {
        (first > 0 && first <= last).then_some(Self { first, last })
    }

    /// Counts from one. `None` if the range is too short.
    pub(crate) fn of(self, number: u32) -> Option<u16> {
        let offset = u16::try_from(number.checked_sub(1)?).ok()?;
        self.first.checked_add(offset).filter(|port| *port <= self.last)
    }
}

/// `[8001, 8010]`, or `"8001-8010"` as in a variable.
impl<'de> Deserialize<'de> for Ports {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let range = match value.as_str() {
            Some(text) => text
                .split_once('-')
                .and_then(|(first, last)| Some((first.trim().parse().ok()?, last.trim().parse().ok()?))),
            None => serde_json::from_value::<(u16, u16)>(value).ok(),
        };
        let ports = range.and_then(|(first, last)| Self::new(first, last));
        ports.ok_or_else(|| D::Error::custom("expected two ports from 1 to 65535, the first not above the last"))
    }
}

/// `["10.0.0.0/8", "192.0.2.7"]`, or `"10.0.0.0/8,192.0.2.7"` as in a variable.
fn proxies<'de, D: Deserializer<'de>>(deserializer: D) -> Result<TrustedProxies, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let texts: Vec<&str> = match (&value, value.as_array()) {
        (_, Some(list)) => list.iter().map(|entry| entry.as_str().unwrap_or_default()).collect(),
        (Value::String(text), None) => text.split(',').map(str::trim).collect(),
        (_, None) => return Err(D::Error::custom(ProxyNetworkError)),
    };
    texts.into_iter().map(str::parse).collect::<Result<_, ProxyNetworkError>>().map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_gets_the_port_of_its_number() {
        let ports = Ports::new(8101, 8199).unwrap();
        assert_eq!((ports.of(1), ports.of(99), ports.of(100), ports.of(0)), (Some(8101), Some(8199), None, None));
        let high = Ports::new(65535, 65535).unwrap();
        assert_eq!((high.of(1), high.of(2), high.of(u32::MAX)), (Some(65535), None, None));
        assert_eq!((Ports::new(0, 5), Ports::new(6, 5)), (None, None));
    }
}
