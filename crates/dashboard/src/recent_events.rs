//! What happened, in a sentence with names in it.

use league_core::rules::outcome::Outcome;
use league_core::season::Season;
use league_core::season::event::Fact;
use league_protocol::id::{MatchId, PlayerId};
use league_protocol::side::Side;
use maud::{Markup, html};

use crate::pages::links::{match_link, player_link};

pub(crate) fn told(season: &Season, fact: &Fact) -> Markup {
    match fact {
        Fact::Opened { config } => html! { (config.title()) " is open for registration" },
        Fact::PlayerRegistered { player, .. } => html! { (named(season, player)) " is in" },
        Fact::RefereeRegistered { referee, capacity, .. } => {
            html! { (referee) " is in, for " (capacity) " matches at a time" }
        }
        Fact::PlayerReturned { player, .. } => html! { (named(season, player)) " is back" },
        Fact::RefereeReturned { referee, .. } => html! { (referee) " is back; what it was running is played again" },
        Fact::RegistrationClosed => html! { "Registration is closed, the schedule is made" },
        Fact::RegistrationReopened => html! { "The operator opened the registration again" },
        Fact::PlayerWithdrawn { player } => html! { "The operator withdrew " (named(season, player)) },
        Fact::MatchAwarded { match_id, outcome } => {
            html! { (match_link(match_id)) ", which nobody played: " (ended(season, match_id, *outcome)) }
        }
        Fact::RoundStarted { round } => html! { "Round " (round) " begins" },
        Fact::MatchAssigned { match_id, attempt, referee } => {
            html! { (match_link(match_id)) " is given to " (referee) @if *attempt > 1 { ", attempt " (attempt) } }
        }
        Fact::MatchReturned { match_id, attempt } => {
            html! { "Attempt " (attempt) " at " (match_link(match_id)) " came to nothing" }
        }
        Fact::RefereeLost { referee } => html! { (referee) " does not answer; its matches go to others" },
        Fact::MatchExplained { match_id, .. } => html! { "The report of " (match_link(match_id)) " is explained" },
        Fact::MatchReported { match_id, record, .. } => {
            html! { (match_link(match_id)) ": " (ended(season, match_id, record.outcome)) @if let Some(number) = record.drawn { ", number " (number) } }
        }
        Fact::RoundCompleted { round } => html! { "Round " (round) " is over" },
        Fact::LeagueCompleted => html! { "The league is over" },
        Fact::AgentLearned { agent, learned } => {
            let ways = learned.quirks.iter().count();
            html! { (agent.as_str()) @if ways > 0 { " does " (ways) " things differently" } @else { " is spoken to in another way from now on" } }
        }
        Fact::Halted => html! { "The operator stopped the league" },
        Fact::Resumed => html! { "The operator let the league go on" },
    }
}

/// How a match ended, in a few words.
pub(crate) fn ended(season: &Season, match_id: &MatchId, outcome: Outcome) -> Markup {
    let Some(players) = season.contestants(match_id) else { return html! { "over" } };
    let name = |side: Side| player_link(players[side]);
    match outcome {
        Outcome::Win(winner) => html! { (name(winner)) " beats " (name(winner.other())) },
        Outcome::Draw => html! { (name(Side::A)) " and " (name(Side::B)) " draw" },
        Outcome::Forfeit(loser) => html! { (name(loser.other())) " wins, " (name(loser)) " forfeits" },
        Outcome::DoubleForfeit => html! { (name(Side::A)) " and " (name(Side::B)) " both forfeit" },
    }
}

fn named(season: &Season, id: &PlayerId) -> Markup {
    match season.player(id) {
        Some(player) => player_link(player),
        None => html! { (id) },
    }
}
