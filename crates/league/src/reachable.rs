//! The addresses and names by which other machines reach a server.

use std::net::IpAddr;

use anyhow::Result;
use league_wire::endpoint::Endpoint;
use league_wire::lan;

use crate::listen::Bound;

#[derive(Debug)]
pub(crate) struct Reachable {
    pub(crate) contact: Endpoint,
    /// Further endpoints of the same server: on other networks of this machine, and by its names.
    pub(crate) others: Vec<Endpoint>,
    pub(crate) here: Option<Endpoint>,
    pub(crate) names: Vec<String>,
    /// The server listens for other machines, but this machine is in no network.
    pub(crate) is_cut_off: bool,
}

impl Reachable {
    /// Advertised endpoints are not checked. The first one is the contact.
    pub(crate) async fn find(bound: &Bound, scheme: &str, advertised: &[Endpoint]) -> Result<Self> {
        let (listens, port) = (bound.address.ip(), bound.address.port());
        let by_loopback = listens.is_unspecified() || listens.is_loopback();
        let here = if by_loopback { Some(bound.endpoint(scheme)?) } else { None };
        if let Some((contact, others)) = advertised.split_first() {
            let names = advertised.iter().map(|named| named.host().to_owned()).collect();
            return Ok(Self { contact: contact.clone(), others: others.to_vec(), here, names, is_cut_off: false });
        }
        let addresses = lan::lan_addresses(listens);
        if addresses.is_empty() {
            let (contact, is_cut_off) = (bound.endpoint(scheme)?, listens.is_unspecified());
            let names = vec![contact.host().to_owned()];
            return Ok(Self { contact, others: Vec::new(), here, names, is_cut_off });
        }
        let known = lan::own_names().await;
        let mut endpoints = Vec::new();
        for address in &addresses {
            endpoints.push(lan::endpoint_at(scheme, *address, port)?);
        }
        // A name that resolves to loopback here may resolve to another machine elsewhere.
        let leads_here = |found: &[IpAddr]| found.iter().any(|address| addresses.contains(address));
        for (name, _) in known.iter().filter(|(_, found)| leads_here(found)) {
            endpoints.push(format!("{scheme}://{name}:{port}/mcp").parse()?);
        }
        let contact = endpoints.remove(0);
        let names = known.into_iter().map(|(name, _)| name).collect();
        Ok(Self { contact, others: endpoints, here, names, is_cut_off: false })
    }

    /// The same server, for the league at `path`.
    pub(crate) fn at_league(&self, path: &str) -> Self {
        let at = |endpoint: &Endpoint| endpoint.beside(&format!("{}mcp", path.trim_start_matches('/')));
        Self {
            contact: at(&self.contact),
            others: self.others.iter().map(at).collect(),
            here: self.here.as_ref().map(at),
            names: self.names.clone(),
            is_cut_off: self.is_cut_off,
        }
    }

    pub(crate) fn is_local(&self) -> bool {
        let host = self.contact.host();
        host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }
}
