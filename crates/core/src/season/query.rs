//! What may be asked of a season, and what others may know of it.

use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{MatchId, PlayerId, RefereeId, RoundId};
use league_protocol::message::query::{
    DirectoryEntry, Findings, LeagueQuery, LeagueQueryResponse, LeagueStatus, NextMatch, PlayerStats, QueryType,
    ScheduledMatch, ScheduledRound,
};
use league_protocol::message::round::{AnnouncedMatch, Champion, RoundSummary};
use league_protocol::message::standings::{PlayerRecord, StandingsRow};
use league_protocol::side::{Pair, Side};
use league_protocol::table::Method;
use smol_str::SmolStr;

use super::agent::{AgentId, RegisteredPlayer, RegisteredReferee};
use super::flow::LeaguePhase;
use super::standings::Standing;
use super::{MatchSlot, Season};
use crate::rules::outcome::Outcome;

const METHOD: Method = Method::LeagueQuery;

impl Season {
    /// Answers a query of `asker`.
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
                let player = self.asked_about(query, asker)?;
                data.next_match = self.next_match(player);
                if data.next_match.is_none() {
                    error = Some(match self.phase {
                        LeaguePhase::WaitingForRegistrations => String::from("the schedule is not made yet"),
                        LeaguePhase::CreatingSchedule | LeaguePhase::RunningLeague | LeaguePhase::LeagueCompleted => {
                            format!("no match is left for {player}")
                        }
                    });
                }
            }
            QueryType::GetPlayerStats => data.stats = Some(self.stats(self.asked_about(query, asker)?)?),
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

    /// The table, best first. Equal players share a rank and are listed by id, as are all players before the schedule is made.
    pub fn standings(&self) -> Vec<StandingsRow> {
        let mut places = self.table.places();
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
            withdrawn: player.withdrawn,
        })
    }

    /// A player's own record, as it is told with every call for a move.
    pub fn record_of(&self, player: &PlayerId) -> PlayerRecord {
        let row = self.player_index.get(player).map(|index| self.table.row(*index)).unwrap_or_default();
        PlayerRecord { wins: row.wins, losses: row.losses, draws: row.draws, points: row.points }
    }

    /// The leader; the champion, once the league is over. Whoever was withdrawn keeps its place in the table, and is neither.
    pub fn champion(&self) -> Option<Champion> {
        let first = self.standings().into_iter().find(|row| !row.withdrawn)?;
        Some(Champion { player_id: first.player_id, display_name: first.display_name, points: first.points })
    }

    /// How the matches of a round ended, as far as they have.
    pub fn summary(&self, round: RoundId) -> RoundSummary {
        let slots = self.rounds.get((round.0 as usize).wrapping_sub(1)).map_or(&[][..], |round| &round.slots);
        let mut summary = RoundSummary { total_matches: place(slots.len()), ..RoundSummary::default() };
        for slot in slots {
            let outcome = match slot {
                MatchSlot::Awarded { outcome } | MatchSlot::Done { outcome, .. } => outcome,
                MatchSlot::Waiting { .. } | MatchSlot::Held { .. } => continue,
            };
            match outcome {
                Outcome::Win(_) => summary.wins += 1,
                Outcome::Draw => summary.draws += 1,
                Outcome::Forfeit(_) | Outcome::DoubleForfeit => summary.technical_losses += 1,
            }
        }
        summary
    }

    pub fn status(&self) -> LeagueStatus {
        let total = self.schedule.total_matches();
        LeagueStatus {
            league_id: self.config.league_id.clone(),
            display_name: self.config.display_name.clone(),
            state: SmolStr::new_static(self.phase.as_str()),
            halted: self.halted,
            current_round: self.round_number(),
            total_rounds: self.schedule.rounds(),
            players: place(self.players.len()),
            referees: place(self.referees.len()),
            matches_completed: self.matches_completed,
            total_matches: u32::try_from(total).unwrap_or(u32::MAX),
        }
    }

    /// All rounds; none before the schedule is made.
    pub fn scheduled_rounds(&self) -> Vec<ScheduledRound> {
        (1..=self.schedule.rounds()).filter_map(|round| self.scheduled_round(RoundId(round))).collect()
    }

    pub fn scheduled_round(&self, round: RoundId) -> Option<ScheduledRound> {
        if round.0 == 0 || round.0 > self.schedule.rounds() {
            return None;
        }
        let begun = self.rounds.get(round.0 as usize - 1);
        let bye = self.schedule.bye(round.0).and_then(|index| self.players.get(index as usize));
        let matches = self.schedule.round(round.0).zip(1..).filter_map(|(pairing, number)| {
            let ids = self.ids(pairing)?;
            let match_id = MatchId::of(round, number);
            let slot = self.slot(&match_id);
            let (status, winner) = match slot {
                None | Some(MatchSlot::Waiting { .. }) => ("PENDING", None),
                Some(MatchSlot::Held { .. }) => ("IN_PROGRESS", None),
                Some(MatchSlot::Awarded { outcome } | MatchSlot::Done { outcome, .. }) => {
                    ("COMPLETED", outcome.winner().map(|side| ids[side].clone()))
                }
            };
            Some(ScheduledMatch {
                match_id,
                round_id: round,
                game_type: self.config.game_type.clone(),
                player_a_id: ids.a.clone(),
                player_b_id: ids.b.clone(),
                status: SmolStr::new_static(status),
                winner,
            })
        });
        Some(ScheduledRound {
            round_id: round,
            completed: begun.is_some_and(|round| round.completed),
            bye: bye.map(|player| player.id.clone()),
            matches: matches.collect(),
        })
    }

    /// The matches of a round as they are announced, with the players' endpoints where `to_referees`.
    ///
    /// A match that no referee has room for yet is announced with the one that would have it by turns; one that nobody will play
    /// is not announced.
    pub fn announced(&self, round: RoundId, to_referees: bool) -> Vec<AnnouncedMatch> {
        let announced = self
            .schedule
            .round(round.0)
            .zip(1..)
            .filter_map(|(pairing, number)| self.announce(MatchId::of(round, number), pairing, to_referees));
        announced.collect()
    }

    /// Whether every referee who may be given a match shows players its passes. One who does not weakens the whole round, since
    /// matches go from one referee to another.
    pub fn referees_show_passes(&self) -> bool {
        self.referees.iter().filter(|referee| !referee.lost).all(|referee| referee.profile.shows_passes)
    }

    /// The matches that a referee holds, with the players' endpoints.
    pub fn assigned(&self, referee: &RefereeId) -> Vec<AnnouncedMatch> {
        let held = self.assignments().into_iter().filter(|assignment| assignment.referee == *referee);
        let announced = held.filter_map(|assignment| {
            let (round, number) = assignment.match_id.parts()?;
            let pairing = self.schedule.pairing(round.0, number)?;
            let announced = self.announce(assignment.match_id, pairing, true)?;
            Some(AnnouncedMatch { round_id: Some(round), ..announced })
        });
        announced.collect()
    }

    fn announce(&self, match_id: MatchId, pairing: Pair<u32>, to_referees: bool) -> Option<AnnouncedMatch> {
        let referee = match self.slot(&match_id) {
            Some(MatchSlot::Held { referee, .. } | MatchSlot::Done { referee, .. }) => {
                self.referees.get(*referee as usize)
            }
            Some(MatchSlot::Waiting { .. }) | None if self.walkover(&match_id).is_none() => self.by_turns(&match_id),
            Some(MatchSlot::Waiting { .. } | MatchSlot::Awarded { .. }) | None => return None,
        };
        let player = |side: Side| self.players.get(pairing[side] as usize);
        let players = Pair::new(player(Side::A)?, player(Side::B)?);
        let endpoint = |player: &RegisteredPlayer| to_referees.then(|| player.profile.endpoint.clone());
        Some(AnnouncedMatch {
            match_id,
            round_id: None,
            game_type: Some(self.config.game_type.clone()),
            player_a_id: players.a.id.clone(),
            player_b_id: players.b.id.clone(),
            referee_endpoint: referee.map(|referee| referee.profile.endpoint.clone()),
            referee_id: referee.map(|referee| referee.id.clone()),
            player_a_endpoint: endpoint(players.a),
            player_b_endpoint: endpoint(players.b),
        })
    }

    fn by_turns(&self, match_id: &MatchId) -> Option<&RegisteredReferee> {
        let (_, number) = match_id.parts()?;
        let present = || self.referees.iter().filter(|referee| !referee.lost);
        present().nth((number as usize).checked_sub(1)?.checked_rem(present().count())?)
    }

    /// The player that a query is about: the one it names, or whoever asks.
    fn asked_about<'a>(&self, query: &'a LeagueQuery, asker: &'a AgentId) -> Result<&'a PlayerId, RequestError> {
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

    /// The first match of `player` that has no result yet and is to be played.
    pub fn next_match(&self, player: &PlayerId) -> Option<NextMatch> {
        let index = *self.player_index.get(player)?;
        let first = self.current_round().map_or(1, |round| round.0);
        (first..=self.schedule.rounds()).find_map(|round| {
            let opponent = self.schedule.opponent(round, index)?;
            let (_, number) = self.schedule.meeting(index, opponent)?;
            let match_id = MatchId::of(RoundId(round), number);
            let referee = match self.slot(&match_id) {
                Some(MatchSlot::Awarded { .. } | MatchSlot::Done { .. }) => return None,
                Some(MatchSlot::Held { referee, .. }) => self.referees.get(*referee as usize),
                Some(MatchSlot::Waiting { .. }) | None if self.walkover(&match_id).is_some() => return None,
                Some(MatchSlot::Waiting { .. }) | None => None,
            };
            Some(NextMatch {
                match_id,
                round_id: RoundId(round),
                opponent_id: self.players.get(opponent as usize)?.id.clone(),
                referee_endpoint: referee.map(|referee| referee.profile.endpoint.clone()),
                game_type: self.config.game_type.clone(),
            })
        })
    }

    fn stats(&self, player: &PlayerId) -> Result<PlayerStats, RequestError> {
        let missing =
            || RequestError::new(ErrorCode::E005, METHOD, format!("{player} is not registered in this league"));
        let standing = self.standings().into_iter().find(|row| row.player_id == *player).ok_or_else(missing)?;
        let (entry, index) = (self.player(player).ok_or_else(missing)?, self.player_index.get(player));
        let row = index.map(|index| self.table.row(*index)).unwrap_or_default();
        let matches = self.schedule.players().saturating_sub(1);
        Ok(PlayerStats {
            technical_losses: row.technical_losses,
            remaining: matches.saturating_sub(row.played),
            state: SmolStr::new_static(self.condition(entry).as_str()),
            standing,
        })
    }

    /// Where players listen is for referees: a player has no business with another player.
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

    fn ids(&self, pairing: Pair<u32>) -> Option<Pair<&PlayerId>> {
        let id = |index: u32| self.players.get(index as usize).map(|player| &player.id);
        Some(Pair::new(id(pairing.a)?, id(pairing.b)?))
    }
}

fn place(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
