//! The steps by which somebody else drives a match, for teaching.

use std::fmt;

use thiserror::Error;

use super::phase::MatchPhase;

/// One step of a match in [`DriveMode::Stepped`](super::terms::Mode::Stepped).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StepCommand {
    /// Ask for moves. In a game of many turns this starts them all.
    CollectChoices,
    /// Draw the number. A game without a draw does not wait for this step and takes it as done, so that the same three
    /// steps drive every game.
    DrawNumber,
    /// Tell the end, and report it.
    Finalize,
}

impl StepCommand {
    pub const ALL: [Self; 3] = [Self::CollectChoices, Self::DrawNumber, Self::Finalize];

    /// The method that asks for this step.
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

/// A step out of order. It changed nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("{step} is out of order: the match is in {phase} and waits for {}", awaited.map_or("no step", StepCommand::as_str))]
pub struct StepRefused {
    pub step: StepCommand,
    pub phase: MatchPhase,
    /// The step that it waits for; none while it waits for players, or drives itself.
    pub awaited: Option<StepCommand>,
}
