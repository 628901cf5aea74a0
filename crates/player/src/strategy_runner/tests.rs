use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use league_protocol::parity::Parity;

use super::*;
use crate::strategy::registry::strategy;
use crate::testing::{memory, question};

const PLENTY: Duration = Duration::from_secs(30);

#[derive(Debug)]
struct Panicking;

impl Strategy for Panicking {
    fn name(&self) -> &'static str {
        "panicking"
    }

    fn choose(&self, question: &MoveRequest, _: &Memory) -> Decision {
        panic!("no idea what to do in {}", question.match_id)
    }
}

/// Stalls in the first match until the test releases it; fast in every other.
#[derive(Debug)]
struct Stalling(Mutex<Receiver<()>>);

impl Stalling {
    fn new() -> (Sender<()>, Arc<Self>) {
        let (go, gate) = channel();
        (go, Arc::new(Self(Mutex::new(gate))))
    }
}

impl Strategy for Stalling {
    fn name(&self) -> &'static str {
        "stalling"
    }

    fn choose(&self, question: &MoveRequest, _: &Memory) -> Decision {
        if question.match_id.as_str() == "R1M1" {
            // Ends with the test, which drops the sender.
            let _ = self.0.lock().unwrap_or_else(|held| held.into_inner()).recv();
        }
        Parity::Odd.into()
    }
}

fn fallback(outcome: StrategyOutcome) -> (Parity, String) {
    let StrategyOutcome::Fallback { played, because, .. } = outcome else { panic!("{outcome:?}") };
    (Parity::exact(&played.unwrap()).unwrap(), because.to_string())
}

#[tokio::test]
async fn the_choice_of_a_strategy_is_played() {
    let runner = StrategyRunner::new(strategy("always_odd").unwrap());
    assert_eq!(runner.name(), "always_odd");
    let outcome = runner.think(question(1), memory(&[]), PLENTY).await;
    assert!(matches!(&outcome, StrategyOutcome::Chosen(odd) if odd == "odd"), "{outcome:?}");
}

#[tokio::test]
async fn a_panic_costs_the_choice_and_nothing_else() {
    let runner = StrategyRunner::new(Arc::new(Panicking));
    for number in 1..=20 {
        let (question, memory) = (question(number), memory(&[]));
        let toss = memory.toss(&question);
        let expected = (toss, format!("the strategy panicked: no idea what to do in R{number}M1"));
        assert_eq!(fallback(runner.think(question, memory, PLENTY).await), expected);
    }
}

#[tokio::test]
async fn a_stalled_strategy_costs_the_choice_and_does_not_hold_up_the_next_question() {
    let (_go, stalling) = Stalling::new();
    let runner = StrategyRunner::new(stalling).with_time_limit(Duration::from_millis(50));
    let (parity, because) = fallback(runner.think(question(1), memory(&[]), PLENTY).await);
    assert_eq!((parity, because.as_str()), (memory(&[]).toss(&question(1)), "nothing came within 50ms"));
    let (_other_go, other) = Stalling::new();
    let short = Duration::from_millis(90);
    let (_, because) = fallback(StrategyRunner::new(other).think(question(1), memory(&[]), short).await);
    assert_eq!(because, "nothing came within 45ms", "a short time leaves a margin");
    let runner = runner.with_time_limit(PLENTY);
    let next = runner.think(question(2), memory(&[]), PLENTY).await;
    assert!(matches!(&next, StrategyOutcome::Chosen(odd) if odd == "odd"), "{next:?}");
}

#[tokio::test]
async fn a_strategy_that_stalls_forever_blocks_a_bounded_number_of_threads() {
    let (go, stalling) = Stalling::new();
    let runner = StrategyRunner::new(stalling).with_time_limit(Duration::from_millis(5));
    for _ in 0..MAX_CONCURRENT_CHOICES {
        assert_eq!(fallback(runner.think(question(1), memory(&[]), PLENTY).await).1, "nothing came within 5ms");
    }
    let (_, because) = fallback(runner.think(question(2), memory(&[]), PLENTY).await);
    assert_eq!(because, "too many earlier thoughts have not come to an end");
    drop(go);
    let runner = runner.with_time_limit(PLENTY);
    while runner.permits.available_permits() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let outcome = runner.think(question(2), memory(&[]), PLENTY).await;
    assert!(matches!(&outcome, StrategyOutcome::Chosen(odd) if odd == "odd"), "{outcome:?}");
}

#[test]
fn a_strategy_has_the_time_left_but_a_margin() {
    let seconds = Duration::from_secs;
    assert_eq!((budget(seconds(30)), budget(seconds(5))), (seconds(27), Duration::from_millis(3500)));
    assert_eq!((budget(seconds(1)), budget(Duration::ZERO)), (Duration::from_millis(500), Duration::ZERO));
}

#[tokio::test]
async fn a_repeated_call_gets_the_same_answer() {
    let runner = StrategyRunner::new(Arc::new(Panicking));
    let again = MoveRequest { answered: Some("even".into()), ..question(1) };
    let outcome = runner.think(again, memory(&[]), Duration::ZERO).await;
    assert!(matches!(&outcome, StrategyOutcome::Chosen(even) if even == "even"), "{outcome:?}");
}

#[tokio::test]
async fn an_illegal_move_of_a_strategy_is_replaced_by_a_random_legal_one() {
    let runner = StrategyRunner::new(strategy("always_odd").unwrap());
    let request = MoveRequest { legal_moves: vec!["even".into()], ..question(1) };
    let expected = (Parity::Even, String::from("the strategy chose \"odd\", which is not a legal move"));
    assert_eq!(fallback(runner.think(request, memory(&[]), PLENTY).await), expected);
}

#[tokio::test]
async fn without_a_model_the_move_is_random() {
    let runner = StrategyRunner::new(strategy("llm").unwrap());
    let (_, because) = fallback(runner.think(question(1), memory(&[]), PLENTY).await);
    assert_eq!(because, "this strategy asks a language model, and none is configured");
}
