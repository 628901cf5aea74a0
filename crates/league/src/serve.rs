//! `league serve`: the managers of any number of leagues in one process, on one listener.
//!
//! - [`host`]: the leagues of this process, found in the store or created by the operator
//! - [`hosted`]: one league: follows its log, leads it, and follows again if another process has taken over
//! - [`new_league`]: the rules of a league that the operator wants
//!
//! Each league has its own lease, so several processes with one store share the leagues, and take over those of a process that ends.

mod host;
mod hosted;
mod new_league;

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use anyhow::Result;
use league_dashboard::index::Index;
use league_manager::generate_key;
use league_protocol::token::Credential;
use league_store::journal::JournalLevel;
use league_store::lock::Lock;
use league_wire::environment::Environment;
use league_wire::server::serve_leagues;
use league_wire::settings::ServerSettings;
use tokio::sync::oneshot;

use crate::agents::{GRACE, listen};
use crate::cli::ServeOptions;
use crate::config::Configured;
use crate::keys::strong;
use crate::logs;
use crate::open::FileWriters;
use crate::reachable::Reachable;
use crate::secure::Secure;
use crate::signals::shutdown_signal;
use host::{Host, HostPlace};

pub(crate) async fn run(options: &ServeOptions) -> Result<()> {
    let environment = Environment::real();
    let home = options.store.home(&options.home)?;
    let configured = Configured::read(&home, None, &options.place.tls)?;
    let secure = Secure::read(&configured.tls)?.behind(options.place.proxies(&configured.network));
    let secrets = &options.secrets;
    let operator = strong(secrets.operator_token.as_ref(), "--operator-token")?.map(Credential::digest);
    let referee_key = strong(secrets.referee_key.as_ref(), "--referee-key")?.cloned();
    let player_key = strong(secrets.player_key.as_ref(), "--player-key")?.cloned();
    home.prepare_for_agent()?;
    // Also before the first league there is one process per home.
    let mut lock = Lock::take(home.serve_lock(), environment.now())?;
    let bound = listen(&options.place, Some(configured.network.manager_port), "the server")?;
    let reachable = Reachable::find(&bound, secure.scheme(), &options.place.advertise).await?;
    lock.set_address(reachable.contact.to_string())?;
    let server = ServerSettings {
        page_rate: configured.rates.visits,
        allowed_hosts: reachable.names.clone(),
        grace: GRACE,
        ..secure.server()
    };
    let (site, is_shared, strikes) = (reachable.contact.beside(""), home.store().is_some(), configured.rates.strikes());
    let place = HostPlace {
        writers: FileWriters::start(&home, logs::limits(JournalLevel::Debug)?)?,
        client: secure.client(),
        server: server.clone(),
        bound: bound.address,
        relay_key: generate_key(&environment),
        operator: operator.clone(),
        referee_key,
        player_key,
        players_need_key: secrets.players_need_key,
        allow_host: options.allow_host.clone(),
        strikes: Arc::clone(&strikes),
        environment: environment.clone(),
        led: AtomicUsize::new(0),
        home,
        reachable,
        configured,
    };
    let host = Arc::new(Host::new(place));
    let index = Index { host: Arc::clone(&host) as _, token: operator, strikes };
    let settings = ServerSettings { pages: Some(Arc::new(index)), ..server };
    let (close, closed) = oneshot::channel::<()>();
    let shutdown = async move {
        // An error only means that the sender was dropped.
        drop(closed.await);
    };
    let serving = serve_leagues(bound.into_tokio()?, Arc::clone(&host) as _, settings, environment, shutdown);
    let mut serving = tokio::spawn(serving);
    eprintln!("The leagues are at {site}");
    eprintln!("Create one with: league create LEAGUE_ID --manager {site}");
    if !is_shared {
        eprintln!("The logs are in the home of this process. With --store, several processes share the leagues.");
    }
    tokio::select! {
        never = host.watch() => match never {},
        served = &mut serving => served??,
        () = shutdown_signal() => {
            host.stop().await;
            drop(close);
            serving.await??;
            eprintln!("Stopped. All results are kept; start it again and the leagues go on.");
        }
    }
    Ok(())
}
