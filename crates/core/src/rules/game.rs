//! The interface between a game and the rest of the league.
//!
//! A [`Game`] knows whose turn it is, which moves are legal and how it ends. Time, retries, points and messages belong to the
//! match. A game makes no random choices: it asks for chance by its [`GameStage`], so the same moves and the same chance always
//! give the same game.

use std::fmt;

use league_protocol::message::game_view::GameView;
use league_protocol::side::{Pair, Side};
use smol_str::SmolStr;
use thiserror::Error;

use super::chance::{ChanceOutcome, ChanceRequest};

/// From 1 to 10.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DrawnNumber(u8);

impl DrawnNumber {
    pub fn new(number: u8) -> Option<Self> {
        (1..=10).contains(&number).then_some(Self(number))
    }

    pub fn get(self) -> u8 {
        self.0
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GameStage {
    /// The marked sides owe a move. If both are marked, neither sees the other's move.
    Moves(Pair<bool>),
    /// The number of Even/Odd, which messages name. Other games use [`GameStage::Chance`].
    Draw,
    Chance(ChanceRequest),
    Over(GameVerdict),
}

impl GameStage {
    /// Whether `side` owes a move.
    pub fn awaits(self, side: Side) -> bool {
        match self {
            Self::Moves(due) => due[side],
            Self::Draw | Self::Chance(_) | Self::Over(_) => false,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GameVerdict {
    Win(Side),
    Draw,
    /// The higher score wins.
    Score(Pair<i32>),
}

impl GameVerdict {
    /// A win without a score is 1:0.
    pub fn score(self) -> Pair<i32> {
        match self {
            Self::Win(winner) => Pair::from_fn(|side| i32::from(side == winner)),
            Self::Draw => Pair::new(0, 0),
            Self::Score(score) => score,
        }
    }

    #[must_use]
    pub fn swapped(self) -> Self {
        match self {
            Self::Win(side) => Self::Win(side.other()),
            Self::Draw => Self::Draw,
            Self::Score(score) => Self::Score(Pair::new(score.b, score.a)),
        }
    }
}

/// Says what the player can send instead.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{found:?} is not a move here: {allowed}")]
pub struct IllegalMove {
    pub found: String,
    pub allowed: String,
}

impl IllegalMove {
    /// How many characters of a move an error quotes: a peer may send anything.
    pub const QUOTED: usize = 64;

    pub fn new(text: &str, allowed: impl Into<String>) -> Self {
        Self { found: text.chars().take(Self::QUOTED).collect(), allowed: allowed.into() }
    }
}

/// What a player, a prompt or a page needs to know about a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct About {
    pub name: &'static str,
    /// In Markdown, for a player that has never seen the game.
    pub rules: &'static str,
    /// How a move is written.
    pub moves: &'static str,
    /// How often, at most, the referee waits for moves in one game. Simultaneous moves count once.
    pub max_turns: u32,
    /// Whether the game asks for chance.
    pub chance: bool,
    /// Whether a side knows something that the other does not, apart from a move that both make at once.
    pub hidden: bool,
    pub ranking: Ranking,
    pub forfeit: ForfeitScore,
}

/// What the order of a table depends on first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ranking {
    /// The points for wins and draws.
    #[default]
    Result,
    /// The mean score of a match.
    MeanScore,
}

/// The score of a game that a side lost without playing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ForfeitScore {
    pub winner: i32,
    pub loser: i32,
}

impl About {
    /// A game without chance, hidden information and scores. The other fields are the game's own.
    pub const PLAIN: Self = Self {
        name: "",
        rules: "",
        moves: "",
        max_turns: 1,
        chance: false,
        hidden: false,
        ranking: Ranking::Result,
        forfeit: ForfeitScore { winner: 1, loser: 0 },
    };
}

/// The cards of one game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Deal {
    pub hands: Pair<&'static str>,
    /// The card that counts for both.
    pub turned: Option<&'static str>,
}

impl Deal {
    pub fn sentence(self, names: Pair<&str>) -> String {
        let held = format!("{} held {} and {} held {}", names.a, self.hands.a, names.b, self.hands.b);
        match self.turned {
            Some(turned) => format!("{held}, {turned} was turned up"),
            None => held,
        }
    }
}

pub trait Game: fmt::Debug + Send + CloneGame {
    fn about(&self) -> About;

    fn stage(&self) -> GameStage;

    fn check(&self, side: Side, text: &str) -> Result<(), IllegalMove>;

    /// An illegal move changes nothing.
    fn play(&mut self, side: Side, text: &str) -> Result<(), IllegalMove>;

    /// Takes the number that [`GameStage::Draw`] asks for. It has no effect at any other stage.
    fn draw(&mut self, _number: DrawnNumber) {}

    /// Takes what [`GameStage::Chance`] asks for. Any other outcome has no effect, nor has one at any other stage.
    fn chance(&mut self, _outcome: &ChanceOutcome) {}

    /// Empty when it is not this side's turn, or when there are too many moves to list.
    fn legal_moves(&self, _side: Side) -> Vec<SmolStr> {
        Vec::new()
    }

    /// What `side` may see of the game, as one line of text; may be empty. Players sign it.
    fn view(&self, side: Side) -> SmolStr;

    /// The same by name, for programs; may be empty.
    fn fields(&self, _side: Side) -> GameView {
        GameView::default()
    }

    /// A picture of what `side` may see, as an SVG element.
    fn picture(&self, _side: Side) -> Option<String> {
        None
    }

    /// All cards, also those that a side hides. Only for a match that is over: its proof makes them public.
    fn deal(&self) -> Option<Deal> {
        None
    }

    /// Explains the state of the game in a sentence.
    fn reason(&self, names: Pair<&str>) -> String;

    /// This state with another secret of `side`, by `pick`; `None` if `side` has no secret. A game with hidden information has it,
    /// and the game kit shows by it that views keep the secret.
    fn with_other_secret(&self, _side: Side, _pick: usize) -> Option<Box<dyn Game>> {
        None
    }
}

/// Refuses a move of a side that owes none.
pub fn check_turn(stage: GameStage, side: Side, text: &str) -> Result<(), IllegalMove> {
    match stage {
        GameStage::Moves(due) if due[side] => Ok(()),
        GameStage::Moves(due) if due == Pair::new(false, false) => Err(IllegalMove::new(text, "no move is due")),
        GameStage::Moves(_) => Err(IllegalMove::new(text, "it is the opponent's turn")),
        GameStage::Draw | GameStage::Chance(_) => Err(IllegalMove::new(text, "chance decides before the next move")),
        GameStage::Over(_) => Err(IllegalMove::new(text, "the game is over")),
    }
}

/// Every game that can be cloned has this.
pub trait CloneGame {
    fn boxed(&self) -> Box<dyn Game>;
}

impl<G: Game + Clone + 'static> CloneGame for G {
    fn boxed(&self) -> Box<dyn Game> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Game> {
    fn clone(&self) -> Self {
        (**self).boxed()
    }
}
