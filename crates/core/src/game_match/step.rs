//! Steps by which a client drives a match, for teaching.

use std::fmt;

use thiserror::Error;

use super::phase::MatchPhase;

/// One step of a match in `DriveMode::Stepped`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StepCommand {
    /// In a game of several turns this step starts all of them.
    CollectChoices,
    /// A game without a draw does not wait for this step and accepts it as done. So the same three steps drive every game.
    DrawNumber,
    Finalize,
}

impl StepCommand {
    pub const ALL: [Self; 3] = [Self::CollectChoices, Self::DrawNumber, Self::Finalize];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::CollectChoices => "collect_choices",
            Self::DrawNumber => "draw_number",
            Self::Finalize => "finalize_match",
        }
    }
}

impl fmt::Display for StepCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Changes nothing in the match.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("{step} is out of order: the match is in {phase} and waits for {}", awaited.map_or("no step", StepCommand::as_str))]
pub struct StepRefused {
    pub step: StepCommand,
    pub phase: MatchPhase,
    /// `None` while the match waits for players, or drives itself.
    pub awaited: Option<StepCommand>,
}
