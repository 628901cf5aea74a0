//! A bounded list of the attempts at matches that a player is in or was in recently.

use league_protocol::id::{MatchId, RefereeId, RoundId};
use league_protocol::message::evidence::MatchTestimony;
use league_protocol::signature::MoveTurn;
use smol_str::SmolStr;

use super::active_match::{ActiveMatch, AttemptKey};
use super::made_moves::MadeMove;
use super::state::MatchStage;

/// More than any league needs at a time, and a bound on hostile referees. Each lookup scans the list; four times as many took 1 %
/// of a league's time.
pub(super) const MAX_ACTIVE: usize = 16;
/// The most attempts at one match with one referee. More would let it push other matches out of the list.
pub(super) const MAX_ATTEMPTS: usize = 4;
/// The most matches with forgotten attempts.
const MAX_FORGOTTEN: usize = 1024;

/// The newest last, each attempt with a referee once.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct ActiveMatches {
    list: Vec<ActiveMatch>,
    forgotten: Vec<ForgottenAttempts>,
}

/// Signed attempts up to `last` that the list dropped. The player answers them no more: it could sign another answer than before.
#[derive(Clone, PartialEq, Eq, Debug)]
struct ForgottenAttempts {
    match_id: MatchId,
    referee: Option<RefereeId>,
    last: u32,
}

impl ActiveMatches {
    /// The attempt that a message means: the latest one, if the message does not say which.
    pub(super) fn find(&mut self, key: AttemptKey<'_>) -> Option<&mut ActiveMatch> {
        self.list.iter_mut().filter(|active| key.may_mean(active)).max_by_key(|active| active.attempt)
    }

    pub(super) fn exact(&mut self, key: AttemptKey<'_>) -> Option<&mut ActiveMatch> {
        self.list.iter_mut().rfind(|active| key.is_of(active))
    }

    pub(super) fn knows(&self, match_id: &MatchId) -> bool {
        self.list.iter().any(|active| active.match_id == *match_id)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn newest_open(&self) -> Option<&ActiveMatch> {
        self.list.iter().rev().find(|active| active.is_open())
    }

    pub(super) fn has_forgotten(&self, key: AttemptKey<'_>) -> bool {
        key.attempt.is_some_and(|attempt| {
            let is_of =
                |known: &&ForgottenAttempts| known.match_id == *key.match_id && known.referee.as_ref() == key.referee;
            self.forgotten.iter().find(is_of).is_some_and(|known| attempt <= known.last)
        })
    }

    /// The signed move of a turn, with any referee: the signature does not name the referee.
    pub(super) fn signed_in(&mut self, match_id: &MatchId, turn: &MoveTurn) -> Option<&mut MadeMove> {
        self.list
            .iter_mut()
            .filter(|active| active.match_id == *match_id)
            .find_map(|active| active.moves.signed_in(turn))
    }

    /// Whether the player has gone on from this game, with any referee, so that it signs no move of it any more.
    pub(super) fn has_closed(&self, match_id: &MatchId, turn: &MoveTurn) -> bool {
        let mut attempts = self.list.iter().filter(|active| active.match_id == *match_id);
        attempts.any(|active| active.attempt == Some(turn.attempt) && active.moves.has_closed(turn.game))
    }

    /// The signed moves of an attempt, in the order of the turns, with any referee.
    pub(super) fn signed_moves(&self, match_id: &MatchId, attempt: u32) -> Vec<&SmolStr> {
        let made =
            self.list.iter().filter(|active| active.match_id == *match_id).flat_map(|active| active.moves.signed());
        let of_attempt = made.filter_map(|made| Some((made.position.turn?, &made.played)));
        let mut moves: Vec<_> = of_attempt.filter(|(turn, _)| turn.attempt == attempt).collect();
        moves.sort_by_key(|(turn, _)| (turn.game, turn.turn));
        moves.into_iter().map(|(_, played)| played).collect()
    }

    /// What the player saw of an attempt, with all its referees.
    pub(super) fn testimony(&self, match_id: &MatchId, attempt: u32) -> MatchTestimony {
        // The attempt of a foreign referee may have no number.
        let is_of =
            |active: &&ActiveMatch| active.match_id == *match_id && active.attempt.is_none_or(|known| known == attempt);
        let nothing = MatchTestimony { asked: Some(0), ..MatchTestimony::default() };
        self.list.iter().filter(is_of).fold(nothing, |known, active| {
            let moves = u32::try_from(active.moves.count()).unwrap_or(u32::MAX);
            MatchTestimony {
                called: true,
                joined: known.joined || active.join.has_joined(),
                moves: known.moves.saturating_add(moves),
                asked: known.asked.max(Some(active.asked)),
                revealed: known.revealed || active.revealed,
                draw_commitment: active.commitment.or(known.draw_commitment),
            }
        })
    }

    /// Replaces the same attempt. An earlier attempt at the same match is over. A full list drops a match that is over, or else the
    /// oldest.
    pub(super) fn add(&mut self, mut active: ActiveMatch) -> &mut ActiveMatch {
        self.list.retain(|known| !active.key().is_of(known));
        for known in self.list.iter_mut().filter(|known| known.match_id == active.match_id) {
            if known.attempt <= active.attempt {
                known.stage = MatchStage::Over;
            } else {
                active.stage = MatchStage::Over;
            }
        }
        let with_referee = |known: &ActiveMatch| known.match_id == active.match_id && known.referee == active.referee;
        let attempts = self.list.iter().enumerate().filter(|(_, known)| with_referee(known));
        if attempts.clone().count() >= MAX_ATTEMPTS
            && let Some((place, _)) = attempts.min_by_key(|(_, known)| known.attempt)
        {
            self.remove(place);
        }
        if self.list.len() == MAX_ACTIVE {
            let over = self.list.iter().position(|known| !known.is_open());
            self.remove(over.unwrap_or(0));
        }
        let place = self.list.len();
        self.list.push(active);
        &mut self.list[place]
    }

    fn remove(&mut self, place: usize) {
        let dropped = self.list.remove(place);
        let Some(attempt) = dropped.attempt.filter(|_| dropped.is_signed()) else { return };
        let is_of = |known: &ForgottenAttempts| known.match_id == dropped.match_id && known.referee == dropped.referee;
        if let Some(known) = self.forgotten.iter_mut().find(|known| is_of(known)) {
            known.last = known.last.max(attempt);
            return;
        }
        if self.forgotten.len() == MAX_FORGOTTEN {
            self.forgotten.remove(0);
        }
        let ActiveMatch { match_id, referee, .. } = dropped;
        self.forgotten.push(ForgottenAttempts { match_id, referee, last: attempt });
    }

    /// The player no longer waits for results of rounds before `round`, but accepts them.
    pub(super) fn close_before(&mut self, round: RoundId) {
        for active in self.list.iter_mut().filter(|active| active.round.is_none_or(|played| played < round)) {
            active.stage = MatchStage::Over;
        }
    }
}
