//! A player: its record, form, opponents, choices and answer times.

use league_core::season::Season;
use league_core::season::agent::RegisteredPlayer;
use league_protocol::id::{MatchId, PlayerId};
use league_protocol::message::game_over::OwnResult;
use league_store::views::match_file::MatchFile;
use maud::{Markup, html};

use super::chart::histogram;
use super::links::{form, match_link, named, player_link};
use crate::answers;
use crate::league_snapshot::{LeagueSnapshot, PlayerMatch, own_result, shown};

/// The number of match files that are read for answer times.
pub(crate) const FILES: usize = 40;
const ROUNDS: u32 = 100;
const CHOICES: usize = 120;

pub(crate) fn page(
    snapshot: &LeagueSnapshot,
    player: &RegisteredPlayer,
    files: &[MatchFile],
    from: u32,
    operate: &Markup,
) -> Markup {
    let season = snapshot.season();
    let row = season.standings().into_iter().find(|row| row.player_id == player.id);
    let place = snapshot.place(&player.id);
    let results = place.map(|place| snapshot.form(place, 10)).unwrap_or_default();
    let never_moved = place.is_some_and(|place| snapshot.never_moved(place));
    let forfeits = place.map_or(0, |place| season.table().row(place).technical_losses);
    html! {
        section #player {
            h1 { (named(&player.profile.name)) " " small { (player.id) } " "
                @if never_moved { span.pill data-state="FORFEITING" { "no legal move yet" } } @else { (state(season, player)) } }
            dl.facts {
                @if let Some(row) = &row {
                    div { dt { "Rank" } dd { (row.rank) " of " (season.players().len()) } }
                    div { dt { "Points" } dd { (row.points) } }
                    div { dt { "Won" } dd { (row.wins) } }
                    div { dt { "Drawn" } dd { (row.draws) } }
                    div { dt { "Lost" } dd { (row.losses) } }
                    @if let Some(place) = place { div { dt { "Technical losses" } dd { (season.table().row(place).technical_losses) } } }
                }
                div { dt { "Spoken to in frame" } dd { (player.dialect.frame()) } }
                div { dt { "Version" } dd { (player.profile.version) } }
                div { dt { "Games" } dd { @for game in &player.profile.games { (game) " " } } }
            }
            p #form { "Form " (form(&results)) }
            @if let Some(next) = season.next_match(&player.id) {
                p #next { "Next: " (match_link(&next.match_id)) " in round " (next.round_id) ", against "
                    @if let Some(opponent) = season.player(&next.opponent_id) { (player_link(opponent)) } }
            }
        }
        (fixes(snapshot, player, forfeits))
        (quirks(player, forfeits > 0))
        @if let Some(place) = place {
            (choices(snapshot, place, never_moved))
            section #times aria-labelledby="times-title" {
                h2 #times-title { "Answer times against their limits" }
                @if files.is_empty() {
                    p.empty { "No transcript of its matches is kept here." }
                } @else {
                    div.figures {
                        (histogram("Invitations", "joins", &answers::histogram(files, player.id.as_str(), &["GAME_JOIN_ACK", "GAME_INVITATION"])))
                        (histogram("Choices", "choices-times", &answers::histogram(files, player.id.as_str(), &["CHOOSE_PARITY_RESPONSE", "CHOOSE_PARITY_CALL"])))
                    }
                    p.small { "From its last " (files.len()) " matches"
                        @if let Some(median) = answers::median(files, player.id.as_str()) { ", " (median) " ms in the middle" } "." }
                }
            }
            (opponents(snapshot, place, from))
        }
        (operate)
    }
}

pub(crate) fn latest(snapshot: &LeagueSnapshot, player: &PlayerId, count: usize) -> Vec<MatchId> {
    let Some(place) = snapshot.place(player) else { return Vec::new() };
    let latest = snapshot.played(place).rev().take(count).map(|(fixture, _)| fixture.match_id);
    let mut latest: Vec<MatchId> = latest.collect();
    latest.reverse();
    latest
}

pub(crate) fn state(season: &Season, player: &RegisteredPlayer) -> Markup {
    let condition = season.condition(player);
    html! { span.pill data-state=(condition.as_str()) { (condition.word()) } }
}

