//! Helpers: a player session and the messages of its peers.

mod bounds;
mod course;
mod draws;
mod passes;
mod properties;
mod repeats;
mod results;

use league_protocol::draw::{DrawNonce, DrawSecret};
use league_protocol::envelope::ReceivedEnvelope;
use league_protocol::id::{LeagueId, MatchId, PlayerId, RefereeId, RoundId};
use league_protocol::lenient::Field;
use league_protocol::message::choice::{ChoiceContext, ChooseParityCall};
use league_protocol::message::game_move::{GameMoveCall, MoveContext};
use league_protocol::message::game_over::{ByPlayer, DrawProof, GameOver, GameResult, OwnResult, ResultStatus};
use league_protocol::message::invitation::GameInvitation;
use league_protocol::message::round::{
    AnnouncedMatch, LeagueCompleted, RoundAnnouncement, RoundCompleted, RoundSummary,
};
use league_protocol::parity::Parity;
use league_protocol::sender::Sender;
use league_protocol::side::{Pair, Side};
use league_protocol::table::Method;
use league_protocol::time::Timestamp;
use league_protocol::token::{Credential, Token};
use smol_str::SmolStr;

use super::{History, MoveRequest, PlayerIdentity, PlayerSession, SessionState};
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

fn seat_with(identity: PlayerIdentity) -> PlayerSession {
    let mut session = PlayerSession::new("Alpha".into(), History::default());
    session.registering();
    session.registered(identity);
    session
}

