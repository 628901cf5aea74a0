//! The headline of a league: who leads, whether it is decided, and the first three.

use league_core::rules::outcome::Outcome;
use league_core::season::LeaguePhase;
use league_protocol::id::RoundId;
use league_protocol::message::standings::StandingsRow;
use league_protocol::side::Side;
use maud::{Markup, html};

use super::bracket;
use super::links::named;
use crate::league_snapshot::LeagueSnapshot;

/// Players with equal ranks stand on one step; more are in the standings.
const PODIUM: usize = 4;

/// Knockouts are decided by their bracket, not by points.
pub(super) fn by_points(snapshot: &LeagueSnapshot) -> bool {
    snapshot.season().bracket().is_none()
}

/// The headline and the first three. Those of a knockout are known at its end.
pub(super) fn headline(snapshot: &LeagueSnapshot, rows: &[StandingsRow]) -> Markup {
    let season = snapshot.season();
    let is_over = season.phase() == LeaguePhase::LeagueCompleted;
    html! {
        (sentence(snapshot, rows))
        @if rows.iter().filter(|row| !row.withdrawn).count() > 2 && season.matches_completed() > 0 && (by_points(snapshot) || is_over) { (podium(snapshot, rows)) }
    }
}

pub(super) fn sentence(snapshot: &LeagueSnapshot, rows: &[StandingsRow]) -> Markup {
    let season = snapshot.season();
    // A withdrawn player keeps its rank but neither leads nor becomes champion.
    let rows: Vec<&StandingsRow> = rows.iter().filter(|row| !row.withdrawn).collect();
    let (Some(first), true) = (rows.first(), season.matches_completed() > 0) else { return html! {} };
    let sharing = rows.iter().take_while(|row| row.rank == first.rank).count();
    html! {
        @if season.phase() == LeaguePhase::LeagueCompleted {
            p.champion #champion {
                span aria-hidden="true" { "★ " } @if sharing > 1 { "Champions: " } @else { "Champion: " }
                @for (place, champion) in rows.iter().take(sharing.min(PODIUM)).enumerate() {
                    @if place > 0 && place + 1 == sharing { " and " } @else if place > 0 { ", " }
                    a href={ "players/" (champion.player_id) } { (named(&champion.display_name)) }
                }
                @if sharing > PODIUM { " and " (sharing - PODIUM) " more" }
                @if by_points(snapshot) { " with " (worth(first)) (lead(&rows)) }
            }
        } @else if by_points(snapshot) {
            p #headline.headline { (leader(first, sharing, &rows)) ". " (outlook(snapshot, &rows)) }
        } @else {
            p #headline.headline { (bracket::headline(snapshot)) }
        }
    }
}

/// Who leads or has won, for a list of leagues. `path` is that of the league.
pub(super) fn in_short(snapshot: &LeagueSnapshot, path: &str) -> Markup {
    let season = snapshot.season();
    let is_over = season.phase() == LeaguePhase::LeagueCompleted;
    if season.matches_completed() == 0 || !(by_points(snapshot) || is_over) {
        return html! { @if season.matches_completed() > 0 { (bracket::headline(snapshot)) } };
    }
    let mut rows = season.standings();
    rows.retain(|row| !row.withdrawn);
    let Some(first) = rows.first() else { return html! {} };
    let sharing = rows.iter().take_while(|row| row.rank == first.rank).count();
    html! {
        @if is_over { span aria-hidden="true" { "★ " } }
        a href={ (path) "players/" (first.player_id) } { (named(&first.display_name)) }
        @if sharing > 1 { " and " (sharing - 1) " more" }
        @if by_points(snapshot) { small { " with " (worth(first)) } }
    }
}

fn podium(snapshot: &LeagueSnapshot, rows: &[StandingsRow]) -> Markup {
    html! {
        ol.podium #podium {
            @for (place, row) in places(rows) {
                li data-place=(place) { span.place { (place) } a href={ "players/" (row.player_id) } { (named(&row.display_name)) } @if by_points(snapshot) { b { (figure(row)) } } }
            }
        }
    }
}

