//! The schedule: matches, byes and results by round.

use league_core::rules::outcome::Outcome;
use league_core::season::{LeaguePhase, Season};
use league_protocol::id::{PlayerId, RoundId};
use league_protocol::message::query::{ScheduledMatch, ScheduledRound};
use league_protocol::side::Side;
use maud::{Markup, html};

use super::bracket;
use super::league::{has_one_move, players_of};
use super::links::{match_link, named, player_link};
use super::paging::Paging;
use crate::league_snapshot::LeagueSnapshot;
use crate::recent_events;

/// Rounds on a page, while rounds are small.
const ROUNDS: usize = 10;
const MATCHES: usize = 100;

/// Shows one round if it is named, or if rounds are large.
pub(crate) fn page(snapshot: &LeagueSnapshot, paging: &Paging, named: Option<u32>) -> Markup {
    let season = snapshot.season();
    let (rounds, current) = (season.total_rounds(), season.round_number().0.max(1));
    let each = season.plan(RoundId(current)).map_or(0, |plan| plan.pairings.len());
    let only = named.or((each > MATCHES).then_some(current));
    html! {
        section #schedule {
            div.bar {
                h1 { "Schedule" }
                @if rounds > 0 {
                    form.search action="schedule" method="get" {
                        label for="round-number" { "Round" }
                        input #round-number type="number" name="round" min="1" max=(rounds) value=(only.unwrap_or(current));
                        button { "Show" }
                    }
                }
            }
            @if season.phase() == LeaguePhase::WaitingForRegistrations {
                p.empty { "The schedule is made when registration closes. The first page shows who is here and how to join." }
            } @else if season.is_halted() {
                p.notice { "The operator has stopped the league: no match begins until the operator lets it go on." }
            }
            (bracket::section(snapshot))
            @match only {
                Some(number) => (alone(snapshot, number, current, paging)),
                None => (several(snapshot, current, paging, (MATCHES / each.max(1)).clamp(1, ROUNDS))),
            }
        }
    }
}

fn alone(snapshot: &LeagueSnapshot, number: u32, current: u32, paging: &Paging) -> Markup {
    let paging = Paging { size: MATCHES, ..paging.clone() };
    let rounds = snapshot.season().total_rounds();
    html! {
        @match snapshot.season().scheduled_round(RoundId(number)) {
            Some(round) => {
                (one(snapshot, &round, paging.piece(&round.matches), current))
                (paging.links(&format!("schedule?round={number}"), round.matches.len()))
            }
            None => p.empty { "There is no such round." },
        }
        nav.paging aria-label="Other rounds" {
            @if number > 1 && number <= rounds { a rel="prev" href={ "schedule?round=" (number - 1) } { "‹ Round " (number - 1) } }
            @if number < rounds { a rel="next" href={ "schedule?round=" (number + 1) } { "Round " (number + 1) " ›" } }
            a href="schedule" { "Back to the schedule" }
        }
    }
}

fn several(snapshot: &LeagueSnapshot, current: u32, paging: &Paging, each: usize) -> Markup {
    let rounds: Vec<u32> = (1..=snapshot.season().total_rounds()).collect();
    let paging = Paging { size: each, ..paging.clone() };
    html! {
        @if rounds.len() > each {
            p { a href={ "schedule?page=" ((current as usize).saturating_sub(1) / each + 1) } { "To round " (current) ", which is the current one" } }
        }
        div.rounds {
            @for number in paging.piece(&rounds) {
                @if let Some(round) = snapshot.season().scheduled_round(RoundId(*number)) { (one(snapshot, &round, &round.matches, current)) }
            }
        }
        (paging.links("schedule", rounds.len()))
    }
}

fn one(snapshot: &LeagueSnapshot, round: &ScheduledRound, matches: &[ScheduledMatch], current: u32) -> Markup {
    let begun = snapshot.season().current_round().is_some();
    let word = if round.completed {
        "over"
    } else if round.round_id.0 == current && begun {
        "now"
    } else if round.round_id.0 == current || (begun && round.round_id.0 == current + 1) {
        "next"
    } else {
        "later"
    };
    html! {
        section.round id={ "round-" (round.round_id) } {
            h2 { "Round " (round.round_id) " " span.pill data-state=(word) { (word) } }
            ul.matches { @for game in matches { (entry(snapshot, game, None)) (scores_before(snapshot, game)) } }
            (byes(snapshot.season(), round.round_id))
        }
    }
}

pub(crate) fn byes(season: &Season, round: RoundId) -> Markup {
    let byes = season.byes(round);
    html! {
        @if !byes.is_empty() {
            p.bye { "Bye: " @for (index, bye) in byes.into_iter().enumerate() { @if index > 0 { ", " } (player_link(bye)) } }
        }
    }
}

/// Running matches first, then waiting ones, then finished ones.
pub(crate) fn by_state(round: &ScheduledRound) -> Vec<&ScheduledMatch> {
    let mut matches: Vec<&ScheduledMatch> = round.matches.iter().collect();
    matches.sort_by_key(|game| match game.status.as_str() {
        "IN_PROGRESS" => 0,
        "PENDING" => 1,
        _ => 2,
    });
    matches
}

/// The winner first, as in the sentence about a result.
pub(crate) fn in_order(outcome: Outcome) -> [Side; 2] {
    let first = outcome.winner().unwrap_or(Side::A);
    [first, first.other()]
}

/// The scores with which a Swiss round paired the two, so that the score groups can be seen.
fn scores_before(snapshot: &LeagueSnapshot, game: &ScheduledMatch) -> Markup {
    let season = snapshot.season();
    let before = (game.round_id.0 as usize).checked_sub(2).filter(|_| season.config().format.name() == "swiss");
    let known = |player: &PlayerId| {
        let points = snapshot.points(snapshot.place(player)?).get(before?).copied()?;
        Some(html! { (named(&season.player(player)?.profile.name)) " had " (points) })
    };
    html! {
        @if let (Some(a), Some(b)) = (known(&game.player_a_id), known(&game.player_b_id)) { li.paired { span { (a) ", " (b) } } }
    }
}

/// `phase` is known only for running matches.
pub(crate) fn entry(snapshot: &LeagueSnapshot, game: &ScheduledMatch, phase: Option<&'static str>) -> Markup {
    let (state, word) = match game.status.as_str() {
        "IN_PROGRESS" => ("playing", phase.unwrap_or("playing")),
        "PENDING" if snapshot.season().walkover(&game.match_id).is_some() => ("void", "will not be played"),
        "PENDING" => ("waiting", "waiting"),
        _ => ("done", ""),
    };
    html! {
        li id={ "match-" (game.match_id) } data-state=(state) {
            span.id { (match_link(&game.match_id)) }
            @match snapshot.record(&game.match_id) {
                Some(record) => {
                    span.who { (recent_events::ended(snapshot.season(), &game.match_id, record.outcome)) }
                    span.what {
                        @let sides = in_order(record.outcome);
                        @if has_one_move(snapshot.season().config()) {
                            @for side in sides { @if let Some(choice) = &record.moves[side] { span.choice { (choice) } " " } }
                        } @else if let Some(score) = record.score { span.choice { (score[sides[0]]) " : " (score[sides[1]]) } }
                        @if let Some(number) = record.drawn { b.number title="the number that was drawn" { (number) } }
                    }
                }
                None => {
                    span.who { (players_of(snapshot, &game.match_id)) }
                    span.what { span.pill data-state=(state) { (word) } }
                }
            }
        }
    }
}
