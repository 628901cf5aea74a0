//! Connect Four, solved: whether each first move wins, draws or loses. `cargo xtask soak connect_four`.
//!
//! Alpha-beta search with a table of known positions. Cells are bits, column by column, with a free bit above each
//! column, so that lines never run from one column into the next.

use std::time::Instant;

use anyhow::{Result, ensure};

const COLUMNS: u32 = 7;
const ROWS: u32 = 6;
const STRIDE: u32 = ROWS + 1;
/// The lowest cell of each column.
const BOTTOM: u64 =
    1 | 1 << STRIDE | 1 << (2 * STRIDE) | 1 << (3 * STRIDE) | 1 << (4 * STRIDE) | 1 << (5 * STRIDE) | 1 << (6 * STRIDE);
const ALL: u64 = BOTTOM * ((1 << ROWS) - 1);
/// Odd, so that a key of at most 58 bits follows from its slot and its low 32 bits.
const SLOTS: usize = 67_108_859;

/// From the left to the centre; the board is symmetric. The first player wins from the centre, draws beside it and loses
/// from the outer columns.
const KNOWN: [Value; 4] = [Value::LOSS, Value::LOSS, Value::DRAW, Value::WIN];

/// The value of a position for the side to move.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Value(i8);

impl Value {
    const LOSS: Self = Self(-1);
    const DRAW: Self = Self(0);
    const WIN: Self = Self(1);

    fn of_opponent(self) -> Self {
        Self(-self.0)
    }

