//! The address of a client behind a proxy.
//!
//! A proxy that the operator lists is believed about the address of the connection that it accepted, and about nothing
//! further: the right-most address that no listed proxy has. What stands left of it was written by the client. A header
//! only removes the rights of loopback and never gives them.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;
use std::sync::Arc;

use http::{HeaderMap, header};
use thiserror::Error;

/// A client whose proxy names no address that can be used. All of them share one rate limit, and none is on this
/// machine.
pub const UNKNOWN_CLIENT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);

const X_FORWARDED_FOR: &str = "x-forwarded-for";

/// One address, or a network such as `10.0.0.0/8`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProxyNetwork {
    address: IpAddr,
    prefix: u8,
}

#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("expected an address or a network of proxies, such as 192.0.2.7, 10.0.0.0/8 or fd00::/8")]
pub struct ProxyNetworkError;

impl FromStr for ProxyNetwork {
    type Err = ProxyNetworkError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (address, prefix) = text.split_once('/').map_or((text, None), |(address, prefix)| (address, Some(prefix)));
        let address = address.trim().parse::<IpAddr>().map_err(|_| ProxyNetworkError)?.to_canonical();
        let longest = if address.is_ipv4() { 32 } else { 128 };
        let prefix = match prefix.map(|prefix| prefix.trim().parse()) {
            None => longest,
            // A network of all addresses would believe every client.
            Some(Ok(prefix)) if (1..=longest).contains(&prefix) => prefix,
            Some(Ok(_) | Err(_)) => return Err(ProxyNetworkError),
        };
        Ok(Self { address, prefix })
    }
}

impl fmt::Display for ProxyNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

impl ProxyNetwork {
    fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(ours), IpAddr::V4(other)) => {
                (ours.to_bits() ^ other.to_bits()) >> (32 - u32::from(self.prefix)) == 0
            }
            (IpAddr::V6(ours), IpAddr::V6(other)) => {
                (ours.to_bits() ^ other.to_bits()) >> (128 - u32::from(self.prefix)) == 0
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct TrustedProxies(Arc<[ProxyNetwork]>);

impl FromIterator<ProxyNetwork> for TrustedProxies {
    fn from_iter<I: IntoIterator<Item = ProxyNetwork>>(networks: I) -> Self {
        Self(networks.into_iter().collect())
    }
}

impl TrustedProxies {
    pub fn lists(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(address))
    }

    /// The address by which rules judge a request. `peer` is the other end of the connection.
    pub fn client(&self, peer: SocketAddr, headers: &HeaderMap) -> SocketAddr {
        let is_forwarded = headers.contains_key(header::FORWARDED) || headers.contains_key(X_FORWARDED_FOR);
        let is_listed = self.lists(peer.ip());
        let is_loopback = peer.ip().to_canonical().is_loopback();
        match (is_listed, is_forwarded) {
            (true, true) => match self.named_client(headers) {
                Some(client) if !client.is_loopback() => SocketAddr::new(client, 0),
                Some(_) | None => UNKNOWN_CLIENT,
            },
            // A proxy on this machine that adds no header, or one that the operator forgot to list.
            (true, false) | (false, true) if is_loopback => UNKNOWN_CLIENT,
            (true | false, true | false) => peer,
        }
    }

    /// A proxy sets one of the two headers and may pass the other one on as the client wrote it. So both have to agree.
    fn named_client(&self, headers: &HeaderMap) -> Option<IpAddr> {
        let forwarded = headers.contains_key(header::FORWARDED).then(|| {
            self.right_most(values(headers, header::FORWARDED.as_str()).map(|element| element.and_then(forwarded_for)))
        });
        let listed = headers
            .contains_key(X_FORWARDED_FOR)
            .then(|| self.right_most(values(headers, X_FORWARDED_FOR).map(|element| element.and_then(node_address))));
        match (forwarded, listed) {
            (Some(one), Some(other)) => one.filter(|_| one == other),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => None,
        }
    }

    /// If a listed proxy has every address, the client is the first of them: the proxy next to it says so.
    fn right_most(&self, addresses: impl DoubleEndedIterator<Item = Option<IpAddr>>) -> Option<IpAddr> {
        let mut last = None;
        for address in addresses.rev() {
            let address = address?;
            if !self.lists(address) {
                return Some(address);
            }
            last = Some(address);
        }
        last
    }
}

/// The elements of all lines of a header; `None` for one that is not text.
fn values<'h>(headers: &'h HeaderMap, name: &'h str) -> impl DoubleEndedIterator<Item = Option<&'h str>> {
    let lines = headers.get_all(name).iter().collect::<Vec<_>>();
    lines.into_iter().flat_map(|line| match line.to_str() {
        Ok(text) => text.split(',').map(|element| Some(element.trim())).collect::<Vec<_>>(),
        Err(_) => vec![None],
    })
}

/// `for=192.0.2.60;proto=https`, as in RFC 7239.
fn forwarded_for(element: &str) -> Option<IpAddr> {
    let mut named = element.split(';').filter_map(|pair| pair.split_once('='));
    let (_, node) = named.find(|(name, _)| name.trim().eq_ignore_ascii_case("for"))?;
    node_address(node.trim().trim_matches('"'))
}

