//! One match, from the invitations to the report, as a state machine without clock, I/O or randomness.
//!
//! [`MatchMachine::handle`] takes an [`Input`] and appends [`Effect`]s. The caller performs them, measures limits and pauses, and
//! returns the results as inputs. The rules:
//!
//! - The match asks both sides at once and decides only after both have settled, so that it can see a double forfeit. A game with
//!   turns asks one side, and a forfeit of that side ends the match.
//! - Each question has a fixed number of tries. A timeout or a lost connection leads to a pause, an illegal or unreadable answer to
//!   the next try at once. The referee explains the error before each new try. After the last try the side forfeits.
//! - The first valid input counts. The match ignores inputs that are late, repeated or out of place, so no input can make it fail.
//! - The referee reports the end once, then tells both sides. It tells them nothing if the manager refuses the report, because the
//!   result does not count.
//!
//! An illegal move that a player posts on its own counts like an illegal answer to the open call, so a flood of them uses up only
//! the side's own tries. During a pause the previous try is already counted: the post ends the pause and starts the next try. A
//! side that owes no move cannot make an illegal one.

pub mod effect;
pub mod ending;
pub mod input;
pub mod messages;
pub mod phase;
pub mod refusal;
mod side_state;
mod signed_answers;
pub mod step;
pub mod terms;

#[cfg(test)]
mod tests;

use std::time::Duration;

use league_protocol::draw::{DrawCommitment, DrawSeal};
use league_protocol::message::finished_game::FinishedGame;
use league_protocol::message::report::PlayerSignatures;
use league_protocol::message::start_match::Backoff;
use league_protocol::side::{Pair, Side};
use smol_str::SmolStr;

use crate::rules::draw::Draw;
use crate::rules::game::{DrawnNumber, Game, GameStage, GameVerdict};
use crate::rules::outcome::Outcome;
use crate::rules::series::{EndlessChance, Series};

use effect::{AskKind, AttemptError, Effect};
use ending::{Ending, ForfeitReason, SealedChance};
use input::{CallNumber, Input, ReportDelivery};
use phase::MatchPhase;
use side_state::{SideState, Try};
use signed_answers::SignedAnswers;
use step::{StepCommand, StepRefused};
use terms::{DriveMode, MatchTerms};

#[derive(Debug)]
pub struct MatchMachine {
    terms: MatchTerms,
    game: Series,
    state: State,
    sides: Pair<SideState>,
    joined: Pair<bool>,
    course: Vec<(Side, SmolStr)>,
    /// Side B has moved in a turn in which both sides move, and side A has not.
    b_came_first: bool,
    /// Both sides have moved at once in this match.
    is_simultaneous: bool,
    /// Where the moves of the current game begin.
    game_start: usize,
    signed: Pair<SignedAnswers>,
    drawn: Option<DrawnNumber>,
    /// The last game that got its number.
    drawn_games: u32,
    sealed: Option<SealedChance>,
    ending: Option<Ending>,
    delivery: Option<ReportDelivery>,
    /// The error of the last failed try of each side.
    last_errors: Pair<Option<AttemptError>>,
    last_call: CallNumber,
}

/// The [`SideState`]s hold what each side owes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    New,
    Joining,
    Moving,
    Held(StepCommand),
    Reporting,
    SendingGameOver,
    Done,
}

impl MatchMachine {
    /// `game` is the first of the match, at its beginning.
    pub fn new(terms: MatchTerms, game: Box<dyn Game>) -> Self {
        Self {
            game: Series::new(game, terms.games),
            terms,
            state: State::New,
            sides: Pair::new(SideState::Free, SideState::Free),
            joined: Pair::default(),
            course: Vec::new(),
            b_came_first: false,
            is_simultaneous: false,
            game_start: 0,
            signed: Pair::default(),
            drawn: None,
            drawn_games: 0,
            sealed: None,
            ending: None,
            delivery: None,
            last_errors: Pair::default(),
            last_call: CallNumber(0),
        }
    }

