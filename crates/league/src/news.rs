//! What `league manager` prints during a league: registrations, missing agents, results, suspensions.
//! A separate thread writes the lines, so a terminal that does not read never blocks the league.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use indicatif::ProgressBar;
use league_core::record::MatchRecord;
use league_core::season::Season;
use league_core::season::agent::RegisteredPlayer;
use league_core::season::event::{Event, Fact};
use league_protocol::draw::DrawCommitment;
use league_protocol::id::{MatchId, PlayerId, RefereeId};
use league_protocol::side::{Pair, Side};
use smol_str::SmolStr;

use crate::words::counted;

/// Further lines are dropped.
const MAX_WAITING: usize = 4096;
const FLUSH_LIMIT: Duration = Duration::from_secs(1);
/// In leagues with more matches only rounds are printed.
const MAX_PRINTED_RESULTS: u64 = 1000;

#[derive(Clone, Debug, Default)]
pub(crate) struct ExpectedPlayers {
    pub(crate) players: Option<u32>,
    pub(crate) listed: Vec<(PlayerId, SmolStr)>,
}

enum Line {
    Text(String),
    Flush(SyncSender<()>),
}

#[derive(Clone)]
pub(crate) struct News {
    season: Arc<Mutex<Season>>,
    expected: Arc<ExpectedPlayers>,
    lines: SyncSender<Line>,
    bar: Arc<OnceLock<ProgressBar>>,
}

impl News {
    pub(crate) fn start(season: Season, expected: ExpectedPlayers) -> io::Result<Self> {
        let (lines, waiting) = sync_channel(MAX_WAITING);
        let bar = Arc::new(OnceLock::new());
        let shared = Arc::clone(&bar);
        std::thread::Builder::new().name(String::from("league-news")).spawn(move || write_lines(&waiting, &shared))?;
        Ok(Self { season: Arc::new(Mutex::new(season)), expected: Arc::new(expected), lines, bar })
    }

    pub(crate) fn above(&self, bar: ProgressBar) {
        // Only one command sets it, once.
        let _ = self.bar.set(bar);
    }

    pub(crate) fn print(&self, event: &Event) {
        let mut season = self.season.lock().unwrap_or_else(PoisonError::into_inner);
        if season.apply(event).is_err() {
            return;
        }
        for line in lines(&season, &event.fact, &self.expected) {
            // Dropped if the terminal does not read.
            let _ = self.lines.try_send(Line::Text(line));
        }
    }

    /// Waits a short time until everything is written.
    pub(crate) fn flush(&self) {
        let (done, written) = sync_channel(1);
        if self.lines.try_send(Line::Flush(done)).is_ok() {
            let _ = written.recv_timeout(FLUSH_LIMIT);
        }
    }
}

fn write_lines(waiting: &Receiver<Line>, bar: &OnceLock<ProgressBar>) {
    for line in waiting {
        match (line, bar.get()) {
            (Line::Text(text), Some(bar)) => bar.suspend(|| eprintln!("{text}")),
            (Line::Text(text), None) => eprintln!("{text}"),
            (Line::Flush(done), _) => drop(done),
        }
    }
}

