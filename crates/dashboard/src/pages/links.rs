//! Names that lead somewhere. Links are relative to the base of the page: a past moment stays a past moment.

use league_core::season::agent::RegisteredPlayer;
use league_protocol::id::MatchId;
use maud::{Markup, html};

use crate::league_snapshot::Mark;

pub(crate) fn player_link(player: &RegisteredPlayer) -> Markup {
    html! { a href={ "players/" (player.id) } { (player.profile.name) } }
}

pub(crate) fn match_link(match_id: &MatchId) -> Markup {
    html! { a href={ "matches/" (match_id) } { (match_id) } }
}

/// The last results, a letter each.
pub(crate) fn form(marks: &[Mark]) -> Markup {
    html! {
        span.form {
            @for mark in marks { b class={ "m" (mark.letter()) } title=(mark.word()) { (mark.letter()) } }
        }
    }
}
