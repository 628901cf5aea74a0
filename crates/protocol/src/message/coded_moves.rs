//! The moves of a match of several games, short enough for one report: each different move once, and one code for every move.
//!
//! A code is two times the place of the move in the list, plus one for player B. It is written in one digit of the alphabet of
//! Base64 for URLs, or in two or three, the first one the most significant, where the codes need more.

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::side::Side;

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// All moves of a match, in order.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CodedMoves {
    /// Every different move, as the game writes it.
    pub moves: Vec<SmolStr>,
    /// One code for each move of the match.
    pub codes: String,
}

/// How many digits a code has, with this many different moves.
pub fn code_width(different_moves: usize) -> usize {
    match different_moves {
        0..=32 => 1,
        33..=2048 => 2,
        _ => 3,
    }
}

impl CodedMoves {
    pub fn encode<'a>(played: impl Iterator<Item = (Side, &'a SmolStr)>) -> Self {
        let mut moves: Vec<SmolStr> = Vec::new();
        let mut codes = Vec::new();
        for (side, text) in played {
            let place = moves.iter().position(|known| known == text).unwrap_or_else(|| {
                moves.push(text.clone());
                moves.len() - 1
            });
            codes.push(2 * place + usize::from(side == Side::B));
        }
        let width = code_width(moves.len());
        let digit = |code: usize, place: usize| char::from(DIGITS[code >> (6 * place) & 63]);
        let codes = codes.into_iter().flat_map(|code| (0..width).rev().map(move |place| digit(code, place))).collect();
        Self { moves, codes }
    }

    /// `None` if a code stands for no move.
    pub fn decode(&self) -> Option<Vec<(Side, SmolStr)>> {
        let chunks = self.codes.as_bytes().chunks(code_width(self.moves.len()));
        let moves = chunks.map(|chunk| {
            let code = chunk.iter().try_fold(0, |code, digit| {
                let value = DIGITS.iter().position(|known| known == digit)?;
                Some(code << 6 | value)
            })?;
            let side = if code % 2 == 0 { Side::A } else { Side::B };
            Some((side, self.moves.get(code / 2)?.clone()))
        });
        moves.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coded_moves_are_read_as_they_were_written() {
        for different in [0, 1, 3, 32, 33, 66, 2048, 2049] {
            let moves: Vec<(Side, SmolStr)> = (0..different)
                .flat_map(|number| [(Side::A, number), (Side::B, different - 1 - number), (Side::A, 0)])
                .map(|(side, number)| (side, smol_str::format_smolstr!("move {number}")))
                .collect();
            let coded = CodedMoves::encode(moves.iter().map(|(side, text)| (*side, text)));
            assert_eq!((coded.moves.len(), coded.codes.len()), (different, moves.len() * code_width(different)));
            assert_eq!(coded.decode().unwrap(), moves, "{different} different moves");
        }
    }

    #[test]
    fn a_code_without_a_move_is_not_read() {
        let coded = |codes: &str| CodedMoves { moves: vec!["rock".into()], codes: codes.into() };
        assert_eq!(coded("AB").decode(), Some(vec![(Side::A, "rock".into()), (Side::B, "rock".into())]));
        for wrong in ["C", "A!", "ä"] {
            assert_eq!(coded(wrong).decode(), None, "{wrong}");
        }
    }
}
