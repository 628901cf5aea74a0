//! What the author of a player can mend, from its technical losses, its answer times and its recorded differences.

use league_core::season::agent::{PlayerCondition, RegisteredPlayer};
use maud::{Markup, html};

use super::links::match_link;
use crate::answers;
use crate::league_snapshot::LeagueSnapshot;

/// Nothing before the first result of a player without differences.
pub(super) fn section(snapshot: &LeagueSnapshot, player: &RegisteredPlayer) -> Markup {
    let season = snapshot.season();
    let row = season.place_of(&player.id).map(|place| season.table().row(place)).unwrap_or_default();
    let answers = answers::reported(snapshot, &player.id);
    let slow = answers::slowest(&answers).filter(|slowest| slowest.is_slow());
    let is_suspended = season.condition(player) == PlayerCondition::Suspended;
    if row.technical_losses > 0 || slow.is_some() || is_suspended {
        return html! {
            section #fix.fix aria-labelledby="fix-title" {
                h2 #fix-title { "What to fix" }
                @if is_suspended {
                    p { b { "It is suspended" } " after " (player.forfeits_running) " technical losses in a row: referees ask it once instead of three times, until it plays a match again." }
                }
                @if row.technical_losses > 0 { (losses(snapshot, player, row.technical_losses)) }
                @if let Some(slow) = slow {
                    p { b { "It answers slowly:" } " a join or last move of its last matches took " (slow.took) " ms, " (slow.percent()) " % of the limit of " (slow.limit) " ms." }
                }
                (quirks(player, "None of these differences cost it a match."))
                p.small { "Try a change before the next league: start the player and run " code { "league check" } " with its address." }
            }
        };
    }
    let has_quirks = player.quirks.iter().next().is_some();
    html! {
        @if has_quirks || row.played > 0 {
            section #fix aria-labelledby="fix-title" {
                h2 #fix-title { @if has_quirks { "Small differences" } @else { "Nothing to fix" } }
                @if row.played > 0 {
                    p { "No technical loss in " (row.played) @if row.played == 1 { " match" } @else { " matches" }
                        @if let Some(slowest) = answers::slowest(&answers) { ", and the slowest join or last move of its last matches took " (slowest.percent()) " % of its limit" } "." }
                }
                (quirks(player, "None of this does any harm here; elsewhere it may."))
            }
        }
    }
}

fn losses(snapshot: &LeagueSnapshot, player: &RegisteredPlayer, count: u32) -> Markup {
    let problems = snapshot.problems(&player.id);
    html! {
        p { b { "Technical losses: " (count) "." } " A technical loss is a match that a player loses because it gives no answer that counts." }
        @if problems.is_empty() {
            p { "The referee did not report what went wrong; the matches below that end with F show what was said." }
        } @else {
            ul { @for (problem, matches) in &problems {
                li { b { (problem) } span.small { " In " @for (place, match_id) in matches.iter().enumerate() { @if place > 0 { ", " } (match_link(match_id)) } "." } }
            } }
        }
    }
}

fn quirks(player: &RegisteredPlayer, harm: &str) -> Markup {
    html! {
        @if player.quirks.iter().next().is_some() {
            p { (harm) }
            ul #quirks { @for quirk in player.quirks.iter() { li { b { (quirk.what()) } ": " (quirk.advice()) } } }
        }
    }
}
