//! Routes requests to pages, API and streams.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::{HeaderValue, Method, StatusCode, header};
use http_body_util::BodyExt;
use league_core::record::MatchRecord;
use league_core::season::agent::RegisteredPlayer;
use league_core::season::event::{Event, Fact};
use league_protocol::id::{MatchId, PlayerId, RefereeId};
use league_store::log::LogHead;
use league_wire::client_network::ClientNetwork;
use league_wire::pages::PageRequest;
use maud::{Markup, html};

use crate::dashboard::Shared;
use crate::league_snapshot::LeagueSnapshot;
use crate::operate::{self, OperatorAction};
use crate::pages::frame::Frame;
use crate::pages::paging::Paging;
use crate::pages::{agents, crosstable, league, log, match_page, player, schedule, steps};
use crate::phases::Phases;
use crate::query::Query;
use crate::reply::{self, Reply};
use crate::{api, events, gzip, live};

const STYLE: &str = include_str!("assets/style.css");
const SCRIPT: &str = include_str!("assets/live.js");
const ICON: &str = include_str!("assets/icon.svg");

pub(crate) struct SiteRequest {
    /// Without the past event and without a leading slash.
    pub(crate) path: String,
    pub(crate) query: Query,
    pub(crate) at: Option<u64>,
    /// The client may operate the league.
    pub(crate) trusted: bool,
}

impl SiteRequest {
    fn paging(&self, size: usize) -> Paging {
        let search = self.query.text("q").unwrap_or_default().chars().take(64).collect();
        Paging { page: self.query.number("page").unwrap_or(1).max(1), search, size }
    }
}

pub(crate) enum RequestedLeague {
    Now,
    Then(Arc<LeagueSnapshot>),
}

impl Shared {
    pub(crate) async fn answer(&self, visit: PageRequest) -> Reply {
        let began = Instant::now();
        let bodiless = visit.parts.method == Method::HEAD;
        let reply = self.find(&visit).await;
        let mut reply = if gzip::is_wanted(&visit.parts.headers) { gzip::packed(reply).await } else { reply };
        self.metrics.answered(began.elapsed(), reply.status().is_server_error());
        if bodiless {
            *reply.body_mut() = http_body_util::Empty::new().boxed_unsync();
        }
        reply
    }

