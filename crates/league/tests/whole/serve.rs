//! `league serve`: several leagues in one process, on one port.

use serde_json::{Value, json};

use crate::support::{Exit, Process, TestHome, assert_contains, http, ports, wait_for_all};

const TOKEN: &str = "the-token-of-the-operator";

struct Serving {
    home: TestHome,
    process: Process,
    /// With the slash at the end.
    site: String,
}

impl Serving {
    fn start(more: &[&str]) -> Self {
        let home = TestHome::new();
        let mut process = home.start(&[&["serve", "--port", "0"], more].concat());
        let site = process.wait_for_line("The leagues are at").rsplit(' ').next().unwrap().to_owned();
        Self { home, process, site }
    }

    fn create(&self, arguments: &[&str]) -> Exit {
        Process::start(&[&["create"], arguments, &["--manager", &self.site]].concat()).wait()
    }

    fn endpoint(&self, league: &str) -> String {
        format!("{}leagues/{league}/mcp", self.site)
    }

    fn agent(&self, league: &str, arguments: &[&str]) -> Process {
        let (port, endpoint) = (ports::free().to_string(), self.endpoint(league));
        self.home.start(&[arguments, &["--port", &port, "--manager", &endpoint]].concat())
    }

    fn post(&self, headers: &str, body: &str) -> (u16, Value) {
        let (status, response) = http::post_text(&format!("{}api/v1/leagues", self.site), headers, body);
        (status, serde_json::from_str(response.split_once("\r\n\r\n").unwrap().1).unwrap_or_default())
    }

    fn page(&self, path: &str) -> (u16, String) {
        http::page(&format!("{}{path}", self.site), None)
    }

    fn listed(&self) -> Vec<Value> {
        let (_, response) = self.page("api/v1/leagues");
        let answer: Value = serde_json::from_str(response.split_once("\r\n\r\n").unwrap().1).unwrap();
        answer["leagues"].as_array().unwrap().clone()
    }
}

const JSON: &str = "Content-Type: application/json\r\n";

