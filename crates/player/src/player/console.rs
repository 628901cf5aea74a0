//! Messages to the player's author: errors as they happen, and the end of the league.
//!
//! Referee and manager write the sentences. They are untrusted, so the console puts them on one line and truncates them.

use std::fmt;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use league_protocol::id::{MatchId, PlayerId};
use league_protocol::message::evidence::MatchDispute;
use league_protocol::message::game_error::GameError;
use league_protocol::message::game_over::{GameOver, OwnResult};
use league_protocol::message::round::LeagueCompleted;

/// The longest printed sentence of a peer, in characters.
const LONGEST: usize = 300;
/// The most technical losses kept for the closing line.
const REMEMBERED: usize = 100;
const NAMED: usize = 5;
const PROVISIONAL: &str = " (provisional: the manager does not answer the referee yet)";

type Say = Box<dyn Fn(&str) + Send + Sync>;

#[derive(Default)]
pub(super) struct PlayerConsole {
    say: OnceLock<Say>,
    losses: Mutex<Vec<(MatchId, String)>>,
    closed: OnceLock<()>,
    /// The last match whose referee showed no pass.
    unproven: Mutex<Option<MatchId>>,
    /// The last match whose result is provisional.
    provisional: Mutex<Option<MatchId>>,
}

impl fmt::Debug for PlayerConsole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Console")
    }
}

impl PlayerConsole {
    pub(super) fn listen(&self, say: impl Fn(&str) + Send + Sync + 'static) {
        drop(self.say.set(Box::new(say)));
    }

    fn say(&self, line: &str) {
        if let Some(say) = self.say.get() {
            say(line);
        }
    }

    fn losses(&self) -> MutexGuard<'_, Vec<(MatchId, String)>> {
        self.losses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn error(&self, error: &GameError) {
        let match_id = error.match_id.as_ref().map_or_else(|| String::from("a match"), ToString::to_string);
        let what =
            error.hint.as_deref().or(error.error_description.as_deref()).unwrap_or("the referee gives no reason");
        let tries = match (error.retry_count, error.max_retries) {
            (Some(made), Some(all)) => format!(" (try {made} of {all})"),
            (_, _) => String::new(),
        };
        self.say(&format!("{match_id}{tries}: {}", plain(what)));
    }

    /// Says it once for each match; an invitation may be repeated.
    pub(super) fn unproven(&self, match_id: &MatchId) {
        let mut last = self.unproven.lock().unwrap_or_else(PoisonError::into_inner);
        if last.replace(match_id.clone()).as_ref() != Some(match_id) {
            self.say(&format!(
                "{match_id}: the referee shows no pass, so this player cannot tell it from others; the manager allows it"
            ));
        }
    }

    pub(super) fn disputed(&self, dispute: &MatchDispute) {
        self.say(&format!("{}: this player {}; the manager is told", dispute.match_id, dispute.reason.words()));
    }

    /// `repeated`: the same result was printed before.
    pub(super) fn over(&self, over: &GameOver, repeated: bool) {
        let match_id = &over.match_id;
        let was_provisional =
            self.provisional.lock().unwrap_or_else(PoisonError::into_inner).take_if(|last| last == match_id);
        if over.provisional {
            self.provisional.lock().unwrap_or_else(PoisonError::into_inner).replace(match_id.clone());
        } else if was_provisional.is_some() {
            self.say(&format!("{match_id}: {} is final", if repeated { "the result" } else { "another result" }));
        }
        if repeated {
            return;
        }
        let note = if over.provisional { PROVISIONAL } else { "" };
        let mut losses = self.losses();
        // A new result replaces a provisional one.
        losses.retain(|(known, _)| known != match_id);
        // Our referees also explain a double forfeit, which may count as a draw.
        if over.result != Some(OwnResult::TechnicalLoss) && over.hint.is_none() {
            if over.provisional {
                self.say(&format!("{match_id}: over{note}"));
            }
            return;
        }
        let reason = over.game_result.as_ref().map(|result| result.reason.as_str()).filter(|reason| !reason.is_empty());
        let what = plain(over.hint.as_deref().or(reason).unwrap_or("the referee gives no reason"));
        self.say(&format!("{match_id}: a technical loss. {what}{note}"));
        if losses.len() < REMEMBERED {
            losses.push((match_id.clone(), what));
        }
    }

    pub(super) fn completed(&self, me: Option<&PlayerId>, name: &str, end: &LeagueCompleted) {
        let Some(me) = me else { return };
        if self.closed.set(()).is_err() {
            return;
        }
        let players = end.total_players.map_or(end.final_standings.len(), |all| all as usize);
        let row = end.final_standings.iter().find(|row| row.player_id == *me);
        let place = row.map_or_else(
            || String::from("finished"),
            |row| format!("finished {} of {players} with {} points", ordinal(row.rank), row.points),
        );
        let losses = self.losses();
        self.say(&format!("{me} {} {place}; {}", plain(name), forfeits(&losses)));
    }
}