/// `season` is the state after the event.
fn lines(season: &Season, fact: &Fact, expected: &ExpectedPlayers) -> Vec<String> {
    let each = season.total_matches() <= MAX_PRINTED_RESULTS;
    if let Fact::PlayerRegistered { player, profile, .. } = fact {
        let there = season.players().len();
        let of = match expected.players {
            Some(number) => format!("{there} of {number} players"),
            None => counted(there as u64, "player"),
        };
        vec![format!("{player} is here: {} at {} ({of}).", profile.name, profile.endpoint)]
    } else if let Fact::RefereeRegistered { referee, profile, commitments, .. } = fact {
        let there = counted(season.referees().len() as u64, "referee");
        let line = format!("{referee} is here: {} at {} ({there}).", profile.name, profile.endpoint);
        std::iter::once(line).chain(unproved(referee, commitments)).collect()
    } else if let Fact::RefereeReturned { referee, commitments, .. } = fact {
        std::iter::once(format!("{}.", fact.describe())).chain(unproved(referee, commitments)).collect()
    } else if let Fact::AlertRaised { .. } = fact {
        vec![format!("{}. See league alerts.", fact.describe())]
    } else if let Fact::MatchSuspended { match_id, .. } = fact {
        vec![format!("{match_id} waits for your decision: league resolve {match_id} uphold, or reject.")]
    } else if *fact == Fact::RegistrationClosed {
        vec![closed(season, expected)]
    } else if let Fact::RoundStarted { round, .. } = fact {
        vec![format!("Round {round} of {} begins.", season.total_rounds())]
    } else if let Some((match_id, record)) = fact.result() {
        let Some(players) = season.contestants(match_id) else { return Vec::new() };
        let line = each.then(|| result(match_id, players, &record));
        let is_played = matches!(fact, Fact::MatchReported { .. });
        line.into_iter().chain(suspended(season, players).into_iter().filter(|_| is_played)).collect()
    } else {
        let is_printed = matches!(fact, Fact::RoundCompleted { .. } if !each)
            || matches!(
                fact,
                Fact::RefereeLost { .. }
                    | Fact::RefereeLeft { .. }
                    | Fact::RefereeWithdrawn { .. }
                    | Fact::DisputeResolved { .. }
                    | Fact::PlayerWithdrawn { .. }
                    | Fact::RegistrationReopened
            );
        is_printed.then(|| format!("{}.", fact.describe())).into_iter().collect()
    }
}

fn unproved(referee: &RefereeId, commitments: &[DrawCommitment]) -> Option<String> {
    commitments.is_empty().then(|| {
        format!("{referee} deposits no commitments: the manager cannot prove its draws, nor check its reports fully.")
    })
}

fn closed(season: &Season, expected: &ExpectedPlayers) -> String {
    let (there, referees) = (season.players().len(), counted(season.referees().len() as u64, "referee"));
    let Some(number) = expected.players.filter(|number| there < *number as usize) else {
        return format!("Registration is closed: {} and {referees} are here.", counted(there as u64, "player"));
    };
    let missing = counted(number - there as u32, "player");
    let listed = expected.listed.iter().filter(|(id, _)| season.player(id).is_none());
    let label = |(id, name): &(PlayerId, SmolStr)| match name.as_str() {
        "" => id.to_string(),
        name => format!("{id} ({name})"),
    };
    let names: Vec<_> = listed.map(label).collect();
    let names = if names.is_empty() { String::new() } else { format!("; not here: {}", names.join(", ")) };
    format!(
        "Registration is closed: {there} of {number} expected players and {referees} are here. {missing} missing{names}."
    )
}

fn result(match_id: &MatchId, players: Pair<&RegisteredPlayer>, record: &MatchRecord) -> String {
    // The choices in the order of the sentence.
    let first = record.outcome.winner().unwrap_or(Side::A);
    let moves = || {
        let (first_move, second_move) = (record.moves[first].as_ref()?, record.moves[first.other()].as_ref()?);
        Some(format!(" ({first_move} against {second_move}, number {})", record.drawn?))
    };
    let sentence = record.outcome.sentence(&players.map(|player| &player.profile.name));
    format!("{match_id}: {sentence}{}.", moves().unwrap_or_default())
}

fn suspended(season: &Season, players: Pair<&RegisteredPlayer>) -> Vec<String> {
    let limit = season.config().suspend_after;
    let now = |player: &&RegisteredPlayer| limit > 0 && player.forfeits_running == limit;
    let line = |player: &RegisteredPlayer| {
        let (name, id) = (&player.profile.name, &player.id);
        format!(
            "{name} ({id}) is suspended after {limit} technical losses in a row: it is asked once until it plays again."
        )
    };
    [players.a, players.b].into_iter().filter(now).map(line).collect()
}
