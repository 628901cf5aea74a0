//! The lines of the league's log file, one for each event. They omit token digests, which are the keys of passes.

use league_core::season::event::{Event, Fact};
use league_store::journal::{JournalEntry, JournalLevel};

pub fn line(event: &Event) -> JournalEntry {
    let fact = &event.fact;
    let level = if matches!(fact, Fact::MatchAssigned { .. }) {
        JournalLevel::Debug
    } else if matches!(
        fact,
        Fact::RefereeReturned { .. }
            | Fact::PlayerWithdrawn { .. }
            | Fact::MatchReturned { .. }
            | Fact::RefereeLost { .. }
            | Fact::RefereeLeft { .. }
            | Fact::RefereeWithdrawn { .. }
            | Fact::AlertRaised { .. }
            | Fact::MatchSuspended { .. }
            | Fact::MoveDeposited { .. }
    ) {
        JournalLevel::Warn
    } else {
        JournalLevel::Info
    };
    let kind = fact.kind().to_ascii_uppercase();
    let entry = JournalEntry::new(event.at, level, "league_manager", &kind, fact.describe().to_string());
    if let Fact::MatchReported { record, .. } = fact {
        entry.with(record)
    } else if let Fact::MatchExplained { account, .. } = fact {
        entry.with(account)
    } else if let Fact::Opened { config } = fact {
        entry.with(config)
    } else if let Fact::AgentLearned { learned, .. } = fact {
        entry.with(learned)
    } else if let Fact::PlayerRegistered { profile, .. }
    | Fact::RefereeRegistered { profile, .. }
    | Fact::PlayerReturned { profile, .. }
    | Fact::RefereeReturned { profile, .. } = fact
    {
        entry.with(profile)
    } else {
        entry
    }
}
