//! Reports that look right and are not: moves, number, winner and points agree with each other.

use std::num::NonZeroU32;

use league_core::rules::draw::Draw;
use league_core::rules::game::{Game as _, GameStage};
use league_core::rules::outcome::Outcome;
use league_core::rules::registry::new_game;
use league_core::rules::series::Series;
use league_protocol::draw::{DrawNonce, DrawSecret};
use league_protocol::id::PlayerId;
use league_protocol::message::game_over::{ByPlayer, DrawProof, ResultStatus};
use league_protocol::message::report::{MatchResultReport, ReportedMove};
use league_protocol::parity::Parity;
use league_protocol::side::{Pair, Side};
use serde_json::Value;
use smol_str::SmolStr;

use crate::rng::Rng;

/// More than enough: each try succeeds with a probability of a quarter or more.
const TRIES: usize = 100;

/// Reads the report in the parameters of a call.
pub fn read(params: &Value) -> Option<MatchResultReport> {
    serde_json::from_value(params.clone()).ok()
}

/// Writes the report into the parameters of a call and keeps their envelope.
pub fn write(params: &mut Value, report: &MatchResultReport) {
    let (Some(fields), Ok(Value::Object(lie))) = (params.as_object_mut(), serde_json::to_value(report)) else { return };
    for name in ["learned", "account", "signatures", "draw_commitments"] {
        fields.remove(name);
    }
    fields.extend(lie);
}

/// The players of the match, the friend of the referee first: the one with the lower number.
pub fn friend_and_victim(report: &MatchResultReport) -> Option<(PlayerId, PlayerId)> {
    let mut ids: Vec<_> = report.result.score.0.iter().map(|(id, _)| id.clone()).collect();
    ids.sort();
    match ids.as_slice() {
        [friend, victim] => Some((friend.clone(), victim.clone())),
        _ => None,
    }
}

pub fn declare(report: &mut MatchResultReport, winner: Option<&PlayerId>) {
    let result = &mut report.result;
    for (player, points) in &mut result.score.0 {
        *points = match winner {
            None => 1,
            Some(winner) if winner == player => 3,
            Some(_) => 0,
        };
    }
    result.winner = winner.cloned();
    result.details.status = Some(if winner.is_some() { ResultStatus::Win } else { ResultStatus::Draw });
    result.details.technical_losses.clear();
}

/// Declares the result that follows from the choices and the number.
pub fn settle(report: &mut MatchResultReport) {
    let details = &mut report.result.details;
    let Some(number) = details.drawn_number else { return };
    details.number_parity = Some(Parity::of(number));
    let parity = Parity::of(number).to_string();
    let right: Vec<_> = details.choices.0.iter().filter(|(_, choice)| choice.as_deref() == Some(&parity)).collect();
    let winner = match right.as_slice() {
        [(winner, _)] => Some(winner.clone()),
        _ => None,
    };
    declare(report, winner.as_ref());
}

/// Flips the choice of one player so that another result follows; in a game with turns, replaces some moves.
pub fn alter_move(report: &mut MatchResultReport, rng: &mut Rng) {
    if !report.result.details.moves.is_empty() {
        return alter_course(report, rng);
    }
    let Some((friend, victim)) = friend_and_victim(report) else { return };
    // One of the two changes makes the friend win.
    for player in [victim, friend.clone()] {
        let mut lie = report.clone();
        for (id, choice) in &mut lie.result.details.choices.0 {
            if *id == player {
                let flipped = if choice.as_deref() == Some("even") { "odd" } else { "even" };
                *choice = Some(SmolStr::new_static(flipped));
            }
        }
        settle(&mut lie);
        if lie.result.winner.as_ref() == Some(&friend) {
            *report = lie;
            return;
        }
    }
}

