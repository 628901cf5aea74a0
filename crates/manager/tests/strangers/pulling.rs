//! Referees that pull: the manager never calls them, and their polls lose no match.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use league_core::season::Season;
use league_core::season::agent::RefereeCondition;
use league_core::season::config::LeagueConfig;
use league_manager::{ManagerSettings, RateSettings};
use league_protocol::message::start_match::MatchLimits;
use league_test_agents::player::Plan;
use league_test_agents::player::dialect::{PlayerDialect, Speech};
use league_test_agents::post::Posted;
use league_wire::rate::Rate;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep, timeout};

use crate::hostile::caller::{Caller, admitted, code};
use crate::league::{League, forfeits};

const LIMIT: Duration = Duration::from_secs(30);
/// A poll is open for five of these, and a referee may be silent for three.
const CHECK: Duration = Duration::from_millis(200);

fn settings() -> ManagerSettings {
    ManagerSettings { referee_check_interval: CHECK, ..ManagerSettings::default() }
}

/// The referees that reported a match.
fn reporting(season: &Season) -> BTreeSet<String> {
    let rounds = season.scheduled_rounds();
    let matches = rounds.iter().flat_map(|round| &round.matches);
    let of = |match_id| season.referees().iter().find(|referee| season.has_reported(&referee.id, match_id));
    matches.filter_map(|game| Some(of(&game.match_id)?.id.to_string())).collect()
}

fn is_complete(season: &Season) -> bool {
    let rounds = season.scheduled_rounds();
    let mut matches = rounds.iter().flat_map(|round| &round.matches);
    matches.all(|game| season.outcome(&game.match_id).is_some())
}

/// A referee that pulls, led by hand. It is never called, so it gives no endpoint.
pub(crate) struct ByHand {
    pub(crate) caller: Caller,
    pub(crate) id: String,
    pub(crate) token: String,
}

impl ByHand {
    pub(crate) async fn register(league: &League, name: &str) -> Self {
        let caller = league.caller();
        let answer = Self::registration(&caller, name, None).await;
        let (id, token) = admitted(&answer);
        Self { caller, id, token }
    }

    async fn registration(caller: &Caller, name: &str, token: Option<&str>) -> Posted {
        let meta = json!({
            "display_name": name, "version": "1.0.0", "game_types": ["even_odd"], "pulls": true,
            "max_concurrent_matches": 2, "pass_scheme": "hmac-sha256",
        });
        caller.call("register_referee", &format!("referee:{name}"), token, json!({ "referee_meta": meta })).await
    }

    async fn poll(&self, fields: Value) -> Posted {
        self.caller.call("next_match", &format!("referee:{}", self.id), Some(&self.token), fields).await
    }

    /// The match and attempt that a poll brings.
    pub(crate) async fn next(&self, fields: Value) -> Option<(String, u64)> {
        let answer = self.poll(fields).await.json();
        let order = &answer["result"]["start_match"];
        Some((order["match_id"].as_str()?.to_owned(), order["attempt"].as_u64()?))
    }

    pub(crate) async fn first(&self) -> (String, u64) {
        timeout(LIMIT, async {
            loop {
                if let Some(found) = self.next(json!({})).await {
                    return found;
                }
            }
        })
        .await
        .unwrap()
    }
}

