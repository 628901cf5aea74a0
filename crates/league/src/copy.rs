//! `league copy`: the log of a league, from one store to another.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use league_protocol::id::LeagueId;
use league_store::home::Home;
use league_store::lock::Lock;
use league_store::log::lease::LeaseHolder;
use league_store::log::{EventLog, LogHead, MAX_LISTED_LEAGUES, PostgresStore, StoreUrl};
use league_wire::environment::Environment;

use crate::open;

const BATCH: usize = 1024;

/// Only the log is copied: the files of a home are views, which its manager or `league verify --repair` writes again. Transcripts
/// stay in the home that has them. No manager may serve the target meanwhile: it would lead a league of which a part is copied.
#[derive(Debug, Args)]
pub(crate) struct Copy {
    /// The home, or the URL of the PostgreSQL server, that has the league.
    from: StoreUrl,
    /// The home or the URL to copy it to. A copy that was interrupted is continued.
    to: StoreUrl,
    /// The league; all leagues of the source if not given.
    #[arg(long)]
    league_id: Option<LeagueId>,
}

pub(crate) fn run(options: &Copy) -> Result<()> {
    let (from, to) = (opened(&options.from)?, opened(&options.to)?);
    let leagues = match &options.league_id {
        Some(league) => vec![open::find_league(&from, Some(league))?],
        None => open::leagues_of(&from)?.into_iter().map(|(league, _)| league).collect(),
    };
    if leagues.is_empty() {
        bail!("there is no league in {}", options.from);
    }
    if options.league_id.is_none() && from.store().is_some() && leagues.len() >= MAX_LISTED_LEAGUES {
        bail!("{} has more leagues than can be listed; copy each with --league-id", options.from);
    }
    for league in leagues {
        let head = copy(&from, &to, &league).with_context(|| league.to_string())?;
        eprintln!(
            "{league}: {} events copied from {} to {}. The log ends at {head}.",
            head.seq, options.from, options.to
        );
    }
    Ok(())
}

/// With a server there is no home: nothing but the log is read or written.
fn opened(place: &StoreUrl) -> Result<Home> {
    Ok(match place.path() {
        Some(path) => Home::open(path)?,
        None => Home::at(PathBuf::new()).with_store(PostgresStore::open(place)?),
    })
}

fn copy(from: &Home, to: &Home, league: &LeagueId) -> Result<LogHead> {
    if let Some(store) = to.store() {
        let log = store.log(league);
        log.lead(&LeaseHolder::named(format!("league copy, process {}", std::process::id())))?;
        return transfer(&*from.log(league), &log);
    }
    to.prepare(league)?;
    let lock = Lock::take(to.lock(league), Environment::real().now())?;
    let (log, _) = to.writer(league, lock.identity()?)?;
    transfer(&*from.log(league), &*log)
}

/// Events that are there already must be those of the source. Copies at least the events that the source has at the beginning: a
/// manager may write to it meanwhile.
fn transfer(from: &dyn EventLog, to: &dyn EventLog) -> Result<LogHead> {
    let mut head = to.head()?;
    if !has(from, head)? {
        bail!("the target has another log of this league, which ends at event {}; nothing was copied", head.seq);
    }
    let goal = from.head()?.seq;
    while head.seq < goal {
        let entries = from.read(head.seq, BATCH)?;
        let Some(end) = entries.last().map(|(end, _)| *end) else {
            bail!("the source had {goal} events and has no event after {} now; copy again", head.seq);
        };
        head = to.append(head, entries.into_iter().map(|(_, event)| event).collect()).wait()?;
        if head != end {
            bail!("event {} of the copy has another hash than in the source", head.seq);
        }
    }
    let copied = to.head()?;
    if !has(from, copied)? {
        bail!("the copy ends at event {}, which is another one in the source; copy again", copied.seq);
    }
    Ok(copied)
}

/// Whether the log has this event, or `head` is the beginning.
fn has(log: &dyn EventLog, head: LogHead) -> Result<bool> {
    let Some(before) = head.seq.checked_sub(1) else { return Ok(true) };
    Ok(log.read(before, 1)?.first().is_some_and(|(found, _)| *found == head))
}
