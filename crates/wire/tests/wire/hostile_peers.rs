//! Hostile peers: every call ends within its limit and reads no more than the maximum answer.

use std::collections::BTreeMap;
use std::time::Duration;

use league_protocol::answer::ParsedAnswer;
use league_protocol::dialect::PeerDialect;
use league_test_agents::hostile::HostileAgent;
use league_test_agents::hostile::attack::Attack;
use league_wire::client::Client;
use league_wire::exchange::{CallError, Exchange, Failure};
use league_wire::peer_client::{OutgoingCall, Peer, PeerClient, is_acknowledged};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::support::{LONG, call, echo_player, endpoint, envelope, small};

const LIMIT: Duration = Duration::from_secs(1);
/// Allowance for a loaded machine.
const SLACK: Duration = Duration::from_secs(3);
/// Bytes that two socket buffers may hold beside what the client reads.
const BUFFERS: usize = 16 * 1024 * 1024;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum CallOutcome {
    Late,
    TooLong,
    Broken,
    Unreadable,
    Answer,
}

impl CallOutcome {
    fn of(result: &Result<Exchange, CallError>) -> Self {
        match result {
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

fn expected(attack: Attack) -> CallOutcome {
    match attack {
        Attack::Silent | Attack::LateBody | Attack::Dribbles | Attack::SaysLonger | Attack::OnlyPings => {
            CallOutcome::Late
        }
        Attack::Endless | Attack::TooLong => CallOutcome::TooLong,
        Attack::HangsUp | Attack::Resets | Attack::Flaps => CallOutcome::Broken,
        Attack::NotText
        | Attack::SaysShorter
        | Attack::Inflates
        | Attack::TwoResults
        | Attack::Redirects
        | Attack::Nested => CallOutcome::Unreadable,
        Attack::OldHttp
        | Attack::OtherMatch
        | Attack::OtherName
        | Attack::ResultAndError
        | Attack::DoubledKeys
        | Attack::SecondAnswer => CallOutcome::Answer,
    }
}

/// Runs `what` with every attack concurrently and checks time and bytes of each.
async fn with_each<F>(work: impl Fn(Attack, HostileAgent) -> F) -> BTreeMap<Attack, CallOutcome>
where
    F: Future<Output = (Attack, HostileAgent, CallOutcome)> + Send + 'static,
{
    let mut all = JoinSet::new();
    for attack in Attack::ALL {
        let work = work(attack, HostileAgent::open(attack).unwrap());
        all.spawn(async move {
            let started = Instant::now();
            let (attack, hostile_agent, outcome) = work.await;
            assert!(started.elapsed() < LIMIT + SLACK, "{attack:?} took {:?}", started.elapsed());
            assert!(hostile_agent.pushed() < BUFFERS, "{attack:?} got rid of {} bytes", hostile_agent.pushed());
            assert_eq!(hostile_agent.followed(), 0, "{attack:?} sent us elsewhere, and we went");
            (attack, outcome)
        });
    }
    all.join_all().await.into_iter().collect()
}

#[tokio::test]
async fn a_call_to_a_hostile_peer_ends_in_time_with_a_bounded_answer() {
    let client = Client::default();
    let outcome = with_each(|attack, hostile_agent| {
        let client = client.clone();
        async move {
            let result = call(&client, &hostile_agent.endpoint().parse().unwrap(), LIMIT).await;
            let outcome = CallOutcome::of(&result);
            if let Ok(exchange) = result {
                assert!(exchange.body.len() <= 64 * 1024, "{attack:?}");
            }
            (attack, hostile_agent, outcome)
        }
    })
    .await;
    let expected: BTreeMap<_, _> = Attack::ALL.map(|attack| (attack, expected(attack))).into();
    assert_eq!(outcome, expected);
    // The client still works with an honest peer.
    let good = echo_player().await;
    assert_eq!(call(&client, &endpoint(good.address), LONG).await.unwrap().status, 200);
}

#[tokio::test]
async fn the_search_for_a_dialect_does_not_extend_the_limit_with_a_hostile_peer() {
    let peer_client = PeerClient::default();
    with_each(|attack, hostile_agent| {
        let peer_client = peer_client.clone();
        async move {
            let (endpoint, dialect) = (hostile_agent.endpoint().parse().unwrap(), PeerDialect::default());
            let (envelope, call, mut tries) = (envelope("test"), small(), Vec::new());
            let peer = Peer { endpoint: &endpoint, dialect: &dialect, proven: false };
            let message = OutgoingCall { envelope: &envelope, call: &call, body: None, limit: LIMIT, notice: false };
            peer_client.send(peer, message, &is_acknowledged, &mut tries).await;
            assert!(hostile_agent.asked() <= 16, "{attack:?} was asked {} times", hostile_agent.asked());
            let outcome = tries.last().map_or(CallOutcome::Late, |last| CallOutcome::of(&last.result));
            (attack, hostile_agent, outcome)
        }
    })
    .await;
}

#[tokio::test]
async fn an_unsolicited_answer_does_not_answer_the_next_request() {
    let (client, hostile_agent) = (Client::default(), HostileAgent::open(Attack::SecondAnswer).unwrap());
    let endpoint = hostile_agent.endpoint().parse().unwrap();
    for _ in 0..10 {
        let answer = call(&client, &endpoint, LONG).await.unwrap();
        let text = String::from_utf8(answer.body.to_vec()).unwrap();
        assert!(!text.contains("odd"), "{text}");
    }
}
