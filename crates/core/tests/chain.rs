//! A league from end to end in bytes, without sockets: season, match machine and player sessions. Passes are on, and the referee
//! proves every draw to both players.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic, and so may what helps it")]
#![expect(clippy::wildcard_enum_match_arm, reason = "whatever else a player could be asked is wrong here")]

use std::time::Duration;

use league_core::game_match::MatchMachine;
use league_core::game_match::effect::Effect;
use league_core::game_match::input::{CallFailure, Input};
use league_core::game_match::messages::{MatchMessages, terms};
use league_core::record::MatchRecord;
use league_core::rules::registry::new_game;
use league_core::season::agent::AgentId;
use league_core::season::config::LeagueConfig;
use league_core::season::event::Event;
use league_core::season::{Assignment, LeaguePhase, NextAction, Registered, ReportOutcome, Season};
use league_core::session::{DrawCheck, History, PlayerIdentity, PlayerSession, SessionState};
use league_protocol::answer::{JoinAnswer, MoveAnswer, ParsedAnswer, token_quirk};
use league_protocol::dialect::PeerDialect;
use league_protocol::draw::{DrawNonce, DrawSecret};
use league_protocol::envelope::Envelope;
use league_protocol::error::RequestError;
use league_protocol::id::{ConversationId, GameType, MatchId, PlayerId, RoundId};
use league_protocol::message::choice::ChooseParityResponse;
use league_protocol::message::registration::{AgentMeta, LeagueRegisterRequest, RefereeRegisterRequest};
use league_protocol::message::round::{LeagueCompleted, RoundAnnouncement, RoundCompleted};
use league_protocol::message::standings::StandingsUpdate;
use league_protocol::message::start_match::{MatchMode, StartMatch};
use league_protocol::parity::Parity;
use league_protocol::quirk::Quirks;
use league_protocol::request::{Incoming, Request, read};
use league_protocol::sender::Sender;
use league_protocol::side::Side;
use league_protocol::table::{Call, Method};
use league_protocol::time::Timestamp;
use league_protocol::token::{Credential, Token};
use serde::Serialize;

const NOW: Timestamp = Timestamp::EPOCH;

/// Bets on the parity of its own number.
struct Player {
    seat: PlayerSession,
    number: u32,
    /// It does not answer calls for a choice.
    mute: bool,
}

impl Player {
    /// Reads a request, passes it to the session and writes the answer.
    fn posted(&mut self, body: &[u8]) -> Result<Vec<u8>, RequestError> {
        let Incoming::Call(request) = read(body).unwrap() else { panic!("not a call") };
        let (seat, head) = (&mut self.seat, &request.head);
        Ok(match &request.call {
            Call::NotifyRound(round) => {
                let heard = seat.round_announced(head, round)?;
                self.answer(&request, None, &heard)
            }
            Call::GameInvitation(invitation) => {
                let nonce: DrawNonce = format!("nonce of {}", self.number).parse().unwrap();
                let join = seat.invited(head, invitation, nonce, NOW)?;
                self.answer(&request, Some(&invitation.match_id), &join)
            }
            Call::ChooseParity(call) => {
                let (match_id, method) = (call.match_id.clone(), Method::ChooseParity);
                let player_id = seat.identity().unwrap().player_id.clone();
                seat.asked(head, call.clone().into())?;
                let parity = Parity::of(u8::try_from(self.number).unwrap());
                let played = seat.answered(&match_id, method, parity.as_str().into())?;
                let parity_choice = Parity::exact(&played).unwrap();
                let choice = ChooseParityResponse { match_id: match_id.clone(), player_id, parity_choice };
                self.answer(&request, Some(&match_id), &choice)
            }
            Call::NotifyMatchResult(over) => {
                let heard = seat.over(head, over)?;
                self.answer(&request, Some(&over.match_id), &heard.acknowledgement)
            }
            Call::NotifyGameError(error) => {
                let heard = seat.game_error(head, error.match_id.as_ref())?;
                self.answer(&request, error.match_id.as_ref(), &heard)
            }
            Call::UpdateStandings(update) => {
                let heard = seat.standings_updated(head, update)?;
                self.answer(&request, None, &heard)
            }
            Call::NotifyRoundCompleted(round) => {
                let heard = seat.round_completed(head, round)?;
                self.answer(&request, None, &heard)
            }
            Call::NotifyLeagueCompleted(end) => {
                let heard = seat.league_completed(head, end)?;
                self.answer(&request, None, &heard)
            }
            other => panic!("a player of Even/Odd is not asked for {:?}", other.method()),
        })
    }

