//! `tit_for_tat`: cooperates first, then does what the opponent did last in the prisoner's dilemma.

use league_core::session::MoveRequest;
use league_protocol::id::GameType;
use smol_str::SmolStr;

use super::{Decision, Strategy};
use crate::memory::Memory;

#[derive(Debug)]
pub(super) struct TitForTat;

impl Strategy for TitForTat {
    fn name(&self) -> &'static str {
        "tit_for_tat"
    }

    fn games(&self) -> Vec<GameType> {
        "prisoners_dilemma".parse().into_iter().collect()
    }

    /// The view ends with the opponent's last choice.
    fn choose(&self, request: &MoveRequest, _memory: &Memory) -> Decision {
        let choice = if request.view.ends_with('D') { "defect" } else { "cooperate" };
        Decision::Move(SmolStr::new_static(choice))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{memory, question};

    #[test]
    fn it_answers_the_last_choice_alone() {
        for (view, expected) in [("", "cooperate"), ("C C", "cooperate"), ("CC CD", "defect"), ("CDD DDC", "cooperate")]
        {
            let request = MoveRequest { view: view.into(), ..question(1) };
            assert_eq!(TitForTat.choose(&request, &memory(&[])), Decision::Move(expected.into()), "{view}");
        }
    }
}
