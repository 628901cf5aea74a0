//! Tables and sentences, for a terminal and for a document alike.

use std::fmt::Write;

use crate::table;

pub(crate) struct Section {
    pub(crate) title: String,
    /// The table, where there is one.
    pub(crate) table: Option<Lines>,
    /// What has to be known to read it.
    pub(crate) note: Option<String>,
}

pub(crate) struct Lines {
    /// The columns; those of figures begin with `>` and stand to the right.
    pub(crate) header: &'static [&'static str],
    pub(crate) rows: Vec<Vec<String>>,
}

impl Section {
    /// A table and what it is called.
    pub(crate) fn new(title: impl Into<String>, header: &'static [&'static str], rows: Vec<Vec<String>>) -> Self {
        Self { title: title.into(), table: Some(Lines { header, rows }), note: None }
    }

    pub(crate) fn noting(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }
}

impl Lines {
    fn names(&self) -> Vec<&'static str> {
        self.header.iter().map(|name| name.trim_start_matches('>')).collect()
    }

    fn is_figure(&self, column: usize) -> bool {
        self.header[column].starts_with('>')
    }
}

pub(crate) fn shown(sections: &[Section]) -> String {
    let part = |section: &Section| {
        let mut out = section.title.clone();
        if let Some(lines) = &section.table {
            let figures: Vec<usize> = (0..lines.header.len()).filter(|column| lines.is_figure(*column)).collect();
            out.push_str(&format!("\n{}", table::of_any(&lines.names(), lines.rows.iter().cloned(), &figures)));
        }
        if let Some(note) = &section.note {
            out.push_str(&format!("\n{note}"));
        }
        out
    };
    sections.iter().map(part).collect::<Vec<_>>().join("\n\n")
}

pub(crate) fn markdown(sections: &[Section]) -> String {
    let mut out = String::new();
    for section in sections {
        // Writing to a string cannot fail.
        let _ = part(section, &mut out);
    }
    out
}

fn part(section: &Section, out: &mut String) -> std::fmt::Result {
    let between = if out.is_empty() { "" } else { "\n" };
    writeln!(out, "{between}### {}", section.title)?;
    if let Some(lines) = &section.table {
        let rules = (0..lines.header.len()).map(|column| if lines.is_figure(column) { "--:" } else { "---" });
        writeln!(out, "\n| {} |\n|{}|", lines.names().join(" | "), rules.collect::<Vec<_>>().join("|"))?;
        for row in &lines.rows {
            writeln!(out, "| {} |", row.join(" | "))?;
        }
    }
    match &section.note {
        Some(note) => writeln!(out, "\n{note}"),
        None => Ok(()),
    }
}

/// A number as people write it: 499,500.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The same of a figure, without what is behind the point.
pub(crate) fn whole(figure: f64) -> String {
    grouped(figure.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_looks_alike_on_a_terminal_and_in_a_document() {
        let rows = vec![vec!["one".to_owned(), grouped(499_500)]];
        let sections = [Section::new("Things", &["thing", ">count"], rows).noting("That is all.")];
        assert_eq!(
            markdown(&sections),
            "### Things\n\n| thing | count |\n|---|--:|\n| one | 499,500 |\n\nThat is all.\n"
        );
        let shown = shown(&sections);
        assert!(shown.starts_with("Things\n┌") && shown.ends_with("┘\nThat is all."), "{shown}");
        assert!(shown.contains("│ one     499,500 │"), "{shown}");
    }

    #[test]
    fn numbers_are_grouped_by_thousands() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
