//! Helpers: a player session and the messages of its peers.

mod bounds;
mod course;
mod draws;
mod evidence;
mod games;
mod passes;
mod properties;
mod repeats;
mod results;
mod signing;

use league_protocol::draw::{DrawNonce, DrawSecret};
use league_protocol::envelope::ReceivedEnvelope;
use league_protocol::id::{LeagueId, MatchId, PlayerId, RefereeId, RoundId};
use league_protocol::lenient::Field;
use league_protocol::message::choice::ChooseParityCall;
use league_protocol::message::game_move::GameMoveCall;
use league_protocol::message::game_over::{ByPlayer, DrawProof, GameOver, GameResult, OwnResult, ResultStatus};
use league_protocol::message::invitation::GameInvitation;
use league_protocol::message::round::{LeagueCompleted, RoundAnnouncement, RoundCompleted};
use league_protocol::parity::Parity;
use league_protocol::sender::Sender;
use league_protocol::side::{Pair, Side};
use league_protocol::time::Timestamp;
use league_protocol::token::{Credential, Token};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use smol_str::SmolStr;

use super::{ChosenMove, History, MoveRequest, PlayerIdentity, PlayerSession, SessionState};
use crate::rules::draw::Draw;

const LEAGUE: &str = "league_2025_even_odd";
const SECRET: DrawSecret = DrawSecret([7; 32]);

fn league() -> LeagueId {
    LEAGUE.parse().unwrap()
}

fn me() -> PlayerId {
    PlayerId::numbered(1)
}

fn opponent() -> PlayerId {
    PlayerId::numbered(2)
}

fn referee() -> RefereeId {
    RefereeId::numbered(1)
}

fn token() -> Token {
    Token::mint("P01", &[1; 32])
}

fn nonce(text: &str) -> DrawNonce {
    text.parse().unwrap()
}

fn first_of(round: u32) -> MatchId {
    MatchId::of(RoundId(round), 1)
}

fn identity(passes: bool) -> PlayerIdentity {
    PlayerIdentity { player_id: me(), league_id: Some(league()), token: Some(token()), passes, former: Vec::new() }
}

fn session_of(identity: PlayerIdentity) -> PlayerSession {
    let mut session = PlayerSession::new("Alpha".into(), History::default());
    session.registering();
    session.registered(identity);
    session
}

fn session() -> PlayerSession {
    session_of(identity(true))
}

fn from(sender: Sender, credential: impl Into<Credential>) -> ReceivedEnvelope {
    ReceivedEnvelope { sender: Field::Good(sender), auth_token: Some(credential.into()), ..ReceivedEnvelope::default() }
}

fn manager() -> ReceivedEnvelope {
    from(Sender::manager(), token().digest().manager_pass(&league()))
}

fn referee_of(match_id: &MatchId) -> ReceivedEnvelope {
    from(Sender::referee(&referee()), token().digest().referee_pass(&league(), match_id, &referee()))
}

/// A message with the given fields; the others are left out.
fn message<T: DeserializeOwned>(fields: Value) -> T {
    serde_json::from_value(fields).unwrap()
}

fn announcement(round: u32, pairs: &[(u32, u32)]) -> RoundAnnouncement {
    let announced = |((a, b), number): (&(u32, u32), u32)| {
        let [a, b] = [a, b].map(|player| PlayerId::numbered(*player));
        json!({ "match_id": MatchId::of(RoundId(round), number), "player_A_id": a, "player_B_id": b })
    };
    let matches: Vec<Value> = pairs.iter().zip(1..).map(announced).collect();
    message(json!({ "league_id": LEAGUE, "round_id": round, "matches": matches }))
}

fn completed(round: u32, next: Option<u32>) -> RoundCompleted {
    message(json!({ "league_id": LEAGUE, "round_id": round, "next_round_id": next }))
}

fn league_completed() -> LeagueCompleted {
    message(json!({ "league_id": LEAGUE }))
}

fn invitation(match_id: &MatchId) -> GameInvitation {
    GameInvitation { attempt: Some(1), draw_commitment: Some(SECRET.commitment()), ..foreign_invitation(match_id) }
}

/// An invitation as a foreign referee writes it.
fn foreign_invitation(match_id: &MatchId) -> GameInvitation {
    let round = match_id.parts().map(|(round, _)| round);
    message(json!({
        "league_id": LEAGUE, "round_id": round, "match_id": match_id, "player_id": me(), "role_in_match": Side::A,
        "opponent_id": opponent(),
    }))
}

