//! Registration with the manager.

use league_protocol::answer::{ParsedAnswer, RegistrationAnswer};
use league_protocol::envelope::{Envelope, PROTOCOL};
use league_protocol::message::registration::{AgentMeta, LeagueRegisterRequest, RefereeRegisterRequest};
use league_protocol::quirk::Quirks;
use league_protocol::sender::{Role, Sender};
use league_protocol::table::{Call, MethodSpelling};
use league_protocol::time::Timestamp;
use serde_json::{Map, Value, json};
use smol_str::SmolStr;

use super::{ManagerCheck, Member};
use crate::check_log::{Judgement, ensure};
use crate::discovery::{self, Question};
use crate::messages::{TestMessage, rpc};
use crate::response::{NoResponse, Response, ResponseBody};
use crate::rules::manager as rules;

fn registering(player_meta: AgentMeta) -> Call {
    let request = LeagueRegisterRequest { player_meta, player_id: None, join_key: None, quirks: Quirks::default() };
    Call::RegisterPlayer(request)
}

impl ManagerCheck<'_> {
    fn meta(&self, kind: &str, port: u16) -> AgentMeta {
        AgentMeta {
            display_name: SmolStr::new(format!("Checker {} {kind}", self.mark)),
            version: SmolStr::new_static("1.0.0"),
            protocol_version: Some(SmolStr::new_static("2.1.0")),
            game_types: vec![self.game.clone()],
            contact_endpoint: format!("http://127.0.0.1:{port}/mcp"),
            max_concurrent_matches: None,
            pass_scheme: None,
            accepts_batches: false,
            signs_moves: false,
            pulls: false,
        }
    }

    fn player(&self, player_meta: AgentMeta) -> TestMessage {
        let sender = format!("player:{}", player_meta.display_name);
        self.message(&sender, None, &registering(player_meta))
    }

    pub(super) async fn register_player(&self) -> Result<Member, String> {
        let meta = self.meta("one", 1);
        let sender = Sender::unregistered(Role::Player, &meta.display_name);
        let question = Question { envelope: Envelope { sender, ..self.envelope(None) }, call: registering(meta) };
        let answers = |answer: &ResponseBody| {
            let registration = ParsedAnswer::parse(&answer.body).map(|layers| layers.registration().answer);
            matches!(registration, Ok(RegistrationAnswer::Accepted { .. } | RegistrationAnswer::Rejected { .. }))
        };
        let (dialect, response) = discovery::answer(self.client, &question, self.limit, answers).await;
        self.dialect.get_or_init(|| dialect);
        match &response.result {
            Err(NoResponse::Broken(why)) => {
                self.log.judge(&rules::REACHABLE, &response, Err(why.clone()));
                return Err(format!(
                    "No agent answers at {} ({why}).\nStart the manager first, and give the URL at which it listens.",
                    self.client.endpoint
                ));
            }
            Ok(_) | Err(NoResponse::TimedOut(_) | NoResponse::TooLong) => {
                self.log.judge(&rules::REACHABLE, &response, Ok(()));
            }
        }
        let outcome = admission(&response);
        match &outcome {
            Ok(member) => {
                self.log.judge(&rules::OPEN, &response, ensure(!member.id.is_empty(), "there is no player_id"));
                self.judge_envelope(&response);
                self.judge_token(&response, member);
            }
            Err(why) => {
                self.log.judge(&rules::OPEN, &response, Err(why.clone()));
                return Err(format!(
                    "The manager does not let a player in: {why}.\n\
                     Without a token hardly anything can be checked. Check it while its registration is open, and has places free."
                ));
            }
        }
        match &outcome {
            Ok(member) if member.token.is_empty() => {
                Err(String::from("Without a token nothing can be asked of this manager, so nothing else can be seen."))
            }
            Ok(_) | Err(_) => outcome,
        }
    }

    fn judge_envelope(&self, response: &Response) {
        let message = response.message();
        let is = |field: &str, value: &str| message.get(field).and_then(Value::as_str) == Some(value);
        let timed =
            message.get("timestamp").and_then(Value::as_str).is_some_and(|text| text.parse::<Timestamp>().is_ok());
        let missing = [
            ("protocol", is("protocol", PROTOCOL)),
            ("message_type", is("message_type", "LEAGUE_REGISTER_RESPONSE")),
            ("sender", message.get("sender").is_some_and(Value::is_string)),
            ("timestamp", timed),
            ("conversation_id", is("conversation_id", &format!("conv-check-{}", self.mark))),
        ];
        let wrong = missing.iter().find(|(_, right)| !right).map(|(field, _)| *field);
        let judgement = wrong.map_or(Ok(()), |field| Err(format!("{field} is missing or wrong")));
        self.log.judge(&rules::ENVELOPE, response, judgement);
        let id = response.json().is_some_and(|answer| answer.get("id").is_some_and(Value::is_u64));
        self.log.judge(&rules::ID, response, ensure(id, "the id is not that of the request"));
    }

    fn judge_token(&self, response: &Response, member: &Member) {
        self.log.judge(&rules::TOKEN, response, ensure(!member.token.is_empty(), "there is no auth_token"));
        if member.token.is_empty() {
            return self.log.skip(&rules::TOKEN_FORM, "there is no token");
        }
        let secret = member.token.strip_prefix(&format!("tok-{}-", member.id));
        let url_safe = |secret: &str| secret.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        let formed = secret.is_some_and(|secret| secret.len() == 43 && url_safe(secret));
        self.log.judge(&rules::TOKEN_FORM, response, ensure(formed, "the token has another form"));
    }

    pub(super) async fn registrations(&self) {
        tokio::join!(self.bare(), self.alias(), self.duplicate(), self.unusable(), self.malformed());
    }

    pub(super) async fn referee(&self) -> Option<Member> {
        let referee_meta = AgentMeta { max_concurrent_matches: Some(1), ..self.meta("referee", 2) };
        let sender = format!("referee:{}", referee_meta.display_name);
        let request = RefereeRegisterRequest {
            referee_meta,
            referee_id: None,
            join_key: None,
            draw_commitments: Vec::new(),
            quirks: Quirks::default(),
        };
        let response = self.send(&self.message(&sender, None, &Call::RegisterReferee(request))).await;
        let referee = admission(&response);
        let named = referee
            .as_ref()
            .map_err(Clone::clone)
            .and_then(|referee| ensure(!referee.id.is_empty(), "there is no referee_id"));
        self.log.judge(&rules::REFEREE, &response, named);
        referee.ok()
    }

    async fn bare(&self) {
        let message = self.player(self.meta("bare", 3));
        let meta = message.fields.get("player_meta").cloned().unwrap_or_default();
        let response = self.post(&rpc("register_player", &json!({ "player_meta": meta }), self.client.next_id())).await;
        self.log.judge(&rules::BARE, &response, admission(&response).map(|_| ()));
    }

    async fn alias(&self) {
        let message = self.player(self.meta("alias", 4));
        let name = message.method.spelled(MethodSpelling::Alias(0));
        let response = self.post(&rpc(name, &Value::Object(message.fields), self.client.next_id())).await;
        self.log.judge(&rules::ALIAS, &response, admission(&response).map(|_| ()));
    }

    async fn duplicate(&self) {
        let response = self.send(&self.player(self.meta("one", 5))).await;
        self.log.judge(&rules::DUPLICATE, &response, rejected(&response));
    }

    async fn unusable(&self) {
        let mut meta = self.meta("nowhere", 6);
        meta.contact_endpoint = String::from("nowhere at all");
        let response = self.send(&self.player(meta)).await;
        self.log.judge(&rules::BAD_ENDPOINT, &response, not_let_in(&response));
        let mut meta = self.meta("chess", 7);
        meta.game_types = "chess".parse().into_iter().collect();
        let response = self.send(&self.player(meta)).await;
        self.log.judge(&rules::OTHER_GAME, &response, not_let_in(&response));
        let mut meta = self.meta("old", 8);
        meta.protocol_version = Some(SmolStr::new_static("1.0.0"));
        let response = self.send(&self.player(meta)).await;
        self.refused_with(&rules::OLD_VERSION, &response, "E018");
    }

    async fn malformed(&self) {
        let nameless = json!({ "player_meta": { "display_name": format!("Checker {} lost", self.mark) } });
        let response = self.post(&rpc("register_player", &nameless, self.client.next_id())).await;
        self.log.judge(&rules::MALFORMED, &response, not_let_in(&response));
    }

    pub(super) async fn register_again(&self, member: &Member) {
        let response = self.send(&self.player(self.meta("one", 1))).await;
        let again = match admission(&response) {
            Err(why) => {
                self.log.judge(&rules::AGAIN, &response, Err(why));
                return self.log.skip(&rules::FRESH_TOKEN, "it was not let in again");
            }
            Ok(again) => again,
        };
        let same = ensure(again.id == member.id, format!("first {}, then {}", member.id, again.id));
        self.log.judge(&rules::AGAIN, &response, same);
        let status = self.query(&again, "GET_STATUS").await;
        let works = ensure(status.is_success(), "it does not work");
        let fresh = ensure(again.token != member.token, "it is the same token");
        self.log.judge(&rules::FRESH_TOKEN, &status, fresh.and(works));
    }
}

