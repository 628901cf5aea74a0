//! The addresses and names by which other machines reach this one.
//! A server on `0.0.0.0` or `::` listens on every address of its machine and must advertise one of them.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use crate::endpoint::{BadEndpoint, Endpoint};
use crate::net::addresses;

/// A documentation address (RFC 5737): no machine has it, so its route is the default route.
const ELSEWHERE: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 51, 100, 1));
/// Without a name server the resolver would wait much longer.
const LOOKUP_LIMIT: Duration = Duration::from_secs(2);

/// Includes loopback. Queried each time, because a laptop changes its network.
pub fn own_addresses() -> Vec<IpAddr> {
    match if_addrs::get_if_addrs() {
        Ok(interfaces) => interfaces.iter().map(if_addrs::Interface::ip).collect(),
        Err(error) => {
            tracing::warn!(%error, "the addresses of this machine cannot be listed");
            Vec::new()
        }
    }
}

/// The most likely address comes first.
pub fn lan_addresses(listens: IpAddr) -> Vec<IpAddr> {
    if !listens.is_unspecified() {
        return if listens.is_loopback() { Vec::new() } else { vec![listens] };
    }
    let usual = local_address(SocketAddr::new(ELSEWHERE, 80));
    let mut found = own_addresses();
    found.retain(|address| listens_on(listens, *address) && !address.is_loopback() && !needs_zone(*address));
    found.sort_by_key(|address| (Some(*address) != usual, is_link_local_v4(*address), address.is_ipv6()));
    found.dedup();
    found
}

/// The endpoint that an agent at `listener` registers. An agent on every address uses the one from which it reaches `manager`,
/// or a LAN address if the manager is on this machine.
pub async fn advertised(listener: SocketAddr, scheme: &str, manager: &Endpoint) -> Result<Endpoint, BadEndpoint> {
    let address = if listener.ip().is_unspecified() {
        let towards = address_towards(manager, listener.ip()).await.filter(|address| !address.is_loopback());
        let here = if listener.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { std::net::Ipv6Addr::LOCALHOST.into() };
        towards.or_else(|| lan_addresses(listener.ip()).first().copied()).unwrap_or(here)
    } else {
        listener.ip()
    };
    endpoint_at(scheme, address, listener.port())
}

pub fn endpoint_at(scheme: &str, address: IpAddr, port: u16) -> Result<Endpoint, BadEndpoint> {
    format!("{scheme}://{}/mcp", SocketAddr::new(address, port)).parse()
}

/// Considers only addresses of an IP version that `listens` includes.
async fn address_towards(peer: &Endpoint, listens: IpAddr) -> Option<IpAddr> {
    let found = tokio::time::timeout(LOOKUP_LIMIT, addresses(peer.host(), peer.port())).await.ok()?.ok()?;
    found.into_iter().filter(|address| listens_on(listens, address.ip())).find_map(local_address)
}

/// The host name and that name in `.local`, each with its addresses.
pub async fn own_names() -> Vec<(String, Vec<IpAddr>)> {
    let Ok(host) = gethostname::gethostname().into_string() else { return Vec::new() };
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let short = host.split('.').next().unwrap_or_default();
    // A name with other characters is not valid in a URL.
    let is_plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    if short.is_empty() || short == "localhost" || !is_plain(&host) {
        return Vec::new();
    }
    let mut names = vec![host.clone(), short.to_owned(), format!("{short}.local")];
    names.dedup();
    let own = own_addresses();
    let lookups = names.into_iter().map(|name| {
        let own = own.clone();
        tokio::spawn(async move {
            let found =
                tokio::time::timeout(LOOKUP_LIMIT, tokio::net::lookup_host((name.as_str(), 0))).await.ok()?.ok()?;
            let mut found: Vec<IpAddr> = found.map(|address| address.ip().to_canonical()).collect();
            found.retain(|address| own.contains(address) || address.is_loopback());
            (!found.is_empty()).then_some((name, found))
        })
    });
    let mut known = Vec::new();
    for lookup in lookups.collect::<Vec<_>>() {
        known.extend(lookup.await.ok().flatten());
    }
    known
}

/// Connecting a UDP socket looks up the route and sends nothing.
fn local_address(peer: SocketAddr) -> Option<IpAddr> {
    let any: SocketAddr =
        if peer.is_ipv4() { (Ipv4Addr::UNSPECIFIED, 0).into() } else { (std::net::Ipv6Addr::UNSPECIFIED, 0).into() };
    let socket = UdpSocket::bind(any).ok()?;
    socket.connect(peer).ok()?;
    Some(socket.local_addr().ok()?.ip().to_canonical()).filter(|address| !address.is_unspecified())
}

/// `listens` is the unspecified address of its IP version; `::` includes IPv4.
fn listens_on(listens: IpAddr, address: IpAddr) -> bool {
    listens.is_ipv6() || address.is_ipv4()
}

/// A link-local address needs the name of an interface.
fn needs_zone(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if address.is_unicast_link_local())
}

fn is_link_local_v4(address: IpAddr) -> bool {
    matches!(address, IpAddr::V4(address) if address.is_link_local())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL_V4: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

    #[test]
    fn lan_addresses_exclude_loopback() {
        assert!(own_addresses().contains(&Ipv4Addr::LOCALHOST.into()));
        assert!(lan_addresses(ALL_V4).iter().all(|address| address.is_ipv4() && !address.is_loopback()));
        assert!(lan_addresses(Ipv4Addr::LOCALHOST.into()).is_empty());
        let one: IpAddr = "192.168.1.10".parse().unwrap();
        assert_eq!(lan_addresses(one), [one], "a server at one address is reached there");
    }

    #[tokio::test]
    async fn an_agent_advertises_the_address_that_it_listens_on() {
        let manager = "http://127.0.0.1:8000/mcp".parse().unwrap();
        for (listener, endpoint) in
            [("10.0.0.7:8101", "http://10.0.0.7:8101/mcp"), ("[fd00::7]:8101", "http://[fd00::7]:8101/mcp")]
        {
            let found = advertised(listener.parse().unwrap(), "http", &manager).await.unwrap();
            assert_eq!(found.to_string(), endpoint);
        }
    }

    #[tokio::test]
    async fn an_agent_on_every_address_advertises_a_lan_address() {
        for manager in ["http://127.0.0.1:8000/mcp", "http://localhost:8000/mcp", "http://nowhere.invalid:8000/mcp"] {
            let found = advertised("0.0.0.0:8101".parse().unwrap(), "http", &manager.parse().unwrap()).await.unwrap();
            let expected = lan_addresses(ALL_V4).first().map_or_else(|| String::from("127.0.0.1"), ToString::to_string);
            assert_eq!((found.host(), found.port()), (expected.as_str(), 8101), "{manager}");
        }
    }

    #[tokio::test]
    async fn every_name_of_this_machine_resolves_to_it() {
        for (name, addresses) in own_names().await {
            assert!(
                addresses.iter().all(|address| address.is_loopback() || own_addresses().contains(address)),
                "{name}"
            );
        }
    }
}
