//! For random commands a season never panics, refuses without changing, and equals the replay of its log.

use std::collections::HashMap;

use league_protocol::side::Side;
use proptest::prelude::*;
use proptest::sample::Index;

use super::*;
use crate::season::event::Fact;
use crate::season::standings::Table;
use crate::season::{DrawSource, LeaguePhase, MatchSlot, NextAction};

#[derive(Clone, Debug)]
enum Command {
    Player { number: u32, wish: Option<u32> },
    Referee { number: u32, capacity: u32 },
    Close,
    Start,
    Stop,
    Reopen,
    Withdraw { number: u32 },
    StartRound,
    Assign,
    GiveBack { which: Index, reference: Reference },
    Lose { number: u32 },
    Report { which: Index, outcome: Outcome, reference: Reference },
    ReportAgain { which: Index, outcome: Option<Outcome> },
}

/// How a command refers to an assignment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reference {
    Right,
    OtherReferee,
    OtherAttempt,
    OtherMatch,
}

fn outcomes() -> impl Strategy<Value = Outcome> {
    prop::sample::select(vec![
        Outcome::Win(Side::A),
        Outcome::Win(Side::B),
        Outcome::Draw,
        Outcome::Forfeit(Side::A),
        Outcome::Forfeit(Side::B),
        Outcome::DoubleForfeit,
    ])
}

fn references() -> impl Strategy<Value = Reference> {
    prop_oneof![
        6 => Just(Reference::Right),
        1 => Just(Reference::OtherReferee),
        1 => Just(Reference::OtherAttempt),
        1 => Just(Reference::OtherMatch),
    ]
}

fn commands() -> impl Strategy<Value = Command> {
    let which = any::<Index>;
    prop_oneof![
        3 => (1_u32..7, prop::option::of(0_u32..9)).prop_map(|(number, wish)| Command::Player { number, wish }),
        2 => (1_u32..4, 0_u32..4).prop_map(|(number, capacity)| Command::Referee { number, capacity }),
        1 => Just(Command::Close),
        2 => Just(Command::Start),
        1 => Just(Command::Stop),
        1 => Just(Command::Reopen),
        1 => (1_u32..8).prop_map(|number| Command::Withdraw { number }),
        4 => Just(Command::StartRound),
        6 => Just(Command::Assign),
        1 => (which(), references()).prop_map(|(which, reference)| Command::GiveBack { which, reference }),
        1 => (1_u32..5).prop_map(|number| Command::Lose { number }),
        8 => (which(), outcomes(), references())
            .prop_map(|(which, outcome, reference)| Command::Report { which, outcome, reference }),
        1 => (which(), prop::option::of(outcomes())).prop_map(|(which, outcome)| Command::ReportAgain { which, outcome }),
    ]
}

/// Starts with a few registrations, so that most leagues make progress.
fn scripts() -> impl Strategy<Value = Vec<Command>> {
    let players = (0_u32..7).prop_map(|players| (1..=players).map(|number| Command::Player { number, wish: None }));
    let beginning = players.prop_map(|players| {
        let referee = Command::Referee { number: 1, capacity: 2 };
        players.chain([referee]).collect::<Vec<_>>()
    });
    (beginning, prop::collection::vec(commands(), 0..120)).prop_map(|(beginning, rest)| [beginning, rest].concat())
}

struct World {
    league: League,
    history: Vec<Season>,
    counted: Vec<(Assignment, MatchRecord)>,
}

impl World {
    fn new() -> Self {
        let league = League::with(LeagueConfig { max_players: 6, max_referees: 3, ..config() });
        Self { history: vec![league.season.clone()], league, counted: Vec::new() }
    }

    fn played(script: &[Command]) -> Self {
        let mut world = Self::new();
        for command in script {
            world.run(command);
        }
        world
    }

    fn run(&mut self, command: &Command) {
        let before = self.league.season.clone();
        let decided = self.decide(command);
        assert_eq!(self.league.season, before, "deciding changes nothing");
        for event in decided.unwrap_or_default() {
            self.league.season.apply(&event).unwrap();
            self.league.log.push(event);
            self.history.push(self.league.season.clone());
        }
    }

