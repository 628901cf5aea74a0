use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{MatchId, PlayerId, RefereeId, RoundId};
use league_protocol::message::query::{
    DirectoryEntry, Findings, LeagueQuery, LeagueQueryResponse, LeagueStatus, NextMatch, PlayerStats, QueryType,
};
use league_protocol::message::round::{AnnouncedMatch, Champion, RoundSummary};
use league_protocol::message::standings::{PlayerRecord, StandingsRow};
use league_protocol::table::Method;
use smol_str::SmolStr;

use super::agent::{AgentId, RegisteredPlayer, RegisteredReferee};
use super::apply::place;
use super::flow::LeaguePhase;
use super::standings::Standing;
use super::{Fixture, MatchSlot, Season};
use crate::rules::outcome::Outcome;

const METHOD: Method = Method::LeagueQuery;

impl Season {
    pub fn query(&self, query: &LeagueQuery, asker: &AgentId) -> Result<LeagueQueryResponse, RequestError> {
        if query.league_id.as_ref().is_some_and(|league| *league != self.config.league_id) {
            let message = format!("there is no such league here; this is {}", self.config.league_id);
            return Err(RequestError::new(ErrorCode::E008, METHOD, message).about("league_id"));
        }
        let mut data = Findings::default();
        let mut error = None;
        match query.query_type {
            QueryType::GetStandings => data.standings = Some(self.standings()),
            QueryType::GetSchedule => {
                data.schedule = Some(match query.query_params.round_id {
                    Some(round) => self.scheduled_round(round).into_iter().collect(),
                    None => self.scheduled_rounds(),
                });
            }
            QueryType::GetNextMatch => {
                let player = self.queried_player(query, asker)?;
                data.next_match = self.next_match(player);
                if data.next_match.is_none() {
                    error = Some(match self.phase {
                        LeaguePhase::WaitingForRegistrations => String::from("the schedule is not made yet"),
                        LeaguePhase::RunningLeague if self.may_play_later(player) => {
                            format!("the next match of {player} is decided when the next round begins")
                        }
                        LeaguePhase::CreatingSchedule | LeaguePhase::RunningLeague | LeaguePhase::LeagueCompleted => {
                            format!("no match is left for {player}")
                        }
                    });
                }
            }
            QueryType::GetPlayerStats => data.stats = Some(self.stats(self.queried_player(query, asker)?)?),
            QueryType::GetStatus => data.status = Some(self.status()),
            QueryType::GetPlayerDirectory => data.players = Some(self.player_directory(asker)),
            QueryType::GetRegistrations => {
                data.players = Some(self.player_directory(asker));
                data.referees = Some(self.referee_directory(asker));
            }
        }
        let (query_type, current_round) = (query.query_type, self.round_number());
        Ok(LeagueQueryResponse { query_type, success: error.is_none(), current_round, data, error })
    }

    /// Best first. Equal players share a rank and are listed by id, as are all players while the registration is open.
    pub fn standings(&self) -> Vec<StandingsRow> {
        let mut places = self.places();
        if places.len() != self.players.len() {
            places = (0..).take(self.players.len()).map(|player| Standing { player, rank: 1 }).collect();
            places.sort_by_key(|place| &self.players[place.player as usize].id);
        }
        places.into_iter().filter_map(|place| self.standing(place.player, place.rank)).collect()
    }

    fn standing(&self, index: u32, rank: u32) -> Option<StandingsRow> {
        let (player, row) = (self.players.get(index as usize)?, self.table.row(index));
        Some(StandingsRow {
            rank,
            player_id: player.id.clone(),
            display_name: player.profile.name.clone(),
            played: row.played,
            wins: row.wins,
            draws: row.draws,
            losses: row.losses,
            points: row.points,
            score: row.score,
            withdrawn: player.withdrawn,
        })
    }

    pub fn record_of(&self, player: &PlayerId) -> PlayerRecord {
        let row = self.place_of(player).map(|place| self.table.row(place)).unwrap_or_default();
        PlayerRecord { wins: row.wins, losses: row.losses, draws: row.draws, points: row.points }
    }

    /// The leader, or the champion once the league is over. A withdrawn player keeps its rank but is never champion.
    pub fn champion(&self) -> Option<Champion> {
        let first = self.standings().into_iter().find(|row| !row.withdrawn)?;
        Some(Champion { player_id: first.player_id, display_name: first.display_name, points: first.points })
    }

