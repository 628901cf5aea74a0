//! The layout of all pages: head, navigation, history, foot.

use league_core::season::LeaguePhase;
use maud::{DOCTYPE, Markup, html};

use crate::league_snapshot::LeagueSnapshot;

pub(crate) struct Frame<'a> {
    pub(crate) snapshot: &'a LeagueSnapshot,
    pub(crate) title: &'a str,
    /// Without the past event and without a leading slash.
    pub(crate) path: &'a str,
    /// The past event that the page shows; `None` for the present.
    pub(crate) at: Option<u64>,
    pub(crate) head: u64,
    /// The script reloads the page when the league changes.
    pub(crate) follows: bool,
    /// The pages show a log; no manager runs.
    pub(crate) kept: bool,
}

const NAVIGATION: [(&str, &str); 5] =
    [("", "League"), ("crosstable", "Crosstable"), ("schedule", "Schedule"), ("agents", "Agents"), ("log", "Log")];

impl Frame<'_> {
    pub(crate) fn around(&self, content: &Markup) -> Markup {
        let league = self.snapshot.season().config().title();
        let base = self.at.map_or_else(|| String::from("/"), |at| format!("/at/{at}/"));
        let own = format!("{base}{}", self.path);
        let first = self.path.split(['/', '?']).next().unwrap_or_default();
        // The mode of the script: replace parts, reload the page, or nothing.
        let live = match (self.at, self.path, self.follows) {
            (Some(_), _, _) | (None, _, false) => "no",
            (None, "", true) => "parts",
            (None, _, true) => "page",
        };
        // The text that the script shows while the server answers.
        let now = match self.snapshot.season().phase() == LeaguePhase::LeagueCompleted {
            true => "final",
            false if self.kept => "kept",
            false => "live",
        };
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) " · " (league) }
                    base href=(base);
                    link rel="stylesheet" href="/static/style.css";
                    link rel="icon" href="/static/icon.svg" type="image/svg+xml";
                    script src="/static/live.js" defer {}
                }
                body data-live=(live) data-seq=(self.snapshot.seq()) {
                    a.skip href={ (own) "#main" } { "Skip to content" }
                    header.top {
                        a.brand href="" { span.mark aria-hidden="true" { "½" } (league) }
                        nav aria-label="Pages" {
                            @for (path, name) in NAVIGATION {
                                @if path == first { a href=(path) aria-current="page" { (name) } }
                                @else { a href=(path) { (name) } }
                            }
                        }
                        @if live != "no" { span #live role="status" data-now=(now) { "not live" } }
                    }
                    @if let Some(at) = self.at {
                        p.past role="note" {
                            "This is how it was after event " (at) ", " (self.snapshot.last()) ". "
                            a href={ "/" (self.path) } { "Back to the present" }
                        }
                    }
                    main #main tabindex="-1" { (content) }
                    footer {
                        (self.history())
                        p {
                            a href="/api/v1/openapi.json" { "API" } " · "
                            a href="/metrics" { "Metrics" } " · "
                            a href="/export/standings.csv" { "Standings as CSV" } " · "
                            a href="/export/results.csv" { "Results as CSV" } " · "
                            "event " span #seq { (self.snapshot.seq()) }
                        }
                    }
                }
            }
        }
    }

    fn history(&self) -> Markup {
        html! {
            form.history action="/at" method="get" {
                label for="moment" { "Through its history" }
                input #moment type="range" name="seq" min="1" max=(self.head) value=(self.at.unwrap_or(self.head));
                output for="moment" { (self.at.unwrap_or(self.head)) }
                input type="hidden" name="page" value=(self.path);
                button { "Go there" }
            }
        }
    }
}
