//! `league standings`, `schedule`, `matches`, `match`, `agents`, `status`: read from the log, or from a running
//! manager.

use anyhow::{Context, Result};
use league_core::season::Season;
use league_protocol::id::{LeagueId, MatchId, PlayerId};
use league_protocol::message::query::LeagueStatus;
use league_store::home::Home;
use league_store::views::match_file::MatchFile;
use serde::Serialize;

use crate::cli::Which;
use crate::results;
use crate::source::Source;
use crate::{table, table::plain};

pub(crate) fn print(json: bool, data: &impl Serialize, table: impl FnOnce() -> String) -> Result<()> {
    if json {
        println!("{}", serde_json::to_string_pretty(data)?);
    } else {
        println!("{}", table());
    }
    Ok(())
}

/// The flags that name a league of a home.
pub(crate) fn flags(home: &Home, league: &LeagueId) -> String {
    let store = home.store().map(|store| format!(" --store {}", store.name())).unwrap_or_default();
    format!(" --home {}{store} --league-id {league}", home.root().display())
}

/// Prints the standings at the end of a league.
pub(crate) fn final_standings(json: bool, season: &Season, home: &Home) -> Result<()> {
    let rows = season.standings();
    print(json, &rows, || table::excerpt(&rows, &flags(home, &season.config().league_id)))
}

pub(crate) fn standings(which: &Which) -> Result<()> {
    let rows = Source::of(which)?.standings()?;
    print(which.json, &rows, || table::standings(&rows).to_string())
}

pub(crate) fn schedule(which: &Which) -> Result<()> {
    let source = Source::of(which)?;
    let rounds = source.rounds()?;
    if which.json {
        return print(true, &rounds, String::new);
    }
    let (names, results) = (source.names()?, source.results()?);
    let lines = rounds.iter().flat_map(|round| {
        let byes = round.bye.iter().chain(round.byes.iter().skip(1)).map(|player| {
            [
                round.round_id.to_string(),
                "bye".into(),
                names.of_id(player.as_str()),
                String::new(),
                String::new(),
                String::new(),
            ]
        });
        let matches = round.matches.iter().map(|game| {
            let [result, choices, number, _] = match game.status == "COMPLETED" {
                true => results::cells(game, results.get(&game.match_id), &names),
                false => {
                    let name = |id: &PlayerId| names.of_id(id.as_str());
                    let pairing = format!("{} – {}", name(&game.player_a_id), name(&game.player_b_id));
                    [pairing, String::new(), String::new(), String::new()]
                }
            };
            let (round, id) = (game.round_id.to_string(), game.match_id.to_string());
            [round, id, result, choices, number, game.status.to_string()]
        });
        matches.chain(byes)
    });
    let header = ["Round", "Match", "Players", "Choices", "Number", "Status"];
    print(false, &rounds, || plain(header, lines, &[0, 4]).to_string())
}

pub(crate) fn matches(which: &Which) -> Result<()> {
    let source = Source::of(which)?;
    let rounds = source.rounds()?;
    let played: Vec<_> =
        rounds.into_iter().flat_map(|round| round.matches).filter(|game| game.status == "COMPLETED").collect();
    if which.json {
        return print(true, &played, String::new);
    }
    let (names, results) = (source.names()?, source.results()?);
    let lines = played.iter().map(|game| {
        let [result, choices, number, why] = results::cells(game, results.get(&game.match_id), &names);
        [game.match_id.to_string(), result, choices, number, why]
    });
    print(false, &played, || plain(["Match", "Result", "Choices", "Number", "Why"], lines, &[3]).to_string())
}

pub(crate) fn one_match(which: &Which, match_id: &MatchId) -> Result<()> {
    let source = Source::of(which)?;
    let text = source.one_match(match_id)?;
    if which.json {
        println!("{text}");
        return Ok(());
    }
    let file: MatchFile = serde_json::from_str(&text).with_context(|| {
        format!("the file of {match_id} cannot be read; league match {match_id} --json shows it as it is")
    })?;
    println!("{}", results::describe(&file, &source.names()?));
    Ok(())
}

pub(crate) fn agents(which: &Which) -> Result<()> {
    let agents = Source::of(which)?.agents()?;
    let lines = agents.iter().map(|agent| {
        let form = agent.dialect.to_string();
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

pub(crate) fn alerts(which: &Which) -> Result<()> {
    let alerts = Source::of(which)?.alerts()?;
    let lines = alerts.iter().map(|alert| {
        let player = alert.player_id.as_ref().map(ToString::to_string).unwrap_or_default();
        let what = format!("{player} {}", alert.reason);
        let waits = if alert.waits { "waits for your decision" } else { "does not wait" };
        let (attempt, referee) = (alert.attempt.to_string(), alert.referee_id.to_string());
        [alert.match_id.to_string(), attempt, referee, what.trim().to_owned(), waits.to_owned()]
    });
    print(which.json, &alerts, || {
        if alerts.is_empty() {
            return String::from("There is no open alert.");
        }
        let table = plain(["Match", "Attempt", "Referee", "What happened", "Result"], lines, &[1]);
        format!(
            "{table}\nDecide with `league resolve MATCH uphold` (the referee is at fault) or `league resolve MATCH reject`."
        )
    })
}

pub(crate) fn status(which: &Which) -> Result<()> {
    let status = Source::of(which)?.status()?;
    print(which.json, &status, || status_table(&status))
}

pub(crate) fn status_table(status: &LeagueStatus) -> String {
    let stopped = if status.halted { ", stopped by the operator; league start goes on with it" } else { "" };
    let games = status.games_per_match.map(|games| ["Games per match".to_owned(), games.to_string()]);
    let lines = [
        ["State".to_owned(), format!("{}{stopped}", status.state)],
        ["Round".to_owned(), format!("{} of {}", status.current_round, status.total_rounds)],
        ["Matches".to_owned(), format!("{} of {}", status.matches_completed, status.total_matches)],
        ["Players".to_owned(), status.players.to_string()],
        ["Referees".to_owned(), status.referees.to_string()],
    ];
    let lines = lines.into_iter().chain(games);
    let label = match &status.display_name {
        Some(name) => format!("{name} ({})", status.league_id),
        None => status.league_id.to_string(),
    };
    plain(["League", &label], lines, &[]).to_string()
}