/// A way to the manager that loses the first `losses` answers that hand out a match.
async fn lossy_way(url: &str, losses: usize) -> (String, Arc<AtomicUsize>) {
    let target = url.strip_prefix("http://").unwrap().split('/').next().unwrap().to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let lost = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&lost);
    tokio::spawn(async move {
        while let Ok((near, _)) = listener.accept().await {
            let far = TcpStream::connect(&target).await.unwrap();
            let lost = Arc::clone(&counted);
            tokio::spawn(async move {
                let ((mut from_near, mut to_near), (mut from_far, mut to_far)) = (near.into_split(), far.into_split());
                tokio::spawn(async move { drop(tokio::io::copy(&mut from_near, &mut to_far).await) });
                let mut bytes = vec![0; 64 * 1024];
                while let Ok(length @ 1..) = from_far.read(&mut bytes).await {
                    let text = String::from_utf8_lossy(&bytes[..length]);
                    if text.contains(r#""status":"MATCH""#) && lost.load(Ordering::Relaxed) < losses {
                        lost.fetch_add(1, Ordering::Relaxed);
                        return;
                    }
                    if to_near.write_all(&bytes[..length]).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    (format!("http://{address}/mcp"), lost)
}

#[tokio::test]
async fn a_league_is_played_by_referees_that_only_pull() {
    let league = League::of(6, 2, settings()).await;
    let (_, one) = league.pulling_referee("One", &league.url).await;
    let (_, other) = league.pulling_referee("Other", &league.url).await;
    let _players = league.join(&["A", "B", "C", "D", "E", "F"]).await;
    let season = league.play().await;
    assert!(is_complete(&season));
    assert_eq!((forfeits(&season), reporting(&season).len()), (0, 2));
    assert!(season.referees().iter().all(|referee| referee.profile.endpoint == "pull://localhost"));
    // They hear that the league is over.
    timeout(LIMIT, async { (one.await.unwrap(), other.await.unwrap()) }).await.unwrap();
}

#[tokio::test]
async fn referees_that_pull_and_referees_that_are_called_share_a_league() {
    let league = League::of(6, 2, settings()).await.with_referee().await;
    let _pulling = league.pulling_referee("Pulling", &league.url).await;
    let _players = league.join(&["A", "B", "C", "D", "E", "F"]).await;
    let season = league.play().await;
    assert!(is_complete(&season));
    assert_eq!((forfeits(&season), reporting(&season).len()), (0, 2));
}

#[tokio::test]
async fn a_match_is_not_lost_with_the_answer_of_a_poll() {
    let league = League::of(4, 1, settings()).await;
    let (way, lost) = lossy_way(&league.url, 5).await;
    let _referee = league.pulling_referee("Unlucky", &way).await;
    let _players = league.join(&["A", "B", "C", "D"]).await;
    let season = league.play().await;
    assert!(is_complete(&season));
    assert_eq!((forfeits(&season), lost.load(Ordering::Relaxed)), (0, 5));
    assert_eq!(season.referees()[0].condition(), RefereeCondition::Active, "no match was taken from it");
}

#[tokio::test]
async fn the_same_poll_brings_the_same_match_until_the_referee_says_that_it_has_it() {
    let league = League::of(4, 1, settings()).await;
    let referee = ByHand::register(&league, "By hand").await;
    let _players = league.join(&["A", "B", "C", "D"]).await;
    let polling = async {
        let first = referee.first().await;
        assert_eq!(referee.next(json!({})).await, Some(first.clone()));
        let holding = json!({ "holding": { &first.0: first.1 } });
        let second = referee.next(holding.clone()).await.unwrap();
        assert_ne!(second, first);
        assert_eq!(referee.next(holding).await, Some(second));
    };
    tokio::select! {
        () = league.conduct() => panic!("no match was played"),
        () = polling => {}
    }
}

#[tokio::test]
async fn a_newer_poll_ends_the_older_one_and_no_poll_is_open_for_long() {
    let league = League::of(2, 1, settings()).await;
    let referee = ByHand::register(&league, "By hand").await;
    let began = Instant::now();
    let polling = async {
        let (older, newer) = tokio::join!(
            async {
                let answer = referee.poll(json!({})).await;
                (answer, began.elapsed())
            },
            async {
                sleep(CHECK).await;
                referee.poll(json!({})).await
            }
        );
        assert_eq!(older.0.json()["result"]["status"], "WAIT");
        assert!(older.1 < 4 * CHECK, "{:?}", older.1);
        assert_eq!(newer.json()["result"]["status"], "WAIT");
        assert!((5 * CHECK..LIMIT / 2).contains(&began.elapsed()), "{:?}", began.elapsed());
    };
    tokio::select! {
        () = league.conduct() => panic!("there are no players"),
        () = polling => {}
    }
}

#[tokio::test]
async fn only_a_referee_that_pulls_may_poll() {
    let league = League::of(2, 2, settings()).await.with_referee().await;
    let referee = ByHand::register(&league, "By hand").await;
    let wrong = ByHand { token: format!("{}x", referee.token), id: referee.id.clone(), caller: league.caller() };
    assert_eq!(code(&wrong.poll(json!({})).await), "E012");
    let (id, token) = admitted(&league.caller().register("player", "A", "http://127.0.0.1:9/mcp", None).await);
    let answer = league.caller().call("next_match", &format!("player:{id}"), Some(&token), json!({})).await;
    assert_eq!(code(&answer), "E013");
    let called = league.caller().register("referee", "Called", "http://127.0.0.1:10/mcp", None).await;
    let (id, token) = admitted(&called);
    let answer = league.caller().call("next_match", &format!("referee:{id}"), Some(&token), json!({})).await;
    assert_eq!(code(&answer), "E010");
}

#[tokio::test]
async fn a_referee_that_stops_polling_loses_its_matches_within_its_limit() {
    let league = League::of(2, 1, settings()).await;
    let referee = ByHand::register(&league, "Silent").await;
    let _players = league.join(&["A", "B"]).await;
    let coming = async {
        let taken = referee.first().await;
        let began = Instant::now();
        let _other = league.pulling_referee("Reliable", &league.url).await;
        let handle = league.handle();
        timeout(LIMIT, async {
            while !handle.read(|season, _| is_complete(season)).await.unwrap() {
                sleep(CHECK / 4).await;
            }
        })
        .await
        .unwrap();
        // Silence, the next look of the manager, and a match.
        assert!(began.elapsed() < 15 * CHECK, "{:?}", began.elapsed());
        let answer = referee.poll(json!({ "holding": { taken.0: taken.1 } })).await;
        assert!(["E013", ""].contains(&code(&answer).as_str()), "{answer:?}");
    };
    let (season, ()) = tokio::join!(league.play(), coming);
    assert_eq!(forfeits(&season), 0);
    assert_eq!(season.referees()[0].condition(), RefereeCondition::Lost);
}

#[tokio::test]
async fn a_referee_that_hoards_its_matches_loses_them() {
    let limits = MatchLimits {
        game_join_ack_timeout_sec: 0.2,
        move_timeout_sec: 0.2,
        game_over_timeout_sec: 0.1,
        max_retries: 1,
        base_delay_sec: 0.0,
        ..MatchLimits::default()
    };
    let rules = LeagueConfig { limits, ..LeagueConfig::even_odd("league".parse().unwrap()) };
    let league = League::under(rules, 4, 2, settings()).await;
    let hoarder = ByHand::register(&league, "Hoarder").await;
    let (_, work) = league.pulling_referee("Reliable", &league.url).await;
    let _players = league.join(&["A", "B", "C", "D"]).await;
    let hoarding = async {
        let mut holding = serde_json::Map::new();
        loop {
            if let Some((match_id, attempt)) = hoarder.next(json!({ "holding": holding })).await {
                holding.insert(match_id, attempt.into());
            }
        }
    };
    let season = tokio::select! {
        season = league.play_within(3 * LIMIT) => season,
        () = hoarding => unreachable!("it goes on for ever"),
    };
    assert!(is_complete(&season));
    assert_eq!((forfeits(&season), reporting(&season)), (0, BTreeSet::from([String::from("REF02")])));
    work.abort();
}

#[tokio::test]
async fn a_match_that_is_given_back_goes_to_another_referee_at_once() {
    let slow = ManagerSettings { referee_check_interval: Duration::from_secs(5), ..ManagerSettings::default() };
    let league = League::of(2, 2, slow).await;
    let leaving = ByHand::register(&league, "Leaving").await;
    let (_, work) = league.pulling_referee("Staying", &league.url).await;
    let _players = league.join(&["A", "B"]).await;
    let giving_back = async {
        let taken = leaving.first().await;
        let began = Instant::now();
        leaving.poll(json!({ "returned": { taken.0: taken.1 }, "leaving": true })).await;
        timeout(LIMIT, work).await.unwrap().unwrap();
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    };
    let (season, ()) = tokio::join!(league.play(), giving_back);
    assert_eq!((forfeits(&season), reporting(&season)), (0, BTreeSet::from([String::from("REF02")])));
}

#[tokio::test]
async fn a_referee_that_leaves_gives_back_matches_that_it_has_not_taken() {
    let slow = ManagerSettings { referee_check_interval: Duration::from_secs(5), ..ManagerSettings::default() };
    let league = League::of(6, 2, slow).await;
    let leaving = ByHand::register(&league, "Leaving").await;
    let staying = ByHand::register(&league, "Staying").await;
    let _players = league.join(&["A", "B", "C", "D", "E", "F"]).await;
    let polling = async {
        let own = leaving.first().await;
        let other = staying.first().await;
        let began = Instant::now();
        // It has two matches, and the answer with the second order was lost.
        leaving.poll(json!({ "leaving": true, "holding": { &own.0: own.1 } })).await;
        let next = staying.next(json!({ "holding": { &other.0: other.1 } })).await.unwrap();
        assert!(next.0 != own.0 && next.1 == 2, "{next:?}");
        leaving.poll(json!({ "leaving": true })).await;
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
        let season = league.season().await;
        let known = season.referees().iter().find(|known| known.id.to_string() == leaving.id).unwrap();
        assert_eq!((known.running, known.lost), (0, false), "the operator need not look for it");
        assert!(known.is_absent());
    };
    tokio::select! {
        () = league.conduct() => panic!("no match was played"),
        polled = timeout(LIMIT, polling) => polled.unwrap(),
    }
}

#[tokio::test]
async fn matches_that_a_referee_does_not_have_cost_nothing_when_it_returns_them() {
    let rates = RateSettings { questions: Rate::new(1, 3), ..RateSettings::default() };
    let league = League::of(2, 2, ManagerSettings { rates, ..settings() }).await;
    let referee = ByHand::register(&league, "Liar").await;
    let returned: serde_json::Map<_, _> = (1..2000).map(|number| (format!("R1M{number}"), json!(1))).collect();
    let returning = async {
        for _ in 0..3 {
            assert_eq!(
                referee.poll(json!({ "returned": returned, "leaving": true })).await.json()["result"]["status"],
                "WAIT"
            );
        }
        assert_eq!(code(&referee.poll(json!({ "returned": returned, "leaving": true })).await), "E014");
        assert_eq!(code(&referee.poll(json!({})).await), "E014", "a referee that leaves need not ask in a loop");
    };
    timeout(LIMIT, returning).await.unwrap();
}

#[tokio::test]
async fn a_name_that_polls_is_not_given_to_another_referee() {
    let league = League::of(2, 1, settings()).await;
    let referee = ByHand::register(&league, "By hand").await;
    let polling = async {
        let registering = async {
            sleep(CHECK).await;
            let caller = league.caller();
            let stranger = ByHand::registration(&caller, "By hand", None).await;
            assert_eq!(code(&stranger), "E014", "{stranger:?}");
            assert!(stranger.text.contains("choose another --name"), "{stranger:?}");
            let owner = ByHand::registration(&caller, "By hand", Some(&referee.token)).await;
            assert_eq!(admitted(&owner).0, referee.id);
        };
        tokio::join!(referee.poll(json!({})), registering)
    };
    tokio::select! {
        () = league.conduct() => panic!("there are no players"),
        _ = polling => {}
    }
}

#[tokio::test]
async fn a_player_that_posts_its_answers_does_not_stop_a_league_whose_referees_all_pull() {
    let limits = MatchLimits {
        game_join_ack_timeout_sec: 0.2,
        move_timeout_sec: 0.2,
        game_over_timeout_sec: 0.1,
        max_retries: 1,
        base_delay_sec: 0.0,
        ..MatchLimits::default()
    };
    let rules = LeagueConfig { limits, ..LeagueConfig::even_odd("league".parse().unwrap()) };
    let league = League::under(rules, 3, 1, settings()).await;
    let _pulling = league.pulling_referee("Pulling", &league.url).await;
    let posting = Plan::new("Posting", Speech::Direct).dialect(PlayerDialect::PostsAfterwards);
    let _posting = posting.join(&league.url).await.unwrap();
    let _players = league.join(&["A", "B"]).await;
    let season = league.play().await;
    assert!(is_complete(&season));
    assert_eq!(forfeits(&season), 2, "it loses both of its matches");
    assert_eq!(season.alerts().count(), 0);
}

#[tokio::test]
async fn a_player_that_posts_its_answers_gets_a_referee_that_it_reaches() {
    let league = League::of(3, 1, settings()).await;
    let _pulling = league.pulling_referee("Pulling", &league.url).await;
    let posting = Plan::new("Posting", Speech::Direct).dialect(PlayerDialect::PostsAfterwards);
    let posting = posting.join(&league.url).await.unwrap();
    let _players = league.join(&["A", "B"]).await;
    let coming = async {
        let handle = league.handle();
        let waiting = timeout(LIMIT, async {
            loop {
                let waiting = handle.read(|season, _| season.unreachable_matches()).await.unwrap();
                if let Some((_, players)) = waiting.into_iter().next() {
                    return players;
                }
                sleep(CHECK / 4).await;
            }
        });
        assert_eq!(waiting.await.unwrap()[0].to_string(), posting.id());
        league.register_referee(None).await;
    };
    let (season, ()) = tokio::join!(league.play(), coming);
    assert!(is_complete(&season));
    assert_eq!(forfeits(&season), 0);
    let of_posting = season.scheduled_rounds();
    let of_posting = of_posting.iter().flat_map(|round| &round.matches).filter(|game| {
        season.contestants(&game.match_id).is_some_and(|of| [of.a, of.b].iter().any(|p| p.id.as_str() == posting.id()))
    });
    for game in of_posting {
        let referee = season.referees().iter().find(|referee| season.has_reported(&referee.id, &game.match_id));
        assert!(!referee.unwrap().profile.pulls, "{}", game.match_id);
    }
}
