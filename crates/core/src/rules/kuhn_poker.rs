//! Kuhn poker: three cards, one bet. The smallest game in which bluffing pays.
//!
//! In equilibrium the first player loses 1/18 of a chip a game.

use league_protocol::message::game_view::{GameView, ViewValue};
use league_protocol::side::{Pair, Side};
use smol_str::{SmolStr, format_smolstr};

use super::chance::{ChanceOutcome, ChanceRequest};
use super::game::{About, CloneGame, Deal, ForfeitScore, Game, GameStage, GameVerdict, IllegalMove, check_turn};

const RANKS: [&str; 3] = ["J", "Q", "K"];

const RULES: &str = "\
The deck has **three cards**: J, Q and K, and K is the highest. Each player pays 1 chip into the pot and gets one card, which only
that player sees. The first player checks or bets 1 chip.

- After a bet the opponent calls, and pays 1 chip as well, or folds and loses.
- After a check the second player checks or bets. If it bets, the first player calls or folds.

If neither player folds, the higher card takes the pot. The score is the number of chips won. You see your card and all moves so far.
";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Action {
    Check,
    Bet,
    Call,
    Fold,
}

use Action::{Bet, Call, Check, Fold};

impl Action {
    fn as_str(self) -> &'static str {
        match self {
            Check => "check",
            Bet => "bet",
            Call => "call",
            Fold => "fold",
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct KuhnPoker {
    cards: Option<Pair<u8>>,
    actions: Vec<Action>,
}

fn rank(card: u8) -> &'static str {
    RANKS.get(usize::from(card)).copied().unwrap_or("?")
}

impl KuhnPoker {
    fn turn(&self) -> Side {
        Side::BOTH[self.actions.len() % 2]
    }

    fn options(&self) -> [Action; 2] {
        if self.actions.last() == Some(&Bet) { [Call, Fold] } else { [Check, Bet] }
    }

    /// What the winner wins; `None` before the end.
    fn end(&self, cards: Pair<u8>) -> Option<(Side, i32)> {
        let higher = if cards.a > cards.b { Side::A } else { Side::B };
        match self.actions[..] {
            [Check, Check] => Some((higher, 1)),
            [.., Call] => Some((higher, 2)),
            // After a fold it would be the winner's turn.
            [.., Fold] => Some((self.turn(), 1)),
            _ => None,
        }
    }

    fn action(&self, side: Side, text: &str) -> Result<Action, IllegalMove> {
        check_turn(self.stage(), side, text)?;
        let [first, second] = self.options();
        let action = [first, second].into_iter().find(|action| action.as_str() == text);
        let allowed = || format!("{} or {}", first.as_str(), second.as_str());
        action.ok_or_else(|| IllegalMove::new(text, allowed()))
    }

    fn is_over(&self) -> bool {
        matches!(self.stage(), GameStage::Over(_))
    }

    /// The opponent's card is shown only if neither player folded.
    fn shown(&self, side: Side, viewer: Side) -> Option<&'static str> {
        let may_see = side == viewer || (self.is_over() && self.actions.last() != Some(&Fold));
        self.cards.filter(|_| may_see).map(|cards| rank(cards[side]))
    }
}

impl Game for KuhnPoker {
    fn about(&self) -> About {
        About {
            name: "Kuhn poker",
            rules: RULES,
            moves: "`check` or `bet`; after a bet `call` or `fold`",
            max_turns: 3,
            chance: true,
            hidden: true,
            forfeit: ForfeitScore { winner: 2, loser: -2 },
            ..About::PLAIN
        }
    }

    fn stage(&self) -> GameStage {
        let Some(cards) = self.cards else { return GameStage::Chance(ChanceRequest::Shuffle(3)) };
        match self.end(cards) {
            Some((winner, chips)) => {
                let score = Pair::from_fn(|side| if side == winner { chips } else { -chips });
                GameStage::Over(GameVerdict::Score(score))
            }
            None => GameStage::Moves(Pair::from_fn(|side| side == self.turn())),
        }
    }

    fn check(&self, side: Side, text: &str) -> Result<(), IllegalMove> {
        self.action(side, text).map(drop)
    }

    fn play(&mut self, side: Side, text: &str) -> Result<(), IllegalMove> {
        let action = self.action(side, text)?;
        self.actions.push(action);
        Ok(())
    }

    /// The first card is that of side A, the second that of side B.
    fn chance(&mut self, outcome: &ChanceOutcome) {
        if let (None, ChanceOutcome::Order(order)) = (self.cards, outcome)
            && let [a, b, _] = order[..]
        {
            self.cards = Some(Pair::new(a, b));
        }
    }

    fn legal_moves(&self, side: Side) -> Vec<SmolStr> {
        let is_due = self.stage().awaits(side);
        self.options().into_iter().filter(|_| is_due).map(|action| SmolStr::new_static(action.as_str())).collect()
    }

    /// The own card and the moves, such as `K check bet`.
    fn view(&self, side: Side) -> SmolStr {
        let own = self.shown(side, side).into_iter();
        let moves = self.actions.iter().map(|action| action.as_str());
        let other = self.shown(side.other(), side).map(|card| format_smolstr!("opponent {card}"));
        own.chain(moves).chain(other.as_deref()).collect::<Vec<_>>().join(" ").into()
    }

    fn fields(&self, side: Side) -> GameView {
        GameView::default()
            .with("card", self.shown(side, side))
            .with("opponent_card", self.shown(side.other(), side))
            .with("moves", self.actions.iter().map(|action| action.as_str()).collect::<ViewValue>())
    }

    fn deal(&self) -> Option<Deal> {
        self.cards.map(|cards| Deal { hands: cards.map(rank), turned: None })
    }

    fn reason(&self, names: Pair<&str>) -> String {
        let Some((cards, (winner, chips))) = self.cards.and_then(|cards| Some((cards, self.end(cards)?))) else {
            return format!("it is the turn of {}", names[self.turn()]);
        };
        let held = Deal { hands: cards.map(rank), turned: None }.sentence(names);
        let how = if self.actions.last() == Some(&Fold) { "by a fold" } else { "with the higher card" };
        format!("{held}; {} wins {chips} {how}", names[winner])
    }

    fn with_other_secret(&self, side: Side, _pick: usize) -> Option<Box<dyn Game>> {
        let mut cards = self.cards?;
        cards[side] = 3 - cards.a - cards.b;
        let other = Self { cards: Some(cards), actions: self.actions.clone() };
        self.shown(side, side.other()).is_none().then(|| other.boxed())
    }
}
