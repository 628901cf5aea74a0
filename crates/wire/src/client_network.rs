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
    pub fn is_here(self) -> bool {
        self.0.is_loopback()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client_network(peer: &str) -> ClientNetwork {
        ClientNetwork::of(peer.parse().unwrap())
    }

    #[test]
    fn ports_do_not_matter_and_addresses_do() {
        assert_eq!(client_network("192.0.2.7:1"), client_network("192.0.2.7:2"));
        assert_eq!(client_network("192.0.2.7:1"), client_network("[::ffff:192.0.2.7]:2"));
        assert_ne!(client_network("192.0.2.7:1"), client_network("192.0.2.8:1"));
    }

    #[test]
    fn a_network_of_version_six_is_one_caller() {
        assert_eq!(client_network("[2001:db8::1]:1"), client_network("[2001:db8::ffff:ffff:ffff:ffff]:1"));
        assert_ne!(client_network("[2001:db8::1]:1"), client_network("[2001:db8:0:1::1]:1"));
    }

    #[test]
    fn all_loopback_addresses_are_one_caller() {
        for address in ["127.0.0.1:1", "127.8.0.1:2", "[::1]:3", "[::ffff:127.0.0.2]:4"] {
            assert_eq!(client_network(address), client_network("127.0.0.1:9"), "{address}");
            assert!(client_network(address).is_here(), "{address}");
        }
        assert!(!client_network("192.0.2.7:1").is_here() && !client_network("[2001:db8::1]:1").is_here());
    }
}
