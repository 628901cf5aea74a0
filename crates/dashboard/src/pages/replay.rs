//! The moves of a match, game by game: one after the other, and on a board where the game has pictures.

use std::num::NonZeroU32;

use league_core::record::MatchRecord;
use league_core::rules::game::{Deal, Game as _, GameStage};
use league_core::rules::outcome::Outcome;
use league_core::rules::series::{GameEnd, Series, first_side};
use league_core::season::agent::RegisteredPlayer;
use league_protocol::id::{GameType, MatchId, PlayerId};
use league_protocol::message::step::MatchState;
use league_protocol::side::{Pair, Side};
use maud::{Markup, PreEscaped, html};
use smol_str::SmolStr;

use super::links::named;

/// What one page shows, so that it stays below 100 KB. Further games are on further pages.
const MAX_MOVES: usize = 300;
const MAX_BOARDS: usize = 40;
const MAX_ROWS: usize = 100;

/// Moves that were made without knowledge of each other.
#[derive(Debug)]
struct Turn {
    moves: Vec<(Side, SmolStr)>,
    /// The opponent's move belongs to this turn.
    is_open: bool,
}

#[derive(Debug)]
struct ShownGame {
    number: u32,
    turns: Vec<Turn>,
    /// Before each move, and at the end.
    boards: Vec<String>,
    /// `None` when the game was not played to its end.
    end: Option<GameEnd>,
    deal: Option<Deal>,
    /// The sum of the scores up to the end of this game.
    total: Pair<i32>,
}

impl ShownGame {
    fn new(number: u32) -> Self {
        let (turns, boards) = (Vec::new(), Vec::new());
        Self { number, turns, boards, end: None, deal: None, total: Pair::new(0, 0) }
    }

    fn add(&mut self, series: &Series, side: Side, text: &SmolStr) {
        self.boards.extend(series.picture(Side::A));
        let is_open = matches!(series.stage(), GameStage::Moves(due) if due.a && due.b);
        match self.turns.last_mut() {
            Some(turn) if turn.is_open => {
                turn.moves.push((side, text.clone()));
                turn.is_open = false;
            }
            Some(_) | None => self.turns.push(Turn { moves: vec![(side, text.clone())], is_open }),
        }
    }
}

/// The games of a match, played again.
#[derive(Debug)]
pub(super) struct Replay {
    /// How many games the match has, and how many moves were made in all of them.
    games: u32,
    moves: usize,
    ends: Vec<GameEnd>,
    /// The games of this page.
    shown: Vec<ShownGame>,
    /// Moves were made in games after those of this page.
    has_more: bool,
}

impl Replay {
    /// From game `from` on, at least one game: the last one with moves if `from` comes after it. `None` when moves and proof
    /// cannot be replayed.
    pub(super) fn of(record: &MatchRecord, game: &GameType, attempt: (&MatchId, u32), from: u32) -> Option<Self> {
        let from = from.clamp(1, record.games.get());
        let (mut shown, mut moves, mut last_number, mut is_full) = (Vec::<ShownGame>::new(), 0, 1, false);
        let played = record.replay(game, attempt, |series, side, text| {
            moves += 1;
            last_number = series.number();
            if series.number() < from || is_full {
                return;
            }
            if shown.last().is_none_or(|game| game.number != series.number()) {
                if let Some(last) = shown.last_mut() {
                    last.boards.extend(series.last_picture());
                }
                let (boards, turns) = shown.iter().fold((0, 0), |(boards, moves), game| {
                    (boards + game.boards.len(), moves + game.turns.iter().map(|turn| turn.moves.len()).sum::<usize>())
                });
                is_full = boards >= MAX_BOARDS || turns >= MAX_MOVES;
                if is_full {
                    return;
                }
                shown.push(ShownGame::new(series.number()));
            }
            if let Some(game) = shown.last_mut() {
                game.add(series, side, text);
            }
        });
        let played = played.ok()?;
        if last_number < from {
            return Self::of(record, game, attempt, last_number);
        }
        for game in &mut shown {
            let ends = || played.ends().iter().take_while(|end| end.number <= game.number);
            game.total = ends().fold(Pair::new(0, 0), |sum, end| {
                Pair::from_fn(|side| i32::saturating_add(sum[side], end.score[side]))
            });
            game.end = played.ends().iter().find(|end| end.number == game.number).copied();
            game.deal = game.end.map_or_else(|| played.deal(), |end| end.deal);
        }
        if let Some(last) = shown.last_mut().filter(|_| !is_full) {
            last.boards.extend(if last.end.is_some() { played.last_picture() } else { played.picture(Side::A) });
        }
        Some(Self { games: record.games.get(), moves, ends: played.ends().to_vec(), shown, has_more: is_full })
    }

