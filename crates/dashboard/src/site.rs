//! Routes requests to pages, API and streams.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::{HeaderValue, Method, StatusCode, header};
use http_body_util::BodyExt;
use league_core::record::MatchRecord;
use league_core::season::event::{Event, Fact};
use league_protocol::id::{MatchId, PlayerId, RefereeId};
use league_protocol::message::step::MatchState;
use league_wire::client_network::ClientNetwork;
use league_wire::guard::is_own_page;
use league_wire::pages::PageRequest;
use maud::{Markup, html};

use crate::archive::ArchiveError;
use crate::dashboard::Shared;
use crate::league_snapshot::LeagueSnapshot;
use crate::operate::{self, OperatorAction};
use crate::pages::frame::Frame;
use crate::pages::match_page::{FinishedMatch, ShownParts};
use crate::pages::paging::Paging;
use crate::pages::{agents, crosstable, league, log, match_page, player, projector, schedule, steps};
use crate::phases::Phases;
use crate::query::Query;
use crate::reply::{self, Reply};
use crate::{api, events, gzip, live, metrics};

const STYLE: &str = include_str!("assets/style.css");
const SCRIPT: &str = include_str!("assets/live.js");
const ICON: &str = include_str!("assets/icon.svg");

/// A request for a page.
struct SiteRequest {
    league: RequestedLeague,
    /// Without the past event and without a leading slash.
    path: String,
    query: Query,
    at: Option<u64>,
    /// The client may operate the league.
    trusted: bool,
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
    pub(crate) async fn answer(&self, request: PageRequest) -> Reply {
        let began = Instant::now();
        let reply = self.find(&request).await;
        let mut reply = if gzip::is_wanted(&request.parts.headers) { gzip::packed(reply).await } else { reply };
        self.metrics.answered(began.elapsed(), reply.status().is_server_error());
        if request.parts.method == Method::HEAD {
            *reply.body_mut() = http_body_util::Empty::new().boxed_unsync();
        }
        reply
    }

    async fn find(&self, request: &PageRequest) -> Reply {
        let path = request.parts.uri.path().trim_start_matches('/');
        let query = Query::read(request.parts.uri.query().unwrap_or_default());
        if request.parts.method == Method::POST {
            return match path {
                "operate" => self.operate(request).await,
                _ => self.error(StatusCode::METHOD_NOT_ALLOWED, "Only to be looked at", "Nothing can be sent here."),
            };
        }
        if let Some(asset) = asset(path) {
            return asset;
        }
        // A standby cannot tell whether its leader has a token.
        let trusted = !self.is_standby() && operate::is_operator(self.settings.token.as_ref(), None, request.peer);
        match path {
            "live" => self.live(request, &query),
            "metrics" => metrics::reply([self]),
            "at" => {
                let seq: u64 = query.number("seq").unwrap_or(1);
                let page = query.text("page").filter(|page| is_plain(page)).unwrap_or_default();
                reply::see(&format!("{}at/{seq}/{page}", self.settings.root))
            }
            path => match path.strip_prefix("api/v1/") {
                Some("events") => self.events(request, &query),
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
        let league = match self.league_at(at).await {
            Ok(league) => league,
            Err(error) => return self.error(StatusCode::NOT_FOUND, "No such moment", &error.to_string()),
        };
        let request = SiteRequest { league, path: path.trim_end_matches('/').to_owned(), query, at, trusted };
        let segments: Vec<&str> = request.path.split('/').collect();
        match segments[..] {
            [""] => {
                let operate = self.form(at, |needs_token| steps::controls(&self.state.snapshot(), needs_token));
                let phases = if at.is_none() { self.state.phases().clone() } else { Phases::default() };
                let room = self.state.room.as_ref().filter(|_| at.is_none());
                self.show(&request, "League", |snapshot| {
                    league::page(snapshot, &phases, room, &request.paging(league::ROWS), &operate)
                })
            }
            ["crosstable"] => {
                let across = request.query.number("across").unwrap_or(1);
                self.show(&request, "Crosstable", |snapshot| {
                    crosstable::page(snapshot, &request.paging(crosstable::SIDE), across)
                })
            }
            ["schedule"] => self.show(&request, "Schedule", |snapshot| {
                schedule::page(snapshot, &request.paging(1), request.query.number("round"))
            }),
            ["projector"] => self.projector(&request).await,
            ["players", id] => self.player(&request, id).await,
            ["matches", id] => self.game(&request, id).await,
            ["agents"] => self.agents(&request),
            ["log"] => self.log(&request).await,
            _ => self.missing(),
        }
    }

    /// The league after event `at`, or now.
    pub(crate) async fn league_at(&self, at: Option<u64>) -> Result<RequestedLeague, ArchiveError> {
        match at {
            None => Ok(RequestedLeague::Now),
            Some(seq) => self.state.archive.snapshot_at(seq).await.map(RequestedLeague::Then),
        }
    }

    pub(crate) fn with<T>(&self, league: &RequestedLeague, read: impl FnOnce(&LeagueSnapshot) -> T) -> T {
        match league {
            RequestedLeague::Now => read(&self.state.snapshot()),
            RequestedLeague::Then(snapshot) => read(snapshot),
        }
    }

    fn show(&self, request: &SiteRequest, title: &str, content: impl FnOnce(&LeagueSnapshot) -> Markup) -> Reply {
        let page = self.with(&request.league, |snapshot| {
            let content = content(snapshot);
            let bare = request.path == "projector";
            let frame =
                Frame { path: &request.path, at: request.at, follows: true, bare, ..self.frame(snapshot, title) };
            frame.around(&content)
        });
        reply::page(StatusCode::OK, page)
    }

    fn frame<'a>(&'a self, snapshot: &'a LeagueSnapshot, title: &'a str) -> Frame<'a> {
        let (head, kept) = (*self.state.head.borrow(), self.operator().is_none());
        let (root, leader) = (&self.settings.root, self.leader());
        let kept = kept && leader.is_none();
        Frame { root, snapshot, title, path: "", at: None, head, follows: false, kept, leader, bare: false }
    }

