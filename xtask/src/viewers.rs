//! `cargo xtask viewers`: what is promised to those who look, and to those who play meanwhile, measured.
//!
//! Leagues of 100 players are played by turns without anybody watching and with 500 viewers. What counts is the ratio of two that were
//! played one after the other, and of several such ratios the one in the middle: whatever else the machine does meanwhile does it to both.
//! Both are timed from round 20 on by a single reader of `/api/v1/events`, so both have one. The viewers are a process of their own with the
//! lowest priority: on screens elsewhere they would take nothing from the league but what the manager does for them.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::staged::Staged;
use crate::{Outcome, Repository, say};

const VIEWERS: u32 = 500;
const PAIRS: usize = 5;
/// How much longer the league may take when it is watched.
const SLOWER: f64 = 1.10;
/// How long an event may be on its way to a screen, in milliseconds, for 95 of 100.
const ON_SCREEN: f64 = 250.0;

struct Measured {
    seconds: f64,
    /// Seconds that processors have worked for it: what is said on a machine that has other things to do.
    worked: f64,
    p95_ms: Option<f64>,
}

/// Measures, and fails where a promise is not kept.
pub(crate) fn measure(repository: &Repository) -> Outcome {
    repository.run(
        repository.cargo("build --release --package league --package league-dashboard --example viewers --bin league"),
    )?;
    say::begin("pages of a league of 1,000 players");
    // Says by itself how long they took, and fails above a tenth of a second.
    repository.run(repository.cargo(
        "test --release --package league-dashboard --test site -- --nocapture a_large_league_is_paged_and_searched",
    ))?;
    say::begin("a league of 100 players, watched by nobody and by 500");
    let (mut ratios, mut delays) = (Vec::new(), Vec::new());
    for pair in 1..=PAIRS {
        // Whoever comes second finds a warmer machine, so each is second in turns.
        let (alone, watched) = if pair % 2 == 0 {
            let watched = league(repository, VIEWERS)?;
            (league(repository, 0)?, watched)
        } else {
            let alone = league(repository, 0)?;
            (alone, league(repository, VIEWERS)?)
        };
        let delay = watched.p95_ms.ok_or("nobody saw anything")?;
        let ratio = watched.seconds / alone.seconds;
        eprintln!(
            "    {pair}: {:.2} s alone, {:.2} s watched: {ratio:.3} (of work {:.3}); on screen within {delay:.0} ms for 95 of 100",
            alone.seconds,
            watched.seconds,
            watched.worked / alone.worked
        );
        ratios.push(ratio);
        delays.push(delay);
    }
    let (ratio, delay) = (middle(&mut ratios), middle(&mut delays));
    let told =
        format!("{VIEWERS} viewers: {ratio:.3} of the time without them, on screen within {delay:.0} ms for 95 of 100");
    if ratio > SLOWER || delay > ON_SCREEN {
        return Err(format!("{told}; at most {SLOWER:.2} and {ON_SCREEN:.0} ms were promised"));
    }
    say::passed(&told);
    Ok(())
}

/// Plays a league that so many watch.
fn league(repository: &Repository, viewers: u32) -> Result<Measured, String> {
    let mut staged = Staged::begin(
        repository,
        &repository.target.join("viewers-league"),
        &["--players", "100", "--referees", "4", "--seed", "7"],
    )?;
    let site = staged.site()?;
    let place = site.trim_start_matches("http://").trim_end_matches('/').to_owned();
    let program = repository.target.join("release/examples").join(format!("viewers{}", std::env::consts::EXE_SUFFIX));
    let output = patient(&program)
        .args([place, viewers.to_string()])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("the viewers could not be started: {error}"))?;
    let told = String::from_utf8_lossy(&output.stdout);
    let figure = |name: &str| {
        let rest = told.split_once(&format!("\"{name}\":"))?.1;
        rest.split([',', '}']).next()?.trim().parse::<f64>().ok()
    };
    let seconds = figure("seconds").ok_or_else(|| format!("the viewers saw no league: {told}"))?;
    Ok(Measured { seconds, worked: staged.worked().unwrap_or(f64::NAN), p95_ms: figure("p95_ms") })
}

/// A program that gives way to all others, where the system has a word for that.
fn patient(program: &Path) -> Command {
    if cfg!(unix) {
        let mut command = Command::new("nice");
        command.args(["-n", "19"]).arg(program);
        command
    } else {
        Command::new(program)
    }
}

fn middle(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::middle;

    #[test]
    fn the_figure_in_the_middle_is_not_moved_by_one_that_is_far_out() {
        assert!((middle(&mut [1.0, 9.0, 1.1, 0.9, 1.2]) - 1.1).abs() < 1e-9);
    }
}