    async fn find(&self, visit: &PageRequest) -> Reply {
        let path = visit.parts.uri.path().trim_start_matches('/');
        let query = Query::read(visit.parts.uri.query().unwrap_or_default());
        if visit.parts.method == Method::POST {
            return match path {
                "operate" => self.operate(visit).await,
                _ => self.nothing(StatusCode::METHOD_NOT_ALLOWED, "Only to be looked at", "Nothing can be sent here."),
            };
        }
        let token = self.settings.token.as_ref();
        let trusted = operate::is_operator(token, None, visit.peer);
        match path {
            "static/style.css" => fixed("text/css; charset=utf-8", STYLE),
            "static/live.js" => fixed("text/javascript; charset=utf-8", SCRIPT),
            "static/icon.svg" | "favicon.ico" => fixed("image/svg+xml", ICON),
            "live" => self.live(visit, &query),
            "metrics" => {
                let text = self.metrics.written(&self.stage);
                reply::whole(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", text)
            }
            "at" => {
                let seq: u64 = query.number("seq").unwrap_or(1);
                let page = query.text("page").filter(|page| is_plain(page)).unwrap_or_default();
                reply::see(&format!("/at/{seq}/{page}"))
            }
            path => match path.strip_prefix("api/v1/") {
                Some("events") => self.events(visit, &query),
                Some(path) => api::answer(self, path, &query, trusted).await,
                None if path.starts_with("export/") => api::export(self, path).await,
                None => self.page(path, query, trusted).await,
            },
        }
    }

    async fn page(&self, path: &str, query: Query, trusted: bool) -> Reply {
        let (at, path) = match path.strip_prefix("at/").map(|rest| rest.split_once('/').unwrap_or((rest, ""))) {
            Some((seq, path)) => match seq.parse::<u64>() {
                Ok(seq) => (Some(seq), path),
                Err(_) => return self.missing(),
            },
            None => (None, path),
        };
        let told = match at {
            None => RequestedLeague::Now,
            Some(seq) => match self.stage.archive.moment(seq).await {
                Ok(snapshot) => RequestedLeague::Then(snapshot),
                Err(error) => return self.nothing(StatusCode::NOT_FOUND, "No such moment", &error.to_string()),
            },
        };
        let asked = SiteRequest { path: path.trim_end_matches('/').to_owned(), query, at, trusted };
        let segments: Vec<&str> = asked.path.split('/').collect();
        match segments[..] {
            [""] => {
                let operate = self.controls(&asked);
                let phases = if asked.at.is_none() { self.stage.phases().clone() } else { Phases::default() };
                let room = self.stage.room.as_ref().filter(|_| asked.at.is_none());
                self.show(&told, &asked, "League", |snapshot| {
                    league::page(snapshot, &phases, room, &asked.paging(league::ROWS), &operate)
                })
            }
            ["crosstable"] => {
                let across = asked.query.number("across").unwrap_or(1);
                self.show(&told, &asked, "Crosstable", |snapshot| {
                    crosstable::page(snapshot, &asked.paging(crosstable::SIDE), across)
                })
            }
            ["schedule"] => self.show(&told, &asked, "Schedule", |snapshot| {
                schedule::page(snapshot, &asked.paging(1), asked.query.number("round"))
            }),
            ["players", id] => self.player(&told, &asked, id).await,
            ["matches", id] => self.game(&told, &asked, id).await,
            ["agents"] => self.agents(&told, &asked).await,
            ["log"] => self.log(&told, &asked).await,
            _ => self.missing(),
        }
    }

    pub(crate) fn with<T>(&self, told: &RequestedLeague, read: impl FnOnce(&LeagueSnapshot) -> T) -> T {
        match told {
            RequestedLeague::Now => read(&self.stage.snapshot()),
            RequestedLeague::Then(snapshot) => read(snapshot),
        }
    }

    fn show(
        &self,
        told: &RequestedLeague,
        asked: &SiteRequest,
        title: &str,
        content: impl FnOnce(&LeagueSnapshot) -> Markup,
    ) -> Reply {
        let head = *self.stage.head.borrow();
        let page = self.with(told, |snapshot| {
            let content = content(snapshot);
            let frame = Frame {
                snapshot,
                title,
                path: &asked.path,
                at: asked.at,
                head,
                follows: true,
                kept: self.operator().is_none(),
            };
            frame.around(&content)
        });
        reply::page(StatusCode::OK, page)
    }

    async fn player(&self, told: &RequestedLeague, asked: &SiteRequest, id: &str) -> Reply {
        let Ok(exact) = id.parse::<PlayerId>() else { return self.missing() };
        let is_known = self.with(told, |snapshot| snapshot.season().player(&exact).is_some());
        let id = if is_known { exact } else { id.to_ascii_uppercase().parse().unwrap_or(exact) };
        let Some(played) = self.with(told, |snapshot| player::latest(snapshot, &id, player::FILES)) else {
            return self.nothing(StatusCode::NOT_FOUND, "No such player", "No player of this league has that id.");
        };
        let files = self.stage.archive.games(played).await;
        let name = self.with(told, |snapshot| {
            snapshot.season().player(&id).map(|player| player.profile.name.to_string()).unwrap_or_default()
        });
        self.show(told, asked, &name, |snapshot| match snapshot.season().player(&id) {
            Some(player) => {
                let operate = self.withdrawal(asked, snapshot, player);
                player::page(snapshot, player, &files, asked.query.number("from").unwrap_or(0), &operate)
            }
            None => html! {},
        })
    }

    pub(crate) async fn reported(&self, told: &RequestedLeague, match_id: &MatchId) -> Option<Event> {
        let seq = self.with(told, |snapshot| snapshot.event_of(match_id))?;
        let read = self.stage.archive.events(seq - 1, 1).await.ok()?;
        read.into_iter().next().map(|(_, event)| event)
    }

    async fn game(&self, told: &RequestedLeague, asked: &SiteRequest, id: &str) -> Reply {
        let known = id.to_ascii_uppercase().parse::<MatchId>().ok();
        let known = known.filter(|id| self.with(told, |snapshot| snapshot.season().contestants(id).is_some()));
        let Some(match_id) = known else {
            return self.nothing(StatusCode::NOT_FOUND, "No such match", "The schedule has no match of that id.");
        };
        let event = self.reported(told, &match_id).await;
        let title = format!("Match {match_id}");
        match event.map(|event| event.fact) {
            Some(Fact::MatchReported { attempt, record, .. }) => {
                let file = self.stage.archive.game(&match_id).await.filter(|file| file.attempt == attempt);
                let over = match_page::Over { attempt: Some(attempt), record: &record, file: file.as_ref() };
                self.show(told, asked, &title, |snapshot| match_page::page(snapshot, &match_id, Some(&over), &html! {}))
            }
            Some(Fact::MatchAwarded { outcome, .. }) => {
                let over = match_page::Over { attempt: None, record: &MatchRecord::unplayed(outcome), file: None };
                self.show(told, asked, &title, |snapshot| match_page::page(snapshot, &match_id, Some(&over), &html! {}))
            }
            Some(_) | None => {
                let steps = match asked.at {
                    None => self.steps(&match_id).await,
                    Some(_) => html! {},
                };
                self.show(told, asked, &title, |snapshot| match_page::page(snapshot, &match_id, None, &steps))
            }
        }
    }

    async fn agents(&self, told: &RequestedLeague, asked: &SiteRequest) -> Reply {
        let paging = asked.paging(agents::ROWS);
        let wanted = self.with(told, |snapshot| {
            let (players, _) = agents::shown(snapshot, &paging);
            players.iter().filter_map(|player| player::latest(snapshot, &player.id, 2)).flatten().collect()
        });
        let files = self.stage.archive.games(wanted).await;
        let pulse = |referee: &RefereeId| match asked.at {
            None => self.promptness(referee),
            Some(_) => None,
        };
        self.show(told, asked, "Agents", |snapshot| agents::page(snapshot, &paging, &files, asked.trusted, pulse))
    }

    pub(crate) fn promptness(&self, referee: &RefereeId) -> Option<Duration> {
        self.operator().and_then(|operator| operator.promptness(referee))
    }

    async fn log(&self, told: &RequestedLeague, asked: &SiteRequest) -> Reply {
        let paging = asked.paging(log::ROWS);
        let seq = self.with(told, LeagueSnapshot::seq);
        let rows = log::ROWS as u64;
        let until = seq.saturating_sub((paging.page as u64 - 1).saturating_mul(rows));
        let from = until.saturating_sub(rows);
        let count = usize::try_from(until - from).unwrap_or(log::ROWS);
        let entries: Result<Vec<(LogHead, Event)>, _> = self.stage.archive.events(from, count).await;
        let mut entries = match entries {
            Ok(entries) => entries,
            Err(error) => {
                return self.nothing(StatusCode::INTERNAL_SERVER_ERROR, "The log cannot be read", &error.to_string());
            }
        };
        entries.reverse();
        let head = match until == seq {
            true => entries.first().map(|(head, _)| *head),
            false => {
                self.stage.archive.events(seq.saturating_sub(1), 1).await.ok().and_then(|last| Some(last.first()?.0))
            }
        };
        self.show(told, asked, "Log", |snapshot| log::page(snapshot, &paging, &entries, head))
    }

    fn live(&self, visit: &PageRequest, query: &Query) -> Reply {
        let seen = last_seen(visit).or(query.number("since")).unwrap_or(0);
        match self.stage.seat(true) {
            Some(seat) => {
                let packed = gzip::is_wanted(&visit.parts.headers);
                let options = live::StreamOptions { quiet: query.has("quiet"), packed };
                let reply = reply::events(live::stream(seat, seen, options));
                if packed { gzip::marked(reply) } else { reply }
            }
            None => self.full(),
        }
    }

    fn events(&self, visit: &PageRequest, query: &Query) -> Reply {
        let head = *self.stage.head.borrow();
        let after = last_seen(visit).or(query.number("after")).unwrap_or(head).min(head);
        match self.stage.seat(false) {
            Some(seat) => reply::events(events::stream(seat, after)),
            None => self.full(),
        }
    }

    fn full(&self) -> Reply {
        self.metrics.turned_away();
        let mut reply = reply::whole(
            StatusCode::SERVICE_UNAVAILABLE,
            "text/plain; charset=utf-8",
            "so many are watching that there is no place left; come back in a minute\n",
        );
        reply.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("60"));
        reply
    }

