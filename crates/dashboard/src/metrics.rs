//! `/metrics`: figures for Prometheus, in its text format.

use std::fmt::{Display, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::StatusCode;
use league_core::season::agent::{RefereeCondition, RegisteredPlayer};

use crate::dashboard::Shared;
use crate::reply::{self, Reply};
use crate::shared_state::SharedState;

const BUCKETS: [f64; 7] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0];

#[derive(Debug, Default)]
pub(crate) struct Metrics {
    buckets: [AtomicU64; BUCKETS.len()],
    visits: AtomicU64,
    errors: AtomicU64,
    micros: AtomicU64,
    refused_streams: AtomicU64,
}

impl Metrics {
    pub(crate) fn answered(&self, took: Duration, failed: bool) {
        let seconds = took.as_secs_f64();
        for (bucket, most) in self.buckets.iter().zip(BUCKETS) {
            if seconds <= most {
                bucket.fetch_add(1, Ordering::Relaxed);
            }
        }
        self.visits.fetch_add(1, Ordering::Relaxed);
        self.errors.fetch_add(u64::from(failed), Ordering::Relaxed);
        self.micros.fetch_add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub(crate) fn stream_refused(&self) {
        self.refused_streams.fetch_add(1, Ordering::Relaxed);
    }

    fn add_to(&self, page: &mut Page, shared: &SharedState) {
        {
            let snapshot = shared.snapshot();
            let season = snapshot.season();
            let status = season.status();
            page.league = season.config().league_id.to_string();
            page.family("league_info", "gauge", "The league and where it stands.");
            page.value("league_info", &[("state", season.phase().as_str())], 1);
            let players = |wanted: &dyn Fn(&RegisteredPlayer) -> bool| {
                season.players().iter().filter(|player| wanted(player)).count() as u64
            };
            let referees = |wanted: RefereeCondition| {
                season.referees().iter().filter(|referee| referee.condition() == wanted).count() as u64
            };
            let (active, lost) = (referees(RefereeCondition::Active), referees(RefereeCondition::Lost));
            let running: u32 = season.referees().iter().map(|referee| referee.running).sum();
            let suspended = players(&|player| season.is_suspended(player));
            for (name, help, value) in [
                ("league_players", "Players that are registered.", status.players.into()),
                ("league_referees", "Referees that are registered.", status.referees.into()),
                ("league_referees_active", "Referees that may get matches.", active),
                ("league_referees_lost", "Referees that do not answer.", lost),
                ("league_players_suspended", "Players that are asked only once.", suspended),
                ("league_players_withdrawn", "Players that play no more.", players(&|player| player.withdrawn)),
                ("league_halted", "1 when the operator has stopped it.", season.is_halted().into()),
                ("league_round", "The round that is being played, or was last.", status.current_round.0.into()),
                ("league_rounds", "Rounds in all.", status.total_rounds.into()),
                ("league_matches_scheduled", "Matches in all.", status.total_matches.into()),
                ("league_matches_running", "Matches in the hands of referees.", running.into()),
            ] {
                page.one(name, "gauge", help, value);
            }
            page.family("league_matches_total", "counter", "Matches with a result, by how they ended.");
            for (name, count) in snapshot.endings() {
                page.value("league_matches_total", &[("ending", name)], count);
            }
            page.one("league_events_total", "counter", "Events in the log.", snapshot.seq());
            let last = snapshot.last().unix();
            page.one("league_last_event_timestamp_seconds", "gauge", "When something happened last.", last);
        }
        let counted = |count: &AtomicU64| count.load(Ordering::Relaxed);
        page.one("league_streams", "gauge", "Streams that are open.", shared.streams());
        let refused = counted(&self.refused_streams);
        page.one("league_streams_refused_total", "counter", "Streams for which there was no place.", refused);
        page.one("league_page_errors_total", "counter", "Answers with a status of 500 or more.", counted(&self.errors));
        page.family("league_page_duration_seconds", "histogram", "Time until an answer began.");
        for (bucket, most) in self.buckets.iter().zip(BUCKETS) {
            page.value("league_page_duration_seconds_bucket", &[("le", &most.to_string())], counted(bucket));
        }
        let visits = counted(&self.visits);
        page.value("league_page_duration_seconds_bucket", &[("le", "+Inf")], visits);
        page.value("league_page_duration_seconds_sum", &[], counted(&self.micros) as f64 / 1e6);
        page.value("league_page_duration_seconds_count", &[], visits);
    }
}

/// The figures of all these leagues.
pub(crate) fn reply<'a>(leagues: impl IntoIterator<Item = &'a Shared>) -> Reply {
    let mut page = Page::default();
    leagues.into_iter().for_each(|league| league.metrics.add_to(&mut page, &league.state));
    reply::whole(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", page.text())
}

/// The format wants all values of one name together, so each name collects those of all leagues.
#[derive(Default)]
struct Page {
    families: Vec<(String, String)>,
    /// The place of the current family.
    current: usize,
    /// A label of every value.
    league: String,
}

impl Page {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let head = format!("# HELP {name} {help}\n# TYPE {name} {kind}\n");
        self.current = self.families.iter().position(|(known, _)| *known == head).unwrap_or_else(|| {
            self.families.push((head, String::new()));
            self.families.len() - 1
        });
    }

    fn value(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let Some((_, lines)) = self.families.get_mut(self.current) else { return };
        let labels: String = labels.iter().map(|(label, value)| format!(",{label}=\"{value}\"")).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(lines, "{name}{{league=\"{}\"{labels}}} {value}", self.league);
    }

    fn one(&mut self, name: &str, kind: &str, help: &str, value: impl Display) {
        self.family(name, kind, help);
        self.value(name, &[], value);
    }

    fn text(self) -> String {
        self.families.into_iter().map(|(head, lines)| head + &lines).collect()
    }
}
