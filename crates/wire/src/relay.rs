//! Sends the calls that reach a standby to the manager that leads.
//!
//! A client that knows several managers is told where the leader is. For every other client the standby forwards the call. It
//! shows a key that only the managers of the league know, so that the leader judges the call by the address of its client.

use std::fmt;
use std::net::SocketAddr;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use http_body_util::Full;
use league_protocol::token::{Credential, TokenDigest};
use serde_json::json;
use tokio::time::timeout;

use crate::client::Client;
use crate::endpoint::Endpoint;
use crate::guard::is_own_page;
use crate::manager_urls::MANAGERS;

/// The key of the league's managers, and the address of the client.
const RELAYED: HeaderName = HeaderName::from_static("league-relayed");
/// Longer than the leader keeps a poll open. A client that waits less hangs up.
const LIMIT: Duration = Duration::from_secs(30);
/// Beside those of MCP. Others describe one connection.
const REQUEST_HEADERS: [HeaderName; 3] = [header::AUTHORIZATION, header::ACCEPT, header::CONTENT_TYPE];
const ANSWER_HEADERS: [HeaderName; 3] = [header::CONTENT_TYPE, header::RETRY_AFTER, header::CACHE_CONTROL];

#[derive(Clone, Debug)]
pub struct Leader {
    pub endpoint: Endpoint,
    pub relay_key: Option<Credential>,
}

pub struct Relay {
    client: Client,
    leader: RwLock<Option<Leader>>,
}

impl fmt::Debug for Relay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Relay").field("leader", &self.leader().map(|leader| leader.endpoint)).finish_non_exhaustive()
    }
}

impl Relay {
    pub fn new(client: Client) -> Self {
        Self { client, leader: RwLock::default() }
    }

    pub fn set_leader(&self, leader: Option<Leader>) {
        *self.leader.write().unwrap_or_else(PoisonError::into_inner) = leader;
    }

    pub fn leader(&self) -> Option<Leader> {
        self.leader.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The call goes to the leader's endpoint, or `beside` it. `None` if it cannot be forwarded: then the standby answers itself.
    pub(crate) async fn answer(
        &self,
        beside: Option<&'static str>,
        headers: &HeaderMap,
        body: &Bytes,
        peer: SocketAddr,
    ) -> Option<Response<Full<Bytes>>> {
        let leader = self.leader();
        if headers.contains_key(MANAGERS) {
            return Some(redirect(leader.map(|leader| leader.endpoint).as_ref()));
        }
        let Leader { endpoint, relay_key } = leader?;
        // A call that was relayed before would go in circles. A page of another site must not pass for a program.
        if is_relayed(headers) || !is_own_page(headers) {
            return None;
        }
        let shown = HeaderValue::try_from(format!("{} {peer}", relay_key?.reveal())).ok();
        let mut relayed = chosen(headers, &REQUEST_HEADERS);
        relayed.insert(RELAYED, shown?);
        let target = beside.map_or_else(|| endpoint.clone(), |path| endpoint.beside(path));
        let asking = self.client.forward(&target, &relayed, body.clone());
        let (parts, body) = match timeout(LIMIT, asking).await {
            Ok(Ok(answered)) => answered,
            Ok(Err(error)) => {
                tracing::info!(%endpoint, ?error, "a call could not be forwarded to the leader");
                return None;
            }
            Err(_) => {
                tracing::info!(%endpoint, "the leader does not answer a forwarded call");
                return None;
            }
        };
        let mut response = Response::new(Full::new(body));
        *response.status_mut() = parts.status;
        *response.headers_mut() = chosen(&parts.headers, &ANSWER_HEADERS);
        Some(response)
    }
}

fn chosen(headers: &HeaderMap, names: &[HeaderName]) -> HeaderMap {
    let is_chosen = |name: &HeaderName| names.contains(name) || name.as_str().starts_with("mcp-");
    let known = headers.iter().filter(|(name, _)| is_chosen(name));
    known.map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn redirect(leader: Option<&Endpoint>) -> Response<Full<Bytes>> {
    let (status, message) = match leader {
        Some(leader) => {
            let message = format!("this manager is a standby; {leader} leads the league");
            (StatusCode::TEMPORARY_REDIRECT, message)
        }
        None => (StatusCode::SERVICE_UNAVAILABLE, String::from("this manager is a standby, and no manager leads now")),
    };
    let body = json!({ "error": message, "leader": leader.map(Endpoint::as_str) });
    let mut response = Response::new(Full::new(Bytes::from(body.to_string())));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(location) = leader.and_then(|leader| HeaderValue::from_str(&leader.uri().to_string()).ok()) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

pub(crate) fn is_relayed(headers: &HeaderMap) -> bool {
    headers.contains_key(RELAYED)
}

/// The client of a call that a standby forwarded. `None` without the right key.
pub(crate) fn client_of(headers: &HeaderMap, key: &TokenDigest) -> Option<SocketAddr> {
    let (shown, peer) = headers.get(RELAYED)?.to_str().ok()?.split_once(' ')?;
    if Credential::new(shown).opens(key) { peer.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_manager_of_the_league_names_the_client_of_a_call() {
        let (key, peer) = (Credential::new("key-of-the-managers"), "192.0.2.7:4000".parse().unwrap());
        let relayed = |text: &str| HeaderMap::from_iter([(RELAYED, text.parse().unwrap())]);
        assert_eq!(client_of(&relayed("key-of-the-managers 192.0.2.7:4000"), &key.digest()), Some(peer));
        for wrong in ["another-key 192.0.2.7:4000", "192.0.2.7:4000", " 192.0.2.7:4000", "key-of-the-managers nowhere"]
        {
            assert_eq!(client_of(&relayed(wrong), &key.digest()), None, "{wrong}");
        }
        assert_eq!(client_of(&HeaderMap::new(), &key.digest()), None);
    }
}
