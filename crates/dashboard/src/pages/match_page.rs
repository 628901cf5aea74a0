//! A match: every call with its receipt, every message, and the draw with its proof.
//!
//! The page hides the messages of an unfinished match, because the opponent could read a choice.

use league_core::record::{MatchRecord, RevealedDraw};
use league_core::rules::draw::sealed_attempt;
use league_protocol::id::{GameType, MatchId};
use league_protocol::time::Timestamp;
use league_store::views::match_file::{Direction, MatchFile};
use league_store::views::narrative::{steps, with_names};
use maud::{Markup, html};

use super::links::{named, player_link};
use super::replay;
use super::schedule::in_order;
use crate::answers::{Answer, answers};
use crate::league_snapshot::LeagueSnapshot;
use crate::recent_events;

pub(crate) struct FinishedMatch {
    /// `None` when the match was not played.
    pub(crate) attempt: Option<u32>,
    pub(crate) record: MatchRecord,
    /// `None` when the match file is on another machine.
    pub(crate) file: Option<MatchFile>,
}

pub(crate) fn page(
    snapshot: &LeagueSnapshot,
    match_id: &MatchId,
    over: Option<&FinishedMatch>,
    operate: &Markup,
) -> Markup {
    let season = snapshot.season();
    let held = season.assignments().into_iter().find(|held| held.match_id == *match_id);
    html! {
        section #match data-match=(match_id) {
            h1 { "Match " (match_id) }
            @if let Some(players) = season.contestants(match_id) {
                p.versus { (player_link(players.a)) span { " against " } (player_link(players.b)) }
            }
            @match (over, held) {
                (Some(over), _) => (result(snapshot, match_id, over)),
                (None, Some(held)) => p #state { span.pill data-state="playing" { "playing" } " at " (held.referee) ", attempt " (held.attempt) },
                (None, None) => p #state { span.pill data-state="waiting" { "waiting" } },
            }
            (operate)
        }
        @if let Some(over) = over {
            (games(snapshot, match_id, over))
            @if let Some(moves) = moves(snapshot, match_id, over) { (moves) }
            @if has_number(snapshot, over) || over.record.proof.is_some() { (draw(match_id, over)) }
            @match (over.attempt, over.file.as_ref().filter(|file| !file.transcript.is_empty())) {
                (Some(_), Some(file)) => { (steps_of(snapshot, match_id, file)) (time_line(snapshot, match_id, file)) (transcript(snapshot, match_id, file)) }
                (None, _) => {}
                (Some(_), None) => section #transcript { h2 { "Transcript" } p.empty { (missing(over.file.as_ref())) } },
            }
        }
    }
}

fn result(snapshot: &LeagueSnapshot, match_id: &MatchId, over: &FinishedMatch) -> Markup {
    let (season, file) = (snapshot.season(), over.file.as_ref());
    let players = season.contestants(match_id);
    let points = over.record.outcome.points(&season.config().scoring.match_points());
    let reason = file.and_then(|file| {
        let reason = file.result.as_ref()?.details.reason.as_ref()?;
        Some(with_names(reason, file, |id| name_of(snapshot, match_id, id)))
    });
    let [first, second] = in_order(over.record.outcome);
    html! {
        p #result { b { (recent_events::ended(season, match_id, over.record.outcome)) } @if let Some(reason) = reason { ": " (reason) }
            @if over.attempt.is_none() { ": it was not played, because a player had been withdrawn." } }
        dl.facts {
            @for side in [first, second] {
                @if let Some(players) = &players {
                    div { dt { (named(&players[side].profile.name)) } dd { @match &over.record.moves[side] { Some(choice) => (choice), None => "no choice" } ", +" (points[side])
                        @if let Some(ms) = file.and_then(|file| file.times.get(&players[side].id)).and_then(|times| times.move_ms) { small { " after " (ms) " ms" } } } }
                }
            }
            @if over.record.games.get() > 1 { div { dt { "Games" } dd { (over.record.games) } } }
            @if let Some(score) = over.record.score { div { dt { "Score" } dd { (score[first]) " : " (score[second]) } } }
            @if over.record.games.get() == 1 && has_number(snapshot, over) {
                div { dt { "Number" } dd { @match over.record.drawn { Some(number) => (number), None => "none was drawn" } } }
            }
            @if let Some(attempt) = over.attempt { div { dt { "Attempt" } dd { (attempt) } } }
            @if let Some(file) = file { div { dt { "Referee" } dd { (file.referee_id) } } }
        }
        @if let Some(file) = file.filter(|file| !file.problems.is_empty()) {
            div #fix.fix {
                @for (player, problem) in &file.problems.0 {
                    @let name = name_of(snapshot, match_id, player.as_str());
                    p { b { (problem.sentence_about(&name)) } ". What to fix: " (problem.fix()) }
                }
            }
        }
        p { a href={ "/export/matches/" (match_id) ".json" } download { "All of it as JSON" } }
    }
}

