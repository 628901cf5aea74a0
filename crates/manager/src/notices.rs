//! Telling everybody. Acknowledgements are welcome and never waited for beyond their limit.

use std::pin::pin;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use league_core::season::agent::{AgentId, Player, Referee};
use league_core::season::{Ruling, Season};
use league_protocol::error::{ErrorCode, Fault};
use league_protocol::head::Envelope;
use league_protocol::id::{ConversationId, LeagueId, RoundId};
use league_protocol::manner::Manner;
use league_protocol::message::league_error::LeagueError;
use league_protocol::message::report::Learned;
use league_protocol::message::round::{LeagueCompleted, RoundAnnouncement, RoundCompleted, ShutdownCommand};
use league_protocol::message::standings::{FinalRow, StandingsUpdate};
use league_protocol::quirk::Quirk;
use league_protocol::sender::Sender;
use league_protocol::table::{Call, Method};
use league_protocol::time::Timestamp;
use league_protocol::token::Credential;
use league_wire::endpoint::Endpoint;
use league_wire::exchange::Failure;
use league_wire::speaker::{Message, Peer, Said, Try, heard};
use smol_str::SmolStr;
use tokio::time::{Instant, sleep};

use crate::excerpt::{self, Excerpts, Told};
use crate::hearing::{Heard, Hearing};
use crate::manager::Shared;

/// How often somebody who does not listen yet is tried.
const BETWEEN_LOOKS: Duration = Duration::from_millis(250);

/// Something to be said, and the conversation it belongs to.
#[derive(Clone, Debug)]
pub(crate) struct Notice {
    conversation: ConversationId,
    call: Call,
    /// The call as everybody hears it, written once for all; nothing where it cannot be written.
    body: Option<Vec<u8>>,
}

impl Notice {
    pub(crate) fn new(conversation: ConversationId, call: Call) -> Self {
        let mut body = Vec::with_capacity(4096);
        let written = call.write_body(&mut body).is_ok();
        Self { conversation, call, body: written.then_some(body) }
    }

    /// What is said.
    #[cfg(test)]
    pub(crate) fn call(&self) -> &Call {
        &self.call
    }

    /// As it is written.
    #[cfg(test)]
    pub(crate) fn body(&self) -> Option<&[u8]> {
        self.body.as_deref()
    }
}

/// Somebody to be told, and in which words it knows the manager.
#[derive(Clone, Debug)]
pub(crate) struct Listener {
    pub(crate) id: AgentId,
    pub(crate) endpoint: String,
    pub(crate) pass: Credential,
    pub(crate) manner: Manner,
}

impl Listener {
    /// A player.
    pub(crate) fn player(player: &Player, league: &LeagueId) -> Self {
        let (endpoint, pass) = (player.profile.endpoint.clone(), player.grant.digest.manager_pass(league).into());
        Self { id: AgentId::Player(player.id.clone()), endpoint, pass, manner: player.manner.clone() }
    }

    /// A referee.
    pub(crate) fn referee(referee: &Referee, league: &LeagueId) -> Self {
        let (endpoint, pass) = (referee.profile.endpoint.clone(), referee.grant.digest.manager_pass(league).into());
        Self { id: AgentId::Referee(referee.id.clone()), endpoint, pass, manner: referee.manner.clone() }
    }

    /// Every player that has not been withdrawn.
    pub(crate) fn players(season: &Season) -> Vec<Self> {
        let league = &season.config().league_id;
        let present = season.players().iter().filter(|player| !player.withdrawn);
        present.map(|player| Self::player(player, league)).collect()
    }

    /// The same, in the order of the matches of `round`: two who meet hear of it together, and can begin while others are being told.
    pub(crate) fn players_of(season: &Season, round: RoundId) -> Vec<Self> {
        let schedule = season.schedule();
        let meeting = schedule.round(round.0).flat_map(|pair| [pair.a, pair.b]).chain(schedule.bye(round.0));
        let players = meeting.filter_map(|number| season.players().get(number as usize));
        let league = &season.config().league_id;
        players.filter(|player| !player.withdrawn).map(|player| Self::player(player, league)).collect()
    }