fn parity_call(match_id: &MatchId) -> ChooseParityCall {
    let round = match_id.parts().map(|(round, _)| round);
    let context = json!({ "opponent_id": opponent() });
    message(json!({ "round_id": round, "match_id": match_id, "player_id": me(), "context": context }))
}

fn move_call(match_id: &MatchId, board: &str) -> GameMoveCall {
    message(json!({ "match_id": match_id, "game_type": "tic_tac_toe", "context": { "state": board } }))
}

/// `winner` is P01, P02 or neither; no number was drawn.
fn result(status: ResultStatus, winner: Option<&PlayerId>) -> GameResult {
    let choices = json!({ "P01": "even", "P02": "odd" });
    GameResult { status: Some(status), ..message(json!({ "winner_player_id": winner, "choices": choices })) }
}

fn blank(match_id: &MatchId) -> GameOver {
    message(json!({ "match_id": match_id }))
}

fn ended(match_id: &MatchId, status: ResultStatus, winner: Option<&PlayerId>) -> GameOver {
    GameOver { game_result: Some(result(status, winner)), ..blank(match_id) }
}

fn won(match_id: &MatchId) -> GameOver {
    ended(match_id, ResultStatus::Win, Some(&me()))
}

fn lost(match_id: &MatchId) -> GameOver {
    ended(match_id, ResultStatus::Win, Some(&opponent()))
}

/// GAME_OVER of an honest referee to the player on `side`, whose nonce is `own`.
fn proved(match_id: &MatchId, side: Side, own: &DrawNonce, attempt: u32) -> GameOver {
    let theirs = nonce("theirs");
    let (nonces, players) = match side {
        Side::A => (Pair::new(own.clone(), theirs), Pair::new(me(), opponent())),
        Side::B => (Pair::new(theirs, own.clone()), Pair::new(opponent(), me())),
    };
    let draw = Draw { secret: SECRET, match_id: match_id.clone(), attempt, nonces, seeded: false };
    let number = draw.number().get();
    let winner = if Parity::of(number) == Parity::Even { me() } else { opponent() };
    let mut whole = result(ResultStatus::Win, Some(&winner));
    whole.drawn_number = Some(number);
    let seal = Some(draw.seal());
    let nonces = ByPlayer(vec![(players.a, draw.nonces.a), (players.b, draw.nonces.b)]);
    let proof = DrawProof { commitment: SECRET.commitment(), secret: SECRET, attempt, nonces, seal, seeded: false };
    GameOver { game_result: Some(whole), drawn_number: Some(number), draw: Some(proof), ..blank(match_id) }
}

impl PlayerSession {
    fn is_invited(&mut self, match_id: &MatchId, own: &str) -> DrawNonce {
        let now = Timestamp::EPOCH;
        let join = self.invited(&referee_of(match_id), &invitation(match_id), nonce(own), now).unwrap();
        assert_eq!((join.accept, join.match_id.as_ref()), (Some(true), Some(match_id)));
        join.draw_nonce.unwrap()
    }

    fn is_asked(&mut self, match_id: &MatchId) -> MoveRequest {
        self.move_requested(&referee_of(match_id), parity_call(match_id).into()).unwrap()
    }

    fn chooses(&mut self, match_id: &MatchId, parity: Parity) -> Parity {
        Parity::exact(&self.answers(&parity_call(match_id).into(), parity.as_str()).played).unwrap()
    }

    fn answers(&mut self, request: &MoveRequest, played: &str) -> ChosenMove {
        self.move_chosen(&referee_of(&request.match_id), &request.asked(), played.into()).unwrap()
    }

    fn is_sent(&mut self, over: &GameOver) {
        let answer = self.match_over(&referee_of(&over.match_id), over).unwrap().acknowledgement;
        assert_eq!((answer.player_id, answer.match_id), (Some(me()), Some(over.match_id.clone())));
    }

    fn plays(&mut self, match_id: &MatchId) {
        self.is_invited(match_id, "mine");
        self.is_asked(match_id);
        self.chooses(match_id, Parity::Even);
    }

    fn last_result(&self) -> OwnResult {
        self.history().matches().last().unwrap().result
    }
}

fn word(text: &str) -> Option<SmolStr> {
    Some(SmolStr::new(text))
}
