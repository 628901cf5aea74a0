//! Reads the answers of the API from a snapshot.

use std::time::Duration;

use league_core::season::event::Fact;
use league_core::season::{Season, agent};
use league_protocol::id::{MatchId, PlayerId, RefereeId, RoundId};
use league_protocol::message::query::ScheduledRound;
use league_protocol::message::standings::StandingsRow;
use league_protocol::side::Pair;
use league_store::views::match_file::{Direction, MatchFile, TranscriptEntry};
use smol_str::SmolStr;

use super::shape::{Advice, Agent, Entry, Game, Message, Page, Piece, Player, Receipt, Round, Standing, WholeGame};
use crate::archive::ArchiveError;
use crate::dashboard::Shared;
use crate::events::PublicEvent as Event;
use crate::league_snapshot::{LeagueSnapshot, shown};
use crate::site::RequestedLeague;

const FORM: usize = 5;

pub(super) fn standings(snapshot: &LeagueSnapshot, piece: &Piece) -> Page<Standing> {
    let wanted = |row: &StandingsRow| piece.wants(row.player_id.as_str(), &row.display_name);
    let rows: Vec<StandingsRow> = snapshot.season().standings().into_iter().filter(wanted).collect();
    let total = rows.len();
    piece.cut(rows.into_iter().map(|row| standing(snapshot, row)), total)
}

fn standing(snapshot: &LeagueSnapshot, row: StandingsRow) -> Standing {
    let results = snapshot.place(&row.player_id).map(|place| snapshot.form(place, FORM)).unwrap_or_default();
    Standing { row, form: results.into_iter().map(|result| shown(result).0).collect() }
}

pub(super) fn schedule(snapshot: &LeagueSnapshot, piece: &Piece) -> Page<Round> {
    let rounds = snapshot.season().total_rounds();
    let all = (1..=rounds).filter_map(|round| snapshot.season().scheduled_round(RoundId(round)));
    let shape = |ScheduledRound { round_id, completed, bye, byes, matches }: ScheduledRound| {
        let matches = matches.into_iter().map(|game| Game::of(snapshot, game)).collect();
        Round { round_id, completed, bye, byes, matches }
    };
    piece.cut(all.map(shape), rounds as usize)
}

pub(super) fn matches(snapshot: &LeagueSnapshot, piece: &Piece) -> Page<Game> {
    piece.cut(played(snapshot), snapshot.season().matches_completed() as usize)
}

pub(super) fn played(snapshot: &LeagueSnapshot) -> impl Iterator<Item = Game> {
    let rounds =
        (1..=snapshot.season().round_number().0).filter_map(|round| snapshot.season().scheduled_round(RoundId(round)));
    rounds.flat_map(|round| round.matches).map(|game| Game::of(snapshot, game)).filter(|game| game.ending.is_some())
}

pub(super) fn players(snapshot: &LeagueSnapshot, piece: &Piece, trusted: bool) -> Page<Agent> {
    let season = snapshot.season();
    searched(season.players().iter().map(|player| of_player(season, player, trusted)), piece)
}

pub(super) fn agents(
    snapshot: &LeagueSnapshot,
    piece: &Piece,
    trusted: bool,
    latency: impl Fn(&RefereeId) -> Option<Duration>,
) -> Page<Agent> {
    let season = snapshot.season();
    let referees = season.referees().iter().map(|referee| of_referee(referee, latency(&referee.id), trusted));
    let players = season.players().iter().map(|player| of_player(season, player, trusted));
    searched(referees.chain(players), piece)
}

fn searched(all: impl Iterator<Item = Agent>, piece: &Piece) -> Page<Agent> {
    let wanted: Vec<Agent> = all.filter(|agent| piece.wants(&agent.id, &agent.name)).collect();
    let total = wanted.len();
    piece.cut(wanted.into_iter(), total)
}

fn of_player(season: &Season, player: &agent::RegisteredPlayer, trusted: bool) -> Agent {
    Agent {
        id: SmolStr::new(player.id.as_str()),
        role: SmolStr::new_static("player"),
        name: player.profile.name.clone(),
        version: player.profile.version.clone(),
        state: SmolStr::new_static(season.condition(player).as_str()),
        frame: player.dialect.frame().to_string(),
        quirks: Advice::about(player.quirks),
        endpoint: trusted.then(|| player.profile.endpoint.clone()),
        answers_in_ms: None,
        running: None,
        capacity: None,
    }
}