    /// The cards of a match of one game.
    pub(super) fn deal(&self) -> Option<Deal> {
        self.shown.first().filter(|_| self.games == 1).and_then(|game| game.deal)
    }

    /// The table of the games, in parts; nothing for a match of one game.
    pub(super) fn table(&self, match_id: &MatchId, names: Pair<&str>) -> Markup {
        let has = |wanted: fn(&GameEnd) -> bool| self.ends.iter().any(wanted);
        let (has_cards, has_number) = (has(|end| end.deal.is_some()), has(|end| end.drawn.is_some()));
        let shown =
            self.shown.first().map_or(0, |game| game.number as usize - 1).min(self.ends.len().saturating_sub(1));
        let start = shown - shown % MAX_ROWS;
        let until = self.ends.len().min(start + MAX_ROWS);
        let to = |place: usize| format!("matches/{match_id}?game={}#games", place + 1);
        html! {
            @if self.games > 1 {
                section #games aria-labelledby="games-title" {
                    h2 #games-title { "The games" }
                    div.wide tabindex="0" role="region" aria-label="Every game with its score" {
                        table {
                            thead { tr {
                                th scope="col" { "Game" } th.name scope="col" { "First" }
                                th scope="col" { (named(names.a)) } th scope="col" { (named(names.b)) }
                                @if has_cards { th.name scope="col" { "Cards" } }
                                @if has_number { th scope="col" { "Number" } }
                                th scope="col" { "Moves" }
                            } }
                            tbody { @for end in self.ends.iter().take(until).skip(start) {
                                tr {
                                    th scope="row" { a href={ "matches/" (match_id) "?game=" (end.number) } { (end.number) } }
                                    td.name { (dot(first_side(end.number))) (named(names[first_side(end.number)])) }
                                    td.points[end.score.a > end.score.b] { (end.score.a) } td.points[end.score.b > end.score.a] { (end.score.b) }
                                    @if has_cards { td.name { @if let Some(deal) = end.deal { (cards(deal)) } } }
                                    @if has_number { td { @if let Some(number) = end.drawn { (number.get()) } } }
                                    td { (end.moves) }
                                }
                            } }
                        }
                    }
                    @if self.ends.len() > MAX_ROWS {
                        nav.paging aria-label="More rows of this table" {
                            @if start > 0 { a rel="prev" href=(to(start - MAX_ROWS)) { "‹ Earlier" } }
                            span { "Games " (start + 1) " to " (until) " of " (self.ends.len()) }
                            @if until < self.ends.len() { a rel="next" href=(to(until)) { "Later ›" } }
                        }
                    }
                }
            }
        }
    }

    /// Nothing for a single game of one move each: the result shows these.
    pub(super) fn section(&self, match_id: &MatchId, names: Pair<&str>) -> Markup {
        if self.shown.is_empty() || (self.games == 1 && self.moves <= 2) {
            return html! {};
        }
        let to = |number: u32| format!("matches/{match_id}?game={number}");
        let number_of = |game: Option<&ShownGame>| game.map_or(1, |game| game.number);
        let (first, last) = (number_of(self.shown.first()), number_of(self.shown.last()));
        html! {
            section #replay aria-labelledby="replay-title" {
                h2 #replay-title { "Move by move" }
                @for game in &self.shown { (self.game(game, names)) }
                @if first > 1 || self.has_more {
                    nav.paging aria-label="More games" {
                        @if first > 1 { a rel="prev" href=(to(1)) { "‹ From the first game" } }
                        span { "Games " (first) " to " (last) " of " (self.games) }
                        @if self.has_more { a rel="next" href=(to(last + 1)) { "From game " (last + 1) " ›" } }
                    }
                }
            }
        }
    }

    fn game(&self, game: &ShownGame, names: Pair<&str>) -> Markup {
        let (several, first) = (self.games > 1, first_side(game.number));
        html! {
            div.game data-first=(letter(first)) {
                @if several {
                    h3 { "Game " (game.number) " of " (self.games) ": " (dot(first)) (named(names[first])) " has the first side" }
                }
                @if let Some(deal) = game.deal { p.small { (deal.sentence(names)) "." } }
                @if game.boards.is_empty() { (list(&game.turns, names)) } @else { (boards(game, several, names)) }
                @if several {
                    p.end { @match game.end {
                        Some(end) => {
                            "Game " (game.number) " ends " b { (end.score.a) " : " (end.score.b) }
                            @if let Some(number) = end.drawn { ", the number was " b { (number.get()) } }
                            ". The match stands at " (game.total.a) " : " (game.total.b) "."
                        }
                        None => { "Game " (game.number) " was not played to its end." }
                    } }
                }
            }
        }
    }
}