fn admission(response: &Response) -> Result<Member, String> {
    if let Err(error) = &response.result {
        return Err(error.to_string());
    }
    let layers = ParsedAnswer::parse(response.body()).map_err(|error| error.to_string())?;
    let reading = layers.registration();
    match reading.answer {
        RegistrationAnswer::Accepted { player_id, referee_id, league_id, .. } => {
            let id = player_id.map(|id| id.to_string()).or(referee_id.map(|id| id.to_string())).unwrap_or_default();
            let token = reading.token.map(|token| token.reveal().to_owned()).unwrap_or_default();
            Ok(Member { id, token, league: league_id })
        }
        RegistrationAnswer::Rejected { reason, .. } => Err(format!("it is REJECTED: {reason}")),
        RegistrationAnswer::Error(error) => Err(format!("it is answered with an error: {}", error.words)),
        RegistrationAnswer::Nothing => Err(String::from("the answer says nothing about the registration")),
    }
}

fn not_let_in(response: &Response) -> Judgement {
    match &response.result {
        Err(error) => Err(error.to_string()),
        Ok(_) => ensure(admission(response).is_err(), "it is let in"),
    }
}

fn rejected(response: &Response) -> Judgement {
    not_let_in(response)?;
    let message: Map<String, Value> = response.message();
    let is_rejected = message.get("status").and_then(Value::as_str) == Some("REJECTED");
    let reason = message.get("reason").and_then(Value::as_str).is_some_and(|reason| !reason.is_empty());
    ensure(is_rejected && reason, "there is no status REJECTED with a reason")
}
