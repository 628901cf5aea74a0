//! The course of a match, as the players and the manager see it.

use std::num::NonZeroU32;
use std::time::Duration;

use league_core::rules::draw::Draw;
use league_core::rules::game::{Game, GameStage};
use league_core::rules::outcome::Outcome;
use league_core::rules::registry::new_game;
use league_core::rules::series::Series;
use league_protocol::draw::DrawNonce;
use league_protocol::id::{ConversationId, MatchId, PlayerId};
use league_protocol::message::game_over::{DrawProof, GameOver, ResultStatus};
use league_protocol::message::invitation::GameInvitation;
use league_protocol::message::report::MatchResultReport;
use league_protocol::side::{Pair, Side};
use league_protocol::table::{Call, Method};

use super::{RefereeCheck, player};
use crate::check_log::{Judgement, ensure};
use crate::excerpt::excerpt;
use crate::fake_league::{ChoiceBehaviour, ReceivedCall, TOGETHER, match_id_of, nonce};
use crate::response::Response;
use crate::rule::Rule;
use crate::rules::referee as rules;

pub(super) fn call_excerpt(call: &Call) -> String {
    let mut body = Vec::new();
    match call.write_body(&mut body) {
        Ok(()) => format!("{} {}", call.method().row().name, excerpt(&String::from_utf8_lossy(&body))),
        Err(_) => call.method().row().name.to_owned(),
    }
}

/// The time in which a referee that has reported a match tells its players.
const TELLING: Duration = Duration::from_secs(2);

struct MatchRecord {
    calls: Vec<ReceivedCall>,
}

impl MatchRecord {
    fn of(&self, method: Method, to: Option<Side>) -> impl Iterator<Item = &ReceivedCall> {
        self.calls.iter().filter(move |received| received.call.method() == method && received.to == to)
    }

    fn invitation(&self, side: Side) -> Option<&GameInvitation> {
        let mut invitations = self.of(Method::GameInvitation, Some(side));
        invitations.find_map(|received| if let Call::GameInvitation(body) = &received.call { Some(body) } else { None })
    }

    fn game_over(&self, side: Side) -> Option<&GameOver> {
        let mut results = self.of(Method::NotifyMatchResult, Some(side));
        results.find_map(|received| if let Call::NotifyMatchResult(body) = &received.call { Some(body) } else { None })
    }

    fn report(&self) -> Option<&MatchResultReport> {
        let mut reports = self.of(Method::ReportMatchResult, None);
        reports.find_map(|received| if let Call::ReportMatchResult(body) = &received.call { Some(body) } else { None })
    }

    /// The fake players wait for each other, so this shows whether both sides were asked before either answered.
    fn together(&self, method: Method) -> bool {
        let first = |side| self.of(method, Some(side)).next().map(|received| received.at);
        let apart = first(Side::A).zip(first(Side::B)).map(|(a, b)| a.max(b) - a.min(b));
        apart.is_some_and(|apart| apart < TOGETHER.mul_f32(0.8))
    }

    fn transcript(&self) -> String {
        let recipient = |received: &ReceivedCall| match received.to {
            Some(Side::A) => "to P01",
            Some(Side::B) => "to P02",
            None => "to the manager",
        };
        let calls: Vec<_> = self
            .calls
            .iter()
            .map(|received| format!("{} {}", received.call.method().row().name, recipient(received)))
            .collect();
        calls.join(", ")
    }
}

