//! Programs that reach the manager without a right to: they guess, imitate names and endpoints, or answer with escape sequences.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};

use league_test_agents::http_server::{HttpReply, HttpServer};
use serde_json::{Value, json};
use socket2::{Domain, Socket, Type};

use crate::support::{LIMIT, Venue, http, league};

const TOKEN: &str = "correct-horse-battery-staple";

/// Calls the manager from another address of this machine.
fn call_from(source: [u8; 4], manager: &str, method: &str, params: &Value) -> Value {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from((source, 0)).into()).unwrap();
    let (authority, path) = http::authority(manager);
    let address: SocketAddr = authority.replace("localhost", "127.0.0.1").parse().unwrap();
    socket.connect(&address.into()).unwrap();
    let mut stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let body = json!({"jsonrpc": "2.0", "method": method, "params": params, "id": 1}).to_string();
    let head = format!(
        "POST /{path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\nContent-Type: application/json\r\n"
    );
    stream.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    serde_json::from_str(response.split_once("\r\n\r\n").unwrap().1).unwrap()
}

fn register(manager: &str, name: &str, endpoint: &str) -> Value {
    let meta =
        json!({"display_name": name, "version": "1.0.0", "game_types": ["even_odd"], "contact_endpoint": endpoint});
    http::call(manager, "register_player", &json!({ "player_meta": meta }))["result"].clone()
}

#[test]
fn all_loopback_addresses_are_one_guesser_and_the_right_token_still_works() {
    let venue = Venue::new();
    let mut manager = venue.manager_with(2, 1, &["--operator-token", TOKEN]);
    manager.address();
    let wrong = json!({"auth_token": "wrong-horse-battery-staple"});
    let mut answers = (0..=255).flat_map(|last| [[127, 0, 1, last], [127, 0, 2, last]]);
    let told = answers.by_ref().map(|source| call_from(source, &venue.address, "stop_league", &wrong));
    let codes: Vec<String> =
        told.map(|told| told["error"]["data"]["error_code"].as_str().unwrap().to_owned()).collect();
    let refused = codes.iter().filter(|code| *code == "E014").count();
    // 200 guesses at once, and 5 each second.
    assert!(refused > codes.len() / 3, "{refused} of {} guesses had to wait", codes.len());
    let started = call_from([127, 0, 1, 1], &venue.address, "get_standings", &json!({}));
    assert!(started["error"].is_null(), "{started}");
    let told = league(&["status", "--manager", &venue.address]).success().stdout;
    assert!(told.contains("WAITING_FOR_REGISTRATIONS"), "{told}");
    let right = json!({ "auth_token": TOKEN });
    let told = call_from([127, 0, 1, 1], &venue.address, "start_league", &right);
    assert_ne!(told["error"]["data"]["error_code"], "E014", "{told}");
    assert_ne!(told["error"]["data"]["error_code"], "E012", "{told}");
}

#[test]
fn names_that_look_alike_and_endpoints_that_lead_to_one_place_belong_to_one_agent() {
    let venue = Venue::new();
    let mut manager = venue.manager_with(9, 1, &[]);
    manager.address();
    assert_eq!(register(&venue.address, "Victim", "http://127.0.0.1:9/mcp")["status"], "ACCEPTED");
    let names = [
        "victim",
        "V\u{456}ctim",
        "Vic\u{200b}tim",
        "Vic\u{ad}tim",
        "\u{ff36}ictim",
        "Vic\u{2066}tim",
        "\u{feff}Victim",
    ];
    for name in names {
        let told = register(&venue.address, name, "http://127.0.0.1:10/mcp");
        assert_ne!(told["status"], "ACCEPTED", "{name:?}: {told}");
    }
    for endpoint in
        ["http://localhost:9/mcp", "http://127.0.0.2:9/mcp", "http://127.1:9/mcp", "http://127.0.0.1:9/./mcp"]
    {
        let told = register(&venue.address, "Other", endpoint);
        assert_ne!(told["status"], "ACCEPTED", "{endpoint}: {told}");
    }
    let agents = venue.home.json("agents");
    assert_eq!(agents.as_array().unwrap().len(), 1, "{agents}");
}

#[test]
fn no_address_of_its_machine_makes_the_manager_call_itself() {
    let venue = Venue::new();
    let mut manager = venue.manager_with(9, 1, &["--host", "0.0.0.0"]);
    let port = manager.address().rsplit(':').next().unwrap().trim_end_matches("/mcp").to_owned();
    // Nothing is sent: the system only chooses the address that it would send from.
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    let own = socket.connect("192.0.2.1:9").and_then(|()| socket.local_addr()).map(|own| own.ip().to_string());
    let hosts = ["127.0.0.1", "localhost", "127.0.0.9"].map(String::from).into_iter().chain(own);
    for host in hosts {
        let told = register(&format!("http://127.0.0.1:{port}/mcp"), "Echo", &format!("http://{host}:{port}/mcp"));
        assert_eq!(told["status"], "REJECTED", "{host}: {told}");
    }
}

#[test]
fn escape_sequences_of_a_manager_do_not_reach_the_terminal() {
    const HOSTILE: &str = "\u{1b}]0;owned\u{7}\u{1b}[31m\u{202e}evil";
    let manager = HttpServer::stub(|request| {
        let request = request.json();
        let row = json!({"rank": 1, "player_id": "P01", "display_name": HOSTILE, "played": 1, "wins": 1, "draws": 0,
            "losses": 0, "points": 3});
        let page = json!({"league_id": "league", "display_name": HOSTILE, "state": HOSTILE, "current_round": 1,
            "total_rounds": 1, "matches_completed": 1, "total_matches": 1, "players": 1, "referees": 1, "halted": false,
            "standings": [row], "status": {"league_id": "league", "display_name": HOSTILE, "state": HOSTILE,
            "current_round": 1, "total_rounds": 1, "matches_completed": 1, "total_matches": 1, "players": 1,
            "referees": 1, "halted": false}, "error": HOSTILE});
        let error = json!({"code": -32000, "message": HOSTILE});
        match request["method"].as_str() {
            Some("stop_league") => {
                HttpReply::json(200, &json!({"jsonrpc": "2.0", "id": request["id"], "error": error}))
            }
            _ => HttpReply::result(&request, &page),
        }
    });
    let manager = manager.unwrap();
    let mut shown = 0;
    for command in ["standings", "status", "schedule", "agents", "alerts", "matches", "stop"] {
        let said = league(&[command, "--manager", &manager.endpoint()]);
        for text in [said.stdout, said.stderr] {
            assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{command}: {text:?}");
            shown += usize::from(text.contains("evil"));
        }
    }
    assert!(shown >= 3, "the commands showed the text of the manager {shown} times");
}
