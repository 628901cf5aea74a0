//! Paging and search for long lists.

use maud::{Markup, html};

#[derive(Clone, Debug)]
pub(crate) struct Paging {
    pub(crate) page: usize,
    pub(crate) search: String,
    pub(crate) size: usize,
}

impl Paging {
    pub(crate) fn first(size: usize) -> Self {
        Self { page: 1, search: String::new(), size }
    }

    pub(crate) fn wants(&self, id: &str, name: &str) -> bool {
        let search = self.search.to_lowercase();
        search.is_empty() || id.to_lowercase().contains(&search) || name.to_lowercase().contains(&search)
    }

    pub(crate) fn piece<'a, T>(&self, entries: &'a [T]) -> &'a [T] {
        let from = self.page.saturating_sub(1).saturating_mul(self.size).min(entries.len());
        &entries[from..entries.len().min(from.saturating_add(self.size))]
    }

    /// Empty when there is only one page.
    pub(crate) fn links(&self, path: &str, total: usize) -> Markup {
        let pages = total.div_ceil(self.size).max(1);
        if pages < 2 {
            return html! {};
        }
        let page = self.page.clamp(1, pages);
        let to = |page: usize| {
            let (search, mark) = (encoded(&self.search), if path.contains('?') { '&' } else { '?' });
            if search.is_empty() {
                format!("{path}{mark}page={page}")
            } else {
                format!("{path}{mark}page={page}&q={search}")
            }
        };
        html! {
            nav.paging aria-label="More of this list" {
                @if page > 1 { a rel="prev" href=(to(page - 1)) { "‹ Previous" } }
                span { "Page " (page) " of " (pages) }
                @if page < pages { a rel="next" href=(to(page + 1)) { "Next ›" } }
            }
        }
    }

    pub(crate) fn search(&self, path: &str, what: &str) -> Markup {
        html! {
            form.search role="search" action=(path) method="get" {
                input type="search" name="q" value=(self.search) aria-label=(what) placeholder=(what);
                button { "Search" }
            }
        }
    }
}

fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect()
}