fn forfeits(losses: &[(MatchId, String)]) -> String {
    let count = match losses.len() {
        0 => return String::from("no technical loss."),
        1 => String::from("1 technical loss"),
        more => format!("{more} technical losses"),
    };
    // The advice was printed when the loss happened.
    let short = |what: &str| what.split("; ").next().unwrap_or_default().trim_end_matches('.').to_owned();
    let named: Vec<String> =
        losses.iter().take(NAMED).map(|(match_id, what)| format!("{match_id}, {}", short(what))).collect();
    let more = if losses.len() > NAMED { ", and more" } else { "" };
    format!("{count}: {}{more}.", named.join("; "))
}

fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST).collect()
}

fn ordinal(rank: u32) -> String {
    let ending = match (rank % 10, rank % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        (_, _) => "th",
    };
    format!("{rank}{ending}")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    fn told(news: impl FnOnce(&PlayerConsole)) -> Vec<String> {
        let lines: Arc<Mutex<Vec<String>>> = Arc::default();
        let (console, heard) = (PlayerConsole::default(), Arc::clone(&lines));
        console.listen(move |line| heard.lock().unwrap().push(line.to_owned()));
        news(&console);
        lines.lock().unwrap().clone()
    }

    #[test]
    fn a_technical_loss_is_printed_once_and_named_in_the_closing_line() {
        let over: GameOver = serde_json::from_value(json!({
            "match_id": "R2M1", "result": "TECHNICAL_LOSS", "hint": "you sent `ODD`; send `odd`\u{1b}[2J"
        }))
        .unwrap();
        let end: LeagueCompleted = serde_json::from_value(json!({
            "final_standings": [
                {"rank": 1, "player_id": "P01", "points": 9}, {"rank": 2, "player_id": "P03", "points": 8}
            ]
        }))
        .unwrap();
        let lines = told(|console| {
            console.over(&over, false);
            console.over(&over, true);
            console.completed(Some(&"P03".parse().unwrap()), "Ada", &end);
        });
        assert_eq!(
            lines,
            [
                "R2M1: a technical loss. you sent `ODD`; send `odd` [2J",
                "P03 Ada finished 2nd of 2 with 8 points; 1 technical loss: R2M1, you sent `ODD`.",
            ]
        );
    }

    #[test]
    fn a_provisional_result_is_marked_and_replaced_by_the_final_one() {
        let over = |result: &str, provisional: bool| -> GameOver {
            serde_json::from_value(json!({ "match_id": "R1M1", "result": result, "provisional": provisional })).unwrap()
        };
        let end: LeagueCompleted = serde_json::from_value(json!({})).unwrap();
        let lines = told(|console| {
            console.over(&over("WIN", true), false);
            console.over(&over("WIN", false), true);
            console.over(&over("TECHNICAL_LOSS", true), false);
            console.over(&over("DRAW", false), false);
            console.completed(Some(&"P03".parse().unwrap()), "Ada", &end);
        });
        assert_eq!(
            lines,
            [
                "R1M1: over (provisional: the manager does not answer the referee yet)",
                "R1M1: the result is final",
                "R1M1: a technical loss. the referee gives no reason (provisional: the manager does not answer the referee yet)",
                "R1M1: another result is final",
                "P03 Ada finished; no technical loss.",
            ]
        );
    }

    #[test]
    fn a_dispute_is_printed() {
        let dispute: MatchDispute =
            serde_json::from_value(json!({ "match_id": "R1M1", "attempt": 1, "reason": "broken_draw" })).unwrap();
        let lines = told(|console| console.disputed(&dispute));
        assert_eq!(
            lines,
            ["R1M1: this player got a number that does not follow from the commitment; the manager is told"]
        );
    }

    #[test]
    fn an_error_is_printed_with_its_try() {
        let error: GameError = serde_json::from_value(json!({
            "match_id": "R1M1", "hint": "you hung up while answering: look for an exception in your console",
            "retry_count": 1, "max_retries": 3
        }))
        .unwrap();
        let lines = told(|console| console.error(&error));
        assert_eq!(lines, ["R1M1 (try 1 of 3): you hung up while answering: look for an exception in your console"]);
    }

    #[test]
    fn places_are_written_as_they_are_said() {
        let said = [1, 2, 3, 4, 11, 12, 13, 21, 22, 103, 111].map(ordinal);
        assert_eq!(said, ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd", "103rd", "111th"]);
    }
}
