//! Random valid messages: the samples with fields filled, omitted and changed.

use league_protocol::draw::{DrawCommitment, DrawSeal, DrawSecret};
use league_protocol::envelope::Envelope;
use league_protocol::id::{ConversationId, RoundId};
use league_protocol::message::game_over::{ByPlayer, OwnResult, ResultStatus};
use league_protocol::message::query::QueryType;
use league_protocol::parity::Parity;
use league_protocol::sender::Sender;
use league_protocol::side::Side;
use league_protocol::table::{Call, Method, TABLE};
use league_protocol::time::Timestamp;
use league_protocol::token::Credential;
use proptest::prelude::*;

pub(crate) fn word() -> impl Strategy<Value = String> {
    // Quotes, backslashes, emoji and accents.
    "[a-zA-Z0-9 \"\\\\/äß…🎲_-]{1,20}"
}

fn id() -> impl Strategy<Value = String> {
    "[A-Za-z0-9_:-][A-Za-z0-9_.:-]{0,20}"
}

fn when() -> impl Strategy<Value = Timestamp> {
    (0..4_000_000_000_i64).prop_map(Timestamp::from_unix)
}

prop_compose! {
    pub(crate) fn envelope()(sender in id(), timestamp in when(), conversation in word(), token in prop::option::of(word())) -> Envelope {
        Envelope {
            sender: Sender::player(&sender.parse().unwrap()),
            timestamp,
            conversation_id: ConversationId::named(conversation),
            auth_token: token.map(|token| Credential::new(&token)),
        }
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the other calls are tried as the samples have them")]
fn call(method: Method) -> impl Strategy<Value = Call> {
    let some = || any::<bool>();
    (word(), id(), id(), any::<(u32, u8, bool)>(), (some(), some(), some()), when(), any::<[u8; 32]>()).prop_map(
        move |(name, one, other, (number, small, flag), (first, second, third), time, bytes)| {
            let other = format!("{other}.");
            let mut call = crate::sample::call(method);
            match &mut call {
                Call::RegisterPlayer(request) => {
                    request.player_meta.display_name = format!("x{name}").into();
                    request.player_meta.protocol_version = first.then(|| name.clone().into());
                    request.player_id = second.then(|| one.parse().unwrap());
                    request.join_key = third.then(|| Credential::new(&name));
                }
                Call::RegisterReferee(request) => {
                    request.referee_meta.version = format!("x{name}").into();
                    request.referee_meta.max_concurrent_matches = first.then_some(number);
                    request.referee_id = second.then(|| one.parse().unwrap());
                    request.join_key = third.then(|| Credential::new(&name));
                }
                Call::GameInvitation(invitation) => {
                    invitation.match_id = one.parse().unwrap();
                    invitation.role_in_match = first.then_some(if flag { Side::A } else { Side::B });
                    invitation.attempt = second.then_some(number);
                    invitation.draw_commitment = third.then_some(DrawCommitment(bytes));
                    invitation.opponent_id = flag.then(|| other.parse().unwrap());
                }
                Call::PostJoin(join) => {
                    join.match_id = first.then(|| one.parse().unwrap());
                    join.accept = second.then_some(flag);
                    join.arrival_timestamp = third.then_some(time);
                    join.draw_nonce = flag.then(|| name.chars().take(1).collect::<String>().parse().unwrap());
                }
                Call::ChooseParity(asked) => {
                    asked.match_id = one.parse().unwrap();
                    asked.round_id = first.then_some(RoundId(number));
                    asked.context.your_standings.points = number;
                    asked.context.opponent_id = second.then(|| other.parse().unwrap());
                    asked.deadline = third.then_some(time);
                }
                Call::ReportMatchResult(report) => {
                    report.attempt = first.then_some(number);
                    let (a, b) = (one.parse().unwrap(), other.parse().unwrap());
                    report.result.winner = second.then(|| format!("P{one}").parse().unwrap());
                    report.result.score = ByPlayer(vec![(a, number), (b, 0)]);
                    report.result.details.drawn_number = third.then_some(small);
                    report.result.details.number_parity = third.then_some(Parity::of(small));
                    report.result.details.reason = flag.then(|| name.clone().into());
                }
                Call::NotifyMatchResult(over) => {
                    over.result = first.then_some(if flag { OwnResult::Loss } else { OwnResult::TechnicalLoss });
                    over.drawn_number = second.then_some(small);
                    over.your_choice = third.then(|| name.clone().into());
                    over.points_earned = flag.then_some(number);
                    if let Some(result) = &mut over.game_result {
                        result.status = Some(if flag { ResultStatus::Win } else { ResultStatus::Draw });
                        result.winner_player_id = first.then(|| one.parse().unwrap());
                        result.reason = name;
                    }
                    if let Some(draw) = &mut over.draw {
                        draw.secret = DrawSecret(bytes);
                        draw.seal = second.then_some(DrawSeal(bytes));
                        draw.seeded = flag;
                    }
                }
                Call::NotifyGameError(error) => {
                    error.hint = first.then(|| name.into());
                    error.retry_count = second.then_some(small);
                    error.retryable = third.then_some(flag);
                    if flag {
                        error.retry_info = None;
                    }
                }
                Call::StartMatch(start) => {
                    start.match_id = one.parse().unwrap();
                    start.attempt = number;
                    start.players.a.player_id = format!("A{one}").parse().unwrap();
                    start.players.b.display_name = name.into();
                    start.players.a.attempts = first.then_some(small);
                    start.timeouts.move_timeout_sec = f64::from(number) / 8.0;
                    start.draw_secret = second.then_some(DrawSecret(bytes));
                }
                Call::UpdateStandings(update) => {
                    update.standings[0].display_name = name.into();
                    update.standings[0].points = number;
                    update.round_id = first.then_some(RoundId(number));
                    let last = update.standings[0].clone();
                    update.standings.resize(usize::from(small), last);
                }
                Call::LeagueQuery(query) => {
                    query.query_type = QueryType::ALL[usize::from(small) % QueryType::ALL.len()];
                    query.query_params.player_id = first.then(|| one.parse().unwrap());
                    query.query_params.round_id = second.then_some(RoundId(number));
                    query.league_id = third.then(|| other.parse().unwrap());
                }
                _ => {}
            }
            call
        },
    )
}

pub(crate) fn any_call() -> impl Strategy<Value = Call> {
    (0..TABLE.len()).prop_flat_map(|place| call(TABLE[place].method))
}
