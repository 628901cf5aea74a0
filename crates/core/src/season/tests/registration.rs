use league_protocol::id::GameType;
use league_protocol::message::registration::LeagueRegisterRequest;
use league_protocol::sender::Sender;

use super::*;
use crate::season::LeaguePhase;

fn wishing(number: u32, wish: &str) -> LeagueRegisterRequest {
    LeagueRegisterRequest { player_id: wish.parse().ok(), ..player(number) }
}

fn listening_at(endpoint: &str) -> LeagueRegisterRequest {
    let mut request = player(1);
    request.player_meta.contact_endpoint = endpoint.to_owned();
    request
}

fn in_every_phase() -> Vec<League> {
    let mut waiting = League::open();
    waiting.admit(&player(1));
    waiting.admit(&player(2));
    waiting.admit_referee(&referee(1, 2));
    let mut scheduled = waiting.clone();
    let ruling = scheduled.season.close_registration(now()).unwrap();
    scheduled.enact(ruling);
    let mut running = scheduled.clone();
    running.start();
    let mut over = running.clone();
    over.play_round(|_| Outcome::Draw);
    let leagues = vec![waiting, scheduled, running, over];
    let phases: Vec<LeaguePhase> = leagues.iter().map(|league| league.season.phase()).collect();
    let all = [
        LeaguePhase::WaitingForRegistrations,
        LeaguePhase::CreatingSchedule,
        LeaguePhase::RunningLeague,
        LeaguePhase::LeagueCompleted,
    ];
    assert_eq!(phases, all);
    leagues
}

#[test]
fn ids_are_given_in_the_order_of_arrival() {
    let mut league = League::open();
    for (number, id) in [(1, "P01"), (2, "P02"), (3, "P03")] {
        assert_eq!(line(&league.register(&player(number))), id);
        assert_eq!(line(&league.register_referee(&referee(number, 1))), format!("REF{number:02}"));
    }
}

#[test]
fn the_hundredth_player_has_an_id_of_three_digits() {
    let mut league = League::open();
    let ids: Vec<String> = (1..=101).map(|number| line(&league.register(&player(number)))).collect();
    assert_eq!(ids[98..], ["P99", "P100", "P101"]);
}

#[test]
fn a_free_id_that_is_asked_for_is_given_and_the_others_fill_the_gaps() {
    let mut league = League::open();
    assert_eq!(line(&league.register(&wishing(1, "P02"))), "P02");
    assert_eq!(line(&league.register(&player(2))), "P01");
    assert_eq!(line(&league.register(&player(3))), "P03");
    assert_eq!(line(&league.register(&wishing(4, "P100"))), "P100");
}

#[test]
fn the_sender_may_name_the_wish() {
    let cases = [("player:P07", "P07"), ("P07", "P07"), ("player:alpha", "P01"), ("referee:REF07", "P01")];
    for (sender, id) in cases {
        let (season, sender) = (League::open().season, sender.parse::<Sender>().unwrap());
        let ruling = season.register_player(&player(1), Some(&sender), &[1; 32], now()).unwrap();
        assert_eq!(line(&ruling.reply), id, "{sender}");
    }
    let (season, sender) = (League::open().season, "referee:REF09".parse::<Sender>().unwrap());
    let ruling = season.register_referee(&referee(1, 1), Some(&sender), &[1; 32], now()).unwrap();
    assert_eq!(line(&ruling.reply), "REF09");
}

#[test]
fn a_wish_that_cannot_be_granted_leaves_the_other_one() {
    let mut league = League::open();
    league.admit(&wishing(1, "P05"));
    let sender: Sender = "player:P07".parse().unwrap();
    for wish in ["P05", "alpha", "P7"] {
        let ruling = league.season.register_player(&wishing(2, wish), Some(&sender), &[1; 32], now()).unwrap();
        assert_eq!(line(&ruling.reply), "P07", "{wish}");
    }
}

