use super::*;
use crate::session::active_matches::MAX_ACTIVE;
use crate::session::played::MAX_REMEMBERED;
use league_protocol::message::standings::PlayerRecord;

#[test]
fn the_sums_are_those_of_the_matches() {
    let mut session = session();
    let kinds = [
        (ResultStatus::Win, Some(me())),
        (ResultStatus::TechnicalLoss, Some(me())),
        (ResultStatus::Win, Some(opponent())),
        (ResultStatus::TechnicalLoss, Some(opponent())),
        (ResultStatus::TechnicalLoss, None),
        (ResultStatus::Draw, None),
    ];
    for ((status, winner), round) in kinds.into_iter().zip(1..) {
        session.is_sent(&ended(&first_of(round), status, winner.as_ref()));
    }
    assert_eq!(session.history().record(), PlayerRecord { wins: 2, losses: 3, draws: 1, points: 7 });
    assert_eq!(session.history().against(&opponent()).count(), 6);
    assert_eq!(session.history().against(&me()).count(), 0);
    assert_eq!(session.player_state(None).matches_played, 6);
}

#[test]
fn a_player_without_a_league_id_uses_that_of_the_referee() {
    let mut session = session_of(PlayerIdentity { league_id: None, ..identity(false) });
    for named in [Some(league()), Some("elsewhere".parse().unwrap()), Some(league())] {
        session.is_sent(&GameOver { league_id: named, ..won(&first_of(1)) });
    }
    assert_eq!(session.history().matches().len(), 2);
    let mut named = session_of(identity(false));
    for called in [None, Some("elsewhere".parse().unwrap()), Some(league())] {
        named.is_sent(&GameOver { league_id: called, ..won(&first_of(1)) });
    }
    assert_eq!(named.history().matches().len(), 1, "the player's own league id counts");
}

#[test]
fn a_history_is_written_and_read_back() {
    let mut session = session();
    let own = session.is_invited(&first_of(1), "mine");
    session.is_sent(&proved(&first_of(1), Side::A, &own, 1));
    session.is_sent(&lost(&first_of(2)));
    session.is_sent(&GameOver { result: Some(OwnResult::Draw), ..blank(&first_of(3)) });
    let written = serde_json::to_string(session.history()).unwrap();
    assert!(written.starts_with('['), "{written}");
    assert_eq!(serde_json::from_str::<History>(&written).unwrap(), **session.history());
    let bare: History = serde_json::from_str(r#"[{"match_id":"R1M1","result":"WIN"}]"#).unwrap();
    assert_eq!((bare.record().wins, bare.record().points), (1, 0));
}

#[test]
fn the_oldest_matches_are_forgotten_first() {
    let entry = |number: usize| format!(r#"{{"league_id":"{LEAGUE}","match_id":"R{number}M1","result":"DRAW"}}"#);
    let entries: Vec<String> = (1..=MAX_REMEMBERED + 5).map(entry).collect();
    let long: History = serde_json::from_str(&format!("[{}]", entries.join(","))).unwrap();
    let mut session = PlayerSession::new("Alpha".into(), long);
    session.registered(identity(true));
    session.is_sent(&won(&MatchId::of(RoundId(1), 2)));
    let matches = session.history().matches();
    assert_eq!(matches.len(), MAX_REMEMBERED);
    assert_eq!((matches[0].match_id.as_str(), matches.last().unwrap().match_id.as_str()), ("R7M1", "R1M2"));
    session.is_sent(&won(&MatchId::of(RoundId(1), 3)));
    assert_eq!(session.history().matches().len(), MAX_REMEMBERED);
}

#[test]
fn a_full_list_of_matches_drops_finished_ones_first() {
    let mut session = session();
    let at = |number: usize| MatchId::of(RoundId(1), u32::try_from(number).unwrap());
    session.is_invited(&at(1), "first");
    session.plays(&at(2));
    session.is_sent(&won(&at(2)));
    for number in 3..=MAX_ACTIVE + 1 {
        session.is_invited(&at(number), "flood");
    }
    assert_eq!(session.is_invited(&at(1), "again"), nonce("first"), "the one that was over made room");
    session.is_asked(&at(MAX_ACTIVE + 2));
    let again = session.invited(&referee_of(&at(1)), &invitation(&at(1)), nonce("again"), Timestamp::EPOCH);
    assert!(again.unwrap_err().message.contains("is over"), "then the oldest did; the player has signed for it");
    let unsigned = session.invited(&referee_of(&at(2)), &foreign_invitation(&at(2)), nonce("new"), Timestamp::EPOCH);
    assert_eq!(unsigned.unwrap().draw_nonce, Some(nonce("new")));
}

#[test]
fn only_the_newest_positions_of_a_match_are_remembered() {
    let (mut session, match_id) = (session(), first_of(1));
    let ask = |session: &mut PlayerSession, number: u32| {
        session
            .move_requested(&referee_of(&match_id), move_call(&match_id, &number.to_string()).into())
            .unwrap()
            .answered
    };
    for number in 0..200 {
        assert_eq!(ask(&mut session, number), None);
        session.answers(&move_call(&match_id, &number.to_string()).into(), &number.to_string());
    }
    assert_eq!(ask(&mut session, 199), word("199"));
    assert_eq!(ask(&mut session, 140), word("140"));
    assert_eq!(ask(&mut session, 0), None);
}
