//! What was said in a match: in words, with its times, and message by message.
//!
//! A long match is shown in parts, so that no page is larger than 100 KB.

use std::ops::Range;

use league_protocol::time::Timestamp;
use league_store::views::match_file::{Direction, MatchFile};
use league_store::views::narrative::{NarrativeStep, steps};
use maud::{Markup, html};

use crate::answers::{Answer, answers};

/// Of the messages of one part, and how many there are at most. A quote takes six bytes in a page.
const PART_BYTES: usize = 12 * 1024;
const PART_MESSAGES: usize = 40;
/// Of one message. Indentation makes deeply nested JSON many times larger.
const MESSAGE_BYTES: usize = 12 * 1024;
const MAX_GROWTH: usize = 4;

/// Where the entries of each part are; at least one part.
fn parts(file: &MatchFile) -> Vec<Range<usize>> {
    let (mut parts, mut start, mut bytes) = (Vec::new(), 0, 0);
    for (place, entry) in file.transcript.iter().enumerate() {
        let size = entry.message().get().len();
        if place > start && (place - start >= PART_MESSAGES || bytes + size > PART_BYTES) {
            parts.push(start..place);
            (start, bytes) = (place, 0);
        }
        bytes += size;
    }
    parts.push(start..file.transcript.len());
    parts
}

/// One part of the transcript of a match.
pub(super) struct TranscriptPart<'a, N> {
    file: &'a MatchFile,
    name: N,
    entries: Range<usize>,
    number: usize,
    count: usize,
    steps: Vec<NarrativeStep>,
    /// The part with the first error, if it is not this one.
    error: Option<usize>,
}

impl<'a, N: Fn(&str) -> String> TranscriptPart<'a, N> {
    /// `number` counts from one; a number that is too high means the last part.
    pub(super) fn of(file: &'a MatchFile, number: usize, name: N) -> Self {
        let parts = parts(file);
        let number = number.clamp(1, parts.len());
        let entries = parts.get(number - 1).cloned().unwrap_or_default();
        let all = steps(file, &name);
        let wrong = all.iter().find(|step| step.wrong).map(|step| step.entry);
        let error = wrong.filter(|entry| !entries.contains(entry));
        let error = error.and_then(|entry| parts.iter().position(|part| part.contains(&entry))).map(|part| part + 1);
        let steps = all.into_iter().filter(|step| entries.contains(&step.entry)).collect();
        Self { file, name, entries, number, count: parts.len(), steps, error }
    }

    pub(super) fn steps(&self) -> Markup {
        html! {
            section #steps aria-labelledby="steps-title" {
                h2 #steps-title { "What happened" }
                ol.steps {
                    @for step in &self.steps {
                        li.wrong[step.wrong] { time datetime=(step.at) { (clock(step.at)) } " " @if step.wrong { span.pill data-state="LOST" { "error" } " " } (step.text) }
                    }
                }
                @if self.count > 1 { (self.links()) }
            }
        }
    }

    fn links(&self) -> Markup {
        let to = |number: usize| format!("matches/{}?part={number}", self.file.match_id);
        html! {
            nav.paging aria-label="More of what happened" {
                @if self.number > 1 { a rel="prev" href=(to(self.number - 1)) { "‹ Earlier" } }
                span { "Messages " (self.entries.start + 1) " to " (self.entries.end) " of " (self.file.transcript.len()) }
                @if self.number < self.count { a rel="next" href=(to(self.number + 1)) { "Later ›" } }
                @if let Some(error) = self.error { a href=(to(error)) { "To the first error" } }
            }
        }
    }

    pub(super) fn times(&self) -> Markup {
        let calls = answers(self.file).filter(|call| self.entries.contains(&call.entry));
        html! {
            section #timeline aria-labelledby="timeline-title" { details {
                summary { h2 #timeline-title { "Every call with its time" } }
                div.wide tabindex="0" role="region" aria-label="Every call with its receipt" {
                    table.calls {
                        thead { tr {
                            th.name scope="col" { "Asked" } th.name scope="col" { "For" } th.name scope="col" { "Sent" }
                            th scope="col" { "First byte" } th scope="col" { "Last byte" } th scope="col" { "Limit" } th.lane scope="col" { "Of its limit" }
                        } }
                        tbody { @for call in calls { (receipt(&call, &(self.name)(call.player))) } }
                    }
                }
            } }
        }
    }

    pub(super) fn messages(&self) -> Markup {
        let entries = self.file.transcript.get(self.entries.clone()).unwrap_or_default();
        let errors = self.file.transcript.iter().filter(|entry| entry.message_type == "GAME_ERROR").count();
        html! {
            section #transcript aria-labelledby="transcript-title" { details {
                summary { h2 #transcript-title { "Every message" } @if errors > 0 { " " span.pill data-state="LOST" { (errors) " with an error" } } }
                ol.transcript start=(self.entries.start + 1) {
                    @for entry in entries {
                        li data-direction=(match entry.direction { Direction::Sent => "sent", Direction::Received => "received" }) {
                            details {
                                summary { time { (entry.at) } " " b { ((self.name)(&entry.from)) } " → " b { ((self.name)(&entry.to)) } " " span.kind data-kind=(entry.message_type) { (entry.message_type) } }
                                pre tabindex="0" { (pretty(entry.message().get())) }
                            }
                        }
                    }
                }
            } }
        }
    }
}

