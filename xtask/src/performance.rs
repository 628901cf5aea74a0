//! `cargo xtask performance`: measures everything, and writes the tables of docs/performance.md anew.
//!
//! The report is kept beside the page, and a test holds the page to it.

use std::fs;
use std::process::Command;

use crate::{Outcome, Repository, say};

/// The page, and the report that it shows.
const PAGE: &str = "docs/performance.md";
const REPORT: &str = "docs/performance.json";
const BEGIN: &str = "<!-- league bench -->\n";
const END: &str = "<!-- end -->";
/// The sizes of leagues that show how cost grows.
const GROWTH: &str = "10,32,100,316,1000";

/// Measures, with a build that counts allocations beside the ordinary one.
pub(crate) fn measure(repository: &Repository) -> Outcome {
    let counting = repository.target.join("counting");
    let mut counter = repository.cargo("build --release --package league --features allocations --target-dir");
    counter.arg(&counting);
    repository.run(counter)?;
    repository.run(repository.cargo("build --release --package league"))?;
    say::begin("league bench");
    let program = format!("league{}", std::env::consts::EXE_SUFFIX);
    let mut bench = Command::new(repository.target.join("release").join(&program));
    bench.args(["bench", "--growth", GROWTH, "--json", REPORT, "--allocations-by"]);
    bench.arg(counting.join("release").join(&program));
    repository.run(bench)?;
    show(repository)
}

/// Puts the tables of the report that is kept into the page.
pub(crate) fn show(repository: &Repository) -> Outcome {
    let tables = repository.target.join("performance.md");
    let mut league = repository.cargo("run --release --package league -- bench --report");
    league.arg(REPORT).arg("--markdown").arg(&tables).stdout(std::process::Stdio::null());
    repository.run(league)?;
    let tables = fs::read_to_string(&tables).map_err(|error| format!("cannot read {}: {error}", tables.display()))?;
    let path = repository.root.join(PAGE);
    let page = fs::read_to_string(&path).map_err(|error| format!("cannot read {PAGE}: {error}"))?;
    fs::write(path, replaced(&page, &tables)?).map_err(|error| format!("cannot write {PAGE}: {error}"))
}

/// The page with these tables in place of those between its marks.
fn replaced(page: &str, tables: &str) -> Result<String, String> {
    let lost = || format!("{PAGE} has lost its marks, {} and {END}", BEGIN.trim());
    let (before, rest) = page.split_once(BEGIN).ok_or_else(lost)?;
    let (_, after) = rest.split_once(END).ok_or_else(lost)?;
    Ok(format!("{before}{BEGIN}\n{}\n\n{END}{after}", tables.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_take_the_place_of_those_before_and_nothing_else_changes() {
        let page = format!("before\n{BEGIN}old\n{END}\nafter\n");
        let new = replaced(&page, "new\n").unwrap();
        assert_eq!(new, format!("before\n{BEGIN}\nnew\n\n{END}\nafter\n"));
        assert_eq!(replaced(&new, "new\n"), Ok(new.clone()), "twice is as good as once");
        assert!(replaced("nothing", "new").unwrap_err().contains("lost its marks"));
    }
}
