//! `league start` and `league stop`: the operator speaks to a running manager, and sees where the league stands then.

use anyhow::Result;
use league_protocol::message::operate::{LeagueCommand, StatusAnswer};
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

fn run(options: &Operate, command: &Call) -> Result<()> {
    let status: StatusAnswer = Asker::new(&options.manager, &options.operator)?.ask(command)?;
    show::print(options.json, &status, || show::status_table(&status))
}