fn of_referee(referee: &agent::RegisteredReferee, latency: Option<Duration>, trusted: bool) -> Agent {
    Agent {
        id: SmolStr::new(referee.id.as_str()),
        role: SmolStr::new_static("referee"),
        name: referee.profile.name.clone(),
        version: referee.profile.version.clone(),
        state: SmolStr::new_static(referee.condition().as_str()),
        frame: referee.dialect.frame().to_string(),
        quirks: Advice::about(referee.quirks),
        endpoint: trusted.then(|| referee.profile.endpoint.clone()),
        answers_in_ms: latency.map(|latency| latency.as_secs_f64() * 1e3),
        running: Some(referee.running),
        capacity: Some(referee.capacity),
    }
}

pub(super) fn player(snapshot: &LeagueSnapshot, id: &str, trusted: bool) -> Option<Player> {
    let id: PlayerId = id.parse().ok()?;
    let season = snapshot.season();
    let agent = of_player(season, season.player(&id)?, trusted);
    let row = season.standings().into_iter().find(|row| row.player_id == id);
    let place = snapshot.place(&id);
    let fixtures = place
        .into_iter()
        .flat_map(|place| (1..=season.total_rounds()).filter_map(move |round| season.fixture(place, RoundId(round))));
    let matches = fixtures.filter_map(|fixture| Some(Game::of(snapshot, season.scheduled_match(&fixture.match_id)?)));
    Some(Player {
        agent,
        standing: row.map(|row| standing(snapshot, row)),
        technical_losses: place.map_or(0, |place| season.table().row(place).technical_losses),
        matches: matches.collect(),
    })
}

pub(super) async fn game(shared: &Shared, league: &RequestedLeague, id: &str) -> Option<WholeGame> {
    let match_id: MatchId = id.parse().ok()?;
    let (held, game) = shared.with(league, |snapshot| {
        let held = snapshot.season().assignments().into_iter().find(|held| held.match_id == match_id);
        Some((held, Game::of(snapshot, snapshot.season().scheduled_match(&match_id)?)))
    })?;
    let event = shared.reported(league, &match_id).await;
    // Messages of an unfinished match stay private, because the opponent could read them.
    let Some(Fact::MatchReported { attempt, record, .. }) = event.map(|event| event.fact) else {
        let (attempt, referee_id) = held.map(|held| (held.attempt, held.referee)).unzip();
        return Some(WholeGame { game, attempt, referee_id, draw: None, transcript: Vec::new() });
    };
    let file = shared.state.archive.game(&match_id).await.filter(|file| file.attempt == attempt);
    let draw = record.draw_proof(Pair::new(&game.player_a_id, &game.player_b_id), attempt);
    let referee_id = file.as_ref().map(|file| file.referee_id.clone());
    let transcript = file.as_ref().map(messages).unwrap_or_default();
    Some(WholeGame { game, attempt: Some(attempt), referee_id, draw, transcript })
}

fn messages(file: &MatchFile) -> Vec<Message> {
    let message = |entry: &TranscriptEntry| Message {
        at: entry.at,
        direction: SmolStr::new_static(match entry.direction {
            Direction::Sent => "sent",
            Direction::Received => "received",
        }),
        from: entry.from.clone(),
        to: entry.to.clone(),
        message_type: entry.message_type.clone(),
        message: serde_json::from_str(entry.message().get()).unwrap_or_default(),
        receipt: entry.receipt.map(|receipt| Receipt {
            sent_at: receipt.sent_at,
            first_byte_ms: receipt.first_byte_ms,
            last_byte_ms: receipt.last_byte_ms,
            limit_ms: receipt.limit_ms,
            granted_ms: receipt.granted_ms,
            given_up_ms: receipt.given_up_ms,
        }),
    };
    file.transcript.iter().map(message).collect()
}

pub(super) async fn log(shared: &Shared, piece: &Piece) -> Result<Page<Entry>, ArchiveError> {
    let total = usize::try_from(*shared.state.head.borrow()).unwrap_or(usize::MAX);
    let read = shared.state.archive.events(piece.from as u64, piece.limit).await?;
    let entries = read.into_iter().map(|(head, event)| {
        let Event { seq, at, kind, fact } = Event::of(head.seq, &event);
        Entry { seq, at, kind, hash: head.hash.to_string(), fact }
    });
    Ok(piece.page(entries.collect(), total))
}
