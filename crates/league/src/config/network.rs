//! Hosts and ports: `network` in `system.json`.

use std::fmt;
use std::net::Ipv6Addr;

use league_wire::endpoint::Endpoint;
use smol_str::SmolStr;

use super::error::ConfigError;
use super::rule;

/// Where everything of a league listens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Network {
    /// The host that all of it is on.
    pub(crate) host: SmolStr,
    pub(crate) manager_port: u16,
    /// The referees' ports, the first for `REF01`.
    pub(crate) referee_ports: Ports,
    /// The players' ports, the first for `P01`.
    pub(crate) player_ports: Ports,
}

impl Default for Network {
    fn default() -> Self {
        Self {
            host: SmolStr::new_static("localhost"),
            manager_port: 8000,
            referee_ports: Ports { first: 8001, last: 8010 },
            player_ports: Ports { first: 8101, last: 8199 },
        }
    }
}

impl Network {
    /// Where the manager is found when nothing else is said: also for commands that move it.
    pub(crate) fn manager(&self, secure: bool) -> Result<Endpoint, ConfigError> {
        let found =
            || rule::wrong(String::from("network.base_host"), &self.host.as_str().into(), rule::host().allowed());
        endpoint(if secure { "https" } else { "http" }, &self.host, self.manager_port).ok_or_else(found)
    }
}

/// The endpoint at this host and port. An address of version six gets its brackets.
pub(super) fn endpoint(scheme: &str, host: &str, port: u16) -> Option<Endpoint> {
    let text = match host.parse::<Ipv6Addr>() {
        Ok(address) => format!("{scheme}://[{address}]:{port}/mcp"),
        Err(_) => format!("{scheme}://{host}:{port}/mcp"),
    };
    text.parse().ok()
}

/// Ports in a row; at least one, and never port 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ports {
    first: u16,
    last: u16,
}

impl Ports {
    /// The ports from `first` to `last`; nothing when there are none.
    pub(crate) fn new(first: u16, last: u16) -> Option<Self> {
        (first > 0 && first <= last).then_some(Self { first, last })
    }

    /// The port of the `number`-th agent, counted from one; nothing when there are not so many.
    pub(crate) fn of(self, number: u32) -> Option<u16> {
        let offset = u16::try_from(number.checked_sub(1)?).ok()?;
        self.first.checked_add(offset).filter(|port| *port <= self.last)
    }
}

impl fmt::Display for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.first, self.last)
    }
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
    }

    #[test]
    fn no_ports_are_no_range() {
        assert_eq!((Ports::new(0, 5), Ports::new(6, 5)), (None, None));
        assert_eq!(Ports::new(5, 5).map(|ports| ports.to_string()), Some(String::from("5-5")));
    }
}
