//! Sixteen different players in one league: every frame, every quirk seen in public, stock MCP servers and ours. No
//! player forfeits, none is misunderstood twice, and the manager knows the dialect of each.

use std::time::Duration;

use league_protocol::message::league_view::AgentEntry;
use league_protocol::quirk::Quirk;
use league_test_agents::player::dialect::{PlayerDialect as Dialect, Speech};
use league_test_agents::player::{Plan, Player};

use crate::support::{Kit, Process, Venue, assert_contains, assert_played, wait_for_all};

const LIMIT: Duration = Duration::from_secs(120);
const MATCHES: usize = 16 * 15 / 2;

/// A player of another implementation, with the dialect and the quirks that the manager must record.
type Stranger = (Plan, &'static str, &'static [Quirk]);

fn stranger(
    name: &str,
    speech: Speech,
    dialects: &[Dialect],
    form: &'static str,
    quirks: &'static [Quirk],
) -> Stranger {
    (dialects.iter().cloned().fold(Plan::new(name, speech), Plan::dialect), form, quirks)
}

fn strangers() -> [Stranger; 9] {
    let (later, apart) = (Duration::from_millis(1500), Duration::from_millis(20));
    let exact =
        [Dialect::IntegerIds, Dialect::NoExtraKeys, Dialect::WholeSeconds, Dialect::KeepsId("P77"), Dialect::NullError];
    let renamed = [Dialect::PlaceholderToken, Dialect::OkToNotices, Dialect::LeavesPathOut, Dialect::WantsTheEnd];
    let typist = [Dialect::PostsAfterwards, Dialect::RegistersOften(3), Dialect::BusyAtFirst, Dialect::LeavesAtTheEnd];
    let typist_quirks = &[Quirk::TypeAsMethod, Quirk::PostsAnswers, Quirk::RegistersOften, Quirk::RateLimits];
    let toolbox = [Dialect::OtherToolNames, Dialect::FieldsOnly, Dialect::ClosesConnections];
    let tools = "C, handle_game_invitation as receive_game_invitation";
    let doll = [Dialect::EchoesToken, Dialect::AnswersInParams, Dialect::ParityChoiceForm, Dialect::RateLimit(apart)];
    let doll_quirks = &[Quirk::NestedMessage, Quirk::OddToken, Quirk::AnswerInParams, Quirk::ParityChoiceForm];
    let plain =
        [Dialect::ReadsNested, Dialect::WantsGameId, Dialect::Localhost, Dialect::AnswersBare, Dialect::PostsBefore];
    let colonel = [Dialect::WantsColon, Dialect::WantsToken, Dialect::Status400, Dialect::HangsUpAtTheEnd];
    let modern = [Dialect::UnderOneKey("payload"), Dialect::OffsetTime];
    let naked = [Dialect::NoEnvelope, Dialect::ListensLater(later), Dialect::NoPath];
    let naked_quirks =
        &[Quirk::BareMessage, Quirk::NoMessageType, Quirk::NoSender, Quirk::NoTimestamp, Quirk::ListensLate];
    [
        stranger("Exact", Speech::Direct, &exact, "A", &[Quirk::NullError]),
        stranger("Renamed", Speech::ParityChoose, &renamed, "A, choose_parity as parity_choose", &[Quirk::OddToken]),
        stranger("Typist", Speech::Types, &typist, "B", typist_quirks),
        stranger("Toolbox", Speech::Tools, &toolbox, tools, &[Quirk::UnknownNotice]),
        stranger("Russian doll", Speech::Nested, &doll, "E", doll_quirks),
        stranger("Plain form", Speech::Register, &plain, "A", &[Quirk::FlatRegistration, Quirk::PostsAnswers]),
        stranger("Colonel", Speech::Direct, &colonel, "A", &[Quirk::LeavesAtTheEnd]),
        stranger("Modern", Speech::Stateless, &modern, "C 2026-07-28", &[Quirk::OffsetTime]),
        // Last, so that the league begins before it listens.
        stranger("Naked", Speech::Bare, &naked, "D", naked_quirks),
    ]
}

fn kits(manager: &str) -> Vec<(&'static str, Process, &'static str)> {
    [
        ("Snake", Kit::Python, &[][..], "A"),
        ("Node", Kit::Node, &[], "A"),
        ("Fast", Kit::FastMcp, &[], "C"),
        ("Fast stateless", Kit::FastMcp, &["--stateless"], "C"),
        ("Type", Kit::TypeScript, &[], "C"),
        ("Type stateless", Kit::TypeScript, &["--stateless"], "C"),
    ]
    .into_iter()
    .map(|(name, kit, more, form)| (name, kit.join(manager, name, more), form))
    .collect()
}

/// Compares the recorded dialect and quirks, also as the page shows them.
fn expect_recorded(shown: &str, agents: &[AgentEntry], name: &str, form: &str, quirks: &[Quirk]) {
    let agent = agents.iter().find(|agent| agent.name == name).unwrap_or_else(|| panic!("{name} is not in {agents:?}"));
    let dialect = agent.dialect.to_string();
    assert!(dialect.starts_with(form), "{form}: {agent:?}");
    assert!(shown.lines().any(|line| line.contains(agent.name.as_str()) && line.contains(form)), "{shown}");
    for quirk in quirks {
        assert!(agent.quirks.has(*quirk), "{quirk}: {agent:?}");
        assert_contains(shown, &[&format!("{}: {quirk}; ", agent.id)]);
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs cargo xtask ci, which installs what some are written with"]
async fn sixteen_players_all_different_play_a_league_without_a_technical_loss() {
    let venue = Venue::patient();
    let mut manager = venue.manager(16, 2);
    let mut guests = kits(&venue.address);
    let ours = [venue.referee("REF01"), venue.referee("REF02"), venue.player("P01", "markov")];
    for (name, process, _) in &mut guests {
        tokio::task::block_in_place(|| process.wait_for_line(&format!(" is {name}")));
    }
    let mut known: Vec<(Player, &str, &[Quirk])> = Vec::new();
    for (plan, form, quirks) in strangers() {
        known.push((plan.join(&venue.address).await.unwrap(), form, quirks));
    }
    let standings = tokio::task::block_in_place(|| manager.wait_within(LIMIT).success().json());
    assert_eq!(venue.home.forfeits(), 0);
    venue.home.verify(MATCHES);
    assert_eq!(standings.as_array().unwrap().len(), 16);
    assert_played(&standings, 15);
    let agents: Vec<AgentEntry> = serde_json::from_value(venue.home.json("agents")).unwrap();
    let shown = venue.home.league(&["agents"]).success().stdout;
    for (player, form, quirks) in &known {
        let wasted = player.log().wasted();
        assert!(wasted.values().all(|count| *count <= 1), "{}: {wasted:?}", player.name());
        expect_recorded(&shown, &agents, player.name(), form, quirks);
    }
    for (name, process, form) in guests {
        expect_recorded(&shown, &agents, name, form, &[]);
        tokio::task::block_in_place(|| process.wait().success());
    }
    tokio::task::block_in_place(|| wait_for_all(ours));
}