fn alter_course(report: &mut MatchResultReport, rng: &mut Rng) {
    let Some((friend, victim)) = friend_and_victim(report) else { return };
    let moves = report.result.details.moves.clone();
    let Some(first) = moves.first().map(|first| first.player_id.clone()) else { return };
    let second = if first == friend { victim } else { friend.clone() };
    let id_of = |side: Side| if side == Side::A { &first } else { &second };
    for _ in 0..TRIES {
        let Some(mut game) = report.game_type.as_ref().and_then(new_game) else { return };
        let kept = usize::try_from(rng.within(0, moves.len() as u64 - 1)).unwrap_or_default();
        let mut course = Vec::new();
        while let GameStage::Moves(due) = game.stage() {
            let side = if due.a { Side::A } else { Side::B };
            let legal = game.legal_moves(side);
            let fallback = legal.first().cloned().unwrap_or_default();
            let picked = usize::try_from(rng.within(0, (legal.len() as u64).saturating_sub(1))).unwrap_or_default();
            let known = moves.get(course.len()).filter(|_| course.len() < kept).map(|known| known.played.clone());
            let played = known.unwrap_or_else(|| legal.get(picked).cloned().unwrap_or(fallback));
            if game.play(side, &played).is_err() {
                return;
            }
            course.push(ReportedMove { player_id: id_of(side).clone(), played });
        }
        if let GameStage::Over(verdict) = game.stage()
            && Outcome::from(verdict).winner().is_some_and(|side| *id_of(side) == friend)
        {
            for (id, choice) in &mut report.result.details.choices.0 {
                *choice = course.iter().rfind(|one| one.player_id == *id).map(|one| one.played.clone());
            }
            report.result.details.moves = course;
            declare(report, Some(&friend));
            return;
        }
    }
}

/// Another nonce of the victim, from which another number follows.
pub fn alter_nonce(report: &mut MatchResultReport, rng: &mut Rng) {
    let Some((friend, victim)) = friend_and_victim(report) else { return };
    redraw(report, &friend, |proof| {
        for (id, nonce) in &mut proof.nonces.0 {
            if *id == victim {
                *nonce = DrawNonce::of_bytes(&rng.bytes()[..8]);
            }
        }
    });
}

/// Another secret, chosen after the choices.
pub fn forge_draw(report: &mut MatchResultReport, rng: &mut Rng) {
    let Some((friend, _)) = friend_and_victim(report) else { return };
    redraw(report, &friend, |proof| {
        proof.secret = DrawSecret(rng.bytes());
        proof.commitment = proof.secret.commitment();
    });
}

/// Other cards, chosen after the moves: the secret is another one, and from it the same moves lead to the friend's win.
pub fn forge_cards(report: &mut MatchResultReport, rng: &mut Rng) {
    let Some((friend, victim)) = friend_and_victim(report) else { return };
    let details = &report.result.details;
    let (Some(proof), Some(first)) = (details.draw.clone(), details.moves.first()) else { return };
    let ids =
        if first.player_id == friend { Pair::new(friend.clone(), victim) } else { Pair::new(victim, friend.clone()) };
    let nonces = ids.as_ref().map(|id| proof.nonces.get(id).cloned().unwrap_or_default());
    for _ in 0..TRIES {
        let secret = DrawSecret(rng.bytes());
        let (match_id, attempt, seeded) = (report.match_id.clone(), proof.attempt, proof.seeded);
        let draw = Draw { secret, match_id, attempt, nonces: nonces.clone(), seeded };
        let Some(game) = report.game_type.as_ref().and_then(new_game) else { return };
        let mut game = Series::new(game, NonZeroU32::MIN);
        let mut legal = game.serve_chance(&draw).is_ok();
        for one in &report.result.details.moves {
            let side = if one.player_id == ids.a { Side::A } else { Side::B };
            legal = legal && game.play(side, &one.played).is_ok() && game.serve_chance(&draw).is_ok();
        }
        let GameStage::Over(verdict) = game.stage() else { continue };
        if !legal || Outcome::from(verdict).winner().is_none_or(|side| ids[side] != friend) {
            continue;
        }
        declare(report, Some(&friend));
        let (details, score) = (&mut report.result.details, game.score());
        details.draw = Some(DrawProof { secret, commitment: secret.commitment(), seal: Some(draw.seal()), ..proof });
        details.game_score = Some(ByPlayer(vec![(ids.a, score.a), (ids.b, score.b)]));
        return;
    }
}

