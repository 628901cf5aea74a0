//! Players that sign, and referees that lie.

mod games;
mod turns;

use league_protocol::draw::{DrawCommitment, DrawNonce, DrawSecret, Signature};
use league_protocol::error::ErrorCode;
use league_protocol::id::GameType;
use league_protocol::message::evidence::{DisputeReason, MatchDispute, MatchTestimony, MoveDeposit};
use league_protocol::message::game_over::{ByPlayer, ResultStatus};
use league_protocol::message::operate::DisputeDecision;
use league_protocol::message::report::{MatchResultReport, PlayerSignatures, SignedIllegalMove};
use league_protocol::side::Side;
use league_protocol::signature::{MoveTurn, SignedJoin, SignedMove, ViewDigest};
use league_protocol::token::TokenDigest;
use smol_str::SmolStr;

use super::*;
use crate::record::RevealedDraw;
use crate::rules::draw::Draw;
use crate::season::NextAction;
use crate::season::agent::RegisteredPlayer;
use crate::season::event::Fact;
use crate::season::evidence::{AlertKind, ReturnCause, Testimonies};

const CALLED: MatchTestimony =
    MatchTestimony { called: true, joined: true, moves: 0, asked: None, revealed: false, draw_commitment: None };

fn secret(referee: u32, number: u32) -> DrawSecret {
    DrawSecret([u8::try_from(referee * 50 + number).unwrap(); 32])
}

/// A league of signing players with referees that show passes and have deposited four commitments each.
struct SigningLeague {
    league: League,
    keys: Vec<TokenDigest>,
}

impl SigningLeague {
    fn new(game: &str, players: u32, referees: u32) -> Self {
        let mut league = League::with(LeagueConfig { game_type: game.parse().unwrap(), ..config() });
        let games = vec![game.parse::<GameType>().unwrap()];
        let keys = (1..=players).map(|number| {
            let mut request = player(number);
            (request.player_meta.signs_moves, request.player_meta.game_types) = (true, games.clone());
            league.admit(&request).token.digest()
        });
        let keys = keys.collect();
        for number in 1..=referees {
            let mut request = referee(number, 2);
            request.referee_meta.game_types.clone_from(&games);
            request.referee_meta.pass_scheme = Some("hmac-sha256".into());
            request.draw_commitments = (0..4).map(|place| secret(number, place).commitment()).collect();
            league.admit_referee(&request);
        }
        league.start();
        Self { league, keys }
    }

    fn key(&self, player: &PlayerId) -> &TokenDigest {
        &self.keys[player.number().unwrap() as usize - 1]
    }

    fn players(&self, held: &Assignment) -> Pair<PlayerId> {
        self.league.season.contestants(&held.match_id).unwrap().map(|player| player.id.clone())
    }

    fn secret_of(&self, held: &Assignment) -> DrawSecret {
        let (_, _, draw) = self.league.season.slot(&held.match_id).unwrap().reportable().unwrap();
        let draw = draw.unwrap();
        let number = held.referee.number().unwrap();
        (0..4).map(|place| secret(number, place)).find(|secret| secret.commitment() == draw.commitment).unwrap()
    }

    fn sign_move(&self, held: &Assignment, side: Side, turn: u32, view: &str, played: &str) -> Signature {
        let turn = MoveTurn { attempt: held.attempt, game: 1, turn };
        let (league, match_id) = (&self.league.season.config().league_id, &held.match_id);
        let made = SignedMove { league, match_id, turn, view: ViewDigest::of(view), played };
        made.sign(self.key(&self.players(held)[side]))
    }

    fn join(&self, held: &Assignment, side: Side, nonce: &DrawNonce) -> PlayerSignatures {
        let commitment = Some(self.secret_of(held).commitment());
        let (league, match_id, attempt) = (&self.league.season.config().league_id, &held.match_id, held.attempt);
        let join = SignedJoin { league, match_id, attempt, referee: &held.referee, commitment, nonce };
        let signature = join.sign(self.key(&self.players(held)[side]));
        PlayerSignatures { draw_nonce: Some(nonce.clone()), join: Some(signature), ..PlayerSignatures::default() }
    }

