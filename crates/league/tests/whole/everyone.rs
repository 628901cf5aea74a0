//! Sixteen different players in one league: every frame, every quirk seen in public, stock MCP servers and ours. No
//! player forfeits, none is misunderstood twice, and the manager knows the dialect of each.

use std::time::Duration;

use league_protocol::message::league_view::AgentEntry;
use league_protocol::quirk::Quirk;
use league_test_agents::player::dialect::{PlayerDialect, Speech};
use league_test_agents::player::{Plan, Player};

use crate::support::{Kit, Process, Venue, league};

const LIMIT: Duration = Duration::from_secs(120);
const MATCHES: usize = 16 * 15 / 2;

/// Players of other implementations, each with the dialect and the quirks that the manager must record.
fn strangers() -> [(Plan, &'static str, &'static [Quirk]); 9] {
    let (later, apart) = (Duration::from_millis(1500), Duration::from_millis(20));
    let plan = |name: &str, speech: Speech, habits: &[PlayerDialect]| {
        habits.iter().cloned().fold(Plan::new(name, speech), Plan::dialect)
    };
    [
        (
            plan(
                "Exact",
                Speech::Direct,
                &[
                    PlayerDialect::IntegerIds,
                    PlayerDialect::NoExtraKeys,
                    PlayerDialect::WholeSeconds,
                    PlayerDialect::KeepsId("P77"),
                    PlayerDialect::NullError,
                ],
            ),
            "A",
            &[Quirk::NullError],
        ),
        (
            plan(
                "Renamed",
                Speech::ParityChoose,
                &[
                    PlayerDialect::PlaceholderToken,
                    PlayerDialect::OkToNotices,
                    PlayerDialect::LeavesPathOut,
                    PlayerDialect::WantsTheEnd,
                ],
            ),
            "A, choose_parity as parity_choose",
            &[Quirk::OddToken],
        ),
        (
            plan(
                "Typist",
                Speech::Types,
                &[
                    PlayerDialect::PostsAfterwards,
                    PlayerDialect::RegistersOften(3),
                    PlayerDialect::BusyAtFirst,
                    PlayerDialect::LeavesAtTheEnd,
                ],
            ),
            "B",
            &[Quirk::TypeAsMethod, Quirk::PostsAnswers, Quirk::RegistersOften, Quirk::RateLimits],
        ),
        (
            plan(
                "Toolbox",
                Speech::Tools,
                &[PlayerDialect::OtherToolNames, PlayerDialect::FieldsOnly, PlayerDialect::ClosesConnections],
            ),
            "C, handle_game_invitation as receive_game_invitation",
            &[Quirk::UnknownNotice],
        ),
        (
            plan(
                "Russian doll",
                Speech::Nested,
                &[
                    PlayerDialect::EchoesToken,
                    PlayerDialect::AnswersInParams,
                    PlayerDialect::ParityChoiceForm,
                    PlayerDialect::RateLimit(apart),
                ],
            ),
            "E",
            &[Quirk::NestedMessage, Quirk::OddToken, Quirk::AnswerInParams, Quirk::ParityChoiceForm],
        ),
        (
            plan(
                "Plain form",
                Speech::Register,
                &[
                    PlayerDialect::ReadsNested,
                    PlayerDialect::WantsGameId,
                    PlayerDialect::Localhost,
                    PlayerDialect::AnswersBare,
                    PlayerDialect::PostsBefore,
                ],
            ),
            "A",
            &[Quirk::FlatRegistration, Quirk::PostsAnswers],
        ),
        (
            plan(
                "Colonel",
                Speech::Direct,
                &[
                    PlayerDialect::WantsColon,
                    PlayerDialect::WantsToken,
                    PlayerDialect::Status400,
                    PlayerDialect::HangsUpAtTheEnd,
                ],
            ),
            "A",
            &[Quirk::LeavesAtTheEnd],
        ),
        (
            plan("Modern", Speech::Stateless, &[PlayerDialect::UnderOneKey("payload"), PlayerDialect::OffsetTime]),
            "C 2026-07-28",
            &[Quirk::OffsetTime],
        ),
        // Last, so that the league begins before it listens.
        (
            plan(
                "Naked",
                Speech::Bare,
                &[PlayerDialect::NoEnvelope, PlayerDialect::ListensLater(later), PlayerDialect::NoPath],
            ),
            "D",
            &[Quirk::BareMessage, Quirk::NoMessageType, Quirk::NoSender, Quirk::NoTimestamp, Quirk::ListensLate],
        ),
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

fn agent<'a>(agents: &'a [AgentEntry], name: &str) -> &'a AgentEntry {
    agents.iter().find(|agent| agent.name == name).unwrap_or_else(|| panic!("{name} is not in {agents:?}"))
}

/// Compares the recorded dialect and quirks, also as the page shows them.
fn is_known(shown: &str, agent: &AgentEntry, form: &str, quirks: &[Quirk]) {
    let dialect = agent.dialect.to_string();
    assert!(dialect.starts_with(form), "{form}: {agent:?}");
    assert!(shown.lines().any(|line| line.contains(agent.name.as_str()) && line.contains(form)), "{shown}");
    for quirk in quirks {
        assert!(agent.quirks.has(*quirk), "{quirk}: {agent:?}");
        assert!(shown.contains(&format!("{}: {quirk}; ", agent.id)), "{shown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs cargo xtask ci, which installs what some are written with"]
async fn sixteen_players_all_different_play_a_league_without_a_technical_loss() {
    let venue = Venue::patient();
    let manager = venue.manager(16, 2);
    let mut guests = kits(&venue.address);
    let ours = [venue.referee("REF01"), venue.referee("REF02"), venue.player("P01", "markov")];
    for (name, process, _) in &mut guests {
        tokio::task::block_in_place(|| process.says(&format!(" is {name}")));
    }
    let mut known: Vec<(Player, &str, &[Quirk])> = Vec::new();
    for (plan, form, quirks) in strangers() {
        known.push((plan.join(&venue.address).await.unwrap(), form, quirks));
    }
    let standings = tokio::task::block_in_place(|| manager.ended_within(LIMIT).well().json());
    assert_eq!(venue.home.forfeits(), 0);
    venue.home.verify(MATCHES);
    let standings = standings.as_array().unwrap();
    assert_eq!(standings.len(), 16);
    assert!(standings.iter().all(|row| row["played"] == 15), "{standings:?}");
    let agents: Vec<AgentEntry> = serde_json::from_value(venue.home.tells("agents")).unwrap();
    let shown = league(&["agents", "--home", venue.home.path()]).well().out;
    for (player, form, quirks) in &known {
        let wasted = player.log().wasted();
        assert!(wasted.values().all(|count| *count <= 1), "{}: {wasted:?}", player.name());
        is_known(&shown, agent(&agents, player.name()), form, quirks);
    }
    for (name, process, form) in guests {
        is_known(&shown, agent(&agents, name), form, &[]);
        tokio::task::block_in_place(|| process.ended().well());
    }
    for process in ours {
        tokio::task::block_in_place(|| process.ended().well());
    }
}