fn clock(at: Timestamp) -> String {
    let whole = at.to_string();
    whole.get(11..19).unwrap_or(&whole).to_owned()
}

fn receipt(call: &Answer<'_>, name: &str) -> Markup {
    let took = call.receipt.last_byte_ms.unwrap_or(call.receipt.limit_ms);
    let part = (took as f64 / call.receipt.limit_ms.max(1) as f64).min(1.0);
    html! {
        tr data-came=(call.arrived) {
            th.name scope="row" { (name) }
            td.name { (call.message_type) }
            td.name { time datetime=(call.receipt.sent_at) { (call.receipt.sent_at) } }
            td { (millis(call.receipt.first_byte_ms)) }
            td { (millis(call.receipt.last_byte_ms)) }
            td {
                (call.receipt.limit_ms) " ms"
                @if let Some(granted) = call.receipt.granted_ms {
                    span.granted title="The referee itself was late, and grants the player that time" { " + " (granted) " ms" }
                }
            }
            td.lane {
                svg.lane viewBox="0 0 200 12" preserveAspectRatio="none" aria-hidden="true" {
                    rect.track x="0" y="5" width="200" height="2" {}
                    rect class=(if call.arrived { "took" } else { "lost" }) x="0" y="1" width=(format!("{:.1}", (200.0 * part).max(2.0))) height="10" rx="2" {}
                }
            }
        }
    }
}

fn millis(span: Option<u64>) -> String {
    span.map_or_else(|| String::from("never"), |span| format!("{span} ms"))
}

fn pretty(json: &str) -> String {
    let value: Result<serde_json::Value, _> = serde_json::from_str(json);
    let pretty = value.and_then(|value| serde_json::to_string_pretty(&value)).ok();
    let text = pretty.filter(|pretty| pretty.len() <= MAX_GROWTH * json.len()).unwrap_or_else(|| json.to_owned());
    if text.len() <= MESSAGE_BYTES {
        return text;
    }
    let end = (0..=MESSAGE_BYTES).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    format!("{}\n… the rest is in the JSON of the match", &text[..end])
}

#[cfg(test)]
mod tests {
    use league_protocol::side::Pair;
    use league_store::views::match_file::{MatchContext, TranscriptEntry};

    use super::*;

    #[test]
    fn a_deeply_nested_or_long_message_stays_small() {
        let nested = format!("{}{}", "[".repeat(100), "]".repeat(100));
        assert_eq!(pretty(&nested), nested);
        let long = format!("[\"{}\"]", "é".repeat(MESSAGE_BYTES));
        let shown = pretty(&long);
        assert!(shown.len() < MESSAGE_BYTES + 100 && shown.ends_with("the JSON of the match"), "{}", shown.len());
        assert_eq!(pretty("[1]"), "[\n  1\n]");
    }

    #[test]
    fn every_message_of_a_long_match_is_in_one_part_and_no_part_is_large() {
        let context = MatchContext {
            league_id: "league".parse().unwrap(),
            round_id: league_protocol::id::RoundId(1),
            match_id: "R1M1".parse().unwrap(),
            attempt: 1,
            game_type: "rock_paper_scissors".parse().unwrap(),
            players: Pair::new("P01".parse().unwrap(), "P02".parse().unwrap()),
            referee_id: "REF01".parse().unwrap(),
        };
        let mut file = MatchFile::new(context, Timestamp::EPOCH);
        file.transcript = (0..300_usize)
            .map(|number| {
                let (from, to) = ("REF01".into(), "P01".into());
                let rules = "\"a\",".repeat(if number % 50 == 7 { 3_000 } else { number % 300 });
                let message = format!(r#"{{"number": "message {number}!", "rules": [{rules} 1]}}"#);
                TranscriptEntry::new(
                    Timestamp::EPOCH,
                    Direction::Sent,
                    (from, to),
                    "GAME_MOVE_CALL".into(),
                    message.as_bytes(),
                    None,
                )
            })
            .collect();
        let count = parts(&file).len();
        let pages: Vec<String> = (1..=count)
            .map(|number| {
                let part = TranscriptPart::of(&file, number, str::to_owned);
                html! { (part.steps()) (part.times()) (part.messages()) }.into_string()
            })
            .collect();
        assert!(count > 300 / PART_MESSAGES && pages.iter().all(|page| page.len() < 70_000), "{count}");
        for number in 0..300 {
            let wanted = format!("message {number}!");
            assert_eq!(pages.iter().filter(|page| page.contains(&wanted)).count(), 1, "{wanted}");
        }
        assert!(pages[0].contains("part=2") && !pages[0].contains("rel=\"prev\""), "{}", pages[0]);
        let last = pages.last().unwrap();
        assert!(!last.contains("rel=\"next\"") && last.contains("of 300"), "{last}");
        assert!(pages[1].contains("To the first error"), "a call without an answer is an error: {}", pages[1]);
    }
}
