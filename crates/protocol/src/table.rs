//! The call table: one declaration that is the protocol.
//!
//! A row defines a call's name and aliases, its roles, its request and answer types, its time limit, its error numbers, and the
//! schemas for `tools/list`, the checker and the reference. A new message is one row here and one struct in [`crate::message`].

use std::collections::HashMap;
use std::sync::LazyLock;
use std::time::Duration;

use schemars::Schema;
use serde::de::{Deserialize, MapAccess};
use serde_json::value::RawValue;

use crate::envelope::{EnvelopeSplitter, ReceivedEnvelope};
use crate::message::acknowledgement::Acknowledgement;
use crate::message::choice::{ChooseParityCall, ChooseParityResponse, PostedChoice};
use crate::message::evidence::{GameOverConfirmation, MatchDispute, MatchInquiry, MatchTestimony, MoveDeposit};
use crate::message::game_error::GameError;
use crate::message::game_move::{GameMoveCall, GameMoveResponse};
use crate::message::game_over::GameOver;
use crate::message::identity::{ProveIdentity, ProvedIdentity};
use crate::message::invitation::{GameInvitation, GameJoinAck};
use crate::message::league_error::LeagueError;
use crate::message::league_view::{GetLeague, LeaguePage};
use crate::message::next_match::{NextMatch, NextMatchAnswer};
use crate::message::operate::{
    CreateSchedule, Empty, ForgetDialect, LeagueCommand, ResolveDispute, RotateKey, RotatedKey, ScheduleAnswer,
    StatusAnswer, WithdrawPlayer, WithdrawReferee,
};
use crate::message::query::{AssignedMatches, GetAssignedMatches, LeagueQuery, LeagueQueryResponse};
use crate::message::registration::{LeagueRegisterRequest, RefereeRegisterRequest, RegisterResponse};
use crate::message::report::{MatchResultAck, MatchResultReport};
use crate::message::round::{LeagueCompleted, RoundAnnouncement, RoundCompleted, ShutdownCommand};
use crate::message::standings::{GetStandings, StandingsAnswer, StandingsUpdate};
use crate::message::start_match::{StartMatch, StartMatchAnswer};
use crate::message::state::PlayerState;
use crate::message::step::{MatchState, MatchStep, RegisterToLeague, RegisteredToLeague};
use crate::message::transcript::{MatchTranscript, TranscriptAck};
use crate::schema;
use crate::sender::Role;

/// The configured time limit of a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LimitKind {
    /// `register_referee_timeout_sec`.
    RegisterReferee,
    /// `register_player_timeout_sec`.
    RegisterPlayer,
    /// `game_join_ack_timeout_sec`.
    Join,
    /// `move_timeout_sec`.
    Move,
    /// `game_over_timeout_sec`.
    GameOver,
    /// `generic_response_timeout_sec`.
    Generic,
    /// Not configured: the manager answers a poll well within it.
    Poll,
}

impl LimitKind {
    pub fn default_span(self) -> Duration {
        Duration::from_secs(match self {
            Self::Join | Self::GameOver => 5,
            Self::Move | Self::Poll => 30,
            Self::RegisterReferee | Self::RegisterPlayer | Self::Generic => 10,
        })
    }
}

/// The credential that the receiver demands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    Open,
    JoinKey,
    /// The sender's own token.
    Token,
    Pass,
    Operator,
}

