//! Answers to invitations.

use data_encoding::HEXLOWER;
use league_protocol::draw::DrawNonce;
use league_protocol::envelope::ReceivedEnvelope;
use league_protocol::error::RequestError;
use league_protocol::id::{GameType, LeagueId};
use league_protocol::message::invitation::{GameInvitation, GameJoinAck};
use league_protocol::seal::seal;
use league_protocol::table::Method;
use league_store::journal::JournalLevel;
use smol_str::{SmolStr, format_smolstr};

use super::{PlayPurpose, Shared};
use crate::chance::Chance;

impl Shared {
    /// Declines games that the strategy does not play.
    pub(super) fn join(
        &self,
        head: &ReceivedEnvelope,
        invitation: &GameInvitation,
        purpose: PlayPurpose,
    ) -> Result<GameJoinAck, RequestError> {
        let (match_id, now) = (&invitation.match_id, self.environment.now());
        if purpose == PlayPurpose::League && self.session().trusts_without_pass(head, match_id) {
            self.console.unproven(match_id);
            tracing::warn!(%match_id, "the referee shows no pass; the manager has said that this may be so");
            self.note_message(JournalLevel::Warn, "REFEREE_UNPROVEN", (head, Method::GameInvitation), || {
                format!("{match_id}: the referee shows no pass; the manager has said that this may be so")
            });
        }
        match &invitation.game_type {
            Some(game) if !self.strategy_runner.games().contains(game) => {
                self.session_for(purpose).declined(head, invitation, self.other_game(game), now)
            }
            Some(_) | None => {
                let nonce = self.nonce(invitation, purpose);
                self.session_for(purpose).invited(head, invitation, nonce, now)
            }
        }
    }

    pub(super) fn other_game(&self, game: &GameType) -> SmolStr {
        let known = self.strategy_runner.games().iter().map(GameType::to_string).collect::<Vec<_>>().join(" and ");
        format_smolstr!("this player knows {known} only, not {game}")
    }

    /// The same invitation gets the same nonce, even if the session has dropped the match: with several nonces a referee could choose
    /// the number. A friendly match has other nonces: its id may equal that of a match that counts.
    fn nonce(&self, invitation: &GameInvitation, purpose: PlayPurpose) -> DrawNonce {
        let identity = self.session().identity().cloned();
        let match_id = &invitation.match_id;
        if let (Chance::Seeded(seed), Some(identity)) = (&self.settings.chance, &identity) {
            return seed.nonce(match_id, &identity.player_id);
        }
        let kind: &[u8] = match purpose {
            PlayPurpose::League => b"league",
            PlayPurpose::Friendly => b"friendly",
        };
        let league = identity.and_then(|identity| identity.league_id);
        let derived = seal(
            &self.nonce_key,
            &[
                kind,
                league.as_ref().map_or("", LeagueId::as_str).as_bytes(),
                match_id.as_str().as_bytes(),
                &invitation.attempt.unwrap_or_default().to_be_bytes(),
                invitation.draw_commitment.as_ref().map_or(&[][..], |commitment| &commitment.0),
            ],
        );
        HEXLOWER.encode(&derived[..16]).parse().unwrap_or_default()
    }
}
