//! Pages show no credentials, no endpoints, and no messages of running matches.

use league_dashboard::DashboardSettings;
use league_protocol::id::RoundId;
use league_protocol::token::Credential;
use league_store::views::match_file::{Direction, MatchContext, MatchFile, TranscriptEntry};

use crate::leagues::{league, now};
use crate::support::{Site, begun};

#[tokio::test]
async fn digests_are_nowhere_and_endpoints_only_for_the_operator() {
    let generated = begun(4, 3);
    let token = Some(Credential::new("secret").digest());
    let guarded = Site::with(&generated.events, DashboardSettings { token, ..DashboardSettings::default() }).await;
    let open = Site::of(&generated.events).await;
    for path in ["/api/v1/log?limit=500", "/api/v1/agents", "/api/v1/players/P01", "/agents", "/log", "/players/P01"] {
        let (guarded, open) = (guarded.get(path).await.body, open.get(path).await.body);
        for text in [&guarded, &open] {
            assert!(!text.contains("digest") && !text.contains("grant"), "{path}: {text}");
        }
        assert!(!guarded.contains("127.0.0.1:800"), "{path}: {guarded}");
    }
    assert!(open.get("/agents").await.body.contains("http://127.0.0.1:8001/mcp"));
}

#[tokio::test]
async fn a_match_that_goes_on_gives_nothing_away() {
    let generated = begun(4, 1);
    let held = generated.season.assignments().into_iter().next().unwrap();
    let site = Site::of(&generated.events).await;
    let players = generated.season.contestants(&held.match_id).unwrap();
    let context = MatchContext {
        league_id: league(),
        round_id: RoundId(1),
        match_id: held.match_id.clone(),
        attempt: held.attempt,
        game_type: generated.season.config().game_type.clone(),
        players: players.map(|player| player.id.clone()),
        referee_id: held.referee.clone(),
    };
    let mut file = MatchFile::new(context, now());
    let message = br#"{"parity_choice": "even"}"#;
    let between = (players.a.id.as_str().into(), held.referee.as_str().into());
    let kind = "CHOOSE_PARITY_RESPONSE".into();
    file.transcript.push(TranscriptEntry::new(now(), Direction::Received, between, kind, message, None));
    let path = site.home.match_file(&league(), &held.match_id);
    std::fs::write(path, serde_json::to_vec(&file).unwrap()).unwrap();
    for path in [format!("/matches/{}", held.match_id), format!("/api/v1/matches/{}", held.match_id)] {
        let answer = site.get(&path).await;
        assert_eq!(answer.status, 200);
        assert!(!answer.body.contains("parity_choice") && !answer.body.contains("CHOOSE_PARITY"), "{}", answer.body);
    }
}
