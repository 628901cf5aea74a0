//! `league export`: a league as SQL tables.

use anyhow::Result;
use league_store::export::export;

use crate::cli::Export;
use crate::open;

pub(crate) fn run(options: &Export) -> Result<()> {
    let home = options.league.open()?;
    let league = open::find_league(&home, options.league.league_id.as_ref())?;
    let head = export(&home.log(&league), &options.sqlite)?;
    eprintln!("{league}: {} events are in {}.", head.seq, options.sqlite.display());
    Ok(())
}