/// An address, with or without a port; IPv6 with a port needs brackets.
fn node_address(node: &str) -> Option<IpAddr> {
    let bare = node.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(node);
    let address = bare.parse::<IpAddr>().ok().or_else(|| Some(node.parse::<SocketAddr>().ok()?.ip()))?;
    Some(address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROXY: &str = "10.1.2.3:40000";

    fn client(peer: &str, lines: &[(&'static str, &str)]) -> String {
        let proxies: TrustedProxies =
            ["10.0.0.0/8", "127.0.0.2", "fd00::/8"].map(|network| network.parse().unwrap()).into_iter().collect();
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().unwrap());
        }
        let found = proxies.client(peer.parse().unwrap(), &headers);
        if found == UNKNOWN_CLIENT { String::from("unknown") } else { found.ip().to_string() }
    }

    #[test]
    fn a_network_contains_the_addresses_with_its_prefix() {
        let network = |text: &str| text.parse::<ProxyNetwork>();
        let contains = |text: &str, address: &str| network(text).unwrap().contains(address.parse().unwrap());
        assert!(contains("192.0.2.7", "192.0.2.7") && !contains("192.0.2.7", "192.0.2.6"));
        assert!(contains("10.0.0.0/8", "10.255.0.1") && !contains("10.0.0.0/8", "11.0.0.1"));
        assert!(contains("10.0.0.0/8", "::ffff:10.0.0.1") && contains("::ffff:10.0.0.1", "10.0.0.1"));
        assert!(contains("fd00::/8", "fdab::1") && !contains("fd00::/8", "10.0.0.1"));
        assert!(contains("128.0.0.0/1", "200.0.0.1") && !contains("128.0.0.0/1", "100.0.0.1"));
        for wrong in ["", "proxy", "10.0.0.0/0", "10.0.0.0/33", "::/0", "fd00::/129", "10.0.0.0/8/8", "10.0.0.1:80"] {
            assert_eq!(network(wrong), Err(ProxyNetworkError), "{wrong}");
        }
    }

    #[test]
    fn a_listed_proxy_names_the_right_most_address_that_is_not_a_proxy() {
        for (value, expected) in [
            ("203.0.113.9", "203.0.113.9"),
            ("127.0.0.1, 203.0.113.9", "203.0.113.9"),
            ("198.51.100.1, 203.0.113.9, 10.7.7.7", "203.0.113.9"),
            ("203.0.113.9:5000", "203.0.113.9"),
            ("[2001:db8::1]:5000, fd00::9", "2001:db8::1"),
            ("2001:db8::1", "2001:db8::1"),
            ("::ffff:203.0.113.9", "203.0.113.9"),
            ("10.4.4.4, 10.7.7.7", "10.4.4.4"),
            ("203.0.113.9, 127.0.0.1", "unknown"),
            ("203.0.113.9, ::1", "unknown"),
            ("203.0.113.9, ::ffff:127.0.0.1", "unknown"),
            ("203.0.113.9, unknown", "unknown"),
            ("203.0.113.9,", "unknown"),
            ("", "unknown"),
        ] {
            assert_eq!(client(PROXY, &[("x-forwarded-for", value)]), expected, "{value}");
        }
        for (value, expected) in [
            ("for=203.0.113.9;proto=https;by=10.0.0.1", "203.0.113.9"),
            ("for=127.0.0.1, For=\"[2001:db8::1]:4711\"", "2001:db8::1"),
            ("proto=https; for=203.0.113.9", "203.0.113.9"),
            ("for=203.0.113.9, for=_hidden", "unknown"),
            ("for=203.0.113.9, proto=https", "unknown"),
        ] {
            assert_eq!(client(PROXY, &[("forwarded", value)]), expected, "{value}");
        }
        let two_lines = [("x-forwarded-for", "127.0.0.1"), ("x-forwarded-for", "203.0.113.9")];
        assert_eq!(client(PROXY, &two_lines), "203.0.113.9");
    }

    #[test]
    fn a_header_that_the_client_added_to_the_one_of_the_proxy_gains_it_nothing() {
        let both = |forwarded| [("x-forwarded-for", "203.0.113.9"), ("forwarded", forwarded)];
        assert_eq!(client(PROXY, &both("for=203.0.113.9")), "203.0.113.9");
        assert_eq!(client(PROXY, &both("for=198.51.100.1")), "unknown");
        assert_eq!(client(PROXY, &both("for=127.0.0.1")), "unknown");
        assert_eq!(client(PROXY, &both("nonsense")), "unknown");
    }

    #[test]
    fn an_address_that_is_not_listed_speaks_for_itself_only() {
        for value in ["127.0.0.1", "203.0.113.9", "10.0.0.1"] {
            assert_eq!(client("198.51.100.5:40000", &[("x-forwarded-for", value)]), "198.51.100.5", "{value}");
        }
        assert_eq!(client("127.0.0.1:40000", &[]), "127.0.0.1");
        assert_eq!(
            client("127.0.0.1:40000", &[("x-forwarded-for", "203.0.113.9")]),
            "unknown",
            "a proxy is not listed"
        );
        assert_eq!(client("127.0.0.2:40000", &[]), "unknown", "a listed proxy that names no client");
        assert_eq!(client(PROXY, &[]), "10.1.2.3");
    }
}
