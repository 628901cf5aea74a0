//! The registered strategies, one line each.
//!
//! Some take a parameter after a colon and have a default: `pattern:4`, `llm:gemini-2.5-flash`.

use std::fmt::Write as _;
use std::sync::Arc;

use league_protocol::id::GameType;
use league_protocol::parity::Parity;
use thiserror::Error;

use super::Strategy;
use super::alternate::Alternate;
use super::always::Always;
use super::bandit::Bandit;
use super::connect_four::ConnectFour;
use super::equilibrium::Equilibrium;
use super::frequency::Frequency;
use super::markov::Markov;
#[cfg(feature = "test-strategies")]
use super::misbehaving::Misbehaviour;
use super::model::AskModel;
use super::mostly_rock::MostlyRock;
use super::pattern::Pattern;
use super::random::Random;
use super::throw_pattern::ThrowPattern;
use super::tic_tac_toe::TicTacToe;
use super::tit_for_tat::TitForTat;

#[derive(Debug)]
pub struct StrategyEntry {
    pub name: &'static str,
    pub about: &'static str,
    make: Make,
}

#[derive(Debug)]
enum Make {
    Plain(fn() -> Arc<dyn Strategy>),
    With(Parameter, fn(u8) -> Arc<dyn Strategy>),
    Asking(fn() -> Arc<dyn Strategy>),
}

#[derive(Debug)]
struct Parameter {
    about: &'static str,
    usual: u8,
    least: u8,
    most: u8,
}

const RUN: Parameter =
    Parameter { about: "the longest run of choices that is looked for", usual: 3, least: 1, most: 16 };
const DEPTH: Parameter = Parameter { about: "the moves that it looks ahead", usual: 6, least: 1, most: 10 };
#[cfg(feature = "test-strategies")]
const SHARE: Parameter = Parameter { about: "percent of the time to answer", usual: 50, least: 0, most: 100 };

const STRATEGIES: &[StrategyEntry] = &[
    plain("random", "tosses a coin", || Arc::new(Random)),
    plain("always_even", "says even", || Arc::new(Always(Parity::Even))),
    plain("always_odd", "says odd", || Arc::new(Always(Parity::Odd))),
    plain("alternate", "says even and odd in turns", || Arc::new(Alternate)),
    plain("frequency", "avoids what the opponent says most often", || Arc::new(Frequency)),
    with("pattern", "avoids what used to follow on the opponent's last choices", RUN, |longest| {
        Arc::new(Pattern { longest: usize::from(longest) })
    }),
    plain("markov", "avoids what used to follow on a match like the last one", || Arc::new(Markov)),
    plain("bandit", "says what has paid better, and tries the other now and then", || Arc::new(Bandit)),
    StrategyEntry { name: LLM, about: "asks a language model", make: Make::Asking(|| Arc::new(AskModel)) },
    plain("tic_tac_toe", "plays tic-tac-toe perfectly", || Arc::new(TicTacToe)),
    with("connect_four", "searches Connect Four some moves ahead", DEPTH, |depth| Arc::new(ConnectFour { depth })),
    plain("throw_pattern", "beats the throw that used to follow", || Arc::new(ThrowPattern)),
    plain("mostly_rock", "throws rock half of the time", || Arc::new(MostlyRock)),
    plain("tit_for_tat", "does what the opponent did last", || Arc::new(TitForTat)),
    plain("equilibrium", "plays poker and Colonel Blotto so that no opponent can exploit it", || Arc::new(Equilibrium)),
];

/// Strategies that break a rule on purpose. They appear in no list.
#[cfg(feature = "test-strategies")]
const TEST_STRATEGIES: &[StrategyEntry] = &[
    plain("timeout", "never answers", || Arc::new(Misbehaviour::Timeout)),
    with("slow", "answers late", SHARE, |percent| Arc::new(Misbehaviour::Slow(percent))),
    plain("invalid", "answers what is no move", || Arc::new(Misbehaviour::Invalid)),
    plain("crash", "panics instead of answering", || Arc::new(Misbehaviour::Crash)),
];
#[cfg(not(feature = "test-strategies"))]
const TEST_STRATEGIES: &[StrategyEntry] = &[];

const LLM: &str = "llm";
const MAX_MODEL: usize = 100;

/// `Some(None)` for `llm` without a model; `None` for other strategies.
pub fn model(text: &str) -> Option<Option<&str>> {
    let (name, model) = text.split_once(':').map_or((text, None), |(name, model)| (name, Some(model)));
    (name == LLM).then_some(model)
}

const fn plain(name: &'static str, about: &'static str, make: fn() -> Arc<dyn Strategy>) -> StrategyEntry {
    StrategyEntry { name, about, make: Make::Plain(make) }
}

const fn with(
    name: &'static str,
    about: &'static str,
    parameter: Parameter,
    make: fn(u8) -> Arc<dyn Strategy>,
) -> StrategyEntry {
    StrategyEntry { name, about, make: Make::With(parameter, make) }
}

pub fn strategies() -> impl Iterator<Item = &'static StrategyEntry> {
    STRATEGIES.iter()
}

