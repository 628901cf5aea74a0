//! What the player signs, for whom, and that it signs one answer to each question.

use league_protocol::draw::{DrawCommitment, Signature};
use league_protocol::error::RequestError;
use league_protocol::message::evidence::DisputeReason;
use league_protocol::signature::{MoveTurn, SignedJoin, SignedMove, ViewDigest};

use super::*;
use crate::session::Evidence;
use crate::session::active_matches::MAX_ACTIVE;

pub(super) const TURN: MoveTurn = MoveTurn { attempt: 1, game: 1, turn: 1 };

pub(super) fn numbered_call(match_id: &MatchId, turn: MoveTurn) -> MoveRequest {
    let MoveTurn { attempt, game, turn } = turn;
    let call = parity_call(match_id);
    ChooseParityCall { attempt: Some(attempt), game_number: Some(game), turn: Some(turn), ..call }.into()
}

pub(super) fn numbered_move(match_id: &MatchId, board: &str, turn: MoveTurn) -> MoveRequest {
    let MoveTurn { attempt, game, turn } = turn;
    let call = move_call(match_id, board);
    GameMoveCall { attempt: Some(attempt), game_number: Some(game), turn: Some(turn), ..call }.into()
}

pub(super) fn attempt_by(match_id: &MatchId, number: u32) -> ReceivedEnvelope {
    let referee = RefereeId::numbered(number);
    from(Sender::referee(&referee), token().digest().referee_pass(&league(), match_id, &referee))
}

fn joins(session: &mut PlayerSession, head: &ReceivedEnvelope, invitation: &GameInvitation) -> Option<Signature> {
    session.invited(head, invitation, nonce("mine"), Timestamp::EPOCH).unwrap().signature
}

fn moves(session: &mut PlayerSession, head: &ReceivedEnvelope, request: MoveRequest, played: &str) -> ChosenMove {
    let asked = session.move_requested(head, request).unwrap().asked();
    session.move_chosen(head, &asked, played.into()).unwrap()
}

fn signed_join(match_id: &MatchId, commitment: Option<DrawCommitment>, own: &str) -> Signature {
    let (league, referee, nonce) = (league(), referee(), nonce(own));
    let signed = SignedJoin { league: &league, match_id, attempt: 1, referee: &referee, commitment, nonce: &nonce };
    signed.sign(&token().digest())
}

fn signed_move(match_id: &MatchId, turn: MoveTurn, view: &str, played: &str) -> Signature {
    SignedMove { league: &league(), match_id, turn, view: ViewDigest::of(view), played }.sign(&token().digest())
}

#[test]
fn a_player_signs_as_the_published_vectors_do() {
    let vectors: Vec<Value> = serde_json::from_str(include_str!("../../../tests/vectors/signatures.json")).unwrap();
    for vector in vectors {
        let token = Token::received(vector["token"].as_str().unwrap());
        let league: LeagueId = message(vector["league_id"].clone());
        let match_id: MatchId = message(vector["match_id"].clone());
        let pass = token.digest().referee_pass(&league, &match_id, &referee());
        let head = from(Sender::referee(&referee()), pass);
        let league_id = Some(league);
        let mut session = session_of(PlayerIdentity { league_id, token: Some(token), ..identity(true) });
        let signature = match vector["tool"].as_str().unwrap() {
            "handle_game_invitation" => {
                let own = nonce(vector["draw_nonce"].as_str().unwrap());
                session.invited(&head, &message(vector.clone()), own, Timestamp::EPOCH).unwrap().signature
            }
            tool => {
                let mut call = vector.clone();
                call["context"] = json!({ "state": vector["view"] });
                call["game_type"] = json!("tic_tac_toe");
                let request = match tool {
                    "choose_parity" => message::<ChooseParityCall>(call).into(),
                    _ => message::<GameMoveCall>(call).into(),
                };
                moves(&mut session, &head, request, vector["move"].as_str().unwrap()).signature
            }
        };
        assert_eq!(String::from(signature.unwrap()), vector["signature"].as_str().unwrap(), "{vector}");
    }
}

#[test]
fn a_repeated_question_gets_the_same_signature() {
    let (mut session, match_id, head) = (session(), first_of(1), referee_of(&first_of(1)));
    let expected = signed_join(&match_id, Some(SECRET.commitment()), "mine");
    for _ in 0..3 {
        assert_eq!(joins(&mut session, &head, &invitation(&match_id)), Some(expected));
    }
    for (turn, played) in [(TURN, "even"), (MoveTurn { turn: 2, ..TURN }, "odd"), (TURN, "even")] {
        for other in [played, "another choice"] {
            let chosen = moves(&mut session, &head, numbered_call(&match_id, turn), other);
            assert_eq!(chosen.played, played);
            assert_eq!(chosen.signature, Some(signed_move(&match_id, turn, "", played)));
        }
    }
}

