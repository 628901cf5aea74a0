//! Finds the dialect that an agent understands, or what else listens at its address.

use std::time::Duration;

use league_protocol::dialect::PeerDialect;
use league_protocol::envelope::Envelope;
use league_protocol::id::MatchId;
use league_protocol::problem::{Problem, QuestionKind};
use league_protocol::table::Call;
use league_wire::exchange::Exchange;
use league_wire::net::{Connector, Tcp};
use league_wire::peer_client::{OutgoingCall, Peer};

use crate::agent_client::AgentClient;
use crate::response::{NoResponse, Response, ResponseBody};

pub(crate) enum Reached {
    Understood(PeerDialect, Response),
    /// With advice.
    NotListening(Response, String),
    /// No dialect was understood. Holds all answers, at least one.
    Stranger(Vec<Response>),
    /// The agent answers only its own league. With advice.
    Guarded(Response, String),
    Slow(Response),
}

pub(crate) struct Question {
    pub(crate) envelope: Envelope,
    pub(crate) call: Call,
}

/// Tries the dialects in the league's order until an answer fits. `known` is the dialect of an earlier answer: then
/// only the name of the call can differ.
pub(crate) async fn search(
    client: &AgentClient,
    question: &Question,
    known: Option<&PeerDialect>,
    limit: Duration,
    answers: impl Fn(&ResponseBody) -> bool + Sync,
) -> Reached {
    let judge = |exchange: &Exchange| answers(&ResponseBody::of(exchange));
    let canonical = PeerDialect::default();
    let dialect = known.unwrap_or(&canonical);
    let peer = Peer { endpoint: &client.endpoint, dialect, proven: known.is_some() };
    let message = OutgoingCall { envelope: &question.envelope, call: &question.call, body: None, limit, notice: false };
    let mut tries = Vec::new();
    let outcome = match known {
        Some(_) => client.peer_client.send(peer, message, &judge, &mut tries).await,
        None => client.peer_client.search(peer, message, &judge, &mut tries).await,
    };
    let tries =
        tries.into_iter().filter(|attempt| !attempt.is_probe).map(|attempt| Response::of(attempt.sent, attempt.result));
    let mut tries: Vec<Response> = tries.collect();
    let Some(last) = tries.pop() else { return Reached::Slow(Response::nothing(limit)) };
    if outcome.understood {
        return Reached::Understood(outcome.learned.unwrap_or_else(|| dialect.clone()), last);
    }
    match &last.result {
        Err(NoResponse::TimedOut(_)) => return Reached::Slow(last),
        Err(NoResponse::Broken(why)) if tries.is_empty() && !is_listening(client).await => {
            let note = not_listening(client, why);
            return Reached::NotListening(last, note);
        }
        Err(NoResponse::Broken(_) | NoResponse::TooLong) | Ok(_) => {}
    }
    if let Some(note) = guarded(&last) {
        return Reached::Guarded(last, note);
    }
    tries.push(last);
    Reached::Stranger(tries)
}

pub(crate) fn most_specific(mut tries: Vec<Response>, question: QuestionKind, match_id: &MatchId) -> Response {
    let problems = tries.iter().map(|response| response.problem(question, match_id));
    let specific = Problem::most_specific(problems.clone().flatten());
    let place = problems.into_iter().position(|problem| problem.is_some() && problem == specific);
    tries.swap_remove(place.unwrap_or(0))
}

/// The answer in the dialect that the agent understands, or the most specific error and the canonical dialect.
pub(crate) async fn answer(
    client: &AgentClient,
    question: &Question,
    limit: Duration,
    answers: impl Fn(&ResponseBody) -> bool + Sync,
) -> (PeerDialect, Response) {
    match search(client, question, None, limit, answers).await {
        Reached::Understood(dialect, response) => (dialect, response),
        Reached::NotListening(response, _) | Reached::Guarded(response, _) | Reached::Slow(response) => {
            (PeerDialect::default(), response)
        }
        Reached::Stranger(tries) => {
            let weight = |response: &Response| response.error().map_or(0, |error| 1 + error.weight());
            let best = tries.into_iter().reduce(|best, next| if weight(&next) > weight(&best) { next } else { best });
            (PeerDialect::default(), best.unwrap_or_else(|| Response::nothing(limit)))
        }
    }
}

async fn is_listening(client: &AgentClient) -> bool {
    Tcp.connect(client.endpoint.host(), client.endpoint.port()).await.is_ok()
}

pub(crate) fn not_listening(client: &AgentClient, why: &str) -> String {
    let (host, port) = (client.endpoint.host(), client.endpoint.port());
    format!(
        "Nothing listens at {host}:{port} ({why}).\n\
         Start the agent first, and give the URL at which it listens, such as http://127.0.0.1:8101/mcp."
    )
}

pub(crate) fn guarded(response: &Response) -> Option<String> {
    let error = response.error()?;
    let closed = matches!(error.code.as_deref(), Some("E011" | "E012"));
    closed.then(|| {
        String::from(
            "This agent takes part in a league and listens to the manager and the referees of that league only.\n\
             Check it before it registers: start it while its manager is not running, or with the address of none.",
        )
    })
}

/// `response` is the most specific answer.
pub(crate) fn stranger(client: &AgentClient, response: &Response, problem: Option<&Problem>) -> String {
    let path = client.path();
    let Ok(answer) = &response.result else {
        return match problem {
            Some(problem) => format!("The agent takes connections and answers in no form: {problem}."),
            None => format!("The agent takes connections and does not answer: {}", response.result_text()),
        };
    };
    let kind = response.content_type().unwrap_or_default();
    match (answer.status.as_u16(), kind.as_str()) {
        (404, _) => format!(
            "There is a server, and it has nothing at {path} (status 404). Is the path right? Most agents listen at /mcp."
        ),
        (405, _) => format!("There is a server, and {path} takes no POST (status 405). Is this the agent's endpoint?"),
        (401 | 403, _) => format!(
            "There is a server, and it refuses access (status {}). Check it without its access control, or from an allowed host.",
            answer.status.as_u16()
        ),
        (_, "text/html") => format!("There is a web server that answers with a page. Is {path} an agent's endpoint?"),
        (status, _) => {
            let quoted = problem.map(|problem| format!(" Its most specific answer: {problem}.")).unwrap_or_default();
            format!(
                "There are answers (status {status}), but in none of the forms that are in use: JSON-RPC with the tool's name or \
                 the message's type as the method, the message alone or nested, tools/call, or an MCP session.{quoted}"
            )
        }
    }
}
