//! The unit of rate limits: an IPv4 address, an IPv6 network of 64 bits, because one owner usually has all of its addresses, or
//! this machine with all of its loopback addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ClientNetwork(IpAddr);

const NETWORK: u128 = u128::MAX << 64;

impl ClientNetwork {
    pub fn of(peer: SocketAddr) -> Self {
        match peer.ip().to_canonical() {
            address if address.is_loopback() => Self(IpAddr::V4(Ipv4Addr::LOCALHOST)),
            IpAddr::V6(address) => Self(IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & NETWORK))),
            address @ IpAddr::V4(_) => Self(address),
        }
    }

    /// Loopback, where a whole league may run.
    pub fn is_loopback(self) -> bool {
        self.0.is_loopback()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_is_an_ipv4_address_64_bits_of_an_ipv6_address_or_this_machine() {
        let network = |peer: &str| ClientNetwork::of(peer.parse().unwrap());
        for (first, second, same) in [
            ("192.0.2.7:1", "192.0.2.7:2", true),
            ("192.0.2.7:1", "[::ffff:192.0.2.7]:2", true),
            ("192.0.2.7:1", "192.0.2.8:1", false),
            ("[2001:db8::1]:1", "[2001:db8::ffff:ffff:ffff:ffff]:1", true),
            ("[2001:db8::1]:1", "[2001:db8:0:1::1]:1", false),
        ] {
            assert_eq!(network(first) == network(second), same, "{first} {second}");
            assert!(!network(first).is_loopback() && !network(second).is_loopback());
        }
        for peer in ["127.0.0.1:1", "127.8.0.1:2", "[::1]:3", "[::ffff:127.0.0.2]:4"] {
            assert_eq!(network(peer), network("127.0.0.1:9"), "all loopback addresses are one caller: {peer}");
            assert!(network(peer).is_loopback());
        }
    }
}
