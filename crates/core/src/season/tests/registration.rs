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
    scheduled.close_registration();
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
fn ids_are_given_in_the_order_of_arrival_with_at_least_two_digits() {
    let mut league = League::open();
    for number in 1..=101 {
        assert_eq!(line(&league.register(&player(number))), format!("P{number:02}"));
    }
    for number in 1..=3 {
        assert_eq!(line(&league.register_referee(&referee(number, 1))), format!("REF{number:02}"));
    }
}

#[test]
fn a_free_id_is_given_on_request_and_other_players_fill_the_gaps() {
    let mut league = League::open();
    assert_eq!(line(&league.register(&wishing(1, "P02"))), "P02");
    assert_eq!(line(&league.register(&player(2))), "P01");
    assert_eq!(line(&league.register(&player(3))), "P03");
    assert_eq!(line(&league.register(&wishing(4, "P100"))), "P100");
}

#[test]
fn an_agent_may_ask_for_its_id_in_the_request_or_as_sender() {
    let mut league = League::open();
    league.admit(&wishing(1, "P05"));
    let given = |request: &LeagueRegisterRequest, sender: Option<&str>| {
        let sender = sender.map(|sender| sender.parse::<Sender>().unwrap());
        line(&league.season.register_player(request, sender.as_ref(), &[1; 32], now()).unwrap().reply)
    };
    let senders = [("player:P07", "P07"), ("P07", "P07"), ("player:alpha", "P01"), ("referee:REF07", "P01")];
    for (sender, id) in senders {
        assert_eq!(given(&player(2), Some(sender)), id, "{sender}");
    }
    assert_eq!(given(&wishing(2, "P99999"), None), "P99999");
    for wish in ["P05", "P1", "P00", "p07", "P007", "REF02", "alpha", "P100000", "P4294967295", "P99999999999", ""] {
        assert_eq!(given(&wishing(2, wish), None), "P01", "{wish:?} is taken or no id");
        assert_eq!(given(&wishing(2, wish), Some("player:P07")), "P07", "{wish:?}");
    }
    let sender = "referee:REF09".parse::<Sender>().unwrap();
    let registered = league.season.register_referee(&referee(1, 1), Some(&sender), &[1; 32], now()).unwrap();
    assert_eq!(line(&registered.reply), "REF09");
}

#[test]
fn an_agent_that_registers_again_keeps_its_id_in_every_phase() {
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
fn a_returning_agent_updates_its_profile_and_keeps_its_id() {
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
    for (number, name, code) in [(2, "player 1", "2002"), (1, "Another name", "2003")] {
        let mut request = player(number);
        request.player_meta.display_name = name.into();
        assert_eq!(line(&league.register(&request)), code, "{name}");
    }
    for (number, name, code) in [(2, "REFEREE 1", "1004"), (1, "Another name", "1002")] {
        let mut request = referee(number, 1);
        request.referee_meta.display_name = name.into();
        assert_eq!(line(&league.register_referee(&request)), code, "{name}");
    }
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
fn the_capacity_of_a_referee_is_between_one_and_the_limit_of_the_league() {
    let mut league = League::open();
    // The later registrations return.
    for (claimed, capacity) in [(None, 1), (Some(0), 1), (Some(3), 3), (Some(64), 64), (Some(u32::MAX), 64)] {
        let mut request = referee(1, 1);
        request.referee_meta.max_concurrent_matches = claimed;
        league.admit_referee(&request);
        assert_eq!(league.season.referees()[0].capacity, capacity, "{claimed:?}");
    }
    league.admit_referee(&referee(2, u32::MAX));
    assert_eq!(league.season.referees()[1].capacity, 64);
}

#[test]
fn an_agent_that_does_not_play_the_game_is_rejected() {
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
    let unusable = "nonsense /mcp localhost:8101/mcp localhost //localhost:8101/mcp ftp://localhost/mcp \
        file:///etc/passwd file:/etc/passwd javascript:alert(1) http: http:// http:///mcp http://:8101/mcp \
        http://user@localhost:8101/mcp http://user:secret@localhost:8101/mcp http://localhost:0/mcp \
        http://localhost:99999/mcp http://localhost:80a1/mcp";
    let with_spaces = ["", " ", "http://local host/mcp", "http://localhost:8101/m cp"];
    for endpoint in unusable.split_whitespace().chain(with_spaces) {
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
    let usable = "http://localhost:8101/mcp https://player.example.org/mcp?team=7 http://127.0.0.1 \
        HTTP://LOCALHOST:8101/MCP http://[::1]:8101/mcp http://[::1]/mcp";
    for endpoint in usable.split_whitespace().chain([" http://localhost:8101/mcp "]) {
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
fn a_referee_may_register_until_the_league_is_over() {
    for mut league in in_every_phase() {
        let expected = if league.season.phase() == LeaguePhase::LeagueCompleted { "1005" } else { "REF02" };
        assert_eq!(line(&league.register_referee(&referee(2, 1))), expected);
    }
}
