//! The first page of a server with many leagues: the list, and the operator's form for a new league. Programs use `/api/v1/leagues`.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use http::{HeaderMap, Method, StatusCode, header};
use http_body_util::BodyExt;
use league_protocol::id::LeagueId;
use league_protocol::token::TokenDigest;
use league_wire::client_network::ClientNetwork;
use league_wire::failed_secrets::FailedSecrets;
use league_wire::guard::is_own_page;
use league_wire::pages::{PageFuture, PageHandler, PageRequest, bearer};
use maud::Markup;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::json;

use crate::dashboard::Dashboard;
use crate::operate;
use crate::pages::index;
use crate::pages::paging::Paging;
use crate::query::Query;
use crate::reply::{self, Reply};
use crate::site::asset;
use crate::{gzip, metrics};

/// A league in the list.
#[derive(Clone, Debug, Serialize)]
pub struct ListedLeague {
    pub league_id: LeagueId,
    /// The path of its first page, with a slash at both ends.
    pub path: String,
    /// The URL for its agents.
    pub endpoint: String,
    /// This process leads it. If not, the calls are sent to the process that does.
    pub leads: bool,
    /// `None` until its log was read.
    #[serde(rename = "status", serialize_with = "status")]
    pub dashboard: Option<Dashboard>,
}

fn status<S: Serializer>(dashboard: &Option<Dashboard>, serializer: S) -> Result<S::Ok, S::Error> {
    dashboard.as_ref().map(Dashboard::status).serialize(serializer)
}

/// A league that the operator wants. What is left out is as configured.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewLeague {
    pub league_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub game: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub games_per_match: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect_players: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect_referees: Option<u32>,
    /// In seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration_window: Option<u64>,
}

impl NewLeague {
    /// An empty field is one that was left out.
    fn of_form(form: &Query) -> Result<Self, CreateError> {
        let text = |name: &str| form.text(name).map(str::to_owned);
        let number = |name: &'static str| match form.text(name) {
            None => Ok(None),
            Some(text) => match text.parse() {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(CreateError::Invalid(format!("{name} expects a number, and not {text:?}"))),
            },
        };
        Ok(Self {
            league_id: text("league_id").unwrap_or_default(),
            display_name: text("display_name"),
            game: text("game"),
            format: text("format"),
            games_per_match: number("games_per_match")?,
            expect_players: number("expect_players")?,
            expect_referees: number("expect_referees")?,
            registration_window: number("registration_window")?.map(u64::from),
        })
    }
}

/// Why a league was not created. The text says what to change.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CreateError {
    #[error("{0}")]
    Invalid(String),
    #[error("{0}")]
    Exists(String),
    #[error("{0}")]
    Failed(String),
}

impl CreateError {
    fn status(&self) -> StatusCode {
        match self {
            Self::Invalid(_) => StatusCode::BAD_REQUEST,
            Self::Exists(_) => StatusCode::CONFLICT,
            Self::Failed(_) => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

pub type Creating<'a> = Pin<Box<dyn Future<Output = Result<ListedLeague, CreateError>> + Send + 'a>>;

pub trait LeagueHost: fmt::Debug + Send + Sync + 'static {
    fn leagues(&self) -> Vec<ListedLeague>;

    /// Returns when the league is open for registration.
    fn create(&self, new: NewLeague) -> Creating<'_>;
}

#[derive(Debug)]
pub struct Index {
    pub host: Arc<dyn LeagueHost>,
    /// Recognises the operator. Without it, every client on this machine is the operator.
    pub token: Option<TokenDigest>,
    pub strikes: Arc<FailedSecrets>,
}

impl PageHandler for Index {
    fn respond(&self, request: PageRequest) -> PageFuture<'_> {
        Box::pin(self.answer(request))
    }
}

impl Index {
    async fn answer(&self, request: PageRequest) -> Reply {
        let reply = self.find(&request).await;
        let mut reply = if gzip::is_wanted(&request.parts.headers) { gzip::packed(reply).await } else { reply };
        if request.parts.method == Method::HEAD {
            *reply.body_mut() = http_body_util::Empty::new().boxed_unsync();
        }
        reply
    }