    /// Appends nothing when `input` is late, repeated or out of place.
    pub fn handle(&mut self, input: Input, effects: &mut Vec<Effect>) {
        match input {
            Input::Start => {
                if self.state == State::New {
                    self.state = State::Joining;
                    for side in Side::BOTH {
                        self.call(side, AskKind::Join, 1, effects);
                    }
                }
            }
            Input::Joined { side, call, nonce, signature } => {
                if self.sides[side].answered(AskKind::Join, call).is_some() {
                    self.signed[side].joined(nonce, signature);
                    self.joined[side] = true;
                    self.settle(side, SideState::Free, effects);
                }
            }
            Input::Declined { side, call } => {
                if self.sides[side].answered(AskKind::Join, call).is_some() {
                    self.settle(side, SideState::Lost(ForfeitReason::Declined), effects);
                }
            }
            Input::Moved { side, call, text, signature } => {
                if let Some(tried) = self.sides[side].answered(AskKind::Move, call) {
                    let game = self.game.number();
                    let both_move = Side::BOTH.into_iter().all(|side| self.game.stage().awaits(side));
                    match self.game.play(side, &text) {
                        Ok(()) => {
                            // Of two moves at once that of side A stands first, whichever came first.
                            let place = self.course.len() - usize::from(side == Side::A && self.b_came_first);
                            self.course.insert(place, (side, text));
                            self.b_came_first = side == Side::B && both_move;
                            self.is_simultaneous |= both_move;
                            self.signed[side].moved(signature);
                            self.go_on(game);
                            self.settle(side, SideState::Free, effects);
                        }
                        Err(illegal) => {
                            self.signed[side].moved_illegally(text, signature);
                            self.fail_attempt(side, tried, illegal.into(), effects);
                        }
                    }
                }
            }
            Input::Failed { side, call, fault } => {
                if let Some(tried) = self.sides[side].called(call) {
                    self.fail_attempt(side, tried, fault.into(), effects);
                }
            }
            Input::PauseOver { side, call } => {
                if let Some(tried) = self.sides[side].paused(call) {
                    self.call(side, tried.ask, tried.number + 1, effects);
                }
            }
            Input::GameOverSent { side, call } => {
                if self.sides[side] == SideState::GameOverSent(call) {
                    self.sides[side] = SideState::Free;
                    if self.sides.both(|state| *state == SideState::Free) {
                        self.state = State::Done;
                    }
                }
            }
            Input::Reported(delivery) => {
                if self.state == State::Reporting {
                    self.delivery = Some(delivery);
                    match delivery {
                        ReportDelivery::Accepted | ReportDelivery::Undelivered => self.send_game_over(effects),
                        ReportDelivery::Refused => self.state = State::Done,
                    }
                }
            }
        }
    }

    /// Takes the step that the match waits for. Refuses any other step and changes nothing.
    pub fn step(&mut self, step: StepCommand, effects: &mut Vec<Effect>) -> Result<(), StepRefused> {
        let awaited = self.awaited_step();
        if awaited == Some(step) {
            match step {
                StepCommand::CollectChoices => {
                    self.state = State::Moving;
                    self.advance(effects);
                }
                StepCommand::DrawNumber => self.draw(effects),
                StepCommand::Finalize => self.report(effects),
            }
            return Ok(());
        }
        let nothing_to_draw = self.ending.as_ref().is_some_and(Ending::played_without_draw);
        if step == StepCommand::DrawNumber && awaited == Some(StepCommand::Finalize) && nothing_to_draw {
            return Ok(());
        }
        Err(StepRefused { step, phase: self.phase(), awaited })
    }

    pub fn awaited_step(&self) -> Option<StepCommand> {
        match self.state {
            State::Held(step) => Some(step),
            State::New | State::Joining | State::Moving | State::Reporting | State::SendingGameOver | State::Done => {
                None
            }
        }
    }

    pub fn phase(&self) -> MatchPhase {
        match self.state {
            State::New | State::Joining => MatchPhase::WaitingForPlayers,
            State::Moving | State::Held(StepCommand::CollectChoices) => MatchPhase::CollectingChoices,
            State::Held(StepCommand::DrawNumber) => MatchPhase::DrawingNumber,
            State::Held(StepCommand::Finalize) | State::Reporting | State::SendingGameOver | State::Done => {
                MatchPhase::Finished
            }
        }
    }

