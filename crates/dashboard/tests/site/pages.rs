//! Every page, without a script.

use std::collections::{BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use league_core::season::config::LeagueConfig;
use league_dashboard::{DashboardSettings, WaitingRoom};
use league_protocol::id::RefereeId;

use crate::leagues::{GeneratedLeague, league, now, played};
use crate::markup;
use crate::support::{Site, begun};

/// The limits for 95 % of the answers.
const FIRST_PAGE: Duration = Duration::from_millis(50);
const OTHER_PAGES: Duration = Duration::from_millis(100);

/// Follows all links and checks every page.
pub(crate) async fn walk(site: &Site, most: usize) -> BTreeSet<String> {
    let mut seen = BTreeSet::from([String::from("/")]);
    let mut ahead = VecDeque::from([String::from("/")]);
    while let Some(path) = ahead.pop_front() {
        let answer = site.get(&path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        if !answer.header("content-type").unwrap().starts_with("text/html") {
            continue;
        }
        markup::check(&answer.body);
        assert!(answer.body.len() < 100_000, "{path} has {} bytes", answer.body.len());
        for link in markup::links(&answer.body) {
            if seen.len() < most && seen.insert(link.clone()) {
                ahead.push_back(link);
            }
        }
    }
    seen
}

#[tokio::test]
async fn every_link_of_every_page_leads_somewhere() {
    let site = Site::of(&played(5, 3).events).await;
    let seen = walk(&site, 500).await;
    for path in "/crosstable /schedule /agents /log /players/P05 /matches/R1M1 /export/results.csv".split(' ') {
        assert!(seen.contains(path), "{path} is not in {seen:?}");
    }
}

#[tokio::test]
async fn the_first_page_tells_how_to_join_until_the_league_begins() {
    let room = WaitingRoom {
        addresses: vec![String::from("http://192.168.1.10:8000/mcp"), String::from("http://<b>.local:8000/mcp")],
        player: String::from("league player --manager http://192.168.1.10:8000/mcp"),
        referee: String::from("league referee --join-key KEY"),
        notes: vec![String::from("KEY is the league's join key.")],
        expect_players: Some(30),
        expect_referees: None,
        window: Some((Instant::now(), Duration::from_secs(60))),
    };
    let settings = || DashboardSettings { room: Some(room.clone()), ..DashboardSettings::default() };
    let opened = GeneratedLeague::open(LeagueConfig::even_odd(league()), 1);
    let site = Site::with(&opened.events, settings()).await;
    walk(&site, 100).await;
    let page = site.get("/").await.body;
    for part in ["id=\"join\"", "0 of 30", "http://&lt;b&gt;.local", "league player --manager", "--join-key KEY"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("0 of 0") && !page.contains("<b>.local"), "{page}");
    for part in ["data-phase=\"waiting\"", "Waiting for 30 players.", "id=\"closes\"", "No player has registered yet."]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!site.get("/at/1/").await.body.contains("id=\"join\""), "no player joins in the past");
    let site = Site::with(&begun(4, 1).events, settings()).await;
    let page = site.get("/").await.body;
    assert!(!page.contains("id=\"join\"") && !page.contains("of 30"), "{page}");
}

#[tokio::test]
async fn a_registration_window_that_has_ended_is_not_shown_any_more() {
    let ended = Instant::now().checked_sub(Duration::from_secs(5)).unwrap();
    let room = WaitingRoom { window: Some((ended, Duration::from_secs(1))), ..WaitingRoom::default() };
    let opened = GeneratedLeague::open(LeagueConfig::even_odd(league()), 1);
    let settings = DashboardSettings { room: Some(room), ..DashboardSettings::default() };
    let page = Site::with(&opened.events, settings).await.get("/").await.body;
    assert!(page.contains("Waiting for enough players and referees.") && !page.contains("id=\"closes\""), "{page}");
}

#[tokio::test]
async fn the_pages_work_before_the_league_begins() {
    let opened = GeneratedLeague::open(LeagueConfig::even_odd(league()), 1);
    let site = Site::of(&opened.events).await;
    walk(&site, 100).await;
    let page = site.get("/").await.body;
    assert!(page.contains("No player has registered yet") && page.contains("Registration is open"), "{page}");
    let site = Site::of(&begun(4, 0).events).await;
    walk(&site, 100).await;
    assert!(site.get("/").await.body.contains("Player 4 'quoted'"));
}

#[tokio::test]
async fn the_first_page_shows_the_standings_and_later_the_champion() {
    let site = Site::of(&begun(6, 7).events).await;
    let page = site.get("/").await.body;
    for part in ["status", "standings", "round", "chart", "news"] {
        assert!(page.contains(&format!("id=\"{part}\"")), "{part}");
    }
    assert!(page.contains("<polyline") && page.contains("Running"), "{page}");
    assert!(!page.contains("id=\"champion\""));
    for part in ["id=\"headline\"", "Not decided yet: ", "id=\"podium\"", "data-place=\"1\""] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let over = played(6, 7);
    let site = Site::of(&over.events).await;
    let champion = over.season.champion().unwrap();
    let page = site.get("/").await.body;
    assert!(page.contains("class=\"up\"") && page.contains("class=\"down\""), "places changed: {page}");
    assert!(!page.contains("Not decided yet"), "{page}");
    assert!(page.contains("id=\"champion\"") && page.contains(&format!("with {} points", champion.points)), "{page}");
}

#[tokio::test]
async fn a_match_shows_its_draw_with_everything_that_proves_it() {
    let generated = played(6, 7);
    let site = Site::of(&generated.events).await;
    let (match_id, record) = generated
        .events
        .iter()
        .filter_map(crate::leagues::reported)
        .find(|(_, record)| record.proof.is_some())
        .unwrap();
    let page = site.get(&format!("/matches/{match_id}")).await.body;
    let proof = record.proof.as_ref().unwrap();
    for value in [String::from(proof.commitment), String::from(proof.secret), String::from(proof.seal.unwrap())] {
        assert!(page.contains(&value), "{value}");
    }
    assert!(page.contains("id=\"verify\"") && page.contains("id=\"verdict\""));
}

#[tokio::test]
async fn a_large_league_is_paged_and_searched_and_no_page_is_large() {
    // The limits hold for a release build and a league in progress.
    let matches = if cfg!(debug_assertions) { 600 } else { 60_000 };
    let site = Site::of(&begun(1000, matches).events).await;
    let script = site.get("/static/live.js").await.body.len() + site.get("/static/style.css").await.body.len();
    let paths = "/ /?page=20 /crosstable /crosstable?page=3&across=9 /schedule /schedule?round=1 /agents?page=2 /log /players/P500 /projector";
    for path in paths.split(' ') {
        let mut spans = Vec::new();
        let mut answer = site.get(path).await;
        for _ in 0..20 {
            let began = Instant::now();
            answer = site.get(path).await;
            spans.push(began.elapsed());
        }
        spans.sort_unstable();
        let most = spans[spans.len() * 95 / 100];
        eprintln!("{path}: {most:?} for 95 of 100");
        let limit = if path == "/" { FIRST_PAGE } else { OTHER_PAGES };
        assert!(cfg!(debug_assertions) || most < limit, "{path} took {most:?}");
        assert_eq!(answer.status, 200);
        markup::check(&answer.body);
        assert!(answer.body.len() + script < 100_000, "{path}: {}", answer.body.len());
    }
    let last = site.get("/?page=20").await.body;
    assert!(last.contains("Page 20 of 20") && last.matches("<tr id=\"row-").count() == 50);
    let found = site.get("/?q=player+777").await.body;
    assert_eq!(found.matches("<tr id=\"row-").count(), 1, "{found}");
    assert!(found.contains("row-P777"));
}

#[tokio::test]
async fn a_page_that_does_not_exist_is_answered_with_404() {
    let site = Site::of(&begun(4, 2).events).await;
    let paths = "/nothing /players/P99 /players/%2e /matches/R9M9 /matches/x /at/9999/ /at/x/ /api/v1/x";
    for path in paths.split(' ') {
        assert_eq!(site.get(path).await.status, 404, "{path}");
    }
    assert_eq!(site.post("/", &[], "").await.status, 405);
    assert_eq!(site.send("DELETE", "/", &[], "").await.status, 404);
}

#[tokio::test]
async fn a_page_loads_nothing_from_other_sites_and_answers_head_requests() {
    let site = Site::of(&begun(4, 2).events).await;
    let page = site.get("/").await;
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    let head = site.send("HEAD", "/", &[], "").await;
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    let foreign = site.send("GET", "/", &["origin: http://elsewhere.example"], "").await;
    assert_eq!(foreign.status, 403);
}

#[tokio::test]
async fn the_alerts_for_prometheus_name_figures_that_exist() {
    const RULES: &str = include_str!("../../../../deploy/prometheus/rules.yaml");
    let text = Site::of(&begun(6, 7).events).await.get("/metrics").await.body;
    let expressions: Vec<&str> = RULES.lines().filter_map(|line| line.trim().strip_prefix("expr: ")).collect();
    assert!(expressions.len() > 5, "the alerts are gone");
    for expression in expressions {
        let words = expression.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let figures: Vec<&str> = words.filter(|word| word.starts_with("league_")).collect();
        assert!(!figures.is_empty() || expression.starts_with("up{"), "{expression}");
        for figure in figures {
            assert!(text.contains(&format!("# TYPE {figure} ")), "{figure} in {expression}");
        }
        // The values of labels; `job` is Prometheus's own.
        for (label, values) in expression.split('{').skip(1).filter_map(|rest| rest.split_once(['=', '}'])) {
            let values = values.trim_start_matches('~').split('"').nth(1).unwrap_or_default();
            for value in values.split('|').filter(|_| label != "job") {
                assert!(text.contains(&format!("{label}=\"{value}\"")), "{label}={value} in {expression}");
            }
        }
    }
}

/// Every figure has the league as its first label.
fn figure(text: &str, name: &str) -> Option<f64> {
    let start = format!("{name}{{league=\"{}\"}} ", league());
    text.lines().find_map(|line| line.strip_prefix(&start)?.parse().ok())
}

#[tokio::test]
async fn a_withdrawn_referee_is_neither_active_nor_lost() {
    let mut generated = begun(4, 0);
    let counted = |text: &str| ["", "_active", "_lost"].map(|end| figure(text, &format!("league_referees{end}")));
    let text = Site::of(&generated.events).await.get("/metrics").await.body;
    assert_eq!(counted(&text), [Some(2.0), Some(2.0), Some(0.0)], "{text}");
    for number in [1, 2] {
        generated.apply(generated.season.lose_referee(&RefereeId::numbered(number), now()).unwrap().events);
    }
    let text = Site::of(&generated.events).await.get("/metrics").await.body;
    assert_eq!(counted(&text), [Some(2.0), Some(0.0), Some(2.0)], "{text}");
    generated.apply(generated.season.withdraw_referee(&RefereeId::numbered(1), now()).unwrap().events);
    let text = Site::of(&generated.events).await.get("/metrics").await.body;
    assert_eq!(counted(&text), [Some(2.0), Some(0.0), Some(1.0)], "{text}");
}

#[tokio::test]
async fn the_metrics_are_in_the_format_of_prometheus() {
    let generated = begun(6, 7);
    let site = Site::of(&generated.events).await;
    let text = site.get("/metrics").await.body;
    assert_eq!(figure(&text, "league_players"), Some(6.0), "{text}");
    assert_eq!(figure(&text, "league_events_total"), Some(generated.events.len() as f64));
    let ended = text.lines().filter(|line| line.starts_with("league_matches_total{"));
    assert_eq!(ended.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum::<f64>(), 7.0);
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let name = line.split(['{', ' ']).next().unwrap();
        let family = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        assert!(text.contains(&format!("# TYPE {family} ")), "{line}");
    }
}
