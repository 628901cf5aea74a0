//! A league from end to end in bytes, without sockets: season, match machine and player sessions. Passes are on, and the referee
//! proves every draw to both players.

use std::time::Duration;

use league_protocol::answer::{JoinAnswer, MoveAnswer, ParsedAnswer, token_quirk};
use league_protocol::dialect::PeerDialect;
use league_protocol::draw::DrawSecret;
use league_protocol::envelope::Envelope;
use league_protocol::id::{ConversationId, RoundId};
use league_protocol::message::start_match::{MatchMode, StartMatch};
use league_protocol::parity::Parity;
use league_protocol::request::{Incoming, read};
use league_protocol::sender::Sender;
use league_protocol::side::Side;
use league_protocol::table::{Call, Method};
use league_protocol::token::{Credential, Token};
use serde::Serialize;
use serde_json::{Value, json};

use super::*;
use crate::game_match::MatchMachine;
use crate::game_match::effect::Effect;
use crate::game_match::input::{CallFailure, Input, ReportDelivery};
use crate::game_match::messages::{MatchMessages, terms};
use crate::rules::registry::new_game;
use crate::season::agent::AgentId;
use crate::season::{LeaguePhase, NextAction};
use crate::session::{DrawCheck, History, PlayerIdentity, PlayerSession, SessionState};

/// Bets on the parity of its own number.
struct Player {
    session: PlayerSession,
    number: u32,
    /// It does not answer calls for a choice.
    silent: bool,
}

impl Player {
    /// Reads a request, passes it to the session and writes the answer.
    #[expect(clippy::wildcard_enum_match_arm, reason = "any other call to a player is wrong here")]
    fn receive(&mut self, body: &[u8]) -> Vec<u8> {
        fn json<T: Serialize>(answer: Result<T, RequestError>) -> Value {
            serde_json::to_value(answer.unwrap()).unwrap()
        }
        let Incoming::Call(request) = read(body).unwrap() else { panic!("not a call") };
        let (session, head) = (&mut self.session, &request.head);
        let (match_id, answer) = match &request.call {
            Call::NotifyRound(round) => (None, json(session.round_announced(head, round))),
            Call::GameInvitation(invitation) => {
                let nonce = format!("nonce of {}", self.number).parse().unwrap();
                (Some(&invitation.match_id), json(session.invited(head, invitation, nonce, now())))
            }
            Call::ChooseParity(call) => {
                let asked = session.move_requested(head, call.clone().into()).unwrap().asked();
                let parity = Parity::of(u8::try_from(self.number).unwrap());
                let chosen = session.move_chosen(head, &asked, parity.as_str().into()).unwrap().played;
                let answer = json!({ "match_id": call.match_id, "player_id": p(self.number), "parity_choice": chosen });
                (Some(&call.match_id), answer)
            }
            Call::NotifyMatchResult(over) => {
                (Some(&over.match_id), json(session.match_over(head, over).map(|outcome| outcome.acknowledgement)))
            }
            Call::NotifyGameError(error) => {
                (error.match_id.as_ref(), json(session.game_error(head, error.match_id.as_ref())))
            }
            Call::UpdateStandings(update) => (None, json(session.standings_updated(head, update))),
            Call::NotifyRoundCompleted(round) => (None, json(session.round_completed(head, round))),
            Call::NotifyLeagueCompleted(end) => (None, json(session.league_completed(head, end))),
            other => panic!("a player of Even/Odd does not answer {:?}", other.method()),
        };
        let identity = session.identity().unwrap();
        let envelope = Envelope {
            sender: Sender::player(&identity.player_id),
            timestamp: now(),
            conversation_id: head.conversation_id.as_good().cloned().unwrap(),
            auth_token: match_id.and_then(|match_id| identity.own_pass(match_id)).map(Credential::from),
        };
        let mut out = Vec::new();
        request.reply_to().answer(&envelope, &answer, &mut out).unwrap();
        out
    }
}

struct PlayedLeague {
    league: League,
    players: Vec<Player>,
    referee_token: Token,
}

fn written(envelope: &Envelope, call: &Call) -> Vec<u8> {
    let mut body = Vec::new();
    PeerDialect::default().write(1, envelope, call, &mut body).unwrap();
    body
}