    async fn player(&self, request: &SiteRequest, id: &str) -> Reply {
        let Ok(exact) = id.parse::<PlayerId>() else { return self.missing() };
        let is_known = self.with(&request.league, |snapshot| snapshot.season().player(&exact).is_some());
        let id = if is_known { exact } else { id.to_ascii_uppercase().parse().unwrap_or(exact) };
        let found = self.with(&request.league, |snapshot| {
            let name = snapshot.season().player(&id)?.profile.name.clone();
            Some((name, player::latest(snapshot, &id, player::FILES)))
        });
        let Some((name, played)) = found else {
            return self.error(StatusCode::NOT_FOUND, "No such player", "No player of this league has that id.");
        };
        let files = self.state.archive.games(played).await;
        self.show(request, &name, |snapshot| match snapshot.season().player(&id) {
            Some(player) => {
                let operate = self.form(request.at, |needs_token| steps::of_player(snapshot, player, needs_token));
                player::page(snapshot, player, &files, request.query.number("from").unwrap_or(0), &operate)
            }
            None => html! {},
        })
    }

    pub(crate) async fn reported(&self, league: &RequestedLeague, match_id: &MatchId) -> Option<Event> {
        let seq = self.with(league, |snapshot| snapshot.event_of(match_id))?;
        let read = self.state.archive.events(seq - 1, 1).await.ok()?;
        read.into_iter().next().map(|(_, event)| event)
    }

    async fn game(&self, request: &SiteRequest, id: &str) -> Reply {
        let known = id.to_ascii_uppercase().parse::<MatchId>().ok();
        let known = known.filter(|id| self.with(&request.league, |league| league.season().contestants(id).is_some()));
        let Some(match_id) = known else {
            return self.error(StatusCode::NOT_FOUND, "No such match", "The schedule has no match of that id.");
        };
        let over = match self.reported(&request.league, &match_id).await.map(|event| event.fact) {
            Some(Fact::MatchReported { attempt, record, .. }) => {
                let file = self.state.archive.game(&match_id).await.filter(|file| file.attempt == attempt);
                Some(FinishedMatch { attempt: Some(attempt), record, file, at_standby: self.is_standby() })
            }
            Some(Fact::MatchAwarded { outcome, .. }) => {
                let record = MatchRecord::unplayed(outcome);
                Some(FinishedMatch { attempt: None, record, file: None, at_standby: self.is_standby() })
            }
            Some(_) | None => None,
        };
        let state = if over.is_none() && request.at.is_none() { self.match_state(&match_id).await } else { None };
        let steps =
            state.as_deref().map_or_else(|| html! {}, |state| steps::of_match(state, self.settings.token.is_some()));
        let (game, part) = (request.query.number("game").unwrap_or(1), request.query.number("part").unwrap_or(1));
        let (shown, root) = (ShownParts { game, part }, &self.settings.root);
        self.show(request, &format!("Match {match_id}"), |snapshot| {
            match_page::page(snapshot, (&match_id, shown), over.as_ref(), state.as_deref(), &steps, root)
        })
    }