/// Leaves out the strategy that asks a language model.
pub fn strategies_for(game: &GameType) -> Vec<&'static str> {
    let plays = |entry: &&StrategyEntry| match &entry.make {
        Make::Plain(make) => make().games().contains(game),
        Make::With(parameter, make) => make(parameter.usual).games().contains(game),
        Make::Asking(_) => false,
    };
    strategies().filter(plays).map(|entry| entry.name).collect()
}

pub fn strategy(text: &str) -> Result<Arc<dyn Strategy>, UnknownStrategy> {
    let (name, number) = text.split_once(':').map_or((text, None), |(name, number)| (name, Some(number)));
    let entry = strategies()
        .chain(TEST_STRATEGIES)
        .find(|entry| entry.name == name)
        .ok_or_else(|| UnknownStrategy::unknown(name))?;
    match (&entry.make, number) {
        (Make::Plain(make), None) => Ok(make()),
        (Make::Asking(make), None) => Ok(make()),
        (Make::Asking(make), Some(model)) => {
            let fits = !model.is_empty() && model.len() <= MAX_MODEL && model.chars().all(|c| c.is_ascii_graphic());
            if fits { Ok(make()) } else { Err(UnknownStrategy::Model { name: entry.name, found: shortened(model) }) }
        }
        (Make::Plain(_), Some(_)) => Err(UnknownStrategy::TakesNone { name: entry.name }),
        (Make::With(parameter, make), None) => Ok(make(parameter.usual)),
        (Make::With(parameter, make), Some(number)) => {
            let value = number.parse().ok().filter(|value| (parameter.least..=parameter.most).contains(value));
            value.map(make).ok_or_else(|| UnknownStrategy::Parameter {
                name: entry.name,
                about: parameter.about,
                least: parameter.least,
                most: parameter.most,
                found: shortened(number),
            })
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum UnknownStrategy {
    #[error("there is no strategy {found:?}; there are {known}")]
    Unknown { found: String, known: String },
    #[error("{name} takes no parameter: write just {name}")]
    TakesNone { name: &'static str },
    #[error("invalid model {found:?} for `{name}`: expected a name such as {name}:gemini-2.5-flash, without spaces")]
    Model { name: &'static str, found: String },
    #[error("invalid parameter {found:?} for `{name}`: expected {least} to {most}, {about}")]
    Parameter { name: &'static str, about: &'static str, least: u8, most: u8, found: String },
}

impl UnknownStrategy {
    fn unknown(name: &str) -> Self {
        let mut known = String::new();
        for entry in strategies() {
            let comma = if known.is_empty() { "" } else { ", " };
            // Writing to a string cannot fail.
            let _ = match &entry.make {
                Make::Plain(_) => write!(known, "{comma}{}", entry.name),
                Make::Asking(_) => write!(known, "{comma}{0} (or {0}:MODEL)", entry.name),
                Make::With(parameter, _) => write!(known, "{comma}{0} (or {0}:{1})", entry.name, parameter.usual),
            };
        }
        Self::Unknown { found: shortened(name), known }
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strategy_answers_to_its_own_name_and_no_two_share_one() {
        for entry in strategies() {
            assert_eq!(strategy(entry.name).unwrap().name(), entry.name);
            assert_eq!(strategies().filter(|other| other.name == entry.name).count(), 1, "{}", entry.name);
        }
    }

    #[test]
    fn the_guide_to_strategies_explains_every_strategy() {
        let guide = include_str!("../../../../docs/strategies.md");
        for entry in strategies() {
            let named = ["`", ":"].into_iter().any(|end| guide.contains(&format!("`{}{end}", entry.name)));
            assert!(named, "docs/strategies.md does not mention {}", entry.name);
        }
    }

    #[test]
    fn a_parameter_follows_a_colon() {
        assert_eq!(format!("{:?}", strategy("pattern").unwrap()), "Pattern { longest: 3 }");
        assert_eq!(format!("{:?}", strategy("pattern:5").unwrap()), "Pattern { longest: 5 }");
    }

    #[test]
    fn what_is_wrong_is_told_with_what_would_be_right() {
        let told = |text: &str| strategy(text).unwrap_err().to_string();
        let unknown = told("clever");
        for part in ["there is no strategy \"clever\"; there are ", "pattern (or pattern:3), ", "llm (or llm:MODEL)"] {
            assert!(unknown.contains(part), "{unknown}");
        }
        assert!(strategies().all(|entry| unknown.contains(entry.name)), "{unknown}");
        assert_eq!(told("random:3"), "random takes no parameter: write just random");
        for wrong in ["pattern:0", "pattern:17", "pattern:", "pattern:x", "pattern:-1", "pattern:3:4"] {
            assert!(
                told(wrong).ends_with("expected 1 to 16, the longest run of choices that is looked for"),
                "{wrong}"
            );
        }
        assert!(told("llm:").starts_with("invalid model \"\" for `llm`") && told("llm:a b").contains("without spaces"));
    }

    #[test]
    fn a_model_follows_a_colon_and_may_hold_one() {
        assert!(strategy("llm:llama3:8b").is_ok());
        assert_eq!(
            (model("llm:llama3:8b"), model("llm"), model("markov")),
            (Some(Some("llama3:8b")), Some(None), None)
        );
    }
}
