//! The event log with its hashes and its head.

use league_core::season::event::Event;
use league_store::log::LogHead;
use maud::{Markup, html};

use super::paging::Paging;
use crate::league_snapshot::LeagueSnapshot;
use crate::recent_events;

pub(crate) const ROWS: usize = 100;

pub(crate) fn page(
    snapshot: &LeagueSnapshot,
    paging: &Paging,
    entries: &[(LogHead, Event)],
    head: Option<LogHead>,
) -> Markup {
    html! {
        section #log {
            h1 { "Log" }
            @if let Some(head) = head {
                p { "Head: " code #head { (head) } }
                p.small { "Keep the head: " code { "league verify --head" } " then shows whether an event before it was changed." }
            }
            div.wide tabindex="0" role="region" aria-label="Events" {
                table.log #log-table {
                    thead { tr { th scope="col" data-sort="rank" { "#" } th.name scope="col" { "In words" } th.name scope="col" data-sort="text" { "When" } th.name scope="col" data-sort="text" { "What" } th.name scope="col" { "Hash" } } }
                    tbody {
                        @for (head, event) in entries {
                            tr id={ "event-" (head.seq) } {
                                td { (head.seq) }
                                td.name { (recent_events::sentence(snapshot.season(), &event.fact)) }
                                td.name { time datetime=(event.at) { (event.at) } }
                                td.name { code { (event.fact.kind()) } }
                                td.name { code.hash title=(head.hash) { (short(head)) } }
                            }
                        }
                    }
                }
            }
            (paging.links("log", usize::try_from(snapshot.seq()).unwrap_or(usize::MAX)))
        }
    }
}

fn short(head: &LogHead) -> String {
    head.hash.to_string().chars().take(12).collect()
}
