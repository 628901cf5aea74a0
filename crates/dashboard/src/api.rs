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

static TABLE: [Row; 11] = [
    Row {
        subject: Subject::League,
        path: "league",
        summary: "Where the league stands",
        query: &[AT],
        answer: of::<shape::League>,
    },
    Row {
        subject: Subject::Standings,
        path: "standings",
        summary: "The table, best first",
        query: &[AT, FROM, LIMIT, SEARCH],
        answer: of::<shape::Page<shape::Standing>>,
    },
    Row {
        subject: Subject::Schedule,
        path: "schedule",
        summary: "All rounds with their matches",
        query: &[AT, FROM, LIMIT],
        answer: of::<shape::Page<shape::Round>>,
    },
    Row {
        subject: Subject::Matches,
        path: "matches",
        summary: "Matches that were played, in the order of the schedule",
        query: &[AT, FROM, LIMIT],
        answer: of::<shape::Page<shape::Game>>,
    },
    Row {
        subject: Subject::Match,
        path: "matches/{id}",
        summary: "A match with its draw and, once it is over, every word that was said",
        query: &[AT],
        answer: of::<shape::WholeGame>,
    },
    Row {
        subject: Subject::Players,
        path: "players",
        summary: "All players",
        query: &[AT, FROM, LIMIT, SEARCH],
        answer: of::<shape::Page<shape::Agent>>,
    },
    Row {
        subject: Subject::Player,
        path: "players/{id}",
        summary: "A player with its record and its matches",
        query: &[AT],
        answer: of::<shape::Player>,
    },
    Row {
        subject: Subject::Agents,
        path: "agents",
        summary: "All agents, referees first",
        query: &[AT, FROM, LIMIT, SEARCH],
        answer: of::<shape::Page<shape::Agent>>,
    },
    Row {
        subject: Subject::Log,
        path: "log",
        summary: "The event log with its hashes",
        query: &[FROM, LIMIT],
        answer: of::<shape::Page<shape::Entry>>,
    },
    Row {
        subject: Subject::Events,
        path: "events",
        summary: "Events as they happen, as server-sent events; Last-Event-ID goes on behind that one",
        query: &[("after", "the number of the last event that is known; the present when left out")],
        answer: of::<crate::events::PublicEvent>,
    },
    Row { subject: Subject::Document, path: "openapi.json", summary: "This document", query: &[], answer: anything },
];

fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

fn anything(_: &mut SchemaGenerator) -> Schema {
    schemars::json_schema!({ "type": "object" })
}

fn row(path: &str) -> Option<(&'static Row, &str)> {
    TABLE.iter().find_map(|row| match row.path.strip_suffix("{id}") {
        None => (row.path == path).then_some((row, "")),
        Some(front) => path.strip_prefix(front).filter(|id| !id.is_empty() && !id.contains('/')).map(|id| (row, id)),
    })
}

pub(crate) async fn answer(shared: &Shared, path: &str, query: &Query, trusted: bool) -> Reply {
    let Some((row, id)) = row(path.trim_end_matches('/')) else {
        return refused(
            StatusCode::NOT_FOUND,
            "there is nothing at this path; /api/v1/openapi.json lists what there is",
        );
    };
    let told = match query.number::<u64>("at") {
        None => RequestedLeague::Now,
        Some(seq) => match shared.stage.archive.moment(seq).await {
            Ok(snapshot) => RequestedLeague::Then(snapshot),
            Err(error) => return refused(StatusCode::NOT_FOUND, &error.to_string()),
        },
    };
    let piece = shape::Piece::of(query);
    match row.subject {
        Subject::League => reply::json(StatusCode::OK, &shared.with(&told, shape::League::of)),
        Subject::Standings => {
            reply::json(StatusCode::OK, &shared.with(&told, |snapshot| answer::standings(snapshot, &piece)))
        }
        Subject::Schedule => {
            reply::json(StatusCode::OK, &shared.with(&told, |snapshot| answer::schedule(snapshot, &piece)))
        }
        Subject::Matches => {
            reply::json(StatusCode::OK, &shared.with(&told, |snapshot| answer::matches(snapshot, &piece)))
        }
        Subject::Players => {
            reply::json(StatusCode::OK, &shared.with(&told, |snapshot| answer::players(snapshot, &piece, trusted)))
        }
        Subject::Agents => {
            let pulse = |referee: &RefereeId| match told {
                RequestedLeague::Now => shared.promptness(referee),
                RequestedLeague::Then(_) => None,
            };
            reply::json(
                StatusCode::OK,
                &shared.with(&told, |snapshot| answer::agents(snapshot, &piece, trusted, pulse)),
            )
        }
        Subject::Player => match shared.with(&told, |snapshot| answer::player(snapshot, id, trusted)) {
            Some(player) => reply::json(StatusCode::OK, &player),
            None => refused(StatusCode::NOT_FOUND, "there is no such player"),
        },
        Subject::Match => match answer::game(shared, &told, id).await {
            Some(game) => reply::json(StatusCode::OK, &game),
            None => refused(StatusCode::NOT_FOUND, "there is no such match"),
        },
        Subject::Log => match answer::log(shared, &piece).await {
            Ok(page) => reply::json(StatusCode::OK, &page),
            Err(error) => refused(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
        },
        Subject::Document => reply::json(StatusCode::OK, &document::written()),
        Subject::Events => refused(StatusCode::NOT_FOUND, "events are a stream"),
    }
}

pub(crate) fn refused(status: StatusCode, why: &str) -> Reply {
    reply::json(status, &json!({ "error": why }))
}