/// The first three places among the players that were not withdrawn.
fn places(rows: &[StandingsRow]) -> Vec<(usize, &StandingsRow)> {
    let ranked: Vec<&StandingsRow> = rows.iter().filter(|row| !row.withdrawn).collect();
    let ahead = |row: &StandingsRow| ranked.iter().take_while(|other| other.rank < row.rank).count();
    let placed = ranked.iter().map(|row| (ahead(row) + 1, *row));
    placed.take_while(|(place, _)| *place <= 3).take(PODIUM).collect()
}

fn leader(first: &StandingsRow, sharing: usize, rows: &[&StandingsRow]) -> Markup {
    html! {
        @if sharing > 1 { b { (sharing) " players" } " share the lead with " (worth(first)) }
        @else { b { a href={ "players/" (first.player_id) } { (named(&first.display_name)) } } " leads with " (worth(first)) (lead(rows)) }
    }
}

fn outlook(snapshot: &LeagueSnapshot, rows: &[&StandingsRow]) -> Markup {
    let season = snapshot.season();
    let left = season.total_rounds().saturating_sub(season.last_completed().map_or(0, |round| round.0));
    html! {
        @if is_decided(snapshot, rows, left) { "It is decided: no other player can reach that." }
        @else { "Not decided yet: " (left) " " @if left == 1 { "round" } @else { "rounds" } " to play." }
    }
}

/// By what the table is ranked first.
pub(super) fn worth(row: &StandingsRow) -> String {
    match (row.score, row.points) {
        (Some(_), _) => format!("a mean score of {}", figure(row)),
        (None, 1) => String::from("1 point"),
        (None, points) => format!("{points} points"),
    }
}

pub(super) fn figure(row: &StandingsRow) -> String {
    match row.score {
        Some(score) => format!("{:.2}", score as f64 / f64::from(row.played.max(1))),
        None => row.points.to_string(),
    }
}

fn lead(rows: &[&StandingsRow]) -> Markup {
    let [first, second, ..] = rows else { return html! {} };
    let ahead = first.points.saturating_sub(second.points);
    html! {
        @if first.score.is_some() || first.rank == second.rank {}
        @else if ahead > 0 { ", " (ahead) " ahead" }
        @else { ", ahead of " (named(&second.display_name)) " by the tie-break" }
    }
}

/// True when no other player can reach the points of the leader.
fn is_decided(snapshot: &LeagueSnapshot, rows: &[&StandingsRow], left: u32) -> bool {
    let season = snapshot.season();
    let win = Outcome::Win(Side::A).points(&season.config().scoring.match_points())[Side::A];
    let Some((first, others)) = rows.split_first().filter(|(first, _)| first.score.is_none()) else { return false };
    let (total, scores_byes) = (season.total_rounds(), season.config().format.scores_byes());
    // A match without a result may be won, a round without a plan may bring one, and some formats count a bye as a win.
    let may_win = |place: u32, round: u32| match snapshot.match_of(place, round) {
        Some(found) => found.record.is_none(),
        None => scores_byes || season.scheduled_round(RoundId(round)).is_none(),
    };
    let rounds = total.saturating_sub(left) + 1..=total;
    // Looks at no more rounds than it must: a plan of a large league takes time.
    let reaches = |row: &StandingsRow| {
        let wins = first.points.saturating_sub(row.points).div_ceil(win.max(1));
        let Some(last) = wins.checked_sub(1) else { return true };
        let place = snapshot.place(&row.player_id).filter(|_| wins <= left);
        place.is_some_and(|place| rounds.clone().filter(|round| may_win(place, *round)).nth(last as usize).is_some())
    };
    !others.iter().any(|row| reaches(row))
}

/// The places that a player has won or lost since the current round began.
pub(super) fn rank_change(snapshot: &LeagueSnapshot, row: &StandingsRow) -> Markup {
    let before = snapshot.season().round_number().0.saturating_sub(1);
    let was = snapshot.place(&row.player_id).and_then(|place| snapshot.ranks().rank(place, before));
    let Some(was) = was.filter(|_| by_points(snapshot)) else { return html! {} };
    html! {
        @if row.rank < was { span.up title="places won in this round" { "▲" (was - row.rank) } }
        @else if row.rank > was { span.down title="places lost in this round" { "▼" (row.rank - was) } }
    }
}
