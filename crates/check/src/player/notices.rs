//! Notices: a player may answer anything but an error, or not know them.

use std::ops::RangeInclusive;

use league_protocol::id::{MatchId, PlayerId, RoundId};
use league_protocol::message::game_over::{ByPlayer, GameOver, GameResult, OwnResult, ResultStatus};
use league_protocol::message::round::{
    AnnouncedMatch, Champion, LeagueCompleted, RoundAnnouncement, RoundCompleted, RoundSummary,
};
use league_protocol::message::standings::{FinalRow, StandingsRow, StandingsUpdate};
use league_protocol::parity::Parity;
use league_protocol::table::Call;
use smol_str::SmolStr;

use super::{PlayerCheck, StoppedPlaying, joins};
use crate::messages::{TestLeague, TestMessage};
use crate::response::Response;
use crate::rule::Rule;
use crate::rules::player as rules;

impl PlayerCheck<'_> {
    pub(super) async fn notices(&self) -> Result<(), StoppedPlaying> {
        let match_id = self.league.match_id(1);
        let round =
            self.league.manager_message(&Call::NotifyRound(announcement(self.league, 50..=50, self.posts.endpoint())));
        self.tell(&rules::ROUND, &round).await;
        let over = self.league.referee_message(&match_id, &Call::NotifyMatchResult(self.over(&match_id)));
        self.tell(&rules::GAME_OVER, &over).await;
        self.tell(&rules::GAME_OVER_AGAIN, &over).await;
        let forfeited = self.league.match_id(11);
        let forfeit = self.league.referee_message(&forfeited, &Call::NotifyMatchResult(self.forfeit(&forfeited)));
        self.tell(&rules::GAME_OVER_FORFEIT, &forfeit).await;
        let standings = self.league.manager_message(&Call::UpdateStandings(StandingsUpdate {
            league_id: self.league.league.clone(),
            round_id: Some(self.league.round()),
            standings: vec![row(1, 3), row(2, 0)],
            total_players: None,
        }));
        self.tell(&rules::STANDINGS, &standings).await;
        for next in [Some(RoundId(self.league.round().0 + 1)), None] {
            let completed = self.league.manager_message(&Call::NotifyRoundCompleted(RoundCompleted {
                league_id: self.league.league.clone(),
                round_id: self.league.round(),
                matches_played: 1,
                matches_completed: 1,
                next_round_id: next,
                summary: RoundSummary { total_matches: 1, wins: 1, draws: 0, technical_losses: 0 },
            }));
            self.tell(&rules::ROUND_COMPLETED, &completed).await;
        }
        let (next, response) = self.invite(50).await;
        let plays_on = joins(&response, &next);
        let plays = if plays_on.is_ok() { Ok(()) } else { Err(StoppedPlaying) };
        self.log.judge(&rules::AFTER_NOTICES, &response, plays_on);
        plays
    }

    /// Comes last: a player may exit after it.
    pub(super) async fn the_end(&self) {
        let end = self.league.manager_message(&Call::NotifyLeagueCompleted(LeagueCompleted {
            league_id: self.league.league.clone(),
            total_rounds: 1,
            total_matches: 1,
            champion: Some(Champion { player_id: PlayerId::numbered(1), display_name: name(1), points: 3 }),
            final_standings: [row(1, 3), row(2, 0)].iter().map(FinalRow::from).collect(),
            total_players: None,
        }));
        self.tell(&rules::LEAGUE_COMPLETED, &end).await;
    }

    async fn tell(&self, rule: &'static Rule, message: &TestMessage) {
        let response = self.send(message, self.options.wait(message.method.row().limit)).await;
        self.acknowledged(rule, &response);
    }

    pub(super) fn acknowledged(&self, rule: &'static Rule, response: &Response) {
        let judgement = match (&response.result, response.error()) {
            (Err(error), _) => Err(error.to_string()),
            // A player may say that it does not know a notice.
            (Ok(_), Some(error)) if error.is_misunderstanding() => Ok(()),
            (Ok(_), Some(error)) => Err(format!("it is answered with an error: {}", error.words)),
            (Ok(answer), None) if answer.status.is_server_error() => Err(format!("the status is {}", answer.status)),
            (Ok(_), None) => Ok(()),
        };
        self.log.judge(rule, response, judgement);
    }

    pub(super) fn over(&self, match_id: &MatchId) -> GameOver {
        let choices =
            [(1, "even"), (2, "odd")].map(|(number, choice)| (PlayerId::numbered(number), Some(choice.into())));
        GameOver {
            finished_games: Vec::new(),
            games_per_match: None,
            league_id: self.league.league.clone(),
            round_id: Some(self.league.round()),
            match_id: match_id.clone(),
            player_id: Some(PlayerId::numbered(1)),
            game_type: Some(self.league.game.clone()),
            game_result: Some(GameResult {
                status: Some(ResultStatus::Win),
                winner_player_id: Some(PlayerId::numbered(1)),
                drawn_number: Some(8),
                number_parity: Some(Parity::Even),
                choices: ByPlayer(choices.to_vec()),
                reason: String::from("P01 chose even, the number is 8"),
            }),
            result: Some(OwnResult::Win),
            drawn_number: Some(8),
            your_choice: Some("even".into()),
            opponent_choice: Some("odd".into()),
            points_earned: Some(3),
            draw: None,
            hint: None,
            provisional: false,
        }
    }

    fn forfeit(&self, match_id: &MatchId) -> GameOver {
        let over = self.over(match_id);
        let nothing = [1, 2].map(|number| (PlayerId::numbered(number), None));
        let result = over.game_result.clone().map(|result| GameResult {
            status: Some(ResultStatus::TechnicalLoss),
            drawn_number: None,
            number_parity: None,
            choices: ByPlayer(nothing.to_vec()),
            reason: String::from("P02 did not join"),
            ..result
        });
        GameOver { game_result: result, drawn_number: None, your_choice: None, opponent_choice: None, ..over }
    }
}

pub(super) fn announcement(league: &TestLeague, numbers: RangeInclusive<u32>, referee: &str) -> RoundAnnouncement {
    let announced = |number| AnnouncedMatch {
        match_id: league.match_id(number),
        round_id: None,
        game_type: Some(league.game.clone()),
        player_a_id: PlayerId::numbered(1),
        player_b_id: PlayerId::numbered(2),
        referee_endpoint: Some(referee.to_owned()),
        referee_shows_passes: None,
        referee_id: None,
        attempt: None,
        draw_commitment: None,
        player_a_endpoint: None,
        player_b_endpoint: None,
    };
    RoundAnnouncement {
        league_id: league.league.clone(),
        round_id: league.round(),
        matches: numbers.map(announced).collect(),
        total_matches: None,
        referees_show_passes: None,
        players: None,
        agents: None,
    }
}

fn name(number: u32) -> SmolStr {
    SmolStr::new(format!("Checker {number}"))
}

fn row(number: u32, points: u32) -> StandingsRow {
    StandingsRow {
        rank: number,
        player_id: PlayerId::numbered(number),
        display_name: name(number),
        played: 1,
        wins: points / 3,
        draws: 0,
        losses: 1 - points / 3,
        points,
        score: None,
        withdrawn: false,
    }
}
