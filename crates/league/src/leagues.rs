//! `league leagues`: the leagues of a home.

use anyhow::Result;
use league_core::season::LeaguePhase;
use league_protocol::id::LeagueId;
use league_protocol::message::query::LeagueStatus;
use league_protocol::time::Timestamp;
use serde::Serialize;

use crate::cli::Leagues;
use crate::table::plain;
use crate::{open, show};

#[derive(Serialize)]
struct Kept {
    league_id: LeagueId,
    last_written: Timestamp,
    status: Option<LeagueStatus>,
    champion: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

pub(crate) fn run(options: &Leagues) -> Result<()> {
    let home = options.store.home(&options.home)?;
    let leagues = open::leagues_of(&home)?.into_iter().map(|(league_id, written)| {
        let since = written.duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let last_written = Timestamp::from_unix(i64::try_from(since).unwrap_or(i64::MAX));
        let kept = Kept { league_id, last_written, status: None, champion: None, error: None };
        match open::read(&home, &kept.league_id) {
            Ok(season) => {
                let over = season.phase() == LeaguePhase::LeagueCompleted;
                let champion = season.champion().filter(|_| over);
                let champion = champion.map(|row| format!("{} ({})", row.display_name, row.player_id));
                Kept { status: Some(season.status()), champion, ..kept }
            }
            Err(error) => Kept { error: Some(format!("{error:#}")), ..kept },
        }
    });
    let leagues: Vec<Kept> = leagues.collect();
    if leagues.is_empty() && !options.json {
        eprintln!(
            "There is no league in {}; --home names another home, and league run plays one.",
            home.root().display()
        );
        return Ok(());
    }
    show::print(options.json, &leagues, || {
        let header = ["League", "State", "Players", "Matches", "Last written", "Winner"];
        plain(header, leagues.iter().map(line), &[2]).to_string()
    })
}

fn line(kept: &Kept) -> [String; 6] {
    let name = kept.status.as_ref().and_then(|status| status.display_name.as_ref());
    let league = name.map_or_else(|| kept.league_id.to_string(), |name| format!("{name} ({})", kept.league_id));
    let written = kept.last_written.to_string();
    let winner = kept.champion.clone().unwrap_or_default();
    match &kept.status {
        Some(status) => {
            let state = if status.halted { format!("{}, stopped", status.state) } else { status.state.to_string() };
            let matches = format!("{} of {}", status.matches_completed, status.total_matches);
            [league, state, status.players.to_string(), matches, written, winner]
        }
        None => {
            let state = String::from("cannot be read; league verify says why");
            [league, state, String::new(), String::new(), written, winner]
        }
    }
}