    /// Everybody who was a player: also who was withdrawn wants to know when it is over.
    pub(crate) fn all_players(season: &Season) -> Vec<Self> {
        let league = &season.config().league_id;
        season.players().iter().map(|player| Self::player(player, league)).collect()
    }

    /// These, each with what says in `hearing` that it has heard.
    pub(crate) fn noted(listeners: Vec<Self>, hearing: &mut Hearing) -> Vec<(Self, Heard)> {
        listeners
            .into_iter()
            .map(|listener| {
                let heard = hearing.expect(listener.id.clone());
                (listener, heard)
            })
            .collect()
    }

    /// Every referee that has not been given up.
    pub(crate) fn referees(season: &Season) -> Vec<Self> {
        let league = &season.config().league_id;
        let present = season.referees().iter().filter(|referee| !referee.lost);
        present.map(|referee| Self::referee(referee, league)).collect()
    }
}

/// What players hear at the end of a round.
pub(crate) fn round_over(season: &Season, round: RoundId) -> [Told; 2] {
    let league_id = Some(season.config().league_id.clone());
    let summary = season.summary(round);
    let next = RoundId(round.0 + 1);
    let standings = Excerpts::of(season).told(ConversationId::named(format_args!("conv-round-{round}-standings")), {
        let league_id = league_id.clone();
        move |standings, total_players| {
            let (league_id, round_id) = (league_id.clone(), Some(round));
            Call::UpdateStandings(StandingsUpdate { league_id, round_id, standings, total_players })
        }
    });
    let completed = RoundCompleted {
        league_id,
        round_id: round,
        matches_played: summary.total_matches,
        matches_completed: summary.total_matches,
        next_round_id: (next.0 <= season.schedule().rounds()).then_some(next),
        summary,
    };
    let conversation = ConversationId::named(format_args!("conv-round-{round}-complete"));
    [standings, Told::alike(Notice::new(conversation, Call::NotifyRoundCompleted(completed)))]
}

/// The announcement of a round; referees are also told where the players listen.
pub(crate) fn announcement(season: &Season, round: RoundId, to_referees: bool) -> Told {
    let conversation = ConversationId::named(format_args!("conv-round-{round}-announce"));
    let announcement = RoundAnnouncement {
        league_id: Some(season.config().league_id.clone()),
        round_id: round,
        matches: season.announced(round, to_referees),
        total_matches: None,
        referees_show_passes: (!season.referees_show_passes()).then_some(false),
    };
    excerpt::announced(season, conversation, announcement, to_referees)
}

/// The end of the league.
pub(crate) fn league_over(season: &Season) -> Told {
    let (league_id, champion) = (Some(season.config().league_id.clone()), season.champion());
    let (total_rounds, total_matches) = (season.schedule().rounds(), season.matches_completed());
    Excerpts::of(season).told(ConversationId::named("conv-league-complete"), move |standings, total_players| {
        let (league_id, champion) = (league_id.clone(), champion.clone());
        let final_standings = standings.iter().map(FinalRow::from).collect();
        let end = LeagueCompleted { league_id, total_rounds, total_matches, champion, final_standings, total_players };
        Call::NotifyLeagueCompleted(end)
    })
}

/// That a player is out of the league; and that it may leave, where it is in no match.
pub(crate) fn withdrawn(league: &LeagueId, player: &Player, may_leave: bool) -> Vec<Told> {
    const METHOD: Method = Method::WithdrawPlayer;
    let conversation = ConversationId::named(format_args!("conv-{}-withdrawn", player.id));
    let message = format!("the operator has withdrawn {} from {league}; its token counts no more", player.id);
    let fault = Fault::new(ErrorCode::E005, METHOD, message);
    let out = Call::NotifyLeagueError(LeagueError::of(&fault, Some(METHOD.row().name)));
    let reason = Some(SmolStr::new_static("withdrawn by the operator"));
    let leave = may_leave.then_some(Call::Shutdown(ShutdownCommand { reason }));
    [Some(out), leave].into_iter().flatten().map(|call| Told::alike(Notice::new(conversation.clone(), call))).collect()
}

/// The manager's envelope.
pub(crate) fn envelope(conversation_id: ConversationId, now: Timestamp, auth_token: Option<Credential>) -> Envelope {
    Envelope { sender: Sender::manager(), timestamp: now, conversation_id, auth_token }
}

