//! A match: the duel, its moves, what happened, and the draw with its proof.
//!
//! The page hides the messages of an unfinished match, because the opponent could read a choice.

use league_core::record::{MatchRecord, RevealedDraw};
use league_core::rules::draw::sealed_attempt;
use league_protocol::id::{GameType, MatchId};
use league_protocol::message::step::MatchState;
use league_protocol::side::Side;
use league_store::views::match_file::MatchFile;
use league_store::views::narrative::with_names;
use maud::{Markup, html};

use super::links::named;
use super::replay::{self, Replay};
use super::transcript::TranscriptPart;
use super::{duel, league};
use crate::league_snapshot::LeagueSnapshot;
use crate::recent_events;

pub(crate) struct FinishedMatch {
    /// `None` when the match was not played.
    pub(crate) attempt: Option<u32>,
    pub(crate) record: MatchRecord,
    /// `None` when the match file is on another machine.
    pub(crate) file: Option<MatchFile>,
    /// A standby shows the match; its leader gets the transcripts.
    pub(crate) at_standby: bool,
}

/// Which parts of a long match the page shows, counted from one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShownParts {
    /// The first game whose moves are shown.
    pub(crate) game: u32,
    /// The part of the transcript.
    pub(crate) part: usize,
}

/// `root` is the path of the first page.
pub(crate) fn page(
    snapshot: &LeagueSnapshot,
    (match_id, shown): (&MatchId, ShownParts),
    over: Option<&FinishedMatch>,
    state: Option<&MatchState>,
    operate: &Markup,
    root: &str,
) -> Markup {
    let season = snapshot.season();
    let held = season.assignments().into_iter().find(|held| held.match_id == *match_id);
    let players = season.contestants(match_id);
    let names = players.as_ref().map(|players| players.map(|player| player.profile.name.as_str()));
    let replay = over
        .and_then(|over| Replay::of(&over.record, &season.config().game_type, (match_id, over.attempt?), shown.game));
    let kept = over.filter(|over| over.attempt.is_some()).and_then(|over| over.file.as_ref());
    let kept = kept.filter(|file| !file.transcript.is_empty());
    let said = kept.map(|file| TranscriptPart::of(file, shown.part, |id: &str| name_of(snapshot, match_id, id)));
    html! {
        section #match data-match=(match_id) data-running[held.is_some() && over.is_none()] {
            h1 { "Match " (match_id) " " @match (over, &held) {
                (Some(_), _) => span.pill data-state="LEAGUE_COMPLETED" { "over" },
                (None, Some(_)) => span.pill data-state="playing" { "playing" },
                (None, None) => span.pill data-state="waiting" { "waiting" },
            } }
            p #game.small { (league::game(season.config())) @if let Some((round, _)) = match_id.parts() { ", round " (round) } }
            @if let Some(players) = &players {
                @match over {
                    Some(over) => (duel::finished(players, &over.record, &over.record.outcome.points(&season.config().scoring.match_points()), replay.as_ref().and_then(Replay::deal))),
                    None => (duel::open(players, state, &season.config().game_type)),
                }
            }
            @match (over, &held) {
                (Some(over), _) => (result(snapshot, match_id, over, root)),
                (None, Some(held)) => {
                    @if let Some((players, state)) = players.as_ref().zip(state) { p #phase role="status" { (duel::phase(players, state, season.config().games_per_match)) } }
                    p #state.small { "Played at " (held.referee) ", attempt " (held.attempt) "." }
                }
                (None, None) => p #state.empty { (waits(snapshot, match_id)) },
            }
            (operate)
        }
        @if let Some(over) = over {
            @if let (Some(replay), Some(names)) = (&replay, names) { (replay.table(match_id, names)) (replay.section(match_id, names)) }
            @match (over.attempt, &said) {
                (_, Some(said)) => (said.steps()),
                (None, None) => {}
                (Some(_), None) => section #transcript { h2 { "Transcript" } p.empty { (missing(over)) } },
            }
            @if has_number(snapshot, over) || over.record.proof.is_some() { (draw(match_id, over)) }
            @if let Some(said) = &said { (said.times()) (said.messages()) }
        } @else if let Some(state) = state {
            @if let Some(players) = players { (replay::so_far(&season.config().game_type, (match_id, state.attempt), &players, state)) }
        }
    }
}

fn waits(snapshot: &LeagueSnapshot, match_id: &MatchId) -> String {
    let season = snapshot.season();
    match match_id.parts() {
        _ if season.walkover(match_id).is_some() => {
            String::from("It will not be played, because a player was withdrawn.")
        }
        Some((round, _)) if season.current_round() != Some(round) => format!("It begins in round {round}."),
        Some(_) | None if season.is_halted() => String::from("The operator has stopped the league."),
        Some(_) | None => String::from("It waits for a free referee."),
    }
}

