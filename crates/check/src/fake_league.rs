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
use serde::Deserialize;
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
pub(crate) struct ReceivedCall {
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
    behaviours: Mutex<HashMap<MatchId, [ChoiceBehaviour; 2]>>,
    received: watch::Sender<Vec<ReceivedCall>>,
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
            behaviours: Mutex::default(),
            received: watch::Sender::new(Vec::new()),
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
    fn behaviours(&self) -> MutexGuard<'_, HashMap<MatchId, [ChoiceBehaviour; 2]>> {
        self.behaviours.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_behaviour(&self, match_id: &MatchId, behaviours: [ChoiceBehaviour; 2]) {
        self.behaviours().insert(match_id.clone(), behaviours);
    }

    pub(crate) fn open_gate(&self) {
        self.gate.send_replace(true);
    }

    async fn wait_at_gate(&self) {
        let mut gate = self.gate.subscribe();
        // The wait has a limit, so that a referee that answers START_MATCH only after the match is detected.
        drop(timeout(GATE, gate.wait_for(|open| *open)).await);
    }

    pub(crate) fn has_registered(&self) -> bool {
        has_registered(&self.received.borrow())
    }

    pub(crate) fn received(&self) -> Vec<ReceivedCall> {
        self.received.borrow().clone()
    }

    /// Returns false if `limit` ends first.
    pub(crate) async fn wait_until(&self, limit: Duration, enough: impl Fn(&[ReceivedCall]) -> bool) -> bool {
        let mut received = self.received.subscribe();
        timeout(limit, received.wait_for(|calls| enough(calls))).await.is_ok_and(|found| found.is_ok())
    }
}

pub(crate) fn has_registered(calls: &[ReceivedCall]) -> bool {
    calls.iter().any(|received| received.call.method() == Method::RegisterReferee)
}

/// `None` for a call that is not about a match.
pub(crate) fn match_id_of(call: &Call) -> Option<MatchId> {
    #[derive(Deserialize)]
    struct Body {
        match_id: Option<MatchId>,
    }
    let mut body = Vec::new();
    call.write_body(&mut body).ok()?;
    serde_json::from_slice::<Body>(&body).ok()?.match_id
}

pub(crate) fn nonce(side: Side) -> &'static str {
    if side == Side::A { "check-a" } else { "check-b" }
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
        let asked_other = |received: &ReceivedCall| {
            received.to == other
                && received.call.method() == method
                && match_id_of(&received.call).as_ref() == Some(match_id)
        };
        self.script.wait_until(TOGETHER, |calls| calls.iter().any(asked_other)).await;
    }

    fn behaviour(&self, match_id: &MatchId) -> ChoiceBehaviour {
        let place = usize::from(self.role == Some(Side::B));
        self.script.behaviours().get(match_id).map_or(ChoiceBehaviour::Plays, |behaviours| behaviours[place])
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
        let received = ReceivedCall { to: self.role, call: call.clone(), head, quirks, at: Instant::now() };
        self.script.received.send_modify(|calls| calls.push(received));
        if let Call::GameInvitation(invitation) = &call {
            self.wait_for_other(&invitation.match_id, method).await;
            self.script.wait_at_gate().await;
            let nonce = self.role.and_then(|side| nonce(side).parse().ok());
            let join = GameJoinAck {
                match_id: Some(invitation.match_id.clone()),
                player_id: Some(self.player()),
                arrival_timestamp: Some(self.script.environment.now()),
                accept: Some(self.behaviour(&invitation.match_id) != ChoiceBehaviour::Declines),
                draw_nonce: nonce,
                reason: None,
                signature: None,
            };
            return CallAnswer::new(envelope, &join);
        }
        let request = if let Call::ChooseParity(request) = &call {
            self.wait_for_other(&request.match_id, method).await;
            Some(MoveRequest::from(request.clone()))
        } else if let Call::MakeMove(request) = &call {
            Some(MoveRequest::from(request.clone()))
        } else {
            None
        };
        if let Some(MoveRequest { match_id, legal_moves, .. }) = request {
            let text = match self.behaviour(&match_id) {
                ChoiceBehaviour::Says(text) => SmolStr::new_static(text),
                ChoiceBehaviour::Plays | ChoiceBehaviour::Declines => {
                    legal_moves.into_iter().next().unwrap_or_default()
                }
                ChoiceBehaviour::Silent => std::future::pending().await,
            };
            let parity_choice = (method == Method::ChooseParity).then(|| text.clone());
            let played = parity_choice.is_none().then_some(text);
            let (player_id, choice, signature) = (Some(self.player()), None, None);
            let choice = PostedChoice { match_id, player_id, parity_choice, choice, played, signature };
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
                operator_needs_token: false,
                warnings: Vec::new(),
            };
            return CallAnswer::new(envelope, &admitted);
        }
        if let Call::ReportMatchResult(report) = &call {
            let counted = MatchResultAck {
                next_match: None,
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
