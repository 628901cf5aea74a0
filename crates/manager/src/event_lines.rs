//! The league's journal for people: one line for each event, in order.
//!
//! A line never shows a token's digest: it is the key of the token's passes.

use JournalLevel::{Debug, Info, Warn};
use league_core::season::event::{Event, Fact};
use league_store::journal::{JournalEntry, JournalLevel};

pub fn line(event: &Event) -> JournalEntry {
    let kind = event.fact.kind().to_ascii_uppercase();
    let entry = |level, text: String| JournalEntry::new(event.at, level, "league_manager", &kind, text);
    match &event.fact {
        Fact::Opened { config } => entry(Info, format!("{} is open for registration", config.league_id)).with(config),
        Fact::PlayerRegistered { player, profile, .. } => {
            entry(Info, format!("{player} is in: {} at {}", profile.name, profile.endpoint)).with(profile)
        }
        Fact::RefereeRegistered { referee, profile, capacity, .. } => {
            let text = format!("{referee} is in: {} at {}, {capacity} matches", profile.name, profile.endpoint);
            entry(Info, text).with(profile)
        }
        Fact::PlayerReturned { player, profile, .. } => entry(Info, format!("{player} is back")).with(profile),
        Fact::RefereeReturned { referee, profile, .. } => {
            entry(Warn, format!("{referee} is back; what it was running is played again")).with(profile)
        }
        Fact::RegistrationClosed => entry(Info, "registration is closed, the schedule is made".into()),
        Fact::RegistrationReopened => {
            entry(Info, "the operator opened the registration again; the schedule will be made anew".into())
        }
        Fact::PlayerWithdrawn { player } => entry(Warn, format!("the operator withdrew {player}")),
        Fact::MatchAwarded { match_id, outcome } => {
            entry(Info, format!("{match_id} is decided without being played: {outcome:?}"))
        }
        Fact::RoundStarted { round, .. } => entry(Info, format!("round {round} begins")),
        Fact::MatchAssigned { match_id, attempt, referee } => {
            entry(Debug, format!("{match_id} is given to {referee}, attempt {attempt}"))
        }
        Fact::MatchReturned { match_id, attempt } => {
            entry(Warn, format!("attempt {attempt} at {match_id} came to nothing"))
        }
        Fact::RefereeLost { referee } => entry(Warn, format!("{referee} does not answer; its matches go to others")),
        Fact::MatchExplained { match_id, account, .. } => {
            let reason = account.reason.as_ref().map(|reason| format!("{match_id}: {reason}"));
            entry(Info, reason.unwrap_or_else(|| format!("{match_id} is reported with its answer times"))).with(account)
        }
        Fact::MatchReported { match_id, record, .. } => {
            entry(Info, format!("{match_id} is over: {:?}", record.outcome)).with(record)
        }
        Fact::RoundCompleted { round } => entry(Info, format!("round {round} is over")),
        Fact::LeagueCompleted => entry(Info, "the league is over".into()),
        Fact::AgentLearned { agent, learned } => {
            let manner = learned.manner.as_ref().map(|manner| format!("is spoken to in {manner}"));
            let quirks = learned.quirks.iter().map(|quirk| quirk.what().to_owned());
            let token = learned.shows_token.then(|| String::from("shows its token"));
            let ways: Vec<_> = manner.into_iter().chain(quirks).chain(token).collect();
            entry(Info, format!("{}: {}", agent.as_str(), ways.join("; "))).with(learned)
        }
        Fact::Halted => entry(Info, "the operator stopped the league".into()),
        Fact::Resumed => entry(Info, "the operator let the league go on".into()),
    }
}
