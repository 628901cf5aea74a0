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
use crate::dialect::CheckDialect;
use crate::discovery::{self, Asked};
use crate::fake_league::{ChoiceBehaviour, FakeLeague, GATE};
use crate::messages::{TestMessage, rpc};
use crate::options::CheckOptions;
use crate::report::CheckReport;
use crate::response::{NoResponse, Response, ResponseBody};
use crate::rules::referee as rules;

/// A referee needs this time to read the answer to its registration.
const SETTLE: Duration = Duration::from_secs(1);

pub(crate) struct Exam<'a> {
    line: &'a AgentClient,
    book: &'a CheckLog,
    stage: &'a FakeLeague,
    environment: Environment,
    limit: Duration,
    game: GameType,
    /// The longest match of the check: its limits are short.
    span: Duration,
    round: RoundId,
    tokens: [Token; 2],
    voice: OnceLock<CheckDialect>,
}

pub async fn referee(endpoint: &Endpoint, options: &CheckOptions) -> CheckReport {
    let (line, book) = (AgentClient::to(endpoint.clone()), CheckLog::default());
    let (mut form, mut complete, mut notes) = (CheckDialect::canonical(), false, Vec::new());
    match FakeLeague::open(options, endpoint).await {
        Ok(stage) => {
            let exam = Exam::new(&line, &book, &stage, options);
            let outcome = exam.run(options).await;
            form = exam.voice.into_inner().unwrap_or_default();
            complete = outcome.is_ok();
            notes.extend(outcome.err());
        }
        Err(error) => notes.push(format!("The checker cannot listen at {}: {error}", options.listen)),
    }
    let unreached = if complete { "it did not come to that" } else { "the referee could not be checked" };
    CheckReport {
        set: options.set.name,
        endpoint: endpoint.to_string(),
        role: Role::Referee,
        role_because: String::from("as you say"),
        form: Some(form.to_string()),
        notes,
        complete,
        findings: book.close(options.set.for_role(Role::Referee), unreached),
        stale: Vec::new(),
    }
}

impl<'a> Exam<'a> {
    fn new(line: &'a AgentClient, book: &'a CheckLog, stage: &'a FakeLeague, options: &CheckOptions) -> Self {
        let environment = Environment::real();
        let random = environment.random();
        let round = RoundId(1000 + u32::from(u16::from_be_bytes([random[0], random[1]])));
        let tokens = [1, 2].map(|number| Token::mint(PlayerId::numbered(number).as_str(), &environment.random()));
        let (limit, span) = (options.wait(LimitKind::Generic), Duration::from_secs(6).min(options.patience));
        let game = options.game.clone();
        Self { line, book, stage, environment, limit, game, span, round, tokens, voice: OnceLock::new() }
    }

