//! The league's log for people: a line for everything that happened, in the order in which it did.
//!
//! Lines say who and what, never how anybody is recognised: a token's digest is the key of its passes.

use league_core::season::event::{Event, Fact};
use league_store::journal::{Entry, Level};
use league_store::log::projection::kind_of;

/// The line of an event.
pub fn line(event: &Event) -> Entry {
    let (level, message) = told(&event.fact);
    let kind = kind_of(&event.fact).to_ascii_uppercase();
    let entry = Entry::new(event.at, level, "league_manager", &kind, message);
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

fn told(fact: &Fact) -> (Level, String) {
    match fact {
        Fact::Opened { config } => (Level::Info, format!("{} is open for registration", config.league_id)),
        Fact::PlayerRegistered { player, profile, .. } => {
            (Level::Info, format!("{player} is in: {} at {}", profile.name, profile.endpoint))
        }
        Fact::RefereeRegistered { referee, profile, capacity, .. } => {
            (Level::Info, format!("{referee} is in: {} at {}, {capacity} matches", profile.name, profile.endpoint))
        }
        Fact::PlayerReturned { player, .. } => (Level::Info, format!("{player} is back")),
        Fact::RefereeReturned { referee, .. } => {
            (Level::Warn, format!("{referee} is back; what it was running is played again"))
        }
        Fact::RegistrationClosed => (Level::Info, String::from("registration is closed, the schedule is made")),
        Fact::RegistrationReopened => {
            (Level::Info, String::from("the operator opened the registration again; the schedule will be made anew"))
        }
        Fact::PlayerWithdrawn { player } => (Level::Warn, format!("the operator withdrew {player}")),
        Fact::MatchAwarded { match_id, outcome } => {
            (Level::Info, format!("{match_id} is decided without being played: {outcome:?}"))
        }
        Fact::RoundStarted { round } => (Level::Info, format!("round {round} begins")),
        Fact::MatchAssigned { match_id, attempt, referee } => {
            (Level::Debug, format!("{match_id} is given to {referee}, attempt {attempt}"))
        }
        Fact::MatchReturned { match_id, attempt } => {
            (Level::Warn, format!("attempt {attempt} at {match_id} came to nothing"))
        }
        Fact::RefereeLost { referee } => (Level::Warn, format!("{referee} does not answer; its matches go to others")),
        Fact::MatchExplained { match_id, account, .. } => match &account.reason {
            Some(reason) => (Level::Info, format!("{match_id}: {reason}")),
            None => (Level::Info, format!("{match_id} is reported with its answer times")),
        },
        Fact::MatchReported { match_id, record, .. } => {
            (Level::Info, format!("{match_id} is over: {:?}", record.outcome))
        }
        Fact::RoundCompleted { round } => (Level::Info, format!("round {round} is over")),
        Fact::LeagueCompleted => (Level::Info, String::from("the league is over")),
        Fact::AgentLearned { agent, learned } => {
            let manner = learned.manner.as_ref().map(|manner| format!("is spoken to in {manner}"));
            let quirks = learned.quirks.iter().map(|quirk| quirk.what().to_owned());
            let token = learned.shows_token.then(|| String::from("shows its token"));
            let told: Vec<_> = manner.into_iter().chain(quirks).chain(token).collect();
            (Level::Info, format!("{}: {}", agent.as_str(), told.join("; ")))
        }
        Fact::Halted => (Level::Info, String::from("the operator stopped the league")),
        Fact::Resumed => (Level::Info, String::from("the operator let the league go on")),
    }
}
