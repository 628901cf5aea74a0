//! `cargo xtask ci extension`: adds one game, one strategy, one format and one message to a copy of the workspace. They
//! may touch only the files that CONTRIBUTING.md names; the copy is then built, tested and played.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use crate::repository::command;
use crate::{Outcome, Repository, files};

const GUIDE: &str = "CONTRIBUTING.md";
/// The crates that are extended, and those whose tests cover all games and strategies.
const TESTED: [&str; 4] = ["league-protocol", "league-core", "league-player", "league-dashboard"];
/// Named in every command although none of their tests is run: so the dependencies have the features of the whole
/// workspace, and what `cargo xtask test` compiled is used again.
const PROGRAMS: [&str; 2] = ["league", "league-bench"];

struct Addition {
    section: &'static str,
    file: (&'static str, &'static str),
    /// A file, a text in it, and its replacement.
    edits: &'static [(&'static str, &'static str, &'static str)],
}

const ADDITIONS: [Addition; 4] = [
    Addition {
        section: "How to add a game",
        file: ("crates/core/src/rules/higher_number.rs", include_str!("../extension/game.rs")),
        edits: &[
            ("crates/core/src/rules.rs", "pub mod outcome;", "pub mod higher_number;\npub mod outcome;"),
            (
                "crates/core/src/rules/registry.rs",
                "(\"even_odd\", start::<EvenOdd>),",
                "(\"even_odd\", start::<EvenOdd>), (\"higher_number\", start::<super::higher_number::HigherNumber>),",
            ),
        ],
    },
    Addition {
        section: "How to add a strategy",
        file: ("crates/player/src/strategy/highest.rs", include_str!("../extension/strategy.rs")),
        edits: &[
            ("crates/player/src/strategy.rs", "mod frequency;", "mod frequency;\nmod highest;"),
            ("docs/strategies.md", "| `random` |", "| `highest` | the last legal move | | |\n| `random` |"),
            (
                "crates/player/src/strategy/registry.rs",
                "const STRATEGIES: &[StrategyEntry] = &[",
                "const STRATEGIES: &[StrategyEntry] = &[\n    plain(\"highest\", \"names the last legal move\", || Arc::new(super::highest::Highest)),",
            ),
        ],
    },
    Addition {
        section: "How to add a format",
        file: ("crates/core/src/season/format/single_round.rs", include_str!("../extension/format.rs")),
        edits: &[
            ("crates/core/src/season/format.rs", "mod round_robin;", "mod round_robin;\nmod single_round;"),
            (
                "crates/core/src/season/format.rs",
                "&[round_robin::ENTRY, ",
                "&[round_robin::ENTRY, single_round::ENTRY, ",
            ),
        ],
    },
    Addition {
        section: "How to add a message",
        file: ("crates/protocol/src/message/motto.rs", include_str!("../extension/message.rs")),
        edits: &[
            ("crates/protocol/src/message.rs", "pub mod operate;", "pub mod motto;\npub mod operate;"),
            (
                "crates/protocol/src/table.rs",
                "    Ping {",
                "    GetMotto {\n        None, [Operator] => [Player], \"get_motto\",\n        \
                 Empty => crate::message::motto::Motto = None, Generic, Open\n    }\n    /// Show that the agent runs.\n    Ping {",
            ),
            (
                "crates/protocol/tests/sample/mod.rs",
                "Method::Ping => write_answer::<Empty>,",
                "Method::GetMotto => write_answer::<league_protocol::message::motto::Motto>,\n        \
                 Method::Ping => write_answer::<Empty>,",
            ),
            (
                "crates/player/src/player.rs",
                "PlayerCall::Ping(nothing) =>",
                "PlayerCall::GetMotto(_) => CallAnswer::new(plain(shared), &league_protocol::message::motto::Motto::default()),\n            \
                 PlayerCall::Ping(nothing) =>",
            ),
        ],
    },
];