    pub fn summary(&self, round: RoundId) -> RoundSummary {
        let mut summary = RoundSummary::default();
        for outcome in self.round(round).into_iter().flat_map(|round| round.outcomes()) {
            summary.total_matches += 1;
            match outcome {
                Some(Outcome::Win(_)) => summary.wins += 1,
                Some(Outcome::Draw) => summary.draws += 1,
                Some(Outcome::Forfeit(_) | Outcome::DoubleForfeit) => summary.technical_losses += 1,
                None => {}
            }
        }
        summary
    }

    pub fn status(&self) -> LeagueStatus {
        LeagueStatus {
            league_id: self.config.league_id.clone(),
            display_name: self.config.display_name.clone(),
            state: SmolStr::new_static(self.phase.as_str()),
            halted: self.halted,
            current_round: self.round_number(),
            total_rounds: self.total_rounds(),
            players: place(self.players.len()),
            referees: place(self.referees.len()),
            matches_completed: self.matches_completed,
            total_matches: u32::try_from(self.total_matches()).unwrap_or(u32::MAX),
            games_per_match: Some(self.config.games_per_match.get()).filter(|games| *games > 1),
        }
    }

    /// The announced matches of a round; referees also get the players' endpoints.
    ///
    /// A match without a referee is announced with the one that would get it next. A match that will be awarded is not announced.
    pub fn announced(&self, round: RoundId, to_referees: bool) -> Vec<AnnouncedMatch> {
        let ids = (1..=self.summary(round).total_matches).map(|number| MatchId::of(round, number));
        ids.filter_map(|match_id| self.announce(match_id, to_referees)).collect()
    }

    /// Whether every referee that may get a match forwards passes.
    pub fn referees_show_passes(&self) -> bool {
        self.referees.iter().filter(|referee| !referee.is_absent()).all(|referee| referee.profile.shows_passes)
    }

    pub fn shows_passes(&self, referee: &RefereeId) -> bool {
        self.referee(referee).is_some_and(|referee| referee.profile.shows_passes)
    }

    /// Includes the players' endpoints.
    pub fn assigned(&self, referee: &RefereeId) -> Vec<AnnouncedMatch> {
        let held = self.assignments().into_iter().filter(|assignment| assignment.referee == *referee);
        let announced = held.filter_map(|assignment| {
            let (round, _) = assignment.match_id.parts()?;
            Some(AnnouncedMatch { round_id: Some(round), ..self.announce(assignment.match_id, true)? })
        });
        announced.collect()
    }

    fn announce(&self, match_id: MatchId, to_referees: bool) -> Option<AnnouncedMatch> {
        let (attempt, draw_commitment) = match self.slot(&match_id)? {
            MatchSlot::Held { attempt, draw: Some(draw), .. } => (Some(*attempt), Some(draw.commitment)),
            MatchSlot::Held { .. }
            | MatchSlot::Suspended { .. }
            | MatchSlot::Done { .. }
            | MatchSlot::Waiting { .. }
            | MatchSlot::Awarded { .. } => (None, None),
        };
        let referee = match self.slot(&match_id)? {
            MatchSlot::Held { referee, .. }
            | MatchSlot::Suspended { referee, .. }
            | MatchSlot::Done { referee, .. } => self.referees.get(*referee as usize),
            MatchSlot::Waiting { .. } if self.walkover(&match_id).is_none() => self.planned_referee(&match_id),
            MatchSlot::Waiting { .. } | MatchSlot::Awarded { .. } => return None,
        };
        let holds = matches!(self.slot(&match_id)?, MatchSlot::Held { .. } | MatchSlot::Done { .. });
        let lacks_passes = holds && referee.is_some_and(|referee| !referee.profile.shows_passes);
        let players = self.contestants(&match_id)?;
        let endpoint = |player: &RegisteredPlayer| to_referees.then(|| player.profile.endpoint.clone());
        Some(AnnouncedMatch {
            match_id,
            round_id: None,
            game_type: Some(self.config.game_type.clone()),
            player_a_id: players.a.id.clone(),
            player_b_id: players.b.id.clone(),
            referee_endpoint: referee.map(|referee| referee.profile.endpoint.clone()),
            referee_id: referee.map(|referee| referee.id.clone()),
            referee_shows_passes: (!self.referees_show_passes()).then_some(!lacks_passes),
            attempt,
            draw_commitment,
            player_a_endpoint: endpoint(players.a),
            player_b_endpoint: endpoint(players.b),
        })
    }

