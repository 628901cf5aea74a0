//! The messages that the checker sends, in the canonical form; a check may change them.

use std::time::Duration;

use league_core::rules::registry::new_game;
use league_protocol::answer::{Interpretation, MoveAnswer, ParsedAnswer};
use league_protocol::dialect::PeerDialect;
use league_protocol::draw::DrawSecret;
use league_protocol::envelope::Envelope;
use league_protocol::id::{ConversationId, GameType, LeagueId, MatchId, PlayerId, RefereeId, RoundId};
use league_protocol::message::choice::{ChoiceContext, ChooseParityCall};
use league_protocol::message::game_move::{GameMoveCall, MoveContext};
use league_protocol::message::invitation::GameInvitation;
use league_protocol::message::standings::PlayerRecord;
use league_protocol::problem::QuestionKind;
use league_protocol::sender::Sender;
use league_protocol::side::Side;
use league_protocol::table::{Call, Method};
use league_protocol::token::Credential;
use league_wire::environment::Environment;
use serde_json::{Map, Value, json};

use crate::discovery::Asked;

#[derive(Clone, Debug)]
pub(crate) struct TestMessage {
    pub(crate) method: Method,
    pub(crate) message: Map<String, Value>,
}

impl TestMessage {
    pub(crate) fn new(envelope: &Envelope, call: &Call) -> Self {
        let mut body = Vec::new();
        // Serialization cannot fail here; if it did, the message would be empty.
        drop(PeerDialect::default().write(1, envelope, call, &mut body));
        let mut whole: Value = serde_json::from_slice(&body).unwrap_or_default();
        let message = match whole.get_mut("params").map(Value::take) {
            Some(Value::Object(message)) => message,
            Some(_) | None => Map::new(),
        };
        Self { method: call.method(), message }
    }

    #[must_use]
    pub(crate) fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.message.insert(field.to_owned(), value.into());
        self
    }

    #[must_use]
    pub(crate) fn without(mut self, field: &str) -> Self {
        self.message.remove(field);
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
        Self { environment: environment.clone(), game: game.clone(), league: "league_check".parse().ok(), pass, round }
    }

    pub(crate) fn match_no(&self, number: u32) -> MatchId {
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

    pub(crate) fn notice(&self, call: &Call) -> TestMessage {
        TestMessage::new(&self.envelope(Sender::manager(), "league"), call)
    }

    pub(crate) fn word(&self, match_id: &MatchId, call: &Call) -> TestMessage {
        TestMessage::new(&self.of_referee(match_id), call)
    }

    fn of_referee(&self, match_id: &MatchId) -> Envelope {
        let referee = Sender::referee(&RefereeId::numbered(1));
        self.envelope(referee, &match_id.as_str().to_ascii_lowercase())
    }

    pub(crate) fn invitation(&self, match_id: &MatchId, side: Side) -> TestMessage {
        self.word(match_id, &self.inviting(match_id, side))
    }

    pub(crate) fn asked_to_join(&self, match_id: &MatchId) -> Asked {
        let (envelope, call) = (self.of_referee(match_id), self.inviting(match_id, Side::A));
        Asked { envelope, call }
    }

    pub(crate) fn asked_to_choose(&self, match_id: &MatchId, limit: Duration) -> Asked {
        let (envelope, call) = (self.of_referee(match_id), self.choosing(match_id, limit));
        Asked { envelope, call }
    }

    fn inviting(&self, match_id: &MatchId, side: Side) -> Call {
        Call::GameInvitation(GameInvitation {
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

    pub(crate) fn call(&self, match_id: &MatchId, limit: Duration) -> TestMessage {
        self.word(match_id, &self.choosing(match_id, limit))
    }

    fn choosing(&self, match_id: &MatchId, limit: Duration) -> Call {
        let (league_id, round_id, match_id) = (self.league.clone(), Some(self.round), match_id.clone());
        let (player_id, opponent_id) = (Some(PlayerId::numbered(1)), Some(PlayerId::numbered(2)));
        let (your_standings, deadline) = (PlayerRecord::default(), Some(self.environment.now().after(limit)));
        let game_type = self.game.clone();
        match new_game(&self.game).filter(|_| self.kind() == QuestionKind::Move) {
            Some(game) => {
                let (state, legal_moves) = (game.view(Side::A), game.legal_moves(Side::A));
                let context = MoveContext { opponent_id, state, your_standings, legal_moves };
                Call::MakeMove(GameMoveCall { league_id, round_id, match_id, player_id, game_type, context, deadline })
            }
            None => Call::ChooseParity(ChooseParityCall {
                league_id,
                round_id,
                match_id,
                player_id,
                game_type: Some(game_type),
                context: ChoiceContext { opponent_id, round_id, your_standings },
                deadline,
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
            && new_game(&self.game).is_some_and(|game| game.check(Side::A, text).is_err())
        {
            read.answer = MoveAnswer::Invalid(text.to_string());
        }
        read
    }

    pub(crate) fn round(&self) -> RoundId {
        self.round
    }

    /// For a call without a message body, such as `get_player_state`.
    pub(crate) fn plain(&self, call: &Call) -> TestMessage {
        let mut letter = self.notice(call);
        letter.message.remove("auth_token");
        letter
    }
}

pub(crate) fn rpc(method: &str, params: &Value, id: u64) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params, "id": id })
}