    /// `Some` from [`MatchPhase::Finished`] on.
    pub fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    pub fn reason(&self, names: Pair<&str>) -> Option<String> {
        let ending = self.ending.as_ref()?;
        Some(ending.forfeit_reason(names).unwrap_or_else(|| self.game.reason(names)))
    }

    /// The error of the last failed try of `side`.
    pub fn last_error(&self, side: Side) -> Option<&AttemptError> {
        self.last_errors[side].as_ref()
    }

    /// Whether the manager has not answered the report, so that the result may still be refused.
    pub fn is_provisional(&self) -> bool {
        self.delivery == Some(ReportDelivery::Undelivered)
    }

    /// Whether the match is reported and both sides have been told, or the report was refused.
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    pub fn terms(&self) -> &MatchTerms {
        &self.terms
    }

    /// Hashes on every call.
    pub fn commitment(&self) -> DrawCommitment {
        self.terms.secret.commitment()
    }

    pub fn is_open(&self, side: Side, call: CallNumber) -> bool {
        self.sides[side].called(call).is_some()
    }

    /// Whether an answer of `side` to this question would count now.
    pub fn owes(&self, side: Side, ask: AskKind) -> bool {
        self.sides[side].answered(ask, None).is_some()
    }

    pub fn open_call(&self, side: Side, ask: AskKind) -> Option<CallNumber> {
        let tried = self.sides[side].answered(ask, None)?;
        self.is_open(side, tried.call).then_some(tried.call)
    }

    pub fn has_joined(&self, side: Side) -> bool {
        self.joined[side]
    }

    /// The move itself stays secret until the end.
    pub fn has_moved(&self, side: Side) -> bool {
        self.last_move(side).is_some()
    }

    /// Those of one game, because all moves of a long match do not fit into an answer. Moves that are made at once stay secret
    /// until their game is over, so they are shown while the next game is played.
    pub fn public_moves(&self) -> &[(Side, SmolStr)] {
        if self.is_simultaneous && self.ending.is_none() {
            let last = self.game.ends().iter().rev().find(|end| end.number < self.game.number());
            let start = self.game_start.saturating_sub(last.map_or(0, |end| end.moves));
            return &self.course[start..self.game_start];
        }
        &self.course[self.game_start..]
    }

    /// The number of the move that `side` makes next in the current game, from one.
    pub fn turn(&self, side: Side) -> u32 {
        self.course[self.game_start..].iter().filter(|(mover, _)| *mover == side).fold(1, |turn, _| turn + 1)
    }

    /// What `side` signed, for the report. Empty if it signed nothing.
    pub fn signatures(&self, side: Side) -> PlayerSignatures {
        let lost_by = self.ending.as_ref().and_then(|ending| ending.faults[side]);
        let signed = self.signed[side].evidence(lost_by == Some(ForfeitReason::IllegalMoves));
        if self.terms.games.get() > 1 { signed.combined() } else { signed }
    }

    /// The games that ended since the last move of `side`, or with it, as that side is told.
    pub fn finished_games(&self, side: Side) -> Vec<FinishedGame> {
        let last = self.course.iter().rposition(|(mover, _)| *mover == side);
        let mut end = 0;
        let games = self.game.ends().iter().map(|game| {
            let start = end;
            end += game.moves;
            (game, start..end)
        });
        let since = games.filter(|(_, moves)| last.is_none_or(|last| last < moves.end));
        let told = since.map(|(game, moves)| {
            let course = self.course.get(moves).unwrap_or_default();
            let moves_of =
                |mover: Side| course.iter().filter(|(side, _)| *side == mover).map(|(_, text)| text.clone()).collect();
            FinishedGame {
                game_number: game.number,
                your_moves: moves_of(side),
                opponent_moves: moves_of(side.other()),
                drawn_number: game.drawn.map(DrawnNumber::get),
                your_score: game.score[side],
                opponent_score: game.score[side.other()],
            }
        });
        told.collect()
    }

