//! Getting to an agent: which form it understands, or what is there in its place.

use std::time::Duration;

use league_wire::net::{Connector, Tcp};

use crate::heard::{Heard, Silence};
use crate::letters::Letter;
use crate::line::Line;
use crate::voice::Voice;

/// What came of the first call.
pub(crate) enum Reached {
    /// The agent understood it in this form.
    Understood(Voice, Heard),
    /// Nobody is there: what to do about it.
    Nobody(Heard, String),
    /// Somebody is there and does not understand, or does not want to: what to do about it.
    Stranger(Heard, String),
    /// Somebody is there and takes too long.
    Slow(Heard),
}

/// Says `letter` in one form after the other, until one of the answers is one.
pub(crate) async fn try_all(
    line: &Line,
    letter: &Letter,
    limit: Duration,
    answers: impl Fn(&Heard) -> bool,
) -> Reached {
    let mut first: Option<Heard> = None;
    for voice in Voice::plain() {
        let heard = voice.say(line, letter, limit).await;
        if answers(&heard) {
            return Reached::Understood(voice, heard);
        }
        match &heard.came {
            Err(Silence::TimedOut(_)) => return Reached::Slow(heard),
            Err(Silence::Broken(why)) if first.is_none() && !is_listening(line).await => {
                let note = nobody(line, why);
                return Reached::Nobody(heard, note);
            }
            Err(Silence::Broken(_) | Silence::TooLong) | Ok(_) => {}
        }
        if let Some(note) = guarded(&heard) {
            return Reached::Stranger(heard, note);
        }
        first.get_or_insert(heard);
    }
    if let Some(voice) = Voice::mcp(line, limit).await {
        let heard = voice.say(line, letter, limit).await;
        if answers(&heard) {
            return Reached::Understood(voice, heard);
        }
    }
    let Some(heard) = first else { return Reached::Slow(Heard { sent: letter_text(letter), came: timed_out(limit) }) };
    let note = stranger(line, &heard);
    Reached::Stranger(heard, note)
}

fn letter_text(letter: &Letter) -> bytes::Bytes {
    serde_json::to_vec(&letter.message).unwrap_or_default().into()
}

fn timed_out(limit: Duration) -> Result<crate::heard::Came, Silence> {
    Err(Silence::TimedOut(limit))
}

/// Whether a connection can be made at all.
async fn is_listening(line: &Line) -> bool {
    Tcp.connect(line.endpoint.host(), line.endpoint.port()).await.is_ok()
}

pub(crate) fn nobody(line: &Line, why: &str) -> String {
    let (host, port) = (line.endpoint.host(), line.endpoint.port());
    format!(
        "Nothing listens at {host}:{port} ({why}).\n\
         Start the agent first, and give the URL at which it listens, such as http://127.0.0.1:8101/mcp."
    )
}

/// The note for an agent that listens to its own league only.
pub(crate) fn guarded(heard: &Heard) -> Option<String> {
    let error = heard.error()?;
    let closed = matches!(error.code.as_deref(), Some("E011" | "E012"));
    closed.then(|| {
        String::from(
            "This agent takes part in a league and listens to the manager and the referees of that league only.\n\
             Check it before it registers: start it while its manager is not running, or with the address of none.",
        )
    })
}

fn stranger(line: &Line, heard: &Heard) -> String {
    let path = line.path();
    let Ok(came) = &heard.came else {
        return format!("It takes connections and does not answer: {}", heard.came_text());
    };
    let kind = heard.content_type().unwrap_or_default();
    match (came.status.as_u16(), kind.as_str()) {
        (404, _) => format!(
            "There is a server, and it has nothing at {path} (status 404). Is the path right? Most agents listen at /mcp."
        ),
        (405, _) => format!("There is a server, and {path} takes no POST (status 405). Is this the agent's endpoint?"),
        (401 | 403, _) => format!(
            "There is a server, and it lets nobody in (status {}). Check it without what guards it, or from an allowed host.",
            came.status.as_u16()
        ),
        (_, "text/html") => format!("There is a web server that answers with a page. Is {path} an agent's endpoint?"),
        (status, _) => format!(
            "Somebody answers (status {status}), but in none of the forms that are in use: JSON-RPC with the tool's name or the \
             message's type as the method, the message alone or nested, tools/call, or an MCP session."
        ),
    }
}