/// Games without chance have nothing to say about a number.
fn has_number(snapshot: &LeagueSnapshot, over: &FinishedMatch) -> bool {
    over.record.drawn.is_some() || snapshot.season().config().game_type == GameType::even_odd()
}

fn moves(snapshot: &LeagueSnapshot, match_id: &MatchId, over: &FinishedMatch) -> Option<Markup> {
    let season = snapshot.season();
    let names = season.contestants(match_id)?.map(|player| player.profile.name.as_str());
    replay::section(&over.record, &season.config().game_type, (match_id, over.attempt?), names)
}

/// The games of a match of several games, one after the other.
fn games(snapshot: &LeagueSnapshot, match_id: &MatchId, over: &FinishedMatch) -> Markup {
    let (season, several) = (snapshot.season(), over.record.games.get() > 1);
    let attempt = over.attempt.filter(|_| several);
    let ends = attempt.map(|attempt| over.record.ends(&season.config().game_type, (match_id, attempt)));
    html! {
        @if let (Some(ends), Some(players)) = (ends, season.contestants(match_id)) {
            section #games aria-labelledby="games-title" {
                h2 #games-title { "The games" }
                div.wide tabindex="0" role="region" aria-label="Every game with its score" {
                    table {
                        thead { tr {
                            th scope="col" { "Game" } th scope="col" { (named(&players.a.profile.name)) } th scope="col" { (named(&players.b.profile.name)) }
                            th scope="col" { "Number" } th scope="col" { "Moves" }
                        } }
                        tbody { @for end in &ends {
                            tr { th scope="row" { (end.number) } td { (end.score.a) } td { (end.score.b) }
                                td { @if let Some(number) = end.drawn { (number.get()) } } td { (end.moves) } }
                        } }
                    }
                }
            }
        }
    }
}

fn name_of(snapshot: &LeagueSnapshot, match_id: &MatchId, id: &str) -> String {
    let players = snapshot.season().contestants(match_id);
    let named = players.and_then(|players| [players.a, players.b].into_iter().find(|player| player.id.as_str() == id));
    named.map_or_else(|| id.to_owned(), |player| player.profile.name.to_string())
}

fn missing(file: Option<&MatchFile>) -> &'static str {
    match file.and_then(|file| file.transcript_sha256) {
        Some(_) => "The referee has not sent the transcript yet.",
        None => "The referee did not send what was said.",
    }
}

fn steps_of(snapshot: &LeagueSnapshot, match_id: &MatchId, file: &MatchFile) -> Markup {
    html! {
        section #steps aria-labelledby="steps-title" {
            h2 #steps-title { "What happened" }
            ol.steps {
                @for step in steps(file, |id| name_of(snapshot, match_id, id)) {
                    li.wrong[step.wrong] { time datetime=(step.at) { (clock(step.at)) } " " (step.text) }
                }
            }
        }
    }
}

fn clock(at: Timestamp) -> String {
    let whole = at.to_string();
    whole.get(11..19).unwrap_or(&whole).to_owned()
}

fn draw(match_id: &MatchId, over: &FinishedMatch) -> Markup {
    html! {
        section #draw aria-labelledby="draw-title" {
            h2 #draw-title { "The draw" }
            @match (over.record.proof.as_ref().zip(over.attempt), over.record.drawn) {
                (Some(_), Some(_)) if over.record.games.get() > 1 => p { "The numbers of all games follow from the commitment in the invitations, the secret and the nonces. league verify draws them again." },
                (Some((proof, attempt)), Some(number)) => (proved(match_id, attempt, proof, number)),
                (None, Some(_)) => p.empty { "Its referee proves nothing; the number has to be believed." },
                (Some(_), None) => p { "The cards follow from the commitment in the invitations, the secret and the nonces. league verify deals them again." },
                (None, None) => p.empty { "No number was drawn." },
            }
        }
    }
}

