//! Which endpoints a registrant may name: its own. A league must not become a relay that calls whomever it is told to.

use std::net::{IpAddr, SocketAddr};

use league_wire::endpoint::Endpoint;

/// Whether whoever calls from `peer` may be called at `endpoint`; where not, why. The league itself is at `here`.
pub(crate) fn check(
    endpoint: &Endpoint,
    peer: SocketAddr,
    here: Option<SocketAddr>,
    allowed: &[String],
) -> Result<(), String> {
    let host = endpoint.host();
    if here.is_some_and(|here| leads_to(endpoint, here)) {
        return Err(format!("{endpoint} is the manager's own; contact_endpoint is where you listen yourself"));
    }
    if allowed.iter().any(|name| name.eq_ignore_ascii_case(host)) {
        return Ok(());
    }
    let caller = peer.ip().to_canonical();
    let own = match host.parse::<IpAddr>() {
        Ok(address) => address.to_canonical() == caller || (address.is_loopback() && caller.is_loopback()),
        Err(_) => host.eq_ignore_ascii_case("localhost") && caller.is_loopback(),
    };
    if own {
        return Ok(());
    }
    Err(format!(
        "you call from {caller}, so contact_endpoint must be at that address and not at {host}; \
         the operator can allow other hosts"
    ))
}

/// Whether `endpoint` leads to the listener at `here`, as far as its text tells.
fn leads_to(endpoint: &Endpoint, here: SocketAddr) -> bool {
    let this_machine = match endpoint.host().parse::<IpAddr>() {
        Ok(address) => {
            let address = address.to_canonical();
            address.is_loopback() || address.is_unspecified() || address == here.ip().to_canonical()
        }
        Err(_) => endpoint.host().eq_ignore_ascii_case("localhost"),
    };
    this_machine && endpoint.port() == here.port()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(endpoint: &str, peer: &str, allowed: &[&str]) -> bool {
        let allowed: Vec<String> = allowed.iter().map(ToString::to_string).collect();
        check(&endpoint.parse().unwrap(), peer.parse().unwrap(), None, &allowed).is_ok()
    }

    #[test]
    fn the_league_does_not_call_itself() {
        let own = |endpoint: &str, here: &str| {
            let allowed = ["localhost".to_owned(), "192.0.2.2".to_owned()];
            let here = Some(here.parse().unwrap());
            check(&endpoint.parse().unwrap(), "127.0.0.1:5000".parse().unwrap(), here, &allowed).is_err()
        };
        for host in ["localhost", "127.0.0.1", "127.1.2.3", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"] {
            assert!(own(&format!("http://{host}:8000/mcp"), "127.0.0.1:8000"), "{host}");
        }
        assert!(own("http://192.0.2.2:8000/", "192.0.2.2:8000"));
        assert!(!own("http://localhost:8001/mcp", "127.0.0.1:8000"));
    }

    #[test]
    fn an_agent_may_name_its_own_address() {
        assert!(verdict("http://localhost:8101/mcp", "127.0.0.1:5000", &[]));
        assert!(verdict("http://127.0.0.2:8101/mcp", "127.0.0.1:5000", &[]));
        assert!(verdict("http://10.0.0.7:8101/mcp", "10.0.0.7:5000", &[]));
        assert!(verdict("http://10.0.0.7:8101/mcp", "[::ffff:10.0.0.7]:5000", &[]));
    }

    #[test]
    fn and_nobody_elses() {
        for (endpoint, peer) in [
            ("http://169.254.169.254/latest", "10.0.0.7:5000"),
            ("http://localhost:8000/mcp", "10.0.0.7:5000"),
            ("http://127.0.0.1:8000/mcp", "10.0.0.7:5000"),
            ("http://10.0.0.8:8101/mcp", "10.0.0.7:5000"),
            ("http://somewhere:8101/mcp", "10.0.0.7:5000"),
            ("http://somewhere:8101/mcp", "127.0.0.1:5000"),
        ] {
            assert!(!verdict(endpoint, peer, &[]), "{endpoint} from {peer}");
        }
        assert!(verdict("http://somewhere:8101/mcp", "10.0.0.7:5000", &["Somewhere"]));
    }
}