fn boards(game: &ShownGame, several: bool, names: Pair<&str>) -> Markup {
    let prefix = if several { format!("game {}, ", game.number) } else { String::new() };
    let moves = game.turns.iter().flat_map(|turn| &turn.moves);
    let captions =
        (1..).zip(moves).map(|(number, (side, text))| format!("{prefix}move {number}: {} plays {text}", names[*side]));
    let captions = std::iter::once(format!("{prefix}the empty board")).chain(captions);
    html! { div.boards { @for (picture, caption) in game.boards.iter().zip(captions) { (board(picture, &caption)) } } }
}

/// Moves that were made at the same time stand together.
fn list(turns: &[Turn], names: Pair<&str>) -> Markup {
    let both = turns.iter().any(|turn| turn.moves.len() > 1);
    html! {
        @if both { p.small { (named(names.a)) " : " (named(names.b)) } }
        ol.moves {
            @for turn in turns {
                @match turn.moves.as_slice() {
                    [(side, text)] => li data-side=(letter(*side)) { (named(names[*side])) " " b { (text) } },
                    moves => li { @for (place, (_, text)) in moves.iter().enumerate() { @if place > 0 { " : " } b { (text) } } },
                }
            }
        }
    }
}

/// A match that is still played: the board of the current game, or moves where the game has no board.
pub(super) fn so_far(
    game: &GameType,
    attempt: (&MatchId, u32),
    players: &Pair<&RegisteredPlayer>,
    state: &MatchState,
) -> Markup {
    let names = players.map(|player| player.profile.name.as_str());
    let first = first_side(state.game_number.unwrap_or(1));
    // The moves are replayed as a match of one game, which side A begins.
    let role = |side: Side| if first == Side::A { side } else { side.other() };
    let side_of = |id: &PlayerId| Side::BOTH.into_iter().find(|side| players[*side].id == *id);
    let moves = state.moves.iter().filter_map(|one| Some((role(side_of(&one.player_id)?), one.played.clone())));
    let course: Vec<_> = moves.collect();
    let is_played = state.state == "COLLECTING_CHOICES";
    if course.is_empty() && !is_played {
        return html! {};
    }
    // The outcome plays no part before the end.
    let record = MatchRecord { course, games: NonZeroU32::MIN, ..MatchRecord::unplayed(Outcome::DoubleForfeit) };
    // The page knows no cards and numbers of a running match, so it cannot replay these games.
    let now = record.replay(game, attempt, |_, _, _| {}).ok();
    let picture = now.as_ref().and_then(|now| now.picture(Side::A));
    // Moves that are made at once are known when their game is over.
    let is_last = is_played && now.is_some_and(|now| !matches!(now.stage(), GameStage::Moves(_)));
    let last = record.course.last().map(|(side, text)| format!("{} plays {text}", names[role(*side)]));
    let replay = Replay::of(&record, game, attempt, 1);
    let shown = replay.and_then(|replay| replay.shown.into_iter().next()).map(|game| game.turns);
    let mut turns = shown.unwrap_or_else(|| {
        let latest = &record.course[record.course.len().saturating_sub(MAX_MOVES)..];
        latest.iter().map(|made| Turn { moves: vec![made.clone()], is_open: false }).collect()
    });
    for (side, _) in turns.iter_mut().flat_map(|turn| &mut turn.moves) {
        *side = role(*side);
    }
    html! {
        @if picture.is_some() || !record.course.is_empty() {
            section #board aria-labelledby="board-title" {
                h2 #board-title { @if is_last { "The last game" } @else { "So far" } }
                @match picture {
                    Some(picture) => div.game data-first=(letter(first)) { div.boards data-at="now" { (board(&picture, last.as_deref().unwrap_or("the empty board"))) } },
                    None => (list(&turns, names)),
                }
            }
        }
    }
}