    fn last_move(&self, side: Side) -> Option<&SmolStr> {
        self.course.iter().rfind(|(mover, _)| *mover == side).map(|(_, text)| text)
    }

    pub fn game(&self) -> &Series {
        &self.game
    }

    fn settle(&mut self, side: Side, state: SideState, effects: &mut Vec<Effect>) {
        self.sides[side] = state;
        let lost = self.sides.map(SideState::fault);
        let outcome = match (lost.a.is_some(), lost.b.is_some()) {
            (false, false) => None,
            (true, false) => Some(Outcome::Forfeit(Side::A)),
            (false, true) => Some(Outcome::Forfeit(Side::B)),
            (true, true) => Some(Outcome::DoubleForfeit),
        };
        let other_owes = self.sides[side.other()].owed().is_some();
        match outcome {
            // The opponent may forfeit as well.
            Some(_) if other_owes => {}
            Some(outcome) => self.finish(outcome, effects),
            None if other_owes && self.state == State::Joining => {}
            None => self.advance(effects),
        }
    }

    fn advance(&mut self, effects: &mut Vec<Effect>) {
        match self.game.stage() {
            GameStage::Moves(wanted) => self.collect(wanted, effects),
            GameStage::Draw => match self.terms.mode {
                DriveMode::Flowing => self.draw(effects),
                DriveMode::Stepped => self.hold(StepCommand::DrawNumber),
            },
            GameStage::Chance(_) => {
                let ((draw, _), game) = (self.sealed_draw(), self.game.number());
                let served = self.game.serve_chance(&draw);
                self.go_on(game);
                match served {
                    Ok(()) => self.advance(effects),
                    // A game that asks for chance without end would never ask for a move, so the match ends in a draw.
                    Err(EndlessChance) => self.finish(Outcome::Draw, effects),
                }
            }
            GameStage::Over(verdict) => self.finish(verdict.into(), effects),
        }
    }

    /// After a move or chance that may have ended the game with the number `before`.
    fn go_on(&mut self, before: u32) {
        if self.game.number() != before {
            self.game_start = self.course.len();
            // A question of the last game is no question of the next one.
            for side in Side::BOTH {
                if self.sides[side].owed().is_some() {
                    self.sides[side] = SideState::Free;
                }
            }
        }
    }

    fn collect(&mut self, wanted: Pair<bool>, effects: &mut Vec<Effect>) {
        if wanted == Pair::new(false, false) {
            // A game that waits for no side would never end, so the match ends in a draw.
            self.finish(Outcome::Draw, effects);
            return;
        }
        if self.state != State::Moving && self.terms.mode == DriveMode::Stepped {
            self.hold(StepCommand::CollectChoices);
            return;
        }
        self.state = State::Moving;
        for side in Side::BOTH {
            match (wanted[side], self.sides[side].owed()) {
                (true, None) => self.call(side, AskKind::Move, 1, effects),
                // The opponent's move has made this side's move unnecessary.
                (false, Some(_)) => self.sides[side] = SideState::Free,
                (true, Some(_)) | (false, None) => {}
            }
        }
    }

    fn draw(&mut self, effects: &mut Vec<Effect>) {
        if self.drawn_games == self.game.number() {
            // A game has one number. A game that asks for a second one could ask forever, so the match ends.
            self.finish(Outcome::Draw, effects);
            return;
        }
        let (draw, seal) = self.sealed_draw();
        self.drawn_games = self.game.number();
        let (game, number) = (self.game.number(), self.game.drawn_number(&draw, &seal));
        self.drawn = Some(number);
        self.game.draw(number);
        self.go_on(game);
        self.advance(effects);
    }

