//! The cost of reading a call for a choice and answering it, compared with `from_slice` into a plain struct of the same fields.
//! The ratio is the median over pairs of short alternating blocks, so machine load affects both sides.

#![expect(clippy::unwrap_used, reason = "what is measured here cannot fail, or there is nothing to measure")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::Criterion;
use league_protocol::answer::{MoveAnswer, ParsedAnswer};
use league_protocol::dialect::PeerDialect;
use league_protocol::envelope::Envelope;
use league_protocol::frame::{Frame, RequestId};
use league_protocol::id::{ConversationId, GameType, LeagueId, MatchId, PlayerId, RefereeId, RoundId};
use league_protocol::message::choice::{ChoiceContext, ChooseParityCall, ChooseParityResponse};
use league_protocol::message::standings::PlayerRecord;
use league_protocol::parity::Parity;
use league_protocol::reply::ReplyTo;
use league_protocol::request::{self, Incoming, Request};
use league_protocol::sender::Sender;
use league_protocol::table::{Call, Method};
use league_protocol::time::Timestamp;
use league_protocol::token::{Credential, Token};

/// The baseline: borrowed texts and numbers, nothing checked.
mod plain {
    use serde::Deserialize;

    #[derive(Deserialize)]
    pub(super) struct Rpc<P> {
        pub(super) jsonrpc: String,
        pub(super) method: String,
        pub(super) params: P,
        pub(super) id: u64,
    }

    macro_rules! plain {
        ($($name:ident { $($field:ident: $type:ty),* $(,)? })*) => {
            $(#[derive(Deserialize)]
            pub(super) struct $name {
                $(pub(super) $field: $type),*
            })*
        };
    }

    plain! {
        Call {
            protocol: String, message_type: String, sender: String, timestamp: String, conversation_id: String,
            auth_token: String, league_id: String, round_id: u32, match_id: String, player_id: String,
            game_type: String, game_id: String, context: Context, deadline: String, parity_context: ParityContext,
        }
        Context { opponent_id: String, round_id: u32, your_standings: Record }
        ParityContext {
            match_id: String, player_id: String, opponent_id: String, round_id: u32, your_standings: Record,
            deadline: String,
        }
        Record { wins: u32, losses: u32, draws: u32, points: u32 }
        Answer { jsonrpc: String, id: u64, result: Choice }
        Choice {
            protocol: String, message_type: String, sender: String, timestamp: String, conversation_id: String,
            auth_token: String, match_id: String, player_id: String, parity_choice: String,
        }
    }
}

struct Exchange {
    match_id: MatchId,
    player: PlayerId,
    sender: Sender,
    pass: Credential,
    now: Timestamp,
    call: Vec<u8>,
    answer: Vec<u8>,
}

impl Exchange {
    fn new() -> Self {
        let league: LeagueId = "league_2025_even_odd".parse().unwrap();
        let (round, player) = (RoundId(3), PlayerId::numbered(7));
        let match_id = MatchId::of(round, 2);
        let referee = RefereeId::numbered(1);
        let now: Timestamp = "2025-01-15T10:30:05Z".parse().unwrap();
        let key = Token::mint(player.as_str(), &[7; 32]).digest();
        let context = ChoiceContext {
            opponent_id: Some(PlayerId::numbered(12)),
            round_id: Some(round),
            your_standings: PlayerRecord { wins: 1, losses: 0, draws: 1, points: 4 },
        };
        let call = Call::ChooseParity(ChooseParityCall {
            finished_games: Vec::new(),
            games_per_match: None,
            league_id: Some(league.clone()),
            round_id: Some(round),
            match_id: match_id.clone(),
            player_id: Some(player.clone()),
            game_type: Some(GameType::even_odd()),
            context,
            deadline: Some(now.after(Duration::from_secs(30))),
            attempt: Some(1),
            game_number: Some(1),
            turn: Some(1),
        });
        let envelope = Envelope {
            sender: Sender::referee(&referee),
            timestamp: now,
            conversation_id: ConversationId::named(format_args!("{league}:{match_id}:1")),
            auth_token: Some(key.referee_pass(&league, &match_id, &referee).into()),
        };
        let mut exchange = Self {
            sender: Sender::player(&player),
            pass: key.player_pass(&league, &match_id).into(),
            match_id,
            player,
            now,
            call: Vec::new(),
            answer: Vec::new(),
        };
        PeerDialect::default().write(1001, &envelope, &call, &mut exchange.call).unwrap();
        let mut answer = Vec::new();
        exchange.decode_and_answer(&mut answer);
        exchange.answer = answer;
        exchange
    }