fn session() -> PlayerSession {
    seat_with(identity(true))
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

fn announcement(round: u32, pairs: &[(u32, u32)]) -> RoundAnnouncement {
    let matches = pairs.iter().zip(1..).map(|((a, b), number)| AnnouncedMatch {
        match_id: MatchId::of(RoundId(round), number),
        round_id: None,
        game_type: None,
        player_a_id: PlayerId::numbered(*a),
        player_b_id: PlayerId::numbered(*b),
        referee_endpoint: None,
        referee_id: None,
        player_a_endpoint: None,
        player_b_endpoint: None,
    });
    let matches = matches.collect();
    RoundAnnouncement {
        league_id: Some(league()),
        round_id: RoundId(round),
        matches,
        total_matches: None,
        referees_show_passes: None,
        players: None,
        agents: None,
    }
}

fn completed(round: u32, next: Option<u32>) -> RoundCompleted {
    RoundCompleted {
        league_id: Some(league()),
        round_id: RoundId(round),
        matches_played: 1,
        matches_completed: 1,
        next_round_id: next.map(RoundId),
        summary: RoundSummary::default(),
    }
}

fn league_completed() -> LeagueCompleted {
    LeagueCompleted {
        league_id: Some(league()),
        total_rounds: 1,
        total_matches: 1,
        champion: None,
        final_standings: Vec::new(),
        total_players: None,
    }
}

fn invitation(match_id: &MatchId) -> GameInvitation {
    GameInvitation {
        league_id: Some(league()),
        round_id: match_id.parts().map(|(round, _)| round),
        match_id: match_id.clone(),
        player_id: Some(me()),
        game_type: None,
        role_in_match: Some(Side::A),
        opponent_id: Some(opponent()),
        attempt: Some(1),
        draw_commitment: Some(SECRET.commitment()),
    }
}

/// An invitation as a foreign referee writes it.
fn foreign_invitation(match_id: &MatchId) -> GameInvitation {
    GameInvitation { attempt: None, draw_commitment: None, ..invitation(match_id) }
}

fn parity_call(match_id: &MatchId) -> ChooseParityCall {
    let context = ChoiceContext { opponent_id: Some(opponent()), ..ChoiceContext::default() };
    ChooseParityCall {
        league_id: Some(league()),
        round_id: match_id.parts().map(|(round, _)| round),
        match_id: match_id.clone(),
        player_id: Some(me()),
        game_type: None,
        context,
        deadline: None,
    }
}

fn move_call(match_id: &MatchId, board: &str) -> GameMoveCall {
    let context = MoveContext { state: board.into(), ..MoveContext::default() };
    GameMoveCall {
        league_id: Some(league()),
        round_id: None,
        match_id: match_id.clone(),
        player_id: Some(me()),
        game_type: "tic_tac_toe".parse().unwrap(),
        context,
        deadline: None,
    }
}

/// `winner` is P01, P02 or neither; no number was drawn.
fn result(status: ResultStatus, winner: Option<&PlayerId>) -> GameResult {
    GameResult {
        status: Some(status),
        winner_player_id: winner.cloned(),
        drawn_number: None,
        number_parity: None,
        choices: ByPlayer(vec![(me(), Some("even".into())), (opponent(), Some("odd".into()))]),
        reason: String::new(),
    }
}

fn blank(match_id: &MatchId) -> GameOver {
    GameOver {
        league_id: None,
        round_id: None,
        match_id: match_id.clone(),
        player_id: None,
        game_type: None,
        game_result: None,
        result: None,
        drawn_number: None,
        your_choice: None,
        opponent_choice: None,
        points_earned: None,
        draw: None,
        hint: None,
    }
}

fn won(match_id: &MatchId) -> GameOver {
    GameOver { game_result: Some(result(ResultStatus::Win, Some(&me()))), ..blank(match_id) }
}

fn lost(match_id: &MatchId) -> GameOver {
    GameOver { game_result: Some(result(ResultStatus::Win, Some(&opponent()))), ..blank(match_id) }
}

/// GAME_OVER of an honest referee to the player on `side`, whose nonce is `own`.
fn proved(match_id: &MatchId, side: Side, own: &DrawNonce, attempt: u32) -> GameOver {
    let theirs = nonce("theirs");
    let (nonces, players) = match side {
        Side::A => (Pair::new(own.clone(), theirs), Pair::new(me(), opponent())),
        Side::B => (Pair::new(theirs, own.clone()), Pair::new(opponent(), me())),
    };
    let draw = Draw { secret: SECRET, match_id: match_id.clone(), attempt, nonces };
    let number = draw.number().get();
    let winner = if Parity::of(number) == Parity::Even { me() } else { opponent() };
    let mut whole = result(ResultStatus::Win, Some(&winner));
    (whole.drawn_number, whole.number_parity) = (Some(number), Some(Parity::of(number)));
    let seal = Some(draw.seal());
    let nonces = ByPlayer(vec![(players.a, draw.nonces.a), (players.b, draw.nonces.b)]);
    let proof = DrawProof { commitment: SECRET.commitment(), secret: SECRET, attempt, nonces, seal, seeded: false };
    GameOver { game_result: Some(whole), drawn_number: Some(number), draw: Some(proof), ..blank(match_id) }
}

trait Told {
    fn is_invited(&mut self, match_id: &MatchId, own: &str) -> DrawNonce;
    fn is_asked(&mut self, match_id: &MatchId) -> MoveRequest;
    fn chooses(&mut self, match_id: &MatchId, parity: Parity) -> Parity;
    fn is_told(&mut self, over: &GameOver);
    fn plays(&mut self, match_id: &MatchId);
    fn last_result(&self) -> OwnResult;
}

impl Told for PlayerSession {
    fn is_invited(&mut self, match_id: &MatchId, own: &str) -> DrawNonce {
        let now = Timestamp::EPOCH;
        let join = self.invited(&referee_of(match_id), &invitation(match_id), nonce(own), now).unwrap();
        assert_eq!((join.accept, join.match_id.as_ref()), (Some(true), Some(match_id)));
        join.draw_nonce.unwrap()
    }

    fn is_asked(&mut self, match_id: &MatchId) -> MoveRequest {
        self.asked(&referee_of(match_id), parity_call(match_id).into()).unwrap()
    }

    fn chooses(&mut self, match_id: &MatchId, parity: Parity) -> Parity {
        Parity::exact(&self.answered(match_id, Method::ChooseParity, parity.as_str().into()).unwrap()).unwrap()
    }

    fn is_told(&mut self, over: &GameOver) {
        let heard = self.over(&referee_of(&over.match_id), over).unwrap().acknowledgement;
        assert_eq!((heard.player_id, heard.match_id), (Some(me()), Some(over.match_id.clone())));
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

/// Everything that a session exposes, to check that nothing changed.
fn shown(session: &PlayerSession) -> String {
    format!("{session:?}")
}

fn word(text: &str) -> Option<SmolStr> {
    Some(SmolStr::new(text))
}