    fn controls(&self, asked: &SiteRequest) -> Markup {
        match (self.operator(), asked.at) {
            (Some(_), None) => steps::controls(&self.stage.snapshot(), self.settings.token.is_some()),
            (Some(_), Some(_)) | (None, _) => html! {},
        }
    }

    fn withdrawal(&self, asked: &SiteRequest, snapshot: &LeagueSnapshot, player: &RegisteredPlayer) -> Markup {
        match (self.operator(), asked.at) {
            (Some(_), None) => steps::of_player(snapshot, player, self.settings.token.is_some()),
            (Some(_), Some(_)) | (None, _) => html! {},
        }
    }

    async fn steps(&self, match_id: &MatchId) -> Markup {
        let Some(operator) = self.operator() else { return html! {} };
        let held = self.stage.snapshot().season().assignments().iter().any(|held| held.match_id == *match_id);
        if !held {
            return html! {};
        }
        match operator.look(match_id.clone()).await {
            Ok(state) => steps::of_match(&state, self.settings.token.is_some()),
            Err(_) => html! {},
        }
    }

    async fn operate(&self, visit: &PageRequest) -> Reply {
        let form = Query::read(&String::from_utf8_lossy(&visit.body));
        if !operate::is_own_form(&visit.parts.headers) {
            return self.nothing(StatusCode::FORBIDDEN, "Not from here", "This form was sent by another page.");
        }
        let (client_network, strikes) = (ClientNetwork::of(visit.peer), &self.settings.strikes);
        if strikes.check(client_network).is_err() {
            return self.nothing(StatusCode::TOO_MANY_REQUESTS, "Too often", "Too many wrong tokens came from there.");
        }
        if !operate::is_operator(self.settings.token.as_ref(), form.text("token"), visit.peer) {
            // The request is refused in any case; the count decides about later ones.
            let _ = strikes.record_failure(client_network);
            return self.nothing(StatusCode::FORBIDDEN, "Not the operator", "This needs the operator's token.");
        }
        let Some(operator) = self.operator() else {
            return self.nothing(StatusCode::CONFLICT, "Nothing to operate", "This league is only looked at here.");
        };
        let name = form.text("action").unwrap_or_default();
        let Some(action) = OperatorAction::named(name, form.text("match"), form.text("player")) else {
            return self.nothing(
                StatusCode::BAD_REQUEST,
                "Unclear",
                "There is no such action, or something is missing.",
            );
        };
        let back = match &action {
            OperatorAction::Step(match_id, _) => format!("/matches/{match_id}"),
            OperatorAction::Withdraw(_) => String::from("/agents"),
            OperatorAction::Start | OperatorAction::Stop | OperatorAction::Reopen => String::from("/"),
        };
        match operator.act(action).await {
            Ok(()) => reply::see(&back),
            Err(fault) => self.nothing(StatusCode::CONFLICT, "That did not work", &fault.message),
        }
    }

    fn missing(&self) -> Reply {
        self.nothing(StatusCode::NOT_FOUND, "Nothing is here", "There is no page at this address.")
    }

    pub(crate) fn nothing(&self, status: StatusCode, title: &str, why: &str) -> Reply {
        let snapshot = self.stage.snapshot();
        let head = snapshot.seq();
        let frame = Frame {
            snapshot: &snapshot,
            title,
            path: "",
            at: None,
            head,
            follows: false,
            kept: self.operator().is_none(),
        };
        let content = html! { section #nothing { h1 { (title) } p { (why) } p { a href="" { "To the league" } } } };
        reply::page(status, frame.around(&content))
    }
}

fn last_seen(visit: &PageRequest) -> Option<u64> {
    visit.parts.headers.get("last-event-id")?.to_str().ok()?.trim().parse().ok()
}

/// Accepts only relative paths of plain characters.
fn is_plain(path: &str) -> bool {
    path.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'_' | b'-' | b'.' | b':'))
        && !path.starts_with('/')
}

fn fixed(media: &'static str, text: &'static str) -> Reply {
    let mut reply = reply::whole(StatusCode::OK, media, text);
    reply.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("max-age=300"));
    reply
}
