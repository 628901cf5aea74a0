//! What one side of a match owes at the moment.

use super::effect::AskKind;
use super::ending::ForfeitReason;
use super::input::CallNumber;

/// What one side owes. There is never more than one open number for a side, so everything that names another is late.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SideState {
    /// Nothing: it has not been asked yet, or it has answered.
    Free,
    /// An answer, and the call for it is open.
    Called(Try),
    /// An answer, for which it will be called again after a pause.
    Paused(Try),
    Told(CallNumber),
    Lost(ForfeitReason),
}

/// One try to get an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Try {
    pub(super) ask: AskKind,
    /// Which try it is, from one.
    pub(super) number: u8,
    /// The open call, or the pause that follows it.
    pub(super) call: CallNumber,
}

impl SideState {
    /// The try that an answer concludes: to the call when it names one, else to whatever call or pause there is.
    pub(super) fn answered(self, ask: AskKind, call: Option<CallNumber>) -> Option<Try> {
        let tried = match call {
            Some(call) => self.called(call),
            None => self.owed(),
        };
        tried.filter(|tried| tried.ask == ask)
    }

    /// The try whose call is open under this number.
    pub(super) fn called(self, call: CallNumber) -> Option<Try> {
        match self {
            Self::Called(tried) => Some(tried).filter(|tried| tried.call == call),
            Self::Free | Self::Paused(_) | Self::Told(_) | Self::Lost(_) => None,
        }
    }

    /// The try that is followed by a pause of this number.
    pub(super) fn paused(self, call: CallNumber) -> Option<Try> {
        match self {
            Self::Paused(tried) => Some(tried).filter(|tried| tried.call == call),
            Self::Free | Self::Called(_) | Self::Told(_) | Self::Lost(_) => None,
        }
    }

    /// The latest try, while the answer is still due.
    pub(super) fn owed(self) -> Option<Try> {
        match self {
            Self::Called(tried) | Self::Paused(tried) => Some(tried),
            Self::Free | Self::Told(_) | Self::Lost(_) => None,
        }
    }

    /// Why it has forfeited, if it has.
    pub(super) fn fault(self) -> Option<ForfeitReason> {
        match self {
            Self::Lost(fault) => Some(fault),
            Self::Free | Self::Called(_) | Self::Paused(_) | Self::Told(_) => None,
        }
    }
}