    fn word(self) -> &'static str {
        match self.0 {
            1.. => "wins",
            0 => "draws",
            ..0 => "loses",
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Position {
    /// The discs of the side to move.
    own: u64,
    taken: u64,
}

impl Position {
    fn after(self, cell: u64) -> Self {
        Self { own: self.own ^ self.taken, taken: self.taken | cell }
    }

    fn free(self) -> u64 {
        (self.taken + BOTTOM) & ALL
    }

    fn wins_at_once(self) -> bool {
        lines(self.own, self.taken) & self.free() != 0
    }

    /// The moves after which the opponent does not win at once.
    fn safe_moves(self) -> u64 {
        let threats = lines(self.own ^ self.taken, self.taken);
        let forced = self.free() & threats;
        let moves = match forced.count_ones() {
            0 => self.free(),
            1 => forced,
            _ => 0,
        };
        // A disc below a threat lets the opponent play there.
        moves & !(threats >> 1)
    }

    fn key(self) -> u64 {
        self.own + self.taken + BOTTOM
    }
}

/// The free cells that complete a line of four.
fn lines(own: u64, taken: u64) -> u64 {
    let vertical = (own << 1) & (own << 2) & (own << 3);
    let others = [STRIDE, STRIDE - 1, STRIDE + 1].into_iter().map(|step| {
        let (after, before) = ((own << step) & (own << (2 * step)), (own >> step) & (own >> (2 * step)));
        after & ((own << (3 * step)) | (own >> step)) | before & ((own << step) | (own >> (3 * step)))
    });
    others.fold(vertical, |cells, more| cells | more) & (ALL ^ taken)
}

/// What is known of a position.
#[derive(Clone, Copy)]
enum Bound {
    AtMost(Value),
    AtLeast(Value),
}

struct Solver {
    /// The low 32 bits of the key, and the bound.
    known: Vec<Option<(u32, Bound)>>,
    positions: u64,
}

impl Solver {
    fn new(slots: usize) -> Self {
        Self { known: vec![None; slots], positions: 0 }
    }

    fn value(&mut self, position: Position) -> Value {
        if position.wins_at_once() { Value::WIN } else { self.search(position, Value::LOSS, Value::WIN) }
    }

    /// The value of a position in which no move wins at once, within the limits.
    fn search(&mut self, position: Position, mut least: Value, mut most: Value) -> Value {
        self.positions += 1;
        let moves = position.safe_moves();
        if position.free() == 0 {
            return Value::DRAW;
        }
        if moves == 0 {
            return Value::LOSS;
        }
        let key = position.key();
        let slot = usize::try_from(key % self.known.len() as u64).unwrap_or_default();
        let low = (key & u64::from(u32::MAX)) as u32;
        match self.known.get(slot).copied().flatten().filter(|(known, _)| *known == low) {
            Some((_, Bound::AtMost(value))) => most = most.min(value),
            Some((_, Bound::AtLeast(value))) => least = least.max(value),
            None => {}
        }
        if least >= most {
            return most;
        }
        let mut bound = None;
        for cell in ordered(position, moves).into_iter().flatten() {
            let value = self.search(position.after(cell), most.of_opponent(), least.of_opponent()).of_opponent();
            if value >= most {
                bound = Some(Bound::AtLeast(value));
                least = value;
                break;
            }
            least = least.max(value);
        }
        if let Some(entry) = self.known.get_mut(slot) {
            *entry = Some((low, bound.unwrap_or(Bound::AtMost(least))));
        }
        least
    }
}

/// Moves that make more threats first, then those nearer to the centre.
fn ordered(position: Position, moves: u64) -> [Option<u64>; COLUMNS as usize] {
    let mut cells = [3, 2, 4, 1, 5, 0, 6].map(|column| {
        let cell = moves & (((1 << ROWS) - 1) << (column * STRIDE));
        let threats = lines(position.own | cell, position.taken | cell).count_ones();
        (cell != 0).then_some((threats, cell))
    });
    cells.sort_by_key(|cell| std::cmp::Reverse(cell.map_or(0, |(threats, _)| threats)));
    cells.map(|cell| cell.map(|(_, cell)| cell))
}

pub(crate) fn run() -> Result<()> {
    let began = Instant::now();
    let mut solver = Solver::new(SLOTS);
    for (column, known) in (0..).zip(KNOWN) {
        let value = solver.value(Position::default().after(1 << (column * STRIDE))).of_opponent();
        let seconds = began.elapsed().as_secs();
        println!("column {}: {} ({} positions, {seconds} s)", column + 1, value.word(), solver.positions);
        ensure!(value == known, "it is known that column {} {}", column + 1, known.word());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use league_core::rules::game::{Game, GameStage, GameVerdict};
    use league_core::rules::registry::new_game;
    use league_core::rules::seed::Seed;
    use league_protocol::id::{MatchId, PlayerId, RoundId};
    use league_protocol::side::Side;

    use super::*;

    /// Plain search by the rules of the league.
    fn by_the_rules(game: &dyn Game, side: Side) -> Value {
        match game.stage() {
            GameStage::Over(GameVerdict::Draw) => Value::DRAW,
            GameStage::Over(_) => Value::LOSS,
            GameStage::Moves(_) | GameStage::Draw | GameStage::Chance(_) => {
                let values = game.legal_moves(side).into_iter().map(|column| {
                    let mut next = game.boxed();
                    next.play(side, &column).unwrap();
                    by_the_rules(next.as_ref(), side.other()).of_opponent()
                });
                values.max().unwrap()
            }
        }
    }

    #[test]
    fn it_agrees_with_the_rules_of_the_league_about_late_positions() {
        let (seed, player) = (Seed::new(4, "league".parse().unwrap()), PlayerId::numbered(1));
        let (mut solver, mut compared) = (Solver::new(1_009), 0);
        for number in 0..200_u32 {
            let mut game = new_game(&"connect_four".parse().unwrap()).unwrap();
            let (mut position, mut side) = (Position::default(), Side::A);
            for turn in 0..34_u32 {
                if !matches!(game.stage(), GameStage::Moves(_)) {
                    break;
                }
                let legal = game.legal_moves(side);
                let column = &legal[seed.pick(&MatchId::of(RoundId(number), turn), &player, "", legal.len())];
                game.play(side, column).unwrap();
                let column: u32 = column.parse().unwrap();
                position = position.after(position.free() & (((1 << ROWS) - 1) << ((column - 1) * STRIDE)));
                side = side.other();
            }
            if matches!(game.stage(), GameStage::Moves(_)) {
                assert_eq!(solver.value(position), by_the_rules(game.as_ref(), side), "{}", game.view(side));
                compared += 1;
            }
        }
        assert!(compared > 5, "only {compared} games went on for 34 moves");
    }
}