#[test]
fn a_wish_that_is_taken_or_odd_gets_the_first_free_id() {
    let mut league = League::open();
    league.admit(&player(1));
    for wish in ["P01", "P1", "P00", "p07", "P007", "REF02", "alpha", "P100000", "P4294967295", "P99999999999", ""] {
        let ruling = league.season.register_player(&wishing(2, wish), None, &[1; 32], now()).unwrap();
        assert_eq!(line(&ruling.reply), "P02", "{wish:?}");
    }
    assert_eq!(line(&league.register(&wishing(2, "P99999"))), "P99999");
}

#[test]
fn the_same_agent_is_the_same_in_every_phase() {
    for mut league in in_every_phase() {
        let before = (league.season.phase(), league.table());
        assert_eq!(line(&league.register(&player(2))), "P02 again");
        assert_eq!(line(&league.register_referee(&referee(1, 2))), "REF01 again");
        assert_eq!((league.season.players().len(), league.season.referees().len()), (2, 1));
        assert_eq!((league.season.phase(), league.table()), before);
        assert_eq!(league.replayed(), league.season);
    }
}

#[test]
fn who_returns_may_say_something_new_of_itself_but_keeps_its_id() {
    let mut league = League::running(2, &[1]);
    let mut request = wishing(1, "P09");
    request.player_meta.version = "2.0.0".into();
    request.player_meta.display_name = " PLAYER 1 ".into();
    assert_eq!(line(&league.register(&request)), "P01 again");
    assert_eq!(league.season.player(&p(1)).unwrap().profile.version, "2.0.0");
    assert_eq!(league.season.player(&p(1)).unwrap().profile.name, "PLAYER 1");
    league.admit_referee(&referee(1, 7));
    assert_eq!(league.season.referee(&r(1)).unwrap().capacity, 7);
}

#[test]
fn names_and_endpoints_belong_to_one_agent_each() {
    let mut league = League::open();
    league.admit(&player(1));
    league.admit_referee(&referee(1, 1));
    let mut namesake = player(2);
    namesake.player_meta.display_name = "player 1".into();
    assert_eq!(line(&league.register(&namesake)), "2002");
    let mut neighbour = player(1);
    neighbour.player_meta.display_name = "Somebody else".into();
    assert_eq!(line(&league.register(&neighbour)), "2003");
    let mut namesake = referee(2, 1);
    namesake.referee_meta.display_name = "REFEREE 1".into();
    assert_eq!(line(&league.register_referee(&namesake)), "1004");
    let mut neighbour = referee(1, 1);
    neighbour.referee_meta.display_name = "Somebody else".into();
    assert_eq!(line(&league.register_referee(&neighbour)), "1002");
    assert_eq!((league.season.players().len(), league.season.referees().len()), (1, 1));
}

#[test]
fn a_full_league_admits_only_agents_it_knows() {
    let mut league = League::with(LeagueConfig { max_players: 2, max_referees: 1, ..config() });
    league.admit(&player(1));
    league.admit(&player(2));
    league.admit_referee(&referee(1, 1));
    assert_eq!(line(&league.register(&player(3))), "2001");
    assert_eq!(line(&league.register_referee(&referee(2, 1))), "1001");
    assert_eq!(line(&league.register(&player(2))), "P02 again");
    assert_eq!(line(&league.register_referee(&referee(1, 1))), "REF01 again");
}

#[test]
fn a_referee_gets_no_more_matches_at_a_time_than_the_league_allows() {
    let mut league = League::open();
    for (number, claimed) in [(1, u32::MAX), (2, 0), (3, 64)] {
        league.admit_referee(&referee(number, claimed));
    }
    let capacities = |league: &League| league.season.referees().iter().map(|one| one.capacity).collect::<Vec<_>>();
    assert_eq!(capacities(&league), [64, 1, 64]);
    league.admit_referee(&referee(1, 4_000_000_000));
    assert_eq!(capacities(&league), [64, 1, 64], "also when it registers again");
}

