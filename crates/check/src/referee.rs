//! The check of a referee: the checker is its manager and both players.

mod matches;

use std::sync::OnceLock;
use std::time::Duration;

use http::HeaderMap;
use league_protocol::answer::ParsedAnswer;
use league_protocol::dialect::PeerDialect;
use league_protocol::envelope::Envelope;
use league_protocol::id::{ConversationId, GameType, MatchId, PlayerId, RefereeId, RoundId};
use league_protocol::message::standings::PlayerRecord;
use league_protocol::message::start_match::{Contestant, MatchLimits, MatchMode, MatchPoints, StartMatch};
use league_protocol::message::step::MatchStep;
use league_protocol::sender::{Role, Sender};
use league_protocol::side::{Pair, Side};
use league_protocol::table::{Call, LimitKind, Method};
use league_protocol::token::{Credential, Pass, Token};
use league_wire::endpoint::Endpoint;
use league_wire::environment::Environment;
use serde_json::json;
use smol_str::SmolStr;
use tokio::time::{Instant, sleep};

use crate::agent_client::AgentClient;
use crate::check_log::{CheckLog, ensure};
use crate::discovery::{self, Question};
use crate::fake_league::{ChoiceBehaviour, FakeLeague, GATE, has_registered};
use crate::messages::{TestMessage, rpc};
use crate::options::CheckOptions;
use crate::report::CheckReport;
use crate::response::{NoResponse, Response, ResponseBody};
use crate::rules::referee as rules;

/// A referee needs this time to read the answer to its registration.
const SETTLE: Duration = Duration::from_secs(1);

pub(crate) struct RefereeCheck<'a> {
    client: &'a AgentClient,
    log: &'a CheckLog,
    league: &'a FakeLeague,
    environment: Environment,
    limit: Duration,
    game: GameType,
    /// The longest match of the check: its limits are short.
    span: Duration,
    round: RoundId,
    tokens: [Token; 2],
    dialect: OnceLock<PeerDialect>,
}

pub async fn referee(endpoint: &Endpoint, options: &CheckOptions) -> CheckReport {
    let (client, log) = (AgentClient::to(endpoint.clone()), CheckLog::default());
    let (mut report, mut dialect) = (CheckReport::new(Role::Referee, endpoint, options.set), PeerDialect::default());
    match FakeLeague::open(options, endpoint).await {
        Ok(league) => {
            let check = RefereeCheck::new(&client, &log, &league, options);
            let outcome = check.run(options).await;
            dialect = check.dialect.into_inner().unwrap_or_default();
            report.complete = outcome.is_ok();
            report.notes.extend(outcome.err());
        }
        Err(error) => report.notes.push(format!("The checker cannot listen at {}: {error}", options.listen)),
    }
    report.form = Some(format!("frame {dialect}"));
    let unreached = if report.complete { "it did not come to that" } else { "the referee could not be checked" };
    report.findings = log.close(options.set.for_role(Role::Referee), unreached);
    report
}

impl<'a> RefereeCheck<'a> {
    fn new(client: &'a AgentClient, log: &'a CheckLog, league: &'a FakeLeague, options: &CheckOptions) -> Self {
        let environment = Environment::real();
        let random = environment.random();
        let round = RoundId(1000 + u32::from(u16::from_be_bytes([random[0], random[1]])));
        let tokens = [1, 2].map(|number| Token::mint(PlayerId::numbered(number).as_str(), &environment.random()));
        let (limit, span) = (options.wait(LimitKind::Generic), Duration::from_secs(6).min(options.max_wait));
        let game = options.game.clone();
        Self { client, log, league, environment, limit, game, span, round, tokens, dialect: OnceLock::new() }
    }

    async fn run(&self, options: &CheckOptions) -> Result<(), String> {
        self.reach(options).await?;
        let again = self.send(&self.order(&self.match_id(1))).await;
        self.fair_match().await;
        self.invalid_choices().await;
        self.silent_player().await;
        self.declining_player().await;
        self.played_once(&again).await;
        self.requests().await;
        Ok(())
    }

