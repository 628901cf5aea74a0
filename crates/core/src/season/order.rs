use league_protocol::draw::DrawSecret;
use league_protocol::message::start_match::{Contestant, MatchMode, StartMatch};

use super::agent::RegisteredPlayer;
use super::assignment::Assignment;
use super::{MatchSlot, Season};

impl Season {
    /// `None` if the match is not assigned so. Only leagues with a seed pass a `secret`.
    pub fn order(&self, assignment: &Assignment, mode: MatchMode, secret: Option<DrawSecret>) -> Option<StartMatch> {
        let (league, match_id) = (&self.config.league_id, &assignment.match_id);
        let (round, _) = match_id.parts()?;
        let draw = if let Some(MatchSlot::Held { draw, .. }) = self.slot(match_id) { draw.as_deref() } else { None };
        let contestant = |player: &RegisteredPlayer| Contestant {
            player_id: player.id.clone(),
            endpoint: player.profile.endpoint.clone(),
            display_name: player.profile.name.clone(),
            standings: self.record_of(&player.id),
            referee_pass: Some(player.grant.digest.referee_pass(league, match_id, &assignment.referee)),
            player_pass: Some(player.grant.digest.player_pass(league, match_id)),
            dialect: player.dialect.clone(),
            shows_token: player.shows_token,
            attempts: Some(if self.is_suspended(player) { 1 } else { self.config.limits.max_retries }),
        };
        Some(StartMatch {
            league_id: Some(league.clone()),
            round_id: Some(round),
            match_id: match_id.clone(),
            game_type: self.config.game_type.clone(),
            attempt: assignment.attempt,
            games_per_match: self.config.games_per_match.get(),
            mode,
            players: self.contestants(match_id)?.map(contestant),
            timeouts: self.config.limits,
            scoring: self.config.scoring.match_points(),
            draw_secret: secret,
            draw_commitment: draw.map(|draw| draw.commitment),
            manager_nonce: draw.and_then(|draw| draw.manager_nonce.clone()),
            strict: self.config.strict,
            home_mark: None,
        })
    }
}
