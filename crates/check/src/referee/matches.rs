//! The course of a match, as the players and the manager see it.

use std::time::Duration;

use league_core::rules::draw::Draw;
use league_core::rules::game::{GameStage, GameVerdict};
use league_core::rules::registry::new_game;
use league_protocol::draw::DrawCommitment;
use league_protocol::id::{ConversationId, MatchId, PlayerId};
use league_protocol::message::game_over::{GameOver, ResultStatus};
use league_protocol::message::invitation::GameInvitation;
use league_protocol::message::report::MatchResultReport;
use league_protocol::side::{Pair, Side};
use league_protocol::table::{Call, Method};

use super::{Exam, player};
use crate::check_log::{Judgement, ensure};
use crate::fake_league::{ChoiceBehaviour, RefereeLine, TOGETHER, about, nonce};
use crate::response::Response;
use crate::rule::Rule;
use crate::rules::referee as rules;
use crate::shown::shown;

pub(super) fn shown_call(call: &Call) -> String {
    let mut body = Vec::new();
    match call.write_body(&mut body) {
        Ok(()) => format!("{} {}", call.method().row().name, shown(&String::from_utf8_lossy(&body))),
        Err(_) => call.method().row().name.to_owned(),
    }
}

struct Seen {
    lines: Vec<RefereeLine>,
}

impl Seen {
    fn of(&self, method: Method, to: Option<Side>) -> impl Iterator<Item = &RefereeLine> {
        self.lines.iter().filter(move |line| line.call.method() == method && line.to == to)
    }

    fn invitation(&self, side: Side) -> Option<&GameInvitation> {
        self.of(Method::GameInvitation, Some(side))
            .find_map(|line| if let Call::GameInvitation(said) = &line.call { Some(said) } else { None })
    }

    fn over(&self, side: Side) -> Option<&GameOver> {
        self.of(Method::NotifyMatchResult, Some(side))
            .find_map(|line| if let Call::NotifyMatchResult(said) = &line.call { Some(said) } else { None })
    }

    fn report(&self) -> Option<&MatchResultReport> {
        self.of(Method::ReportMatchResult, None)
            .find_map(|line| if let Call::ReportMatchResult(said) = &line.call { Some(said) } else { None })
    }

    /// The fake players wait for each other, so this shows whether both sides were asked before either answered.
    fn together(&self, method: Method) -> bool {
        let first = |side| self.of(method, Some(side)).next().map(|line| line.at);
        let apart = first(Side::A).zip(first(Side::B)).map(|(a, b)| a.max(b) - a.min(b));
        apart.is_some_and(|apart| apart < TOGETHER.mul_f32(0.8))
    }

    fn transcript(&self) -> String {
        let who = |line: &RefereeLine| match line.to {
            Some(Side::A) => "to P01",
            Some(Side::B) => "to P02",
            None => "to the manager",
        };
        let lines: Vec<_> =
            self.lines.iter().map(|line| format!("{} {}", line.call.method().row().name, who(line))).collect();
        lines.join(", ")
    }
}