#[test]
fn leagues_are_created_by_command_by_call_and_by_form_and_have_pages_below_their_paths() {
    let serving = Serving::start(&[]);
    assert_contains(&serving.page("").1, &["200 OK", "There is no league here yet", "Create the league"]);
    let created = serving.create(&["spring", "--name", "Spring Cup", "--expect-players", "8"]).success();
    assert_eq!(created.stdout.trim(), serving.endpoint("spring"));
    assert_contains(&created.stderr, &["spring is open", &format!("{}leagues/spring/", serving.site)]);
    let (status, called) =
        serving.post(JSON, r#"{"league_id": "summer", "game": "tic_tac_toe", "format": "swiss:rounds=3"}"#);
    assert_eq!(
        (status, &called["path"], &called["leads"]),
        (201, &json!("/leagues/summer/"), &json!(true)),
        "{called}"
    );
    let (status, response) =
        http::page(&format!("{}leagues", serving.site), Some("league_id=autumn&expect_players=4&game=&format="));
    assert!(status == 303 && response.to_lowercase().contains("location: /leagues/autumn/"), "{response}");

    let names: Vec<Value> = serving.listed().iter().map(|league| league["league_id"].clone()).collect();
    assert_eq!(names, ["autumn", "spring", "summer"]);
    let index = serving.page("").1;
    for league in ["autumn", "spring", "summer"] {
        assert_contains(&index, &[&format!("href=\"/leagues/{league}/\""), &serving.endpoint(league)]);
    }
    assert_contains(&index, &["Spring Cup", "Registration is open", "<option value=\"\">as configured</option>"]);
    assert!(!index.contains("0 of 0"), "the number of matches is not known yet: {index}");
    assert_contains(&serving.page("?q=winter").1, &["No league has that name."]);
    let page = serving.page("leagues/summer/").1;
    assert_contains(
        &page,
        &["<base href=\"/leagues/summer/\">", "\"/leagues/summer/static/style.css\"", "Tic-tac-toe", "All leagues"],
    );
    assert_contains(&page, &[&serving.endpoint("summer"), "action=\"operate\""]);
    for path in [
        "schedule",
        "agents",
        "static/style.css",
        "api/v1/standings",
        "metrics",
        "at/1/",
        "health",
        "api/v1/openapi.json",
    ] {
        assert_eq!(serving.page(&format!("leagues/summer/{path}")).0, 200, "{path}");
    }
    assert_contains(&serving.page("leagues/summer/at/1/").1, &["<base href=\"/leagues/summer/at/1/\">"]);
    assert_contains(&serving.page("leagues/summer/api/v1/openapi.json").1, &["/leagues/summer/api/v1"]);
    let (status, response) = serving.page("leagues/summer");
    assert!(status == 307 && response.to_lowercase().contains("location: /leagues/summer/"), "{response}");
    let moved = serving.page("leagues/summer/at?seq=1&page=agents").1.to_lowercase();
    assert!(moved.contains("location: /leagues/summer/at/1/agents"), "{moved}");
    assert_contains(&serving.page("health").1, &["\"serving\""]);
    let metrics = serving.page("metrics").1;
    for figure in ["league_players", "league_referees_active", "league_page_duration_seconds_count"] {
        let leagues = ["autumn", "spring", "summer"].map(|league| format!("{figure}{{league=\"{league}\"}}"));
        assert_contains(&metrics, &leagues.each_ref().map(String::as_str));
    }
    assert_eq!(metrics.matches("# TYPE league_players gauge").count(), 1, "{metrics}");
    for missing in ["leagues/winter/", "leagues/", "nothing", "leagues/winter/schedule"] {
        assert_eq!(serving.page(missing).0, 404, "{missing}");
    }
}

#[test]
fn leagues_of_one_process_are_played_side_by_side_and_go_on_after_a_restart() {
    let mut serving = Serving::start(&[]);
    let agents = ["--expect-players", "3", "--expect-referees", "1"];
    serving.create(&[&["first"], &agents[..]].concat()).success();
    serving.create(&[&["second", "--game", "tic_tac_toe"], &agents[..]].concat()).success();
    let mut playing = Vec::new();
    for (league, game) in [("first", "even_odd"), ("second", "tic_tac_toe")] {
        playing.push(serving.agent(league, &["referee", "--game", game]));
        for _ in 0..3 {
            playing.push(serving.agent(league, &["player", "--game", game, "--strategy", "random"]));
        }
    }
    wait_for_all(playing);
    for league in serving.listed() {
        assert_eq!(
            (&league["status"]["state"], &league["status"]["matches_completed"]),
            (&json!("LEAGUE_COMPLETED"), &json!(3))
        );
    }
    assert_contains(&serving.page("").1, &["3 of 3", "<a href=\"/leagues/first/players/P0", "★"]);
    serving.process.signal("TERM");
    serving.process.wait_within(std::time::Duration::from_secs(20)).success();
    for league in ["first", "second"] {
        let report = serving.home.league(&["verify", "--json", "--league-id", league]).success().json();
        assert_eq!((&report["matches"], &report["differences"]), (&json!(3), &json!([])), "{report}");
    }
    // A later process finds both in the home.
    let mut again = serving.home.start(&["serve", "--port", "0"]);
    for _ in 0..2 {
        again.wait_for_line("which goes on: this process leads it");
    }
}

#[test]
fn a_call_at_the_plain_path_goes_to_the_league_that_it_names_or_to_the_only_open_one() {
    let serving = Serving::start(&[]);
    let plain = format!("{}mcp", serving.site);
    let status = |params: Value| {
        let mut params = params;
        params["view"] = json!("status");
        http::call(&plain, "get_league", &params)
    };
    let error = |answer: &Value| answer["error"]["data"].to_string() + &answer["error"]["message"].to_string();
    assert_contains(&error(&status(json!({}))), &["E008", "no league is open here", "league_id"]);
    serving.create(&["spring"]).success();
    assert_eq!(status(json!({}))["result"]["status"]["league_id"], "spring");
    serving.create(&["summer"]).success();
    assert_contains(
        &error(&status(json!({}))),
        &["E008", "several leagues are open here: spring, summer", "/leagues/LEAGUE_ID/mcp"],
    );
    for league in ["spring", "summer"] {
        assert_eq!(status(json!({"league_id": league}))["result"]["status"]["league_id"], league);
        let tool = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "get_league", "arguments": {"view": "status", "league_id": league}}});
        let answer = http::post(&plain, http::authority(&plain).0, &tool).to_string();
        assert!(
            answer.contains(&format!("\\\"league_id\\\":\\\"{league}\\\""))
                || answer.contains(&format!("\"league_id\":\"{league}\"")),
            "{answer}"
        );
    }
    assert_contains(
        &error(&status(json!({"league_id": "winter"}))),
        &["E008", "there is no league", "winter", "open leagues: spring, summer"],
    );
    // A path names its league, whatever the message says.
    let asked = http::call(&serving.endpoint("winter"), "get_league", &json!({"view": "status"}));
    assert_contains(&error(&asked), &["E008", "there is no league", "winter"]);
    let player = serving.agent("winter", &["player"]).wait();
    player.fails_with(&["there is no league", "winter"]);
    // MCP clients may look around before they name a league.
    let tools = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    assert!(http::post(&plain, http::authority(&plain).0, &tools).to_string().contains("get_standings"));
    let broken =
        http::post(&plain, http::authority(&plain).0, &json!({"jsonrpc": "2.0", "id": 1, "method": "no_such_method"}));
    assert!(broken["error"].is_object(), "{broken}");
}