impl PlayedLeague {
    fn of(count: u32, silent: Option<u32>) -> Self {
        let mut league = League::open();
        let referee_token = league.admit_referee(&referee(1, 8)).token;
        let join = |number: u32| {
            let (token, league_id) = (Some(league.admit(&player(number)).token), Some(config().league_id));
            let mut session = PlayerSession::new(format_smolstr!("Player {number}"), History::default());
            session.registered(PlayerIdentity { player_id: p(number), league_id, token, passes: true, former: vec![] });
            Player { session, number, silent: silent == Some(number) }
        };
        let players = (1..=count).map(join).collect();
        league.start();
        let mut played = Self { league, players, referee_token };
        while played.league.season.phase() == LeaguePhase::RunningLeague {
            played.play_round();
        }
        played
    }

    /// Sends a notice of the manager to all players, each with its own pass.
    fn notify(&mut self, call: fn(Value) -> Call, notice: Value) {
        let call = call(notice);
        for player in &mut self.players {
            let grant = &self.league.season.player(&p(player.number)).unwrap().grant;
            let envelope = Envelope {
                sender: Sender::manager(),
                timestamp: now(),
                conversation_id: ConversationId::named("conv-notice"),
                auth_token: Some(grant.digest.manager_pass(&config().league_id).into()),
            };
            player.receive(&written(&envelope, &call));
        }
    }

    fn play_round(&mut self) {
        if let NextAction::StartRound(_) = self.league.season.next_action() {
            self.league.start_round();
        }
        let (round, league_id) = (self.league.season.current_round().unwrap(), config().league_id);
        let assigned = self.league.assign();
        let matches = self.league.season.announced(round, false);
        let announcement = json!({ "league_id": league_id, "round_id": round, "matches": matches });
        self.notify(|notice| Call::NotifyRound(serde_json::from_value(notice).unwrap()), announcement);
        for assignment in &assigned {
            self.play(assignment);
        }
        let standings = self.league.season.standings();
        let update = json!({ "league_id": league_id, "round_id": round, "standings": standings });
        self.notify(|notice| Call::UpdateStandings(serde_json::from_value(notice).unwrap()), update);
        let next = (self.league.season.phase() == LeaguePhase::RunningLeague).then_some(RoundId(round.0 + 1));
        let completed = json!({ "league_id": league_id, "round_id": round, "next_round_id": next });
        self.notify(|notice| Call::NotifyRoundCompleted(serde_json::from_value(notice).unwrap()), completed);
        if next.is_none() {
            let end = json!({ "league_id": league_id, "final_standings": standings });
            self.notify(|notice| Call::NotifyLeagueCompleted(serde_json::from_value(notice).unwrap()), end);
        }
    }

    fn play(&mut self, assignment: &Assignment) {
        let ordered = self.league.season.order(assignment, MatchMode::Flowing, None).unwrap();
        let order: StartMatch = serde_json::from_str(&serde_json::to_string(&ordered).unwrap()).unwrap();
        let secret = DrawSecret([u8::try_from(order.round_id.unwrap().0).unwrap(); 32]);
        let mut match_machine = MatchMachine::new(terms(&order, secret, [0; 32]), new_game(&order.game_type).unwrap());
        let (commitment, mut effects) = (match_machine.commitment(), Vec::new());
        match_machine.handle(Input::Start, &mut effects);
        while !effects.is_empty() {
            let effect = effects.remove(0);
            let match_messages = MatchMessages::new(&match_machine, &order, &assignment.referee, commitment);
            if let Some(input) = self.perform(&match_messages, &order, effect) {
                match_machine.handle(input, &mut effects);
            }
        }
        assert!(match_machine.is_done());
        let match_messages = MatchMessages::new(&match_machine, &order, &assignment.referee, commitment);
        self.report(&match_messages, &match_machine);
    }

    fn player(&mut self, order: &StartMatch, side: Side) -> &mut Player {
        let number = order.players[side].player_id.number().unwrap();
        &mut self.players[number as usize - 1]
    }

