//! What everybody is told, and to whom it is told.

use league_core::season::Season;
use league_core::season::agent::{AgentId, RegisteredPlayer, RegisteredReferee};
use league_protocol::dialect::PeerDialect;
use league_protocol::envelope::Envelope;
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{ConversationId, LeagueId, RoundId};
use league_protocol::message::league_error::LeagueError;
use league_protocol::message::round::{LeagueCompleted, RoundAnnouncement, RoundCompleted, ShutdownCommand};
use league_protocol::message::standings::{FinalRow, StandingsUpdate};
use league_protocol::sender::Sender;
use league_protocol::table::{Call, Method};
use league_protocol::time::Timestamp;
use league_protocol::token::Credential;
use smol_str::SmolStr;

use crate::excerpt::{self, Excerpts, Told};
use crate::hearing::{Heard, Hearing};

/// Something to be said, and the conversation it belongs to.
#[derive(Clone, Debug)]
pub(crate) struct Notice {
    pub(crate) conversation: ConversationId,
    pub(crate) call: Call,
    /// The call as everybody hears it, written once for all; nothing where it cannot be written.
    pub(crate) body: Option<Vec<u8>>,
}

impl Notice {
    pub(crate) fn new(conversation: ConversationId, call: Call) -> Self {
        let mut body = Vec::with_capacity(4096);
        let written = call.write_body(&mut body).is_ok();
        Self { conversation, call, body: written.then_some(body) }
    }
}

/// Somebody to be told, and in which words it knows the manager.
#[derive(Clone, Debug)]
pub(crate) struct Listener {
    pub(crate) id: AgentId,
    pub(crate) endpoint: String,
    pub(crate) pass: Credential,
    pub(crate) manner: PeerDialect,
}

impl Listener {
    pub(crate) fn player(player: &RegisteredPlayer, league: &LeagueId) -> Self {
        let (endpoint, pass) = (player.profile.endpoint.clone(), player.grant.digest.manager_pass(league).into());
        Self { id: AgentId::Player(player.id.clone()), endpoint, pass, manner: player.manner.clone() }
    }

    pub(crate) fn referee(referee: &RegisteredReferee, league: &LeagueId) -> Self {
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
        players: None,
        agents: None,
    };
    excerpt::announced(season, conversation, announcement, to_referees)
}

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
pub(crate) fn withdrawn(league: &LeagueId, player: &RegisteredPlayer, may_leave: bool) -> Vec<Told> {
    const METHOD: Method = Method::WithdrawPlayer;
    let conversation = ConversationId::named(format_args!("conv-{}-withdrawn", player.id));
    let message = format!("the operator has withdrawn {} from {league}; its token counts no more", player.id);
    let fault = RequestError::new(ErrorCode::E005, METHOD, message);
    let out = Call::NotifyLeagueError(LeagueError::of(&fault, Some(METHOD.row().name)));
    let reason = Some(SmolStr::new_static("withdrawn by the operator"));
    let leave = may_leave.then_some(Call::Shutdown(ShutdownCommand { reason }));
    [Some(out), leave].into_iter().flatten().map(|call| Told::alike(Notice::new(conversation.clone(), call))).collect()
}

pub(crate) fn envelope(conversation_id: ConversationId, now: Timestamp, auth_token: Option<Credential>) -> Envelope {
    Envelope { sender: Sender::manager(), timestamp: now, conversation_id, auth_token }
}
