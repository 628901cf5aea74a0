//! Events as sentences with names and links.

use league_core::rules::outcome::Outcome;
use league_core::season::Season;
use league_core::season::describe::Phrase;
use league_core::season::event::Fact;
use league_protocol::id::MatchId;
use maud::{Markup, PreEscaped, html};

use crate::pages::links::{match_link, player_link};

pub(crate) fn sentence(season: &Season, fact: &Fact) -> Markup {
    html! {
        @for phrase in &fact.describe().0 {
            @match phrase {
                Phrase::Text(text) => (text),
                Phrase::Player(id) => @match season.player(id) { Some(player) => (player_link(player)), None => (id) },
                Phrase::Match(id) => (match_link(id)),
                Phrase::Ended(id, outcome) => (ended(season, id, *outcome)),
            }
        }
    }
}

pub(crate) fn ended(season: &Season, match_id: &MatchId, outcome: Outcome) -> Markup {
    let Some(players) = season.contestants(match_id) else { return html! { "over" } };
    // Links are markup already, and the words between them need no escaping.
    PreEscaped(outcome.sentence(&players.map(|player| player_link(player).into_string())))
}
