//! The league's log for people: a line for everything that happened, in the order in which it did.
//!
//! Lines say who and what, never how anybody is recognised: a token's digest is the key of its passes.

use league_core::season::event::{Event, Fact};
use league_store::journal::{JournalEntry, JournalLevel};

pub fn line(event: &Event) -> JournalEntry {
    let (level, message) = told(&event.fact);
    let kind = event.fact.kind().to_ascii_uppercase();
    let entry = JournalEntry::new(event.at, level, "league_manager", &kind, message);
    match &event.fact {
        Fact::MatchReported { record, .. } => entry.with(record),
        Fact::MatchExplained { account, .. } => entry.with(account),
        Fact::Opened { config } => entry.with(config),
        Fact::PlayerRegistered { profile, .. }
        | Fact::RefereeRegistered { profile, .. }
        | Fact::PlayerReturned { profile, .. }
        | Fact::RefereeReturned { profile, .. } => entry.with(profile),
        Fact::AgentLearned { learned, .. } => entry.with(learned),
        Fact::RegistrationClosed
        | Fact::RegistrationReopened
        | Fact::PlayerWithdrawn { .. }
        | Fact::MatchAwarded { .. }
        | Fact::RoundStarted { .. }
        | Fact::MatchAssigned { .. }
        | Fact::MatchReturned { .. }
        | Fact::RefereeLost { .. }
        | Fact::RoundCompleted { .. }
        | Fact::LeagueCompleted
        | Fact::Halted
        | Fact::Resumed => entry,
    }
}

fn told(fact: &Fact) -> (JournalLevel, String) {
    match fact {
        Fact::Opened { config } => (JournalLevel::Info, format!("{} is open for registration", config.league_id)),
        Fact::PlayerRegistered { player, profile, .. } => {
            (JournalLevel::Info, format!("{player} is in: {} at {}", profile.name, profile.endpoint))
        }
        Fact::RefereeRegistered { referee, profile, capacity, .. } => (
            JournalLevel::Info,
            format!("{referee} is in: {} at {}, {capacity} matches", profile.name, profile.endpoint),
        ),
        Fact::PlayerReturned { player, .. } => (JournalLevel::Info, format!("{player} is back")),
        Fact::RefereeReturned { referee, .. } => {
            (JournalLevel::Warn, format!("{referee} is back; what it was running is played again"))
        }
        Fact::RegistrationClosed => (JournalLevel::Info, String::from("registration is closed, the schedule is made")),
        Fact::RegistrationReopened => (
            JournalLevel::Info,
            String::from("the operator opened the registration again; the schedule will be made anew"),
        ),
        Fact::PlayerWithdrawn { player } => (JournalLevel::Warn, format!("the operator withdrew {player}")),
        Fact::MatchAwarded { match_id, outcome } => {
            (JournalLevel::Info, format!("{match_id} is decided without being played: {outcome:?}"))
        }
        Fact::RoundStarted { round } => (JournalLevel::Info, format!("round {round} begins")),
        Fact::MatchAssigned { match_id, attempt, referee } => {
            (JournalLevel::Debug, format!("{match_id} is given to {referee}, attempt {attempt}"))
        }
        Fact::MatchReturned { match_id, attempt } => {
            (JournalLevel::Warn, format!("attempt {attempt} at {match_id} came to nothing"))
        }
        Fact::RefereeLost { referee } => {
            (JournalLevel::Warn, format!("{referee} does not answer; its matches go to others"))
        }
        Fact::MatchExplained { match_id, account, .. } => match &account.reason {
            Some(reason) => (JournalLevel::Info, format!("{match_id}: {reason}")),
            None => (JournalLevel::Info, format!("{match_id} is reported with its answer times")),
        },
        Fact::MatchReported { match_id, record, .. } => {
            (JournalLevel::Info, format!("{match_id} is over: {:?}", record.outcome))
        }
        Fact::RoundCompleted { round } => (JournalLevel::Info, format!("round {round} is over")),
        Fact::LeagueCompleted => (JournalLevel::Info, String::from("the league is over")),
        Fact::AgentLearned { agent, learned } => {
            let manner = learned.manner.as_ref().map(|manner| format!("is spoken to in {manner}"));
            let quirks = learned.quirks.iter().map(|quirk| quirk.what().to_owned());
            let token = learned.shows_token.then(|| String::from("shows its token"));
            let told: Vec<_> = manner.into_iter().chain(quirks).chain(token).collect();
            (JournalLevel::Info, format!("{}: {}", agent.as_str(), told.join("; ")))
        }
        Fact::Halted => (JournalLevel::Info, String::from("the operator stopped the league")),
        Fact::Resumed => (JournalLevel::Info, String::from("the operator let the league go on")),
    }
}
