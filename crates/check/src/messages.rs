//! The messages that the checker sends, in the canonical form; a check may change them.

use std::time::Duration;

use league_core::rules::registry::first_position;
use league_protocol::answer::{Interpretation, MoveAnswer, ParsedAnswer};
use league_protocol::dialect::{COLON_SENDER, PeerDialect};
use league_protocol::draw::DrawSecret;
use league_protocol::envelope::Envelope;
use league_protocol::frame::Frame;
use league_protocol::id::{ConversationId, GameType, LeagueId, MatchId, PlayerId, RefereeId, RoundId};
use league_protocol::message::choice::{ChoiceContext, ChooseParityCall};
use league_protocol::message::game_move::{GameMoveCall, MoveContext};
use league_protocol::message::invitation::GameInvitation;
use league_protocol::message::standings::PlayerRecord;
use league_protocol::message::start_match::CHECK_LEAGUE;
use league_protocol::problem::QuestionKind;
use league_protocol::sender::Sender;
use league_protocol::side::Side;
use league_protocol::table::{Call, Method};
use league_protocol::token::Credential;
use league_wire::environment::Environment;
use serde::Serialize;
use serde_json::{Map, Value, json};
use smol_str::SmolStr;

use crate::discovery::Question;

#[derive(Clone, Debug)]
pub(crate) struct TestMessage {
    pub(crate) method: Method,
    pub(crate) fields: Map<String, Value>,
}

impl TestMessage {
    pub(crate) fn new(envelope: &Envelope, call: &Call) -> Self {
        let mut body = Vec::new();
        // Serialization cannot fail here; if it did, the message would be empty.
        drop(PeerDialect::default().write(1, envelope, call, &mut body));
        let mut whole: Value = serde_json::from_slice(&body).unwrap_or_default();
        let fields = match whole.get_mut("params").map(Value::take) {
            Some(Value::Object(fields)) => fields,
            Some(_) | None => Map::new(),
        };
        Self { method: call.method(), fields }
    }

    /// The request in `dialect`.
    pub(crate) fn written(&self, dialect: &PeerDialect, id: impl Serialize) -> Value {
        let (mut fields, mut request) = (self.fields.clone(), Vec::new());
        if dialect.wants_colon() && fields.get("sender").and_then(Value::as_str) == Some(Sender::manager().as_str()) {
            fields.insert(String::from("sender"), COLON_SENDER.into());
        }
        if dialect.frame() == Frame::Bare {
            fields.entry("message_type").or_insert_with(|| self.method.row().name.into());
        }
        // Serialization cannot fail here; if it did, the request would be empty.
        let write = |out: &mut Vec<u8>| serde_json::to_writer(out, &fields);
        drop(dialect.write_message(id, self.method, write, &mut request));
        serde_json::from_slice(&request).unwrap_or_default()
    }

    #[must_use]
    pub(crate) fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(field.to_owned(), value.into());
        self
    }

    #[must_use]
    pub(crate) fn without(mut self, field: &str) -> Self {
        self.fields.remove(field);
        self
    }
}

#[derive(Clone, Debug)]
pub(crate) struct TestLeague {
    environment: Environment,
    pub(crate) game: GameType,
    pub(crate) league: Option<LeagueId>,
    /// Valid nowhere: an agent that echoes it reveals only that it echoes.
    pub(crate) pass: String,
    /// Differs from check to check: an agent may remember the matches of an earlier one.
    round: RoundId,
}

impl TestLeague {
    pub(crate) fn new(environment: &Environment, game: &GameType) -> Self {
        let random = environment.random();
        let pass = random.iter().fold(String::from("pass-"), |pass, byte| format!("{pass}{byte:02x}"));
        let round = RoundId(1000 + u32::from(u16::from_be_bytes([random[0], random[1]])));
        Self { environment: environment.clone(), game: game.clone(), league: CHECK_LEAGUE.parse().ok(), pass, round }
    }

    pub(crate) fn match_id(&self, number: u32) -> MatchId {
        MatchId::of(self.round, number)
    }

    fn envelope(&self, sender: Sender, conversation: &str) -> Envelope {
        Envelope {
            sender,
            timestamp: self.environment.now(),
            conversation_id: ConversationId::named(format_args!("conv-check-{conversation}")),
            auth_token: Some(Credential::new(&self.pass)),
        }
    }

    pub(crate) fn manager_message(&self, call: &Call) -> TestMessage {
        TestMessage::new(&self.envelope(Sender::manager(), "league"), call)
    }

    pub(crate) fn referee_message(&self, match_id: &MatchId, call: &Call) -> TestMessage {
        TestMessage::new(&self.referee_envelope(match_id), call)
    }