#[derive(Debug)]
pub struct CallRow {
    pub method: Method,
    /// `None` if the message has no type.
    pub message: Option<&'static str>,
    pub from: &'static [Role],
    pub to: &'static [Role],
    /// Also the name of the MCP tool.
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    /// `None` if the answer has no type.
    pub answer: Option<&'static str>,
    pub limit: LimitKind,
    pub access: Access,
    /// The base of its error numbers, if the contracts define one.
    pub family: Option<i32>,
    pub about: &'static str,
    pub input: fn() -> Schema,
    pub output: fn() -> Schema,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MethodSpelling {
    Name,
    /// The index of the alias.
    Alias(u8),
    MessageType,
    /// The client used another name, and the message type decided.
    Dispatch,
}

macro_rules! calls {
    ($(
        $(#[doc = $about:literal])+
        $call:ident {
            $message:expr, [$($from:ident),*] => [$($to:ident),*], $name:literal $(| $alias:literal)*,
            $request:ty => $answer:ty = $answer_name:expr, $limit:ident, $access:ident $(, family $family:literal)?
        }
    )*) => {
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Method {
            $($(#[doc = $about])+ $call,)*
        }

        #[derive(Clone, Debug)]
        pub enum Call {
            $($(#[doc = $about])+ $call($request),)*
        }

        pub static TABLE: &[CallRow] = &[$(CallRow {
            method: Method::$call,
            message: $message,
            from: &[$(Role::$from),*],
            to: &[$(Role::$to),*],
            name: $name,
            aliases: &[$($alias),*],
            answer: $answer_name,
            limit: LimitKind::$limit,
            access: Access::$access,
            family: calls!(@family $($family)?),
            about: concat!($($about),+),
            input: || schema::of_message::<$request>($message),
            output: || schema::of_answer::<$answer>($answer_name),
        }),*];

        impl Call {
            pub fn method(&self) -> Method {
                match self { $(Self::$call(_) => Method::$call,)* }
            }

            /// Reads body and envelope in one pass.
            pub(crate) fn read<'de, A: MapAccess<'de>>(
                method: Method,
                map: A,
                head: &mut ReceivedEnvelope,
                nested: &mut Option<&'de RawValue>,
            ) -> Result<Self, A::Error> {
                match method {
                    $(Method::$call => EnvelopeSplitter::read::<$request>(map, head, nested).map(Self::$call),)*
                }
            }

            pub(crate) fn body<'de, D: serde::Deserializer<'de>>(method: Method, from: D) -> Result<Self, D::Error> {
                match method {
                    $(Method::$call => <$request>::deserialize(from).map(Self::$call),)*
                }
            }

            pub fn write_body(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
                match self { $(Self::$call(body) => serde_json::to_writer(out, body),)* }
            }
        }

        role_calls! {
            { #[expect(clippy::large_enum_variant, reason = "a call is moved a few times and never stored")] ManagerCall },
            Manager, [], $($call($request) [$($to)*])*
        }
        role_calls! {
            { #[expect(clippy::large_enum_variant, reason = "a call is moved a few times and never stored")] RefereeCall },
            Referee, [], $($call($request) [$($to)*])*
        }
        role_calls! { { PlayerCall }, Player, [], $($call($request) [$($to)*])* }
    };
    (@family $family:literal) => { Some($family) };
    (@family) => { None };
}

/// Builds the enum of the calls that one role serves, by recursion over the rows and the receivers of each row.
macro_rules! role_calls {
    ({ $(#[$attribute:meta])* $name:ident }, $role:ident, [$($call:ident($request:ty))*],) => {
        $(#[$attribute])*
        #[derive(Clone, Debug)]
        pub enum $name {
            $($call($request),)*
        }

        impl TryFrom<Call> for $name {
            type Error = Method;

            fn try_from(call: Call) -> Result<Self, Method> {
                match call {
                    $(Call::$call(body) => Ok(Self::$call(body)),)*
                    other => Err(other.method()),
                }
            }
        }
    };
    ($enum:tt, Manager, [$($served:tt)*], $call:ident($request:ty) [Manager $($to:ident)*] $($rest:tt)*) => {
        role_calls! { $enum, Manager, [$($served)* $call($request)], $($rest)* }
    };
    ($enum:tt, Referee, [$($served:tt)*], $call:ident($request:ty) [Referee $($to:ident)*] $($rest:tt)*) => {
        role_calls! { $enum, Referee, [$($served)* $call($request)], $($rest)* }
    };
    ($enum:tt, Player, [$($served:tt)*], $call:ident($request:ty) [Player $($to:ident)*] $($rest:tt)*) => {
        role_calls! { $enum, Player, [$($served)* $call($request)], $($rest)* }
    };
    ($enum:tt, $role:ident, $served:tt, $call:ident($request:ty) [$other:ident $($to:ident)*] $($rest:tt)*) => {
        role_calls! { $enum, $role, $served, $call($request) [$($to)*] $($rest)* }
    };
    ($enum:tt, $role:ident, $served:tt, $call:ident($request:ty) [] $($rest:tt)*) => {
        role_calls! { $enum, $role, $served, $($rest)* }
    };
}

calls! {
    /// Register a referee with the league.
    RegisterReferee {
        Some("REFEREE_REGISTER_REQUEST"), [Referee] => [Manager], "register_referee" | "referee_register",
        RefereeRegisterRequest => RegisterResponse = Some("REFEREE_REGISTER_RESPONSE"),
        RegisterReferee, JoinKey, family 1
    }
    /// Register a player with the league.
    RegisterPlayer {
        Some("LEAGUE_REGISTER_REQUEST"), [Player] => [Manager], "register_player" | "league_register",
        LeagueRegisterRequest => RegisterResponse = Some("LEAGUE_REGISTER_RESPONSE"),
        RegisterPlayer, JoinKey, family 2
    }
    /// Report the result of a match.
    ReportMatchResult {
        Some("MATCH_RESULT_REPORT"), [Referee] => [Manager], "report_match_result",
        MatchResultReport => MatchResultAck = Some("MATCH_RESULT_ACK"), Generic, Token, family 5
    }
    /// Hand over what was said in a match that was reported, in parts.
    StoreTranscript {
        Some("MATCH_TRANSCRIPT"), [Referee] => [Manager], "store_transcript",
        MatchTranscript => TranscriptAck = Some("MATCH_TRANSCRIPT_ACK"), Generic, Token, family 5
    }
    /// Tell the manager that the players of these matches know their result.
    ConfirmGameOver {
        Some("GAME_OVER_CONFIRMATION"), [Referee] => [Manager], "confirm_game_over",
        GameOverConfirmation => Acknowledgement = None, Generic, Token, family 5
    }
    /// Deposit a signed move with the manager, when a referee asks for it again.
    DepositMove {
        Some("MOVE_DEPOSIT"), [Player] => [Manager], "deposit_move",
        MoveDeposit => Acknowledgement = None, Generic, Token, family 5
    }
    /// Tell the manager that a referee cheats.
    DisputeMatch {
        Some("MATCH_DISPUTE"), [Player] => [Manager], "dispute_match",
        MatchDispute => Acknowledgement = None, Generic, Token, family 5
    }
    /// Ask about standings, schedule, matches, players or the state of the league.
    LeagueQuery {
        Some("LEAGUE_QUERY"), [Player, Referee] => [Manager],
        "league_query" | "handle_league_query" | "query_league",
        LeagueQuery => LeagueQueryResponse = Some("LEAGUE_QUERY_RESPONSE"), Generic, Token, family 6
    }
    /// Ask for the matches that are assigned to the asking referee.
    GetAssignedMatches {
        None, [Referee] => [Manager], "get_assigned_matches",
        GetAssignedMatches => AssignedMatches = None, Generic, Token
    }
    /// Wait for the next match of the asking referee, which registered with `pulls`.
    NextMatch {
        None, [Referee] => [Manager], "next_match",
        NextMatch => NextMatchAnswer = None, Poll, Token
    }
    /// Show the current standings.
    GetStandings {
        None, [Manager, Referee, Player, Operator] => [Manager], "get_standings",
        GetStandings => StandingsAnswer = None, Generic, Open
    }
    /// Show the status, the standings or the schedule page by page; to the operator also the agents and a whole match.
    GetLeague {
        None, [Manager, Referee, Player, Operator] => [Manager], "get_league",
        GetLeague => LeaguePage = None, Generic, Open
    }
    /// Close the registration and make the round-robin schedule.
    CreateSchedule {
        None, [Operator] => [Manager], "create_schedule",
        CreateSchedule => ScheduleAnswer = None, Generic, Operator
    }
    /// Start the league with the players that are registered.
    StartLeague {
        None, [Operator] => [Manager], "start_league",
        LeagueCommand => StatusAnswer = None, Generic, Operator
    }
    /// Stop the league after the matches that are running.
    StopLeague {
        None, [Operator] => [Manager], "stop_league",
        LeagueCommand => StatusAnswer = None, Generic, Operator
    }
    /// Open the registration again, as long as no match has its result; the schedule is made anew.
    ReopenRegistration {
        None, [Operator] => [Manager], "reopen_registration",
        LeagueCommand => StatusAnswer = None, Generic, Operator
    }
    /// Take a player out: before the first round it is gone, after that its results stand and its other matches are lost to it.
    WithdrawPlayer {
        None, [Operator] => [Manager], "withdraw_player",
        WithdrawPlayer => StatusAnswer = None, Generic, Operator
    }
    /// Take a referee out; other referees play its open matches.
    WithdrawReferee {
        None, [Operator] => [Manager], "withdraw_referee",
        WithdrawReferee => StatusAnswer = None, Generic, Operator
    }
    /// Decide about the alerts of a match: uphold or reject them.
    ResolveDispute {
        None, [Operator] => [Manager], "resolve_dispute",
        ResolveDispute => StatusAnswer = None, Generic, Operator
    }
    /// Forget what was learned about a player's dialect; the next calls to it are canonical.
    ForgetDialect {
        None, [Operator] => [Manager], "forget_dialect",
        ForgetDialect => StatusAnswer = None, Generic, Operator
    }
    /// Replace the key that referees or players show to register; the answer holds the new key.
    RotateKey {
        None, [Operator] => [Manager], "rotate_key",
        RotateKey => RotatedKey = None, Generic, Operator
    }
    /// Run a match; accepted or refused at once.
    StartMatch {
        Some("START_MATCH"), [Manager] => [Referee],
        "start_match" | "run_match" | "assign_match" | "match_assignment",
        StartMatch => StartMatchAnswer = None, Generic, Pass
    }
    /// In a stepped match: ask both players for their choices.
    CollectChoices {
        None, [Manager, Operator] => [Referee], "collect_choices",
        MatchStep => MatchState = None, Generic, Operator
    }
    /// In a stepped match: draw the number.
    DrawNumber {
        None, [Manager, Operator] => [Referee], "draw_number",
        MatchStep => MatchState = None, Generic, Operator
    }
    /// In a stepped match: tell both players and report the result.
    FinalizeMatch {
        None, [Manager, Operator] => [Referee], "finalize_match",
        MatchStep => MatchState = None, Generic, Operator
    }
    /// Show the state of a match.
    GetMatchState {
        None, [Manager, Operator] => [Referee], "get_match_state",
        MatchStep => MatchState = None, Generic, Open
    }
    /// Tell a referee to register with its league.
    RegisterToLeague {
        None, [Manager, Operator] => [Referee], "register_to_league",
        RegisterToLeague => RegisteredToLeague = None, Generic, Operator
    }
    /// Announce a round and its matches.
    NotifyRound {
        Some("ROUND_ANNOUNCEMENT"), [Manager] => [Player, Referee], "notify_round" | "announce_round",
        RoundAnnouncement => Acknowledgement = Some("ROUND_ANNOUNCEMENT_ACK"), Generic, Pass, family 3
    }
    /// Invite a player to a match; to be answered within 5 seconds.
    GameInvitation {
        Some("GAME_INVITATION"), [Referee] => [Player],
        "handle_game_invitation" | "game_invitation" | "receive_game_invitation",
        GameInvitation => GameJoinAck = Some("GAME_JOIN_ACK"), Join, Pass, family 4
    }
    /// Ask a player for even or odd; to be answered within 30 seconds.
    ChooseParity {
        Some("CHOOSE_PARITY_CALL"), [Referee] => [Player], "choose_parity" | "parity_choose",
        ChooseParityCall => ChooseParityResponse = Some("CHOOSE_PARITY_RESPONSE"), Move, Pass, family 4
    }
    /// Ask a player for its move in a game other than Even/Odd.
    MakeMove {
        Some("GAME_MOVE_CALL"), [Referee] => [Player], "make_move",
        GameMoveCall => GameMoveResponse = Some("GAME_MOVE_RESPONSE"), Move, Pass, family 4
    }
    /// Tell a player how its match ended.
    NotifyMatchResult {
        Some("GAME_OVER"), [Referee] => [Player],
        "notify_match_result" | "notify_game_over" | "receive_game_over",
        GameOver => Acknowledgement = Some("GAME_OVER_ACK"), GameOver, Pass, family 4
    }
    /// Tell a player what went wrong with its answer and what comes next.
    NotifyGameError {
        Some("GAME_ERROR"), [Referee] => [Player], "notify_game_error" | "notify_error",
        GameError => Acknowledgement = Some("GAME_ERROR_ACK"), GameOver, Pass, family 4
    }
    /// Take a join that a player sends by itself, after a bare acknowledgement of the invitation.
    PostJoin {
        Some("GAME_JOIN_ACK"), [Player] => [Referee], "game_join_ack",
        GameJoinAck => Acknowledgement = None, Generic, Open, family 4
    }
    /// Take a choice that a player sends by itself, after a bare acknowledgement of the call.
    PostChoice {
        Some("CHOOSE_PARITY_RESPONSE"), [Player] => [Referee],
        "choose_parity_response" | "PARITY_CHOICE" | "parity_choice" | "RESPONSE_PARITY_CHOOSE" | "GAME_MOVE_RESPONSE",
        PostedChoice => Acknowledgement = None, Generic, Open, family 4
    }
    /// Tell the players the standings after a round.
    UpdateStandings {
        Some("LEAGUE_STANDINGS_UPDATE"), [Manager] => [Player], "update_standings" | "notify_standings",
        StandingsUpdate => Acknowledgement = Some("STANDINGS_UPDATE_ACK"), Generic, Pass, family 3
    }
    /// Tell the players that a round is over.
    NotifyRoundCompleted {
        Some("ROUND_COMPLETED"), [Manager] => [Player], "notify_round_completed",
        RoundCompleted => Acknowledgement = Some("ROUND_COMPLETED_ACK"), Generic, Pass, family 3
    }
    /// Tell everybody that the league is over, and who won it.
    NotifyLeagueCompleted {
        Some("LEAGUE_COMPLETED"), [Manager] => [Player, Referee], "notify_league_completed",
        LeagueCompleted => Acknowledgement = Some("LEAGUE_COMPLETED_ACK"), Generic, Pass, family 3
    }
    /// Tell an agent that one of its requests was refused, or that it is out of the league.
    NotifyLeagueError {
        Some("LEAGUE_ERROR"), [Manager] => [Player, Referee], "notify_league_error",
        LeagueError => Acknowledgement = None, Generic, Pass, family 3
    }
    /// Ask an agent to finish and leave.
    Shutdown {
        Some("SHUTDOWN_COMMAND"), [Manager] => [Player, Referee], "shutdown",
        ShutdownCommand => Acknowledgement = None, Generic, Pass
    }
    /// Ask a player what it saw of an attempt at a match.
    ConfirmMatch {
        Some("MATCH_INQUIRY"), [Manager] => [Player], "confirm_match",
        MatchInquiry => MatchTestimony = Some("MATCH_INQUIRY_RESPONSE"), Generic, Pass, family 3
    }
    /// Prove that the agent holds the token of its registration.
    ProveIdentity {
        None, [Manager] => [Player, Referee], "prove_identity",
        ProveIdentity => ProvedIdentity = None, Generic, Open
    }
    /// Show a player's own state.
    GetPlayerState {
        None, [Manager, Referee, Player, Operator] => [Player], "get_player_state",
        Empty => PlayerState = None, Generic, Open
    }
    /// Show that the agent is there.
    Ping {
        None, [Manager, Referee, Player, Operator] => [Manager, Referee, Player], "ping",
        Empty => Empty = None, Generic, Open
    }
}

impl Method {
    pub fn row(self) -> &'static CallRow {
        // The same macro declares the table and the enum, in the same order.
        &TABLE[self as usize]
    }

    pub fn named(name: &str) -> Option<(Self, MethodSpelling)> {
        static NAMES: LazyLock<HashMap<&'static str, (Method, MethodSpelling)>> = LazyLock::new(|| {
            let mut names = HashMap::new();
            for row in TABLE {
                for (alias, place) in row.aliases.iter().zip(0..) {
                    names.insert(*alias, (row.method, MethodSpelling::Alias(place)));
                }
                if let Some(message) = row.message {
                    names.insert(message, (row.method, MethodSpelling::MessageType));
                }
                names.insert(row.name, (row.method, MethodSpelling::Name));
            }
            names
        });
        // Some agents write the call's name in capitals as the type of a message that has none.
        let in_capitals = || {
            let capitals = name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
            let (method, _) = NAMES.get(name.to_ascii_lowercase().as_str()).filter(|_| capitals)?;
            method.row().message.is_none().then_some((*method, MethodSpelling::MessageType))
        };
        NAMES.get(name).copied().or_else(in_capitals)
    }

    pub fn is_called(self, name: &str) -> bool {
        self.row().message == Some(name) || Self::named(name).is_some_and(|(method, _)| method == self)
    }

    pub fn spelled(self, spelling: MethodSpelling) -> &'static str {
        let row = self.row();
        match spelling {
            MethodSpelling::Name | MethodSpelling::Dispatch => row.name,
            MethodSpelling::Alias(place) => row.aliases.get(usize::from(place)).copied().unwrap_or(row.name),
            MethodSpelling::MessageType => row.message.unwrap_or(row.name),
        }
    }

    pub fn family(self) -> Option<i32> {
        self.row().family
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_without_a_message_type_is_known_by_its_name_in_capitals() {
        let polled = Some((Method::GetAssignedMatches, MethodSpelling::MessageType));
        assert_eq!(Method::named("GET_ASSIGNED_MATCHES"), polled);
        assert!(Method::GetAssignedMatches.is_called("GET_ASSIGNED_MATCHES"));
        // A message that has a type is known by that type only.
        for other in ["NOTIFY_ROUND", "Get_Assigned_Matches", "GET_ASSIGNED", ""] {
            assert_eq!(Method::named(other), None, "{other}");
        }
    }

    #[test]
    fn every_name_leads_to_its_own_row() {
        for (place, row) in TABLE.iter().enumerate() {
            assert_eq!(row.method as usize, place);
            assert_eq!(Method::named(row.name), Some((row.method, MethodSpelling::Name)));
            for alias in row.aliases {
                let (method, spelling) = Method::named(alias).unwrap();
                assert_eq!((method, method.spelled(spelling)), (row.method, *alias));
            }
            if let Some(message) = row.message {
                assert_eq!(Method::named(message).unwrap().0, row.method);
            }
        }
    }

    #[test]
    fn no_name_is_given_twice_and_none_looks_like_mcp() {
        let mut seen = std::collections::HashSet::new();
        for row in TABLE {
            for name in std::iter::once(&row.name).chain(row.aliases).chain(&row.message) {
                assert!(seen.insert(*name), "{name} stands twice");
                assert!(!name.contains('/'), "{name} looks like a method of MCP");
            }
        }
    }

    #[test]
    fn the_limits_are_those_of_the_profile() {
        let seconds = |method: Method| method.row().limit.default_span().as_secs();
        assert_eq!(seconds(Method::GameInvitation), 5);
        assert_eq!(seconds(Method::ChooseParity), 30);
        assert_eq!(seconds(Method::NotifyMatchResult), 5);
        assert_eq!(seconds(Method::NotifyGameError), 5);
        assert_eq!(seconds(Method::ReportMatchResult), 10);
    }
}
