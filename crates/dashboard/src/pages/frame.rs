//! The layout of all pages: head, navigation, history, foot.

use league_core::season::LeaguePhase;
use maud::{DOCTYPE, Markup, html};

use crate::league_snapshot::LeagueSnapshot;

pub(crate) struct Frame<'a> {
    /// The path of the first page, with a slash at both ends.
    pub(crate) root: &'a str,
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
    /// On the pages of a standby, the first page of the manager that leads, if one does.
    pub(crate) leader: Option<Option<String>>,
    /// For a large screen: without navigation, history and foot.
    pub(crate) bare: bool,
}

const NAVIGATION: [(&str, &str); 5] =
    [("", "League"), ("crosstable", "Crosstable"), ("schedule", "Schedule"), ("agents", "Agents"), ("log", "Log")];

impl Frame<'_> {
    pub(crate) fn around(&self, content: &Markup) -> Markup {
        let league = self.snapshot.season().config().title();
        let root = self.root;
        let base = self.at.map_or_else(|| root.to_owned(), |at| format!("{root}at/{at}/"));
        let own = format!("{base}{}", self.path);
        let first = self.path.split(['/', '?']).next().unwrap_or_default();
        // The mode of the script: replace parts, reload the page, or nothing.
        let live = match (self.at, self.path, self.follows) {
            (Some(_), _, _) | (None, _, false) => "no",
            (None, "", true) => "parts",
            (None, _, true) if self.bare => "projector",
            (None, _, true) => "page",
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
                    link rel="stylesheet" href={ (root) "static/style.css" };
                    link rel="icon" href={ (root) "static/icon.svg" } type="image/svg+xml";
                    script src={ (root) "static/live.js" } defer {}
                }
                body.projector[self.bare] data-live=(live) data-league=(self.snapshot.season().config().league_id) data-seq=(self.snapshot.seq()) {
                    @if !self.bare {
                        a.skip href={ (own) "#main" } { "Skip to content" }
                        header.top {
                            a.brand href="" { img.mark src={ (root) "static/icon.svg" } alt="" width="28" height="28"; (league) }
                            nav aria-label="Pages" {
                                @if root != "/" { a href="/" { "All leagues" } }
                                @for (path, name) in NAVIGATION {
                                    @if path == first { a href=(path) aria-current="page" { (name) } }
                                    @else { a href=(path) { (name) } }
                                }
                            }
                            @if live != "no" { (self.sign()) }
                        }
                    }
                    @if let Some(at) = self.at {
                        aside.past aria-label="The past" {
                            "This is how it was after event " (at) ", " (self.snapshot.last()) ". "
                            a href={ (root) (self.path) } { "Back to the present" }
                        }
                    } @else if let Some(leader) = &self.leader {
                        aside.past #standby aria-label="A standby manager" {
                            "A standby manager shows this page. "
                            @match leader {
                                Some(url) => { "The league is led at " a href=(url) { (url) } "." }
                                None => "No manager leads the league at this moment.",
                            }
                        }
                    } @else if self.now() == "kept" {
                        aside.past #archived aria-label="An archived league" {
                            "These are the records of a league that is not over. No manager runs here; the pages go on when one continues it."
                        }
                    }
                    main #main tabindex="-1" { (content) }
                    @if !self.bare {
                        footer {
                            (self.history())
                            p {
                                a href={ (root) "api/v1/openapi.json" } { "API" } " · "
                                a href={ (root) "metrics" } { "Metrics" } " · "
                                a href={ (root) "export/standings.csv" } { "Standings as CSV" } " · "
                                a href={ (root) "export/results.csv" } { "Results as CSV" } " · "
                                "event " span #seq { (self.snapshot.seq()) }
                            }
                        }
                    }
                }
            }
        }
    }

    /// The text that the script shows while the server answers.
    fn now(&self) -> &'static str {
        let season = self.snapshot.season();
        let is_over = season.phase() == LeaguePhase::LeagueCompleted;
        match (is_over, self.kept, season.is_halted()) {
            (true, _, _) => "final",
            (false, true, _) => "kept",
            (false, false, true) => "stopped",
            (false, false, false) => "live",
        }
    }

    /// Tells whether the page follows the league.
    pub(crate) fn sign(&self) -> Markup {
        html! { span #live role="status" data-now=(self.now()) { "not live" } }
    }

    fn history(&self) -> Markup {
        html! {
            form.history action={ (self.root) "at" } method="get" {
                label for="moment" { "Through its history" }
                input #moment type="range" name="seq" min="1" max=(self.head) value=(self.at.unwrap_or(self.head));
                output for="moment" { (self.at.unwrap_or(self.head)) }
                input type="hidden" name="page" value=(self.path);
                button { "Go there" }
            }
        }
    }
}
