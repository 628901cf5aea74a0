use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use super::*;
use crate::strategy::Behaviour;
use crate::strategy::registry::strategy;
use crate::testing::{memory, question};

const PLENTY: Duration = Duration::from_secs(30);

#[derive(Debug)]
struct Panicking;

impl Strategy for Panicking {
    fn name(&self) -> &'static str {
        "panicking"
    }

    fn choose(&self, question: &StrategyQuestion, _: &Memory) -> Decision {
        panic!("no idea what to do in {}", question.match_id)
    }
}

/// Stalls in the first match, until it is let go; quick in every other.
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

    fn choose(&self, question: &StrategyQuestion, _: &Memory) -> Decision {
        if question.match_id.as_str() == "R1M1" {
            // Ends with the test: the other end is dropped there.
            let _ = self.0.lock().unwrap_or_else(|held| held.into_inner()).recv();
        }
        Decision::Bet(Parity::Odd)
    }
}

fn fallback(thought: StrategyOutcome) -> (Parity, String) {
    match thought {
        StrategyOutcome::Fallback { parity, because, .. } => (parity, because.to_string()),
        other @ (StrategyOutcome::Chosen(_) | StrategyOutcome::Advised { .. } | StrategyOutcome::Misbehave(_)) => {
            panic!("{other:?}")
        }
    }
}

#[tokio::test]
async fn a_strategy_that_chooses_is_listened_to() {
    let thinker = StrategyRunner::new(strategy("always_odd").unwrap());
    assert_eq!(thinker.name(), "always_odd");
    let thought = thinker.think(question(1), memory(&[]), PLENTY).await;
    assert!(matches!(thought, StrategyOutcome::Chosen(Parity::Odd)), "{thought:?}");
}

#[tokio::test]
async fn a_panic_costs_the_choice_and_nothing_else() {
    let thinker = StrategyRunner::new(Arc::new(Panicking));
    for number in 1..=20 {
        let (question, memory) = (question(number), memory(&[]));
        let toss = memory.toss(&question);
        let expected = (toss, format!("the strategy panicked: no idea what to do in R{number}M1"));
        assert_eq!(fallback(thinker.think(question, memory, PLENTY).await), expected);
    }
}

#[tokio::test]
async fn a_stalled_strategy_costs_the_choice_and_does_not_hold_up_the_next_question() {
    let (_go, stalling) = Stalling::new();
    let thinker = StrategyRunner::new(stalling).with_patience(Duration::from_millis(50));
    let (parity, because) = fallback(thinker.think(question(1), memory(&[]), PLENTY).await);
    assert_eq!((parity, because.as_str()), (memory(&[]).toss(&question(1)), "nothing came within 50ms"));
    let thinker = thinker.with_patience(PLENTY);
    let next = thinker.think(question(2), memory(&[]), PLENTY).await;
    assert!(matches!(next, StrategyOutcome::Chosen(Parity::Odd)), "{next:?}");
}

#[tokio::test]
async fn a_strategy_that_stalls_for_ever_does_not_take_thread_after_thread() {
    let (go, stalling) = Stalling::new();
    let thinker = StrategyRunner::new(stalling).with_patience(Duration::from_millis(5));
    for _ in 0..MAX_THOUGHTS {
        assert_eq!(fallback(thinker.think(question(1), memory(&[]), PLENTY).await).1, "nothing came within 5ms");
    }
    let (_, because) = fallback(thinker.think(question(2), memory(&[]), PLENTY).await);
    assert_eq!(because, "too many earlier thoughts have not come to an end");
    // What ends after all makes room again.
    drop(go);
    let thinker = thinker.with_patience(PLENTY);
    while thinker.thoughts.available_permits() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(thinker.think(question(2), memory(&[]), PLENTY).await.parity(), Some(Parity::Odd));
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
    let thinker = StrategyRunner::new(stalling);
    let (_, because) = fallback(thinker.think(question(1), memory(&[]), Duration::from_millis(90)).await);
    assert_eq!(because, "nothing came within 45ms");
}

#[tokio::test]
async fn a_question_that_was_answered_keeps_its_answer() {
    let thinker = StrategyRunner::new(Arc::new(Panicking));
    let again = StrategyQuestion { answered: Some("even".into()), ..question(1) };
    let thought = thinker.think(again, memory(&[]), Duration::ZERO).await;
    assert!(matches!(thought, StrategyOutcome::Chosen(Parity::Even)), "{thought:?}");
}

#[tokio::test]
async fn misbehaviour_is_left_to_the_agent() {
    let thinker = StrategyRunner::new(strategy("timeout").unwrap());
    let thought = thinker.think(question(1), memory(&[]), PLENTY).await;
    assert!(matches!(thought, StrategyOutcome::Misbehave(Behaviour::Silence)), "{thought:?}");
    assert_eq!(thought.parity(), None);
}

#[tokio::test]
async fn without_a_model_there_is_the_coin() {
    let thinker = StrategyRunner::new(strategy("llm").unwrap());
    let (_, because) = fallback(thinker.think(question(1), memory(&[]), PLENTY).await);
    assert_eq!(because, "this strategy asks a language model, and none is configured");
}
