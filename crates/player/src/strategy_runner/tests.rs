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
async fn a_strategy_that_chooses_is_listened_to() {
    let strategy_runner = StrategyRunner::new(strategy("always_odd").unwrap());
    assert_eq!(strategy_runner.name(), "always_odd");
    let thought = strategy_runner.think(question(1), memory(&[]), PLENTY).await;
    assert!(matches!(&thought, StrategyOutcome::Chosen(odd) if odd == "odd"), "{thought:?}");
}

#[tokio::test]
async fn a_panic_costs_the_choice_and_nothing_else() {
    let strategy_runner = StrategyRunner::new(Arc::new(Panicking));
    for number in 1..=20 {
        let (question, memory) = (question(number), memory(&[]));
        let toss = memory.toss(&question);
        let expected = (toss, format!("the strategy panicked: no idea what to do in R{number}M1"));
        assert_eq!(fallback(strategy_runner.think(question, memory, PLENTY).await), expected);
    }
}

#[tokio::test]
async fn a_stalled_strategy_costs_the_choice_and_does_not_hold_up_the_next_question() {
    let (_go, stalling) = Stalling::new();
    let strategy_runner = StrategyRunner::new(stalling).with_patience(Duration::from_millis(50));
    let (parity, because) = fallback(strategy_runner.think(question(1), memory(&[]), PLENTY).await);
    assert_eq!((parity, because.as_str()), (memory(&[]).toss(&question(1)), "nothing came within 50ms"));
    let strategy_runner = strategy_runner.with_patience(PLENTY);
    let next = strategy_runner.think(question(2), memory(&[]), PLENTY).await;
    assert!(matches!(&next, StrategyOutcome::Chosen(odd) if odd == "odd"), "{next:?}");
}

#[tokio::test]
async fn a_strategy_that_stalls_for_ever_does_not_take_thread_after_thread() {
    let (go, stalling) = Stalling::new();
    let strategy_runner = StrategyRunner::new(stalling).with_patience(Duration::from_millis(5));
    for _ in 0..MAX_THOUGHTS {
        assert_eq!(
            fallback(strategy_runner.think(question(1), memory(&[]), PLENTY).await).1,
            "nothing came within 5ms"
        );
    }
    let (_, because) = fallback(strategy_runner.think(question(2), memory(&[]), PLENTY).await);
    assert_eq!(because, "too many earlier thoughts have not come to an end");
    drop(go);
    let strategy_runner = strategy_runner.with_patience(PLENTY);
    while strategy_runner.thoughts.available_permits() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let thought = strategy_runner.think(question(2), memory(&[]), PLENTY).await;
    assert!(matches!(&thought, StrategyOutcome::Chosen(odd) if odd == "odd"), "{thought:?}");
}

#[test]
fn a_strategy_has_the_time_left_but_a_margin() {
    let seconds = Duration::from_secs;
    assert_eq!((budget(seconds(30)), budget(seconds(5))), (seconds(27), Duration::from_millis(3500)));
    assert_eq!((budget(seconds(1)), budget(Duration::ZERO)), (Duration::from_millis(500), Duration::ZERO));
}

#[tokio::test]
async fn a_strategy_that_uses_up_its_time_is_not_waited_for() {
    let (_go, stalling) = Stalling::new();
    let strategy_runner = StrategyRunner::new(stalling);
    let (_, because) = fallback(strategy_runner.think(question(1), memory(&[]), Duration::from_millis(90)).await);
    assert_eq!(because, "nothing came within 45ms");
}

#[tokio::test]
async fn a_question_that_was_answered_keeps_its_answer() {
    let strategy_runner = StrategyRunner::new(Arc::new(Panicking));
    let again = MoveRequest { answered: Some("even".into()), ..question(1) };
    let thought = strategy_runner.think(again, memory(&[]), Duration::ZERO).await;
    assert!(matches!(&thought, StrategyOutcome::Chosen(even) if even == "even"), "{thought:?}");
}

#[tokio::test]
async fn an_illegal_move_of_a_strategy_is_replaced_by_a_random_legal_one() {
    let runner = StrategyRunner::new(strategy("always_odd").unwrap());
    let request = MoveRequest { legal_moves: vec!["even".into()], ..question(1) };
    let expected = (Parity::Even, String::from("the strategy chose \"odd\", which is not a legal move"));
    assert_eq!(fallback(runner.think(request, memory(&[]), PLENTY).await), expected);
}

#[tokio::test]
async fn without_a_model_there_is_the_coin() {
    let strategy_runner = StrategyRunner::new(strategy("llm").unwrap());
    let (_, because) = fallback(strategy_runner.think(question(1), memory(&[]), PLENTY).await);
    assert_eq!(because, "this strategy asks a language model, and none is configured");
}