    fn decode(&self) -> Box<Request<'_>> {
        let Incoming::Call(request) = request::read(black_box(&self.call)).unwrap() else { unreachable!() };
        assert!(request.check(false).unwrap().is_empty());
        request
    }

    fn decode_and_answer(&self, out: &mut Vec<u8>) {
        let request = self.decode();
        let reply_to = request.reply_to();
        let (head, call) = (request.head, request.call);
        let Call::ChooseParity(call) = call else { unreachable!() };
        let envelope = Envelope {
            sender: self.sender.clone(),
            timestamp: self.now,
            conversation_id: head.conversation_id.good().unwrap(),
            auth_token: Some(self.pass.clone()),
        };
        let choice = ChooseParityResponse {
            match_id: call.match_id,
            player_id: self.player.clone(),
            parity_choice: Parity::Even,
            signature: None,
        };
        out.clear();
        reply_to.answer(&envelope, &choice, out).unwrap();
    }

    fn decode_plainly(&self) -> plain::Rpc<plain::Call> {
        serde_json::from_slice(black_box(&self.call)).unwrap()
    }

    fn read_answer(&self) -> MoveAnswer {
        ParsedAnswer::parse(black_box(&self.answer)).unwrap().parity(&self.match_id).answer
    }

    fn read_answer_plainly(&self) -> plain::Answer {
        serde_json::from_slice(black_box(&self.answer)).unwrap()
    }

    /// Both readers must see the same values, or the comparison means nothing.
    fn prove_itself(&self) {
        let plain::Rpc { jsonrpc, method, params, id } = self.decode_plainly();
        assert_eq!((jsonrpc.as_str(), method.as_str(), id), ("2.0", "choose_parity", 1001));
        let request = self.decode();
        let reply_to = ReplyTo { frame: Frame::Direct, id: RequestId::from(id), method: Some(Method::ChooseParity) };
        assert_eq!(request.reply_to(), reply_to);
        let Call::ChooseParity(call) = request.call else { unreachable!() };
        let copy = &params.parity_context;
        let texts = [&params.match_id, &params.game_id, &copy.match_id];
        assert!(texts.iter().all(|text| *text == call.match_id.as_str()));
        let texts = [&params.player_id, &copy.player_id];
        assert!(texts.iter().all(|text| *text == self.player.as_str()));
        let opponent = call.opponent().unwrap().as_str();
        assert!([&params.context.opponent_id, &copy.opponent_id].iter().all(|text| *text == opponent));
        let record = |plain: &plain::Record| PlayerRecord {
            wins: plain.wins,
            losses: plain.losses,
            draws: plain.draws,
            points: plain.points,
        };
        let records = [&params.context.your_standings, &copy.your_standings].map(record);
        assert_eq!(records, [call.context.your_standings; 2]);
        assert_eq!([params.round_id, params.context.round_id, copy.round_id], [3; 3]);
        assert!([&params.deadline, &copy.deadline].iter().all(|text| **text == call.deadline.unwrap().to_string()));
        assert_eq!((params.protocol.as_str(), params.message_type.as_str()), ("league.v2", "CHOOSE_PARITY_CALL"));
        assert_eq!((params.sender.as_str(), params.timestamp), ("referee:REF01", self.now.to_string()));
        assert_eq!((params.game_type.as_str(), params.league_id.as_str()), ("even_odd", "league_2025_even_odd"));
        assert!(params.auth_token.starts_with("pass-"));

        let plain::Answer { jsonrpc, id, result } = self.read_answer_plainly();
        assert_eq!((jsonrpc.as_str(), id), ("2.0", 1001));
        assert_eq!(self.read_answer(), MoveAnswer::Move("even".into()));
        assert_eq!((result.protocol.as_str(), result.message_type.as_str()), ("league.v2", "CHOOSE_PARITY_RESPONSE"));
        assert_eq!((result.sender.as_str(), result.timestamp), ("player:P07", self.now.to_string()));
        assert_eq!((result.match_id.as_str(), result.player_id.as_str()), ("R3M2", "P07"));
        assert_eq!((result.parity_choice.as_str(), result.conversation_id), ("even", params.conversation_id));
        assert_eq!(result.auth_token, self.pass.reveal());
    }
}

fn times(criterion: &mut Criterion, exchange: &Exchange) {
    let mut out = Vec::new();
    criterion.bench_function("call: decode and answer", |bench| bench.iter(|| exchange.decode_and_answer(&mut out)));
    criterion.bench_function("call: decode", |bench| bench.iter(|| exchange.decode()));
    criterion.bench_function("call: plain from_slice", |bench| bench.iter(|| exchange.decode_plainly()));
    criterion.bench_function("answer: read", |bench| bench.iter(|| exchange.read_answer()));
    criterion.bench_function("answer: plain from_slice", |bench| bench.iter(|| exchange.read_answer_plainly()));
}

fn ratio<A, B>(mut ours: impl FnMut() -> A, mut other: impl FnMut() -> B) -> f64 {
    const PAIRS: usize = 1001;
    const BLOCK: u32 = 400;
    fn block<T>(work: &mut impl FnMut() -> T) -> f64 {
        let start = Instant::now();
        for _ in 0..BLOCK {
            black_box(work());
        }
        start.elapsed().as_secs_f64()
    }
    let mut ratios: Vec<f64> = (0..PAIRS).map(|_| block(&mut ours) / block(&mut other)).collect();
    ratios.sort_by(f64::total_cmp);
    ratios[PAIRS / 2]
}

fn main() {
    let exchange = Exchange::new();
    exchange.prove_itself();
    let mut criterion = Criterion::default().configure_from_args();
    times(&mut criterion, &exchange);
    criterion.final_summary();
    // Skips the ratios when Criterion only tests, lists or profiles.
    let is_asked = |flag: &str| std::env::args().any(|argument| argument == flag);
    if is_asked("--bench") && !is_asked("--profile-time") {
        let mut out = Vec::new();
        let answering = ratio(|| exchange.decode_and_answer(&mut out), || exchange.decode_plainly());
        println!("decode+answer / plain from_slice = {answering:.2} (goal ≤ 1.5)");
        let decoding = ratio(|| exchange.decode(), || exchange.decode_plainly());
        println!("decode / plain from_slice = {decoding:.2}");
        let reading = ratio(|| exchange.read_answer(), || exchange.read_answer_plainly());
        println!("answer read / plain from_slice = {reading:.2}");
    }
}