    fn decide(&mut self, command: &Command) -> Result<Vec<Event>, RequestError> {
        let random = self.league.random();
        let season = &self.league.season;
        Ok(match *command {
            Command::Player { number, wish } => {
                let request = LeagueRegisterRequest { player_id: wish.map(p), ..player(number) };
                season.register_player(&request, None, &random, now())?.events
            }
            Command::Referee { number, capacity } => {
                season.register_referee(&referee(number, capacity), None, &random, now())?.events
            }
            Command::Close => season.close_registration(now())?.events,
            Command::Start => season.start(now())?.events,
            Command::Stop => season.stop(now())?.events,
            Command::Reopen => season.reopen(now())?.events,
            Command::Withdraw { number } => season.withdraw(&p(number), now())?.events,
            Command::StartRound => season.start_round(now())?.events,
            Command::Assign => season.assign(DrawSource::Random(&[7; 32]), now()).events,
            Command::GiveBack { which, reference } => match self.held(which, reference) {
                Some(assignment) => season.give_back(&assignment, now())?.events,
                None => Vec::new(),
            },
            Command::Lose { number } => season.lose_referee(&r(number), now())?.events,
            Command::Report { which, outcome, reference } => match self.held(which, reference) {
                Some(assignment) => {
                    let Assignment { match_id, attempt, referee } = &assignment;
                    let record = ended(outcome);
                    let ruling = season.report(referee, match_id, Some(*attempt), record.clone(), now())?;
                    if ruling.reply == ReportOutcome::Now {
                        assert!(season.holds(&assignment));
                        self.counted.push((assignment, record));
                    }
                    ruling.events
                }
                None => Vec::new(),
            },
            Command::ReportAgain { which, outcome } => {
                self.report_again(which, outcome);
                Vec::new()
            }
        })
    }

    fn held(&self, which: Index, reference: Reference) -> Option<Assignment> {
        let held = self.league.season.assignments();
        let right = held.get(which.index(held.len().max(1)))?.clone();
        Some(match reference {
            Reference::Right => right,
            Reference::OtherReferee => Assignment { referee: r(right.referee.number()? % 4 + 1), ..right },
            Reference::OtherAttempt => Assignment { attempt: right.attempt - 1, ..right },
            Reference::OtherMatch => Assignment { match_id: m("R7M1"), ..right },
        })
    }

    /// Repeats a counted report, unchanged or changed: neither counts again.
    fn report_again(&self, which: Index, outcome: Option<Outcome>) {
        if self.counted.is_empty() {
            return;
        }
        let (assignment, counted) = which.get(&self.counted);
        let record = outcome.map_or(counted.clone(), ended);
        let Assignment { match_id, attempt, referee } = assignment;
        match self.league.season.report(referee, match_id, Some(*attempt), record.clone(), now()) {
            Ok(ruling) => {
                assert_eq!((ruling.reply, ruling.events.len(), &record), (ReportOutcome::Before, 0, counted));
            }
            Err(fault) => assert_eq!((fault.rpc, record != *counted), (5003, true)),
        }
    }
}

fn check(season: &Season, log: &[Event]) {
    let mut results = HashMap::new();
    for event in log {
        assert!(event.fact != Fact::RegistrationReopened || results.is_empty(), "what was played is never thrown away");
        let Some((match_id, record)) = event.fact.result() else { continue };
        assert_eq!(results.insert(match_id.clone(), record.outcome), None, "{match_id} has two results");
    }
    assert_eq!(season.matches_completed() as usize, results.len());
    let scheduled = season.phase() != LeaguePhase::WaitingForRegistrations;
    let mut table =
        Table::new(if scheduled { season.players().len() as u32 } else { 0 }, season.config().scoring.clone());
    for (match_id, outcome) in &results {
        assert_eq!(season.outcome(match_id), Some(*outcome));
        assert!(table.record(season.pairing(match_id).unwrap(), *outcome));
    }
    let rows = season.standings();
    assert_eq!(rows.len(), season.players().len());
    if scheduled {
        let ids: Vec<PlayerId> =
            table.places().iter().map(|place| season.players()[place.player as usize].id.clone()).collect();
        assert_eq!(rows.iter().map(|row| row.player_id.clone()).collect::<Vec<_>>(), ids);
        for (index, player) in (0..).zip(season.players()) {
            assert_eq!(season.table().row(index), table.row(index));
            assert_eq!(season.player(&player.id), Some(player));
        }
    }
    for (index, referee) in season.referees().iter().enumerate() {
        let slots = season.rounds.iter().flat_map(|round| &round.slots);
        let held = slots.filter(|slot| matches!(slot, MatchSlot::Held { referee, .. } if *referee as usize == index));
        assert_eq!(held.count(), referee.running as usize);
        assert!(referee.running <= referee.capacity && (!referee.lost || referee.running == 0));
    }
    for (place, round) in season.rounds.iter().enumerate() {
        let open = round
            .slots
            .iter()
            .filter(|slot| matches!(slot, MatchSlot::Waiting { .. } | MatchSlot::Held { .. }))
            .count();
        assert_eq!(open, round.open as usize);
        assert!(!round.completed || open == 0);
        assert!(round.completed || place + 1 == season.rounds.len(), "only the last round is open");
    }
    if season.phase() == LeaguePhase::LeagueCompleted {
        assert_eq!(results.len() as u64, season.total_matches());
        assert_eq!(season.next_action(), NextAction::Conclude);
    }
}