fn proved(match_id: &MatchId, attempt: u32, proof: &RevealedDraw, number: u8) -> Markup {
    let sealed = sealed_attempt(attempt, proof.seeded);
    let nonces = proof.nonces.as_ref().map(|nonce| String::from_utf8_lossy(nonce.as_bytes()));
    html! {
        p { "The commitment was in the invitations, before the players chose. Secret, match, attempt and nonces give the seal, and the seal the number. "
            @if proof.seeded { b { "The secret came from a seed, so this draw could be predicted." } } }
        form #proof.proof {
            (field("commitment", "Commitment", &String::from(proof.commitment)))
            (field("secret", "Secret", &String::from(proof.secret)))
            (field("match", "Match", match_id.as_str()))
            (field("attempt", if proof.seeded { "Attempt (0: it does not enter this draw)" } else { "Attempt" }, &sealed.to_string()))
            (field("nonce-a", "Nonce of player A", &nonces.a))
            (field("nonce-b", "Nonce of player B", &nonces.b))
            (field("seal", "Seal", &proof.seal.map_or_else(String::new, String::from)))
            (field("number", "Number", &number.to_string()))
            button #verify type="submit" disabled { "Verify in this browser" }
            output #verdict role="status" for="verify" { noscript { "Without JavaScript: league verify, or the ten lines of Python in PROTOCOL.md." } }
        }
    }
}

fn field(id: &str, label: &str, value: &str) -> Markup {
    html! { label for={ "proof-" (id) } { (label) } input id={ "proof-" (id) } name=(id) value=(value) autocomplete="off" spellcheck="false"; }
}

fn time_line(snapshot: &LeagueSnapshot, match_id: &MatchId, file: &MatchFile) -> Markup {
    html! {
        section #timeline aria-labelledby="timeline-title" {
            h2 #timeline-title { "Every call" }
            div.wide tabindex="0" role="region" aria-label="Every call with its receipt" {
                table.calls {
                    thead { tr {
                        th.name scope="col" { "Asked" } th.name scope="col" { "For" } th.name scope="col" { "Sent" }
                        th scope="col" { "First byte" } th scope="col" { "Last byte" } th scope="col" { "Limit" } th.lane scope="col" { "Of its limit" }
                    } }
                    tbody { @for call in answers(file) { (receipt(&call, &name_of(snapshot, match_id, call.player))) } }
                }
            }
        }
    }
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

fn transcript(snapshot: &LeagueSnapshot, match_id: &MatchId, file: &MatchFile) -> Markup {
    html! {
        section #transcript aria-labelledby="transcript-title" {
            h2 #transcript-title { "Transcript" }
            ol.transcript {
                @for entry in &file.transcript {
                    li data-direction=(match entry.direction { Direction::Sent => "sent", Direction::Received => "received" }) {
                        details {
                            summary { time { (entry.at) } " " b { (name_of(snapshot, match_id, &entry.from)) } " → " b { (name_of(snapshot, match_id, &entry.to)) } " " span.kind data-kind=(entry.message_type) { (entry.message_type) } }
                            pre tabindex="0" { (pretty(entry.message().get())) }
                        }
                    }
                }
            }
        }
    }
}

fn pretty(json: &str) -> String {
    let value: Result<serde_json::Value, _> = serde_json::from_str(json);
    value.and_then(|value| serde_json::to_string_pretty(&value)).unwrap_or_else(|_| json.to_owned())
}

#[cfg(test)]
mod tests {
    use league_core::in_memory::InMemoryLeague;
    use league_core::rules::registry::all_games;
    use league_core::rules::seed::Seed;
    use league_core::season::config::LeagueConfig;
    use league_core::season::event::Fact;
    use smol_str::SmolStr;

    use super::*;

    /// A game that is registered needs no code of the pages.
    #[test]
    fn the_page_of_a_match_shows_every_move_of_every_game() {
        for game in all_games() {
            let config = LeagueConfig { game_type: game.clone(), ..LeagueConfig::even_odd("autumn".parse().unwrap()) };
            let seed = Seed::new(7, config.league_id.clone());
            let names = ["Ada", "Bob"].map(SmolStr::new_static);
            let mut league = InMemoryLeague::kept(config, &names, seed, Timestamp::EPOCH).unwrap();
            while league.play_round().unwrap() {}
            let events = league.take_events();
            let mut snapshot = LeagueSnapshot::begin(&events[0]).unwrap();
            events[1..].iter().for_each(|event| snapshot.apply(event).unwrap());
            let reported = events.iter().find_map(|event| {
                let Fact::MatchReported { match_id, attempt, record, .. } = &event.fact else { return None };
                Some((match_id, *attempt, record))
            });
            let (match_id, attempt, record) = reported.unwrap();
            let over = FinishedMatch { attempt: Some(attempt), record: record.clone(), file: None };
            let page = page(&snapshot, match_id, Some(&over), &html! {}).into_string();
            let moves = record.played().collect::<Vec<_>>();
            assert!(!moves.is_empty() && moves.iter().all(|(_, text)| page.contains(text.as_str())), "{game}: {page}");
            assert_eq!(page.contains("Move by move"), moves.len() > 2, "{game}: {page}");
        }
    }
}