    /// Shows the current round, or the one that the query names.
    async fn projector(&self, request: &SiteRequest) -> Reply {
        let asked: Option<u32> = request.query.number("round");
        let (round, end) = self.with(&request.league, |now| {
            let last = now.season().round_number().0;
            let round = asked.map_or(last, |round| round.clamp(1, last.max(1)));
            (round, projector::end_of(now, round))
        });
        let then = match end {
            Some(seq) => match self.state.archive.snapshot_at(seq).await {
                Ok(then) => Some(then),
                Err(error) => return self.error(StatusCode::NOT_FOUND, "No such round", &error.to_string()),
            },
            None => None,
        };
        let room = self.state.room.as_ref().filter(|_| request.at.is_none());
        self.show(request, "Projector", |now| {
            let sign = if request.at.is_none() {
                self.frame(now, "Projector").sign()
            } else {
                html! {}
            };
            projector::page(then.as_deref().unwrap_or(now), now, round, room, &sign)
        })
    }

    fn agents(&self, request: &SiteRequest) -> Reply {
        let paging = request.paging(agents::ROWS);
        let latency = |referee: &RefereeId| match request.at {
            None => self.referee_latency(referee),
            Some(_) => None,
        };
        let room = self.state.room.as_ref().filter(|_| request.at.is_none());
        self.show(request, "Agents", |snapshot| agents::page(snapshot, &paging, room, request.trusted, latency))
    }

    pub(crate) fn referee_latency(&self, referee: &RefereeId) -> Option<Duration> {
        self.operator().and_then(|operator| operator.referee_latency(referee))
    }

    async fn log(&self, request: &SiteRequest) -> Reply {
        let paging = request.paging(log::ROWS);
        let seq = self.with(&request.league, LeagueSnapshot::seq);
        let rows = log::ROWS as u64;
        let until = seq.saturating_sub((paging.page as u64 - 1).saturating_mul(rows));
        let from = until.saturating_sub(rows);
        let count = usize::try_from(until - from).unwrap_or(log::ROWS);
        let mut entries = match self.state.archive.events(from, count).await {
            Ok(entries) => entries,
            Err(error) => {
                return self.error(StatusCode::INTERNAL_SERVER_ERROR, "The log cannot be read", &error.to_string());
            }
        };
        entries.reverse();
        let head = match until == seq {
            true => entries.first().map(|(head, _)| *head),
            false => {
                self.state.archive.events(seq.saturating_sub(1), 1).await.ok().and_then(|last| Some(last.first()?.0))
            }
        };
        self.show(request, "Log", |snapshot| log::page(snapshot, &paging, &entries, head))
    }

    fn live(&self, request: &PageRequest, query: &Query) -> Reply {
        let seen = last_seen(request).or(query.number("since")).unwrap_or(0);
        let Some(slot) = self.state.viewer_slot(true) else { return self.full() };
        let packed = gzip::is_wanted(&request.parts.headers);
        let options = live::StreamOptions { quiet: query.has("quiet"), packed };
        let reply = reply::events(live::stream(slot, seen, options));
        if packed { gzip::marked(reply) } else { reply }
    }

    fn events(&self, request: &PageRequest, query: &Query) -> Reply {
        let head = *self.state.head.borrow();
        let after = last_seen(request).or(query.number("after")).unwrap_or(head).min(head);
        let Some(slot) = self.state.viewer_slot(false) else { return self.full() };
        reply::events(events::stream(slot, after))
    }