fn accepts_further_commands(season: &Season) {
    fn events<T>(decided: Result<CommandOutcome<T>, RequestError>) -> Vec<Event> {
        decided.map(|outcome| outcome.events).unwrap_or_default()
    }
    let then = |events: Vec<Event>| {
        let mut season = season.clone();
        events.iter().for_each(|event| season.apply(event).unwrap());
    };
    then(season.assign(DrawSource::Random(&[7; 32]), now()).events);
    then(events(season.close_registration(now())));
    then(events(season.start(now())));
    then(events(season.stop(now())));
    then(events(season.reopen(now())));
    then(events(season.start_round(now())));
    then(season.register_player(&player(9), None, &[9; 32], now()).unwrap().events);
    then(season.register_referee(&referee(9, 1), None, &[9; 32], now()).unwrap().events);
    for assignment in season.assignments() {
        let Assignment { match_id, attempt, referee } = &assignment;
        then(season.give_back(&assignment, now()).unwrap().events);
        then(season.report(referee, match_id, Some(*attempt), ended(Outcome::Draw), now()).unwrap().events);
        then(season.lose_referee(referee, now()).unwrap().events);
    }
    for player in season.players() {
        then(events(season.withdraw(&player.id, now())));
        season.next_match(&player.id);
    }
    let _ = (season.scheduled_rounds(), season.status(), season.champion());
}

/// Removes an event, repeats it elsewhere or swaps it with another.
fn damage(log: &mut Vec<Event>, (kind, event, other): &(u8, Index, Index)) {
    let events = log.len();
    if events == 0 {
        return;
    }
    match kind {
        0 => drop(log.remove(event.index(events))),
        1 => log.insert(other.index(events + 1), event.get(log).clone()),
        _ => log.swap(event.index(events), other.index(events)),
    }
}

proptest! {
    #[test]
    fn every_prefix_of_the_log_replays_to_the_season_of_that_time(script in scripts()) {
        let world = World::played(&script);
        let mut replayed = Season::replay(&[reread(&world.league.log[0])]).unwrap();
        prop_assert_eq!(&replayed, &world.history[0]);
        for (event, then) in world.league.log.iter().zip(&world.history).skip(1) {
            replayed.apply(&reread(event)).unwrap();
            prop_assert_eq!(&replayed, then);
        }
        prop_assert_eq!(world.league.replayed(), world.league.season);
    }

    #[test]
    fn every_match_counts_once_and_the_table_is_the_sum_of_the_results(script in scripts()) {
        let mut world = World::new();
        for command in &script {
            world.run(command);
            check(&world.league.season, &world.league.log);
            accepts_further_commands(&world.league.season);
        }
    }

    #[test]
    fn the_order_in_which_results_arrive_does_not_matter(
        players in 2_u32..9,
        results in prop::collection::vec(outcomes(), 4),
        order in Just([0_usize, 1, 2, 3]).prop_shuffle(),
    ) {
        let mut one = League::running(players, &[4]);
        let assigned = one.assign();
        let mut other = one.clone();
        for (assignment, outcome) in assigned.iter().zip(&results) {
            one.report(assignment, ended(*outcome)).unwrap();
        }
        for place in order {
            if let Some(assignment) = assigned.get(place) {
                other.report(assignment, ended(results[place])).unwrap();
            }
        }
        prop_assert_eq!(one.season.standings(), other.season.standings());
        prop_assert_eq!(one.season.next_action(), other.season.next_action());
    }

    #[test]
    fn a_damaged_log_is_noticed_or_makes_another_season_and_never_fails(
        script in scripts(),
        damages in prop::collection::vec((0..3_u8, any::<Index>(), any::<Index>()), 1..6),
    ) {
        let mut log = World::played(&script).league.log.split_off(1);
        for each in &damages {
            damage(&mut log, each);
        }
        let mut season = World::new().league.season;
        let mut happened = Vec::new();
        for event in log {
            let before = season.clone();
            match season.apply(&event) {
                Ok(()) => happened.push(event),
                Err(_) => prop_assert_eq!(&season, &before, "what cannot have happened changes nothing"),
            }
            check(&season, &happened);
        }
        accepts_further_commands(&season);
    }
}
