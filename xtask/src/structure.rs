//! The structure of the workspace: exported names, the crate diagram, the length of files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::files::{self, list, name, read};
use crate::{Outcome, Repository};

const PAGE: &str = "ARCHITECTURE.md";
const DIAGRAM: &str = "crates";
const LONGEST_FILE: usize = 600;
/// Type names that two crates may export, each with the reason.
const AGREED: &[(&str, &str)] = &[];

type Uses = BTreeMap<String, BTreeSet<String>>;

pub(crate) fn check(repository: &Repository) -> Outcome {
    let mut problems = shared_names(&repository.root)?;
    problems.extend(long_files(&repository.root)?);
    let page = read(&repository.root.join(PAGE))?;
    if replaced(&page, DIAGRAM, &diagram(&uses(&repository.root)?))? != page {
        problems.push(format!("{PAGE} does not show the crates as Cargo.toml has them; `cargo xtask bless` does"));
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n  ")) }
}

pub(crate) fn bless(repository: &Repository) -> Outcome {
    rewrite(repository, PAGE, DIAGRAM, &diagram(&uses(&repository.root)?))
}

pub(crate) fn rewrite(repository: &Repository, page: &str, name: &str, text: &str) -> Outcome {
    let path = repository.root.join(page);
    let new = replaced(&read(&path)?, name, text).map_err(|lost| format!("{page}: {lost}"))?;
    files::write(&path, new)
}

fn replaced(page: &str, name: &str, text: &str) -> Result<String, String> {
    let [begin, end] = ["begin", "end"].map(|part| format!("<!-- {name}:{part} -->"));
    let parts = page.split_once(&begin).and_then(|(before, rest)| Some((before, rest.split_once(&end)?.1)));
    let (before, after) = parts.ok_or_else(|| format!("the marks {begin} and {end} are missing"))?;
    Ok(format!("{before}{begin}\n\n{}\n\n{end}{after}", text.trim()))
}

fn uses(root: &Path) -> Result<Uses, String> {
    let mut all = Uses::new();
    for directory in list(&root.join("crates"))? {
        let manifest = read(&directory.join("Cargo.toml"))?;
        let section = manifest.split("\n[dependencies]\n").nth(1).and_then(|rest| rest.split("\n[").next());
        let ours = section.unwrap_or_default().lines().filter_map(|line| {
            let (name, _) = line.strip_prefix("league-")?.split_once(['.', ' '])?;
            Some(name.to_owned())
        });
        all.insert(name(&directory), ours.collect());
    }
    Ok(all)
}

/// Leaves out an arrow that follows from two others.
fn diagram(uses: &Uses) -> String {
    fn reaches(uses: &Uses, from: &str, to: &str) -> bool {
        from == to || uses.get(from).is_some_and(|next| next.iter().any(|next| reaches(uses, next, to)))
    }
    let depth = |name: &str| uses.keys().filter(|other| reaches(uses, name, other)).count();
    let mut crates: Vec<&String> = uses.keys().collect();
    crates.sort_by_key(|name| (std::cmp::Reverse(depth(name)), name.as_str()));
    let mut text = String::from("```mermaid\ngraph TD\n");
    for name in crates {
        let direct: Vec<&str> = uses[name]
            .iter()
            .filter(|to| !uses[name].iter().any(|other| other != *to && reaches(uses, other, to)))
            .map(String::as_str)
            .collect();
        if !direct.is_empty() {
            text += &format!("    {name} --> {}\n", direct.join(" & "));
        }
    }
    text + "```"
}

/// The lint `unreachable_pub` makes sure that `pub` means exported.
fn shared_names(root: &Path) -> Result<Vec<String>, String> {
    let mut exported = BTreeMap::<String, BTreeSet<String>>::new();
    let libraries = list(&root.join("crates"))?.into_iter().filter(|folder| folder.join("src/lib.rs").exists());
    for library in libraries {
        for file in sources(&library.join("src"))? {
            for type_name in exports(&read(&file)?) {
                exported.entry(type_name).or_default().insert(name(&library));
            }
        }
    }
    let agreed = |name: &str| AGREED.iter().any(|(known, _)| *known == name);
    let shared = exported.into_iter().filter(|(name, crates)| crates.len() > 1 && !agreed(name));
    Ok(shared.map(|(name, crates)| format!("{name} is exported by {}", Vec::from_iter(crates).join(" and "))).collect())
}

fn exports(source: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let name = |line: &str| {
        let (kind, rest) = line.trim_start().strip_prefix("pub ")?.split_once(' ')?;
        let letters = |c: char| c.is_alphanumeric() || c == '_';
        let name = rest.split(|c| !letters(c)).next().filter(|name| !name.is_empty())?;
        ["struct", "enum", "trait", "type", "union"].contains(&kind).then(|| name.to_owned())
    };
    code.lines().filter_map(name).collect()
}

fn long_files(root: &Path) -> Result<Vec<String>, String> {
    let mut long = Vec::new();
    for part in ["crates", "lab", "xtask", "examples", "fuzz"] {
        for file in sources(&root.join(part))? {
            let lines = read(&file)?.lines().count();
            if lines > LONGEST_FILE {
                long.push(format!("{} has {lines} lines, more than {LONGEST_FILE}", file.display()));
            }
        }
    }
    Ok(long)
}

/// Leaves out build results.
pub(crate) fn sources(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    for path in list(directory)? {
        if path.is_dir() && !["target", "node_modules"].contains(&name(&path).as_str()) {
            found.extend(sources(&path)?);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            found.push(path);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exported_types_are_found_and_others_are_not() {
        let source = "pub struct One;\n    pub enum Two<T> {}\npub(crate) struct Own;\npub fn three() {}\npub type Four = u8;\n\
                      #[cfg(test)]\nmod tests {\n    pub struct Tested;\n}\n";
        assert_eq!(exports(source), ["One", "Two", "Four"]);
    }

    #[test]
    fn an_arrow_that_follows_from_others_is_left_out() {
        let uses = [("a", vec!["b", "c"]), ("b", vec!["c"]), ("c", vec![])];
        let uses = uses.map(|(name, uses)| (name.to_owned(), uses.into_iter().map(str::to_owned).collect()));
        assert_eq!(diagram(&uses.into()), "```mermaid\ngraph TD\n    a --> b\n    b --> c\n```");
    }

    #[test]
    fn text_takes_the_place_of_what_stood_between_the_marks() {
        let page = "before\n<!-- x:begin -->old<!-- x:end -->\nafter\n";
        let new = replaced(page, "x", "new\n").unwrap();
        assert_eq!(new, "before\n<!-- x:begin -->\n\nnew\n\n<!-- x:end -->\nafter\n");
        assert_eq!(replaced(&new, "x", "new"), Ok(new.clone()));
        assert!(replaced("nothing", "x", "new").unwrap_err().contains("missing"));
    }
}
