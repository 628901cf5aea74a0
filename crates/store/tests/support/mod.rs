//! Generates whole seasons as events from a seed.
#![allow(dead_code, clippy::allow_attributes, reason = "each test uses its part")]

use std::path::Path;

use league_core::record::{MatchRecord, RevealedDraw};
use league_core::rules::draw::Draw;
use league_core::rules::outcome::Outcome;
use league_core::season::agent::{AgentProfile, StoredCredential};
use league_core::season::config::LeagueConfig;
use league_core::season::event::{Event, Fact};
use league_core::season::evidence::ReturnCause;
use league_core::season::{Assignment, DrawSource, Season};
use league_protocol::draw::{DrawNonce, DrawSecret};
use league_protocol::id::{GameType, LeagueId, MatchId, PlayerId, RefereeId};
use league_protocol::message::report::Account;
use league_protocol::message::transcript::TranscriptDigest;
use league_protocol::parity::Parity;
use league_protocol::side::{Pair, Side};
use league_protocol::time::Timestamp;
use league_protocol::token::Token;
use league_store::home::Home;
use league_store::lock::Lock;
use league_store::mark;
use league_store::views::match_file::{Direction, TranscriptEntry};
use league_store::views::register::RegisterFile;
use league_store::views::repair::{Repair, RepairReport};
use league_store::views::restore::restore_tables;
use league_store::views::writer::{ViewLimits, ViewUpdate, ViewWriter};
use smol_str::{SmolStr, format_smolstr};

pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % bound
    }
}

pub(crate) fn league() -> LeagueId {
    "league_2025_even_odd".parse().unwrap()
}

pub(crate) fn now() -> Timestamp {
    Timestamp::from_unix(1_736_937_000)
}

pub(crate) fn halted() -> Event {
    Event { at: now(), fact: Fact::Halted }
}

pub(crate) fn restore(home: &Home, events: &[Event], limits: ViewLimits) -> RepairReport {
    let season = Season::replay(events).unwrap();
    let matches = season.total_matches();
    let mut repair = Repair::new(home.clone(), league(), matches, limits).unwrap();
    events.iter().for_each(|event| repair.apply(event).unwrap());
    let mut report = repair.finish().unwrap();
    report.damaged.extend(restore_tables(home, &season, limits).unwrap());
    register(home, &season);
    report
}

/// Writes `agents_config.json`, the mark and the lock as the manager does.
fn register(home: &Home, season: &Season) {
    mark::write(home, &league(), &mark::of([7; 16])).unwrap();
    drop(Lock::take(home.lock(&league()), now()).unwrap());
    let write = async {
        let writer = ViewWriter::start(home.clone(), ViewLimits::default()).unwrap();
        writer.put(ViewUpdate::Register(RegisterFile::of(season, Some("http://127.0.0.1:8000/mcp")))).await;
        writer.flush().await.unwrap();
    };
    let run = || tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(write);
    // On a thread of its own, because the test may run in a runtime.
    std::thread::scope(|scope| scope.spawn(run).join().unwrap());
}

pub(crate) struct GeneratedLeague {
    pub(crate) season: Season,
    pub(crate) events: Vec<Event>,
    pub(crate) random: Random,
    /// Whether the referees report the hash of a transcript.
    pub(crate) transcribed: bool,
}

impl GeneratedLeague {
    pub(crate) fn open(config: LeagueConfig, seed: u64) -> Self {
        let (season, opened) = Season::open(config, now());
        Self { season, events: vec![opened], random: Random(seed), transcribed: false }
    }

    pub(crate) fn apply(&mut self, events: Vec<Event>) {
        for event in events {
            self.season.apply(&event).unwrap();
            self.events.push(event);
        }
    }

    pub(crate) fn add(&mut self, fact: Fact) {
        let at = Timestamp::from_unix(now().unix() + i64::try_from(self.events.len()).unwrap());
        self.apply(vec![Event { at, fact }]);
    }

    pub(crate) fn register(&mut self, players: u32, referees: u32) {
        for number in 1..=referees {
            let (referee, profile) = (RefereeId::numbered(number), profile("Referee", number));
            let grant = grant(referee.as_str());
            self.add(Fact::RefereeRegistered { referee, profile, capacity: 4, grant, commitments: Vec::new() });
        }
        // In reverse order, so that the schedule must sort the players.
        for number in (1..=players).rev() {
            let (player, profile) = (PlayerId::numbered(number), profile("Player", number));
            let grant = grant(player.as_str());
            self.add(Fact::PlayerRegistered { player, profile, grant });
        }
    }

    /// Plays until `matches` more have ended. On the way referees return matches, get lost and come back.
    pub(crate) fn play(&mut self, matches: u32) {
        let end = self.season.matches_completed().saturating_add(matches);
        if self.season.current_round().is_none() {
            self.apply(self.season.start(now()).unwrap().events);
        }
        while self.season.matches_completed() < end {
            if let Ok(started) = self.season.start_round(now()) {
                self.apply(started.events);
            }
            self.apply(self.season.assign(DrawSource::Random(&[7; 32]), now()).events);
            let held = self.season.assignments();
            if held.is_empty() && self.season.current_round().is_none_or(|round| round.0 == self.season.total_rounds())
            {
                return;
            }
            for assignment in held {
                if self.season.matches_completed() >= end {
                    return;
                }
                if self.season.holds(&assignment) {
                    self.end(&assignment);
                }
            }
        }
    }

