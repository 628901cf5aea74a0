//! The moves of a finished match: one after the other, and on a board where the game has pictures.

use league_core::record::MatchRecord;
use league_core::rules::game::Game as _;
use league_protocol::id::{GameType, MatchId};
use league_protocol::side::{Pair, Side};
use maud::{Markup, PreEscaped, html};
use smol_str::SmolStr;

/// Longer matches are shown up to here; the exported file has the rest.
const MAX_MOVES: usize = 500;

struct ShownMove {
    game: u32,
    side: Side,
    text: SmolStr,
    /// Before the move.
    board: Option<String>,
}

/// Nothing for a match of one move each: the result shows these.
pub(super) fn section(
    record: &MatchRecord,
    game: &GameType,
    attempt: (&MatchId, u32),
    names: Pair<&str>,
) -> Option<Markup> {
    let mut moves = Vec::new();
    let end = record.replay(game, attempt, |game, side, text| {
        moves.push(ShownMove { game: game.number(), side, text: text.clone(), board: game.picture(side) });
    });
    let (end, played) = (end.ok()?, moves.len());
    if played <= 2 {
        return None;
    }
    let last_board = end.picture(Side::A).filter(|_| played <= MAX_MOVES);
    moves.truncate(MAX_MOVES);
    let several = record.games.get() > 1;
    let shown = (1..).zip(&moves).map(|(number, one)| {
        let game = if several { format!("game {}, ", one.game) } else { String::new() };
        (format!("{game}move {number}: {} plays {}", names[one.side], one.text), one)
    });
    let shown: Vec<_> = shown.collect();
    Some(html! {
        section #replay aria-labelledby="replay-title" {
            h2 #replay-title { "Move by move" }
            @if moves.iter().any(|one| one.board.is_some()) {
                div.boards {
                    @for (index, (_, one)) in shown.iter().enumerate() {
                        (board(one.board.as_deref(), index.checked_sub(1).and_then(|before| shown.get(before)).map_or("the empty board", |(caption, _)| caption.as_str())))
                    }
                    (board(last_board.as_deref(), shown.last().map_or("", |(caption, _)| caption.as_str())))
                }
            } @else {
                p { "A is " b { (names.a) } ", B is " b { (names.b) } "." }
                ol.moves { @for (_, one) in &shown { li data-side=(letter(one.side)) { (letter(one.side)) " " b { (one.text) } } } }
            }
            @if played > MAX_MOVES { p.empty { "These are the first " (MAX_MOVES) " of " (played) " moves. The JSON above has all." } }
        }
    })
}

fn letter(side: Side) -> &'static str {
    match side {
        Side::A => "A",
        Side::B => "B",
    }
}

fn board(picture: Option<&str>, caption: &str) -> Markup {
    html! {
        @if let Some(picture) = picture {
            // The game draws it from the board alone.
            figure { (PreEscaped(picture)) figcaption { (caption) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use league_core::rules::outcome::Outcome;

    use super::*;

    fn page(game: &str, course: &[(Side, &str)], outcome: Outcome) -> String {
        let course = course.iter().map(|(side, text)| (*side, SmolStr::new(text))).collect();
        let record = MatchRecord { course, ..MatchRecord::unplayed(outcome) };
        let names = Pair::new("Ada", "<Bob>");
        section(&record, &game.parse().unwrap(), (&"R1M1".parse().unwrap(), 1), names).unwrap().into_string()
    }

    #[test]
    fn a_board_is_shown_before_the_first_move_and_after_each() {
        let moves = [(Side::A, "1"), (Side::B, "4"), (Side::A, "2"), (Side::B, "5"), (Side::A, "3")];
        let page = page("tic_tac_toe", &moves, Outcome::Win(Side::A));
        assert_eq!((page.matches("<figure>").count(), page.matches(r#"class="a""#).count()), (6, 9), "{page}");
        assert!(page.contains("move 2: &lt;Bob&gt; plays 4") && page.contains("the empty board"), "{page}");
    }

    #[test]
    fn moves_without_a_board_are_listed() {
        let moves = [(Side::A, "rock"), (Side::B, "paper"), (Side::A, "scissors"), (Side::B, "scissors")];
        let page = page("rock_paper_scissors", &moves, Outcome::Forfeit(Side::A));
        assert_eq!(page.matches("<li").count(), 4);
        assert!(
            page.contains("A is <b>Ada</b>, B is <b>&lt;Bob&gt;</b>.") && page.contains("B <b>paper</b>"),
            "{page}"
        );
    }
}