    /// Even against odd; in any other game, two players that move legally.
    fn fair_play(&self) -> [ChoiceBehaviour; 2] {
        if self.is_parity() { ["even", "odd"].map(ChoiceBehaviour::Says) } else { [ChoiceBehaviour::Plays; 2] }
    }

    fn move_method(&self) -> Method {
        if self.is_parity() { Method::ChooseParity } else { Method::MakeMove }
    }

    fn is_parity(&self) -> bool {
        self.game == GameType::even_odd()
    }

    fn match_id(&self, number: u32) -> MatchId {
        MatchId::of(self.round, number)
    }

    async fn send(&self, message: &TestMessage) -> Response {
        self.client.send(self.dialect.get_or_init(PeerDialect::default), message, self.limit).await
    }

    fn message(&self, call: &Call) -> TestMessage {
        TestMessage::new(&self.envelope(), call)
    }

    fn envelope(&self) -> Envelope {
        let script = &self.league.script;
        let pass = script.league.as_ref().map(|league| script.token.digest().manager_pass(league));
        Envelope {
            sender: Sender::manager(),
            timestamp: self.environment.now(),
            conversation_id: ConversationId::named("conv-check-order"),
            auth_token: pass.map(Credential::from),
        }
    }

    fn referee_pass(&self, side: Side, match_id: &MatchId) -> Option<Pass> {
        let league = self.league.script.league.as_ref()?;
        let digest = self.tokens[usize::from(side == Side::B)].digest();
        Some(digest.referee_pass(league, match_id, &RefereeId::numbered(1)))
    }

    fn order(&self, match_id: &MatchId) -> TestMessage {
        self.message(&self.start_match(match_id))
    }

    fn start_match(&self, match_id: &MatchId) -> Call {
        let contestant = |side: Side| {
            let place = usize::from(side == Side::B);
            Contestant {
                player_id: player(side),
                endpoint: self.league.players[place].to_string(),
                display_name: SmolStr::new(format!("Checker {}", place + 1)),
                standings: PlayerRecord::default(),
                referee_pass: self.referee_pass(side, match_id),
                player_pass: None,
                dialect: PeerDialect::default(),
                shows_token: false,
                attempts: None,
            }
        };
        Call::StartMatch(StartMatch {
            games_per_match: 1,
            league_id: self.league.script.league.clone(),
            round_id: Some(self.round),
            match_id: match_id.clone(),
            game_type: self.game.clone(),
            attempt: 1,
            mode: MatchMode::Flowing,
            players: Pair::from_fn(contestant),
            timeouts: MatchLimits {
                game_join_ack_timeout_sec: 2.0,
                move_timeout_sec: 1.0,
                game_over_timeout_sec: 1.0,
                max_retries: 3,
                base_delay_sec: 0.1,
                ..MatchLimits::default()
            },
            scoring: MatchPoints::default(),
            draw_secret: None,
            draw_commitment: None,
            manager_nonce: None,
            home_mark: None,
            strict: false,
        })
    }

    async fn first_order(&self, match_id: &MatchId) -> (PeerDialect, Response) {
        let question = Question { envelope: self.envelope(), call: self.start_match(match_id) };
        let understood = |answer: &ResponseBody| {
            answer.status.is_success() && ParsedAnswer::parse(&answer.body).is_ok_and(|parsed| parsed.error().is_none())
        };
        discovery::answer(self.client, &question, self.limit, understood).await
    }

