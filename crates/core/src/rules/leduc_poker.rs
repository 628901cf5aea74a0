//! Leduc poker: six cards, two rounds of bets and a card for both. In equilibrium the first player loses 0.0856 chips a game.

use league_protocol::message::game_view::{GameView, ViewValue};
use league_protocol::side::{Pair, Side};
use smol_str::{SmolStr, format_smolstr};

use super::chance::{ChanceOutcome, ChanceRequest};
use super::game::{About, CloneGame, Deal, ForfeitScore, Game, GameStage, GameVerdict, IllegalMove, check_turn};

const RANKS: [&str; 3] = ["J", "Q", "K"];
/// What a bet or raise adds in each round.
const BETS: [i32; 2] = [2, 4];

const RULES: &str = "\
The deck has **six cards**: two each of J, Q and K, and K is the highest. Each player pays 1 chip into the pot and gets one card, which
only that player sees. There are two rounds of bets, and the first player begins both. After the first round a card is turned up
that counts for both.

- Check or bet while nothing is to be paid; call, raise or fold after a bet or raise. Who folds loses what it has paid.
- A bet or raise adds 2 chips in the first round and 4 in the second. A round has at most one bet and one raise.
- A round ends with a call, or when both have checked.

If neither player folds, a pair with the turned card wins, and otherwise the higher card; equal cards are a draw. The score is the number
of chips won. You see your card, the turned card and all moves so far.
";

#[derive(Clone, Debug, Default)]
pub struct LeducPoker {
    /// Of side A, of side B, and the one that is turned up. They are 0 to 5, and two of them have the same rank.
    cards: Vec<u8>,
    rounds: [Vec<&'static str>; 2],
}

fn is_closed(round: &[&str]) -> bool {
    matches!(round, [.., "call"] | [.., "check", "check"])
}

impl LeducPoker {
    fn is_folded(&self) -> bool {
        self.rounds.iter().any(|round| round.last() == Some(&"fold"))
    }

    fn round(&self) -> usize {
        usize::from(is_closed(&self.rounds[0]))
    }

    fn turn(&self) -> Side {
        Side::BOTH[self.rounds[self.round()].len() % 2]
    }

    fn options(&self) -> Vec<&'static str> {
        let bets = self.rounds[self.round()].iter().filter(|action| matches!(**action, "bet" | "raise"));
        match bets.count() {
            0 => vec!["check", "bet"],
            1 => vec!["fold", "call", "raise"],
            _ => vec!["fold", "call"],
        }
    }

    /// What each side has paid.
    fn paid(&self) -> Pair<i32> {
        let mut paid = Pair::new(1, 1);
        for (round, bet) in self.rounds.iter().zip(BETS) {
            for (action, side) in round.iter().zip(Side::BOTH.into_iter().cycle()) {
                let opponent = paid[side.other()];
                match *action {
                    "bet" | "raise" => paid[side] = opponent + bet,
                    "call" => paid[side] = opponent,
                    _ => {}
                }
            }
        }
        paid
    }

    /// The cards that were not dealt.
    fn left(&self) -> Vec<u8> {
        (0..6).filter(|card| !self.cards.contains(card)).collect()
    }

    fn rank(&self, place: usize) -> Option<usize> {
        self.cards.get(place).map(|card| usize::from(card / 2))
    }

    fn card(&self, place: usize) -> Option<&'static str> {
        RANKS.get(self.rank(place)?).copied()
    }

    fn winner(&self) -> Option<Side> {
        // After a fold it would be the winner's turn.
        if self.is_folded() {
            return Some(self.turn());
        }
        let strength = |side: Side| (self.rank(side.index()) == self.rank(2), self.rank(side.index()));
        let (a, b) = (strength(Side::A), strength(Side::B));
        (a != b).then_some(if a > b { Side::A } else { Side::B })
    }

    fn action(&self, side: Side, text: &str) -> Result<&'static str, IllegalMove> {
        check_turn(self.stage(), side, text)?;
        self.options()
            .into_iter()
            .find(|action| *action == text)
            .ok_or_else(|| IllegalMove::new(text, self.options().join(" or ")))
    }

    /// The opponent's card is shown only if neither player folded.
    fn shown(&self, side: Side, viewer: Side) -> Option<&'static str> {
        self.card(side.index()).filter(|_| side == viewer || is_closed(&self.rounds[1]))
    }
}

