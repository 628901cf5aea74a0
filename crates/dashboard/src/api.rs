//! The API: `/api/v1/…` as JSON.
//!
//! One table defines the paths. Requests and the OpenAPI document both use it, so they cannot disagree.

mod answer;
mod document;
mod export;
mod shape;

use http::StatusCode;
use league_protocol::id::RefereeId;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::json;

use crate::dashboard::Shared;
use crate::query::Query;
use crate::reply::{self, Reply};
use crate::site::RequestedLeague;

pub(crate) use export::export;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Subject {
    League,
    Standings,
    Schedule,
    Matches,
    Match,
    Players,
    Player,
    Agents,
    Log,
    Events,
    Document,
}

struct Row {
    subject: Subject,
    /// Relative to `/api/v1/`; `{id}` stands for an id.
    path: &'static str,
    summary: &'static str,
    query: &'static [(&'static str, &'static str)],
    answer: fn(&mut SchemaGenerator) -> Schema,
}

const AT: (&str, &str) = ("at", "the number of an event: how it was right after it");
const FROM: (&str, &str) = ("from", "how many entries are left out at the beginning");
const LIMIT: (&str, &str) = ("limit", "how many entries at most, up to 500; 100 when left out");
const SEARCH: (&str, &str) = ("q", "only names and ids that contain this");

const EVENTS: &str = "Events as they happen, as server-sent events; Last-Event-ID goes on behind that one";
const AFTER: (&str, &str) = ("after", "the number of the last event that is known; the present when left out");
const MATCH: &str = "A match with its draw and, once it is over, every message";
const MATCHES: &str = "Matches that were played, in the order of the schedule";
const LIST: &[(&str, &str)] = &[AT, FROM, LIMIT, SEARCH];

static TABLE: [Row; 11] = [
    row(Subject::League, "league", "Where the league stands", &[AT], of::<shape::League>),
    row(Subject::Standings, "standings", "The table, best first", LIST, of::<shape::Page<shape::Standing>>),
    row(
        Subject::Schedule,
        "schedule",
        "All rounds with their matches",
        &[AT, FROM, LIMIT],
        of::<shape::Page<shape::Round>>,
    ),
    row(Subject::Matches, "matches", MATCHES, &[AT, FROM, LIMIT], of::<shape::Page<shape::Game>>),
    row(Subject::Match, "matches/{id}", MATCH, &[AT], of::<shape::WholeGame>),
    row(Subject::Players, "players", "All players", LIST, of::<shape::Page<shape::Agent>>),
    row(Subject::Player, "players/{id}", "A player with its record and its matches", &[AT], of::<shape::Player>),
    row(Subject::Agents, "agents", "All agents, referees first", LIST, of::<shape::Page<shape::Agent>>),
    row(Subject::Log, "log", "The event log with its hashes", &[FROM, LIMIT], of::<shape::Page<shape::Entry>>),
    row(Subject::Events, "events", EVENTS, &[AFTER], of::<crate::events::PublicEvent>),
    row(Subject::Document, "openapi.json", "This document", &[], anything),
];

const fn row(
    subject: Subject,
    path: &'static str,
    summary: &'static str,
    query: &'static [(&'static str, &'static str)],
    answer: fn(&mut SchemaGenerator) -> Schema,
) -> Row {
    Row { subject, path, summary, query, answer }
}

fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

fn anything(_: &mut SchemaGenerator) -> Schema {
    schemars::json_schema!({ "type": "object" })
}

fn find(path: &str) -> Option<(&'static Row, &str)> {
    TABLE.iter().find_map(|row| match row.path.strip_suffix("{id}") {
        None => (row.path == path).then_some((row, "")),
        Some(front) => path.strip_prefix(front).filter(|id| !id.is_empty() && !id.contains('/')).map(|id| (row, id)),
    })
}

pub(crate) async fn answer(shared: &Shared, path: &str, query: &Query, trusted: bool) -> Reply {
    let Some((row, id)) = find(path.trim_end_matches('/')) else {
        return missing("there is nothing at this path; /api/v1/openapi.json lists what there is");
    };
    let league = match shared.league_at(query.number("at")).await {
        Ok(league) => league,
        Err(error) => return missing(&error.to_string()),
    };
    let piece = shape::Piece::of(query);
    match row.subject {
        Subject::League => found(&shared.with(&league, shape::League::of)),
        Subject::Standings => found(&shared.with(&league, |snapshot| answer::standings(snapshot, &piece))),
        Subject::Schedule => found(&shared.with(&league, |snapshot| answer::schedule(snapshot, &piece))),
        Subject::Matches => found(&shared.with(&league, |snapshot| answer::matches(snapshot, &piece))),
        Subject::Players => found(&shared.with(&league, |snapshot| answer::players(snapshot, &piece, trusted))),
        Subject::Agents => {
            let latency = |referee: &RefereeId| match league {
                RequestedLeague::Now => shared.referee_latency(referee),
                RequestedLeague::Then(_) => None,
            };
            found(&shared.with(&league, |snapshot| answer::agents(snapshot, &piece, trusted, latency)))
        }
        Subject::Player => match shared.with(&league, |snapshot| answer::player(snapshot, id, trusted)) {
            Some(player) => found(&player),
            None => missing("there is no such player"),
        },
        Subject::Match => match answer::game(shared, &league, id).await {
            Some(game) => found(&game),
            None => missing("there is no such match"),
        },
        Subject::Log => match answer::log(shared, &piece).await {
            Ok(page) => found(&page),
            Err(error) => refused(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
        },
        Subject::Document => found(&document::open_api(&shared.settings.root)),
        Subject::Events => missing("events are a stream"),
    }
}

fn found(data: &impl Serialize) -> Reply {
    reply::json(StatusCode::OK, data)
}

fn missing(why: &str) -> Reply {
    refused(StatusCode::NOT_FOUND, why)
}

fn refused(status: StatusCode, why: &str) -> Reply {
    reply::json(status, &json!({ "error": why }))
}