#[test]
fn only_the_operator_creates_leagues_and_wrong_input_is_refused_with_its_reason() {
    let serving = Serving::start(&["--operator-token", TOKEN]);
    let bearer = format!("{JSON}Authorization: Bearer {TOKEN}\r\n");
    let spring = r#"{"league_id": "spring"}"#;
    for headers in [JSON, &format!("{JSON}Authorization: Bearer a-token-that-is-wrong\r\n")] {
        let (status, answer) = serving.post(headers, spring);
        assert!(status == 403 && answer["error"].to_string().contains("operator's token"), "{status} {answer}");
    }
    let (status, answer) = serving.post(&format!("{bearer}Sec-Fetch-Site: cross-site\r\n"), spring);
    assert!(status == 403 && answer["error"].to_string().contains("another site"), "{status} {answer}");
    assert_eq!(serving.post(&bearer.replace("application/json", "text/plain"), spring).0, 415);
    for (body, reason) in [
        ("", "expected an object"),
        ("[]", "expected an object"),
        (r#"{"league": "spring"}"#, "unknown field `league`"),
        (r#"{"league_id": "a/b"}"#, "league_id"),
        (r#"{"league_id": "a", "game": "golf"}"#, "game"),
        (r#"{"league_id": "a", "format": "ladder"}"#, "format"),
        (r#"{"league_id": "a", "expect_players": 1}"#, "expect_players"),
    ] {
        let (status, answer) = serving.post(&bearer, body);
        assert!(status == 400 && answer["error"].to_string().contains(reason), "{body}: {status} {answer}");
    }
    let form = |form: &str| http::page(&format!("{}leagues", serving.site), Some(form));
    assert_eq!(form("league_id=spring").0, 403);
    assert_eq!(form(&format!("token={TOKEN}&league_id=spring&expect_players=many")).0, 400);
    assert!(serving.listed().is_empty(), "nothing was created");
    serving.create(&["spring"]).fails_with(&["operator's token"]);
    serving.create(&["spring", "--token", TOKEN]).success();
    assert_eq!(serving.post(&bearer, spring).0, 409);
    serving.create(&["spring", "--token", TOKEN]).fails_with(&["there is a league spring already"]);
    assert_eq!(serving.create(&["a/b", "--token", TOKEN]).code, Some(2));
    // The token operates the league, too.
    let start = ["start", "--manager", &serving.endpoint("spring")];
    Process::start(&start).wait().fails_with(&["token"]);
    let other = serving.home.league(&["serve", "--port", "0"]);
    other.fails_with(&["serve.lock is held by process", "another --home"]);
}

#[test]
fn a_server_of_one_league_tells_that_it_creates_none() {
    let home = TestHome::new();
    let mut manager = home.start(&["manager", "--port", "0", "--registration-window", "600"]);
    let address = manager.address();
    Process::start(&["create", "spring", "--manager", &address])
        .wait()
        .fails_with(&["hosts one league only", "league serve"]);
    let nowhere = ports::free_endpoint();
    Process::start(&["create", "spring", "--manager", &nowhere]).wait().fails_with(&["does not answer", "--manager"]);
}