/// Changes the draw until the friend wins. The choices may not allow that: then the draw is only another one.
fn redraw(report: &mut MatchResultReport, friend: &PlayerId, mut change: impl FnMut(&mut DrawProof)) {
    let Some(proof) = report.result.details.draw.clone() else { return };
    let draw_of = |proof: &DrawProof, nonces: Pair<DrawNonce>| Draw {
        secret: proof.secret,
        match_id: report.match_id.clone(),
        attempt: proof.attempt,
        nonces,
        seeded: proof.seeded,
    };
    let nonces = |proof: &DrawProof, swapped: bool| {
        let nonce = |place: usize| proof.nonces.0.get(place).map(|(_, nonce)| nonce.clone()).unwrap_or_default();
        if swapped { Pair::new(nonce(1), nonce(0)) } else { Pair::new(nonce(0), nonce(1)) }
    };
    // The names in the message do not show which player is PLAYER_A; the seal does.
    let swapped = proof.seal.is_some_and(|seal| draw_of(&proof, nonces(&proof, false)).seal() != seal);
    let mut last = None;
    for _ in 0..TRIES {
        let (mut lie, mut forged) = (report.clone(), proof.clone());
        change(&mut forged);
        let draw = draw_of(&forged, nonces(&forged, swapped));
        forged.seal = Some(draw.seal());
        lie.result.details.drawn_number = Some(draw.number().get());
        for (id, nonce) in &forged.nonces.0 {
            if let Some((_, signed)) = lie.signatures.0.iter_mut().find(|(player, _)| player == id) {
                signed.draw_nonce = Some(nonce.clone());
            }
        }
        lie.result.details.draw = Some(forged);
        settle(&mut lie);
        let wins = lie.result.winner.as_ref() == Some(friend);
        last = Some(lie);
        if wins {
            break;
        }
    }
    if let Some(lie) = last {
        *report = lie;
    }
}

/// Another number with the other parity.
pub fn alter_number(report: &mut MatchResultReport, with_proof: bool) {
    let details = &mut report.result.details;
    details.drawn_number = details.drawn_number.map(|number| if number == 10 { 9 } else { number + 1 });
    if !with_proof {
        details.draw = None;
    }
    settle(report);
}

pub fn alter_winner(report: &mut MatchResultReport) {
    if let Some((friend, _)) = friend_and_victim(report) {
        declare(report, Some(&friend));
    }
}

/// Names a winner, and neither moves nor a number.
pub fn omit_moves(report: &mut MatchResultReport) {
    alter_winner(report);
    let details = &mut report.result.details;
    (details.drawn_number, details.number_parity, details.draw) = (None, None, None);
    details.moves.clear();
    details.choices = ByPlayer::default();
    report.signatures.0.iter_mut().for_each(|(_, signed)| signed.moves.clear());
}

/// A technical loss of the victim, which has moved.
pub fn charge(report: &mut MatchResultReport) {
    let Some((friend, victim)) = friend_and_victim(report) else { return };
    declare(report, Some(&friend));
    let details = &mut report.result.details;
    (details.drawn_number, details.number_parity, details.draw) = (None, None, None);
    details.status = Some(ResultStatus::TechnicalLoss);
    details.technical_losses = vec![victim.clone()];
    details.moves.clear();
    details.choices.0.retain(|(id, _)| *id != victim);
    report.signatures.0.retain(|(id, _)| *id != victim);
    if report.game_type.as_ref().is_some_and(|game| game.as_str() != "even_odd") {
        details.choices = ByPlayer::default();
        report.signatures.0.iter_mut().for_each(|(_, signed)| signed.moves.clear());
    }
}