pub(super) fn cards(deal: Deal) -> Markup {
    html! { (card(deal.hands.a)) " : " (card(deal.hands.b)) @if let Some(turned) = deal.turned { " on " (card(turned)) } }
}

pub(super) fn card(rank: &str) -> Markup {
    html! { b.card { (rank) } }
}

fn letter(side: Side) -> &'static str {
    match side {
        Side::A => "A",
        Side::B => "B",
    }
}

pub(super) fn dot(side: Side) -> Markup {
    html! { span.dot data-side=(letter(side)) aria-hidden="true" {} }
}

fn board(picture: &str, caption: &str) -> Markup {
    // The game draws it from the board alone.
    html! { figure { (PreEscaped(picture)) figcaption { (caption) } } }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: Pair<&str> = Pair { a: "Ada", b: "<Bob>" };

    fn replay(game: &str, games: u32, course: &[(Side, &str)], outcome: Outcome) -> String {
        let course = course.iter().map(|(side, text)| (*side, SmolStr::new(text))).collect();
        let games = NonZeroU32::new(games).unwrap();
        let record = MatchRecord { course, games, ..MatchRecord::unplayed(outcome) };
        let match_id = "R1M1".parse().unwrap();
        let replay = Replay::of(&record, &game.parse().unwrap(), (&match_id, 1), 1).unwrap();
        html! { (replay.table(&match_id, NAMES)) (replay.section(&match_id, NAMES)) }.into_string()
    }

    const ROW: [(Side, &str); 5] = [(Side::A, "1"), (Side::B, "4"), (Side::A, "2"), (Side::B, "5"), (Side::A, "3")];

    #[test]
    fn a_board_is_shown_before_the_first_move_and_after_each() {
        let page = replay("tic_tac_toe", 1, &ROW, Outcome::Win(Side::A));
        assert_eq!((page.matches("<figure>").count(), page.matches(r#"class="a""#).count()), (6, 9), "{page}");
        assert!(page.contains("move 2: &lt;Bob&gt; plays 4") && page.contains("the empty board"), "{page}");
        assert!(!page.contains("Game 1"), "{page}");
    }

    #[test]
    fn each_game_shows_who_has_the_first_side_its_board_at_the_end_and_its_result() {
        let second = ROW.map(|(side, text)| (side.other(), text));
        let page = replay("tic_tac_toe", 3, &[&ROW[..], &second[..], &ROW[..2]].concat(), Outcome::Forfeit(Side::A));
        let games: Vec<&str> = page.split("<h3>").skip(1).collect();
        assert_eq!(games.iter().map(|game| game.matches("<figure>").count()).collect::<Vec<_>>(), [6, 6, 3], "{page}");
        assert!(games[0].contains("Ada</bdi> has the first side") && games[0].contains("<b>1 : 0</b>"), "{page}");
        assert!(games[1].contains("Bob&gt;</bdi> has the first side"), "{page}");
        assert!(games[1].contains("<b>0 : 1</b>") && games[1].contains("The match stands at 1 : 1."), "{page}");
        assert!(games[1].contains("game 2, move 1: &lt;Bob&gt; plays 1"), "{page}");
        let firsts: Vec<&str> = page.split("data-first=\"").skip(1).map(|rest| &rest[..1]).collect();
        assert_eq!(firsts, ["A", "B", "A"], "{page}");
        assert!(games[2].contains("Game 3 was not played to its end."), "{page}");
        assert_eq!(page.matches("?game=").count(), 2, "the table has the games that ended: {page}");
    }

    #[test]
    fn the_moves_of_a_short_match_of_several_games_are_shown() {
        let moves = [(Side::A, "rock"), (Side::B, "paper")];
        let page = replay("rock_paper_scissors", 3, &moves, Outcome::Forfeit(Side::A));
        assert!(page.contains("<b>rock</b>") && page.contains("<b>paper</b>"), "{page}");
        assert!(!replay("rock_paper_scissors", 3, &[], Outcome::DoubleForfeit).contains("Move by move"));
    }

    #[test]
    fn moves_at_the_same_time_stand_together() {
        let moves = [(Side::A, "rock"), (Side::B, "paper"), (Side::A, "scissors"), (Side::B, "scissors")];
        let page = replay("rock_paper_scissors", 1, &moves, Outcome::Forfeit(Side::A));
        assert_eq!(page.matches("<li").count(), 2);
        assert!(page.contains("<bdi>Ada</bdi> : <bdi>&lt;Bob&gt;</bdi>"), "{page}");
        assert!(page.contains("<b>rock</b> : <b>paper</b>"), "{page}");
    }

    #[test]
    fn a_long_match_is_shown_in_parts() {
        let throws: Vec<(Side, &str)> = [(Side::A, "rock"), (Side::B, "paper")].repeat(500);
        let course = throws.iter().map(|(side, text)| (*side, SmolStr::new(text))).collect();
        let games = NonZeroU32::new(5).unwrap();
        let record = MatchRecord { course, games, ..MatchRecord::unplayed(Outcome::Win(Side::B)) };
        let match_id = "R1M1".parse().unwrap();
        let part = |from: u32| {
            let replay = Replay::of(&record, &"rock_paper_scissors".parse().unwrap(), (&match_id, 1), from).unwrap();
            replay.section(&match_id, NAMES).into_string()
        };
        let (first, last) = (part(1), part(5));
        assert!(first.contains("Games 1 to 2 of 5") && first.contains("?game=3"), "{first}");
        assert!(last.contains("Games 5 to 5 of 5") && !last.contains("rel=\"next\""), "{last}");
        assert!(last.contains("The match stands at 0 : 500."), "{last}");
        assert!(part(99).contains("Games 5 to 5 of 5"));
    }

    /// Five games were played to their end, and a player forfeited in the sixth.
    #[test]
    fn the_unfinished_game_has_a_link_and_a_game_that_was_not_begun_shows_the_last_one() {
        let throws: Vec<(Side, &str)> = [(Side::A, "rock"), (Side::B, "paper")].repeat(501);
        let course = throws.iter().map(|(side, text)| (*side, SmolStr::new(text))).collect();
        let games = NonZeroU32::new(9).unwrap();
        let record = MatchRecord { course, games, ..MatchRecord::unplayed(Outcome::Forfeit(Side::A)) };
        let match_id = "R1M1".parse().unwrap();
        let part = |from: u32| {
            let replay = Replay::of(&record, &"rock_paper_scissors".parse().unwrap(), (&match_id, 1), from).unwrap();
            replay.section(&match_id, NAMES).into_string()
        };
        assert!(part(4).contains("Games 4 to 5 of 9") && part(4).contains("?game=6"), "{}", part(4));
        assert!(part(8).contains("Game 6 was not played to its end.") && part(8) == part(6), "{}", part(8));
    }

    #[test]
    fn the_table_of_many_games_is_shown_in_parts() {
        let rows: Vec<(Side, &str)> = [ROW, ROW.map(|(side, text)| (side.other(), text))].concat().repeat(125);
        let course = rows.iter().map(|(side, text)| (*side, SmolStr::new(text))).collect();
        let games = NonZeroU32::new(250).unwrap();
        let record = MatchRecord { course, games, ..MatchRecord::unplayed(Outcome::Draw) };
        let match_id = "R1M1".parse().unwrap();
        let table = |from: u32| {
            let replay = Replay::of(&record, &"tic_tac_toe".parse().unwrap(), (&match_id, 1), from).unwrap();
            replay.table(&match_id, NAMES).into_string()
        };
        let (first, middle, last) = (table(1), table(150), table(250));
        assert_eq!([&first, &middle, &last].map(|table| table.matches("<tr>").count()), [101, 101, 51]);
        assert!(first.contains("Games 1 to 100 of 250") && first.contains("?game=101#games"), "{first}");
        assert!(middle.contains("?game=1#games") && middle.contains("?game=201#games"), "{middle}");
        assert!(!first.contains("rel=\"prev\"") && !last.contains("rel=\"next\""), "{last}");
    }
}
