//! `league standings`, `schedule`, `matches`, `match`, `agents`, `status`: a league as its log tells it, running or not.

use anyhow::{Context, Result};
use league_core::season::Season;
use league_protocol::id::MatchId;
use league_store::home::Home;
use serde::Serialize;

use crate::cli::Which;
use crate::open;
use crate::{table, table::plain};

/// The league that is meant.
fn league(which: &Which) -> Result<(Home, Season)> {
    let home = Home::at(&which.home);
    let league = match &which.league_id {
        Some(league) => league.clone(),
        None => open::newest(&home)?,
    };
    let season = open::read(&home, &league)?;
    Ok((home, season))
}

/// Prints `data` for programs, or `table` for people.
fn print(which: &Which, data: &impl Serialize, table: impl FnOnce() -> String) -> Result<()> {
    if which.json {
        println!("{}", serde_json::to_string_pretty(data)?);
    } else {
        println!("{}", table());
    }
    Ok(())
}

pub(crate) fn standings(which: &Which) -> Result<()> {
    let (_, season) = league(which)?;
    let rows = season.standings();
    print(which, &rows, || table::standings(&rows).to_string())
}

pub(crate) fn schedule(which: &Which) -> Result<()> {
    let (_, season) = league(which)?;
    let rounds = season.scheduled_rounds();
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
    print(which, &rounds, || plain(["Round", "Match", "Players", "Status"], lines, &[0]).to_string())
}

pub(crate) fn matches(which: &Which) -> Result<()> {
    let (_, season) = league(which)?;
    let rounds = season.scheduled_rounds();
    let played: Vec<_> =
        rounds.into_iter().flat_map(|round| round.matches).filter(|game| game.status == "COMPLETED").collect();
    let lines = played.iter().map(|game| {
        let winner = game.winner.as_ref().map_or_else(|| String::from("draw"), ToString::to_string);
        [game.match_id.to_string(), format!("{} – {}", game.player_a_id, game.player_b_id), winner]
    });
    print(which, &played, || plain(["Match", "Players", "Winner"], lines, &[]).to_string())
}

/// Everything that was kept of one match: its file, as it is.
pub(crate) fn one_match(which: &Which, match_id: &MatchId) -> Result<()> {
    let (home, season) = league(which)?;
    let path = home.match_file(&season.config().league_id, match_id);
    let text = std::fs::read_to_string(&path).with_context(|| {
        format!("there is no file of {match_id} at {}; league matches lists what was played", path.display())
    })?;
    println!("{text}");
    Ok(())
}

/// An agent, without anything secret.
#[derive(Serialize)]
struct Shown {
    id: String,
    role: &'static str,
    name: String,
    version: String,
    endpoint: String,
    state: &'static str,
}

pub(crate) fn agents(which: &Which) -> Result<()> {
    let (_, season) = league(which)?;
    let players = season.players().iter().map(|player| Shown {
        id: player.id.to_string(),
        role: "player",
        name: player.profile.name.to_string(),
        version: player.profile.version.to_string(),
        endpoint: player.profile.endpoint.clone(),
        state: if season.is_suspended(player) { "SUSPENDED" } else { "ACTIVE" },
    });
    let referees = season.referees().iter().map(|referee| Shown {
        id: referee.id.to_string(),
        role: "referee",
        name: referee.profile.name.to_string(),
        version: referee.profile.version.to_string(),
        endpoint: referee.profile.endpoint.clone(),
        state: if referee.lost { "LOST" } else { "ACTIVE" },
    });
    let agents: Vec<Shown> = referees.chain(players).collect();
    let lines = agents.iter().map(|agent| {
        [agent.id.clone(), agent.role.into(), agent.name.clone(), agent.endpoint.clone(), agent.state.into()]
    });
    print(which, &agents, || plain(["Id", "Role", "Name", "Endpoint", "State"], lines, &[]).to_string())
}

pub(crate) fn status(which: &Which) -> Result<()> {
    let (_, season) = league(which)?;
    let status = season.status();
    print(which, &status, || {
        let round = status.current_round.map_or_else(|| String::from("–"), |round| round.to_string());
        let lines = [
            ["League".to_owned(), status.league_id.to_string()],
            ["State".to_owned(), status.state.to_string()],
            ["Round".to_owned(), format!("{round} of {}", status.total_rounds)],
            ["Matches".to_owned(), format!("{} of {}", status.matches_completed, status.total_matches)],
            ["Players".to_owned(), status.players.to_string()],
            ["Referees".to_owned(), status.referees.to_string()],
        ];
        plain(["", ""], lines, &[]).to_string()
    })
}
