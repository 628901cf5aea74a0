//! A league in pages, for `get_league` and for commands that read the log.
//!
//! A page holds up to 32 KiB and at least one entry, so every answer is bounded and every view ends.

use league_core::season::Season;
use league_core::season::agent::{AgentId, AgentProfile};
use league_protocol::id::RoundId;
use league_protocol::message::league_view::{AgentEntry, AlertEntry, GetLeague, LeaguePage, LeagueView};
use serde::Serialize;
use smol_str::SmolStr;

/// Half of the bytes that a client reads, which leaves room for the fields around the entries.
const PAGE: usize = 32 * 1024;

/// Characters of a text in a page: each takes at most six bytes in JSON.
const PIECE: usize = 8 * 1024;

/// The season has no transcripts: see [`of_text`].
pub fn of_season(season: &Season, asked: &GetLeague) -> LeaguePage {
    let from = usize::try_from(asked.from).unwrap_or(usize::MAX);
    let mut page = LeaguePage::default();
    match asked.view {
        LeagueView::Status => page.status = Some(season.status()),
        LeagueView::Standings => (page.standings, page.next) = filled(season.standings().into_iter(), from),
        LeagueView::Schedule => fill_schedule(season, asked.from, &mut page),
        LeagueView::Agents => (page.agents, page.next) = filled(agents(season), from),
        LeagueView::Alerts => (page.alerts, page.next) = filled(alerts(season), from),
        LeagueView::Match => {}
    }
    page
}

pub fn of_text(text: &str, from: u64) -> LeaguePage {
    let from = usize::try_from(from).unwrap_or(usize::MAX);
    let piece: String = text.chars().skip(from).take(PIECE).collect();
    let next = from.saturating_add(PIECE);
    let more = text.chars().nth(next).is_some();
    LeaguePage { text: Some(piece), next: more.then_some(next as u64), ..LeaguePage::default() }
}

/// `from` counts matches over all rounds.
fn fill_schedule(season: &Season, from: u64, page: &mut LeaguePage) {
    let mut skipped = usize::try_from(from).unwrap_or(usize::MAX);
    let (mut room, mut at) = (PAGE, from);
    for number in (1..=season.total_rounds()).map(RoundId) {
        let matches = season.plan(number).map_or(0, |plan| plan.pairings.len());
        if skipped >= matches {
            skipped -= matches;
            continue;
        }
        let Some(mut round) = season.scheduled_round(number) else { return };
        round.matches.drain(..std::mem::take(&mut skipped));
        let left = round.matches.len();
        let fitting = round.matches.iter().take_while(|game| takes(&mut room, *game)).count();
        round.matches.truncate(fitting);
        at += fitting as u64;
        if fitting > 0 {
            page.rounds.push(round);
        }
        if fitting < left {
            page.next = Some(at);
            return;
        }
    }
}

fn agents(season: &Season) -> impl Iterator<Item = AgentEntry> {
    let entry = move |id: &AgentId, profile: &AgentProfile, state| AgentEntry {
        id: SmolStr::new(id.as_str()),
        role: SmolStr::new_static(match id {
            AgentId::Player(_) => "player",
            AgentId::Referee(_) => "referee",
        }),
        dialect: season.dialect_of(id).map(|(dialect, _)| dialect.clone()).unwrap_or_default(),
        quirks: season.dialect_of(id).map(|(_, quirks)| quirks).unwrap_or_default(),
        name: profile.name.clone(),
        version: profile.version.clone(),
        endpoint: profile.endpoint.clone(),
        state: SmolStr::new_static(state),
    };
    let referees = season.referees().iter().map(move |referee| {
        entry(&AgentId::Referee(referee.id.clone()), &referee.profile, referee.condition().as_str())
    });
    let players = season.players().iter().map(move |player| {
        entry(&AgentId::Player(player.id.clone()), &player.profile, season.condition(player).as_str())
    });
    referees.chain(players)
}

fn alerts(season: &Season) -> impl Iterator<Item = AlertEntry> {
    season.alerts().map(|(match_id, alert, waits)| AlertEntry {
        match_id: match_id.clone(),
        attempt: alert.attempt,
        referee_id: alert.referee.clone(),
        player_id: alert.player.clone(),
        reason: SmolStr::new_static(alert.kind.words()),
        waits,
    })
}

fn filled<T: Serialize>(entries: impl Iterator<Item = T>, from: usize) -> (Vec<T>, Option<u64>) {
    let (mut room, mut page) = (PAGE, Vec::new());
    for entry in entries.skip(from) {
        if !takes(&mut room, &entry) && !page.is_empty() {
            let next = from.saturating_add(page.len());
            return (page, u64::try_from(next).ok());
        }
        page.push(entry);
    }
    (page, None)
}

fn takes(room: &mut usize, entry: &impl Serialize) -> bool {
    let size = serde_json::to_vec(entry).map_or(usize::MAX, |bytes| bytes.len() + 1);
    let fits = size <= *room;
    *room = room.saturating_sub(size);
    fits
}
