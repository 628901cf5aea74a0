use super::effect::AskKind;
use super::ending::ForfeitReason;
use super::input::CallNumber;

/// What one side owes. A side has at most one open number, so an input with another number is late.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SideState {
    /// The side has not been asked yet, or has answered.
    Free,
    Called(Try),
    /// The next call follows after the pause.
    Paused(Try),
    GameOverSent(CallNumber),
    Lost(ForfeitReason),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Try {
    pub(super) ask: AskKind,
    /// From one.
    pub(super) number: u8,
    /// The open call, or the pause that follows it.
    pub(super) call: CallNumber,
}

impl SideState {
    /// The try that an answer concludes. An answer without a call number concludes the current call or pause.
    pub(super) fn answered(self, ask: AskKind, call: Option<CallNumber>) -> Option<Try> {
        let tried = match call {
            Some(call) => self.called(call),
            None => self.owed(),
        };
        tried.filter(|tried| tried.ask == ask)
    }

    pub(super) fn called(self, call: CallNumber) -> Option<Try> {
        match self {
            Self::Called(tried) => Some(tried).filter(|tried| tried.call == call),
            Self::Free | Self::Paused(_) | Self::GameOverSent(_) | Self::Lost(_) => None,
        }
    }

    pub(super) fn paused(self, call: CallNumber) -> Option<Try> {
        match self {
            Self::Paused(tried) => Some(tried).filter(|tried| tried.call == call),
            Self::Free | Self::Called(_) | Self::GameOverSent(_) | Self::Lost(_) => None,
        }
    }

    pub(super) fn owed(self) -> Option<Try> {
        match self {
            Self::Called(tried) | Self::Paused(tried) => Some(tried),
            Self::Free | Self::GameOverSent(_) | Self::Lost(_) => None,
        }
    }

    pub(super) fn fault(self) -> Option<ForfeitReason> {
        match self {
            Self::Lost(fault) => Some(fault),
            Self::Free | Self::Called(_) | Self::Paused(_) | Self::GameOverSent(_) => None,
        }
    }
}