    fn answer<B: Serialize>(&self, request: &Request<'_>, match_id: Option<&MatchId>, body: &B) -> Vec<u8> {
        let identity = self.seat.identity().unwrap();
        let envelope = Envelope {
            sender: Sender::player(&identity.player_id),
            timestamp: NOW,
            conversation_id: request.head.conversation_id.as_good().cloned().unwrap(),
            auth_token: match_id.and_then(|match_id| identity.own_pass(match_id)).map(Credential::from),
        };
        let mut out = Vec::new();
        request.reply_to().answer(&envelope, body, &mut out).unwrap();
        out
    }
}

struct League {
    season: Season,
    players: Vec<Player>,
    referee_token: Token,
}

fn meta(name: String, port: u32, max_concurrent_matches: Option<u32>) -> AgentMeta {
    AgentMeta {
        display_name: name.into(),
        version: "1.0.0".into(),
        protocol_version: None,
        game_types: vec![GameType::even_odd()],
        contact_endpoint: format!("http://localhost:{port}/mcp"),
        max_concurrent_matches,
        pass_scheme: None,
        accepts_batches: false,
    }
}

fn admitted(registered: Registered) -> (AgentId, Token) {
    match registered {
        Registered::Admitted(admitted) => (admitted.id, admitted.token),
        Registered::Rejected(rejection) => panic!("{}", rejection.reason),
    }
}

impl League {
    fn of(count: u32) -> Self {
        let league: league_protocol::id::LeagueId = "league_2025_even_odd".parse().unwrap();
        let (season, _) = Season::open(LeagueConfig::even_odd(league.clone()), NOW);
        let quirks = Quirks::default();
        let referee_meta = meta("Referee".into(), 8001, Some(8));
        let referee = RefereeRegisterRequest { referee_meta, referee_id: None, join_key: None, quirks };
        let ruling = season.register_referee(&referee, None, &[99; 32], NOW).unwrap();
        let (_, referee_token) = admitted(ruling.reply);
        let mut made = Self { season, players: Vec::new(), referee_token };
        made.enact(&ruling.events);
        for number in 1..=count {
            let player_meta = meta(format!("Agent {number}"), 8100 + number, None);
            let request = LeagueRegisterRequest { player_meta, player_id: None, join_key: None, quirks };
            let random = [u8::try_from(number).unwrap(); 32];
            let ruling = made.season.register_player(&request, None, &random, NOW).unwrap();
            made.enact(&ruling.events);
            let (AgentId::Player(player_id), token) = admitted(ruling.reply) else { panic!("not a player") };
            let mut seat = PlayerSession::new(format!("Agent {number}").into(), History::default());
            seat.registering();
            let league_id = Some(league.clone());
            seat.registered(PlayerIdentity {
                player_id,
                league_id,
                token: Some(token),
                passes: true,
                former: Vec::new(),
            });
            made.players.push(Player { seat, number, mute: false });
        }
        let events = made.season.start(NOW).unwrap().events;
        made.enact(&events);
        made
    }

    fn enact(&mut self, events: &[Event]) {
        events.iter().for_each(|event| self.season.apply(event).unwrap());
    }

    fn player(&mut self, id: &PlayerId) -> &mut Player {
        let number = id.number().unwrap();
        self.players.iter_mut().find(|player| player.number == number).unwrap()
    }

    /// The manager tells all players, each with its own pass.
    fn tell_all(&mut self, call: &Call) {
        for player in &mut self.players {
            let id = player.seat.identity().unwrap().player_id.clone();
            let grant = &self.season.player(&id).unwrap().grant;
            let envelope = Envelope {
                sender: Sender::manager(),
                timestamp: NOW,
                conversation_id: ConversationId::named("conv-notice"),
                auth_token: Some(grant.digest.manager_pass(&self.season.config().league_id).into()),
            };
            let mut body = Vec::new();
            PeerDialect::default().write(1, &envelope, call, &mut body).unwrap();
            player.posted(&body).unwrap();
        }
    }

