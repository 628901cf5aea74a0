//! The commands and links of a document, with their lines.
//!
//! Not a parser of Markdown: it knows fences, code spans, links and the `src` and `href` of tags, as our documents use
//! them.

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Counts from one.
    pub(crate) line: usize,
    pub(crate) text: String,
}

/// The lines of `sh` blocks without comments; lines that end in `\` are joined.
pub(crate) fn commands(document: &str) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    let mut continued = false;
    for Line { number, text, .. } in lines(document).filter(|line| line.language == Some("sh")) {
        let text = text.trim();
        let (text, continues) = text.strip_suffix('\\').map_or((text, false), |part| (part.trim_end(), true));
        match found.last_mut().filter(|_| continued) {
            Some(command) => command.text = format!("{} {text}", command.text),
            None if text.is_empty() || text.starts_with('#') => {}
            None => found.push(Found { line: number, text: text.to_owned() }),
        }
        continued = continues;
    }
    found
}

pub(crate) fn relative_links(document: &str) -> Vec<Found> {
    let mut found = Vec::new();
    for Line { number, text, .. } in lines(document).filter(|line| line.language.is_none()) {
        let prose: String = text.split('`').step_by(2).collect();
        let inline = [("](", ')'), ("src=\"", '"'), ("href=\"", '"')]
            .into_iter()
            .flat_map(|(opening, closing)| {
                prose.split(opening).skip(1).filter_map(move |rest| rest.split_once(closing))
            })
            .map(|(target, _)| target);
        let defined = prose.trim_start().strip_prefix('[').and_then(|rest| rest.split_once("]: "));
        for target in inline.chain(defined.map(|(_, target)| target)) {
            // A title may follow.
            let target = target.split_whitespace().next().unwrap_or_default();
            let path = target.trim_matches(['<', '>']).split('#').next().unwrap_or_default();
            if !path.is_empty() && !path.contains("://") && !path.starts_with("mailto:") {
                found.push(Found { line: number, text: path.to_owned() });
            }
        }
    }
    found
}

struct Line<'d> {
    number: usize,
    text: &'d str,
    language: Option<&'d str>,
}

fn lines(document: &str) -> impl Iterator<Item = Line<'_>> {
    let mut open: Option<(&str, &str)> = None;
    document.lines().enumerate().filter_map(move |(index, text)| {
        let fence = fence(text);
        match (open, fence) {
            (None, Some(_)) => open = fence,
            // A block ends with a fence that is at least as long as its first; a shorter one is text.
            (Some((marks, _)), Some((end, ""))) if end.starts_with(marks) => open = None,
            (None, None) | (Some(_), _) => {
                return Some(Line { number: index + 1, text, language: open.map(|(_, language)| language) });
            }
        }
        None
    })
}

fn fence(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let rest = line.trim_start_matches(mark);
    let marks = &line[..line.len() - rest.len()];
    // ```like this``` is a code span.
    (marks.len() >= 3 && !rest.contains('`')).then(|| (marks, rest.split_whitespace().next().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(found: &[Found]) -> Vec<(usize, &str)> {
        found.iter().map(|found| (found.line, found.text.as_str())).collect()
    }

    #[test]
    fn commands_come_from_sh_blocks_only() {
        for (document, expected) in [
            (
                "cargo one\n```sh\ncargo two\n\n# why\ncargo three\n```\n```text\ncargo four\n```\n```\ncargo five\n```\n",
                &[(3, "cargo two"), (6, "cargo three")][..],
            ),
            // A command continues on the next line.
            (
                "- first\n  ```sh\n  cargo run \\\n    --release \\\n    -- --seed 7\n  cargo doc\n  ```\n",
                &[(3, "cargo run --release -- --seed 7"), (6, "cargo doc")],
            ),
            // A block within a longer fence is text.
            ("````md\n```sh\nrm everything\n```\n````\n~~~sh\ntrue\n~~~\n```a span``` in a line\n", &[(7, "true")]),
        ] {
            assert_eq!(pairs(&commands(document)), expected, "{document}");
        }
    }

    #[test]
    fn relative_links_are_found_and_addresses_fragments_and_code_are_not() {
        let document = "[a](A.md) and ![b](img/b.svg \"B\")\n[`c`](C.md#part)\n\n[d]: <D.md>\n<img src=\"e.svg\">\n\
                        [a](https://example.org/a) [b](#part) [c](mailto:c@example.org) `[d](D.md)`\n```rust\nx[0](e)\n```\n";
        let expected = [(1, "A.md"), (1, "img/b.svg"), (2, "C.md"), (4, "D.md"), (5, "e.svg")];
        assert_eq!(pairs(&relative_links(document)), expected);
    }
}
