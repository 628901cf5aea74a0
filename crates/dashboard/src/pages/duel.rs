//! The two players of a match, facing each other: what they played, what it brought, and whom the match waits for.

use std::num::NonZeroU32;

use league_core::record::MatchRecord;
use league_core::rules::game::Deal;
use league_core::rules::outcome::Outcome;
use league_core::season::agent::RegisteredPlayer;
use league_protocol::display::escaped;
use league_protocol::id::GameType;
use league_protocol::message::step::{MatchState, OpenCall};
use league_protocol::side::{Pair, Side};
use maud::{Markup, html};

use super::links::player_link;
use super::replay::{card, dot};
use crate::league_snapshot::{own_result, shown};

/// A finished match, side A on the left as on its board.
pub(super) fn finished(
    players: &Pair<&RegisteredPlayer>,
    record: &MatchRecord,
    points: &Pair<u32>,
    deal: Option<Deal>,
) -> Markup {
    let one_game = record.games.get() == 1;
    let corner = |side: Side| {
        let (letter, word) = shown(own_result(record, side));
        let played = match &record.moves[side] {
            Some(text) if one_game && record.course.len() <= 2 => text.to_string(),
            Some(_) => String::new(),
            None => String::from("no move"),
        };
        html! {
            (name(players[side], side))
            @if let Some(deal) = deal { p.played { "held " (card(deal.hands[side])) } }
            @if !played.is_empty() { p.played { (played) } }
            p.gained { span class={ "m" (letter) } { (word) } " +" (points[side]) }
        }
    };
    let centre = html! {
        @match (record.score.filter(|_| !one_game || record.drawn.is_none()), record.drawn.filter(|_| one_game)) {
            (_, Some(number)) => { p.reveal { (number) } p.small { "drawn" } }
            (Some(score), None) => p.reveal { (score.a) " : " (score.b) },
            (None, None) => p.reveal { @match record.outcome {
                Outcome::Draw => "½ : ½",
                Outcome::Win(Side::A) | Outcome::Forfeit(Side::B) => "1 : 0",
                Outcome::Win(Side::B) | Outcome::Forfeit(Side::A) => "0 : 1",
                Outcome::DoubleForfeit => "0 : 0",
            } },
        }
    };
    let centre = html! { (centre) @if let Some(turned) = deal.and_then(|deal| deal.turned) { p.small { "turned up " (card(turned)) } } };
    board("over", &Pair::from_fn(corner), &centre, record.outcome.winner())
}

/// A match that is played now or later. `state` is what its referee says, if it says something.
pub(super) fn open(players: &Pair<&RegisteredPlayer>, state: Option<&MatchState>, game: &GameType) -> Markup {
    let corner = |side: Side| {
        let id = &players[side].id;
        let call = state.and_then(|state| state.open_calls.get(id));
        let chosen = state.and_then(|state| state.chosen.get(id)).is_some_and(|chosen| *chosen);
        let joined = state.and_then(|state| state.joined.get(id)).is_some_and(|joined| *joined);
        html! {
            (name(players[side], side))
            @match call {
                Some(call) => (clock(call)),
                None => p.played { @if chosen { "has moved" } @else if joined { "joined" } @else { "…" } },
            }
        }
    };
    let word = if state.is_some() { "playing" } else { "waiting" };
    let score = state.and_then(|state| state.game_score.as_ref());
    let score = score.map(|score| Pair::from_fn(|side| score.get(&players[side].id).copied().unwrap_or_default()));
    let centre = html! {
        @match score {
            Some(score) => p.reveal { (score.a) " : " (score.b) },
            None => p.reveal aria-hidden="true" { @if *game == GameType::even_odd() { "?" } @else { "vs" } },
        }
    };
    board(word, &Pair::from_fn(corner), &centre, None)
}

fn board(state: &str, corners: &Pair<Markup>, centre: &Markup, winner: Option<Side>) -> Markup {
    html! {
        div.duel data-state=(state) {
            div.corner data-side="A" data-won[winner == Some(Side::A)] { (corners.a) }
            div.centre { (centre) }
            div.corner data-side="B" data-won[winner == Some(Side::B)] { (corners.b) }
        }
    }
}

fn name(player: &RegisteredPlayer, side: Side) -> Markup {
    html! { p.who { (dot(side)) (player_link(player)) } }
}

/// The script lets it run down; the next answer of the referee corrects it.
fn clock(call: &OpenCall) -> Markup {
    let (left, limit) = (call.left_ms.min(call.limit_ms), call.limit_ms.max(1));
    html! {
        p.clock data-left=(left) { b { (left.div_ceil(1000)) } " s left" }
        progress max=(limit) value=(left) aria-label="Time left to answer" {}
    }
}

/// The phase of a running match as a sentence.
pub(super) fn phase(players: &Pair<&RegisteredPlayer>, state: &MatchState, games: NonZeroU32) -> String {
    let game = state.game_number.map(|number| format!("Game {number} of {games}: ")).unwrap_or_default();
    let names = |wanted: &dyn Fn(&RegisteredPlayer) -> bool| {
        let named = [players.a, players.b].into_iter().filter(|player| wanted(player));
        named.map(|player| escaped(&player.profile.name).to_string()).collect::<Vec<_>>().join(" and ")
    };
    let called = names(&|player| state.open_calls.get(&player.id).is_some());
    let sentence = match (state.waiting_for.as_deref(), state.state.as_str()) {
        (Some("collect_choices"), _) => String::from("Waiting for the operator to collect the moves"),
        (Some("draw_number"), _) => String::from("Both have moved; waiting for the operator to draw the number"),
        (Some(_), _) => String::from("Decided; waiting for the operator to finish the match"),
        (None, "WAITING_FOR_PLAYERS") => {
            let missing = names(&|player| !state.joined.get(&player.id).is_some_and(|joined| *joined));
            if missing.is_empty() {
                String::from("Both players have joined")
            } else {
                format!("Waiting for {missing} to join")
            }
        }
        (None, "COLLECTING_CHOICES") if called.is_empty() => String::from("The referee asks for the next move"),
        (None, "COLLECTING_CHOICES") => format!("Waiting for the move of {called}"),
        (None, "DRAWING_NUMBER") => String::from("Both have moved; the number is drawn"),
        (None, "FINISHED") => String::from("Decided; the referee reports the result"),
        (None, _) => String::from("The referee does not say how the match stands"),
    };
    format!("{game}{sentence}")
}
