//! `league show`: the pages of a league, read from its log, whether or not a manager runs it.

use std::sync::Arc;

use anyhow::{Context, Result};
use league_dashboard::{Archive, Dashboard, DashboardSettings};
use league_protocol::envelope::Envelope;
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{ConversationId, LeagueId};
use league_protocol::sender::{Role, Sender};
use league_protocol::table::Call;
use league_wire::agent::{Agent, CallAnswer, Health, IncomingCall};
use league_wire::environment::Environment;
use league_wire::pages::PageHandler;
use league_wire::server::serve;
use league_wire::settings::ServerSettings;

use crate::cli::Show;
use crate::listen::Bound;
use crate::open;
use crate::reachable::Reachable;
use crate::signals::shutdown_signal;

pub(crate) async fn run(options: &Show) -> Result<()> {
    let home = options.league.open()?;
    let league = open::find_league(&home, options.league.league_id.as_ref())?;
    let archive = Archive::of(home.log(&league), home, league.clone());
    let (dashboard, feed, showing) = Dashboard::open(archive, DashboardSettings::default())?;
    let bound = Bound::to(options.host, options.port, "the display")?;
    let Reachable { contact, others, names: allowed_hosts, .. } = Reachable::find(&bound, "http", &[]).await?;
    let pages = Some(Arc::new(dashboard.clone()) as Arc<dyn PageHandler>);
    let settings = ServerSettings { pages, allowed_hosts, ..ServerSettings::default() };
    let display = Arc::new(Display { league: league.clone(), environment: Environment::real() });
    let server = serve(bound.into_tokio()?, display, settings, std::future::pending());
    eprintln!("{league} is shown at {} until Ctrl-C.", contact.beside(""));
    if !others.is_empty() {
        let others: Vec<String> = others.iter().map(|endpoint| endpoint.beside("").to_string()).collect();
        eprintln!("It is also at {}", others.join(" "));
    }
    tokio::select! {
        served = server => served.context("the pages cannot be served"),
        () = showing => Ok(()),
        () = dashboard.follow(feed) => Ok(()),
        () = shutdown_signal() => Ok(()),
    }
}

/// Read-only pages: answers no calls.
struct Display {
    league: LeagueId,
    environment: Environment,
}

impl Agent for Display {
    type Call = Call;

    fn role(&self) -> Role {
        Role::Operator
    }

    fn envelope(&self, echo: Option<ConversationId>) -> Envelope {
        let conversation_id = echo.unwrap_or_else(|| ConversationId::named("conv-display"));
        Envelope { sender: Sender::manager(), timestamp: self.environment.now(), conversation_id, auth_token: None }
    }

    async fn call(&self, incoming: IncomingCall) -> Result<CallAnswer, RequestError> {
        let message = "this league is only looked at here; its manager is elsewhere";
        Err(RequestError::new(ErrorCode::E010, incoming.method, message))
    }

    fn health(&self) -> Health {
        Health {
            status: "ok",
            role: Role::Operator,
            id: None,
            league_id: Some(self.league.to_string()),
            state: String::from("showing"),
        }
    }
}