    /// An honest match of Even/Odd, in which both players choose even.
    fn honest(&self, held: &Assignment) -> (MatchRecord, MatchResultReport) {
        let nonces: Pair<DrawNonce> = Pair::new("heads".parse().unwrap(), "tails".parse().unwrap());
        let secret = self.secret_of(held);
        let (match_id, attempt) = (held.match_id.clone(), held.attempt);
        let draw = Draw { secret, match_id, attempt, nonces: nonces.clone(), seeded: false };
        let even = Pair::new(Some("even".into()), Some("even".into()));
        let proof = RevealedDraw {
            commitment: secret.commitment(),
            secret,
            nonces: nonces.clone(),
            seal: Some(draw.seal()),
            seeded: false,
        };
        let record = MatchRecord {
            outcome: Outcome::Draw,
            moves: even,
            games: std::num::NonZeroU32::MIN,
            course: Vec::new(),
            drawn: Some(draw.number().get()),
            score: None,
            proof: Some(Box::new(proof)),
        };
        let signed = |side: Side| {
            let moves = vec![Some(self.sign_move(held, side, 1, "", "even"))];
            PlayerSignatures { moves, ..self.join(held, side, &nonces[side]) }
        };
        (record.clone(), self.report_of(held, &record, Pair::from_fn(signed)))
    }

    fn report_of(&self, held: &Assignment, record: &MatchRecord, signed: Pair<PlayerSignatures>) -> MatchResultReport {
        let players = self.players(held);
        let scoring = self.league.season.config().scoring.match_points();
        let mut result = record.reported(players.as_ref(), &scoring, None);
        result.details.draw = record.draw_proof(players.as_ref(), held.attempt);
        MatchResultReport {
            league_id: None,
            round_id: None,
            match_id: held.match_id.clone(),
            game_type: None,
            attempt: Some(held.attempt),
            result,
            learned: ByPlayer::default(),
            account: Default::default(),
            signatures: ByPlayer(vec![(players.a, signed.a), (players.b, signed.b)]),
            draw_commitments: Vec::new(),
        }
    }

    /// A report that charges side A with silence, after side B has moved.
    fn charge(&self, held: &Assignment) -> MatchResultReport {
        let nonce: DrawNonce = "tails".parse().unwrap();
        let mut record = MatchRecord::unplayed(Outcome::Forfeit(Side::A));
        record.moves.b = Some("odd".into());
        let moves = vec![Some(self.sign_move(held, Side::B, 1, "", "odd"))];
        let other = PlayerSignatures { moves, ..self.join(held, Side::B, &nonce) };
        self.report_of(held, &record, Pair::new(PlayerSignatures::default(), other))
    }

    fn judge(&mut self, held: &Assignment, report: &MatchResultReport, said: &Testimonies) -> ReportOutcome {
        let record = self.league.season.read_report(report).unwrap();
        self.league.run(|season| season.judge_report(&held.referee, report, &record, said, now()))
    }

    fn testimony(&self, held: &Assignment, said: Option<MatchTestimony>) -> Testimonies {
        Testimonies(vec![(self.players(held).a, said)])
    }

    fn deposit(&self, held: &Assignment, side: Side) -> MoveDeposit {
        MoveDeposit {
            league_id: None,
            match_id: held.match_id.clone(),
            attempt: held.attempt,
            game_number: 1,
            turn: 1,
            view_sha256: league_protocol::draw::DrawSeal(ViewDigest::of("").0),
            played: "even".into(),
            signature: self.sign_move(held, side, 1, "", "even"),
        }
    }

    fn alerts(&self) -> Vec<String> {
        let season = &self.league.season;
        let line = |(match_id, alert, waits): (&MatchId, &crate::season::evidence::Alert, bool)| {
            let player = alert.player.as_ref().map(ToString::to_string).unwrap_or_default();
            format!("{match_id} {} {player} {:?}{}", alert.referee, alert.kind, if waits { " waits" } else { "" })
        };
        season.alerts().map(line).collect()
    }
}

#[test]
fn an_honest_report_counts_and_tops_the_commitments_up() {
    let mut league = SigningLeague::new("even_odd", 2, 1);
    let held = league.league.assign().remove(0);
    let (_, mut report) = league.honest(&held);
    report.draw_commitments = vec![secret(4, 1).commitment()];
    assert_eq!(league.judge(&held, &report, &Testimonies::default()), ReportOutcome::Now);
    let referee = &league.league.season.referees()[0];
    assert_eq!(referee.commitments.len(), 4, "one was used, one came");
    assert_eq!(league.judge(&held, &report, &Testimonies::default()), ReportOutcome::Before);
    assert_eq!(Season::replay(&league.league.log).unwrap(), league.league.season);
}