    fn planned_referee(&self, match_id: &MatchId) -> Option<&RegisteredReferee> {
        let (_, number) = match_id.parts()?;
        let present = || self.referees.iter().filter(|referee| !referee.is_absent());
        present().nth((number as usize).checked_sub(1)?.checked_rem(present().count())?)
    }

    fn queried_player<'a>(&self, query: &'a LeagueQuery, asker: &'a AgentId) -> Result<&'a PlayerId, RequestError> {
        let named = match (&query.query_params.player_id, asker) {
            (Some(player), _) => Some(player),
            (None, AgentId::Player(player)) => Some(player),
            (None, AgentId::Referee(_)) => None,
        };
        let player = named.ok_or_else(|| {
            RequestError::new(
                ErrorCode::E003,
                METHOD,
                "query_params.player_id is missing; send the player that is meant, like P01",
            )
            .about("query_params.player_id")
        })?;
        self.player(player).map(|_| player).ok_or_else(|| {
            let message = format!("{player} is not registered in this league; GET_REGISTRATIONS lists who is");
            RequestError::new(ErrorCode::E005, METHOD, message).about("query_params.player_id")
        })
    }

    pub fn next_match(&self, player: &PlayerId) -> Option<NextMatch> {
        let place = self.place_of(player)?;
        let first = self.round_number().0.max(1);
        (first..=self.total_rounds()).map(RoundId).find_map(|round| {
            let Fixture { match_id, opponent, .. } = self.fixture(place, round)?;
            let referee = match self.slot(&match_id) {
                Some(MatchSlot::Awarded { .. } | MatchSlot::Done { .. }) => return None,
                Some(MatchSlot::Held { referee, .. } | MatchSlot::Suspended { referee, .. }) => {
                    self.referees.get(*referee as usize)
                }
                Some(MatchSlot::Waiting { .. }) | None if self.walkover(&match_id).is_some() => return None,
                Some(MatchSlot::Waiting { .. }) | None => None,
            };
            Some(NextMatch {
                match_id,
                round_id: round,
                opponent_id: self.players.get(opponent as usize)?.id.clone(),
                referee_endpoint: referee.map(|referee| referee.profile.endpoint.clone()),
                game_type: self.config.game_type.clone(),
            })
        })
    }

    /// Whether a round that is not decided yet may have a match of the player.
    fn may_play_later(&self, player: &PlayerId) -> bool {
        let is_undecided = self.plan(RoundId(self.round_number().0 + 1)).is_none();
        let may_follow = self.config.format.max_rounds(self.entrants()).is_none_or(|most| self.round_number().0 < most);
        is_undecided && may_follow && self.player(player).is_some_and(|player| !player.withdrawn)
    }

    fn stats(&self, player: &PlayerId) -> Result<PlayerStats, RequestError> {
        let missing =
            || RequestError::new(ErrorCode::E005, METHOD, format!("{player} is not registered in this league"));
        let standing = self.standings().into_iter().find(|row| row.player_id == *player).ok_or_else(missing)?;
        let entry = self.player(player).ok_or_else(missing)?;
        let row = self.place_of(player).map(|place| self.table.row(place)).unwrap_or_default();
        // An average; exact in a round robin.
        let matches = (2 * self.total_matches()).checked_div(self.players.len() as u64).unwrap_or_default();
        Ok(PlayerStats {
            technical_losses: row.technical_losses,
            remaining: u32::try_from(matches).unwrap_or(u32::MAX).saturating_sub(row.played),
            state: SmolStr::new_static(self.condition(entry).as_str()),
            standing,
        })
    }

    /// Only referees see endpoints of players: players do not call each other.
    fn player_directory(&self, asker: &AgentId) -> Vec<DirectoryEntry> {
        let entry = |player: &RegisteredPlayer| DirectoryEntry {
            player_id: Some(player.id.clone()),
            referee_id: None,
            display_name: player.profile.name.clone(),
            endpoint: matches!(asker, AgentId::Referee(_)).then(|| player.profile.endpoint.clone()),
        };
        self.players.iter().map(entry).collect()
    }

    fn referee_directory(&self, asker: &AgentId) -> Vec<DirectoryEntry> {
        let entry = |referee: &RegisteredReferee| DirectoryEntry {
            player_id: None,
            referee_id: Some(referee.id.clone()),
            display_name: referee.profile.name.clone(),
            endpoint: matches!(asker, AgentId::Referee(_)).then(|| referee.profile.endpoint.clone()),
        };
        self.referees.iter().map(entry).collect()
    }
}
