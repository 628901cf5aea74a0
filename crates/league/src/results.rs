//! Results as text: a line per match, and one match in full.

use std::collections::HashMap;
use std::fmt::Write as _;

use anyhow::Result;
use league_core::record::MatchRecord;
use league_core::rules::game::{Deal, Game as _, GameStage};
use league_core::rules::outcome::Outcome;
use league_core::rules::series::{Series, first_side};
use league_core::season::Season;
use league_core::season::event::Fact;
use league_protocol::id::{GameType, MatchId, PlayerId};
use league_protocol::message::query::ScheduledMatch;
use league_protocol::message::report::Account;
use league_protocol::problem::Problem;
use league_protocol::side::{Pair, Side};
use league_store::home::Home;
use league_store::log::{LogError, scan};
use league_store::views::match_file::MatchFile;
use league_store::views::narrative::{steps, with_names};

#[derive(Debug)]
pub(crate) struct Ended {
    outcome: Outcome,
    record: Option<MatchRecord>,
    account: Option<Account>,
}

impl Ended {
    pub(crate) fn problems(&self) -> impl Iterator<Item = &(PlayerId, Problem)> {
        self.account.iter().flat_map(|account| &account.problems.0)
    }
}

pub(crate) fn read(home: &Home, season: &Season) -> Result<HashMap<MatchId, Ended>> {
    let mut results = HashMap::new();
    let mut explained: Option<(MatchId, Account)> = None;
    scan(&home.log(&season.config().league_id), |_, event| {
        if let Fact::MatchExplained { match_id, account, .. } = event.fact {
            explained = Some((match_id, *account));
        } else if let Fact::MatchReported { match_id, record, .. } = event.fact {
            let account = explained.take().filter(|(explained, _)| *explained == match_id).map(|(_, account)| account);
            results.insert(match_id, Ended { outcome: record.outcome, record: Some(record), account });
        } else if let Fact::MatchAwarded { match_id, outcome } = event.fact {
            results.insert(match_id, Ended { outcome, record: None, account: None });
        } else if matches!(event.fact, Fact::RegistrationReopened) {
            results.clear();
        }
        Ok::<_, LogError>(())
    })?;
    Ok(results)
}

/// An id without a name stands for itself.
#[derive(Debug, Default)]
pub(crate) struct Names(HashMap<String, String>);

impl Names {
    /// Control characters could move the cursor of a terminal, so they become blanks.
    pub(crate) fn of(names: impl IntoIterator<Item = (String, String)>) -> Self {
        let plain = |name: String| name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        Self(names.into_iter().map(|(id, name)| (id, plain(name))).collect())
    }

    pub(crate) fn of_id(&self, id: &str) -> String {
        self.0.get(id).cloned().unwrap_or_else(|| id.to_owned())
    }
}

/// Players, choices, number and reason; the choices are in the order of the players.
pub(crate) fn cells(game: &ScheduledMatch, ended: Option<&Ended>, names: &Names) -> [String; 4] {
    let ids = Pair::new(&game.player_a_id, &game.player_b_id);
    let side_of = |player: &PlayerId| if player == ids.a { Side::A } else { Side::B };
    let winner = game.winner.as_ref().map(side_of);
    let first = winner.unwrap_or(Side::A);
    let outcome = ended.map_or_else(|| winner.map_or(Outcome::Draw, Outcome::Win), |ended| ended.outcome);
    let sentence = outcome.sentence(&ids.map(|id| names.of_id(id.as_str())));
    let record = ended.and_then(|ended| ended.record.as_ref());
    let choice = |side: Side| record.and_then(|record| record.moves[side].as_deref()).unwrap_or("–");
    let choices = match record.map(|record| (record.games.get(), record.score)) {
        None => String::new(),
        Some((1, _)) => format!("{} {}", choice(first), choice(first.other())),
        Some((_, score)) => {
            score.map_or_else(String::new, |score| format!("{}:{}", score[first], score[first.other()]))
        }
    };
    let one_game = record.filter(|record| record.games.get() == 1);
    let number = one_game.and_then(|record| record.drawn).map(|number| number.to_string()).unwrap_or_default();
    [sentence, choices, number, why(ended, ids, names)]
}

fn why(ended: Option<&Ended>, ids: Pair<&PlayerId>, names: &Names) -> String {
    let Some(ended) = ended else { return String::new() };
    let problems = ended.account.iter().flat_map(|account| &account.problems.0);
    let reasons: Vec<String> = problems
        .filter(|(player, _)| player == ids.a || player == ids.b)
        .map(|(player, problem)| format!("{}: {}", names.of_id(player.as_str()), problem.brief()))
        .collect();
    if !reasons.is_empty() {
        return reasons.join("; ");
    }
    match (ended.record.as_ref(), ended.outcome) {
        (None, _) => String::from("not played: a player had been withdrawn"),
        (Some(_), Outcome::Forfeit(_) | Outcome::DoubleForfeit) => {
            let reason = ended.account.as_ref().and_then(|account| account.reason.as_deref());
            reason.unwrap_or("the referee gave no reason").to_owned()
        }
        (Some(record), Outcome::Win(_) | Outcome::Draw) if record.games.get() > 1 => {
            format!("in {} games", record.games)
        }
        (Some(record), Outcome::Win(_) | Outcome::Draw) => match (record.drawn, record.parity()) {
            (Some(number), Some(parity)) => format!("{number} is {parity}"),
            (None, _) | (_, None) => String::new(),
        },
    }
}

