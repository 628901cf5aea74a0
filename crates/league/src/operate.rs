//! `league start`, `stop`, `reopen` and `withdraw`: the operator speaks to a running manager, and sees where the league stands then.

use anyhow::Result;
use league_protocol::id::PlayerId;
use league_protocol::message::operate::{LeagueCommand, StatusAnswer, WithdrawPlayer};
use league_protocol::table::Call;

use crate::ask::Asker;
use crate::cli::Operate;
use crate::show;

pub(crate) fn start(options: &Operate) -> Result<()> {
    run(options, &Call::StartLeague(LeagueCommand::default()))
}

pub(crate) fn stop(options: &Operate) -> Result<()> {
    run(options, &Call::StopLeague(LeagueCommand::default()))
}

pub(crate) fn reopen(options: &Operate) -> Result<()> {
    run(options, &Call::ReopenRegistration(LeagueCommand::default()))
}

pub(crate) fn withdraw(player_id: PlayerId, options: &Operate) -> Result<()> {
    run(options, &Call::WithdrawPlayer(WithdrawPlayer { league_id: None, player_id }))
}

fn run(options: &Operate, command: &Call) -> Result<()> {
    let status: StatusAnswer = Asker::new(&options.manager, &options.operator)?.ask(command)?;
    show::print(options.json, &status, || show::status_table(&status))
}