    /// What decides the chance of this match. From the first call on, the ending carries its proof.
    fn sealed_draw(&mut self) -> (Draw, DrawSeal) {
        let draw = Draw {
            secret: self.terms.secret,
            match_id: self.terms.match_id.clone(),
            attempt: self.terms.attempt,
            nonces: self.signed.as_ref().map(|signed| match signed.nonce() {
                nonce if nonce.as_bytes().is_empty() => self.terms.manager_nonce.clone(),
                nonce => nonce.clone(),
            }),
            seeded: self.terms.seeded,
        };
        let sealed = self.sealed.get_or_insert_with(|| SealedChance { seal: draw.seal(), nonces: draw.nonces.clone() });
        let seal = sealed.seal;
        (draw, seal)
    }

    /// No side owes an answer while the match waits for a step.
    fn hold(&mut self, step: StepCommand) {
        self.sides = Pair::new(SideState::Free, SideState::Free);
        self.state = State::Held(step);
    }

    fn finish(&mut self, outcome: Outcome, effects: &mut Vec<Effect>) {
        self.ending = Some(Ending {
            outcome,
            moves: Pair::from_fn(|side| self.last_move(side).cloned()),
            course: if self.game.about().max_turns > 1 { self.course.clone() } else { Vec::new() },
            drawn: self.drawn.take(),
            score: match self.game.stage() {
                GameStage::Over(GameVerdict::Score(score)) => Some(score),
                GameStage::Over(_) | GameStage::Moves(_) | GameStage::Draw | GameStage::Chance(_) => None,
            },
            sealed: self.sealed.take(),
            faults: self.sides.map(SideState::fault),
        });
        match self.terms.mode {
            DriveMode::Flowing => self.report(effects),
            DriveMode::Stepped => self.hold(StepCommand::Finalize),
        }
    }

    /// No side owes an answer from here on.
    fn report(&mut self, effects: &mut Vec<Effect>) {
        self.sides = Pair::new(SideState::Free, SideState::Free);
        self.state = State::Reporting;
        effects.push(Effect::Report);
    }

    /// Also tells a side that never joined.
    fn send_game_over(&mut self, effects: &mut Vec<Effect>) {
        self.state = State::SendingGameOver;
        for side in Side::BOTH {
            let call = self.next_call();
            self.sides[side] = SideState::GameOverSent(call);
            effects.push(Effect::SendGameOver { side, call, limit: self.terms.limits.to_acknowledge });
        }
    }

    fn call(&mut self, side: Side, ask: AskKind, try_number: u8, effects: &mut Vec<Effect>) {
        let call = self.next_call();
        self.sides[side] = SideState::Called(Try { ask, number: try_number, call });
        let limits = self.terms.limits;
        effects.push(match ask {
            AskKind::Join => Effect::Invite { side, call, try_number, limit: limits.to_join },
            AskKind::Move => Effect::AskMove { side, call, try_number, limit: limits.to_move },
        });
    }

    fn fail_attempt(&mut self, side: Side, tried: Try, attempt_error: AttemptError, effects: &mut Vec<Effect>) {
        let tries_allowed = self.terms.tries[side];
        self.last_errors[side] = Some(attempt_error.clone());
        if tried.number >= tries_allowed {
            self.settle(side, SideState::Lost(attempt_error.fault()), effects);
            return;
        }
        let Try { ask, number: tries_made, .. } = tried;
        let span = attempt_error.needs_pause().then(|| self.pause_after(tries_made));
        let pause = span.unwrap_or_default();
        effects.push(Effect::SendError { side, ask, attempt_error, tries_made, tries_allowed, pause });
        match span {
            Some(span) => {
                let call = self.next_call();
                self.sides[side] = SideState::Paused(Try { call, ..tried });
                effects.push(Effect::Pause { side, call, span });
            }
            None => self.call(side, ask, tries_made + 1, effects),
        }
    }

    fn pause_after(&self, try_number: u8) -> Duration {
        let times = match self.terms.backoff {
            Backoff::Exponential => 2_u32.saturating_pow(u32::from(try_number.saturating_sub(1))),
            Backoff::Linear => u32::from(try_number.max(1)),
        };
        self.terms.base_delay.saturating_mul(times)
    }

    fn next_call(&mut self) -> CallNumber {
        self.last_call = CallNumber(self.last_call.0.wrapping_add(1));
        self.last_call
    }
}
