//! A player: how it is doing, what to fix, against whom it wins and loses, its answer times, its choices and its matches.

use league_core::season::Season;
use league_core::season::agent::RegisteredPlayer;
use league_protocol::id::{MatchId, PlayerId, RoundId};
use league_protocol::message::game_over::OwnResult;
use league_protocol::message::standings::StandingsRow;
use league_store::views::match_file::MatchFile;
use maud::{Markup, html};

use super::chart::histogram;
use super::league::has_one_move;
use super::links::{form, match_link, named, player_link};
use super::{hints, podium, strengths};
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
    let rows = season.standings();
    let row = rows.iter().find(|row| row.player_id == player.id);
    let place = snapshot.place(&player.id);
    let results = place.map(|place| snapshot.form(place, 10)).unwrap_or_default();
    let never_moved = place.is_some_and(|place| snapshot.never_moved(place));
    let forfeits = place.map_or(0, |place| season.table().row(place).technical_losses);
    html! {
        section #player {
            h1 { (named(&player.profile.name)) " " small { (player.id) } " "
                @if never_moved { span.pill data-state="FORFEITING" { "no legal move yet" } } @else { (state(season, player)) } }
            @if let Some(row) = row.filter(|_| place.is_some()) { (headline(snapshot, &rows, row, &results)) }
            @else { p #headline.headline { "Registered. It plays when the league begins." } }
            @if let Some(next) = season.next_match(&player.id) {
                p #next { "Next: " (match_link(&next.match_id)) " in round " (next.round_id) ", against "
                    @if let Some(opponent) = season.player(&next.opponent_id) { (player_link(opponent)) } }
            }
            dl.facts {
                @if let Some(row) = row.filter(|_| place.is_some()) {
                    div { dt { "Rank" } dd { (row.rank) " of " (season.players().len()) (podium::rank_change(snapshot, row)) } }
                    div { dt { "Points" } dd { (row.points) } }
                    @if row.score.is_some() { div { dt { "Mean score" } dd { (podium::figure(row)) } } }
                    div { dt { "Won" } dd { (row.wins) } }
                    div { dt { "Drawn" } dd { (row.draws) } }
                    div { dt { "Lost" } dd { (row.losses) } }
                    @if forfeits > 0 { div { dt { "Technical losses" } dd { (forfeits) } } }
                    @if !results.is_empty() { div #form { dt { "Form, the latest last" } dd { (form(&results)) } } }
                }
            }
        }
        (hints::section(snapshot, player))
        @if let Some(place) = place {
            (strengths::section(snapshot, place))
            div.side-by-side {
                (times(snapshot, player, files))
                @if has_one_move(season.config()) || never_moved { (choices(snapshot, place, never_moved)) }
            }
            (opponents(snapshot, place, from))
        }
        section #program aria-labelledby="program-title" {
            h2 #program-title { "The program" }
            dl.facts {
                div { dt { "Spoken to in frame" } dd { (player.dialect.frame()) } }
                div { dt { "Version" } dd { (player.profile.version) } }
                div { dt { "Games" } dd { @for game in &player.profile.games { (game) " " } } }
            }
        }
        (operate)
    }
}

/// How the player is doing, in two sentences.
fn headline(snapshot: &LeagueSnapshot, rows: &[StandingsRow], row: &StandingsRow, results: &[OwnResult]) -> Markup {
    let ahead = rows.iter().rev().find(|other| other.rank < row.rank);
    let behind = rows.iter().find(|other| other.rank > row.rank);
    let count = |wanted: OwnResult| results.iter().filter(|result| **result == wanted).count();
    // In the table, a match that both players forfeited may be a draw.
    let (lost, forfeited) = (count(OwnResult::Loss), count(OwnResult::TechnicalLoss));
    let gap = |points: u32| html! { (points) @if points == 1 { " point" } @else { " points" } };
    html! {
        p #headline.headline {
            "Rank " (row.rank) " of " (snapshot.season().players().len()) " with " (podium::worth(row))
            @if row.score.is_none() && podium::by_points(snapshot) {
                @match (ahead, behind) {
                    (Some(ahead), _) if ahead.points > row.points => { ", " (gap(ahead.points - row.points)) " behind " (named(&ahead.display_name)) }
                    (Some(ahead), _) => { ", behind " (named(&ahead.display_name)) " by the tie-break" }
                    (None, Some(behind)) if row.points > behind.points => { ", " (gap(row.points - behind.points)) " ahead of " (named(&behind.display_name)) }
                    (None, _) => {}
                }
            }
            ". "
            @if !results.is_empty() {
                "Of its last " (results.len()) " " @if results.len() == 1 { "match" } @else { "matches" }
                " it won " (count(OwnResult::Win)) ", drew " (count(OwnResult::Draw))
                @if forfeited > 0 { ", lost " (lost) " and forfeited " (forfeited) "." } @else { " and lost " (lost) "." }
            }
        }
    }
}

