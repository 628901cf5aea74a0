//! `--store`: where the logs of leagues are, if not in the home.

use std::path::Path;

use anyhow::Result;
use clap::Args;
use league_store::home::Home;
use league_store::log::{PostgresStore, StoreUrl};

use crate::cli::LeagueChoice;

#[derive(Debug, Args)]
pub(crate) struct StoreOption {
    /// Keep the log in PostgreSQL, like postgres://user@host:5432/database, which several machines can share; files stay in the home.
    #[arg(long, value_name = "URL", env = "LEAGUE_STORE", hide_env_values = true)]
    store: Option<StoreUrl>,
}

impl StoreOption {
    pub(crate) fn home(&self, root: &Path) -> Result<Home> {
        let home = Home::open(root)?;
        Ok(match &self.store {
            Some(url) => home.with_store(PostgresStore::open(url)?),
            None => home,
        })
    }
}

impl LeagueChoice {
    pub(crate) fn open(&self) -> Result<Home> {
        self.store.home(&self.home)
    }
}