#[test]
fn who_does_not_know_the_game_is_not_let_in() {
    let mut league = League::open();
    for games in [vec![], vec!["chess"], vec!["Even_Odd", "tic_tac_toe"]] {
        let game_types: Vec<GameType> = games.iter().map(|game| game.parse().unwrap()).collect();
        let mut request = player(1);
        request.player_meta.game_types.clone_from(&game_types);
        assert_eq!(line(&league.register(&request)), "2004", "{games:?}");
        let mut request = referee(1, 1);
        request.referee_meta.game_types = game_types;
        assert_eq!(line(&league.register_referee(&request)), "1003", "{games:?}");
    }
    let mut versatile = player(1);
    versatile.player_meta.game_types.insert(0, "chess".parse().unwrap());
    assert_eq!(line(&league.register(&versatile)), "P01");
}

#[test]
fn an_endpoint_that_cannot_be_called_is_refused() {
    let unusable = [
        "",
        " ",
        "nonsense",
        "/mcp",
        "localhost:8101/mcp",
        "localhost",
        "//localhost:8101/mcp",
        "ftp://localhost/mcp",
        "file:///etc/passwd",
        "file:/etc/passwd",
        "javascript:alert(1)",
        "http:",
        "http://",
        "http:///mcp",
        "http://:8101/mcp",
        "http://user@localhost:8101/mcp",
        "http://user:secret@localhost:8101/mcp",
        "http://localhost:0/mcp",
        "http://localhost:99999/mcp",
        "http://localhost:80a1/mcp",
        "http://local host/mcp",
        "http://localhost:8101/m cp",
    ];
    for endpoint in unusable {
        let mut league = League::open();
        assert_eq!(line(&league.register(&listening_at(endpoint))), "2003", "{endpoint:?}");
        let mut request = referee(1, 1);
        request.referee_meta.contact_endpoint = endpoint.to_owned();
        assert_eq!(line(&league.register_referee(&request)), "1002", "{endpoint:?}");
        assert_eq!(league.log.len(), 1, "{endpoint:?}");
    }
}

#[test]
fn an_endpoint_that_can_be_called_is_taken_as_it_is() {
    let usable = [
        "http://localhost:8101/mcp",
        "https://player.example.org/mcp?team=7",
        "http://127.0.0.1",
        "HTTP://LOCALHOST:8101/MCP",
        "http://[::1]:8101/mcp",
        "http://[::1]/mcp",
        " http://localhost:8101/mcp ",
    ];
    for endpoint in usable {
        let mut league = League::open();
        assert_eq!(line(&league.register(&listening_at(endpoint))), "P01", "{endpoint:?}");
        assert_eq!(league.season.players()[0].profile.endpoint, endpoint.trim());
        assert_eq!(line(&league.register(&listening_at(endpoint))), "P01 again", "{endpoint:?}");
    }
}

#[test]
fn a_closed_registration_takes_no_new_player() {
    for mut league in in_every_phase().into_iter().skip(1) {
        assert_eq!(line(&league.register(&player(3))), "2005");
        assert_eq!(league.season.players().len(), 2);
    }
}

#[test]
fn a_referee_is_welcome_until_the_league_is_over() {
    for mut league in in_every_phase() {
        let expected = if league.season.phase() == LeaguePhase::LeagueCompleted { "1005" } else { "REF02" };
        assert_eq!(line(&league.register_referee(&referee(2, 1))), expected);
    }
}

#[test]
fn a_referee_that_says_no_number_runs_one_match_at_a_time() {
    let mut league = League::open();
    for (capacity, expected) in [(None, 1), (Some(0), 1), (Some(3), 3)] {
        let mut request = referee(1, 1);
        request.referee_meta.max_concurrent_matches = capacity;
        league.admit_referee(&request);
        assert_eq!(league.season.referees()[0].capacity, expected, "{capacity:?}");
    }
}