impl Exam<'_> {
    /// Returns at the report or after `limit`.
    async fn watch(&self, match_id: &MatchId, limit: Duration) -> Seen {
        let reported =
            |line: &RefereeLine| line.call.method() == Method::ReportMatchResult && about(&line.call) == Some(match_id);
        self.stage.script.until(limit, |said| said.iter().any(reported)).await;
        let mut lines = self.stage.script.said();
        lines.retain(|line| about(&line.call) == Some(match_id));
        Seen { lines }
    }

    fn judge(&self, rule: &'static Rule, seen: &Seen, judgement: Judgement) {
        self.book.observe(rule, Some(seen.transcript()), judgement);
    }

    /// The match was ordered twice.
    pub(super) async fn played_once(&self, again: &Response) {
        let seen = self.watch(&self.match_no(1), Duration::ZERO).await;
        let once = seen.of(Method::GameInvitation, Some(Side::A)).count() <= 1;
        let twice = ensure(again.is_success(), again.came_text()).and(ensure(once, "the match is played twice"));
        self.book.judge(&rules::START_AGAIN, again, twice);
    }

    pub(super) async fn fair_match(&self) {
        let match_id = self.match_no(1);
        let seen = self.watch(&match_id, self.span).await;
        let both = Side::BOTH.iter().all(|side| seen.invitation(*side).is_some());
        self.judge(&rules::INVITES_BOTH, &seen, ensure(both, "a player is not invited"));
        if !both {
            return;
        }
        self.judge(
            &rules::INVITES_TOGETHER,
            &seen,
            ensure(seen.together(Method::GameInvitation), "one after the other"),
        );
        self.invitations(&seen);
        self.words(&seen, &match_id);
        self.choices(&seen);
        self.ending(&seen, &match_id);
    }

    fn invitations(&self, seen: &Seen) {
        let complete = |side: Side| {
            seen.invitation(side).is_some_and(|said| {
                said.game_type.is_some()
                    && said.role_in_match.is_some()
                    && said.opponent_id == Some(player(side.other()))
            })
        };
        let fields =
            ensure(Side::BOTH.into_iter().all(complete), "game_type, role_in_match or opponent_id is missing or wrong");
        self.judge(&rules::INVITATION_FIELDS, seen, fields);
        let right =
            |side: Side| seen.invitation(side).is_some_and(|said| said.role_in_match.is_none_or(|role| role == side));
        self.judge(&rules::SIDES, seen, ensure(Side::BOTH.into_iter().all(right), "the sides are swapped"));
        let commitments = Side::BOTH.map(|side| seen.invitation(side).and_then(|said| said.draw_commitment));
        let same = commitments[0].is_some() && commitments[0] == commitments[1];
        self.judge(&rules::COMMITMENT, seen, ensure(same, "there is none, or there are two"));
    }

    fn words(&self, seen: &Seen, match_id: &MatchId) {
        let to_players = || seen.lines.iter().filter(|line| line.to.is_some());
        let most = Side::BOTH.map(|side| {
            let to_side = to_players().filter(|line| line.to == Some(side));
            let mut named: Vec<Option<ConversationId>> =
                to_side.map(|line| line.head.conversation_id.as_good().cloned()).collect();
            named.dedup();
            let is_named = named.iter().all(Option::is_some);
            if is_named { named.len() } else { 0 }
        });
        let one = most.into_iter().all(|count| count == 1);
        let told = format!("to the players there are {} and {} of them", most[0], most[1]);
        self.judge(&rules::CONVERSATION, seen, ensure(one, told));
        let shows = |line: &RefereeLine| {
            let pass = line.to.and_then(|side| self.referee_pass(side, match_id));
            pass.is_none_or(|pass| line.head.auth_token.as_ref().is_some_and(|token| token.is(&pass)))
        };
        self.judge(
            &rules::SHOWS_PASS,
            seen,
            ensure(to_players().all(shows), "a message shows something else, or nothing"),
        );
        let own = self.stage.script.token.digest();
        let kept = to_players().all(|line| !line.head.auth_token.as_ref().is_some_and(|token| token.opens(&own)));
        self.judge(&rules::TOKEN_KEPT, seen, ensure(kept, "its token is in a message to a player"));
    }

    fn choices(&self, seen: &Seen) {
        if !self.is_parity() {
            for rule in [&rules::ASKS_TOGETHER, &rules::CHOICE_HIDDEN] {
                self.book.skip(rule, "it is a rule of Even/Odd");
            }
            return;
        }
        self.judge(&rules::ASKS_TOGETHER, seen, ensure(seen.together(Method::ChooseParity), "one after the other"));
        let tells = |line: &RefereeLine| {
            let mut body = Vec::new();
            drop(line.call.write_body(&mut body));
            let text = String::from_utf8_lossy(&body).into_owned();
            line.call.method() == Method::ChooseParity && (text.contains("\"odd\"") || text.contains("\"even\""))
        };
        self.judge(&rules::CHOICE_HIDDEN, seen, ensure(!seen.lines.iter().any(tells), "there is a choice in a call"));
    }

    fn ending(&self, seen: &Seen, match_id: &MatchId) {
        let told = Side::BOTH.map(|side| seen.over(side));
        self.judge(&rules::OVER_BOTH, seen, ensure(told.iter().all(Option::is_some), "a player gets no GAME_OVER"));
        let [Some(first), Some(second)] = told else { return };
        let results = [first, second].map(|over| over.game_result.clone());
        let alike = results[0].as_ref().map(outcome) == results[1].as_ref().map(outcome);
        self.judge(&rules::OVER_ALIKE, seen, ensure(alike, "they are told two different things"));
        let Some(result) = &results[0] else {
            return self.judge(&rules::NUMBER, seen, Err(String::from("GAME_OVER has no game_result")));
        };
        let (number, won) = (result.drawn_number, result.winner_player_id.as_ref());
        if !self.is_parity() {
            for rule in [&rules::NUMBER, &rules::PROVABLE] {
                self.book.skip(rule, "it is a rule of Even/Odd");
            }
            self.judge(&rules::WINNER, seen, self.replayed(seen, won));
            return self.reported(seen, number, won);
        }
        let in_range = number.is_some_and(|number| (1..=10).contains(&number));
        let even = number.is_some_and(|number| number % 2 == 0);
        let parity = result.number_parity.is_none_or(|parity| (parity.as_str() == "even") == even);
        let said = format!("the number is {number:?}, {:?}", result.number_parity);
        self.judge(&rules::NUMBER, seen, ensure(in_range && parity, said));
        // P01 chooses even and P02 odd, so one of them is right.
        let winner = player(if even { Side::A } else { Side::B });
        let said = format!("the number is {number:?}, and the winner {won:?}");
        self.judge(&rules::WINNER, seen, ensure(won == Some(&winner), said));
        self.judge(&rules::PROVABLE, seen, proved(seen, first, match_id));
        self.reported(seen, number, won);
    }

    fn replayed(&self, seen: &Seen, won: Option<&PlayerId>) -> Judgement {
        let report = seen.report().ok_or("no report came")?;
        let mut game = new_game(&self.game).ok_or("the checker does not know this game")?;
        for one in &report.result.details.moves {
            let side = if one.player_id == player(Side::A) { Side::A } else { Side::B };
            game.play(side, &one.played).map_err(|illegal| illegal.to_string())?;
        }
        let winner = match game.stage() {
            GameStage::Over(GameVerdict::Win(side)) => Some(player(side)),
            GameStage::Over(GameVerdict::Draw) => None,
            GameStage::Moves(_) | GameStage::Draw => {
                return Err(String::from("the moves of the report do not end the game"));
            }
        };
        ensure(winner.as_ref() == won, format!("the moves make {winner:?} the winner, and the result says {won:?}"))
    }

    fn reported(&self, seen: &Seen, number: Option<u8>, winner: Option<&PlayerId>) {
        let Some(report) = seen.report() else {
            return self.judge(&rules::REPORTS, seen, Err(String::from("no report came")));
        };
        self.judge(&rules::REPORTS, seen, Ok(()));
        let said = self.stage.script.said();
        if said.iter().any(|line| line.call.method() == Method::RegisterReferee) {
            let own = self.stage.script.token.digest();
            let line = seen.of(Method::ReportMatchResult, None).next();
            let shows = line.and_then(|line| line.head.auth_token.as_ref()).is_some_and(|token| token.opens(&own));
            self.judge(&rules::REPORT_TOKEN, seen, ensure(shows, "the report shows something else, or nothing"));
        } else {
            self.book.skip(&rules::REPORT_TOKEN, "the referee has not registered, so it has no token");
        }
        let agrees = report.result.winner.as_ref() == winner && report.result.details.drawn_number == number;
        let seen_report = shown_call(&Call::ReportMatchResult(report.clone()));
        let note = |rule, judgement| self.book.observe(rule, Some(seen_report.clone()), judgement);
        note(&rules::REPORT_AGREES, ensure(agrees, "the report says something else"));
        let right = Side::BOTH.into_iter().all(|side| {
            let points = match winner {
                Some(winner) if *winner == player(side) => 3,
                Some(_) => 0,
                None => 1,
            };
            report.result.score.get(&player(side)) == Some(&points)
        });
        note(&rules::REPORT_SCORE, ensure(right, format!("the score is {:?}", report.result.score.0)));
    }

    async fn play(&self, number: u32, acts: [ChoiceBehaviour; 2]) -> Option<Seen> {
        let match_id = self.match_no(number);
        self.stage.script.rehearse(&match_id, acts);
        let heard = self.say(&self.order(&match_id)).await;
        if !super::accepted(&heard) {
            self.book.judge(&rules::ACCEPTS, &heard, Err(format!("not a further match: {}", heard.came_text())));
            return None;
        }
        Some(self.watch(&match_id, self.span).await)
    }

    pub(super) async fn invalid_choices(&self) {
        let Some(seen) = self.play(2, [ChoiceBehaviour::Says("maybe"), ChoiceBehaviour::Plays]).await else {
            return;
        };
        let place = |method: Method| {
            let to_first =
                move |(_, line): &(usize, &RefereeLine)| line.call.method() == method && line.to == Some(Side::A);
            seen.lines.iter().enumerate().filter(to_first).map(|(place, _)| place).collect::<Vec<_>>()
        };
        let (asked, errors) = (place(self.move_method()), place(Method::NotifyGameError));
        let between = asked.windows(2).all(|pair| errors.iter().any(|error| (pair[0]..pair[1]).contains(error)));
        let coded = errors.iter().all(|error| self.code(&seen.lines[*error]).as_deref() == Some("E004"));
        let told = asked.len() > 1 && between && coded;
        self.judge(&rules::RETRY_ERROR, &seen, ensure(told, "there is no GAME_ERROR with E004 between the calls"));
        self.judge(&rules::RETRY_THREE, &seen, ensure(asked.len() == 3, format!("it is asked {} times", asked.len())));
        self.judge(&rules::RETRY_LOSS, &seen, lost(&seen, Side::A));
    }

    fn code(&self, line: &RefereeLine) -> Option<String> {
        if let Call::NotifyGameError(error) = &line.call {
            error.error_code.as_ref().map(ToString::to_string)
        } else {
            None
        }
    }

    pub(super) async fn silence(&self) {
        let Some(seen) = self.play(3, [ChoiceBehaviour::Plays, ChoiceBehaviour::Silent]).await else { return };
        let told =
            seen.of(Method::NotifyGameError, Some(Side::B)).any(|line| self.code(line).as_deref() == Some("E001"));
        let asked = seen.of(self.move_method(), Some(Side::B)).count();
        let said = format!("it is asked {asked} times, and told of it: {told}");
        self.judge(&rules::TIMEOUT, &seen, ensure(told && asked > 1, said));
    }

    pub(super) async fn decline(&self) {
        let Some(seen) = self.play(4, [ChoiceBehaviour::Plays, ChoiceBehaviour::Declines]).await else { return };
        let asked = seen.of(self.move_method(), Some(Side::B)).count();
        let quiet = ensure(asked == 0, "who has declined is asked for a choice");
        self.judge(&rules::DECLINE, &seen, quiet.and(lost(&seen, Side::B)));
    }
}