#[test]
fn nothing_is_signed_where_a_part_is_missing_or_the_referee_shows_no_pass() {
    let (match_id, head) = (first_of(1), referee_of(&first_of(1)));
    let signs = |identity: PlayerIdentity, head: &ReceivedEnvelope, trusted: bool| {
        let mut session = session_of(identity);
        if trusted {
            let round = RoundAnnouncement { referees_show_passes: Some(false), ..announcement(1, &[(1, 2)]) };
            session.round_announced(&manager(), &round).unwrap();
        }
        let join = joins(&mut session, head, &invitation(&match_id)).is_some();
        (join, moves(&mut session, head, numbered_call(&match_id, TURN), "even").signature.is_some())
    };
    let unproven = from(Sender::referee(&referee()), Credential::new("tok-REF01-xyz"));
    let cases = [
        ("a pass", identity(true), &head, false, true),
        ("a pass, where none is needed", identity(true), &head, true, true),
        ("no pass, where none is needed", identity(true), &unproven, true, false),
        ("a league without passes", identity(false), &unproven, false, true),
        ("no token", PlayerIdentity { token: None, ..identity(false) }, &head, false, false),
        ("no league", PlayerIdentity { league_id: None, ..identity(false) }, &head, false, false),
    ];
    for (about, identity, head, trusted, expected) in cases {
        assert_eq!(signs(identity, head, trusted), (expected, expected), "{about}");
    }
    let mut session = session();
    assert_eq!(joins(&mut session, &head, &foreign_invitation(&match_id)), None, "no attempt");
    assert_eq!(moves(&mut session, &head, parity_call(&match_id).into(), "even").signature, None, "no turn");
    let declined = session.declined(&head, &invitation(&match_id), "no chess".into(), Timestamp::EPOCH).unwrap();
    assert_eq!(declined.signature, None, "declined");
    let nameless = ReceivedEnvelope::default();
    let mut without_passes = session_of(identity(false));
    assert_eq!(joins(&mut without_passes, &nameless, &invitation(&match_id)), None, "no referee");
}

#[test]
fn a_referee_without_a_pass_does_not_get_the_signature_of_another() {
    let (mut session, match_id) = (session(), first_of(1));
    let signed = moves(&mut session, &referee_of(&match_id), numbered_call(&match_id, TURN), "even");
    let round = RoundAnnouncement { referees_show_passes: Some(false), ..announcement(1, &[(1, 2)]) };
    session.round_announced(&manager(), &round).unwrap();
    let unproven = from(Sender::referee(&referee()), Credential::new("tok-REF01-xyz"));
    let again = moves(&mut session, &unproven, numbered_call(&match_id, TURN), "odd");
    assert_eq!((again.played, again.signature), (signed.played, None));
}

#[test]
fn a_match_that_began_before_a_registration_is_signed_with_the_former_token() {
    let (mut session, match_id, head) = (session(), first_of(1), referee_of(&first_of(1)));
    let before = joins(&mut session, &head, &invitation(&match_id));
    let fresh = Token::mint("P01", &[9; 32]);
    let former = vec![token().digest()];
    session.registered(PlayerIdentity { token: Some(fresh.clone()), former, ..identity(true) });
    assert_eq!(joins(&mut session, &head, &invitation(&match_id)), before);
    let chosen = moves(&mut session, &head, numbered_call(&match_id, TURN), "odd");
    assert_eq!(chosen.signature, Some(signed_move(&match_id, TURN, "", "odd")));
    let next = first_of(2);
    let head = from(Sender::referee(&referee()), fresh.digest().referee_pass(&league(), &next, &referee()));
    let view = ViewDigest::of("");
    let signed = SignedMove { league: &league(), match_id: &next, turn: TURN, view, played: "odd" };
    let chosen = moves(&mut session, &head, numbered_call(&next, TURN), "odd");
    assert_eq!(chosen.signature, Some(signed.sign(&fresh.digest())));
}

