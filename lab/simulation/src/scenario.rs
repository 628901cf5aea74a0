//! What a seed decides: the agents, the rules, and all faults.

use std::time::Duration;

use league_core::season::config::LeagueConfig;
use league_protocol::id::BadId;
use league_protocol::message::operate::DisputeDecision;
use league_protocol::message::start_match::MatchLimits;

use crate::faults::{FaultRates, Partition};
use crate::hostile::Hostility;
use crate::process_id::ProcessId;
use crate::rng::Rng;
use crate::sim_time::SimTime;

/// Some strategies misbehave: their technical losses are right.
const KINDS: &[&str] = &["random", "pattern", "frequency", "markov", "bandit", "alternate", "always_odd"];
const MISBEHAVING: &[&str] = &["timeout", "slow:90", "invalid"];

#[derive(Clone, Debug)]
pub struct Scenario {
    pub seed: u64,
    pub rules: LeagueConfig,
    pub referees: u8,
    pub capacity: u32,
    pub strategies: Vec<&'static str>,
    /// Whether secrets and nonces come from a seed of the league.
    pub seeded: bool,
    /// Whether players keep their history over restarts.
    pub loads_history: bool,
    /// How long the manager waits for answers, and agents for the manager's.
    pub answer_limit: Duration,
    pub referee_check_interval: Duration,
    /// The manager's pause before each match.
    pub pace: Duration,
    /// The longest time of a sync.
    pub disk: Duration,
    pub faults: FaultRates,
    pub partitions: Vec<Partition>,
    pub incidents: Vec<(SimTime, Incident)>,
    /// Per thousand matches: how often an agent of the match is killed.
    pub ambushes: u64,
    /// The player, and the time from the begin of the first round.
    pub withdrawal: Option<(u32, Duration)>,
    pub quiet: SimTime,
    /// What the operator decides about matches that wait for a decision.
    pub decision: DisputeDecision,
    pub hostility: Hostility,
    pub pulling: Pulling,
    /// A second manager takes the league over, and faults hit the one that leads. Requests to their store are lost, so many per
    /// thousand.
    pub standby: Option<u64>,
}

/// Which referees pull their matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Pulling {
    #[default]
    None,
    /// Those with an odd number.
    Some,
    All,
}

impl Pulling {
    pub fn includes(self, referee: u32) -> bool {
        match self {
            Self::None => false,
            Self::Some => !referee.is_multiple_of(2),
            Self::All => true,
        }
    }
}