impl Game for LeducPoker {
    fn about(&self) -> About {
        About {
            name: "Leduc poker",
            rules: RULES,
            moves: "`check` or `bet`; after a bet or raise `call`, `raise` or `fold`",
            max_turns: 8,
            chance: true,
            hidden: true,
            forfeit: ForfeitScore { winner: 13, loser: -13 },
            ..About::PLAIN
        }
    }

    fn stage(&self) -> GameStage {
        let [first, second] = &self.rounds;
        if self.is_folded() || is_closed(second) {
            let (paid, winner) = (self.paid(), self.winner());
            let won =
                |winner: Side| Pair::from_fn(|side| if side == winner { paid[side.other()] } else { -paid[side] });
            return GameStage::Over(GameVerdict::Score(winner.map_or(Pair::new(0, 0), won)));
        }
        match self.cards.len() {
            dealt @ 0..=1 => GameStage::Chance(ChanceRequest::UpTo(5 - dealt as u32)),
            2 if is_closed(first) => GameStage::Chance(ChanceRequest::UpTo(3)),
            _ => GameStage::Moves(Pair::from_fn(|side| side == self.turn())),
        }
    }

    fn check(&self, side: Side, text: &str) -> Result<(), IllegalMove> {
        self.action(side, text).map(drop)
    }

    fn play(&mut self, side: Side, text: &str) -> Result<(), IllegalMove> {
        self.action(side, text).map(|action| self.rounds[self.round()].push(action))
    }

    /// The number picks one of the cards that are left, the lowest first.
    fn chance(&mut self, outcome: &ChanceOutcome) {
        if let (GameStage::Chance(_), ChanceOutcome::Number(picked)) = (self.stage(), outcome) {
            self.cards.extend(self.left().get(*picked as usize));
        }
    }

    fn legal_moves(&self, side: Side) -> Vec<SmolStr> {
        let is_due = self.stage().awaits(side);
        self.options().into_iter().filter(|_| is_due).map(SmolStr::new_static).collect()
    }

    /// The own card, the moves, the turned card and the moves after it, such as `K bet call J check`.
    fn view(&self, side: Side) -> SmolStr {
        let [first, second] = &self.rounds;
        let other = self.shown(side.other(), side).map(|card| format_smolstr!("opponent {card}"));
        let own = self.shown(side, side).into_iter().chain(first.iter().copied());
        let words = own.chain(self.card(2)).chain(second.iter().copied()).chain(other.as_deref());
        words.collect::<Vec<_>>().join(" ").into()
    }

    fn fields(&self, side: Side) -> GameView {
        let moves = |round: usize| self.rounds[round].iter().copied().collect::<ViewValue>();
        GameView::default()
            .with("card", self.shown(side, side))
            .with("opponent_card", self.shown(side.other(), side))
            .with("turned_card", self.card(2))
            .with("first_round", moves(0))
            .with("second_round", moves(1))
            .with("you_paid", self.paid()[side])
            .with("opponent_paid", self.paid()[side.other()])
    }

    fn deal(&self) -> Option<Deal> {
        Some(Deal { hands: Pair::new(self.card(0)?, self.card(1)?), turned: self.card(2) })
    }

    fn reason(&self, names: Pair<&str>) -> String {
        let GameStage::Over(verdict) = self.stage() else { return format!("it is the turn of {}", names[self.turn()]) };
        let held = self.deal().map(|deal| deal.sentence(names)).unwrap_or_default();
        match self.winner() {
            Some(winner) => format!("{held}; {} wins {}", names[winner], verdict.score()[winner]),
            None => format!("{held}; a draw"),
        }
    }

    fn with_other_secret(&self, side: Side, pick: usize) -> Option<Box<dyn Game>> {
        let (left, mut other) = (self.left(), self.clone());
        let is_secret = self.shown(side, side.other()).is_none();
        *other.cards.get_mut(side.index())? = *left.get(pick.checked_rem(left.len())?)?;
        is_secret.then(|| other.boxed())
    }
}