fn result(snapshot: &LeagueSnapshot, match_id: &MatchId, over: &FinishedMatch, root: &str) -> Markup {
    let (season, file) = (snapshot.season(), over.file.as_ref());
    let players = season.contestants(match_id);
    let reason = file.and_then(|file| {
        let reason = file.result.as_ref()?.details.reason.as_ref()?;
        Some(with_names(reason, file, |id| name_of(snapshot, match_id, id)))
    });
    html! {
        p #result { b { (recent_events::ended(season, match_id, over.record.outcome)) } @if let Some(reason) = reason { ": " (reason) }
            @if over.attempt.is_none() { ": it was not played, because a player had been withdrawn." } }
        @if let Some(file) = file.filter(|file| !file.problems.is_empty()) {
            div #fix.fix {
                @for (player, problem) in &file.problems.0 {
                    @let name = name_of(snapshot, match_id, player.as_str());
                    p { b { (problem.sentence_about(&name)) } ". What to fix: " (problem.fix()) }
                }
            }
        }
        p.small {
            @if let Some(attempt) = over.attempt { "Attempt " (attempt) @if let Some(file) = file { " at " (file.referee_id) } ". " }
            @if let (Some(players), Some(file)) = (&players, file) {
                @for side in Side::BOTH {
                    @if let Some(ms) = file.times.get(&players[side].id).and_then(|times| times.move_ms) { (named(&players[side].profile.name)) " took " (ms) " ms for its last answer. " }
                }
            }
            a href={ (root) "export/matches/" (match_id) ".json" } download { "All of it as JSON" }
        }
    }
}

/// Games without chance have nothing to say about a number.
fn has_number(snapshot: &LeagueSnapshot, over: &FinishedMatch) -> bool {
    over.record.drawn.is_some() || snapshot.season().config().game_type == GameType::even_odd()
}

fn name_of(snapshot: &LeagueSnapshot, match_id: &MatchId, id: &str) -> String {
    let players = snapshot.season().contestants(match_id);
    let named = players.and_then(|players| [players.a, players.b].into_iter().find(|player| player.id.as_str() == id));
    named.map_or_else(|| id.to_owned(), |player| player.profile.name.to_string())
}

fn missing(over: &FinishedMatch) -> &'static str {
    match over.file.as_ref().and_then(|file| file.transcript_sha256) {
        _ if over.at_standby => "No transcript of this match is kept here.",
        Some(_) => "The referee has not sent the transcript yet.",
        None => "The referee did not send what was said.",
    }
}

fn draw(match_id: &MatchId, over: &FinishedMatch) -> Markup {
    html! {
        section #draw aria-labelledby="draw-title" { details {
            summary { h2 #draw-title { "The proof of the draw" } }
            @match (over.record.proof.as_ref().zip(over.attempt), over.record.drawn) {
                (Some(_), Some(_)) if over.record.games.get() > 1 => p { "The numbers of all games follow from the commitment in the invitations, the secret and the nonces. league verify draws them again." },
                (Some((proof, attempt)), Some(number)) => (proved(match_id, attempt, proof, number)),
                (None, Some(_)) => p.empty { "Its referee proves nothing; the number has to be believed." },
                (Some(_), None) => p { "The cards follow from the commitment in the invitations, the secret and the nonces. league verify deals them again." },
                (None, None) => p.empty { "No number was drawn." },
            }
        } }
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

#[cfg(test)]
mod tests {
    use league_core::in_memory::InMemoryLeague;
    use league_core::rules::registry::{all_games, new_game};
    use league_core::rules::seed::Seed;
    use league_core::season::config::LeagueConfig;
    use league_core::season::event::Fact;
    use league_protocol::time::Timestamp;
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
            let over = FinishedMatch { attempt: Some(attempt), record: record.clone(), file: None, at_standby: false };
            let page = page(&snapshot, (match_id, ShownParts { game: 1, part: 1 }), Some(&over), None, &html! {}, "/")
                .into_string();
            let moves = record.played().collect::<Vec<_>>();
            assert!(!moves.is_empty() && moves.iter().all(|(_, text)| page.contains(text.as_str())), "{game}: {page}");
            assert!(page.contains(new_game(&game).unwrap().about().name), "{game}: {page}");
            assert_eq!(page.contains("Move by move"), moves.len() > 2, "{game}: {page}");
        }
    }
}
