//! The games of one match: one or several of the same kind, with the sides swapped in turn and fresh chance for each.
//!
//! It is a [`Game`] itself, seen by the sides of the match. Its score is the sum of its games. The match and every verifier serve
//! its chance through [`Series::serve_chance`], so they cannot differ.

use std::mem;
use std::num::NonZeroU32;

use league_protocol::draw::DrawSeal;
use league_protocol::id::GameType;
use league_protocol::message::coded_moves::code_width;
use league_protocol::message::finished_game::MAX_GAMES;
use league_protocol::message::game_view::GameView;
use league_protocol::side::{Pair, Side};
use smol_str::SmolStr;

use super::chance::{ChanceOutcome, ChanceStream};
use super::draw::Draw;
use super::game::{About, Deal, DrawnNumber, ForfeitScore, Game, GameStage, GameVerdict, IllegalMove};
use super::registry::new_game;

/// The bytes of a report that its moves may take. The rest is for the envelope, new commitments and what the referee learned.
const MOVE_BYTES: usize = 40 * 1024;

/// The most games of a match whose report fits into one message of the protocol; one for an unknown game.
pub fn most_games(game: &GameType) -> NonZeroU32 {
    let longest = new_game(game).map(|game| {
        let both = matches!(game.stage(), GameStage::Moves(due) if due.a && due.b);
        let moves = (game.about().max_turns as usize).saturating_mul(if both { 2 } else { 1 });
        moves.saturating_mul(code_width(game.legal_moves(Side::A).len()))
    });
    let most = longest.map_or(1, |bytes| MOVE_BYTES / bytes.max(1)).min(MAX_GAMES as usize);
    u32::try_from(most).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN)
}

/// A game that asks for more would never end.
const MAX_CHANCE: u32 = 1_000;

#[derive(Clone, Debug)]
pub struct Series {
    initial: Box<dyn Game>,
    current: Box<dyn Game>,
    games: NonZeroU32,
    /// The game that is being played, from one.
    number: u32,
    /// Of the games that are over, by the sides of the match.
    score: Pair<i32>,
    stream: Option<ChanceStream>,
    /// The last number that a game got.
    drawn: Option<DrawnNumber>,
    /// How often the current game got chance.
    served: u32,
    /// The moves of the current game so far.
    made: usize,
    /// The number of the current game.
    drawn_now: Option<DrawnNumber>,
    ends: Vec<GameEnd>,
    /// The game before the current one, at its end.
    previous: Option<Box<dyn Game>>,
}

/// How one game of the match ended, by the sides of the match.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GameEnd {
    /// Which game, from one.
    pub number: u32,
    pub score: Pair<i32>,
    pub drawn: Option<DrawnNumber>,
    /// How many moves of the match belong to this game.
    pub moves: usize,
    pub deal: Option<Deal>,
}

/// The side of the match that has the first side of game `number`. The sides are swapped in every second game.
pub fn first_side(number: u32) -> Side {
    if number % 2 == 1 { Side::A } else { Side::B }
}

/// A game asks for chance again and again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EndlessChance;

impl Series {
    /// `game` is at its beginning.
    pub fn new(game: Box<dyn Game>, games: NonZeroU32) -> Self {
        let current = game.clone();
        let score = Pair::new(0, 0);
        Self {
            initial: game,
            current,
            games,
            number: 1,
            score,
            stream: None,
            drawn: None,
            served: 0,
            made: 0,
            drawn_now: None,
            ends: Vec::new(),
            previous: None,
        }
    }

    pub fn number(&self) -> u32 {
        self.number
    }

    pub fn games(&self) -> NonZeroU32 {
        self.games
    }

    /// The games that are over, in order.
    pub fn ends(&self) -> &[GameEnd] {
        &self.ends
    }

    /// The picture of the last game that ended, as the sides of the game see it.
    pub fn last_picture(&self) -> Option<String> {
        let is_over = matches!(self.current.stage(), GameStage::Over(_));
        let last = if is_over { Some(&self.current) } else { self.previous.as_ref() };
        last.and_then(|game| game.picture(Side::A))
    }

    /// The side of the current game that `side` of the match plays.
    pub fn role(&self, side: Side) -> Side {
        if first_side(self.number) == Side::A { side } else { side.other() }
    }

    fn by_match<T>(&self, entries: Pair<T>) -> Pair<T> {
        match self.role(Side::A) {
            Side::A => entries,
            Side::B => Pair::new(entries.b, entries.a),
        }
    }

