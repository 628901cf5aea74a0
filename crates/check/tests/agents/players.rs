//! Players with planted faults.

use std::sync::Arc;

use crate::support::bad_player::{Fault, start};
use crate::support::{at, failed, impatient, patient, told};

/// Each fault, and exactly the checks that must find it.
const PLANTED: &[(Fault, &[&str])] = &[
    (Fault::Declines, &["player.invitation.joins"]),
    (Fault::ChoosesInCapitals, &["player.choice.exact"]),
    (Fault::ChoosesANumber, &["player.choice.exact"]),
    (Fault::ChoosesNothing, &["player.choice.answers"]),
    (Fault::ErrorForAChoice, &["player.choice.answers"]),
    (Fault::ChangesItsMind, &["player.choice.again"]),
    (Fault::GivesUpAfterAnError, &["player.choice.after-error"]),
    (Fault::NoNonce, &["player.invitation.nonce"]),
    (Fault::OneNonce, &["player.invitation.nonce-fresh"]),
    (Fault::NewNonceEachTime, &["player.invitation.again-same"]),
    (Fault::LongNonce, &["player.invitation.nonce", "player.invitation.nonce-fresh"]),
    (Fault::NoAccept, &["player.invitation.accept"]),
    (Fault::JoinWithoutType, &["player.invitation.message-type"]),
    (Fault::JoinWithoutMatch, &["player.invitation.match-id"]),
    (Fault::JoinWithoutPlayer, &["player.invitation.player-id"]),
    (Fault::JoinWithoutArrival, &["player.invitation.arrival-timestamp"]),
    (Fault::ChoiceWithoutType, &["player.choice.message-type"]),
    (Fault::ChoiceWithoutMatch, &["player.choice.match-id"]),
    (Fault::ChoiceWithoutPlayer, &["player.choice.player-id"]),
    (Fault::RefusesSideB, &["player.invitation.side-b"]),
    (Fault::RefusesRepeats, &["player.invitation.again"]),
    (Fault::NoProtocol, &["player.envelope.protocol"]),
    (Fault::NoSender, &["player.envelope.sender"]),
    (Fault::LocalTime, &["player.envelope.timestamp"]),
    (Fault::FractionalTime, &["player.envelope.timestamp-form"]),
    (Fault::OwnConversation, &["player.envelope.conversation"]),
    (Fault::EchoesToken, &["player.secrets.echo"]),
    (Fault::TellsItsToken, &["player.secrets.state"]),
    (Fault::RefusesUnknownFields, &["player.envelope.unknown-field"]),
    (Fault::RefusesFractions, &["player.envelope.fraction"]),
    (Fault::RefusesOffsets, &["player.envelope.offset"]),
    (Fault::TakesAnyProtocol, &["player.envelope.other-protocol"]),
    (Fault::TakesAnyTime, &["player.envelope.bad-time"]),
    (Fault::NoVersion, &["player.rpc.version"]),
    (Fault::TextualIds, &["player.rpc.id-number"]),
    (Fault::NumericIds, &["player.rpc.id-text"]),
    (Fault::NullError, &["player.frame.answer-place"]),
    (Fault::OkToEverything, &["player.rpc.unknown-method"]),
    (Fault::OkToGarbage, &["player.rpc.not-json"]),
    (Fault::TakesNoMatch, &["player.rpc.wrong-params"]),
    (Fault::AnswersNotifications, &["player.rpc.notification"]),
    (Fault::NoBatches, &["player.rpc.batch"]),
    (Fault::RefusesExtraKeys, &["player.rpc.extra-key"]),
    (Fault::HtmlAnswers, &["player.http.content-type"]),
    (Fault::Created, &["player.http.status"]),
    (Fault::PageAtGet, &["player.http.get"]),
    (Fault::ReadsOnce, &["player.http.split-body"]),
    (Fault::HangsUp, &["player.http.keep-alive"]),
    (Fault::TakesEverything, &["player.bounds.oversized-refused"]),
    (Fault::LongAnswers, &["player.bounds.answers", "player.choice.answers"]),
    (Fault::FallsAtGarbage, &["player.bounds.broken-json"]),
    (Fault::FallsAtNothing, &["player.bounds.empty"]),
    (Fault::FallsAtBadText, &["player.bounds.not-utf8"]),
    (Fault::FallsAtNull, &["player.bounds.not-an-object"]),
    (Fault::FallsAtDepth, &["player.bounds.nested"]),
    (Fault::FallsAtLength, &["player.bounds.oversized"]),
    (Fault::FallsWhenLeft, &["player.bounds.hung-up"]),
    (Fault::FallsAtOtherGames, &["player.invitation.other-game"]),
    (Fault::FallsAtStrangeMatches, &["player.notice.unknown-match"]),
    (Fault::FallsAtUninvited, &["player.choice.uninvited"]),
    (Fault::RefusesGameOver, &["player.notice.forfeit", "player.notice.game-over", "player.notice.game-over-again"]),
    (Fault::CountsGameOverTwice, &["player.notice.game-over-again"]),
    (Fault::CannotReadNull, &["player.notice.forfeit"]),
    (Fault::RefusesGameError, &["player.notice.game-error"]),
    (Fault::RefusesRounds, &["player.notice.round-announcement"]),
    (Fault::RefusesStandings, &["player.notice.standings-update"]),
    (Fault::CannotReadTheLastRound, &["player.notice.round-completed"]),
    (Fault::RefusesTheEnd, &["player.notice.league-completed"]),
    (Fault::ForgetsToPlayOn, &["player.notice.plays-on"]),
    (Fault::NoHandshake, &["player.mcp.initialize"]),
    (Fault::NoTools, &["player.mcp.tools"]),
    (Fault::NoSchemas, &["player.mcp.schemas"]),
    (Fault::NoPing, &["player.mcp.ping"]),
];

/// Faults that show only with short time limits.
const SLOW: &[(Fault, &[&str])] = &[
    (Fault::NeverJoins, &["player.invitation.in-time"]),
    (Fault::JoinsLate, &["player.invitation.prompt"]),
    (Fault::NeverChooses, &["player.choice.in-time"]),
    (Fault::ChoosesLate, &["player.choice.prompt"]),
    (Fault::OneAtATime, &["player.http.idle-neighbour"]),
];

async fn each(planted: &'static [(Fault, &'static [&'static str])], options: league_check::CheckOptions) {
    let options = Arc::new(options);
    let checks = planted.iter().map(|(fault, expected)| {
        let options = Arc::clone(&options);
        async move {
            let player = start(*fault);
            let report = league_check::player(&at(&player), &options).await;
            (failed(&report) != *expected).then(|| format!("{fault:?} should fail {expected:?}:\n{}", told(&report)))
        }
    });
    let wrong: Vec<String> = futures_util::future::join_all(checks).await.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_planted_fault_is_found_and_nothing_else() {
    assert!(PLANTED.len() >= 30);
    each(PLANTED, patient()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_player_fails_the_check() {
    each(SLOW, impatient()).await;
}

#[tokio::test]
async fn two_matches_that_are_mixed_up_are_noticed() {
    let player = start(Fault::MixesMatchesUp);
    let report = league_check::player(&at(&player), &patient()).await;
    assert_eq!(failed(&report), ["player.parallel.joins", "player.parallel.kept-apart"], "{}", told(&report));
}