type Lie = (&'static str, fn(&SigningLeague, &Assignment, &mut MatchResultReport), AlertKind);

#[test]
fn a_report_that_the_players_did_not_sign_does_not_count() {
    let lies: [Lie; 10] = [
        ("stripped", |_, _, report| report.signatures = ByPlayer::default(), AlertKind::BadSignature),
        ("no join", |_, _, report| report.signatures.0[0].1.join = None, AlertKind::BadSignature),
        ("no move", |_, _, report| report.signatures.0[1].1.moves.clear(), AlertKind::BadSignature),
        (
            "another move",
            |_, _, report| {
                report.result.details.choices.0[0].1 = Some("odd".into());
                let is_even = report.result.details.drawn_number.unwrap() % 2 == 0;
                let winner = usize::from(is_even);
                report.result.winner = Some(report.result.details.choices.0[winner].0.clone());
                report.result.score = ByPlayer::default();
                report.result.details.status = None;
            },
            AlertKind::BadSignature,
        ),
        (
            "another player's signature",
            |_, _, report| report.signatures.0[0].1 = report.signatures.0[1].1.clone(),
            AlertKind::BadSignature,
        ),
        (
            "another nonce",
            |league, held, report| {
                let proof = report.result.details.draw.as_mut().unwrap();
                proof.nonces.0[0].1 = "edge".parse().unwrap();
                let nonces = Pair::new(proof.nonces.0[0].1.clone(), proof.nonces.0[1].1.clone());
                let (match_id, attempt, secret) = (held.match_id.clone(), held.attempt, league.secret_of(held));
                let draw = Draw { secret, match_id, attempt, nonces, seeded: false };
                (proof.seal, report.result.details.drawn_number) = (Some(draw.seal()), Some(draw.number().get()));
                report.result.details.number_parity = None;
            },
            AlertKind::ForgedDraw,
        ),
        (
            "another secret",
            |_, held, report| {
                let proof = report.result.details.draw.as_mut().unwrap();
                let nonces = Pair::new(proof.nonces.0[0].1.clone(), proof.nonces.0[1].1.clone());
                let (match_id, attempt, secret) = (held.match_id.clone(), held.attempt, DrawSecret([200; 32]));
                let draw = Draw { secret, match_id, attempt, nonces, seeded: false };
                (proof.secret, proof.commitment, proof.seal) = (secret, secret.commitment(), Some(draw.seal()));
                report.result.details.drawn_number = Some(draw.number().get());
                report.result.details.number_parity = None;
            },
            AlertKind::ForgedDraw,
        ),
        (
            "a nonce for a player that sent none",
            |league, held, report| {
                let (nonce, none) = ("edge".parse().unwrap(), DrawNonce::default());
                let PlayerSignatures { join, .. } = league.join(held, Side::A, &none);
                let signed = &mut report.signatures.0[0].1;
                (signed.join, signed.draw_nonce) = (join, None);
                let proof = report.result.details.draw.as_mut().unwrap();
                proof.nonces.0[0].1 = nonce;
                let nonces = Pair::new(proof.nonces.0[0].1.clone(), proof.nonces.0[1].1.clone());
                let (match_id, attempt, secret) = (held.match_id.clone(), held.attempt, league.secret_of(held));
                let draw = Draw { secret, match_id, attempt, nonces, seeded: false };
                (proof.seal, report.result.details.drawn_number) = (Some(draw.seal()), Some(draw.number().get()));
                report.result.details.number_parity = None;
            },
            AlertKind::ForgedDraw,
        ),
        (
            "a winner without moves and number",
            |league, held, report| {
                let details = &mut report.result.details;
                (details.drawn_number, details.number_parity, details.draw) = (None, None, None);
                details.choices = ByPlayer::default();
                let players = league.players(held);
                let (winner, loser) = match &report.result.winner {
                    Some(winner) if *winner == players.a => (players.b, players.a),
                    _ => (players.a, players.b),
                };
                report.result.winner = Some(winner.clone());
                report.result.score = ByPlayer(vec![(winner, 3), (loser, 0)]);
                report.result.details.status = Some(ResultStatus::Win);
            },
            AlertKind::BadSignature,
        ),
        ("no proof", |_, _, report| report.result.details.draw = None, AlertKind::ForgedDraw),
    ];
    for (name, lie, kind) in lies {
        let mut league = SigningLeague::new("even_odd", 2, 2);
        let held = league.league.assign().remove(0);
        let (_, mut report) = league.honest(&held);
        lie(&league, &held, &mut report);
        assert_eq!(league.judge(&held, &report, &Testimonies::default()), ReportOutcome::Contested(kind), "{name}");
        assert_eq!(league.league.season.matches_completed(), 0, "{name}");
        assert_eq!(league.alerts().len(), 1, "{name}");
        // The number was drawn, so the operator decides whether another referee plays the match again.
        if report.result.details.drawn_number.is_some() {
            assert_eq!(league.league.assign(), [], "{name}");
            league.league.run(|season| season.resolve(&held.match_id, DisputeDecision::Uphold, now()));
        }
        let again = league.league.assign().remove(0);
        assert_ne!(again.referee, held.referee, "{name}");
        let (_, report) = league.honest(&again);
        assert_eq!(league.judge(&again, &report, &Testimonies::default()), ReportOutcome::Now, "{name}");
        assert_eq!(Season::replay(&league.league.log).unwrap(), league.league.season, "{name}");
    }
}

#[test]
fn a_charge_of_silence_counts_only_if_the_player_does_not_contradict_it() {
    let moved = MatchTestimony { moves: 1, ..CALLED };
    let [unasked, asked] = [0, 1].map(|asked| MatchTestimony { asked: Some(asked), ..CALLED });
    let other = DrawCommitment([7; 32]);
    let shown_other = MatchTestimony { joined: false, draw_commitment: Some(other), ..asked };
    let shown_none = MatchTestimony { joined: false, ..unasked };
    let cases = [
        (None, ReportOutcome::Now),
        (Some(CALLED), ReportOutcome::Now),
        (Some(asked), ReportOutcome::Now),
        (Some(unasked), ReportOutcome::Contested(AlertKind::NotCalled)),
        (Some(shown_other), ReportOutcome::Contested(AlertKind::OtherCommitment)),
        (Some(shown_none), ReportOutcome::Contested(AlertKind::OtherCommitment)),
        (Some(MatchTestimony::default()), ReportOutcome::Contested(AlertKind::NotCalled)),
        (Some(moved), ReportOutcome::Contested(AlertKind::AnswerDenied)),
    ];
    for (said, outcome) in cases {
        let mut league = SigningLeague::new("even_odd", 2, 2);
        let held = league.league.assign().remove(0);
        let report = league.charge(&held);
        assert_eq!(league.league.season.players_to_ask(&held.referee, &report), (1, vec![league.players(&held).a]));
        let unasked = league.league.season.judge_report(
            &held.referee,
            &report,
            &league.league.season.read_report(&report).unwrap(),
            &Testimonies::default(),
            now(),
        );
        assert!(unasked.is_err(), "the player must be asked first");
        let said = league.testimony(&held, said);
        assert_eq!(league.judge(&held, &report, &said), outcome);
    }
}

#[test]
fn a_deposited_move_refutes_the_charge_and_a_signed_illegal_move_proves_it() {
    let mut league = SigningLeague::new("even_odd", 2, 2);
    let held = league.league.assign().remove(0);
    let player = league.players(&held).a;
    let deposit = league.deposit(&held, Side::A);
    league.league.run(|season| season.deposit(&player, &deposit, now()));
    let report = league.charge(&held);
    assert!(league.league.season.players_to_ask(&held.referee, &report).1.is_empty());
    let outcome = league.judge(&held, &report, &Testimonies::default());
    assert_eq!(outcome, ReportOutcome::Contested(AlertKind::AnswerDeposited));

    let again = league.league.assign().remove(0);
    let mut report = league.charge(&again);
    let (played, signature) = ("ODD".into(), league.sign_move(&again, Side::A, 1, "", "ODD"));
    report.signatures.0[0].1.illegal_move = Some(SignedIllegalMove { played, signature });
    assert!(league.league.season.players_to_ask(&again.referee, &report).1.is_empty());
    assert_eq!(league.judge(&again, &report, &Testimonies::default()), ReportOutcome::Now);
}

#[test]
fn a_deposit_of_an_illegal_move_or_for_another_view_refutes_nothing() {
    for (view, played) in [("", "banana"), ("another board", "even")] {
        let mut league = SigningLeague::new("even_odd", 2, 2);
        let held = league.league.assign().remove(0);
        let player = league.players(&held).a;
        let view_sha256 = league_protocol::draw::DrawSeal(ViewDigest::of(view).0);
        let signature = league.sign_move(&held, Side::A, 1, view, played);
        let deposit = league.deposit(&held, Side::A);
        let deposit = MoveDeposit { view_sha256, played: played.into(), signature, ..deposit };
        league.league.run(|season| season.deposit(&player, &deposit, now()));
        let report = league.charge(&held);
        assert_eq!(league.league.season.players_to_ask(&held.referee, &report).1, [player], "{played}");
        let said = league.testimony(&held, Some(CALLED));
        assert_eq!(league.judge(&held, &report, &said), ReportOutcome::Now, "{played}");
    }
}

#[test]
fn a_player_that_was_started_again_accuses_no_referee() {
    let mut league = SigningLeague::new("even_odd", 2, 2);
    let held = league.league.assign().remove(0);
    let report = league.charge(&held);
    let mut request = player(1);
    request.player_meta.signs_moves = true;
    league.league.admit(&request);
    let said = league.testimony(&held, Some(MatchTestimony { asked: Some(0), ..MatchTestimony::default() }));
    assert_eq!(league.judge(&held, &report, &said), ReportOutcome::Now);
    assert!(league.alerts().is_empty());
}

#[test]
fn no_agent_drops_what_its_matches_are_checked_by() {
    let mut league = SigningLeague::new("even_odd", 2, 1);
    let unsigned = player(1);
    assert!(matches!(league.league.register(&unsigned), Registered::Rejected(_)));
    let mut without_passes = referee(1, 2);
    without_passes.draw_commitments = vec![secret(4, 1).commitment()];
    assert!(matches!(league.league.register_referee(&without_passes), Registered::Rejected(_)));
    let mut without_commitments = referee(1, 2);
    without_commitments.referee_meta.pass_scheme = Some("hmac-sha256".into());
    assert!(matches!(league.league.register_referee(&without_commitments), Registered::Rejected(_)));
    let signing =
        |league: &SigningLeague| league.league.season.players().iter().all(|player| player.profile.signs_moves);
    assert!(signing(&league) && league.league.season.referees()[0].profile.shows_passes);

    // A player that begins to sign in a running league is still believed without signatures.
    let mut league = League::running(2, &[2]);
    let mut request = player(1);
    request.player_meta.signs_moves = true;
    league.admit(&request);
    assert!(!league.season.players()[0].profile.signs_moves);
}

#[test]
fn a_player_cannot_push_out_the_key_that_signed_its_match() {
    let mut league = SigningLeague::new("even_odd", 2, 1);
    let held = league.league.assign().remove(0);
    let (_, report) = league.honest(&held);
    let mut request = player(1);
    request.player_meta.signs_moves = true;
    for _ in 0..RegisteredPlayer::MAX_FORMER_KEYS {
        league.league.admit(&request);
    }
    let refused = league.league.season.register_player(&request, None, &[9; 32], now()).unwrap_err();
    assert_eq!(refused.code, Some(ErrorCode::E014));
    assert_eq!(league.judge(&held, &report, &Testimonies::default()), ReportOutcome::Now);
    league.league.admit(&request);
}

#[test]
fn a_match_does_not_wait_for_a_referee_without_commitments() {
    let mut league = SigningLeague::new("even_odd", 2, 2);
    let held = league.league.assign().remove(0);
    assert_eq!(held.referee, r(1));
    let said = league.testimony(&held, Some(MatchTestimony { moves: 1, ..CALLED }));
    // The second referee loses all its commitments by refusing.
    league.league.run(|season| season.interrupt(&held, Some(ReturnCause::Overdue), &said, now()));
    for _ in 0..4 {
        let refused = league.league.assign().remove(0);
        assert_eq!(refused.referee, r(2), "the first is barred");
        league.league.run(|season| season.give_back(&refused, now()));
    }
    assert!(league.league.season.referees()[1].needs_commitments());
    assert_eq!(league.league.assign().remove(0).referee, r(1));
}

#[test]
fn a_deposit_needs_the_attempt_and_a_right_signature_and_counts_once() {
    let mut league = SigningLeague::new("even_odd", 2, 1);
    let held = league.league.assign().remove(0);
    let players = league.players(&held);
    let good = league.deposit(&held, Side::A);
    let refused = |deposit: &MoveDeposit, player: &PlayerId| {
        league.league.season.deposit(player, deposit, now()).unwrap_err();
    };
    refused(&MoveDeposit { attempt: 2, ..good.clone() }, &players.a);
    refused(&MoveDeposit { played: "odd".into(), ..good.clone() }, &players.a);
    refused(&MoveDeposit { turn: 2, ..good.clone() }, &players.a);
    refused(&MoveDeposit { game_number: 2, ..good.clone() }, &players.a);
    refused(&good, &players.b);
    league.league.run(|season| season.deposit(&players.a, &good, now()));
    assert!(league.league.season.deposit(&players.a, &good, now()).unwrap().events.is_empty());
    let (_, report) = league.honest(&held);
    league.judge(&held, &report, &Testimonies::default());
    league.league.season.deposit(&players.a, &good, now()).unwrap_err();
}

#[test]
fn the_operator_decides_after_three_contested_reports_and_three_upheld_faults_suspend_a_referee() {
    let mut league = SigningLeague::new("even_odd", 2, 1);
    for attempt in 1..=3 {
        let held = league.league.assign().remove(0);
        assert_eq!(held.attempt, attempt, "the only referee gets the match again");
        let report = league.charge(&held);
        let said = league.testimony(&held, Some(MatchTestimony::default()));
        assert_eq!(league.judge(&held, &report, &said), ReportOutcome::Contested(AlertKind::NotCalled));
    }
    assert_eq!(league.league.assign(), []);
    assert_eq!(league.alerts(), ["R1M1 REF01 P01 NotCalled waits"; 3]);
    assert!(matches!(league.league.season.next_action(), NextAction::Play(_)));

    // An upheld alert counts once against the referee, and the match waits for a commitment of another referee.
    league.league.run(|season| season.resolve(&m("R1M1"), DisputeDecision::Uphold, now()));
    assert_eq!((league.alerts(), league.league.season.referees()[0].faults), (Vec::new(), 1));
    assert_eq!(league.league.assign()[0].attempt, 4, "no other referee exists");
    assert!(league.league.season.resolve(&m("R1M1"), DisputeDecision::Uphold, now()).is_err());
    assert_eq!(Season::replay(&league.league.log).unwrap(), league.league.season);
}

#[test]
fn a_rejected_dispute_counts_the_report_that_waited() {
    let mut league = SigningLeague::new("even_odd", 2, 1);
    for _ in 0..3 {
        let held = league.league.assign().remove(0);
        let report = league.charge(&held);
        let said = league.testimony(&held, Some(MatchTestimony::default()));
        league.judge(&held, &report, &said);
    }
    league.league.run(|season| season.resolve(&m("R1M1"), DisputeDecision::Reject, now()));
    assert_eq!(league.league.season.outcome(&m("R1M1")), Some(Outcome::Forfeit(Side::A)));
    assert_eq!(league.league.season.next_action(), NextAction::Conclude);
    assert_eq!(league.league.season.referees()[0].faults, 0);
    assert_eq!(Season::replay(&league.league.log).unwrap(), league.league.season);
}

#[test]
fn an_attempt_that_vanishes_after_a_move_is_an_alert_and_the_referee_does_not_get_the_match_again() {
    let (moved, revealed) =
        (MatchTestimony { moves: 1, ..CALLED }, MatchTestimony { moves: 1, revealed: true, ..CALLED });
    let cases = [
        (ReturnCause::Overdue, CALLED, "", false),
        (ReturnCause::Overdue, moved, "R1M1 REF01  Vanished", false),
        (ReturnCause::Overdue, revealed, "R1M1 REF01  Vanished waits", true),
        (ReturnCause::Unreachable, moved, "", false),
        (ReturnCause::Unreachable, revealed, "R1M1 REF01  Vanished waits", true),
    ];
    for (cause, said, alert, waits) in cases {
        let mut league = SigningLeague::new("even_odd", 2, 2);
        let held = league.league.assign().remove(0);
        let said = league.testimony(&held, Some(said));
        league.league.run(|season| season.interrupt(&held, Some(cause), &said, now()));
        assert_eq!(league.alerts().concat(), alert);
        let again: Vec<_> = league.league.assign().into_iter().map(|again| again.referee).collect();
        assert_eq!(again, if waits { vec![] } else { vec![r(2)] }, "{alert}");
        assert_eq!(Season::replay(&league.league.log).unwrap(), league.league.season);
    }
}

#[test]
fn a_referee_that_was_cut_off_may_still_report_the_match_that_waits() {
    let mut league = SigningLeague::new("even_odd", 2, 2);
    let held = league.league.assign().remove(0);
    let said = league.testimony(&held, Some(MatchTestimony { moves: 1, revealed: true, ..CALLED }));
    league.league.run(|season| season.interrupt(&held, Some(ReturnCause::Overdue), &said, now()));
    let (_, mut lie) = league.honest(&held);
    lie.signatures = ByPlayer::default();
    let outcome = league.judge(&held, &lie, &Testimonies::default());
    assert_eq!(outcome, ReportOutcome::Contested(AlertKind::BadSignature));
    let events = league.league.log.len();
    league.judge(&held, &lie, &Testimonies::default());
    assert_eq!(league.league.log.len(), events, "a repeated lie is no new event");
    assert_eq!(league.league.season.players_to_ask(&held.referee, &league.charge(&held)).0, held.attempt);
    let (_, report) = league.honest(&held);
    assert_eq!(league.judge(&held, &report, &Testimonies::default()), ReportOutcome::Now);
    assert_eq!(league.league.season.referees()[0].running, 0);
    assert_eq!(league.alerts().len(), 2, "the operator still decides about the alerts");
    assert_eq!(Season::replay(&league.league.log).unwrap(), league.league.season);
}

#[test]
fn a_referee_that_lets_a_match_lie_gets_one_at_a_time_until_it_reports() {
    let mut league = SigningLeague::new("even_odd", 8, 1);
    let held = league.league.assign();
    assert_eq!(held.len(), 2);
    for held in &held {
        let said = league.testimony(held, Some(MatchTestimony::default()));
        league.league.run(|season| season.interrupt(held, Some(ReturnCause::Stalled), &said, now()));
    }
    let one = league.league.assign();
    assert_eq!(one.len(), 1);
    let (_, report) = league.honest(&one[0]);
    league.judge(&one[0], &report, &Testimonies::default());
    assert_eq!(league.league.season.referees()[0].commitments.len(), 1);
    assert_eq!(league.league.assign().len(), 1, "it has one commitment left");
    assert!(league.league.season.referees()[0].needs_commitments());
}

#[test]
fn a_withdrawn_referee_is_out_and_its_matches_go_to_others() {
    let mut league = SigningLeague::new("even_odd", 4, 2);
    let held = league.league.assign();
    assert_eq!(held.len(), 2);
    league.league.run(|season| season.withdraw_referee(&r(1), now()));
    let again = league.league.assign();
    assert!(again.iter().all(|again| again.referee == r(2)) && again.len() == 1);
    let mut request = referee(1, 2);
    request.referee_meta.pass_scheme = Some("hmac-sha256".into());
    assert!(matches!(league.league.register_referee(&request), Registered::Rejected(_)));
    assert!(league.league.season.withdraw_referee(&r(1), now()).unwrap().events.is_empty());
    assert!(league.league.season.withdraw_referee(&r(9), now()).is_err());
    assert_eq!(Season::replay(&league.league.log).unwrap(), league.league.season);
}

#[test]
fn a_dispute_is_an_alert_once_and_changes_no_result() {
    let mut league = SigningLeague::new("even_odd", 2, 1);
    let held = league.league.assign().remove(0);
    let players = league.players(&held);
    let (match_id, attempt) = (held.match_id.clone(), held.attempt);
    let dispute = MatchDispute { league_id: None, match_id, attempt, reason: DisputeReason::OtherCommitment };
    for _ in 0..2 {
        league.league.run(|season| season.dispute(&players.a, &dispute, now()));
    }
    assert_eq!(league.alerts(), ["R1M1 REF01 P01 OtherCommitment"]);
    let (_, report) = league.honest(&held);
    assert_eq!(league.judge(&held, &report, &Testimonies::default()), ReportOutcome::Now);
    assert_eq!(league.alerts(), ["R1M1 REF01 P01 OtherCommitment"], "it stays until the operator decides");
    let other = MatchDispute { reason: DisputeReason::BrokenDraw, ..dispute.clone() };
    league.league.run(|season| season.dispute(&players.b, &other, now()));
    assert!(league.league.season.dispute(&p(9), &dispute, now()).is_err());
    league.league.run(|season| season.resolve(&m("R1M1"), DisputeDecision::Reject, now()));
    assert_eq!((league.alerts(), league.league.season.referees()[0].faults), (Vec::new(), 0));
}