    fn referee_envelope(&self, match_id: &MatchId) -> Envelope {
        let referee = Sender::referee(&RefereeId::numbered(1));
        self.envelope(referee, &match_id.as_str().to_ascii_lowercase())
    }

    pub(crate) fn invitation(&self, match_id: &MatchId, side: Side) -> TestMessage {
        self.referee_message(match_id, &self.invitation_call(match_id, side))
    }

    pub(crate) fn join_question(&self, match_id: &MatchId) -> Question {
        let (envelope, call) = (self.referee_envelope(match_id), self.invitation_call(match_id, Side::A));
        Question { envelope, call }
    }

    pub(crate) fn move_question(&self, match_id: &MatchId, limit: Duration) -> Question {
        let (envelope, call) = (self.referee_envelope(match_id), self.move_call(match_id, limit));
        Question { envelope, call }
    }

    fn invitation_call(&self, match_id: &MatchId, side: Side) -> Call {
        Call::GameInvitation(GameInvitation {
            games_per_match: None,
            league_id: self.league.clone(),
            round_id: Some(self.round),
            match_id: match_id.clone(),
            player_id: Some(PlayerId::numbered(1)),
            game_type: Some(self.game.clone()),
            role_in_match: Some(side),
            opponent_id: Some(PlayerId::numbered(2)),
            attempt: Some(1),
            draw_commitment: Some(DrawSecret([7; 32]).commitment()),
        })
    }

    pub(crate) fn move_message(&self, match_id: &MatchId, limit: Duration) -> TestMessage {
        self.referee_message(match_id, &self.move_call(match_id, limit))
    }

    fn move_call(&self, match_id: &MatchId, limit: Duration) -> Call {
        let (league_id, round_id, match_id) = (self.league.clone(), Some(self.round), match_id.clone());
        let (player_id, opponent_id) = (Some(PlayerId::numbered(1)), Some(PlayerId::numbered(2)));
        let (your_standings, deadline) = (PlayerRecord::default(), Some(self.environment.now().after(limit)));
        let game_type = self.game.clone();
        match first_position(&self.game).filter(|_| self.kind() == QuestionKind::Move) {
            Some(game) => {
                let context = MoveContext {
                    opponent_id,
                    state: game.view(Side::A),
                    view: game.fields(Side::A),
                    your_standings,
                    legal_moves: game.legal_moves(Side::A),
                    rules: SmolStr::new_static(game.about().rules),
                };
                Call::MakeMove(GameMoveCall {
                    finished_games: Vec::new(),
                    games_per_match: None,
                    league_id,
                    round_id,
                    match_id,
                    player_id,
                    game_type,
                    context,
                    deadline,
                    attempt: Some(1),
                    game_number: Some(1),
                    turn: Some(1),
                })
            }
            None => Call::ChooseParity(ChooseParityCall {
                finished_games: Vec::new(),
                games_per_match: None,
                league_id,
                round_id,
                match_id,
                player_id,
                game_type: Some(game_type),
                context: ChoiceContext { opponent_id, round_id, your_standings },
                deadline,
                attempt: Some(1),
                game_number: Some(1),
                turn: Some(1),
            }),
        }
    }

    pub(crate) fn kind(&self) -> QuestionKind {
        if self.game == GameType::even_odd() { QuestionKind::Choice } else { QuestionKind::Move }
    }

    pub(crate) fn answer_name(&self) -> &'static str {
        if self.kind() == QuestionKind::Choice { "CHOOSE_PARITY_RESPONSE" } else { "GAME_MOVE_RESPONSE" }
    }

    pub(crate) fn method(&self) -> Method {
        if self.kind() == QuestionKind::Choice { Method::ChooseParity } else { Method::MakeMove }
    }

    /// A move that the game does not allow is invalid.
    pub(crate) fn read_move(&self, answer: &ParsedAnswer, match_id: &MatchId) -> Interpretation<MoveAnswer> {
        if self.kind() == QuestionKind::Choice {
            return answer.parity(match_id);
        }
        let mut read = answer.game_move(match_id);
        if let MoveAnswer::Move(text) = &read.answer
            && first_position(&self.game).is_some_and(|game| game.check(Side::A, text).is_err())
        {
            read.answer = MoveAnswer::Invalid(text.to_string());
        }
        read
    }

    pub(crate) fn round(&self) -> RoundId {
        self.round
    }

    /// For a call without a message body, such as `get_player_state`.
    pub(crate) fn without_token(&self, call: &Call) -> TestMessage {
        let mut message = self.manager_message(call);
        message.fields.remove("auth_token");
        message
    }
}

pub(crate) fn rpc(method: &str, params: &Value, id: u64) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params, "id": id })
}
