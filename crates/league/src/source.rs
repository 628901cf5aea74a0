//! The source of what a command shows: the home of a league, or the manager that runs it. Both give the same pages.

use std::collections::HashMap;

use anyhow::{Context, Result, bail};
use league_core::season::Season;
use league_manager::page;
use league_protocol::id::{LeagueId, MatchId};
use league_protocol::message::league_view::{AgentEntry, AlertEntry, GetLeague, LeaguePage, LeagueView};
use league_protocol::message::query::{LeagueStatus, ScheduledRound};
use league_protocol::message::standings::StandingsRow;
use league_protocol::table::Call;
use league_store::home::Home;
use league_store::views::find_match::find_match;
use league_wire::endpoint::Endpoint;

use crate::ask::ManagerClient;
use crate::cli::{Operator, Which};
use crate::config::tls::TlsFiles;
use crate::open;
use crate::results::{self, Ended, Names};

pub(crate) enum Source {
    Home(Home, Box<Season>),
    Manager(Box<ManagerClient>, Option<LeagueId>),
}

impl Source {
    pub(crate) fn of(which: &Which) -> Result<Self> {
        if !which.manager.is_empty() {
            let client = Box::new(ManagerClient::new(&which.manager, &which.operator)?);
            return Ok(Self::Manager(client, which.league.league_id.clone()));
        }
        let home = which.league.open()?;
        let league = open::find_league(&home, which.league.league_id.as_ref())?;
        let season = open::read(&home, &league)?;
        Ok(Self::Home(home, Box::new(season)))
    }

    pub(crate) fn at(manager: &Endpoint, tls: &TlsFiles) -> Result<Self> {
        let operator = Operator { token: None, ca: tls.authority.clone() };
        Ok(Self::Manager(Box::new(ManagerClient::new(std::slice::from_ref(manager), &operator)?), None))
    }

    pub(crate) fn status(&self) -> Result<LeagueStatus> {
        self.page(LeagueView::Status, None, 0)?.status.context("the manager does not say where the league stands")
    }

    pub(crate) fn standings(&self) -> Result<Vec<StandingsRow>> {
        Ok(self.pages(LeagueView::Standings, None)?.into_iter().flat_map(|page| page.standings).collect())
    }

    pub(crate) fn rounds(&self) -> Result<Vec<ScheduledRound>> {
        let mut rounds: Vec<ScheduledRound> = Vec::new();
        for round in self.pages(LeagueView::Schedule, None)?.into_iter().flat_map(|page| page.rounds) {
            match rounds.last_mut() {
                Some(last) if last.round_id == round.round_id => last.matches.extend(round.matches),
                Some(_) | None => rounds.push(round),
            }
        }
        Ok(rounds)
    }

    pub(crate) fn agents(&self) -> Result<Vec<AgentEntry>> {
        Ok(self.pages(LeagueView::Agents, None)?.into_iter().flat_map(|page| page.agents).collect())
    }

    pub(crate) fn alerts(&self) -> Result<Vec<AlertEntry>> {
        Ok(self.pages(LeagueView::Alerts, None)?.into_iter().flat_map(|page| page.alerts).collect())
    }

    pub(crate) fn names(&self) -> Result<Names> {
        match self {
            Self::Home(_, season) => Ok(Names::of(
                season.players().iter().map(|player| (player.id.to_string(), player.profile.name.to_string())),
            )),
            Self::Manager(..) => {
                let rows = self.standings()?;
                Ok(Names::of(rows.into_iter().map(|row| (row.player_id.to_string(), row.display_name.to_string()))))
            }
        }
    }

    /// A manager's schedule names only the winners.
    pub(crate) fn results(&self) -> Result<HashMap<MatchId, Ended>> {
        match self {
            Self::Home(home, season) => results::read(home, season),
            Self::Manager(..) => Ok(HashMap::new()),
        }
    }

    pub(crate) fn one_match(&self, match_id: &MatchId) -> Result<String> {
        if let Self::Home(home, season) = self {
            let league = &season.config().league_id;
            let path = home.match_file(league, match_id);
            let read =
                find_match(home, league, match_id).with_context(|| format!("{} cannot be read", path.display()))?;
            return read.with_context(|| {
                format!("there is no file of {match_id} at {}; league matches lists what was played", path.display())
            });
        }
        Ok(self.pages(LeagueView::Match, Some(match_id))?.into_iter().filter_map(|page| page.text).collect())
    }

    fn pages(&self, view: LeagueView, of: Option<&MatchId>) -> Result<Vec<LeaguePage>> {
        let (mut pages, mut from) = (Vec::new(), 0);
        loop {
            let page = self.page(view, of, from)?;
            let next = page.next;
            pages.push(page);
            match next {
                None => return Ok(pages),
                Some(next) if next > from => from = next,
                Some(next) => bail!("the manager goes on at {next} after {from}, which would never end"),
            }
        }
    }

    fn page(&self, view: LeagueView, of: Option<&MatchId>, from: u64) -> Result<LeaguePage> {
        let mut query = GetLeague { league_id: None, view, match_id: of.cloned(), from };
        match self {
            Self::Home(_, season) => Ok(page::of_season(season, &query)),
            Self::Manager(client, league) => {
                query.league_id.clone_from(league);
                client.ask(&Call::GetLeague(query))
            }
        }
    }
}