impl RefereeCheck<'_> {
    /// Returns when the match is reported and both players are told, or after `limit`. Our referees report first, others may tell
    /// the players first.
    async fn observe(&self, match_id: &MatchId, limit: Duration) -> MatchRecord {
        let came = |calls: &[ReceivedCall], method: Method, to: Option<Side>| {
            let is_wanted = |received: &ReceivedCall| {
                (received.call.method(), received.to) == (method, to)
                    && match_id_of(&received.call).as_ref() == Some(match_id)
            };
            calls.iter().any(is_wanted)
        };
        let script = &self.league.script;
        script.wait_until(limit, |calls| came(calls, Method::ReportMatchResult, None)).await;
        let is_told = |calls: &[ReceivedCall], side| came(calls, Method::NotifyMatchResult, Some(side));
        let both_told = |calls: &[ReceivedCall]| Side::BOTH.into_iter().all(|side| is_told(calls, side));
        script.wait_until(limit.min(TELLING), both_told).await;
        let mut calls = self.league.script.received();
        calls.retain(|received| match_id_of(&received.call).as_ref() == Some(match_id));
        MatchRecord { calls }
    }

    fn judge(&self, rule: &'static Rule, record: &MatchRecord, judgement: Judgement) {
        self.log.observe(rule, record.transcript(), judgement);
    }

    /// The match was ordered twice.
    pub(super) async fn played_once(&self, again: &Response) {
        let record = self.observe(&self.match_id(1), Duration::ZERO).await;
        let once = record.of(Method::GameInvitation, Some(Side::A)).count() <= 1;
        let twice = ensure(again.is_success(), again.result_text()).and(ensure(once, "the match is played twice"));
        self.log.judge(&rules::START_AGAIN, again, twice);
    }

    pub(super) async fn fair_match(&self) {
        let match_id = self.match_id(1);
        let record = self.observe(&match_id, self.span).await;
        let both = Side::BOTH.iter().all(|side| record.invitation(*side).is_some());
        self.judge(&rules::INVITES_BOTH, &record, ensure(both, "a player is not invited"));
        if !both {
            return;
        }
        self.judge(
            &rules::INVITES_TOGETHER,
            &record,
            ensure(record.together(Method::GameInvitation), "one after the other"),
        );
        self.invitations(&record);
        self.envelopes(&record, &match_id);
        self.choices(&record);
        self.ending(&record, &match_id);
    }

    fn invitations(&self, record: &MatchRecord) {
        let complete = |side: Side| {
            record.invitation(side).is_some_and(|invitation| {
                let is_complete = invitation.game_type.is_some() && invitation.role_in_match.is_some();
                is_complete && invitation.opponent_id == Some(player(side.other()))
            })
        };
        let fields =
            ensure(Side::BOTH.into_iter().all(complete), "game_type, role_in_match or opponent_id is missing or wrong");
        self.judge(&rules::INVITATION_FIELDS, record, fields);
        let roles = Side::BOTH.map(|side| record.invitation(side).and_then(|invitation| invitation.role_in_match));
        let right = roles.into_iter().zip(Side::BOTH).all(|(role, side)| role.is_none_or(|role| role == side));
        self.judge(&rules::SIDES, record, ensure(right, "the sides are swapped"));
        let commitments = Side::BOTH.map(|side| record.invitation(side)?.draw_commitment);
        let same = commitments[0].is_some() && commitments[0] == commitments[1];
        self.judge(&rules::COMMITMENT, record, ensure(same, "there is none, or there are two"));
    }

    fn envelopes(&self, record: &MatchRecord, match_id: &MatchId) {
        let to_players = || record.calls.iter().filter(|received| received.to.is_some());
        let counts = Side::BOTH.map(|side| {
            let to_side = to_players().filter(|received| received.to == Some(side));
            let mut named: Vec<Option<ConversationId>> =
                to_side.map(|received| received.head.conversation_id.as_good().cloned()).collect();
            named.dedup();
            let is_named = named.iter().all(Option::is_some);
            if is_named { named.len() } else { 0 }
        });
        let found = format!("to the players there are {} and {} of them", counts[0], counts[1]);
        self.judge(&rules::CONVERSATION, record, ensure(counts == [1, 1], found));
        let shows = |received: &ReceivedCall| {
            let pass = received.to.and_then(|side| self.referee_pass(side, match_id));
            pass.is_none_or(|pass| received.head.auth_token.as_ref().is_some_and(|token| token.is(&pass)))
        };
        self.judge(
            &rules::SHOWS_PASS,
            record,
            ensure(to_players().all(shows), "a message shows something else, or nothing"),
        );
        let own = self.league.script.token.digest();
        let kept =
            to_players().all(|received| !received.head.auth_token.as_ref().is_some_and(|token| token.opens(&own)));
        self.judge(&rules::TOKEN_KEPT, record, ensure(kept, "its token is in a message to a player"));
    }

    fn choices(&self, record: &MatchRecord) {
        if !self.is_parity() {
            for rule in [&rules::ASKS_TOGETHER, &rules::CHOICE_HIDDEN] {
                self.log.skip(rule, "it is a rule of Even/Odd");
            }
            return;
        }
        self.judge(&rules::ASKS_TOGETHER, record, ensure(record.together(Method::ChooseParity), "one after the other"));
        let tells = |received: &ReceivedCall| {
            let mut body = Vec::new();
            drop(received.call.write_body(&mut body));
            let text = String::from_utf8_lossy(&body).into_owned();
            received.call.method() == Method::ChooseParity && (text.contains("\"odd\"") || text.contains("\"even\""))
        };
        self.judge(
            &rules::CHOICE_HIDDEN,
            record,
            ensure(!record.calls.iter().any(tells), "there is a choice in a call"),
        );
    }

    fn ending(&self, record: &MatchRecord, match_id: &MatchId) {
        let overs = Side::BOTH.map(|side| record.game_over(side));
        self.judge(&rules::OVER_BOTH, record, ensure(overs.iter().all(Option::is_some), "a player gets no GAME_OVER"));
        let [Some(first), Some(second)] = overs else { return };
        let results = [first, second].map(|over| over.game_result.clone());
        let alike = results[0].as_ref().map(outcome) == results[1].as_ref().map(outcome);
        self.judge(&rules::OVER_ALIKE, record, ensure(alike, "they are told two different things"));
        let Some(result) = &results[0] else {
            return self.judge(&rules::NUMBER, record, Err(String::from("GAME_OVER has no game_result")));
        };
        let (number, won) = (result.drawn_number, result.winner_player_id.as_ref());
        if !self.is_parity() {
            for rule in [&rules::NUMBER, &rules::PROVABLE] {
                self.log.skip(rule, "it is a rule of Even/Odd");
            }
            self.judge(&rules::WINNER, record, self.replayed(record, won));
            return self.reported(record, number, won);
        }
        let in_range = number.is_some_and(|number| (1..=10).contains(&number));
        let even = number.is_some_and(|number| number % 2 == 0);
        let parity = result.number_parity.is_none_or(|parity| (parity.as_str() == "even") == even);
        let found = format!("the number is {number:?}, {:?}", result.number_parity);
        self.judge(&rules::NUMBER, record, ensure(in_range && parity, found));
        // P01 chooses even and P02 odd, so one of them is right.
        let winner = player(if even { Side::A } else { Side::B });
        let found = format!("the number is {number:?}, and the winner {won:?}");
        self.judge(&rules::WINNER, record, ensure(won == Some(&winner), found));
        self.judge(&rules::PROVABLE, record, proved(record, first, match_id));
        self.reported(record, number, won);
    }

    fn replayed(&self, record: &MatchRecord, won: Option<&PlayerId>) -> Judgement {
        let report = record.report().ok_or("no report came")?;
        let game = new_game(&self.game).ok_or("the checker does not know this game")?;
        let mut game = Series::new(game, NonZeroU32::MIN);
        let proof = report.result.details.draw.as_ref();
        let nonces = Pair::from_fn(|side| nonce(side).parse().unwrap_or_default());
        let draw = proof.map(|proof| draw_of(proof, &report.match_id, nonces));
        let details = &report.result.details;
        let side_of = |id: &PlayerId| if *id == player(Side::A) { Side::A } else { Side::B };
        let mut moves: Vec<_> = details.moves.iter().map(|one| (side_of(&one.player_id), one.played.clone())).collect();
        if moves.is_empty() {
            // The report of a game with one move each may have them as choices only.
            let choices = details.choices.0.iter();
            moves.extend(choices.filter_map(|(id, choice)| Some((side_of(id), choice.clone()?))));
        }
        for (side, played) in moves {
            if let GameStage::Chance(_) = game.stage() {
                let draw = draw.as_ref().ok_or("the report does not prove the cards")?;
                game.serve_chance(draw).map_err(|_| "the game asks for chance without end")?;
            }
            game.play(side, &played).map_err(|illegal| illegal.to_string())?;
        }
        let winner = match game.stage() {
            GameStage::Over(verdict) => Outcome::from(verdict).winner().map(player),
            GameStage::Moves(_) | GameStage::Draw | GameStage::Chance(_) => {
                return Err(String::from("the moves of the report do not end the game"));
            }
        };
        ensure(winner.as_ref() == won, format!("the moves make {winner:?} the winner, and the result says {won:?}"))
    }

    fn reported(&self, record: &MatchRecord, number: Option<u8>, winner: Option<&PlayerId>) {
        let Some(report) = record.report() else {
            return self.judge(&rules::REPORTS, record, Err(String::from("no report came")));
        };
        self.judge(&rules::REPORTS, record, Ok(()));
        if self.league.script.has_registered() {
            let own = self.league.script.token.digest();
            let received = record.of(Method::ReportMatchResult, None).next();
            let shows =
                received.and_then(|received| received.head.auth_token.as_ref()).is_some_and(|token| token.opens(&own));
            self.judge(&rules::REPORT_TOKEN, record, ensure(shows, "the report shows something else, or nothing"));
        } else {
            self.log.skip(&rules::REPORT_TOKEN, "the referee has not registered, so it has no token");
        }
        let agrees = report.result.winner.as_ref() == winner && report.result.details.drawn_number == number;
        let report_text = call_excerpt(&Call::ReportMatchResult(report.clone()));
        let note = |rule, judgement| self.log.observe(rule, report_text.clone(), judgement);
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

    async fn play(&self, number: u32, behaviours: [ChoiceBehaviour; 2]) -> Option<MatchRecord> {
        let match_id = self.match_id(number);
        self.league.script.set_behaviour(&match_id, behaviours);
        let response = self.send(&self.order(&match_id)).await;
        if !super::accepted(&response) {
            self.log.judge(&rules::ACCEPTS, &response, Err(format!("not a further match: {}", response.result_text())));
            return None;
        }
        Some(self.observe(&match_id, self.span).await)
    }

    pub(super) async fn invalid_choices(&self) {
        let Some(record) = self.play(2, [ChoiceBehaviour::Says("maybe"), ChoiceBehaviour::Plays]).await else {
            return;
        };
        let places = |method: Method| {
            let calls = record.calls.iter().enumerate();
            let to_first =
                calls.filter(|(_, received)| received.call.method() == method && received.to == Some(Side::A));
            to_first.map(|(place, _)| place).collect::<Vec<_>>()
        };
        let (asked, errors) = (places(self.move_method()), places(Method::NotifyGameError));
        let between = asked.windows(2).all(|pair| errors.iter().any(|error| (pair[0]..pair[1]).contains(error)));
        let coded = errors.iter().all(|error| self.code(&record.calls[*error]).as_deref() == Some("E004"));
        let notified = asked.len() > 1 && between && coded;
        self.judge(
            &rules::RETRY_ERROR,
            &record,
            ensure(notified, "there is no GAME_ERROR with E004 between the calls"),
        );
        self.judge(
            &rules::RETRY_THREE,
            &record,
            ensure(asked.len() == 3, format!("it is asked {} times", asked.len())),
        );
        self.judge(&rules::RETRY_LOSS, &record, lost(&record, Side::A));
    }

    fn code(&self, received: &ReceivedCall) -> Option<String> {
        if let Call::NotifyGameError(error) = &received.call {
            error.error_code.as_ref().map(ToString::to_string)
        } else {
            None
        }
    }

    pub(super) async fn silent_player(&self) {
        let Some(record) = self.play(3, [ChoiceBehaviour::Plays, ChoiceBehaviour::Silent]).await else { return };
        let notified = record
            .of(Method::NotifyGameError, Some(Side::B))
            .any(|received| self.code(received).as_deref() == Some("E001"));
        let asked = record.of(self.move_method(), Some(Side::B)).count();
        let found = format!("it is asked {asked} times, and told of it: {notified}");
        self.judge(&rules::TIMEOUT, &record, ensure(notified && asked > 1, found));
    }

    pub(super) async fn declining_player(&self) {
        let Some(record) = self.play(4, [ChoiceBehaviour::Plays, ChoiceBehaviour::Declines]).await else { return };
        let asked = record.of(self.move_method(), Some(Side::B)).count();
        let quiet = ensure(asked == 0, "who has declined is asked for a choice");
        self.judge(&rules::DECLINE, &record, quiet.and(lost(&record, Side::B)));
    }
}

