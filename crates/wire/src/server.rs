//! Serves an agent, or the agents of many leagues, on a listener. Connections are bounded by number, requests by size and time, idle peers and shutdown by time.
//! A server stays in the runtime that started it, so there can be one per core.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::{Id, JoinError, JoinSet};
use tokio_rustls::TlsAcceptor;

use crate::agent::Agent;
use crate::client_network::ClientNetwork;
use crate::connection::{ServerContext, serve_connection};
use crate::connections::{AdmissionResult, Connections};
use crate::environment::Environment;
use crate::hosting::{LeagueDirectory, LeagueSites};
use crate::io_timeout::IoLimits;
use crate::net::Listener;
use crate::route::{AgentSite, Site};
use crate::settings::ServerSettings;

/// Accept fails mostly for lack of descriptors, which an immediate retry does not free.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// After `shutdown` resolves, running requests may finish within the grace. Fails only if the listener has no local address.
pub async fn serve<L: Listener, A: Agent>(
    listener: L,
    agent: Arc<A>,
    settings: ServerSettings,
    shutdown: impl Future<Output = ()> + Send,
) -> io::Result<()> {
    let site = AgentSite::new(agent, listener.local_addr()?, &settings);
    serve_site(listener, site, settings, shutdown).await
}

/// As [`serve`], for the leagues of `directory`. The pages of `settings` are those outside of the leagues.
pub async fn serve_leagues<L: Listener>(
    listener: L,
    directory: Arc<dyn LeagueDirectory>,
    settings: ServerSettings,
    environment: Environment,
    shutdown: impl Future<Output = ()> + Send,
) -> io::Result<()> {
    let site = LeagueSites::new(directory, environment, listener.local_addr()?, &settings);
    serve_site(listener, site, settings, shutdown).await
}

async fn serve_site<L: Listener, S: Site>(
    mut listener: L,
    site: S,
    settings: ServerSettings,
    shutdown: impl Future<Output = ()> + Send,
) -> io::Result<()> {
    let proxies = settings.trusted_proxies;
    let context = Arc::new(ServerContext {
        site,
        limits: IoLimits { read: settings.read_limit, idle: settings.idle_limit },
        tls: settings.tls.map(TlsAcceptor::from),
    });
    let mut connections = Connections::new(settings.max_connections, settings.max_from_one_address);
    let (close, closing) = watch::channel(());
    let mut tasks = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    loop {
        let full = match connections.room() {
            AdmissionResult::Free | AdmissionResult::After(_) => None,
            AdmissionResult::Full(until) => Some(until),
        };
        tokio::select! {
            biased;
            () = &mut shutdown => break,
            Some(ended) = tasks.join_next_with_id() => connections.remove(id_of(ended)),
            () = connections.freed(full.flatten()), if full.is_some() => {}
            arrival = listener.accept(), if full.is_none() => match arrival {
                Ok((stream, peer)) => {
                    let network = ClientNetwork::of(peer);
                    let is_proxy = proxies.lists(peer.ip());
                    let room = if is_proxy { connections.room() } else { connections.room_for(network) };
                    match room {
                        AdmissionResult::Free => {}
                        AdmissionResult::After(id) => connections.close(id),
                        AdmissionResult::Full(_) => {
                            tracing::debug!(%peer, "too many connections from this address");
                            continue;
                        }
                    }
                    let (context, closing, state) = (Arc::clone(&context), closing.clone(), connections.accepted());
                    let task = tasks.spawn(serve_connection(context, stream, peer, Arc::clone(&state), closing));
                    connections.insert(network, state, task);
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
        }
    }
    drop(listener);
    drop(close);
    let all_ended = async {
        while let Some(ended) = tasks.join_next_with_id().await {
            id_of(ended);
        }
    };
    if tokio::time::timeout(settings.grace, all_ended).await.is_err() {
        tracing::warn!(cut = tasks.len(), "connections outlasted the grace of the shutdown");
        tasks.shutdown().await;
    }
    Ok(())
}

fn id_of(ended: Result<(Id, ()), JoinError>) -> Id {
    match ended {
        Ok((id, ())) => id,
        Err(error) => {
            if error.is_panic() {
                tracing::error!(%error, "an agent panicked while it answered");
            }
            error.id()
        }
    }
}
