//! One message of every kind with all fields set: each golden file, read back.
//! A new message has no golden file yet and is read from an empty object.

use league_protocol::envelope::Envelope;
use league_protocol::id::{ConversationId, LeagueId};
use league_protocol::message::acknowledgement::Acknowledgement;
use league_protocol::message::choice::ChooseParityResponse;
use league_protocol::message::evidence::MatchTestimony;
use league_protocol::message::game_move::GameMoveResponse;
use league_protocol::message::identity::ProvedIdentity;
use league_protocol::message::invitation::GameJoinAck;
use league_protocol::message::league_view::LeaguePage;
use league_protocol::message::next_match::NextMatchAnswer;
use league_protocol::message::operate::{Empty, RotatedKey, ScheduleAnswer, StatusAnswer};
use league_protocol::message::query::{AssignedMatches, LeagueQueryResponse};
use league_protocol::message::registration::RegisterResponse;
use league_protocol::message::report::MatchResultAck;
use league_protocol::message::standings::StandingsAnswer;
use league_protocol::message::start_match::StartMatchAnswer;
use league_protocol::message::state::PlayerState;
use league_protocol::message::step::{MatchState, RegisteredToLeague};
use league_protocol::message::transcript::TranscriptAck;
use league_protocol::reply::ReplyTo;
use league_protocol::request::{self, Incoming};
use league_protocol::sender::Sender;
use league_protocol::table::{Call, Method};
use league_protocol::time::Timestamp;
use league_protocol::token::{Credential, Token};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub(crate) fn league() -> LeagueId {
    "harbour_cup".parse().unwrap()
}

pub(crate) fn envelope() -> Envelope {
    Envelope {
        sender: Sender::manager(),
        // With a fraction, because written times have whole seconds.
        timestamp: Timestamp::from_unix_millis(1_772_614_800_750),
        conversation_id: ConversationId::named("conv-r2m3"),
        auth_token: Some(Credential::from(Token::mint("P05", &[0x5A; 32]).digest().manager_pass(&league()))),
    }
}

fn golden(kind: &str, method: Method) -> String {
    let file = format!("{}/tests/snapshots/golden__{kind}_{}.snap", env!("CARGO_MANIFEST_DIR"), method.row().name);
    let snapshot = std::fs::read_to_string(file).unwrap_or_else(|_| String::from("---\n---\n{}"));
    snapshot.splitn(3, "---\n").nth(2).unwrap().to_owned()
}

/// Reads the message as a tool call, because `ping` is a method of MCP in the canonical frame.
pub(crate) fn call(method: Method) -> Call {
    let written: Value = serde_json::from_str(&golden("request", method)).unwrap();
    let params = json!({"name": method.row().name, "arguments": written["params"]});
    let tool = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    match request::read(tool.as_bytes()).unwrap() {
        Incoming::Call(request) => request.call,
        other @ (Incoming::Mcp(_) | Incoming::Batch(_)) => unreachable!("{other:?}"),
    }
}

pub(crate) fn answer(method: Method, to: &ReplyTo, out: &mut Vec<u8>) {
    let write: fn(Method, &ReplyTo, &mut Vec<u8>) = match method {
        Method::RegisterReferee | Method::RegisterPlayer => write_answer::<RegisterResponse>,
        Method::ReportMatchResult => write_answer::<MatchResultAck>,
        Method::StoreTranscript => write_answer::<TranscriptAck>,
        Method::LeagueQuery => write_answer::<LeagueQueryResponse>,
        Method::GetAssignedMatches => write_answer::<AssignedMatches>,
        Method::NextMatch => write_answer::<NextMatchAnswer>,
        Method::GetStandings => write_answer::<StandingsAnswer>,
        Method::GetLeague => write_answer::<LeaguePage>,
        Method::CreateSchedule => write_answer::<ScheduleAnswer>,
        Method::StartLeague
        | Method::StopLeague
        | Method::ReopenRegistration
        | Method::WithdrawPlayer
        | Method::WithdrawReferee
        | Method::ResolveDispute
        | Method::ForgetDialect => write_answer::<StatusAnswer>,
        Method::RotateKey => write_answer::<RotatedKey>,
        Method::StartMatch => write_answer::<StartMatchAnswer>,
        Method::CollectChoices | Method::DrawNumber | Method::FinalizeMatch | Method::GetMatchState => {
            write_answer::<MatchState>
        }
        Method::RegisterToLeague => write_answer::<RegisteredToLeague>,
        Method::GameInvitation => write_answer::<GameJoinAck>,
        Method::ChooseParity => write_answer::<ChooseParityResponse>,
        Method::MakeMove => write_answer::<GameMoveResponse>,
        Method::ConfirmMatch => write_answer::<MatchTestimony>,
        Method::ConfirmGameOver
        | Method::DepositMove
        | Method::DisputeMatch
        | Method::NotifyRound
        | Method::NotifyMatchResult
        | Method::NotifyGameError
        | Method::PostJoin
        | Method::PostChoice
        | Method::UpdateStandings
        | Method::NotifyRoundCompleted
        | Method::NotifyLeagueCompleted
        | Method::NotifyLeagueError
        | Method::Shutdown => write_answer::<Acknowledgement>,
        Method::GetPlayerState => write_answer::<PlayerState>,
        Method::ProveIdentity => write_answer::<ProvedIdentity>,
        Method::Ping => write_answer::<Empty>,
    };
    write(method, to, out);
}

fn write_answer<A: DeserializeOwned + Serialize>(method: Method, to: &ReplyTo, out: &mut Vec<u8>) {
    let body: A = serde_json::from_str(&golden("answer", method)).unwrap();
    to.answer(&envelope(), &body, out).unwrap();
}
