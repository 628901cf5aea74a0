mod games;
mod golden;
mod reports;
mod shapes;

use league_protocol::parity::Parity;
use std::sync::LazyLock;
use std::time::Duration;

use league_protocol::dialect::PeerDialect;
use league_protocol::draw::{DrawNonce, DrawSecret};
use league_protocol::message::standings::PlayerRecord;
use league_protocol::message::start_match::{Contestant, DoubleForfeit, MatchLimits, MatchPoints};
use league_protocol::table::Method;
use league_protocol::token::{Credential, Token};

use super::*;
use crate::game_match::effect::Effect;
use crate::game_match::input::{CallFailure, Input, ReportDelivery};
use crate::rules::draw::Draw;
use crate::rules::registry::new_game;

const SECRET: DrawSecret = DrawSecret([7; 32]);
const SALT: [u8; 32] = [9; 32];

/// 2025-01-15T10:30:00Z.
fn now() -> Timestamp {
    Timestamp::from_unix(1_736_937_000)
}

fn referee() -> RefereeId {
    RefereeId::numbered(1)
}

fn order(game: &str) -> StartMatch {
    let (league, match_id) = ("league_2025_even_odd".parse().unwrap(), "R1M1".parse().unwrap());
    let contestant = |number: u8| {
        let player_id = PlayerId::numbered(u32::from(number));
        let key = Token::mint(player_id.as_str(), &[number; 32]).digest();
        Contestant {
            endpoint: format!("http://localhost:810{number}/mcp"),
            display_name: format_smolstr!("Agent {number}"),
            standings: PlayerRecord { wins: 1, losses: 0, draws: u32::from(number), points: 3 + u32::from(number) },
            referee_pass: Some(key.referee_pass(&league, &match_id, &referee())),
            player_pass: Some(key.player_pass(&league, &match_id)),
            dialect: PeerDialect::default(),
            shows_token: false,
            attempts: None,
            player_id,
        }
    };
    StartMatch {
        games_per_match: 1,
        players: Pair::new(contestant(1), contestant(2)),
        round_id: match_id.parts().map(|(round, _)| round),
        league_id: Some(league),
        match_id,
        game_type: game.parse().unwrap(),
        attempt: 1,
        mode: MatchMode::Flowing,
        timeouts: MatchLimits::default(),
        scoring: MatchPoints::default(),
        draw_secret: None,
        draw_commitment: None,
        manager_nonce: None,
        home_mark: None,
        strict: false,
    }
}

#[derive(Clone, Copy, Debug)]
enum Conduct {
    Moves(&'static [&'static str]),
    Declines,
    Silent,
    Leaves,
}

fn nonce(side: Side) -> DrawNonce {
    match side {
        Side::A => "salt".parse().unwrap(),
        Side::B => DrawNonce::default(),
    }
}

fn new_match(order: &StartMatch) -> MatchMachine {
    MatchMachine::new(terms(order, SECRET, SALT), new_game(&order.game_type).unwrap())
}

/// The messages of a match, as its referee REF01 writes them.
fn messages_of<'a>(match_machine: &'a MatchMachine, order: &'a StartMatch) -> MatchMessages<'a> {
    static REFEREE: LazyLock<RefereeId> = LazyLock::new(referee);
    MatchMessages::new(match_machine, order, &REFEREE, match_machine.commitment())
}

fn played(order: &StartMatch, conduct: Pair<Conduct>) -> MatchMachine {
    let mut match_machine = new_match(order);
    let (mut effects, mut made) = (Vec::new(), Pair::new(0, 0));
    match_machine.handle(Input::Start, &mut effects);
    while let Some(effect) = effects.pop() {
        let input = match effect {
            Effect::Invite { side, call, .. } => match conduct[side] {
                Conduct::Moves(_) | Conduct::Leaves => {
                    Input::Joined { side, call: Some(call), nonce: nonce(side), signature: None }
                }
                Conduct::Declines => Input::Declined { side, call: Some(call) },
                Conduct::Silent => Input::Failed { side, call, fault: CallFailure::TimedOut },
            },
            Effect::AskMove { side, call, .. } => match conduct[side] {
                Conduct::Moves(moves) => {
                    let text = moves[made[side] % moves.len()].into();
                    made[side] += 1;
                    Input::Moved { side, call: Some(call), text, signature: None }
                }
                Conduct::Declines | Conduct::Silent | Conduct::Leaves => {
                    Input::Failed { side, call, fault: CallFailure::Unreachable }
                }
            },
            Effect::Pause { side, call, .. } => Input::PauseOver { side, call },
            Effect::SendGameOver { side, call, .. } => Input::GameOverSent { side, call },
            Effect::Report => Input::Reported(ReportDelivery::Accepted),
            Effect::SendError { .. } => continue,
        };
        match_machine.handle(input, &mut effects);
    }
    assert!(match_machine.is_done());
    match_machine
}

/// The moves that win and lose when both sides play the match of `order`.
fn right_and_wrong(order: &StartMatch) -> (&'static [&'static str], &'static [&'static str]) {
    let secret = order.draw_secret.unwrap_or(SECRET);
    let nonces = Pair::from_fn(nonce);
    let (match_id, seeded) = (order.match_id.clone(), order.draw_secret.is_some());
    let draw = Draw { secret, match_id, attempt: order.attempt, nonces, seeded };
    match Parity::of(draw.number().get()) {
        Parity::Even => (&["even"], &["odd"]),
        Parity::Odd => (&["odd"], &["even"]),
    }
}

fn endings() -> Vec<(&'static str, StartMatch, Pair<Conduct>)> {
    let plain = order("even_odd");
    let mut strict = plain.clone();
    strict.scoring.double_forfeit = DoubleForfeit::TechnicalLoss;
    let mut seeded = plain.clone();
    (seeded.draw_secret, seeded.attempt) = (Some(DrawSecret([9; 32])), 2);
    let (right, wrong) = right_and_wrong(&plain);
    let (right, wrong) = (Conduct::Moves(right), Conduct::Moves(wrong));
    let seeded_right = Conduct::Moves(right_and_wrong(&seeded).0);
    vec![
        ("a_wins", plain.clone(), Pair::new(right, wrong)),
        ("b_wins", plain.clone(), Pair::new(wrong, right)),
        ("both_right", plain.clone(), Pair::new(right, right)),
        ("both_wrong", plain.clone(), Pair::new(wrong, wrong)),
        ("a_declines", plain.clone(), Pair::new(Conduct::Declines, right)),
        ("b_leaves", plain.clone(), Pair::new(right, Conduct::Leaves)),
        ("b_chooses_nothing_legal", plain.clone(), Pair::new(right, Conduct::Moves(&["EVEN"]))),
        ("both_forfeit", plain, Pair::new(Conduct::Silent, Conduct::Declines)),
        ("both_forfeit_for_nothing", strict, Pair::new(Conduct::Leaves, Conduct::Leaves)),
        ("seeded", seeded, Pair::new(seeded_right, seeded_right)),
    ]
}

fn spoken(match_messages: &MatchMessages<'_>, side: Side, call: &Call) -> Vec<u8> {
    let mut out = Vec::new();
    PeerDialect::default().write(1, &match_messages.envelope(side, now()), call, &mut out).unwrap();
    out
}