    async fn run(&self, options: &CheckOptions) -> Result<(), String> {
        self.reach(options).await?;
        let again = self.say(&self.order(&self.match_no(1))).await;
        self.fair_match().await;
        self.invalid_choices().await;
        self.silence().await;
        self.decline().await;
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

    fn match_no(&self, number: u32) -> MatchId {
        MatchId::of(self.round, number)
    }

    async fn say(&self, letter: &TestMessage) -> Response {
        self.voice.get_or_init(CheckDialect::canonical).say(self.line, letter, self.limit).await
    }

    fn letter(&self, call: &Call) -> TestMessage {
        TestMessage::new(&self.envelope(), call)
    }

    fn envelope(&self) -> Envelope {
        let script = &self.stage.script;
        let pass = script.league.as_ref().map(|league| script.token.digest().manager_pass(league));
        Envelope {
            sender: Sender::manager(),
            timestamp: self.environment.now(),
            conversation_id: ConversationId::named("conv-check-order"),
            auth_token: pass.map(Credential::from),
        }
    }

    fn referee_pass(&self, side: Side, match_id: &MatchId) -> Option<Pass> {
        let league = self.stage.script.league.as_ref()?;
        let digest = self.tokens[usize::from(side == Side::B)].digest();
        Some(digest.referee_pass(league, match_id, &RefereeId::numbered(1)))
    }

    fn order(&self, match_id: &MatchId) -> TestMessage {
        self.letter(&self.ordering(match_id))
    }

    fn ordering(&self, match_id: &MatchId) -> Call {
        let contestant = |side: Side| {
            let place = usize::from(side == Side::B);
            Contestant {
                player_id: player(side),
                endpoint: self.stage.players[place].to_string(),
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
            league_id: self.stage.script.league.clone(),
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
            home_mark: None,
            strict: false,
        })
    }

    async fn first_order(&self, match_id: &MatchId) -> (CheckDialect, Response) {
        let asked = Asked { envelope: self.envelope(), call: self.ordering(match_id) };
        let understood = |came: &ResponseBody| {
            came.status.is_success() && ParsedAnswer::parse(&came.body).is_ok_and(|said| said.error().is_none())
        };
        discovery::answer(self.line, &asked, self.limit, understood).await
    }

    /// Orders the first match; after the referee has registered with the checker, once more.
    async fn reach(&self, options: &CheckOptions) -> Result<(), String> {
        let match_id = self.match_no(1);
        self.stage.script.rehearse(&match_id, self.fair_play());
        let registered = |said: &[crate::fake_league::RefereeLine]| {
            said.iter().any(|line| line.call.method() == Method::RegisterReferee)
        };
        // With a chosen port the referee is expected to register; otherwise it must accept the order.
        if options.listen.port() != 0 {
            self.stage.script.until(options.registration, registered).await;
        }
        let (mut voice, mut heard) = self.first_order(&match_id).await;
        // A referee that just registered may not have read the answer yet.
        let settled = Instant::now() + SETTLE;
        while heard.came.is_ok()
            && !accepted(&heard)
            && registered(&self.stage.script.said())
            && Instant::now() < settled
        {
            sleep(SETTLE / 10).await;
            (voice, heard) = self.first_order(&match_id).await;
        }
        self.voice.get_or_init(|| voice);
        self.stage.script.let_them_join();
        match &heard.came {
            Err(NoResponse::Broken(why)) => {
                self.book.judge(&rules::REACHABLE, &heard, Err(why.clone()));
                return Err(discovery::not_listening(self.line, why));
            }
            Ok(_) | Err(NoResponse::TimedOut(_) | NoResponse::TooLong) => {
                self.book.judge(&rules::REACHABLE, &heard, Ok(()));
            }
        }
        if !accepted(&heard) && !registered(&self.stage.script.said()) {
            if let Some(note) = discovery::guarded(&heard) {
                self.book.judge(&rules::ACCEPTS, &heard, Err(note.clone()));
                return Err(note);
            }
            let note = format!(
                "This referee takes no match before it is in a league, and it has not registered with the checker.\n\
                 Choose a port for --listen, and start the referee with that address as its manager, such as {}.",
                self.stage.manager
            );
            self.book.judge(&rules::ACCEPTS, &heard, Err(note.clone()));
            return Err(note);
        }
        self.judge_registration();
        self.book.judge(&rules::ACCEPTS, &heard, ensure(accepted(&heard), heard.came_text()));
        let took = heard.took().unwrap_or(self.limit);
        // The players join only after the order is answered: a referee that waits for them first answers late.
        self.book.judge(&rules::AT_ONCE, &heard, ensure(took < GATE.mul_f32(0.8), format!("it took {took:?}")));
        if accepted(&heard) {
            Ok(())
        } else {
            Err(String::from("The referee takes no match, so nothing else can be seen."))
        }
    }

    fn judge_registration(&self) {
        let said = self.stage.script.said();
        match said.iter().find(|line| line.call.method() == Method::RegisterReferee) {
            None => self.book.skip(&rules::REGISTERS, "it takes matches without registering"),
            Some(line) => {
                let odd = line.quirks.iter().next();
                let judgement = odd.map_or(Ok(()), |quirk| Err(quirk.what().to_owned()));
                self.book.observe(&rules::REGISTERS, Some(matches::shown_call(&line.call)), judgement);
            }
        }
    }

    async fn requests(&self) {
        let heard = self.say(&self.letter(&Call::GetMatchState(MatchStep { match_id: self.match_no(99) }))).await;
        self.book.judge(&rules::UNKNOWN_MATCH, &heard, ensure(heard.error().is_some(), "it is not refused"));
        let request = rpc("no_such_method_of_the_league", &json!({}), self.line.next_id()).to_string();
        let heard = self.line.post(&HeaderMap::new(), request, self.limit).await;
        let code = heard.error_number();
        let found = code.map_or_else(|| String::from("there is no error code"), |code| format!("the code is {code}"));
        self.book.judge(&rules::UNKNOWN_METHOD, &heard, ensure(code == Some(-32601), found));
        let empty = self.order(&self.match_no(98));
        let fields = ["players", "player_A_id", "player_B_id", "player_A_endpoint", "player_B_endpoint"];
        let heard = self.say(&fields.iter().fold(empty, |letter, field| letter.without(field))).await;
        let refused = heard.error().is_some() || (heard.came.is_ok() && !accepted(&heard));
        self.book.judge(&rules::START_MALFORMED, &heard, ensure(refused, "it is accepted"));
        let broken = self.line.post(&HeaderMap::new(), &b"{\"jsonrpc\": \"2.0\", \"meth"[..], self.limit).await;
        let next = self.say(&self.letter(&Call::GetMatchState(MatchStep { match_id: self.match_no(99) }))).await;
        let alive = ensure(next.came.is_ok(), format!("after this it no longer answers: {}", next.came_text()));
        self.book.judge(&rules::NOT_JSON, &broken, alive);
    }
}

fn player(side: Side) -> PlayerId {
    PlayerId::numbered(match side {
        Side::A => 1,
        Side::B => 2,
    })
}

fn accepted(heard: &Response) -> bool {
    let refuses = ParsedAnswer::parse(heard.body()).map(|layers| layers.refuses());
    heard.is_success() && refuses == Ok(false)
}