    fn full(&self) -> Reply {
        self.metrics.stream_refused();
        let text = "so many are watching that there is no place left; come back in a minute\n";
        let mut reply = reply::whole(StatusCode::SERVICE_UNAVAILABLE, "text/plain; charset=utf-8", text);
        reply.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("60"));
        reply
    }

    /// Empty on pages of the past, and when the league is only displayed.
    fn form(&self, at: Option<u64>, form: impl FnOnce(bool) -> Markup) -> Markup {
        let is_operable = at.is_none() && self.operator().is_some();
        if is_operable {
            form(self.settings.token.is_some())
        } else {
            html! {}
        }
    }

    async fn match_state(&self, match_id: &MatchId) -> Option<Arc<MatchState>> {
        let operator = self.operator()?;
        let is_running = self.state.snapshot().season().assignments().iter().any(|held| held.match_id == *match_id);
        if !is_running {
            return None;
        }
        self.match_states.of(match_id, || operator.match_state(match_id.clone())).await
    }

    async fn operate(&self, request: &PageRequest) -> Reply {
        let form = Query::read(&String::from_utf8_lossy(&request.body));
        if !is_own_page(&request.parts.headers) {
            return self.error(StatusCode::FORBIDDEN, "Not from here", "This form was sent by another page.");
        }
        let (client_network, strikes) = (ClientNetwork::of(request.peer), &self.settings.strikes);
        if !operate::is_operator(self.settings.token.as_ref(), form.text("token"), request.peer) {
            if strikes.record_failure(client_network).is_err() {
                let why = "Too many wrong tokens came from there.";
                return self.error(StatusCode::TOO_MANY_REQUESTS, "Too often", why);
            }
            return self.error(StatusCode::FORBIDDEN, "Not the operator", "This needs the operator's token.");
        }
        let Some(operator) = self.operator() else {
            return self.error(StatusCode::CONFLICT, "Nothing to operate", "This league is only looked at here.");
        };
        let name = form.text("action").unwrap_or_default();
        let Some(action) = OperatorAction::named(name, form.text("match"), form.text("player")) else {
            let why = "There is no such action, or something is missing.";
            return self.error(StatusCode::BAD_REQUEST, "Unclear", why);
        };
        let root = &self.settings.root;
        let back = match &action {
            OperatorAction::Step(match_id, _) => format!("{root}matches/{match_id}"),
            OperatorAction::Withdraw(_) => format!("{root}agents"),
            OperatorAction::Start | OperatorAction::Stop | OperatorAction::Reopen => root.clone(),
        };
        match operator.act(action).await {
            Ok(()) => reply::see(&back),
            Err(error) => self.error(StatusCode::CONFLICT, "That did not work", &error.message),
        }
    }

    fn missing(&self) -> Reply {
        self.error(StatusCode::NOT_FOUND, "Nothing is here", "There is no page at this address.")
    }

    fn error(&self, status: StatusCode, title: &str, why: &str) -> Reply {
        let snapshot = self.state.snapshot();
        let content = html! { section #nothing { h1 { (title) } p { (why) } p { a href="" { "To the league" } } } };
        reply::page(status, self.frame(&snapshot, title).around(&content))
    }
}

fn last_seen(request: &PageRequest) -> Option<u64> {
    request.parts.headers.get("last-event-id")?.to_str().ok()?.trim().parse().ok()
}

/// Accepts only relative paths of plain characters.
fn is_plain(path: &str) -> bool {
    path.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'_' | b'-' | b'.' | b':'))
        && !path.starts_with('/')
}

/// Style, script and icon of all pages.
pub(crate) fn asset(path: &str) -> Option<Reply> {
    match path {
        "static/style.css" => Some(fixed("text/css; charset=utf-8", STYLE)),
        "static/live.js" => Some(fixed("text/javascript; charset=utf-8", SCRIPT)),
        "static/icon.svg" | "favicon.ico" => Some(fixed("image/svg+xml", ICON)),
        _ => None,
    }
}

fn fixed(media: &'static str, text: &'static str) -> Reply {
    let mut reply = reply::whole(StatusCode::OK, media, text);
    reply.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("max-age=300"));
    reply
}
