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

use super::{Exam, Member};
use crate::check_log::{Judgement, ensure};
use crate::discovery::{self, Asked};
use crate::messages::{TestMessage, rpc};
use crate::response::{NoResponse, Response, ResponseBody};
use crate::rules::manager as rules;

fn registering(player_meta: AgentMeta) -> Call {
    let request = LeagueRegisterRequest { player_meta, player_id: None, join_key: None, quirks: Quirks::default() };
    Call::RegisterPlayer(request)
}

impl Exam<'_> {
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
        }
    }

    fn player(&self, player_meta: AgentMeta) -> TestMessage {
        let sender = format!("player:{}", player_meta.display_name);
        self.letter(&sender, None, &registering(player_meta))
    }

    pub(super) async fn let_in(&self) -> Result<Member, String> {
        let meta = self.meta("one", 1);
        let sender = Sender::unregistered(Role::Player, &meta.display_name);
        let asked = Asked { envelope: Envelope { sender, ..self.envelope(None) }, call: registering(meta) };
        let answers = |came: &ResponseBody| {
            let said = ParsedAnswer::parse(&came.body).map(|layers| layers.registration().answer);
            matches!(said, Ok(RegistrationAnswer::Accepted { .. } | RegistrationAnswer::Rejected { .. }))
        };
        let (voice, heard) = discovery::answer(self.line, &asked, self.limit, answers).await;
        self.voice.get_or_init(|| voice);
        match &heard.came {
            Err(NoResponse::Broken(why)) => {
                self.book.judge(&rules::REACHABLE, &heard, Err(why.clone()));
                return Err(format!(
                    "No agent answers at {} ({why}).\nStart the manager first, and give the URL at which it listens.",
                    self.line.endpoint
                ));
            }
            Ok(_) | Err(NoResponse::TimedOut(_) | NoResponse::TooLong) => {
                self.book.judge(&rules::REACHABLE, &heard, Ok(()));
            }
        }
        let outcome = admission(&heard);
        match &outcome {
            Ok(member) => {
                self.book.judge(&rules::OPEN, &heard, ensure(!member.id.is_empty(), "there is no player_id"));
                self.judge_envelope(&heard);
                self.judge_token(&heard, member);
            }
            Err(why) => {
                self.book.judge(&rules::OPEN, &heard, Err(why.clone()));
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

    fn judge_envelope(&self, heard: &Response) {
        let message = heard.message();
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
        self.book.judge(&rules::ENVELOPE, heard, judgement);
        let id = heard.json().is_some_and(|answer| answer.get("id").is_some_and(Value::is_u64));
        self.book.judge(&rules::ID, heard, ensure(id, "the id is not that of the request"));
    }

    fn judge_token(&self, heard: &Response, member: &Member) {
        self.book.judge(&rules::TOKEN, heard, ensure(!member.token.is_empty(), "there is no auth_token"));
        if member.token.is_empty() {
            return self.book.skip(&rules::TOKEN_FORM, "there is no token");
        }
        let secret = member.token.strip_prefix(&format!("tok-{}-", member.id));
        let url_safe = |secret: &str| secret.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        let formed = secret.is_some_and(|secret| secret.len() == 43 && url_safe(secret));
        self.book.judge(&rules::TOKEN_FORM, heard, ensure(formed, "the token has another form"));
    }

    pub(super) async fn registrations(&self) {
        tokio::join!(self.bare(), self.alias(), self.duplicate(), self.unusable(), self.malformed());
    }

    pub(super) async fn referee(&self) -> Option<Member> {
        let referee_meta = AgentMeta { max_concurrent_matches: Some(1), ..self.meta("referee", 2) };
        let sender = format!("referee:{}", referee_meta.display_name);
        let request =
            RefereeRegisterRequest { referee_meta, referee_id: None, join_key: None, quirks: Quirks::default() };
        let heard = self.say(&self.letter(&sender, None, &Call::RegisterReferee(request))).await;
        let referee = admission(&heard);
        let named = referee
            .as_ref()
            .map_err(Clone::clone)
            .and_then(|referee| ensure(!referee.id.is_empty(), "there is no referee_id"));
        self.book.judge(&rules::REFEREE, &heard, named);
        referee.ok()
    }

    async fn bare(&self) {
        let letter = self.player(self.meta("bare", 3));
        let meta = letter.message.get("player_meta").cloned().unwrap_or_default();
        let heard = self.post(&rpc("register_player", &json!({ "player_meta": meta }), self.line.next_id())).await;
        self.book.judge(&rules::BARE, &heard, admission(&heard).map(|_| ()));
    }

    async fn alias(&self) {
        let letter = self.player(self.meta("alias", 4));
        let name = letter.method.spelled(MethodSpelling::Alias(0));
        let heard = self.post(&rpc(name, &Value::Object(letter.message), self.line.next_id())).await;
        self.book.judge(&rules::ALIAS, &heard, admission(&heard).map(|_| ()));
    }

    async fn duplicate(&self) {
        let heard = self.say(&self.player(self.meta("one", 5))).await;
        self.book.judge(&rules::DUPLICATE, &heard, rejected(&heard));
    }

    async fn unusable(&self) {
        let mut meta = self.meta("nowhere", 6);
        meta.contact_endpoint = String::from("nowhere at all");
        let heard = self.say(&self.player(meta)).await;
        self.book.judge(&rules::BAD_ENDPOINT, &heard, not_let_in(&heard));
        let mut meta = self.meta("chess", 7);
        meta.game_types = "chess".parse().into_iter().collect();
        let heard = self.say(&self.player(meta)).await;
        self.book.judge(&rules::OTHER_GAME, &heard, not_let_in(&heard));
        let mut meta = self.meta("old", 8);
        meta.protocol_version = Some(SmolStr::new_static("1.0.0"));
        let heard = self.say(&self.player(meta)).await;
        self.refused_with(&rules::OLD_VERSION, &heard, "E018");
    }

    async fn malformed(&self) {
        let nameless = json!({ "player_meta": { "display_name": format!("Checker {} lost", self.mark) } });
        let heard = self.post(&rpc("register_player", &nameless, self.line.next_id())).await;
        self.book.judge(&rules::MALFORMED, &heard, not_let_in(&heard));
    }

    pub(super) async fn again(&self, member: &Member) {
        let heard = self.say(&self.player(self.meta("one", 1))).await;
        let again = match admission(&heard) {
            Err(why) => {
                self.book.judge(&rules::AGAIN, &heard, Err(why));
                return self.book.skip(&rules::FRESH_TOKEN, "it was not let in again");
            }
            Ok(again) => again,
        };
        let same = ensure(again.id == member.id, format!("first {}, then {}", member.id, again.id));
        self.book.judge(&rules::AGAIN, &heard, same);
        let asked = self.query(&again, "GET_STATUS").await;
        let works = ensure(asked.is_success(), "it does not work");
        let fresh = ensure(again.token != member.token, "it is the same token");
        self.book.judge(&rules::FRESH_TOKEN, &asked, fresh.and(works));
    }
}

fn admission(heard: &Response) -> Result<Member, String> {
    if let Err(silence) = &heard.came {
        return Err(silence.to_string());
    }
    let layers = ParsedAnswer::parse(heard.body()).map_err(|error| error.to_string())?;
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

fn not_let_in(heard: &Response) -> Judgement {
    match &heard.came {
        Err(silence) => Err(silence.to_string()),
        Ok(_) => ensure(admission(heard).is_err(), "it is let in"),
    }
}

fn rejected(heard: &Response) -> Judgement {
    not_let_in(heard)?;
    let message: Map<String, Value> = heard.message();
    let word = message.get("status").and_then(Value::as_str) == Some("REJECTED");
    let reason = message.get("reason").and_then(Value::as_str).is_some_and(|reason| !reason.is_empty());
    ensure(word && reason, "there is no status REJECTED with a reason")
}
