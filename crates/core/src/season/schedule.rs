//! Started rounds come from their events, later rounds from the format's plan.

use std::borrow::Cow;

use league_protocol::draw::DrawSecret;
use league_protocol::id::{MatchId, PlayerId, RoundId};
use league_protocol::message::query::{ScheduledMatch, ScheduledRound};
use league_protocol::side::{Pair, Side};
use smol_str::SmolStr;

use super::agent::RegisteredPlayer;
use super::apply::place;
use super::flow::LeaguePhase;
use super::format::{BracketTie, FormatState, Pairing, RoundPlan};
use super::lots::Lot;
use super::standings::Standing;
use super::{MatchSlot, PENDING, Season};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fixture {
    pub match_id: MatchId,
    pub side: Side,
    /// Index in the list of players.
    pub opponent: u32,
}

impl Season {
    /// A round that has not started is known only if no result can change the format's plan.
    pub fn plan(&self, round: RoundId) -> Option<Cow<'_, RoundPlan>> {
        if let Some(started) = self.round(round) {
            return Some(Cow::Borrowed(&started.plan));
        }
        let is_planned = self.phase != LeaguePhase::WaitingForRegistrations;
        self.config.format.planned_round(self.entrants(), round.0).filter(|_| is_planned).map(Cow::Owned)
    }

    /// The players that were there when the first round started, or all before that.
    pub(super) fn entrants(&self) -> u32 {
        place(self.rounds.first().map_or(self.players.len(), |first| first.numbers.len()))
    }

    pub(super) fn format_state(&self) -> FormatState<'_> {
        FormatState {
            players: &self.players,
            entrants: self.entrants(),
            table: &self.table,
            rounds: &self.rounds,
            lots: &self.lots,
        }
    }

    pub(super) fn next_plan(&self) -> Option<RoundPlan> {
        self.config.format.next_round(&self.format_state())
    }

    /// The lot that this secret gives at this point of the league.
    pub(super) fn lot(&self, secret: &DrawSecret) -> Lot {
        Lot::new(secret, &self.config.league_id, self.round_number(), &self.players, &self.lot_results)
    }

    /// New players may register.
    pub fn takes_players(&self) -> bool {
        self.phase == LeaguePhase::WaitingForRegistrations || self.takes_late_players()
    }

    /// Players may still register, and play from the next round on.
    pub(super) fn takes_late_players(&self) -> bool {
        let is_running = self.phase == LeaguePhase::RunningLeague;
        is_running && self.config.format.takes_late_players() && self.round_number().0 < self.total_rounds()
    }

    /// The most rounds of the league, or the started ones if the format does not know. 0 while the registration is open.
    pub fn total_rounds(&self) -> u32 {
        let started = place(self.rounds.len());
        match self.phase {
            LeaguePhase::WaitingForRegistrations => 0,
            LeaguePhase::LeagueCompleted => started,
            LeaguePhase::CreatingSchedule | LeaguePhase::RunningLeague => {
                self.config.format.max_rounds(self.entrants()).unwrap_or(started)
            }
        }
    }

    /// The most matches of the league, or those of started rounds if the format does not know.
    pub fn total_matches(&self) -> u64 {
        let planned = || self.config.format.planned_round(self.entrants(), 1);
        match self.phase {
            LeaguePhase::WaitingForRegistrations => 0,
            LeaguePhase::CreatingSchedule | LeaguePhase::RunningLeague if planned().is_some() => {
                self.config.format.max_matches(self.entrants()).unwrap_or_default()
            }
            LeaguePhase::CreatingSchedule | LeaguePhase::RunningLeague | LeaguePhase::LeagueCompleted => {
                let started: u64 = self.rounds.iter().map(|round| round.slots.len() as u64).sum();
                let present = self.players.iter().filter(|player| !player.withdrawn).count() as u64;
                started + u64::from(self.total_rounds() - place(self.rounds.len())) * (present / 2)
            }
        }
    }

    fn completed_state(&self) -> FormatState<'_> {
        let completed = self.rounds.iter().take_while(|round| round.completed).count();
        FormatState { rounds: &self.rounds[..completed], ..self.format_state() }
    }

    /// The stages of a knockout by the completed rounds; `None` in other formats and while the registration is open.
    pub fn bracket(&self) -> Option<Vec<Vec<BracketTie>>> {
        let is_made = self.phase != LeaguePhase::WaitingForRegistrations;
        self.config.format.bracket(&self.completed_state()).filter(|_| is_made)
    }

    /// Players without a match in this round.
    pub fn byes(&self, round: RoundId) -> Vec<&RegisteredPlayer> {
        let plan = self.plan(round).unwrap_or_default();
        plan.byes.iter().filter_map(|place| self.players.get(*place as usize)).collect()
    }

    /// As the schedule names them: the first one, and all if they are several.
    pub fn named_byes(&self, round: RoundId) -> (Option<PlayerId>, Vec<PlayerId>) {
        let byes: Vec<PlayerId> = self.byes(round).into_iter().map(|player| player.id.clone()).collect();
        (byes.first().cloned(), if byes.len() > 1 { byes } else { Vec::new() })
    }

    /// The points that a bye gave the player in this round.
    pub fn bye_points(&self, place: u32, round: RoundId) -> Option<u32> {
        let round = self.round(round).filter(|round| round.completed && self.config.format.scores_byes())?;
        round.plan.byes.contains(&place).then_some(self.config.scoring.win_points)
    }

    /// Best first. Empty while the registration is open.
    pub fn places(&self) -> Vec<Standing> {
        match self.config.format.stages_won(&self.completed_state()) {
            Some(won) => self.table.places_by_stages(&won),
            None => self.table.places(),
        }
    }

    pub fn place_of(&self, player: &PlayerId) -> Option<u32> {
        self.player_index.get(player).copied()
    }

    pub fn pairing(&self, match_id: &MatchId) -> Option<Pairing> {
        let (round, number) = match_id.parts()?;
        self.plan(round)?.pairings.get((number as usize).checked_sub(1)?).copied()
    }

    pub fn contestants(&self, match_id: &MatchId) -> Option<Pair<&RegisteredPlayer>> {
        self.players_of(self.pairing(match_id)?)
    }

    pub(super) fn players_of(&self, pairing: Pairing) -> Option<Pair<&RegisteredPlayer>> {
        let player = |side: Side| self.players.get(pairing[side] as usize);
        Some(Pair::new(player(Side::A)?, player(Side::B)?))
    }

    pub fn fixture(&self, place: u32, round: RoundId) -> Option<Fixture> {
        let plan = self.plan(round)?;
        let number = match self.round(round) {
            Some(started) => started.numbers.get(place as usize).copied().filter(|number| *number > 0)?,
            None => {
                let meets = |pairing: &Pairing| pairing.a == place || pairing.b == place;
                u32::try_from(plan.pairings.iter().position(meets)?).ok()? + 1
            }
        };
        let pairing = plan.pairings.get(number as usize - 1)?;
        let side = if pairing.a == place { Side::A } else { Side::B };
        Some(Fixture { match_id: MatchId::of(round, number), side, opponent: pairing[side.other()] })
    }

    /// Empty while the registration is open.
    pub fn scheduled_rounds(&self) -> Vec<ScheduledRound> {
        (1..=self.total_rounds()).map_while(|round| self.scheduled_round(RoundId(round))).collect()
    }

    pub fn scheduled_round(&self, round: RoundId) -> Option<ScheduledRound> {
        let plan = self.plan(round)?;
        let matches = (1..).zip(&plan.pairings);
        let matches =
            matches.filter_map(|(number, pairing)| self.scheduled(MatchId::of(round, number), round, *pairing));
        let (bye, byes) = self.named_byes(round);
        Some(ScheduledRound {
            round_id: round,
            completed: self.round(round).is_some_and(|round| round.completed),
            bye,
            byes,
            matches: matches.collect(),
        })
    }

    pub fn scheduled_match(&self, match_id: &MatchId) -> Option<ScheduledMatch> {
        let (round, _) = match_id.parts()?;
        self.scheduled(match_id.clone(), round, self.pairing(match_id)?)
    }

    fn scheduled(&self, match_id: MatchId, round_id: RoundId, pairing: Pairing) -> Option<ScheduledMatch> {
        let ids = self.players_of(pairing)?.map(|player| &player.id);
        let slot = self.slot(&match_id);
        let winner = slot.and_then(MatchSlot::outcome).and_then(|outcome| outcome.winner());
        Some(ScheduledMatch {
            round_id,
            game_type: self.config.game_type.clone(),
            player_a_id: ids.a.clone(),
            player_b_id: ids.b.clone(),
            status: SmolStr::new_static(slot.map_or(PENDING, MatchSlot::status)),
            winner: winner.map(|side| ids[side].clone()),
            match_id,
        })
    }
}