fn fixes(snapshot: &LeagueSnapshot, player: &RegisteredPlayer, forfeits: u32) -> Markup {
    let problems = snapshot.problems(&player.id);
    html! {
        @if forfeits > 0 {
            section #fix.fix aria-labelledby="fix-title" {
                h2 #fix-title { "What to fix" }
                p { "Technical losses: " (forfeits) ". A technical loss is a match that a player loses because it gives no answer that counts." }
                @if problems.is_empty() {
                    p { "The referee did not report what went wrong; the matches below that end with F show what was said." }
                } @else {
                    ul { @for (problem, matches) in &problems {
                        li { b { (problem) } span.small { " In " @for (place, match_id) in matches.iter().enumerate() { @if place > 0 { ", " } (match_link(match_id)) } "." } }
                    } }
                }
                p.small { "Try a change before the next league: start the player and run league check with its address." }
            }
        }
    }
}

fn quirks(player: &RegisteredPlayer, has_lost: bool) -> Markup {
    html! {
        @if player.quirks.iter().next().is_some() {
            section #quirks aria-labelledby="quirks-title" {
                h2 #quirks-title { "What it does differently" }
                p { @if has_lost { "None of these differences cost it a match." } @else { "None of this does any harm here; elsewhere it may." } }
                ul { @for quirk in player.quirks.iter() { li { b { (quirk.what()) } ": " (quirk.advice()) } } }
            }
        }
    }
}

fn choices(snapshot: &LeagueSnapshot, place: u32, never_moved: bool) -> Markup {
    let made = snapshot.played(place).filter_map(|(fixture, record)| {
        Some((record.moves[fixture.side].as_deref()?, own_result(record, fixture.side)))
    });
    let made: Vec<(&str, OwnResult)> = made.collect();
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for (choice, _) in &made {
        match kinds.iter_mut().find(|(kind, _)| kind == choice) {
            Some((_, count)) => *count += 1,
            None => kinds.push((choice, 1)),
        }
    }
    html! {
        section #choices aria-labelledby="choices-title" {
            h2 #choices-title { "Choices over time" }
            @if made.is_empty() {
                p.empty { @if never_moved { "It has made no legal choice." } @else { "It has not chosen yet." } }
            } @else {
                p { @for (kind, count) in &kinds { b { (kind) } " " (count) " times " } }
                ol.strip aria-label="Its choices, the oldest first" {
                    @for (choice, result) in &made[made.len().saturating_sub(CHOICES)..] {
                        @let (letter, word) = shown(*result);
                        li class={ "m" (letter) } title={ (choice) ", " (word) } { (choice.chars().next().unwrap_or('?')) }
                    }
                }
                p.small { "The letter is the choice, the colour how it ended." }
            }
        }
    }
}

fn opponents(snapshot: &LeagueSnapshot, place: u32, from: u32) -> Markup {
    let rounds = snapshot.season().total_rounds();
    let until = rounds.min(from.saturating_add(ROUNDS));
    html! {
        section #opponents aria-labelledby="opponents-title" {
            h2 #opponents-title { "Opponents" }
            div.wide tabindex="0" role="region" aria-label="Its matches" {
                table {
                    thead { tr {
                        th scope="col" { "Round" } th scope="col" { "Match" } th.name scope="col" { "Opponent" }
                        th scope="col" { "Chose" } th scope="col" { "Opponent chose" } th scope="col" { "Number" } th scope="col" { "Result" }
                    } }
                    tbody { @for round in from + 1..=until { (line(snapshot, place, round)) } }
                }
            }
            @if until < rounds { p { a href={ "players/" (snapshot.season().players()[place as usize].id) "?from=" (until) } { "Later rounds" } } }
        }
    }
}

fn line(snapshot: &LeagueSnapshot, place: u32, round: u32) -> Markup {
    let Some(PlayerMatch { fixture, record }) = snapshot.match_of(place, round) else {
        return html! { tr { td { (round) } td {} th.name scope="row" { "bye" } td {} td {} td {} td {} } };
    };
    let choice = |side| record.and_then(|record| record.moves[side].as_ref());
    html! {
        tr {
            td { (round) }
            td { (match_link(&fixture.match_id)) }
            th.name scope="row" { @if let Some(opponent) = snapshot.season().players().get(fixture.opponent as usize) { (player_link(opponent)) } }
            td { @if let Some(choice) = choice(fixture.side) { (choice) } }
            td { @if let Some(choice) = choice(fixture.side.other()) { (choice) } }
            td { @if let Some(number) = record.and_then(|record| record.drawn) { (number) } }
            td { @match record {
                Some(record) => { (form(&[own_result(record, fixture.side)])) }
                None => "open",
            } }
        }
    }
}
