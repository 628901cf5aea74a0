//! Hostile peers: every call ends within its limit and reads no more than the maximum answer.

use std::collections::BTreeMap;
use std::time::Duration;

use league_protocol::answer::ParsedAnswer;
use league_protocol::dialect::PeerDialect;
use league_test_agents::hostile::HostileAgent;
use league_test_agents::hostile::attack::Attack;
use league_wire::client::Client;
use league_wire::exchange::{CallError, Exchange, Failure};
use league_wire::peer_client::{OutgoingCall, Peer, PeerClient, heard};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::support::{LONG, call, endpoint, envelope, player, small};

const LIMIT: Duration = Duration::from_secs(1);
/// Allowance for a loaded machine.
const SLACK: Duration = Duration::from_secs(3);
/// Bytes that two socket buffers may hold beside what the client reads.
const BUFFERS: usize = 16 * 1024 * 1024;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Came {
    Late,
    TooLong,
    Broken,
    Unreadable,
    Answer,
}

impl Came {
    fn of(outcome: &Result<Exchange, CallError>) -> Self {
        match outcome {
            Ok(exchange) if ParsedAnswer::parse(&exchange.body).is_ok() => Self::Answer,
            Ok(_) => Self::Unreadable,
            Err(error) => match error.kind {
                Failure::TimedOut => Self::Late,
                Failure::TooLong => Self::TooLong,
                Failure::NotListening | Failure::Unreachable(_) | Failure::HungUp(_) => Self::Broken,
                Failure::Refused | Failure::Unwritable(_) => panic!("{error}"),
            },
        }
    }
}

fn expected(vice: Attack) -> Came {
    match vice {
        Attack::Silent | Attack::LateBody | Attack::Dribbles | Attack::SaysLonger | Attack::OnlyPings => Came::Late,
        Attack::Endless | Attack::TooLong => Came::TooLong,
        Attack::HangsUp | Attack::Resets | Attack::Flaps => Came::Broken,
        Attack::NotText
        | Attack::SaysShorter
        | Attack::Inflates
        | Attack::TwoResults
        | Attack::Redirects
        | Attack::Nested => Came::Unreadable,
        Attack::OldHttp
        | Attack::OtherMatch
        | Attack::OtherName
        | Attack::ResultAndError
        | Attack::DoubledKeys
        | Attack::SecondAnswer => Came::Answer,
    }
}

/// Runs `what` with every attack concurrently and checks time and bytes of each.
async fn with_each<F>(what: impl Fn(Attack, HostileAgent) -> F) -> BTreeMap<Attack, Came>
where
    F: Future<Output = (Attack, HostileAgent, Came)> + Send + 'static,
{
    let mut all = JoinSet::new();
    for vice in Attack::ALL {
        let work = what(vice, HostileAgent::open(vice).unwrap());
        all.spawn(async move {
            let started = Instant::now();
            let (vice, villain, came) = work.await;
            assert!(started.elapsed() < LIMIT + SLACK, "{vice:?} took {:?}", started.elapsed());
            assert!(villain.pushed() < BUFFERS, "{vice:?} got rid of {} bytes", villain.pushed());
            assert_eq!(villain.followed(), 0, "{vice:?} sent us elsewhere, and we went");
            (vice, came)
        });
    }
    all.join_all().await.into_iter().collect()
}

#[tokio::test]
async fn a_call_to_any_villain_ends_in_time_with_a_clear_outcome_and_a_bounded_answer() {
    let client = Client::default();
    let came = with_each(|vice, villain| {
        let client = client.clone();
        async move {
            let outcome = call(&client, &villain.endpoint().parse().unwrap(), LIMIT).await;
            let came = Came::of(&outcome);
            if let Ok(exchange) = outcome {
                assert!(exchange.body.len() <= 64 * 1024, "{vice:?}");
            }
            (vice, villain, came)
        }
    })
    .await;
    let expected: BTreeMap<_, _> = Attack::ALL.map(|vice| (vice, expected(vice))).into();
    assert_eq!(came, expected);
    // The client still works with an honest peer.
    let good = player().await;
    assert_eq!(call(&client, &endpoint(good.address), LONG).await.unwrap().status, 200);
}

#[tokio::test]
async fn looking_for_a_form_that_a_villain_understands_stretches_no_limit() {
    let speaker = PeerClient::default();
    with_each(|vice, villain| {
        let speaker = speaker.clone();
        async move {
            let (endpoint, manner) = (villain.endpoint().parse().unwrap(), PeerDialect::default());
            let (envelope, call, mut tries) = (envelope("test"), small(), Vec::new());
            let peer = Peer { endpoint: &endpoint, manner: &manner, proven: false };
            let message = OutgoingCall { envelope: &envelope, call: &call, body: None, limit: LIMIT, notice: false };
            speaker.send(peer, message, &heard, &mut tries).await;
            assert!(villain.asked() <= 16, "{vice:?} was asked {} times", villain.asked());
            let came = tries.last().map_or(Came::Late, |last| Came::of(&last.came));
            (vice, villain, came)
        }
    })
    .await;
}

#[tokio::test]
async fn an_unsolicited_answer_does_not_answer_the_next_request() {
    let (client, villain) = (Client::default(), HostileAgent::open(Attack::SecondAnswer).unwrap());
    let endpoint = villain.endpoint().parse().unwrap();
    for _ in 0..10 {
        let answer = call(&client, &endpoint, LONG).await.unwrap();
        let text = String::from_utf8(answer.body.to_vec()).unwrap();
        assert!(!text.contains("odd"), "{text}");
    }
}
