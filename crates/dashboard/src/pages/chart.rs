//! SVG charts: places by round, and a histogram of answer times.

use league_core::season::LeaguePhase;
use league_protocol::display::escaped;
use league_protocol::message::standings::StandingsRow;
use maud::{Markup, html};

use super::{bracket, podium};
use crate::league_snapshot::LeagueSnapshot;
use crate::rank_history::ROUNDS;

const LINES: usize = 8;
/// Lower places are drawn together, on the last line.
const PLACES: usize = 10;
const WIDTH: f64 = 640.0;
const STEP: f64 = 28.0;
const LEFT: f64 = 30.0;
const TOP: f64 = 16.0;
const RIGHT: f64 = 170.0;
/// The characters of a name that fit beside a line.
const NAME: usize = 16;

/// The places of the first players after each round. Players with equal ranks get one line each, in the order of today.
pub(crate) fn ranks(snapshot: &LeagueSnapshot, rows: &[StandingsRow]) -> Markup {
    let season = snapshot.season();
    if season.phase() == LeaguePhase::WaitingForRegistrations {
        return html! { section #chart hidden {} };
    }
    if !podium::by_points(snapshot) {
        return html! {
            section #chart aria-labelledby="chart-title" { h2 #chart-title { "Bracket" } (bracket::section(snapshot)) }
        };
    }
    let played = season.round_number().0 as usize;
    let rounds = played.min(ROUNDS);
    let lines = rows.len().min(LINES);
    let (mut courses, mut shown_ranks) = (vec![Vec::new(); lines], vec![String::new(); lines]);
    let mut has_equals = false;
    for round in played - rounds + 1..=played {
        let rank = |row: &StandingsRow| match round == played {
            true => Some(row.rank),
            false => snapshot.place(&row.player_id).and_then(|place| snapshot.ranks().rank(place, round as u32)),
        };
        // A player that came later was behind all others.
        let ranked =
            rows.iter().take(lines).map(|row| rank(row).map_or(rows.len(), |rank| (rank as usize).saturating_sub(1)));
        let mut order: Vec<(usize, usize)> = ranked.zip(0..).collect();
        order.sort_unstable();
        let mut free = 0;
        for (rank, line) in order {
            let place = rank.max(free);
            has_equals |= place > rank && rank < rows.len();
            shown_ranks[line].push_str(&if rank < rows.len() {
                format!("{} ", rank + 1)
            } else {
                String::from("– ")
            });
            courses[line].push(place);
            free = place + 1;
        }
    }
    let places = rows.len().min(PLACES);
    let height = TOP + STEP * places as f64 + 14.0;
    html! {
        section #chart aria-labelledby="chart-title" {
            h2 #chart-title { "Places by round" }
            @if rounds == 0 || season.matches_completed() == 0 {
                p.empty { "No match has been played yet. The lines begin with the first result." }
            } @else {
                svg.chart viewBox={ "0 0 " (WIDTH) " " (height) } role="img" aria-label={ "Places of the first " (lines) " after each round; the standings have the figures" } {
                    @for place in 0..places {
                        line.grid x1=(LEFT) y1=(y(place)) x2=(WIDTH - RIGHT) y2=(y(place)) {}
                        text.axis x=(LEFT - 10.0) y=(y(place) + 4.0) text-anchor="end" { (place + 1) @if place + 1 == PLACES && rows.len() > PLACES { "+" } }
                    }
                    @for (index, (row, course)) in rows.iter().zip(&courses).enumerate() {
                        g.run {
                            title { (escaped(&row.display_name)) ": " (shown_ranks[index]) }
                            polyline class={ "line c" (index) } points=(path(course)) {}
                            circle class={ "key c" (index) } cx=(WIDTH - RIGHT) cy=(y(index)) r="5" {}
                            text x=(WIDTH - RIGHT + 10.0) y=(y(index) + 4.0) { (escaped(&row.display_name).to_string().chars().take(NAME).collect::<String>()) " · " (podium::figure(row)) }
                        }
                    }
                    text.axis x=(LEFT) y=(height - 2.0) { "round " (played - rounds + 1) }
                    text.axis x=(WIDTH - RIGHT) y=(height - 2.0) text-anchor="end" { "round " (played) }
                }
                @if has_equals { p.small { "Players with equal ranks are drawn one below the other." } }
            }
        }
    }
}

fn y(rank: usize) -> f64 {
    TOP + STEP * rank.min(PLACES - 1) as f64
}

fn path(course: &[usize]) -> String {
    let step = (WIDTH - LEFT - RIGHT) / (course.len() - 1).max(1) as f64;
    // One round is a line, too.
    let course: &[usize] = if let [only] = course { &[*only, *only] } else { course };
    let points =
        course.iter().enumerate().map(|(index, rank)| format!("{:.1},{:.1}", LEFT + step * index as f64, y(*rank)));
    points.collect::<Vec<_>>().join(" ")
}

pub(crate) fn histogram(title: &str, id: &str, bars: &[(&str, usize)]) -> Markup {
    let most = bars.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
    let total: usize = bars.iter().map(|(_, count)| count).sum();
    let step = 320.0 / bars.len().max(1) as f64;
    html! {
        figure {
            figcaption { (title) ", " (total) " answers" }
            svg.bars id=(id) viewBox="0 0 320 96" role="img" aria-label={ (title) ": " @for (name, count) in bars { @if *count > 0 { (count) " in " (name) "; " } } } {
                @for (index, (name, count)) in bars.iter().enumerate() {
                    @let high = 66.0 * *count as f64 / most as f64;
                    rect x=(format!("{:.1}", step * index as f64 + 3.0)) y=(format!("{:.1}", 80.0 - high)) width=(format!("{:.1}", step - 6.0)) height=(format!("{high:.1}")) rx="2" { title { (name) ": " (count) } }
                    @if *count > 0 { text.count x=(format!("{:.1}", step * (index as f64 + 0.5))) y=(format!("{:.1}", 76.0 - high)) text-anchor="middle" { (count) } }
                    text.axis x=(format!("{:.1}", step * (index as f64 + 0.5))) y="94" text-anchor="middle" { (name) }
                }
            }
        }
    }
}
