//! Helpers that drive a season by hand and show its decisions as short lines.

mod assignment;
mod damage;
mod evidence;
mod flow;
mod formats;
mod learning;
mod messages;
mod properties;
mod queries;
mod registration;
mod reopening;
mod reports;
mod suspension;
mod tokens;
mod withdrawal;
mod written_reports;

use league_protocol::error::RequestError;
use league_protocol::id::{MatchId, PlayerId, RefereeId};
use league_protocol::message::registration::{LeagueRegisterRequest, RefereeRegisterRequest};
use league_protocol::side::Pair;
use league_protocol::time::Timestamp;
use serde_json::{Value, json};
use smol_str::format_smolstr;

use super::config::LeagueConfig;
use super::event::Event;
use super::{Admission, Assignment, CommandOutcome, DrawSource, Registered, ReportOutcome, Season};
use crate::record::MatchRecord;
use crate::rules::outcome::Outcome;

pub(crate) fn now() -> Timestamp {
    "2025-01-15T10:30:00Z".parse().unwrap()
}

pub(crate) fn config() -> LeagueConfig {
    LeagueConfig::even_odd("league_2025_even_odd".parse().unwrap())
}

fn meta(name: &str, port: u32, capacity: Option<u32>) -> Value {
    json!({
        "display_name": name, "version": "1.0.0", "game_types": ["even_odd"], "max_concurrent_matches": capacity,
        "contact_endpoint": format!("http://localhost:{port}/mcp"),
    })
}

pub(crate) fn player(number: u32) -> LeagueRegisterRequest {
    let meta = meta(&format!("Player {number}"), 8100 + number, None);
    serde_json::from_value(json!({ "player_meta": meta })).unwrap()
}

pub(crate) fn referee(number: u32, capacity: u32) -> RefereeRegisterRequest {
    let meta = meta(&format!("Referee {number}"), 8000 + number, Some(capacity));
    serde_json::from_value(json!({ "referee_meta": meta })).unwrap()
}

pub(crate) fn p(number: u32) -> PlayerId {
    PlayerId::numbered(number)
}

pub(crate) fn r(number: u32) -> RefereeId {
    RefereeId::numbered(number)
}

pub(crate) fn m(text: &str) -> MatchId {
    text.parse().unwrap()
}

pub(crate) fn ended(outcome: Outcome) -> MatchRecord {
    MatchRecord::unplayed(outcome)
}

#[derive(Clone)]
pub(crate) struct League {
    pub(crate) season: Season,
    pub(crate) log: Vec<Event>,
    minted: u32,
}

impl League {
    pub(crate) fn open() -> Self {
        Self::with(config())
    }

    pub(crate) fn with(config: LeagueConfig) -> Self {
        let (season, opening) = Season::open(config.with_lots([9; 32]), now());
        Self { season, log: vec![opening], minted: 0 }
    }

    pub(crate) fn running(players: u32, capacities: &[u32]) -> Self {
        Self::running_with(config(), players, capacities)
    }

    pub(crate) fn running_with(config: LeagueConfig, players: u32, capacities: &[u32]) -> Self {
        let mut league = Self::with(config);
        for number in 1..=players {
            league.admit(&player(number));
        }
        for (capacity, number) in capacities.iter().zip(1..) {
            league.admit_referee(&referee(number, *capacity));
        }
        league.start();
        league
    }

    pub(crate) fn enact<T>(&mut self, outcome: CommandOutcome<T>) -> T {
        for event in outcome.events {
            self.season.apply(&event).unwrap();
            self.log.push(event);
        }
        outcome.reply
    }

    pub(crate) fn random(&mut self) -> [u8; 32] {
        self.minted += 1;
        let mut random = [7; 32];
        random[..4].copy_from_slice(&self.minted.to_be_bytes());
        random
    }

    /// Decides a command and applies its events.
    pub(crate) fn run<T>(&mut self, command: impl FnOnce(&Season) -> Result<CommandOutcome<T>, RequestError>) -> T {
        let outcome = command(&self.season).unwrap();
        self.enact(outcome)
    }

    fn register(&mut self, request: &LeagueRegisterRequest) -> Registered {
        let random = self.random();
        self.run(|season| season.register_player(request, None, &random, now()))
    }

