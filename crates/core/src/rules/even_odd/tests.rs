use super::*;

const NAMES: Pair<&str> = Pair { a: "P01", b: "P02" };

fn played(a: &str, b: &str, number: u8) -> EvenOdd {
    let mut game = EvenOdd::default();
    game.play(Side::A, a).unwrap();
    game.play(Side::B, b).unwrap();
    game.draw(DrawnNumber::new(number).unwrap());
    game
}

#[test]
fn the_player_that_alone_is_right_wins() {
    let (a, b) = (GameVerdict::Win(Side::A), GameVerdict::Win(Side::B));
    for number in 1..=10 {
        let (even, odd) = if number % 2 == 0 { (a, b) } else { (b, a) };
        for (choice_a, choice_b, verdict) in [
            ("even", "odd", even),
            ("odd", "even", odd),
            ("even", "even", GameVerdict::Draw),
            ("odd", "odd", GameVerdict::Draw),
        ] {
            let stage = played(choice_a, choice_b, number).stage();
            assert_eq!(stage, GameStage::Over(verdict), "{number}: {choice_a} against {choice_b}");
        }
    }
}

#[test]
fn both_choose_in_any_order_and_then_a_number_is_drawn() {
    for first in Side::BOTH {
        let mut game = EvenOdd::default();
        assert_eq!(game.stage(), GameStage::Moves(Pair::new(true, true)));
        game.play(first, "odd").unwrap();
        assert_eq!(game.stage(), GameStage::Moves(Pair::from_fn(|side| side != first)));
        game.play(first.other(), "even").unwrap();
        assert_eq!(game.stage(), GameStage::Draw);
        game.draw(DrawnNumber::new(7).unwrap());
        assert_eq!(game.stage(), GameStage::Over(GameVerdict::Win(first)));
    }
}

#[test]
fn the_first_choice_stands() {
    let mut game = EvenOdd::default();
    game.play(Side::A, "even").unwrap();
    for again in ["odd", "even", "maybe"] {
        game.play(Side::A, again).unwrap_err();
    }
    assert_eq!(game.stage(), GameStage::Moves(Pair::new(false, true)));
    game.play(Side::B, "odd").unwrap();
    game.play(Side::B, "even").unwrap_err();
    assert_eq!(game.stage(), GameStage::Draw);
}

#[test]
fn a_number_before_the_choices_or_after_the_first_is_of_no_effect() {
    let mut game = EvenOdd::default();
    game.play(Side::A, "even").unwrap();
    game.draw(DrawnNumber::new(1).unwrap());
    game.play(Side::B, "odd").unwrap();
    assert_eq!(game.stage(), GameStage::Draw);
    game.draw(DrawnNumber::new(2).unwrap());
    game.draw(DrawnNumber::new(3).unwrap());
    assert_eq!(game.stage(), GameStage::Over(GameVerdict::Win(Side::A)));
}

#[test]
fn nothing_but_even_and_odd_is_a_choice_and_a_refusal_changes_nothing() {
    let mut game = EvenOdd::default();
    for text in ["EVEN", "Odd", " even", "odd\n", "", "2", "even or odd"] {
        let refusal = game.play(Side::B, text).unwrap_err();
        assert_eq!(refusal.found, text);
    }
    assert_eq!(game.play(Side::A, &"é".repeat(9_999)).unwrap_err().found.chars().count(), IllegalMove::QUOTED);
    assert_eq!(game.stage(), GameStage::Moves(Pair::new(true, true)));
}

#[test]
fn neither_sees_the_choice_of_the_other() {
    let mut game = EvenOdd::default();
    let before = game.view(Side::B);
    game.play(Side::A, "even").unwrap();
    assert_eq!(game.view(Side::B), before);
}

#[test]
fn the_reason_is_one_sentence_at_every_stage() {
    assert_eq!(played("even", "odd", 8).reason(NAMES), "8 is even: P01 chose even and wins");
    assert_eq!(played("even", "odd", 3).reason(NAMES), "3 is odd: P02 chose odd and wins");
    assert_eq!(played("odd", "odd", 3).reason(NAMES), "3 is odd: P01 and P02 both chose odd, a draw");
    assert_eq!(played("odd", "odd", 8).reason(NAMES), "8 is even: P01 and P02 both chose odd, a draw");
    let mut game = EvenOdd::default();
    assert_eq!(game.reason(NAMES), "still waiting for the choice of P01 and P02");
    game.play(Side::A, "odd").unwrap();
    assert_eq!(game.reason(NAMES), "still waiting for the choice of P02");
    game.play(Side::B, "odd").unwrap();
    assert_eq!(game.reason(NAMES), "the number has not been drawn yet");
}