/// One match in full: the players, their messages and times, the draw, the reason of the result, and what to fix.
pub(crate) fn describe(file: &MatchFile, names: &Names) -> String {
    let name = |id: &str| names.of_id(id);
    let mut text = String::new();
    let (a, b) = (file.player_a_id.as_str(), file.player_b_id.as_str());
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{}, round {}: {} ({a}) against {} ({b}), referee {}",
        file.match_id,
        file.round_id,
        name(a),
        name(b),
        file.referee_id
    );
    match &file.result {
        None => text.push_str("It is not over.\n"),
        Some(result) => {
            let details = &result.details;
            let points = result.score.0.iter().map(|(player, points)| format!("{} {points}", name(player.as_str())));
            let points: Vec<String> = points.collect();
            if let Some(reason) = &details.reason {
                let _ = writeln!(text, "{}", sentence(&with_names(reason, file, name)));
            }
            let winner = result.winner.as_ref().map(|winner| format!("{} wins", name(winner.as_str())));
            let lost: Vec<String> = details.technical_losses.iter().map(|player| name(player.as_str())).collect();
            let lost =
                if lost.is_empty() { String::new() } else { format!(" by technical loss of {}", lost.join(" and ")) };
            let _ = writeln!(
                text,
                "Result: {}{lost}. Points: {}.",
                winner.unwrap_or_else(|| String::from("a draw")),
                points.join(", ")
            );
            let played = file.replay();
            if let Some(played) = played.as_ref().filter(|_| details.games_per_match.is_some()) {
                describe_games(&mut text, played, file, names);
            }
            for (player, choice) in details.choices.0.iter().filter(|_| details.games_per_match.is_none()) {
                let choice = choice.as_deref().unwrap_or("made no legal choice");
                let time = file.times.get(player).and_then(|times| times.move_ms).map(|ms| format!(", after {ms} ms"));
                let _ = writeln!(text, "  {}: {choice}{}", name(player.as_str()), time.unwrap_or_default());
            }
            match (details.drawn_number, details.number_parity) {
                _ if details.games_per_match.is_some() => {}
                (Some(number), Some(parity)) => drop(writeln!(text, "  Number drawn: {number}, {parity}")),
                (Some(number), None) => drop(writeln!(text, "  Number drawn: {number}")),
                (None, _) if file.game_type == GameType::even_odd() => text.push_str("  No number was drawn.\n"),
                (None, _) => {}
            }
            if let Some(deal) = played.filter(|_| details.games_per_match.is_none()).and_then(|played| played.deal()) {
                let _ = writeln!(text, "  Cards: {}", deal.sentence(Pair::new(&name(a), &name(b))));
            }
        }
    }
    for (player, problem) in &file.problems.0 {
        let name = name(player.as_str());
        let _ = writeln!(
            text,
            "\nWhat {name} did wrong: {}.\nWhat to fix: {}",
            problem.sentence_about(&name),
            sentence(&problem.fix())
        );
    }
    let steps = steps(file, name);
    if steps.is_empty() {
        text.push_str("\nThe transcript is not in this home: the referee has not sent it.\n");
    } else {
        text.push_str("\nWhat happened:\n");
        for step in steps {
            let mark = if step.wrong { "!" } else { " " };
            let at = step.at.to_string();
            let clock = at.get(11..19).unwrap_or(&at);
            let _ = writeln!(text, "{mark} {clock}  {}", step.text);
        }
    }
    let _ = write!(text, "\nAll of it, with every message: league match {} --json", file.match_id);
    text
}

/// The moves of a game that its line shows.
const SHOWN_MOVES: usize = 42;

/// One line for each game of the match, in order: who began, the score, the number or the cards, and the moves.
fn describe_games(text: &mut String, played: &Series, file: &MatchFile, names: &Names) {
    let (a, b) = (names.of_id(file.player_a_id.as_str()), names.of_id(file.player_b_id.as_str()));
    let named = Pair::new(a.as_str(), b.as_str());
    let moves = file.result.as_ref().map(|result| result.details.moves.as_slice()).unwrap_or_default();
    let mut start = 0;
    let mut line = |number: u32, score: String, deal: Option<Deal>, count: usize| {
        let deal = deal.map(|deal| format!("; {}", deal.sentence(named))).unwrap_or_default();
        let made: Vec<&str> = moves.iter().skip(start).take(count).map(|one| one.played.as_str()).collect();
        start += made.len();
        let more = if made.len() > SHOWN_MOVES { " …" } else { "" };
        let shown = made.iter().take(SHOWN_MOVES).copied().collect::<Vec<_>>().join(" ");
        let _ =
            writeln!(text, "  Game {number}: {} first; {score}{deal}; moves {shown}{more}", named[first_side(number)]);
    };
    for end in played.ends() {
        let number = end.drawn.map(|number| format!(", number {}", number.get())).unwrap_or_default();
        line(end.number, format!("{a} {}, {b} {}{number}", end.score.a, end.score.b), end.deal, end.moves);
    }
    if !matches!(played.stage(), GameStage::Over(_)) {
        line(played.number(), String::from("not played to its end"), played.deal(), usize::MAX);
    }
}

fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.ends_with(['.', '?', '!']) { text.to_owned() } else { format!("{text}.") }
}