    /// Orders the first match; after the referee has registered with the checker, once more.
    async fn reach(&self, options: &CheckOptions) -> Result<(), String> {
        let match_id = self.match_id(1);
        self.league.script.set_behaviour(&match_id, self.fair_play());
        // With a chosen port the referee is expected to register; otherwise it must accept the order.
        if options.listen.port() != 0 {
            self.league.script.wait_until(options.registration, has_registered).await;
        }
        let (mut dialect, mut response) = self.first_order(&match_id).await;
        // A referee that just registered may not have read the answer yet.
        let settled = Instant::now() + SETTLE;
        let may_settle = || self.league.script.has_registered() && Instant::now() < settled;
        while response.result.is_ok() && !accepted(&response) && may_settle() {
            sleep(SETTLE / 10).await;
            (dialect, response) = self.first_order(&match_id).await;
        }
        self.dialect.get_or_init(|| dialect);
        self.league.script.open_gate();
        match &response.result {
            Err(NoResponse::Broken(why)) => {
                self.log.judge(&rules::REACHABLE, &response, Err(why.clone()));
                return Err(discovery::not_listening(self.client, why));
            }
            Ok(_) | Err(NoResponse::TimedOut(_) | NoResponse::TooLong) => {
                self.log.judge(&rules::REACHABLE, &response, Ok(()));
            }
        }
        if !accepted(&response) && !self.league.script.has_registered() {
            let note = discovery::guarded(&response).unwrap_or_else(|| format!(
                "This referee takes no match before it is in a league, and it has not registered with the checker.\n\
                 Choose a port for --listen, and start the referee with that address as its manager, such as {}.",
                self.league.manager
            ));
            self.log.judge(&rules::ACCEPTS, &response, Err(note.clone()));
            return Err(note);
        }
        self.judge_registration();
        self.log.judge(&rules::ACCEPTS, &response, ensure(accepted(&response), response.result_text()));
        let took = response.took().unwrap_or(self.limit);
        // The players join only after the order is answered: a referee that waits for them first answers late.
        self.log.judge(&rules::AT_ONCE, &response, ensure(took < GATE.mul_f32(0.8), format!("it took {took:?}")));
        ensure(accepted(&response), "The referee takes no match, so nothing else can be seen.")
    }

    fn judge_registration(&self) {
        let calls = self.league.script.received();
        match calls.iter().find(|received| received.call.method() == Method::RegisterReferee) {
            None => self.log.skip(&rules::REGISTERS, "it takes matches without registering"),
            Some(received) => {
                let judgement = received.quirks.iter().next().map_or(Ok(()), |quirk| Err(quirk.what().to_owned()));
                self.log.observe(&rules::REGISTERS, matches::call_excerpt(&received.call), judgement);
            }
        }
    }

    async fn requests(&self) {
        let response = self.send(&self.message(&Call::GetMatchState(MatchStep { match_id: self.match_id(99) }))).await;
        self.log.judge(&rules::UNKNOWN_MATCH, &response, ensure(response.error().is_some(), "it is not refused"));
        let request = rpc("no_such_method_of_the_league", &json!({}), self.client.next_id()).to_string();
        let response = self.client.post(&HeaderMap::new(), request, self.limit).await;
        let code = response.error_number();
        let found = code.map_or_else(|| String::from("there is no error code"), |code| format!("the code is {code}"));
        self.log.judge(&rules::UNKNOWN_METHOD, &response, ensure(code == Some(-32601), found));
        let empty = self.order(&self.match_id(98));
        let fields = ["players", "player_A_id", "player_B_id", "player_A_endpoint", "player_B_endpoint"];
        let response = self.send(&fields.iter().fold(empty, |message, field| message.without(field))).await;
        let refused = response.error().is_some() || (response.result.is_ok() && !accepted(&response));
        self.log.judge(&rules::START_MALFORMED, &response, ensure(refused, "it is accepted"));
        let broken = self.client.post(&HeaderMap::new(), &b"{\"jsonrpc\": \"2.0\", \"meth"[..], self.limit).await;
        let next = self.send(&self.message(&Call::GetMatchState(MatchStep { match_id: self.match_id(99) }))).await;
        let alive = ensure(next.result.is_ok(), format!("after this it no longer answers: {}", next.result_text()));
        self.log.judge(&rules::NOT_JSON, &broken, alive);
    }
}

fn player(side: Side) -> PlayerId {
    PlayerId::numbered(if side == Side::A { 1 } else { 2 })
}

fn accepted(response: &Response) -> bool {
    let refuses = ParsedAnswer::parse(response.body()).map(|layers| layers.refuses());
    response.is_success() && refuses == Ok(false)
}
