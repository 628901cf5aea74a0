//! Helpers that drive a season by hand and show its decisions as short lines.

mod assignment;
mod damage;
mod flow;
mod learning;
mod properties;
mod queries;
mod registration;
mod reopening;
mod reports;
mod suspension;
mod tokens;
mod whole_leagues;
mod withdrawal;
mod written_reports;

use league_protocol::error::RequestError;
use league_protocol::id::{GameType, MatchId, PlayerId, RefereeId};
use league_protocol::message::registration::{AgentMeta, LeagueRegisterRequest, RefereeRegisterRequest};
use league_protocol::quirk::Quirks;
use league_protocol::side::Pair;
use league_protocol::time::Timestamp;
use smol_str::format_smolstr;

use super::config::LeagueConfig;
use super::event::Event;
use super::{Admission, Assignment, CommandOutcome, Registered, ReportOutcome, Season};
use crate::record::MatchRecord;
use crate::rules::outcome::Outcome;

fn now() -> Timestamp {
    "2025-01-15T10:30:00Z".parse().unwrap()
}

fn config() -> LeagueConfig {
    LeagueConfig::even_odd("league_2025_even_odd".parse().unwrap())
}

fn meta(name: String, port: u32) -> AgentMeta {
    AgentMeta {
        display_name: name.into(),
        version: "1.0.0".into(),
        protocol_version: None,
        game_types: vec![GameType::even_odd()],
        contact_endpoint: format!("http://localhost:{port}/mcp"),
        max_concurrent_matches: None,
        pass_scheme: None,
        accepts_batches: false,
    }
}

fn player(number: u32) -> LeagueRegisterRequest {
    let player_meta = meta(format!("Player {number}"), 8100 + number);
    LeagueRegisterRequest { player_meta, player_id: None, join_key: None, quirks: Quirks::default() }
}

fn referee(number: u32, capacity: u32) -> RefereeRegisterRequest {
    let meta = meta(format!("Referee {number}"), 8000 + number);
    let referee_meta = AgentMeta { max_concurrent_matches: Some(capacity), ..meta };
    RefereeRegisterRequest { referee_meta, referee_id: None, join_key: None, quirks: Quirks::default() }
}

fn p(number: u32) -> PlayerId {
    PlayerId::numbered(number)
}

fn r(number: u32) -> RefereeId {
    RefereeId::numbered(number)
}

fn m(text: &str) -> MatchId {
    text.parse().unwrap()
}

fn ended(outcome: Outcome) -> MatchRecord {
    MatchRecord::unplayed(outcome)
}

#[derive(Clone)]
struct League {
    season: Season,
    log: Vec<Event>,
    minted: u32,
}

impl League {
    fn open() -> Self {
        Self::with(config())
    }

    fn with(config: LeagueConfig) -> Self {
        let (season, opening) = Season::open(config, now());
        Self { season, log: vec![opening], minted: 0 }
    }

    fn running(players: u32, capacities: &[u32]) -> Self {
        Self::running_with(config(), players, capacities)
    }

    fn running_with(config: LeagueConfig, players: u32, capacities: &[u32]) -> Self {
        let mut league = Self::with(config);
        for number in 1..=players {
            league.admit(&player(number));
        }
        for (capacity, number) in capacities.iter().zip(1..) {
            league.admit_referee(&referee(number, *capacity));
        }
        let ruling = league.season.start(now()).unwrap();
        league.enact(ruling);
        league
    }

    fn enact<T>(&mut self, ruling: CommandOutcome<T>) -> T {
        for event in ruling.events {
            self.season.apply(&event).unwrap();
            self.log.push(event);
        }
        ruling.reply
    }

    fn random(&mut self) -> [u8; 32] {
        self.minted += 1;
        let mut random = [7; 32];
        random[..4].copy_from_slice(&self.minted.to_be_bytes());
        random
    }

    fn register(&mut self, request: &LeagueRegisterRequest) -> Registered {
        let random = self.random();
        let ruling = self.season.register_player(request, None, &random, now()).unwrap();
        self.enact(ruling)
    }

    fn register_referee(&mut self, request: &RefereeRegisterRequest) -> Registered {
        let random = self.random();
        let ruling = self.season.register_referee(request, None, &random, now()).unwrap();
        self.enact(ruling)
    }

    fn admit(&mut self, request: &LeagueRegisterRequest) -> Admission {
        admitted(self.register(request))
    }

    fn admit_referee(&mut self, request: &RefereeRegisterRequest) -> Admission {
        admitted(self.register_referee(request))
    }

    fn assign(&mut self) -> Vec<Assignment> {
        let ruling = self.season.assign(now());
        self.enact(ruling)
    }

    fn give_back(&mut self, assignment: &Assignment) {
        let ruling = self.season.give_back(assignment, now()).unwrap();
        self.enact(ruling);
    }

    fn lose(&mut self, number: u32) {
        let ruling = self.season.lose_referee(&r(number), now()).unwrap();
        self.enact(ruling);
    }

    fn stop(&mut self) {
        let ruling = self.season.stop(now()).unwrap();
        self.enact(ruling);
    }

    fn start(&mut self) {
        let ruling = self.season.start(now()).unwrap();
        self.enact(ruling);
    }

    fn reopen(&mut self) {
        let ruling = self.season.reopen(now()).unwrap();
        self.enact(ruling);
    }

    /// Returns false if the player was already withdrawn.
    fn withdraw(&mut self, number: u32) -> bool {
        let ruling = self.season.withdraw(&p(number), now()).unwrap();
        self.enact(ruling).is_some()
    }

    fn start_round(&mut self) {
        let ruling = self.season.start_round(now()).unwrap();
        self.enact(ruling);
    }

    fn report(&mut self, assignment: &Assignment, record: MatchRecord) -> Result<ReportOutcome, RequestError> {
        let Assignment { match_id, attempt, referee } = assignment;
        let ruling = self.season.report(referee, match_id, Some(*attempt), record, now())?;
        Ok(self.enact(ruling))
    }

    fn play_round(&mut self, outcome: impl Fn(&MatchId) -> Outcome) {
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
    fn replayed(&self) -> Season {
        Season::replay(&self.log.iter().map(reread).collect::<Vec<_>>()).unwrap()
    }

    /// `rank id points`, best first.
    fn table(&self) -> Vec<String> {
        let row = |row: &league_protocol::message::standings::StandingsRow| {
            format!("{} {} {}", row.rank, row.player_id, row.points)
        };
        self.season.standings().iter().map(row).collect()
    }
}

fn reread(event: &Event) -> Event {
    serde_json::from_str(&serde_json::to_string(event).unwrap()).unwrap()
}

fn admitted(registered: Registered) -> Admission {
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