    async fn find(&self, request: &PageRequest) -> Reply {
        let path = request.parts.uri.path().trim_start_matches('/');
        match (path, request.parts.method == Method::POST) {
            ("leagues", true) => self.create_by_form(request).await,
            ("api/v1/leagues", true) => self.create_by_call(request).await,
            (_, true) => error(StatusCode::METHOD_NOT_ALLOWED, "Only to be looked at", "Nothing can be sent here."),
            ("", false) => {
                let query = Query::read(request.parts.uri.query().unwrap_or_default());
                let search = query.text("q").unwrap_or_default().chars().take(64).collect();
                let page = query.number("page").unwrap_or(1).max(1);
                let paging = Paging { page, search, size: index::ROWS };
                reply::page(StatusCode::OK, index::page(&self.host.leagues(), &paging, self.token.is_some()))
            }
            ("api/v1/leagues", false) => reply::json(StatusCode::OK, &json!({ "leagues": self.host.leagues() })),
            ("metrics", false) => {
                let leagues = self.host.leagues();
                metrics::reply(leagues.iter().filter_map(|league| Some(&*league.dashboard.as_ref()?.shared)))
            }
            (path, false) => asset(path).unwrap_or_else(|| missing(path)),
        }
    }

    async fn create_by_form(&self, request: &PageRequest) -> Reply {
        let form = Query::read(&String::from_utf8_lossy(&request.body));
        if let Err((status, why)) = self.admit(request, form.text("token")) {
            return error(status, "Not the operator", why);
        }
        let created = match NewLeague::of_form(&form) {
            Ok(new) => self.host.create(new).await,
            Err(invalid) => Err(invalid),
        };
        match created {
            Ok(league) => reply::see(&league.path),
            Err(refused) => error(refused.status(), "The league was not created", &refused.to_string()),
        }
    }

    async fn create_by_call(&self, request: &PageRequest) -> Reply {
        let refuse = |status: StatusCode, why: &str| reply::json(status, &json!({ "error": why }));
        let secret = bearer(&request.parts.headers);
        if let Err((status, why)) = self.admit(request, secret.as_ref().map(|secret| secret.reveal())) {
            return refuse(status, why);
        }
        if !is_json(&request.parts.headers) {
            let why = "a new league needs the header Content-Type: application/json";
            return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, why);
        }
        let created = match serde_json::from_slice::<NewLeague>(&request.body) {
            Ok(new) => self.host.create(new).await,
            Err(error) => {
                Err(CreateError::Invalid(format!("expected an object such as {{\"league_id\": \"spring\"}}: {error}")))
            }
        };
        match created {
            Ok(league) => reply::json(StatusCode::CREATED, &league),
            Err(refused) => refuse(refused.status(), &refused.to_string()),
        }
    }

    /// The rules of the operator's forms of a league hold here, too.
    fn admit(&self, request: &PageRequest, secret: Option<&str>) -> Result<(), (StatusCode, &'static str)> {
        if !is_own_page(&request.parts.headers) {
            return Err((StatusCode::FORBIDDEN, "This was sent by a page of another site."));
        }
        if operate::is_operator(self.token.as_ref(), secret, request.peer) {
            return Ok(());
        }
        if self.strikes.record_failure(ClientNetwork::of(request.peer)).is_err() {
            return Err((StatusCode::TOO_MANY_REQUESTS, "Too many wrong tokens came from there."));
        }
        Err((StatusCode::FORBIDDEN, "Only the operator creates leagues: this needs the operator's token."))
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let media = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    media.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
}

fn missing(path: &str) -> Reply {
    if path.starts_with("leagues/") {
        return error(StatusCode::NOT_FOUND, "No such league", "There is no league with this id here.");
    }
    error(StatusCode::NOT_FOUND, "Nothing is here", "There is no page at this address.")
}

fn error(status: StatusCode, title: &str, why: &str) -> Reply {
    let page: Markup = index::error(title, why);
    reply::page(status, page)
}
