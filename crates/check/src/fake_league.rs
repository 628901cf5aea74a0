//! A manager and two players for the checked referee. They record every call of it.
//!
//! Each listens at its own address. The match decides what a player does, so one fake league serves several matches.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use league_core::session::MoveRequest;
use league_protocol::envelope::{Envelope, ReceivedEnvelope};
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{ConversationId, LeagueId, MatchId, PlayerId, RefereeId};
use league_protocol::message::acknowledgement::Acknowledgement;
use league_protocol::message::choice::PostedChoice;
use league_protocol::message::invitation::GameJoinAck;
use league_protocol::message::registration::{PASS_SCHEME, RegisterResponse, RegistrationStatus};
use league_protocol::message::report::MatchResultAck;
use league_protocol::quirk::Quirks;
use league_protocol::sender::{Role, Sender};
use league_protocol::side::Side;
use league_protocol::table::{Call, Method};
use league_protocol::token::{Credential, Token};
use league_wire::agent::{Agent, CallAnswer, Health, IncomingCall};
use league_wire::endpoint::Endpoint;
use league_wire::environment::Environment;
use smol_str::SmolStr;
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, timeout};

use crate::options::CheckOptions;

/// The longest delay of an answer, while the other side has not been asked.
pub(crate) const TOGETHER: Duration = Duration::from_millis(700);

/// How long the players wait for the answer to START_MATCH.
pub(crate) const GATE: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ChoiceBehaviour {
    Says(&'static str),
    Plays,
    Silent,
    Declines,
}

#[derive(Clone, Debug)]
pub(crate) struct RefereeLine {
    /// `None` stands for the manager.
    pub(crate) to: Option<Side>,
    pub(crate) call: Call,
    pub(crate) head: ReceivedEnvelope,
    pub(crate) quirks: Quirks,
    pub(crate) at: Instant,
}

#[derive(Debug)]
pub(crate) struct Script {
    environment: Environment,
    pub(crate) league: Option<LeagueId>,
    pub(crate) token: Token,
    acts: Mutex<HashMap<MatchId, [ChoiceBehaviour; 2]>>,
    said: watch::Sender<Vec<RefereeLine>>,
    /// Opens when START_MATCH is answered; players join only then.
    gate: watch::Sender<bool>,
}

/// Dropping it stops its agents.
pub(crate) struct FakeLeague {
    pub(crate) script: Arc<Script>,
    pub(crate) players: [Endpoint; 2],
    pub(crate) manager: Endpoint,
    _open: Vec<oneshot::Sender<()>>,
}

impl FakeLeague {
    pub(crate) async fn open(options: &CheckOptions, agent: &Endpoint) -> std::io::Result<Self> {
        let environment = Environment::real();
        let script = Arc::new(Script {
            league: "league_check".parse().ok(),
            token: Token::mint("REF01", &environment.random()),
            acts: Mutex::default(),
            said: watch::Sender::new(Vec::new()),
            gate: watch::Sender::new(false),
            environment,
        });
        let mut open = Vec::new();
        let mut listen = async |role: Option<Side>, port: u16| {
            let fake = FakeAgent { role, script: Arc::clone(&script) };
            let (endpoint, close) = options.serve(fake, port, agent).await?;
            open.push(close);
            std::io::Result::Ok(endpoint)
        };
        let manager = listen(None, options.listen.port()).await?;
        let players = [listen(Some(Side::A), 0).await?, listen(Some(Side::B), 0).await?];
        let manager = options.advertise.clone().unwrap_or(manager);
        Ok(Self { script, players, manager, _open: open })
    }
}

impl Script {
    fn acts(&self) -> MutexGuard<'_, HashMap<MatchId, [ChoiceBehaviour; 2]>> {
        self.acts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn rehearse(&self, match_id: &MatchId, acts: [ChoiceBehaviour; 2]) {
        self.acts().insert(match_id.clone(), acts);
    }

    pub(crate) fn let_them_join(&self) {
        self.gate.send_replace(true);
    }

    async fn at_the_gate(&self) {
        let mut gate = self.gate.subscribe();
        // The wait has a limit, so that a referee that answers START_MATCH only after the match is detected.
        drop(timeout(GATE, gate.wait_for(|open| *open)).await);
    }

    pub(crate) fn said(&self) -> Vec<RefereeLine> {
        self.said.borrow().clone()
    }

    /// Returns false if `limit` ends first.
    pub(crate) async fn until(&self, limit: Duration, enough: impl Fn(&[RefereeLine]) -> bool) -> bool {
        let mut said = self.said.subscribe();
        timeout(limit, said.wait_for(|said| enough(said))).await.is_ok_and(|seen| seen.is_ok())
    }
}

pub(crate) fn about(call: &Call) -> Option<&MatchId> {
    if let Call::GameInvitation(said) = call {
        Some(&said.match_id)
    } else if let Call::ChooseParity(said) = call {
        Some(&said.match_id)
    } else if let Call::MakeMove(said) = call {
        Some(&said.match_id)
    } else if let Call::NotifyMatchResult(said) = call {
        Some(&said.match_id)
    } else if let Call::NotifyGameError(said) = call {
        said.match_id.as_ref()
    } else if let Call::ReportMatchResult(said) = call {
        Some(&said.match_id)
    } else {
        None
    }
}

pub(crate) fn nonce(side: Side) -> &'static str {
    match side {
        Side::A => "check-a",
        Side::B => "check-b",
    }
}

