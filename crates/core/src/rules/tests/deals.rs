//! The cards of a match of several games, by the sides of the match.

use std::num::NonZeroU32;

use league_protocol::draw::{DrawNonce, DrawSecret};
use league_protocol::message::game_view::ViewValue;

use super::*;
use crate::rules::draw::Draw;
use crate::rules::game::Deal;
use crate::rules::series::{Series, first_side};

#[test]
fn the_deal_of_each_game_has_the_cards_that_its_players_saw() {
    for name in ["kuhn_poker", "leduc_poker"] {
        let draw = Draw {
            secret: DrawSecret([7; 32]),
            match_id: "R1M1".parse().unwrap(),
            attempt: 1,
            nonces: Pair::new(DrawNonce::default(), DrawNonce::default()),
            seeded: false,
        };
        let mut series = Series::new(new_game(&name.parse().unwrap()).unwrap(), NonZeroU32::new(6).unwrap());
        // Of each game: its first mover, and the cards as the players saw them.
        let mut seen: Vec<(Side, Pair<ViewValue>)> = Vec::new();
        assert_eq!(series.deal(), None, "nothing is dealt yet");
        loop {
            match series.stage() {
                GameStage::Chance(_) => series.serve_chance(&draw).unwrap(),
                GameStage::Moves(due) => {
                    let side = if due.a { Side::A } else { Side::B };
                    if seen.len() < series.number() as usize {
                        seen.push((side, Pair::from_fn(|side| series.fields(side).get("card").unwrap().clone())));
                    }
                    let first = series.legal_moves(side)[0].clone();
                    series.play(side, &first).unwrap();
                }
                GameStage::Over(_) => break,
                GameStage::Draw => panic!("{name} draws no number"),
            }
        }
        let deals: Vec<Deal> = series.ends().iter().map(|end| end.deal.unwrap()).collect();
        assert_eq!(deals.len(), 6, "{name}");
        for (end, (first, cards)) in series.ends().iter().zip(seen) {
            let deal = end.deal.unwrap();
            assert_eq!(first, first_side(end.number), "{name}, game {}", end.number);
            assert_eq!(deal.hands.map(ViewValue::from), cards, "{name}, game {}", end.number);
            assert_eq!(deal.turned.is_some(), name == "leduc_poker", "both checked to the end");
        }
        assert!(deals.iter().any(|deal| *deal != deals[0]), "{name}: fresh cards in every game");
    }
}