/// How long a match waits for the operator.
pub const DECIDED_AFTER: Duration = Duration::from_secs(3);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Incident {
    /// Killed, and restarted later or never.
    Kill {
        process: ProcessId,
        away: Option<Duration>,
        /// The machine fails, too, so no peer gets a reset.
        silently: bool,
        /// Messages that it had sent are lost as well.
        loses_mail: bool,
    },
    /// The clock jumps by this many seconds.
    Clock { process: ProcessId, by: i64 },
    /// The manager's disk refuses writes until the manager is restarted.
    Disk,
    /// Hits the manager that leads.
    Leader(LeaderFault),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LeaderFault {
    Kill {
        away: Duration,
        silently: bool,
    },
    /// It cannot reach the store for so long, and still reaches its agents.
    CutOff(Duration),
}

impl Scenario {
    pub fn of(seed: u64) -> Result<Self, BadId> {
        let mut rng = Rng::new(seed, &[1]);
        let players = rng.within(2, 6);
        let referees = u8::try_from(rng.within(1, 3)).unwrap_or(1);
        let misbehave = rng.happens(200);
        let strategies: Vec<_> = (0..players)
            .map(|_| {
                let kinds = if misbehave && rng.happens(250) { MISBEHAVING } else { KINDS };
                rng.pick(kinds, "random")
            })
            .collect();
        let mut seconds = |least: u64, most: u64| Duration::from_millis(rng.within(least, most)).as_secs_f64();
        let limits = MatchLimits {
            game_join_ack_timeout_sec: seconds(500, 2000),
            move_timeout_sec: seconds(500, 3000),
            game_over_timeout_sec: seconds(300, 1000),
            base_delay_sec: seconds(100, 500),
            max_retries: u8::try_from(rng.within(1, 3)).unwrap_or(1),
            ..MatchLimits::default()
        };
        let suspend_after = u32::try_from(rng.within(1, 5)).unwrap_or(1);
        let rules = LeagueConfig { limits, suspend_after, ..LeagueConfig::even_odd("simulated".parse()?) };
        let quiet = SimTime::BEGIN + rng.millis(1000, 16_000);
        let (capacity, seeded, loads_history) = (rng.within(1, 4), rng.happens(300), rng.happens(100));
        let mut scenario = Self {
            seed,
            rules,
            referees,
            capacity: u32::try_from(capacity).unwrap_or(1),
            strategies,
            seeded,
            loads_history,
            answer_limit: rng.millis(600, 2000),
            referee_check_interval: rng.millis(400, 2000),
            pace: Duration::ZERO,
            disk: rng.millis(1, 60),
            faults: faults(&mut rng),
            partitions: Vec::new(),
            incidents: Vec::new(),
            ambushes: if rng.happens(500) { rng.within(0, 300) } else { 0 },
            withdrawal: withdrawal(seed, players),
            quiet,
            decision: DisputeDecision::Reject,
            hostility: Hostility::default(),
            pulling: Pulling::default(),
            standby: None,
        };
        // One run in twenty has no faults at all.
        if seed.is_multiple_of(20) {
            (scenario.faults, scenario.ambushes, scenario.quiet) = (FaultRates::default(), 0, SimTime::BEGIN);
        } else {
            scenario.add_partitions(&mut rng);
            scenario.add_incidents(&mut rng);
        }
        Ok(scenario)
    }

    /// Two managers, and no faults but those of the one that leads.
    pub fn with_standby(seed: u64) -> Result<Self, BadId> {
        let mut rng = Rng::new(seed, &[11]);
        let plain = Self::of(seed)?;
        let strategies = (0..rng.within(4, 6)).map(|_| rng.pick(KINDS, "random")).collect();
        Ok(Self {
            strategies,
            faults: FaultRates::default(),
            partitions: Vec::new(),
            incidents: Vec::new(),
            ambushes: 500,
            withdrawal: None,
            quiet: SimTime::BEGIN + Duration::from_secs(60),
            standby: Some(rng.within(0, 60)),
            ..plain
        })
    }

    pub fn size(&self) -> u8 {
        1 + self.referees + u8::try_from(self.strategies.len()).unwrap_or(u8::MAX)
    }

    pub fn processes(&self) -> impl Iterator<Item = ProcessId> + use<> {
        (0..self.size()).map(ProcessId).chain(self.standby.map(|_| ProcessId::STANDBY))
    }

    pub fn referee(&self, number: u32) -> Option<ProcessId> {
        u8::try_from(number).ok().filter(|number| (1..=self.referees).contains(number)).map(ProcessId)
    }

    pub fn player(&self, number: u32) -> Option<ProcessId> {
        let index = u8::try_from(number).ok()?.checked_add(self.referees)?;
        (number > 0 && index < self.size()).then_some(ProcessId(index))
    }

    pub fn role(&self, process: ProcessId) -> Role {
        match process.0 {
            _ if process.is_manager() => Role::Manager,
            number if number <= self.referees => Role::Referee(u32::from(number)),
            number => Role::Player(u32::from(number - self.referees)),
        }
    }

    pub fn plays_fair(&self, number: u32) -> bool {
        let index = usize::try_from(number).unwrap_or_default().saturating_sub(1);
        let misbehaves = self.strategies.get(index).is_some_and(|kind| MISBEHAVING.contains(kind));
        !misbehaves && !self.hostility.is_hostile_player(number)
    }

    /// An incident during this match, if any: matches are short, and random incidents would hardly hit one.
    pub fn ambush(&self, number: u64, [referee, one, other]: [ProcessId; 3]) -> Option<(Duration, Incident)> {
        let mut rng = Rng::new(self.seed, &[7, number]);
        if !rng.happens(self.ambushes) {
            return None;
        }
        if self.standby.is_some() {
            let fault = if rng.happens(500) {
                LeaderFault::Kill { away: rng.millis(100, 4000), silently: rng.happens(300) }
            } else {
                LeaderFault::CutOff(rng.millis(500, 8000))
            };
            return Some((rng.millis(0, 400), Incident::Leader(fault)));
        }
        let process =
            rng.pick(&[referee, referee, referee, ProcessId::MANAGER, ProcessId::MANAGER, one, other], referee);
        let forever = process != ProcessId::MANAGER && rng.happens(200);
        let away = (!forever).then(|| rng.millis(10, 5000));
        let (silently, loses_mail) = (rng.happens(300), rng.happens(500));
        Some((rng.millis(0, 400), Incident::Kill { process, away, silently, loses_mail }))
    }

    fn add_partitions(&mut self, rng: &mut Rng) {
        for _ in 0..rng.within(0, 3) {
            let from = ProcessId(u8::try_from(rng.within(0, u64::from(self.size() - 1))).unwrap_or_default());
            let to = ProcessId(u8::try_from(rng.within(0, u64::from(self.size() - 1))).unwrap_or_default());
            let begins = SimTime(rng.within(0, self.quiet.0));
            let ends = (begins + rng.millis(100, 6000)).min(self.quiet);
            self.partitions.push(Partition { from, to, begins, ends });
            if rng.happens(600) {
                self.partitions.push(Partition { from: to, to: from, begins, ends });
            }
        }
    }

    fn add_incidents(&mut self, rng: &mut Rng) {
        let last = u64::from(self.size() - 1);
        for _ in 0..rng.within(0, 6) {
            let at = SimTime(rng.within(0, self.quiet.0));
            // The manager and the referees are few, and more depends on them.
            let index = if rng.happens(350) { 0 } else { rng.within(0, last) };
            let process = ProcessId(u8::try_from(index).unwrap_or_default());
            let forever = process != ProcessId::MANAGER && rng.happens(150);
            let away = (!forever).then(|| if rng.happens(500) { rng.millis(10, 300) } else { rng.millis(300, 4000) });
            let (silently, loses_mail) = (rng.happens(300), rng.happens(500));
            self.incidents.push((at, Incident::Kill { process, away, silently, loses_mail }));
        }
        for _ in 0..rng.within(0, 2) {
            let process = ProcessId(u8::try_from(rng.within(0, last)).unwrap_or_default());
            let by = i64::try_from(rng.within(0, 7200)).unwrap_or_default() - 3600;
            self.incidents.push((SimTime(rng.within(0, self.quiet.0)), Incident::Clock { process, by }));
        }
        if rng.happens(100) {
            self.incidents.push((SimTime(rng.within(0, self.quiet.0)), Incident::Disk));
        }
        self.incidents.sort_by_key(|(at, _)| *at);
    }
}

/// With the number within the role.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    Manager,
    Referee(u32),
    Player(u32),
}

fn withdrawal(seed: u64, players: u64) -> Option<(u32, Duration)> {
    let mut rng = Rng::new(seed, &[8]);
    let process = u32::try_from(rng.within(1, players)).unwrap_or(1);
    rng.happens(150).then(|| (process, rng.millis(0, 4000)))
}

fn faults(rng: &mut Rng) -> FaultRates {
    // Every kind of fault is absent from half of the runs, so that each also occurs without the others.
    let mut share = |most: u64| if rng.happens(500) { rng.within(0, most) } else { 0 };
    FaultRates { unreachable: share(150), cut: share(250), mute: share(150), slow: share(150), doubled: share(200) }
}
