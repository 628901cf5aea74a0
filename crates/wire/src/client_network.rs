//! The unit of rate limits: an IPv4 address, or an IPv6 network of 64 bits, because one owner usually has all of its addresses.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ClientNetwork(IpAddr);

const NETWORK: u128 = u128::MAX << 64;

impl ClientNetwork {
    pub fn of(peer: SocketAddr) -> Self {
        match peer.ip().to_canonical() {
            IpAddr::V6(address) if !address.is_loopback() => {
                Self(IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & NETWORK)))
            }
            address @ (IpAddr::V4(_) | IpAddr::V6(_)) => Self(address),
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
    fn a_network_is_an_ipv4_address_or_64_bits_of_an_ipv6_address() {
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
        assert!(["127.0.0.1:1", "127.8.0.1:1", "[::1]:1"].iter().all(|peer| network(peer).is_loopback()));
    }
}
