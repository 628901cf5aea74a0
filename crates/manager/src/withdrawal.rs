//! Taking a player out, and telling it so.

use std::sync::Arc;
use std::time::Duration;

use league_core::season::Phase;
use league_protocol::error::Fault;
use league_protocol::id::PlayerId;

use crate::manager::Manager;
use crate::notices::{self, Listener};

impl Manager {
    /// Takes a player out of the league, and has it told. The answer comes when the first is durable and does not wait for the second:
    /// who is withdrawn may be somebody who does not answer.
    pub async fn withdraw(&self, player: PlayerId) -> Result<(), Fault> {
        let taken_out = self.shared.desk.act(move |season, now| {
            let ruling = season.withdraw(&player, now)?;
            // Who is in a running league may be in a match, which it is to finish; it hears of the end like everybody.
            let may_leave = season.phase() != Phase::RunningLeague;
            let reply = ruling.reply.map(|player| (player, may_leave));
            Ok(league_core::season::Ruling { events: ruling.events, reply })
        });
        let Some((player, may_leave)) = taken_out.await? else { return Ok(()) };
        let shared = Arc::clone(&self.shared);
        let listener = Listener::player(&player, &shared.league);
        let notices = notices::withdrawn(&shared.league, &player, may_leave);
        tokio::spawn(async move { shared.tell(vec![listener], notices, Duration::ZERO).await });
        Ok(())
    }
}
