//! The operator's forms. They are on pages of the present only, so their paths are relative to the first page.

use league_core::season::LeaguePhase;
use league_core::season::agent::RegisteredPlayer;
use league_protocol::message::step::MatchState;
use maud::{Markup, html};

use super::links::named;
use crate::league_snapshot::LeagueSnapshot;
use crate::operate::OperatorStep;

pub(crate) fn controls(snapshot: &LeagueSnapshot, needs_token: bool) -> Markup {
    let season = snapshot.season();
    html! {
        section #operate.operate aria-labelledby="operate-title" {
            details {
                summary #operate-title { "For the operator" }
                form action="operate" method="post" {
                    (token(needs_token))
                    @let again = season.matches_completed() == 0;
                    @match (season.phase(), season.is_halted()) {
                        (LeaguePhase::WaitingForRegistrations, _) => button name="action" value="start" { "Close registration and start" },
                        (LeaguePhase::CreatingSchedule, _) => { button name="action" value="start" { "Start" } " " (reopen()) },
                        (LeaguePhase::RunningLeague, true) => { button name="action" value="start" { "Go on" } " " @if again { (reopen()) } },
                        (LeaguePhase::RunningLeague, false) => button name="action" value="stop" { "Stop after the running matches" },
                        (LeaguePhase::LeagueCompleted, _) => p { "The league is over." },
                    }
                }
            }
        }
    }
}

fn reopen() -> Markup {
    html! { button name="action" value="reopen" { "Open the registration again" } }
}

pub(crate) fn of_player(snapshot: &LeagueSnapshot, player: &RegisteredPlayer, needs_token: bool) -> Markup {
    let phase = snapshot.season().phase();
    let begun = phase == LeaguePhase::RunningLeague;
    html! {
        @if !player.withdrawn && phase != LeaguePhase::LeagueCompleted {
            section #operate.operate aria-labelledby="operate-title" {
                details {
                    summary #operate-title { "For the operator" }
                    p { @if begun { "Its results stand. A match that is being played is finished; all others are lost to it. It cannot come back." }
                        @else { "It is out at once, and may register again until the league begins." } }
                    form action="operate" method="post" {
                        (token(needs_token))
                        input type="hidden" name="player" value=(player.id);
                        button name="action" value="withdraw" { "Withdraw " (named(&player.profile.name)) }
                    }
                }
            }
        }
    }
}

pub(crate) fn of_match(state: &MatchState, needs_token: bool) -> Markup {
    html! {
        div.operate {
            @if let Some(waiting) = &state.waiting_for {
                @if let Some(step) = OperatorStep::ALL.into_iter().find(|step| step.name() == waiting) {
                    form action="operate" method="post" {
                        (token(needs_token))
                        input type="hidden" name="match" value=(state.match_id);
                        button name="action" value=(step.name()) { (step.words()) }
                    }
                }
            }
        }
    }
}

fn token(needed: bool) -> Markup {
    html! { @if needed { label { "Operator's token" input type="password" name="token" autocomplete="current-password" required; } } }
}