fn outcome(result: &league_protocol::message::game_over::GameResult) -> (Option<u8>, Option<&PlayerId>) {
    (result.drawn_number, result.winner_player_id.as_ref())
}

/// Both sides must be told.
fn lost(record: &MatchRecord, side: Side) -> Judgement {
    let report = record.report().ok_or("no report came")?;
    let won = report.result.winner == Some(player(side.other()));
    ensure(won, format!("the winner is {:?}", report.result.winner))?;
    let technical = report.result.details.status == Some(ResultStatus::TechnicalLoss);
    let named = report.result.details.technical_losses.contains(&player(side));
    ensure(technical || named, "the report does not call it a technical loss")?;
    ensure(Side::BOTH.iter().all(|side| record.game_over(*side).is_some()), "a player gets no GAME_OVER")
}

/// The number must follow from the commitment and the nonces.
fn proved(record: &MatchRecord, over: &GameOver, match_id: &MatchId) -> Judgement {
    let proof = over.draw.as_ref().ok_or("GAME_OVER reveals nothing")?;
    let invitation = record.invitation(Side::A);
    let promised =
        invitation.and_then(|invitation| invitation.draw_commitment).ok_or("the invitation promised nothing")?;
    let number = over.game_result.as_ref().and_then(|result| result.drawn_number).ok_or("there is no number")?;
    let nonces = Pair::from_fn(|side| nonce(side).parse().unwrap_or_default());
    draw_of(proof, match_id, nonces).verify(&promised, proof.seal.as_ref(), number).map_err(|bad| bad.to_string())
}

fn draw_of(proof: &DrawProof, match_id: &MatchId, nonces: Pair<DrawNonce>) -> Draw {
    Draw { secret: proof.secret, match_id: match_id.clone(), attempt: proof.attempt, nonces, seeded: proof.seeded }
}