    /// The score so far, by the sides of the match.
    pub fn score(&self) -> Pair<i32> {
        let GameStage::Over(verdict) = self.current.stage() else { return self.score };
        let last = self.by_match(verdict.score());
        Pair::from_fn(|side| self.score[side].saturating_add(last[side]))
    }

    /// Gives the current game the chance that it asks for, until it waits for a move, for a number or is over.
    pub fn serve_chance(&mut self, draw: &Draw) -> Result<(), EndlessChance> {
        while let GameStage::Chance(request) = self.current.stage() {
            self.served += 1;
            if self.served > MAX_CHANCE {
                return Err(EndlessChance);
            }
            let stream = self.stream.get_or_insert_with(|| draw.chance(self.number));
            let outcome = stream.answer(request);
            self.chance(&outcome);
        }
        Ok(())
    }

    /// The number of the current game. In the first game it is that of the draw's seal, as messages and files name it.
    ///
    /// Takes the draw's seal from the caller, to hash it only once.
    pub fn drawn_number(&mut self, draw: &Draw, own_seal: &DrawSeal) -> DrawnNumber {
        if self.number == 1 {
            return draw.number_in(own_seal);
        }
        let stream = self.stream.get_or_insert_with(|| draw.chance(self.number));
        stream.drawn_number().unwrap_or_else(|| draw.number_in(own_seal))
    }

    /// The last number that a game of the match got.
    pub fn number_drawn(&self) -> Option<DrawnNumber> {
        self.drawn
    }

    fn go_on(&mut self) {
        let GameStage::Over(verdict) = self.current.stage() else { return };
        if self.ends.last().is_some_and(|last| last.number == self.number) {
            return;
        }
        let (number, score) = (self.number, self.by_match(verdict.score()));
        self.ends.push(GameEnd { number, score, drawn: self.drawn_now, moves: self.made, deal: self.deal() });
        if self.number < self.games.get() {
            self.score = self.score();
            self.number += 1;
            self.previous = Some(mem::replace(&mut self.current, self.initial.clone()));
            (self.stream, self.served) = (None, 0);
            (self.made, self.drawn_now) = (0, None);
        }
    }
}

impl Game for Series {
    fn about(&self) -> About {
        let (about, games) = (self.current.about(), self.games.get());
        let times = |score: i32| score.saturating_mul(i32::try_from(games).unwrap_or(i32::MAX));
        let ForfeitScore { winner, loser } = about.forfeit;
        About {
            max_turns: about.max_turns.saturating_mul(games),
            forfeit: ForfeitScore { winner: times(winner), loser: times(loser) },
            ..about
        }
    }

    fn stage(&self) -> GameStage {
        match self.current.stage() {
            GameStage::Moves(due) => GameStage::Moves(self.by_match(due)),
            GameStage::Over(verdict) if self.games.get() == 1 => GameStage::Over(verdict),
            GameStage::Over(_) => GameStage::Over(GameVerdict::Score(self.score())),
            stage @ (GameStage::Draw | GameStage::Chance(_)) => stage,
        }
    }

    fn check(&self, side: Side, text: &str) -> Result<(), IllegalMove> {
        self.current.check(self.role(side), text)
    }

    fn play(&mut self, side: Side, text: &str) -> Result<(), IllegalMove> {
        self.current.play(self.role(side), text)?;
        self.made += 1;
        self.go_on();
        Ok(())
    }

    fn draw(&mut self, number: DrawnNumber) {
        (self.drawn, self.drawn_now) = (Some(number), Some(number));
        self.current.draw(number);
        self.go_on();
    }

    fn chance(&mut self, outcome: &ChanceOutcome) {
        self.current.chance(outcome);
        self.go_on();
    }

    fn legal_moves(&self, side: Side) -> Vec<SmolStr> {
        self.current.legal_moves(self.role(side))
    }

    fn view(&self, side: Side) -> SmolStr {
        self.current.view(self.role(side))
    }

    fn fields(&self, side: Side) -> GameView {
        self.current.fields(self.role(side))
    }

    fn picture(&self, side: Side) -> Option<String> {
        self.current.picture(self.role(side))
    }

    fn deal(&self) -> Option<Deal> {
        let deal = self.current.deal()?;
        Some(Deal { hands: self.by_match(deal.hands), ..deal })
    }

    fn reason(&self, names: Pair<&str>) -> String {
        if self.games.get() == 1 {
            return self.current.reason(names);
        }
        let score = self.score();
        format!("{} scored {} and {} scored {} in {} games", names.a, score.a, names.b, score.b, self.games)
    }

    fn with_other_secret(&self, side: Side, pick: usize) -> Option<Box<dyn Game>> {
        self.current.with_other_secret(self.role(side), pick)
    }
}