#[test]
fn a_player_signs_one_commitment_for_each_attempt() {
    let (mut session, match_id, head) = (session(), first_of(1), referee_of(&first_of(1)));
    let first = invitation(&match_id);
    let invite = |session: &mut PlayerSession, invitation: &GameInvitation, own: &str| {
        session.invited(&head, invitation, nonce(own), Timestamp::EPOCH)
    };
    let joined = invite(&mut session, &first, "mine").unwrap();
    for other in [Some(DrawCommitment([1; 32])), None] {
        let other = GameInvitation { draw_commitment: other, ..first.clone() };
        let refused = invite(&mut session, &other, "other").unwrap_err();
        assert!(refused.message.contains("another one than in the first invitation"), "{refused}");
        assert_eq!(invite(&mut session, &first, "third").unwrap(), joined);
    }
    let [Evidence::Dispute(dispute)] = &session.take_evidence()[..] else { panic!("one dispute") };
    assert_eq!((&dispute.match_id, dispute.attempt), (&match_id, 1));
    assert_eq!(dispute.reason, DisputeReason::OtherCommitment);
    let next = GameInvitation { attempt: Some(2), draw_commitment: Some(DrawCommitment([1; 32])), ..first };
    assert!(invite(&mut session, &next, "next").unwrap().signature.is_some());
}

#[test]
fn a_player_signs_one_move_for_each_turn() {
    let (mut session, match_id, head) = (session(), first_of(1), referee_of(&first_of(1)));
    let [board, other] = ["X........", ".X......."];
    let chosen = moves(&mut session, &head, numbered_move(&match_id, board, TURN), "5");
    let refused = |fault: RequestError| assert!(fault.message.contains("shown with another state"), "{fault}");
    refused(session.move_requested(&head, numbered_move(&match_id, other, TURN)).unwrap_err());
    assert_eq!(moves(&mut session, &head, numbered_move(&match_id, board, TURN), "9"), chosen);
    // Two requests for one turn while the strategy thinks: the first answer counts.
    let later = MoveTurn { turn: 2, ..TURN };
    let one = session.move_requested(&head, numbered_move(&match_id, board, later)).unwrap().asked();
    let two = session.move_requested(&head, numbered_move(&match_id, other, later)).unwrap().asked();
    assert!(session.move_chosen(&head, &one, "6".into()).is_ok());
    refused(session.move_chosen(&head, &two, "7".into()).unwrap_err());
    // The signature does not name the referee, so this holds for every referee.
    refused(session.move_requested(&attempt_by(&match_id, 2), numbered_move(&match_id, other, TURN)).unwrap_err());
    let elsewhere = moves(&mut session, &attempt_by(&match_id, 2), numbered_move(&match_id, board, TURN), "9");
    assert_eq!(elsewhere, chosen);
}

#[test]
fn a_referee_cannot_make_the_player_forget_what_it_signed() {
    let (mut session, match_id, head) = (session(), first_of(1), referee_of(&first_of(1)));
    assert!(joins(&mut session, &head, &invitation(&match_id)).is_some());
    moves(&mut session, &head, numbered_call(&match_id, TURN), "even");
    let other = attempt_by(&match_id, 2);
    let second = GameInvitation { attempt: Some(2), ..invitation(&match_id) };
    let joined = joins(&mut session, &other, &second);
    for attempt in 2..20 {
        let flood = GameInvitation { attempt: Some(attempt), ..invitation(&match_id) };
        assert!(joins(&mut session, &head, &flood).is_some(), "{attempt}");
    }
    for number in 0..3 * u32::try_from(MAX_ACTIVE).unwrap() {
        session.is_invited(&MatchId::of(RoundId(2), 1 + number), "flood");
    }
    let again = session.invited(&head, &invitation(&match_id), nonce("new"), Timestamp::EPOCH).unwrap_err();
    assert!(again.message.contains("is over"), "{again}");
    assert!(session.move_requested(&head, numbered_call(&match_id, TURN)).is_err());
    let mut session = super::session();
    assert_eq!(joins(&mut session, &other, &second), joined);
    for attempt in 1..20 {
        joins(&mut session, &head, &GameInvitation { attempt: Some(attempt), ..invitation(&match_id) });
    }
    assert_eq!(joins(&mut session, &other, &second), joined, "another referee's attempt is kept");
}

#[test]
fn a_player_signs_a_bounded_number_of_moves() {
    let (mut session, match_id, head) = (session(), first_of(1), referee_of(&first_of(1)));
    let mut signed = 0;
    for turn in 1..1000 {
        let asked = session.move_requested(&head, numbered_call(&match_id, MoveTurn { turn, ..TURN })).unwrap().asked();
        signed += u32::from(session.move_chosen(&head, &asked, "even".into()).is_ok());
    }
    assert_eq!(signed, 512);
    assert_eq!(moves(&mut session, &head, numbered_call(&match_id, TURN), "odd").played, "even");
}
