//! Answers that a player posts to its referee after it acknowledged the call.
//!
//! Such a player takes its referee's address from the announcement of the round, so the checker announces its matches
//! with its own address.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, StatusCode};
use league_protocol::answer::{JoinAnswer, MoveAnswer, ParsedAnswer};
use league_protocol::dialect::PeerDialect;
use league_protocol::envelope::{Envelope, PROTOCOL, ReceivedEnvelope};
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{ConversationId, MatchId, RefereeId};
use league_protocol::message::acknowledgement::Acknowledgement;
use league_protocol::sender::{Role, Sender};
use league_protocol::table::{Method, RefereeCall};
use league_wire::agent::{Agent, CallAnswer, Health, IncomingCall};
use league_wire::endpoint::Endpoint;
use league_wire::environment::Environment;
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, timeout};

use crate::options::CheckOptions;
use crate::response::{Response, ResponseBody};

const MOST: usize = 1024;

#[derive(Clone, Debug)]
struct Post {
    match_id: MatchId,
    method: Method,
    body: Bytes,
}

#[derive(Debug, Default)]
pub(crate) struct Posts {
    received: Arc<watch::Sender<Vec<Post>>>,
    open: Option<(Endpoint, oneshot::Sender<()>)>,
}

impl Posts {
    pub(crate) async fn open(&mut self, options: &CheckOptions, agent: &Endpoint) -> std::io::Result<Endpoint> {
        let referee = Referee { received: Arc::clone(&self.received), environment: Environment::real() };
        let (endpoint, close) = options.serve(referee, 0, agent).await?;
        self.open = Some((endpoint.clone(), close));
        Ok(endpoint)
    }

    /// Until the server runs, a port where no program listens.
    pub(crate) fn endpoint(&self) -> &str {
        self.open.as_ref().map_or("http://127.0.0.1:9/mcp", |(endpoint, _)| endpoint.as_str())
    }

    pub(crate) fn waiting(&self, match_id: &MatchId, method: Method) -> Waiting<'_> {
        let since = self.received.borrow().len();
        Waiting { posts: self, match_id: match_id.clone(), method, since, began: Instant::now() }
    }
}

pub(crate) struct Waiting<'a> {
    posts: &'a Posts,
    match_id: MatchId,
    method: Method,
    since: usize,
    began: Instant,
}

impl Waiting<'_> {
    /// The posted answer if the call was only acknowledged and one comes within `limit`; otherwise `response`.
    pub(crate) async fn or(self, response: Response, dialect: &PeerDialect, limit: Duration) -> Response {
        if !dialect.posts() || !acknowledges(&response, &self.match_id) {
            return response;
        }
        let Self { posts, match_id, method, since, began } = self;
        let fits = |post: &&Post| post.match_id == match_id && post.method == method;
        let mut received = posts.received.subscribe();
        let left = limit.saturating_sub(began.elapsed());
        let come = |all: &Vec<Post>| all.iter().skip(since).any(|post| fits(&post));
        let found = match timeout(left, received.wait_for(come)).await {
            Ok(Ok(all)) => all.iter().skip(since).find(fits).map(|post| post.body.clone()),
            Ok(Err(_)) | Err(_) => None,
        };
        let Some(body) = found else { return response };
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        let posted = ResponseBody { status: StatusCode::OK, headers, body, took: began.elapsed() };
        Response { result: Ok(posted), ..response }
    }
}

/// The answer is neither an error nor an answer to a question about `match_id`.
pub(crate) fn acknowledges(response: &Response, match_id: &MatchId) -> bool {
    let Ok(layers) = ParsedAnswer::parse(response.body()) else { return false };
    response.status().is_some_and(|status| status.is_success())
        && layers.join(match_id).answer == JoinAnswer::Nothing
        && layers.parity(match_id).answer == MoveAnswer::Nothing
        && layers.game_move(match_id).answer == MoveAnswer::Nothing
}

struct Referee {
    received: Arc<watch::Sender<Vec<Post>>>,
    environment: Environment,
}

impl Agent for Referee {
    type Call = RefereeCall;

    fn role(&self) -> Role {
        Role::Referee
    }

    fn envelope(&self, echo: Option<ConversationId>) -> Envelope {
        Envelope {
            sender: Sender::referee(&RefereeId::numbered(1)),
            timestamp: self.environment.now(),
            conversation_id: echo.unwrap_or_else(|| ConversationId::named("conv-check")),
            auth_token: None,
        }
    }

    async fn call(&self, incoming: IncomingCall<RefereeCall>) -> Result<CallAnswer, RequestError> {
        let IncomingCall { call, method, head, .. } = incoming;
        let (match_id, question, body) = if let RefereeCall::PostJoin(join) = &call {
            (join.match_id.clone(), Method::GameInvitation, written(&head, "GAME_JOIN_ACK", join))
        } else if let RefereeCall::PostChoice(choice) = &call {
            let (method, kind) = match choice.played {
                Some(_) => (Method::MakeMove, "GAME_MOVE_RESPONSE"),
                None => (Method::ChooseParity, "CHOOSE_PARITY_RESPONSE"),
            };
            (Some(choice.match_id.clone()), method, written(&head, kind, choice))
        } else {
            return Err(RequestError::new(ErrorCode::E010, method, "this referee exists only to check a player"));
        };
        let match_id = match_id.ok_or_else(|| {
            RequestError::new(ErrorCode::E003, method, "match_id is missing; name the match").about("match_id")
        })?;
        self.received.send_modify(|all| {
            if all.len() < MOST {
                all.push(Post { match_id, method: question, body });
            }
        });
        CallAnswer::new(self.envelope(head.conversation_id.as_good().cloned()), &Acknowledgement::default())
    }

    fn health(&self) -> Health {
        Health { status: "ok", role: Role::Referee, id: None, league_id: None, state: String::from("checking") }
    }
}

fn written(head: &ReceivedEnvelope, kind: &str, body: &impl Serialize) -> Bytes {
    let mut message = match serde_json::to_value(body) {
        Ok(Value::Object(message)) => message,
        Ok(_) | Err(_) => Map::new(),
    };
    let mut note = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            message.insert(name.to_owned(), value.into());
        }
    };
    note("message_type", Some(head.message_type.as_good().map_or_else(|| kind.to_owned(), ToString::to_string)));
    note("protocol", head.protocol.as_good().map(|_| PROTOCOL.to_owned()));
    note("sender", head.sender.as_good().map(ToString::to_string));
    note("timestamp", head.timestamp.as_good().map(|written| written.time.to_string()));
    note("conversation_id", head.conversation_id.as_good().map(ToString::to_string));
    note("auth_token", head.auth_token.as_ref().map(|token| token.reveal().to_owned()));
    Bytes::from(Value::Object(message).to_string())
}