    fn play_round(&mut self) {
        if let NextAction::StartRound(_) = self.season.next_action() {
            let events = self.season.start_round(NOW).unwrap().events;
            self.enact(&events);
        }
        let round_id = self.season.current_round().unwrap();
        let assigned = self.season.assign(NOW);
        self.enact(&assigned.events);
        let league_id = Some(self.season.config().league_id.clone());
        let matches = self.season.announced(round_id, false);
        let announced = RoundAnnouncement {
            league_id: league_id.clone(),
            round_id,
            matches,
            total_matches: None,
            referees_show_passes: None,
            players: None,
            agents: None,
        };
        self.tell_all(&Call::NotifyRound(announced));
        for assignment in &assigned.reply {
            self.play(assignment);
        }
        let standings = self.season.standings();
        let update =
            StandingsUpdate { league_id: league_id.clone(), round_id: Some(round_id), standings, total_players: None };
        self.tell_all(&Call::UpdateStandings(update));
        let next = (self.season.phase() == LeaguePhase::RunningLeague).then_some(RoundId(round_id.0 + 1));
        let summary = self.season.summary(round_id);
        let end = RoundCompleted {
            league_id: league_id.clone(),
            round_id,
            matches_played: summary.total_matches,
            matches_completed: summary.total_matches,
            next_round_id: next,
            summary,
        };
        self.tell_all(&Call::NotifyRoundCompleted(end));
        if next.is_none() {
            let final_standings = self.season.standings().iter().map(Into::into).collect();
            let champion = self.season.champion();
            let end = LeagueCompleted {
                league_id,
                total_rounds: round_id.0,
                total_matches: 0,
                champion,
                final_standings,
                total_players: None,
            };
            self.tell_all(&Call::NotifyLeagueCompleted(end));
        }
    }

    fn play(&mut self, assignment: &Assignment) {
        let ordered = self.season.order(assignment, MatchMode::Flowing, None).unwrap();
        let order: StartMatch = serde_json::from_str(&serde_json::to_string(&ordered).unwrap()).unwrap();
        let secret = DrawSecret([u8::try_from(order.round_id.unwrap().0).unwrap(); 32]);
        let mut match_machine = MatchMachine::new(terms(&order, secret, [0; 32]), new_game(&order.game_type).unwrap());
        let (commitment, mut effects) = (match_machine.commitment(), Vec::new());
        match_machine.handle(Input::Start, &mut effects);
        while !effects.is_empty() {
            let effect = effects.remove(0);
            let match_messages = MatchMessages::new(&match_machine, &order, &assignment.referee, commitment);
            if let Some(input) = self.carry_out(&match_messages, &order, effect) {
                match_machine.handle(input, &mut effects);
            }
        }
        assert!(match_machine.is_done());
        let match_messages = MatchMessages::new(&match_machine, &order, &assignment.referee, commitment);
        self.report(&match_messages, &match_machine);
    }

    fn call(&mut self, match_messages: &MatchMessages<'_>, order: &StartMatch, side: Side, call: &Call) -> Vec<u8> {
        let mut body = Vec::new();
        PeerDialect::default().write(1, &match_messages.envelope(side, NOW), call, &mut body).unwrap();
        self.player(&order.players[side].player_id).posted(&body).unwrap()
    }

