//! `league standings`, `schedule`, `matches`, `match`, `agents`, `status`: a league as its log or its manager tells it,
//! running or not.

use anyhow::Result;
use league_protocol::id::MatchId;
use league_protocol::message::query::LeagueStatus;
use serde::Serialize;

use crate::cli::Which;
use crate::source::Source;
use crate::{table, table::plain};

/// Prints `data` for programs, or `table` for people.
pub(crate) fn print(json: bool, data: &impl Serialize, table: impl FnOnce() -> String) -> Result<()> {
    if json {
        println!("{}", serde_json::to_string_pretty(data)?);
    } else {
        println!("{}", table());
    }
    Ok(())
}

pub(crate) fn standings(which: &Which) -> Result<()> {
    let rows = Source::of(which)?.standings()?;
    print(which.json, &rows, || table::standings(&rows).to_string())
}

pub(crate) fn schedule(which: &Which) -> Result<()> {
    let rounds = Source::of(which)?.rounds()?;
    let lines = rounds.iter().flat_map(|round| {
        let bye = round
            .bye
            .as_ref()
            .map(|player| [round.round_id.to_string(), "bye".into(), player.to_string(), String::new()]);
        let matches = round.matches.iter().map(|game| {
            let pairing = format!("{} – {}", game.player_a_id, game.player_b_id);
            [game.round_id.to_string(), game.match_id.to_string(), pairing, game.status.to_string()]
        });
        matches.chain(bye)
    });
    print(which.json, &rounds, || plain(["Round", "Match", "Players", "Status"], lines, &[0]).to_string())
}

pub(crate) fn matches(which: &Which) -> Result<()> {
    let rounds = Source::of(which)?.rounds()?;
    let played: Vec<_> =
        rounds.into_iter().flat_map(|round| round.matches).filter(|game| game.status == "COMPLETED").collect();
    let lines = played.iter().map(|game| {
        let winner = game.winner.as_ref().map_or_else(|| String::from("draw"), ToString::to_string);
        [game.match_id.to_string(), format!("{} – {}", game.player_a_id, game.player_b_id), winner]
    });
    print(which.json, &played, || plain(["Match", "Players", "Winner"], lines, &[]).to_string())
}

/// Everything that was kept of one match: its file, as it is.
pub(crate) fn one_match(which: &Which, match_id: &MatchId) -> Result<()> {
    println!("{}", Source::of(which)?.one_match(match_id)?);
    Ok(())
}

pub(crate) fn agents(which: &Which) -> Result<()> {
    let agents = Source::of(which)?.agents()?;
    let lines = agents.iter().map(|agent| {
        let form = agent.manner.to_string();
        [&agent.id, &agent.role, &agent.name, agent.endpoint.as_str(), &agent.state, &form].map(str::to_owned)
    });
    print(which.json, &agents, || {
        let table = plain(["Id", "Role", "Name", "Endpoint", "State", "Form"], lines, &[]);
        let quirks = agents
            .iter()
            .flat_map(|agent| agent.quirks.iter().map(|quirk| format!("\n{}: {quirk}; {}", agent.id, quirk.advice())));
        format!("{table}{}", quirks.collect::<String>())
    })
}

pub(crate) fn status(which: &Which) -> Result<()> {
    let status = Source::of(which)?.status()?;
    print(which.json, &status, || status_table(&status))
}

/// Where a league stands.
pub(crate) fn status_table(status: &LeagueStatus) -> String {
    let stopped = if status.halted { ", stopped by the operator; league start goes on with it" } else { "" };
    let lines = [
        ["State".to_owned(), format!("{}{stopped}", status.state)],
        ["Round".to_owned(), format!("{} of {}", status.current_round, status.total_rounds)],
        ["Matches".to_owned(), format!("{} of {}", status.matches_completed, status.total_matches)],
        ["Players".to_owned(), status.players.to_string()],
        ["Referees".to_owned(), status.referees.to_string()],
    ];
    plain(["League", status.league_id.as_str()], lines, &[]).to_string()
}
