//! `league start`, `stop`, `reopen`, `withdraw`, `resolve`, `forget-dialect` and `keys`: calls to a running manager.

use anyhow::{Context, Result, bail};
use league_protocol::id::{MatchId, PlayerId, RefereeId};
use league_protocol::message::league_view::AgentEntry;
use league_protocol::message::operate::{
    DisputeDecision, ForgetDialect, KeyRole, LeagueCommand, ResolveDispute, RotateKey, RotatedKey, StatusAnswer,
    WithdrawPlayer, WithdrawReferee,
};
use league_protocol::table::Call;
use smol_str::SmolStr;

use crate::ask::ManagerClient;
use crate::cli::Operate;
use crate::show;
use crate::source::Source;

const LISTED: usize = 40;

pub(crate) fn run(options: &Operate, command: fn(LeagueCommand) -> Call) -> Result<()> {
    send(options, &command(LeagueCommand::default()))
}

pub(crate) fn withdraw(agent: &str, options: &Operate) -> Result<()> {
    // A player may have such a name, but then it has an id as well.
    let referee = agent.to_ascii_uppercase().parse::<RefereeId>().ok().filter(|id| id.number().is_some());
    if let Some(referee_id) = referee {
        send(options, &Call::WithdrawReferee(WithdrawReferee { league_id: None, referee_id: referee_id.clone() }))?;
        eprintln!("{referee_id} is withdrawn. Other referees play its open matches.");
        return Ok(());
    }
    let (player_id, name) = registered(agent, options)?;
    send(options, &Call::WithdrawPlayer(WithdrawPlayer { league_id: None, player_id: player_id.clone() }))?;
    eprintln!("{name} ({player_id}) is withdrawn. Its results stand; its other matches are lost to it.");
    Ok(())
}

pub(crate) fn resolve(match_id: &MatchId, decision: DisputeDecision, options: &Operate) -> Result<()> {
    let command = ResolveDispute { league_id: None, match_id: match_id.clone(), decision };
    send(options, &Call::ResolveDispute(command))?;
    let effect = match decision {
        DisputeDecision::Uphold => "the referee is at fault. If the match waited, another one plays it.",
        DisputeDecision::Reject => "the referee is not at fault. If the match waited, it goes on.",
    };
    eprintln!("{match_id}: {effect}");
    Ok(())
}

pub(crate) fn forget_dialect(player: &str, options: &Operate) -> Result<()> {
    let (player_id, name) = registered(player, options)?;
    send(options, &Call::ForgetDialect(ForgetDialect { league_id: None, player_id: player_id.clone() }))?;
    eprintln!("What was learned about {name} ({player_id}) is forgotten. The next calls to it are canonical.");
    Ok(())
}

fn registered(player: &str, options: &Operate) -> Result<(PlayerId, SmolStr)> {
    let client = ManagerClient::new(&options.manager, &options.operator)?;
    let agents = Source::Manager(Box::new(client), None).agents()?;
    let players: Vec<AgentEntry> = agents.into_iter().filter(|agent| agent.role == "player").collect();
    find(player, &players)
}

pub(crate) fn rotate_key(role: KeyRole, options: &Operate) -> Result<()> {
    let rotated: RotatedKey =
        ManagerClient::new(&options.manager, &options.operator)?.ask(&Call::RotateKey(RotateKey { role }))?;
    if options.json {
        println!("{}", serde_json::to_string_pretty(&rotated)?);
    } else {
        println!("{}", rotated.key.reveal());
        eprintln!("New {role}s show this key with --join-key. It is shown now and kept nowhere.");
    }
    Ok(())
}

fn find(player: &str, players: &[AgentEntry]) -> Result<(PlayerId, SmolStr)> {
    let same = |text: &str| text.eq_ignore_ascii_case(player);
    let by_id = players.iter().find(|agent| same(&agent.id));
    let by_name: Vec<&AgentEntry> = players.iter().filter(|agent| same(&agent.name)).collect();
    let found = match (by_id, &*by_name) {
        (Some(found), _) => found,
        (None, [found]) => *found,
        (None, []) => {
            // The player may have been withdrawn: the manager decides.
            if let Some(id) = player.parse::<PlayerId>().ok().filter(|id| id.number().is_some()) {
                return Ok((id, SmolStr::new(player)));
            }
            bail!("{player} is not registered; the players are {}", list(players.iter()))
        }
        (None, [..]) => {
            bail!("several players are called {player}: {}; say which by its id", list(by_name.into_iter()))
        }
    };
    let id = found.id.parse().with_context(|| format!("the manager calls {} {:?}", found.name, found.id))?;
    Ok((id, found.name.clone()))
}

fn list<'a>(agents: impl Iterator<Item = &'a AgentEntry>) -> String {
    agents.take(LISTED).map(|agent| format!("{} ({})", agent.id, agent.name)).collect::<Vec<_>>().join(", ")
}

fn send(options: &Operate, command: &Call) -> Result<()> {
    let status: StatusAnswer = ManagerClient::new(&options.manager, &options.operator)?.ask(command)?;
    show::print(options.json, &status, || show::status_table(&status))
}