fn outcome(result: &league_protocol::message::game_over::GameResult) -> (Option<u8>, Option<&PlayerId>) {
    (result.drawn_number, result.winner_player_id.as_ref())
}

/// Both sides must be told.
fn lost(seen: &Seen, side: Side) -> Judgement {
    let report = seen.report().ok_or("no report came")?;
    let won = report.result.winner == Some(player(side.other()));
    ensure(won, format!("the winner is {:?}", report.result.winner))?;
    let technical = report.result.details.status == Some(ResultStatus::TechnicalLoss);
    let named = report.result.details.technical_losses.contains(&player(side));
    ensure(technical || named, "the report does not call it a technical loss")?;
    ensure(Side::BOTH.iter().all(|side| seen.over(*side).is_some()), "a player gets no GAME_OVER")
}

/// The number must follow from the commitment and the nonces.
fn proved(seen: &Seen, over: &GameOver, match_id: &MatchId) -> Judgement {
    let proof = over.draw.as_ref().ok_or("GAME_OVER reveals nothing")?;
    let promised: Option<DrawCommitment> = seen.invitation(Side::A).and_then(|said| said.draw_commitment);
    let promised = promised.ok_or("the invitation promised nothing")?;
    let number = over.game_result.as_ref().and_then(|result| result.drawn_number).ok_or("there is no number")?;
    let nonces = Pair::from_fn(|side| nonce(side).parse().unwrap_or_default());
    let draw = Draw { secret: proof.secret, match_id: match_id.clone(), attempt: proof.attempt, nonces };
    draw.verify(&promised, proof.seal.as_ref(), number).map_err(|bad| bad.to_string())
}