    fn perform(&mut self, match_messages: &MatchMessages<'_>, order: &StartMatch, effect: Effect) -> Option<Input> {
        if let Effect::AskMove { side, call, .. } = effect
            && self.player(order, side).silent
        {
            return Some(Input::Failed { side, call, fault: CallFailure::TimedOut });
        }
        let match_id = &order.match_id;
        let mut send = |side: Side, call: &Call| {
            self.player(order, side).receive(&written(&match_messages.envelope(side, now()), call))
        };
        let check_token = |token: Option<&Credential>, side: Side| {
            let expected = order.players[side].player_pass.as_ref().unwrap();
            assert_eq!(token_quirk(token, expected, order.league_id.as_ref().unwrap(), match_id), None);
        };
        Some(match effect {
            Effect::Invite { side, call, .. } => {
                let answer = send(side, &Call::GameInvitation(match_messages.invitation(side)));
                let reading = ParsedAnswer::parse(&answer).unwrap().join(match_id);
                check_token(reading.token.as_ref(), side);
                assert!(reading.quirks.is_empty(), "{:?}", reading.quirks);
                let JoinAnswer::Joined { nonce } = reading.answer else { panic!("{:?}", reading.answer) };
                Input::Joined { side, call: Some(call), nonce, signature: reading.signature }
            }
            Effect::AskMove { side, call, limit, .. } => {
                let answer = send(side, &match_messages.ask(side, now(), limit));
                let reading = ParsedAnswer::parse(&answer).unwrap().parity(match_id);
                check_token(reading.token.as_ref(), side);
                assert!(reading.quirks.is_empty(), "{:?}", reading.quirks);
                let MoveAnswer::Move(text) = reading.answer else { panic!("{:?}", reading.answer) };
                Input::Moved { side, call: Some(call), text, signature: reading.signature }
            }
            Effect::SendError { side, ask, attempt_error, tries_made, tries_allowed, pause } => {
                let next = now().after(pause.max(Duration::from_secs(1)));
                let error = match_messages.error(side, ask, &attempt_error, (tries_made, tries_allowed), next);
                send(side, &Call::NotifyGameError(error));
                return None;
            }
            Effect::Pause { side, call, .. } => Input::PauseOver { side, call },
            Effect::SendGameOver { side, call, .. } => {
                let over = Call::NotifyMatchResult(match_messages.over(side).unwrap());
                // Twice, as after a lost acknowledgement.
                send(side, &over);
                send(side, &over);
                Input::GameOverSent { side, call }
            }
            Effect::Report => Input::Reported(ReportDelivery::Accepted),
        })
    }

    fn report(&mut self, match_messages: &MatchMessages<'_>, match_machine: &MatchMachine) {
        let auth_token = Some(self.referee_token.clone().into());
        let envelope = Envelope { auth_token, ..match_messages.envelope(Side::A, now()) };
        let body = written(&envelope, &Call::ReportMatchResult(match_messages.report().unwrap()));
        let Incoming::Call(request) = read(&body).unwrap() else { panic!("not a call") };
        request.check(true).unwrap();
        let token = request.head.token(Method::ReportMatchResult).unwrap();
        let season = &self.league.season;
        let sender = season.authenticate(token, Method::ReportMatchResult, now()).unwrap();
        let (AgentId::Referee(referee), Call::ReportMatchResult(report)) = (sender, &request.call) else {
            panic!("not a report of a referee")
        };
        let record = season.read_report(report).unwrap();
        assert_eq!(record, MatchRecord::of(match_machine, match_machine.ending().unwrap()));
        let counted = season.report(&referee, &report.match_id, report.attempt, record, now()).unwrap();
        assert_eq!(self.league.enact(counted), ReportOutcome::Now);
    }

    /// Compares every player's own record with the season's.
    fn check_players(&self) {
        for Player { session, number, .. } in &self.players {
            assert_eq!(session.history().record(), self.league.season.record_of(&p(*number)), "{number}");
            assert_eq!(session.state(), SessionState::LeagueComplete);
            let row = self.league.season.standings().into_iter().find(|row| row.player_id == p(*number)).unwrap();
            assert_eq!(session.player_state(None).rank, Some(row.rank));
        }
    }
}

#[test]
fn every_draw_of_a_league_is_proved_to_both_players() {
    for count in [2, 4, 5] {
        let played = PlayedLeague::of(count, None);
        played.check_players();
        for player in &played.players {
            let matches = player.session.history().matches();
            assert_eq!(matches.len(), count as usize - 1);
            assert!(matches.iter().all(|played| played.draw == DrawCheck::Proved), "{matches:?}");
            assert!(matches.iter().all(|played| played.drawn_number.is_some() && played.opponent_choice.is_some()));
        }
    }
}

#[test]
fn a_player_that_never_chooses_learns_that_it_loses_every_match() {
    let played = PlayedLeague::of(3, Some(2));
    played.check_players();
    let history = played.players[1].session.history();
    assert_eq!((history.record().losses, history.record().points), (2, 0));
    assert!(history.matches().iter().all(|played| played.draw == DrawCheck::Unproved && played.drawn_number.is_none()));
}