    fn carry_out(&mut self, match_messages: &MatchMessages<'_>, order: &StartMatch, effect: Effect) -> Option<Input> {
        let match_id = &order.match_id;
        let known = |token: Option<&Credential>, side: Side| {
            let expected = order.players[side].player_pass.as_ref().unwrap();
            assert_eq!(token_quirk(token, expected, order.league_id.as_ref().unwrap(), match_id), None);
        };
        Some(match effect {
            Effect::Invite { side, call, .. } => {
                let answer =
                    self.call(match_messages, order, side, &Call::GameInvitation(match_messages.invitation(side)));
                let reading = ParsedAnswer::parse(&answer).unwrap().join(match_id);
                known(reading.token.as_ref(), side);
                assert!(reading.quirks.is_empty(), "{:?}", reading.quirks);
                let JoinAnswer::Joined { nonce } = reading.answer else { panic!("{:?}", reading.answer) };
                Input::Joined { side, call: Some(call), nonce }
            }
            Effect::AskMove { side, call, limit, .. } => {
                if self.player(&order.players[side].player_id).mute {
                    return Some(Input::Failed { side, call, fault: CallFailure::TimedOut });
                }
                let answer = self.call(match_messages, order, side, &match_messages.ask(side, NOW, limit));
                let reading = ParsedAnswer::parse(&answer).unwrap().parity(match_id);
                known(reading.token.as_ref(), side);
                assert!(reading.quirks.is_empty(), "{:?}", reading.quirks);
                let MoveAnswer::Move(text) = reading.answer else { panic!("{:?}", reading.answer) };
                Input::Moved { side, call: Some(call), text }
            }
            Effect::TellError { side, ask, complaint, tries_made, tries_allowed, pause } => {
                let next = NOW.after(pause.max(Duration::from_secs(1)));
                let error = match_messages.error(side, ask, &complaint, (tries_made, tries_allowed), next);
                self.call(match_messages, order, side, &Call::NotifyGameError(error));
                return None;
            }
            Effect::Pause { side, call, .. } => Input::PauseOver { side, call },
            Effect::TellOver { side, call, .. } => {
                let over = Call::NotifyMatchResult(match_messages.over(side).unwrap());
                // Twice, as after a lost acknowledgement.
                self.call(match_messages, order, side, &over);
                self.call(match_messages, order, side, &over);
                Input::Told { side, call }
            }
            Effect::Report => Input::Reported,
        })
    }

    fn report(&mut self, match_messages: &MatchMessages<'_>, match_machine: &MatchMachine) {
        let envelope =
            Envelope { auth_token: Some(self.referee_token.clone().into()), ..match_messages.envelope(Side::A, NOW) };
        let mut body = Vec::new();
        let call = Call::ReportMatchResult(match_messages.report().unwrap());
        PeerDialect::default().write(1, &envelope, &call, &mut body).unwrap();
        let Incoming::Call(request) = read(&body).unwrap() else { panic!("not a call") };
        request.check(true).unwrap();
        let token = request.head.token(Method::ReportMatchResult).unwrap();
        let AgentId::Referee(referee) = self.season.authenticate(token, Method::ReportMatchResult, NOW).unwrap() else {
            panic!("not a referee")
        };
        let Call::ReportMatchResult(report) = &request.call else { panic!("not a report") };
        let record = self.season.read_report(report).unwrap();
        assert_eq!(record, MatchRecord::of(match_machine, match_machine.ending().unwrap(), false));
        let counted = self.season.report(&referee, &report.match_id, report.attempt, record, NOW).unwrap();
        assert_eq!(counted.reply, ReportOutcome::Now);
        self.enact(&counted.events);
    }

    /// Compares every player's own record with the season's.
    fn agree(&self) {
        for player in &self.players {
            let id = &player.seat.identity().unwrap().player_id;
            assert_eq!(player.seat.history().record(), self.season.record_of(id), "{id}");
            assert_eq!(player.seat.state(), SessionState::LeagueComplete);
            let row = self.season.standings().into_iter().find(|row| row.player_id == *id).unwrap();
            assert_eq!(player.seat.player_state(None).rank, Some(row.rank));
        }
    }
}

#[test]
fn a_league_is_played_by_the_book_and_every_draw_is_proved_to_both() {
    for count in [2, 4, 5] {
        let mut league = League::of(count);
        while league.season.phase() == LeaguePhase::RunningLeague {
            league.play_round();
        }
        league.agree();
        for player in &league.players {
            let matches = player.seat.history().matches();
            assert_eq!(matches.len(), count as usize - 1);
            assert!(matches.iter().all(|played| played.draw == DrawCheck::Proved), "{matches:?}");
            assert!(matches.iter().all(|played| played.drawn_number.is_some() && played.opponent_choice.is_some()));
        }
    }
}

#[test]
fn a_player_that_never_chooses_loses_everything_and_knows_it() {
    let mut league = League::of(3);
    league.players[1].mute = true;
    while league.season.phase() == LeaguePhase::RunningLeague {
        league.play_round();
    }
    league.agree();
    let mute = league.players[1].seat.history();
    assert_eq!((mute.record().losses, mute.record().points), (2, 0));
    assert!(mute.matches().iter().all(|played| played.draw == DrawCheck::Unproved && played.drawn_number.is_none()));
}