fn times(snapshot: &LeagueSnapshot, player: &RegisteredPlayer, files: &[MatchFile]) -> Markup {
    let id = player.id.as_str();
    let (reported, middle) = (answers::reported(snapshot, &player.id), answers::median(files, id));
    html! {
        section #times aria-labelledby="times-title" {
            h2 #times-title { "Answer times" }
            @if let Some(middle) = middle.or_else(|| answers::middle(&reported)) {
                p { "Half of its " @if files.is_empty() { "joins and last moves" } @else { "answers" } " come within " b { (middle) " ms" }
                    @if let Some(slowest) = answers::slowest(&reported) {
                        "; the slowest join or last move of its last matches took " b { (slowest.took) " ms" } ", " (slowest.percent()) " % of its limit"
                    } "." }
            }
            @if files.is_empty() {
                p.empty { "No transcript of its matches is kept here." }
            } @else {
                div.figures {
                    (histogram("Invitations", "joins", &answers::histogram(files, id, &["GAME_JOIN_ACK", "GAME_INVITATION"])))
                    (histogram("Moves", "move-times", &answers::histogram(files, id, &["CHOOSE_PARITY_RESPONSE", "CHOOSE_PARITY_CALL", "GAME_MOVE_RESPONSE", "GAME_MOVE_CALL"])))
                }
                p.small { "Bars count answers by the part of their limit that they took, from the last " (files.len()) " matches." }
            }
        }
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
                p { @for (index, (kind, count)) in kinds.iter().enumerate() { @if index > 0 { ", " } b { (kind) } " " (count) " ×" } }
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
    let columns = Columns::of(snapshot, place);
    html! {
        section #opponents aria-labelledby="opponents-title" {
            h2 #opponents-title { "All its matches" }
            div.wide tabindex="0" role="region" aria-label="Its matches" {
                table #matches-table {
                    thead { tr {
                        th scope="col" data-sort="rank" { "Round" } th.name scope="col" data-sort="text" { "Opponent" } th scope="col" data-sort="text" { "Result" }
                        @if columns.choices { th scope="col" data-sort="text" { "Chose" } th scope="col" data-sort="text" { "Opponent chose" } }
                        @if columns.number { th scope="col" data-sort="number" { "Number" } }
                        @if columns.score { th scope="col" { "Score" } }
                        th scope="col" { "Match" }
                    } }
                    tbody { @for round in from + 1..=until { (line(snapshot, place, round, columns)) } }
                }
            }
            @if until < rounds { p { a href={ "players/" (snapshot.season().players()[place as usize].id) "?from=" (until) } { "Later rounds" } } }
        }
    }
}

/// What the table of matches can show of the game.
#[derive(Clone, Copy)]
struct Columns {
    choices: bool,
    number: bool,
    score: bool,
}

impl Columns {
    fn of(snapshot: &LeagueSnapshot, place: u32) -> Self {
        let choices = has_one_move(snapshot.season().config());
        let number = choices && snapshot.played(place).any(|(_, record)| record.drawn.is_some());
        Self { choices, number, score: snapshot.played(place).any(|(_, record)| record.score.is_some()) }
    }
}

fn line(snapshot: &LeagueSnapshot, place: u32, round: u32, columns: Columns) -> Markup {
    let Some(PlayerMatch { fixture, record }) = snapshot.match_of(place, round) else {
        let why = if snapshot.season().plan(RoundId(round)).is_some() { "bye" } else { "not paired yet" };
        return html! { tr { td { (round) } th.name scope="row" { (why) } td {} @if columns.choices { td {} td {} } @if columns.number { td {} } @if columns.score { td {} } td {} } };
    };
    let choice = |side| record.and_then(|record| record.moves[side].as_ref());
    html! {
        tr {
            td { (round) }
            th.name scope="row" { @if let Some(opponent) = snapshot.season().players().get(fixture.opponent as usize) { (player_link(opponent)) } }
            td { @match record {
                Some(record) => { (form(&[own_result(record, fixture.side)])) }
                None => "open",
            } }
            @if columns.choices {
                td { @if let Some(choice) = choice(fixture.side) { (choice) } }
                td { @if let Some(choice) = choice(fixture.side.other()) { (choice) } }
            }
            @if columns.number { td { @if let Some(number) = record.and_then(|record| record.drawn) { (number) } } }
            @if columns.score {
                td { @if let Some(score) = record.and_then(|record| record.score) { (score[fixture.side]) " : " (score[fixture.side.other()]) } }
            }
            td { (match_link(&fixture.match_id)) }
        }
    }
}
