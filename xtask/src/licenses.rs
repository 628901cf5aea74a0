//! The licenses of the dependencies: most require that their text accompanies the program.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::{Repository, files};

const NAMES: [&str; 5] = ["license", "licence", "copying", "copyright", "notice"];

#[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Package {
    name: String,
    version: String,
    license: String,
}

pub(crate) fn of_dependencies(repository: &Repository, target: &str) -> Result<String, String> {
    let mut tree = repository.cargo(&format!("tree --package league --target {target} --edges normal --prefix none"));
    tree.args(["--format", "{p}|{l}"]);
    let output = repository.output(tree).ok_or("`cargo tree` does not tell what league depends on")?;
    let sources = sources()?;
    let mut text = String::from("This program is built from the following packages, under these licenses.\n");
    for package in packages(&output) {
        let Package { name, version, license } = &package;
        text += &format!("\n{}\n{name} {version}: {license}\n", "=".repeat(80));
        let folder = format!("{name}-{version}");
        let found = sources.iter().map(|registry| registry.join(&folder)).find(|path| path.is_dir());
        let found = found.ok_or_else(|| format!("the sources of {folder} are not where cargo keeps them"))?;
        for file in license_files(&found)? {
            let contents = fs::read(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
            text += &format!("\n{}\n", String::from_utf8_lossy(&contents).trim_end());
        }
    }
    Ok(text)
}

/// Parses the output of `cargo tree`, without our own packages.
fn packages(tree: &str) -> BTreeSet<Package> {
    let package = |line: &str| {
        let (package, license) = line.split_once('|')?;
        let mut words = package.split_whitespace();
        let (name, version) = (words.next()?.to_owned(), words.next()?.strip_prefix('v')?.to_owned());
        // `cargo tree` prints the directory after our own packages.
        let is_ours = words.next().is_some_and(|word| word.starts_with("(/"));
        let license = license.trim_end_matches(" (*)").to_owned();
        (!is_ours).then_some(Package { name, version, license })
    };
    tree.lines().filter_map(package).collect()
}

fn sources() -> Result<Vec<PathBuf>, String> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(env::home_dir()?.join(".cargo"))).ok_or("CARGO_HOME is not set")?;
    files::list(&home.join("registry").join("src"))
}

fn license_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let is_license = |path: &PathBuf| {
        let name = files::name(path).to_lowercase();
        path.is_file() && NAMES.iter().any(|begin| name.starts_with(begin))
    };
    Ok(files::list(folder)?.into_iter().filter(is_license).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_others_are_named_once() {
        let tree = "league v0.1.0 (/src/crates/league)|MIT OR Apache-2.0\nanyhow v1.0.104|MIT OR Apache-2.0\n\
                    serde_derive v1.0.229 (proc-macro)|MIT\nanyhow v1.0.104|MIT OR Apache-2.0 (*)\n";
        let named: Vec<_> = packages(tree).into_iter().map(|package| (package.name, package.license)).collect();
        assert_eq!(
            named,
            [("anyhow".into(), "MIT OR Apache-2.0".into()), ("serde_derive".into(), String::from("MIT"))]
        );
    }
}