    fn register_referee(&mut self, request: &RefereeRegisterRequest) -> Registered {
        let random = self.random();
        self.run(|season| season.register_referee(request, None, &random, now()))
    }

    pub(crate) fn admit(&mut self, request: &LeagueRegisterRequest) -> Admission {
        admitted(self.register(request))
    }

    pub(crate) fn admit_referee(&mut self, request: &RefereeRegisterRequest) -> Admission {
        admitted(self.register_referee(request))
    }

    pub(crate) fn assign(&mut self) -> Vec<Assignment> {
        self.run(|season| Ok(season.assign(DrawSource::Random(&[7; 32]), now())))
    }

    fn give_back(&mut self, assignment: &Assignment) {
        self.run(|season| season.give_back(assignment, now()));
    }

    fn lose(&mut self, number: u32) {
        self.run(|season| season.lose_referee(&r(number), now()));
    }

    fn close_registration(&mut self) {
        self.run(|season| season.close_registration(now()));
    }

    pub(crate) fn start(&mut self) {
        self.run(|season| season.start(now()));
    }

    fn stop(&mut self) {
        self.run(|season| season.stop(now()));
    }

    fn reopen(&mut self) {
        self.run(|season| season.reopen(now()));
    }

    /// Returns false if the player was already withdrawn.
    fn withdraw(&mut self, number: u32) -> bool {
        self.run(|season| season.withdraw(&p(number), now())).is_some()
    }

    pub(crate) fn start_round(&mut self) {
        self.run(|season| season.start_round(now()));
    }

    pub(crate) fn report(
        &mut self,
        assignment: &Assignment,
        record: MatchRecord,
    ) -> Result<ReportOutcome, RequestError> {
        let Assignment { match_id, attempt, referee } = assignment;
        let outcome = self.season.report(referee, match_id, Some(*attempt), record, now())?;
        Ok(self.enact(outcome))
    }

    pub(crate) fn play_round(&mut self, outcome: impl Fn(&MatchId) -> Outcome) {
        loop {
            self.assign();
            let held = self.season.assignments();
            if held.is_empty() {
                return;
            }
            for assignment in held {
                assert_eq!(self.report(&assignment, ended(outcome(&assignment.match_id))), Ok(ReportOutcome::Now));
            }
        }
    }

    /// Replays the log after each event was serialised and read again.
    pub(crate) fn replayed(&self) -> Season {
        Season::replay(&self.log.iter().map(reread).collect::<Vec<_>>()).unwrap()
    }

    /// `rank id points`, best first.
    pub(crate) fn table(&self) -> Vec<String> {
        let row = |row: &league_protocol::message::standings::StandingsRow| {
            format!("{} {} {}", row.rank, row.player_id, row.points)
        };
        self.season.standings().iter().map(row).collect()
    }
}

pub(crate) fn reread(event: &Event) -> Event {
    serde_json::from_str(&serde_json::to_string(event).unwrap()).unwrap()
}

pub(crate) fn admitted(registered: Registered) -> Admission {
    match registered {
        Registered::Admitted(admitted) => admitted,
        Registered::Rejected(rejection) => panic!("{rejection:?}"),
    }
}

/// `P01`, `P01 again` or the number of the rejection.
fn line(registered: &Registered) -> String {
    match registered {
        Registered::Admitted(Admission { id, returning, .. }) => {
            format!("{}{}", id.as_str(), if *returning { " again" } else { "" })
        }
        Registered::Rejected(rejection) => format!("{}", rejection.code),
    }
}

/// `R1M1/1 REF01`.
fn lines(assignments: &[Assignment]) -> Vec<String> {
    let line = |each: &Assignment| format!("{}/{} {}", each.match_id, each.attempt, each.referee);
    assignments.iter().map(line).collect()
}

/// The code, JSON-RPC's number and the field.
fn blame(fault: &RequestError) -> String {
    let code = fault.code.map_or("", league_protocol::error::ErrorCode::as_str);
    format_smolstr!("{code} {} {}", fault.rpc, fault.field.as_deref().unwrap_or("-")).into()
}
