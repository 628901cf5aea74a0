//! Serving an agent on a listener.
//!
//! Everything is bounded: connections by number, requests by size and time, idle peers by time, shutdown by its grace. A
//! server lives in the runtime that it was started in and spawns nothing elsewhere, so one per core is as good as one for
//! all of them.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::{Id, JoinError, JoinSet};
use tokio_rustls::TlsAcceptor;

use crate::agent::Agent;
use crate::client_network::ClientNetwork;
use crate::connection::{ServerContext, attend};
use crate::connections::{AdmissionResult, ConnectionState, Connections};
use crate::guard::Guard;
use crate::io_timeout::IoLimits;
use crate::net::Listener;
use crate::rate::KeyedLimiter;
use crate::route::AgentSite;
use crate::settings::ServerSettings;

/// The pause after the system had no connection to give: out of descriptors, mostly, which asking again does not mend.
const BREATH: Duration = Duration::from_millis(50);

/// Serves `agent` on `listener` until `shutdown` is over, then lets running requests finish within the grace.
///
/// Fails only when the listener does not know its own address.
pub async fn serve<L: Listener, A: Agent>(
    mut listener: L,
    agent: Arc<A>,
    settings: ServerSettings,
    shutdown: impl Future<Output = ()> + Send,
) -> io::Result<()> {
    let house = Arc::new(ServerContext {
        site: AgentSite {
            agent,
            guard: Guard::new(listener.local_addr()?, &settings),
            body_limit: settings.read_limit,
            pages: settings.pages,
            visits: KeyedLimiter::new(settings.visits),
        },
        limits: IoLimits { read: settings.read_limit, idle: settings.idle_limit },
        tls: settings.tls.map(TlsAcceptor::from),
    });
    let mut crowd = Connections::new(settings.max_connections, settings.max_from_one_address);
    let (close, closing) = watch::channel(());
    let mut connections = JoinSet::new();
    let mut shutdown = pin!(shutdown);
    loop {
        let room = crowd.room() != AdmissionResult::None;
        tokio::select! {
            biased;
            () = &mut shutdown => break,
            Some(ended) = connections.join_next_with_id() => crowd.left(gone(ended)),
            // Nobody tells when one of them has had its answer.
            () = tokio::time::sleep(BREATH), if !room => {}
            arrival = listener.accept(), if room => match arrival {
                Ok((stream, peer)) => {
                    let whence = ClientNetwork::of(peer);
                    match crowd.room_for(whence) {
                        AdmissionResult::Free => {}
                        AdmissionResult::After(guest) => crowd.dismiss(guest),
                        AdmissionResult::None => {
                            tracing::debug!(%peer, "turned away: too many connections from there");
                            continue;
                        }
                    }
                    let (house, closing, place) = (Arc::clone(&house), closing.clone(), ConnectionState::new());
                    let task = connections.spawn(attend(house, stream, peer, place.clone(), closing));
                    crowd.enter(whence, place, task);
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(BREATH).await;
                }
            },
        }
    }
    drop(listener);
    drop(close);
    let all_gone = async {
        while let Some(ended) = connections.join_next().await {
            note(ended);
        }
    };
    if tokio::time::timeout(settings.grace, all_gone).await.is_err() {
        tracing::warn!(cut = connections.len(), "connections outlasted the grace of the shutdown");
        connections.shutdown().await;
    }
    Ok(())
}

fn gone(ended: Result<(Id, ()), JoinError>) -> Id {
    match ended {
        Ok((id, ())) => id,
        Err(error) => {
            let id = error.id();
            note(Err(error));
            id
        }
    }
}

fn note(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(%error, "an agent panicked while it answered");
    }
}
