//! Checks that a page is well-formed, and lists its links.

const VOID: [&str; 6] = ["meta", "link", "base", "input", "br", "img"];

fn tags(html: &str) -> impl Iterator<Item = &str> {
    html.split('<').skip(1).map(|piece| piece.split_once('>').unwrap_or_else(|| panic!("an open tag: {piece}")).0)
}

/// Panics unless tags nest correctly and ids are unique.
pub(crate) fn check(html: &str) {
    assert!(html.starts_with("<!DOCTYPE html>"), "{}", &html[..html.len().min(80)]);
    let mut open: Vec<&str> = Vec::new();
    let mut ids = std::collections::HashSet::new();
    for tag in tags(html).filter(|tag| !tag.starts_with('!')) {
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "in {open:?}");
            continue;
        }
        let name = tag.split(' ').next().unwrap();
        if let Some(id) = attribute(tag, "id") {
            assert!(ids.insert(id), "{id} is there twice");
        }
        assert!(attribute(tag, "style").is_none(), "no style in the page: {tag}");
        assert!(!tag.contains(" on"), "no script in the page: {tag}");
        if name == "script" {
            assert!(attribute(tag, "src").is_some(), "no script in the page: {tag}");
        }
        if !VOID.contains(&name) && !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

pub(crate) fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    rest.split('"').next()
}

pub(crate) fn links(html: &str) -> Vec<String> {
    let base = tags(html).find(|tag| tag.starts_with("base ")).and_then(|tag| attribute(tag, "href")).unwrap();
    let anchors = tags(html).filter(|tag| tag.starts_with("a ")).filter_map(|tag| attribute(tag, "href"));
    let whole = anchors.map(|link| {
        let link = link.split('#').next().unwrap().replace("&amp;", "&");
        if link.starts_with('/') { link } else { format!("{base}{link}") }
    });
    whole.collect()
}