struct FakeAgent {
    role: Option<Side>,
    script: Arc<Script>,
}

impl FakeAgent {
    fn player(&self) -> PlayerId {
        PlayerId::numbered(if self.role == Some(Side::B) { 2 } else { 1 })
    }

    async fn wait_for_other(&self, match_id: &MatchId, method: Method) {
        let other = self.role.map(Side::other);
        let asked = |line: &RefereeLine| {
            line.to == other && line.call.method() == method && about(&line.call) == Some(match_id)
        };
        self.script.until(TOGETHER, |said| said.iter().any(asked)).await;
    }

    fn act(&self, match_id: &MatchId) -> ChoiceBehaviour {
        let place = usize::from(self.role == Some(Side::B));
        self.script.acts().get(match_id).map_or(ChoiceBehaviour::Plays, |acts| acts[place])
    }
}

impl Agent for FakeAgent {
    type Call = Call;

    fn role(&self) -> Role {
        if self.role.is_some() { Role::Player } else { Role::Manager }
    }

    fn envelope(&self, echo: Option<ConversationId>) -> Envelope {
        Envelope {
            sender: if self.role.is_some() { Sender::player(&self.player()) } else { Sender::manager() },
            timestamp: self.script.environment.now(),
            conversation_id: echo.unwrap_or_else(|| ConversationId::named("conv-check")),
            auth_token: None,
        }
    }

    async fn call(&self, arrived: IncomingCall) -> Result<CallAnswer, RequestError> {
        let IncomingCall { call, head, quirks, .. } = arrived;
        let mut envelope = Agent::envelope(self, head.conversation_id.as_good().cloned());
        let method = call.method();
        let line = RefereeLine { to: self.role, call: call.clone(), head, quirks, at: Instant::now() };
        self.script.said.send_modify(|said| said.push(line));
        if let Call::GameInvitation(invitation) = &call {
            self.wait_for_other(&invitation.match_id, method).await;
            self.script.at_the_gate().await;
            let nonce = self.role.and_then(|side| nonce(side).parse().ok());
            let join = GameJoinAck {
                match_id: Some(invitation.match_id.clone()),
                player_id: Some(self.player()),
                arrival_timestamp: Some(self.script.environment.now()),
                accept: Some(self.act(&invitation.match_id) != ChoiceBehaviour::Declines),
                draw_nonce: nonce,
                reason: None,
            };
            return CallAnswer::new(envelope, &join);
        }
        let asked = if let Call::ChooseParity(asked) = &call {
            self.wait_for_other(&asked.match_id, method).await;
            Some(MoveRequest::from(asked.clone()))
        } else if let Call::MakeMove(asked) = &call {
            Some(MoveRequest::from(asked.clone()))
        } else {
            None
        };
        if let Some(MoveRequest { match_id, legal_moves, .. }) = asked {
            let text = match self.act(&match_id) {
                ChoiceBehaviour::Says(text) => SmolStr::new_static(text),
                ChoiceBehaviour::Plays | ChoiceBehaviour::Declines => {
                    legal_moves.into_iter().next().unwrap_or_default()
                }
                ChoiceBehaviour::Silent => std::future::pending().await,
            };
            let parity_choice = (method == Method::ChooseParity).then(|| text.clone());
            let played = parity_choice.is_none().then_some(text);
            let choice = PostedChoice { match_id, player_id: Some(self.player()), parity_choice, choice: None, played };
            return CallAnswer::new(envelope, &choice);
        }
        if let Call::RegisterReferee(_) = &call {
            envelope.auth_token = Some(Credential::new(self.script.token.reveal()));
            let admitted = RegisterResponse {
                status: RegistrationStatus::Accepted,
                player_id: None,
                referee_id: Some(RefereeId::numbered(1)),
                league_id: self.script.league.clone(),
                reason: None,
                reason_code: None,
                error_code: None,
                pass_scheme: Some(SmolStr::new_static(PASS_SCHEME)),
                warnings: Vec::new(),
            };
            return CallAnswer::new(envelope, &admitted);
        }
        if let Call::ReportMatchResult(report) = &call {
            let counted = MatchResultAck {
                status: SmolStr::new_static("ACCEPTED"),
                match_id: report.match_id.clone(),
                round_id: report.round_id,
                duplicate: false,
            };
            return CallAnswer::new(envelope, &counted);
        }
        if self.role.is_none() {
            return Err(RequestError::new(ErrorCode::E010, method, "this manager exists only to check a referee"));
        }
        CallAnswer::new(envelope, &Acknowledgement::of_player(self.player()))
    }

    fn health(&self) -> Health {
        let state = String::from("checking");
        Health { status: "ok", role: Agent::role(self), id: None, league_id: None, state }
    }
}
