//! An agent may register only its own endpoint. Otherwise it could make the manager call any host.

use std::net::{IpAddr, SocketAddr};

use league_core::season::identity::AgentIdentity;
use league_protocol::sender::Role;
use league_wire::endpoint::Endpoint;
use league_wire::trusted_proxies::UNKNOWN_CLIENT;
use smol_str::SmolStr;

#[derive(Clone, Copy)]
pub(crate) struct EndpointPolicy<'a> {
    pub(crate) here: Option<SocketAddr>,
    pub(crate) own_addresses: fn() -> Vec<IpAddr>,
    pub(crate) allowed: &'a [String],
}

impl EndpointPolicy<'_> {
    pub(crate) fn check(&self, endpoint: &Endpoint, peer: SocketAddr, role: Role) -> Result<(), String> {
        let host = endpoint.host();
        if self.leads_here(endpoint) {
            return Err(format!(
                "{endpoint} is the manager's own; contact_endpoint is where the {role} itself listens. \
                 Start the {role} with another --port"
            ));
        }
        if self.allowed.iter().any(|name| name.eq_ignore_ascii_case(host)) {
            return Ok(());
        }
        let caller = peer.ip().to_canonical();
        let named = host.parse::<IpAddr>().ok().map(|address| address.to_canonical());
        let own = match named {
            Some(_) | None if caller == UNKNOWN_CLIENT.ip() => false,
            Some(address) if address == caller => true,
            Some(address) if address.is_loopback() => self.is_this_machine(caller),
            Some(address) => self.is_this_machine(caller) && (self.own_addresses)().contains(&address),
            None => host.eq_ignore_ascii_case("localhost") && self.is_this_machine(caller),
        };
        if own { Ok(()) } else { Err(refusal(endpoint, named, caller, role)) }
    }

    /// The endpoint is on loopback, but the league is open to other machines.
    pub(crate) fn is_out_of_reach(&self, endpoint: &Endpoint) -> bool {
        let host = endpoint.host();
        let by_loopback = host.eq_ignore_ascii_case("localhost")
            || host.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback());
        by_loopback && self.here.is_some_and(|here| !here.ip().is_loopback())
    }

    /// The other addresses of this machine at which an agent at `endpoint` can be reached; empty for another machine.
    pub(crate) fn aliases(&self, endpoint: &Endpoint) -> Vec<SmolStr> {
        let address = endpoint.host().parse::<IpAddr>().map(|address| address.to_canonical());
        let is_here = match address {
            Ok(address) => self.is_this_machine(address),
            Err(_) => endpoint.host().eq_ignore_ascii_case("localhost"),
        };
        let own = if is_here { (self.own_addresses)() } else { Vec::new() };
        let at = |address: IpAddr| {
            let place = SocketAddr::new(address, endpoint.port());
            AgentIdentity::address(&format!("http://{place}{}", endpoint.path()))
        };
        own.into_iter().map(at).collect()
    }

    fn is_this_machine(&self, address: IpAddr) -> bool {
        address.is_loopback() || (self.own_addresses)().contains(&address)
    }

    /// Decided from the text of the endpoint, without a DNS lookup.
    fn leads_here(&self, endpoint: &Endpoint) -> bool {
        let Some(here) = self.here.filter(|here| here.port() == endpoint.port()) else { return false };
        match endpoint.host().parse::<IpAddr>().map(|address| address.to_canonical()) {
            Ok(address) if address.is_loopback() || address.is_unspecified() => true,
            Ok(address) => address == here.ip().to_canonical() || (self.own_addresses)().contains(&address),
            Err(_) => endpoint.host().eq_ignore_ascii_case("localhost"),
        }
    }
}

