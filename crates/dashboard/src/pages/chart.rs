//! SVG charts: points by round, and a histogram of answer times.

use league_protocol::message::standings::StandingsRow;
use maud::{Markup, html};

use crate::league_snapshot::LeagueSnapshot;

const LINES: usize = 8;
/// The most points of a line.
const STEPS: usize = 60;
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 34.0;
const BOTTOM: f64 = 24.0;
const TOP: f64 = 8.0;
const RIGHT: f64 = 10.0;

pub(crate) fn points(snapshot: &LeagueSnapshot) -> Markup {
    let points_of = |row: StandingsRow| Some((row.display_name, snapshot.points(snapshot.place(&row.player_id)?)));
    let leaders: Vec<_> = snapshot.season().standings().into_iter().take(LINES).filter_map(points_of).collect();
    let rounds = leaders.first().map_or(0, |(_, points)| points.len());
    let most = leaders.iter().filter_map(|(_, points)| points.last()).max().copied().unwrap_or(0).max(1);
    html! {
        section #chart aria-labelledby="chart-title" {
            h2 #chart-title { "Points by round" }
            @if rounds == 0 {
                p.empty { "Nothing has been played yet." }
            } @else {
                svg.chart viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label={ "Points of the first " (leaders.len()) " after each of " (rounds) " rounds; the standings have the figures" } {
                    (axes(rounds, most))
                    @for (index, (_, points)) in leaders.iter().enumerate() {
                        polyline class={ "line c" (index) } points=(path(points, most)) {}
                    }
                }
                ol.legend { @for (index, (name, points)) in leaders.iter().enumerate() { (label(index, name, points)) } }
            }
        }
    }
}

fn x(step: usize, steps: usize) -> f64 {
    LEFT + (WIDTH - LEFT - RIGHT) * step as f64 / steps.max(1) as f64
}

fn y(value: u32, most: u32) -> f64 {
    TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - f64::from(value) / f64::from(most))
}

/// Starts at zero. Of many rounds only some are drawn.
fn path(points: &[u32], most: u32) -> String {
    let every = points.len().div_ceil(STEPS).max(1);
    let mut text = format!("{:.1},{:.1}", x(0, points.len()), y(0, most));
    for (round, value) in points.iter().enumerate() {
        if (round + 1).is_multiple_of(every) || round + 1 == points.len() {
            text.push_str(&format!(" {:.1},{:.1}", x(round + 1, points.len()), y(*value, most)));
        }
    }
    text
}

fn label(index: usize, name: &str, points: &[u32]) -> Markup {
    html! {
        li {
            svg viewBox="0 0 10 10" width="10" height="10" aria-hidden="true" { rect class={ "key c" (index) } width="10" height="10" rx="2" {} }
            (name) " " b { (points.last().copied().unwrap_or(0)) }
        }
    }
}

fn axes(rounds: usize, most: u32) -> Markup {
    let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
    html! {
        @for part in 0..=4_u32 {
            @let at = TOP + (HEIGHT - TOP - BOTTOM) * f64::from(part) / 4.0;
            line.grid x1=(LEFT) y1=(at) x2=(right) y2=(at) {}
        }
        text.axis x=(LEFT - 6.0) y=(TOP + 4.0) text-anchor="end" { (most) }
        text.axis x=(LEFT - 6.0) y=(bottom) text-anchor="end" { "0" }
        text.axis x=(LEFT) y=(HEIGHT - 6.0) { "start" }
        text.axis x=(right) y=(HEIGHT - 6.0) text-anchor="end" { "round " (rounds) }
    }
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