    fn end(&mut self, assignment: &Assignment) {
        let Assignment { match_id, attempt, referee } = assignment.clone();
        match self.random.below(20) {
            0 => self.add(Fact::MatchReturned { match_id, attempt, cause: ReturnCause::Refused }),
            1 => {
                self.add(Fact::RefereeLost { referee: referee.clone() });
                let (profile, grant) = (profile("Again", 1), grant("REF01"));
                self.add(Fact::RefereeReturned { referee, profile, capacity: 100, grant, commitments: Vec::new() });
            }
            2 => {
                self.add(Fact::Halted);
                self.add(Fact::Resumed);
            }
            _ => {
                let record = self.record(&match_id, attempt);
                if self.transcribed {
                    let bytes = serde_json::to_vec(&[transcript_entry()]).unwrap();
                    let transcript_sha256 = Some(TranscriptDigest::of(&bytes));
                    let account = Box::new(Account { transcript_sha256, ..Account::default() });
                    self.add(Fact::MatchExplained { match_id: match_id.clone(), attempt, account });
                }
                let counted = self.season.report(&referee, &match_id, Some(attempt), record, now()).unwrap();
                self.apply(counted.events);
            }
        }
    }

    fn record(&mut self, match_id: &MatchId, attempt: u32) -> MatchRecord {
        let side = if self.random.below(2) == 0 { Side::A } else { Side::B };
        match self.random.below(10) {
            0 => return MatchRecord::unplayed(Outcome::Forfeit(side)),
            1 => return MatchRecord::unplayed(Outcome::DoubleForfeit),
            _ => {}
        }
        let secret = DrawSecret([u8::try_from(self.random.below(256)).unwrap(); 32]);
        let nonces: Pair<DrawNonce> = Pair::new("a".parse().unwrap(), "b".parse().unwrap());
        let draw = Draw { secret, match_id: match_id.clone(), attempt, nonces: nonces.clone(), seeded: false };
        let (seal, number) = (Some(draw.seal()), draw.number().get());
        let choices = Pair::from_fn(|_| if self.random.below(2) == 0 { Parity::Even } else { Parity::Odd });
        let right = choices.map(|choice| choice == Parity::of(number));
        let outcome = match (right.a, right.b) {
            (true, false) => Outcome::Win(Side::A),
            (false, true) => Outcome::Win(Side::B),
            (true, true) | (false, false) => Outcome::Draw,
        };
        let proof = RevealedDraw { commitment: secret.commitment(), secret, nonces, seal, seeded: false };
        let moves = choices.map(|choice| Some(SmolStr::new_static(choice.as_str())));
        // One referee in five sends no proof.
        let proof = (self.random.below(5) > 0).then(|| Box::new(proof));
        MatchRecord { moves, drawn: Some(number), proof, ..MatchRecord::unplayed(outcome) }
    }
}

/// A league that was scheduled twice because a player came late. It lost a player before each schedule and one during
/// play.
pub(crate) fn eventful(seed: u64) -> GeneratedLeague {
    let mut generated = GeneratedLeague::open(LeagueConfig::even_odd(league()), seed);
    generated.register(7, 2);
    generated.add(Fact::PlayerWithdrawn { player: PlayerId::numbered(7) });
    generated.apply(generated.season.start(now()).unwrap().events);
    generated.apply(generated.season.assign(DrawSource::Random(&[7; 32]), now()).events);
    generated.add(Fact::PlayerWithdrawn { player: PlayerId::numbered(6) });
    generated.add(Fact::Halted);
    generated.add(Fact::RegistrationReopened);
    let (player, late) = (PlayerId::numbered(8), profile("Late", 8));
    generated.add(Fact::PlayerRegistered { grant: grant(player.as_str()), player, profile: late });
    generated.play(4);
    generated.add(Fact::PlayerWithdrawn { player: PlayerId::numbered(2) });
    generated.play(u32::MAX);
    generated
}

pub(crate) fn transcript_entry() -> TranscriptEntry {
    TranscriptEntry::new(now(), Direction::Sent, ("a".into(), "b".into()), "X".into(), b"{}", None)
}

/// A league whose referees report the hash of a transcript.
pub(crate) fn transcribed(players: u32, seed: u64) -> GeneratedLeague {
    let mut generated = GeneratedLeague::open(LeagueConfig::even_odd(league()), seed);
    generated.transcribed = true;
    generated.register(players, 2);
    generated.play(u32::MAX);
    generated
}

pub(crate) fn played(players: u32, seed: u64) -> GeneratedLeague {
    let mut generated = GeneratedLeague::open(LeagueConfig::even_odd(league()), seed);
    generated.register(players, 2);
    generated.play(u32::MAX);
    generated
}

fn profile(name: &str, number: u32) -> AgentProfile {
    AgentProfile {
        name: format_smolstr!("{name} {number} 'quoted'"),
        version: SmolStr::new_static("1.0.0"),
        endpoint: format!("http://127.0.0.1:{}/mcp", 8000 + number),
        games: vec![GameType::even_odd()],
        shows_passes: number.is_multiple_of(2),
        accepts_batches: number.is_multiple_of(3),
        signs_moves: false,
        pulls: false,
    }
}

fn grant(agent: &str) -> StoredCredential {
    StoredCredential { digest: Token::mint(agent, &[7; 32]).digest(), expires: now() }
}

pub(crate) fn reported(event: &Event) -> Option<(&MatchId, &MatchRecord)> {
    let Fact::MatchReported { match_id, record, .. } = &event.fact else { return None };
    Some((match_id, record))
}

pub(crate) fn tamper(path: &Path, statements: &str) {
    rusqlite::Connection::open(path).unwrap().execute_batch(statements).unwrap();
}