pub(crate) fn check(repository: &Repository) -> Outcome {
    let copy = repository.target.join("extension");
    copy_workspace(repository, &copy)?;
    let guide = files::read(&repository.root.join(GUIDE))?;
    for addition in ADDITIONS {
        let section = guide.split("\n## ").find(|part| part.starts_with(addition.section));
        let section = section.ok_or_else(|| format!("{GUIDE} has no section `{}`", addition.section))?;
        let (path, text) = addition.file;
        named(section, path)?;
        files::write(&copy.join(path), text)?;
        for (path, old, new) in addition.edits {
            named(section, path)?;
            let text = files::read(&copy.join(path))?;
            if text.matches(old).count() != 1 {
                return Err(format!("{path} does not have `{old}` once; xtask/src/extension.rs must follow it"));
            }
            files::write(&copy.join(path), text.replace(old, new))?;
        }
    }
    let cargo = |verb: &str, targets: &[String]| {
        let mut command = repository.cargo(verb);
        command.arg("--manifest-path").arg(copy.join("Cargo.toml")).env("CARGO_TARGET_DIR", &repository.target);
        command.args(TESTED.iter().chain(&PROGRAMS).flat_map(|package| ["--package", package])).args(targets);
        command
    };
    let protocol = integration_tests(&copy.join("crates/protocol"))?;
    let mut all = vec![String::from("--lib")];
    for package in TESTED {
        all.extend(integration_tests(&copy.join("crates").join(package.trim_start_matches("league-")))?);
    }
    // The new message changes golden files and PROTOCOL.md, and the new game has a recorded course, as the guide says.
    // One test of the protocol at a time: one of them rewrites PROTOCOL.md, which the others read.
    for (targets, options) in
        [(&protocol[..], "-- --test-threads=1"), (&[String::from("--lib")], "-- playthroughs prompt")]
    {
        let mut bless = cargo("test", targets);
        bless.args(options.split(' ')).env("INSTA_UPDATE", "always").env("LEAGUE_BLESS", "1");
        repository.run(bless)?;
    }
    repository.run(cargo("test", &all))?;
    // With a test, because dependencies have other features in a build without tests, and would be compiled again.
    repository.run(cargo("build", &["--bin", "league", "--test", "golden"].map(String::from)))?;
    // A kit plays the new game with players of the binary.
    let port =
        TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).map_err(|error| error.to_string())?;
    let mut kit = Command::new("python3");
    kit.arg(copy.join("examples/python-stdlib/player.py"));
    kit.args(["--game", "higher_number", "--port", "0", "--manager"]).arg(format!("http://{port}/mcp"));
    let mut kit = kit.spawn().map_err(|error| format!("python3 cannot be started: {error}"))?;
    let mut league = Command::new(repository.debug_program("league"));
    let options = "run --players 5 --guests 1 --game higher_number --strategies highest,random --port";
    league.args(options.split(' ')).arg(port.port().to_string());
    league.arg("--home").arg(copy.join("home"));
    let played = repository.run(league);
    if played.is_err() {
        drop(kit.kill());
    }
    let ended = kit.wait().map_err(|error| error.to_string())?;
    played?;
    if ended.success() { Ok(()) } else { Err(format!("the kit failed: {ended}")) }
}

/// The options of cargo that name the integration tests of a crate: a file, or a folder with a `main.rs`.
fn integration_tests(package: &Path) -> Result<Vec<String>, String> {
    let mut options = Vec::new();
    for path in files::list(&package.join("tests"))? {
        let is_test = path.extension().is_some_and(|kind| kind == "rs") || path.join("main.rs").is_file();
        if is_test {
            options.push(String::from("--test"));
            options.push(path.file_stem().unwrap_or_default().to_string_lossy().into_owned());
        }
    }
    Ok(options)
}

fn named(section: &str, path: &str) -> Outcome {
    let folder = path.rsplit_once('/').map_or(path, |(folder, _)| folder);
    let quoted: Vec<&str> = section.split('`').skip(1).step_by(2).map(|name| name.trim_end_matches('/')).collect();
    if quoted.contains(&path) || quoted.contains(&folder) {
        return Ok(());
    }
    Err(format!("{GUIDE} does not name {path} where it says: {}", section.lines().next().unwrap_or_default()))
}

fn copy_workspace(repository: &Repository, copy: &Path) -> Outcome {
    files::empty(copy)?;
    let listed = repository.output(command("git ls-files --cached --others --exclude-standard"));
    let listed = listed.ok_or("git does not list the files")?;
    for file in listed.lines().filter(|file| repository.root.join(file).is_file()) {
        files::copy(&repository.root.join(file), &copy.join(file))?;
    }
    Ok(())
}
