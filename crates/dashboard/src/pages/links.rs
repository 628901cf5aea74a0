//! Names as links. Links are relative to the base of the page, so a page of the past links to the past.

use league_core::season::agent::RegisteredPlayer;
use league_protocol::display::escaped;
use league_protocol::id::MatchId;
use league_protocol::message::game_over::OwnResult;
use maud::{Markup, html};

use crate::league_snapshot::shown;

pub(crate) fn player_link(player: &RegisteredPlayer) -> Markup {
    html! { a href={ "players/" (player.id) } { (named(&player.profile.name)) } }
}

/// A name that an agent chose. It cannot reorder or hide the text around it.
pub(crate) fn named(name: &str) -> Markup {
    html! { bdi { (escaped(name)) } }
}

pub(crate) fn match_link(match_id: &MatchId) -> Markup {
    html! { a href={ "matches/" (match_id) } { (match_id) } }
}

pub(crate) fn form(results: &[OwnResult]) -> Markup {
    html! {
        span.form {
            @for (letter, word) in results.iter().map(|result| shown(*result)) { b class={ "m" (letter) } title=(word) { (letter) } }
        }
    }
}