fn refusal(endpoint: &Endpoint, named: Option<IpAddr>, caller: IpAddr, role: Role) -> String {
    let host = endpoint.host();
    let scheme = if endpoint.is_secure() { "https" } else { "http" };
    let place = SocketAddr::new(caller, endpoint.port());
    let better = format!("{scheme}://{place}{}", endpoint.path());
    // Allowing `localhost` would allow the manager's own machine.
    let leads_away = !host.eq_ignore_ascii_case("localhost")
        && named.is_none_or(|address| !address.is_loopback() && !address.is_unspecified());
    let allow = if leads_away {
        format!("; or the operator starts the manager with --allow-host {host}")
    } else {
        String::new()
    };
    if caller == UNKNOWN_CLIENT.ip() {
        return format!(
            "the proxy in front of the manager does not say from which address you call, so {host} may not be registered{allow}"
        );
    }
    format!(
        "you call from {caller}, so contact_endpoint must be at that address and not at {host}. \
         Start your {role} with --host {caller} or with --advertise {better}{allow}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy<'a>(here: Option<&str>, allowed: &'a [String]) -> EndpointPolicy<'a> {
        let own_addresses =
            || ["127.0.0.1", "192.168.1.10", "fd00::10"].map(|address| address.parse().unwrap()).to_vec();
        EndpointPolicy { here: here.map(|here| here.parse().unwrap()), own_addresses, allowed }
    }

    fn check(endpoint: &str, peer: &str) -> Result<(), String> {
        policy(None, &[]).check(&endpoint.parse().unwrap(), peer.parse().unwrap(), Role::Player)
    }

    fn may_name(endpoint: &str, peer: &str) -> bool {
        check(endpoint, peer).is_ok()
    }

    #[test]
    fn no_agent_may_register_the_managers_own_address() {
        let own = |endpoint: &str, here: &str| {
            let allowed = ["localhost".to_owned(), "192.0.2.2".to_owned()];
            let caller = "127.0.0.1:5000".parse().unwrap();
            policy(Some(here), &allowed).check(&endpoint.parse().unwrap(), caller, Role::Player).is_err()
        };
        for host in ["localhost", "127.0.0.1", "127.1.2.3", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"] {
            assert!(own(&format!("http://{host}:8000/mcp"), "127.0.0.1:8000"), "{host}");
        }
        assert!(own("http://192.0.2.2:8000/", "192.0.2.2:8000"));
        assert!(own("http://192.168.1.10:8000/mcp", "127.0.0.1:8000"), "another address of this machine");
        assert!(!own("http://localhost:8001/mcp", "127.0.0.1:8000"));
        for host in ["192.168.1.10", "[fd00::10]", "[::ffff:192.168.1.10]", "localhost"] {
            assert!(own(&format!("http://{host}:8000/mcp"), "0.0.0.0:8000"), "{host}: it listens at all addresses");
            assert!(!own(&format!("http://{host}:8101/mcp"), "0.0.0.0:8000"), "{host}: another port");
        }
    }

    #[test]
    fn an_agent_on_the_managers_machine_may_name_any_address_of_it() {
        for peer in ["127.0.0.1:5000", "[::1]:5000", "192.168.1.10:5000", "[::ffff:192.168.1.10]:5000"] {
            for host in ["localhost", "127.0.0.1", "127.0.0.2", "[::1]", "192.168.1.10", "[fd00::10]"] {
                assert!(may_name(&format!("http://{host}:8101/mcp"), peer), "{host} from {peer}");
            }
            assert!(!may_name("http://192.168.1.11:8101/mcp", peer), "another machine, from {peer}");
        }
        assert!(may_name("http://10.0.0.7:8101/mcp", "[::ffff:10.0.0.7]:5000"), "its own address, as IPv6");
    }

    #[test]
    fn loopback_is_out_of_reach_in_a_league_of_several_machines() {
        let out_of_reach =
            |endpoint: &str, here: &str| policy(Some(here), &[]).is_out_of_reach(&endpoint.parse().unwrap());
        for endpoint in ["http://localhost:8101/mcp", "http://127.0.0.1:8101/mcp", "http://[::1]:8101/mcp"] {
            assert!(out_of_reach(endpoint, "0.0.0.0:8000") && out_of_reach(endpoint, "192.168.1.10:8000"));
            assert!(!out_of_reach(endpoint, "127.0.0.1:8000"));
        }
        assert!(!out_of_reach("http://192.168.1.10:8101/mcp", "0.0.0.0:8000"));
    }

    #[test]
    fn a_refused_endpoint_says_which_flag_to_set_on_which_machine() {
        let error = check("http://localhost:8101/mcp", "10.99.0.2:5000").unwrap_err();
        assert_eq!(
            error,
            "you call from 10.99.0.2, so contact_endpoint must be at that address and not at localhost. \
             Start your player with --host 10.99.0.2 or with --advertise http://10.99.0.2:8101/mcp"
        );
        let error = check("https://player.example:8101/play", "[fd00::2]:5000").unwrap_err();
        assert!(error.contains("--advertise https://[fd00::2]:8101/play"), "{error}");
        assert!(error.ends_with("or the operator starts the manager with --allow-host player.example"), "{error}");
    }

    #[test]
    fn a_client_whose_address_is_not_known_may_register_only_what_the_operator_allowed() {
        let peer = UNKNOWN_CLIENT.to_string();
        for host in ["0.0.0.0", "127.0.0.1", "localhost", "192.168.1.10", "192.0.2.7", "player.example"] {
            let error = check(&format!("http://{host}:8101/mcp"), &peer).unwrap_err();
            assert!(error.starts_with("the proxy in front of the manager does not say"), "{error}");
        }
        let allowed = ["player.example".to_owned()];
        let endpoint = "http://player.example:8101/mcp".parse().unwrap();
        assert!(policy(None, &allowed).check(&endpoint, UNKNOWN_CLIENT, Role::Player).is_ok());
    }
}