impl Shared {
    /// Tells each listener what it is told of all that is `told`, in order; different listeners at the same time. Who does not listen yet is
    /// waited for, as long as `grace` lasts.
    pub(crate) async fn tell(&self, listeners: Vec<Listener>, told: &[Told], grace: Duration) {
        self.tell_each(Listener::noted(listeners, &mut Hearing::default()), told, grace).await;
    }

    /// The same; each is also noted once it has heard everything. They take turns, and hear everything in one: a match can begin as soon as its own
    /// people have had theirs, and is played while others have theirs.
    pub(crate) async fn tell_each(&self, listeners: Vec<(Listener, Heard)>, told: &[Told], grace: Duration) {
        let telling = listeners.into_iter().map(async |(listener, heard)| {
            self.turns.take(pin!(self.tell_one(listener, told, grace))).await;
            drop(heard);
        });
        telling.collect::<FuturesUnordered<_>>().collect::<()>().await;
    }

    async fn tell_one(&self, mut listener: Listener, told: &[Told], grace: Duration) {
        let Ok(endpoint) = listener.endpoint.parse::<Endpoint>() else { return };
        let (patient_until, mut found, mut was_there) = (Instant::now() + grace, Learned::default(), false);
        for told in told {
            let notice = told.to(&listener.id);
            let method = notice.call.method();
            let mut waited = false;
            let (said, tries) = loop {
                let telling = self.tell_once(&listener, &endpoint, &notice, grace.is_zero());
                let (said, tries) = telling.await;
                if Instant::now() >= patient_until || !is_unreachable(&tries) {
                    break (said, tries);
                }
                waited = true;
                sleep(BETWEEN_LOOKS).await;
            };
            let failed = tries.last().and_then(|last| last.came.as_ref().err());
            if let Some(error) = failed {
                tracing::debug!(who = listener.id.as_str(), what = method.row().name, %error, "a notice was not heard");
            }
            found.quirks = found.quirks.and(said.quirks);
            if waited && failed.is_none() {
                found.quirks.note(Quirk::ListensLate);
            }
            // Who was there a moment ago and hangs up on this has taken it for its cue.
            if was_there && method == Method::NotifyLeagueCompleted && is_unreachable(&tries) {
                found.quirks.note(Quirk::LeavesAtTheEnd);
            }
            was_there |= failed.is_none() && !tries.is_empty();
            if let Some(learned) = said.learned {
                listener.manner = learned.clone();
                found.manner = Some(learned);
            }
        }
        self.learn(listener.id, found).await;
    }

    async fn tell_once(
        &self,
        listener: &Listener,
        endpoint: &Endpoint,
        notice: &Notice,
        guarded: bool,
    ) -> (Said, Vec<Try>) {
        let envelope = envelope(notice.conversation.clone(), self.world.now(), Some(listener.pass.clone()));
        let (call, body, limit) = (&notice.call, notice.body.as_deref(), self.settings.patience);
        let message = Message { envelope: &envelope, call, body, limit, notice: true };
        let peer = Peer { endpoint, manner: &listener.manner, proven: false };
        let mut tries = Vec::new();
        // Somebody who is waited for fails many times, which says nothing about later.
        let breakers = guarded.then_some(&self.breakers);
        let said = self.speaker.say_guarded(breakers, peer, message, &heard, &mut tries).await;
        (said, tries)
    }

    /// Keeps what was found out about an agent, where it is news.
    pub(crate) async fn learn(&self, agent: AgentId, found: Learned) {
        if found.is_nothing() {
            return;
        }
        let noted = self.desk.act(move |season, now| {
            let events = season.learn(&agent, &found, now).into_iter().collect();
            Ok(Ruling { events, reply: () })
        });
        if let Err(fault) = noted.await {
            tracing::debug!(fault = fault.message, "what was found out about an agent could not be kept");
        }
    }
}

fn is_unreachable(tries: &[Try]) -> bool {
    let failure = tries.last().and_then(|last| last.came.as_ref().err()).map(|error| &error.kind);
    matches!(failure, Some(Failure::Unreachable(_)))
}
