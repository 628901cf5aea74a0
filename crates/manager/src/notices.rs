//! Telling everybody. Acknowledgements are welcome and never waited for beyond their limit.

use futures_util::StreamExt;
use futures_util::stream;
use league_core::season::Season;
use league_core::season::agent::Grant;
use league_protocol::head::Envelope;
use league_protocol::id::{ConversationId, LeagueId, RoundId};
use league_protocol::message::round::{LeagueCompleted, RoundAnnouncement, RoundCompleted};
use league_protocol::message::standings::{FinalRow, StandingsUpdate};
use league_protocol::sender::Sender;
use league_protocol::speech::Form;
use league_protocol::table::Call;
use league_protocol::time::Timestamp;
use league_protocol::token::Credential;
use league_wire::endpoint::Endpoint;
use smol_str::SmolStr;

use crate::manager::Shared;

/// Something to be said, and the conversation it belongs to.
#[derive(Clone, Debug)]
pub(crate) struct Notice {
    conversation: ConversationId,
    call: Call,
}

/// Somebody to be told, and in which words it knows the manager.
#[derive(Clone, Debug)]
pub(crate) struct Listener {
    pub(crate) name: SmolStr,
    pub(crate) endpoint: String,
    pub(crate) pass: Credential,
}

impl Listener {
    pub(crate) fn new(name: &str, endpoint: &str, grant: &Grant, league: &LeagueId) -> Self {
        let pass = grant.digest.manager_pass(league).into();
        Self { name: SmolStr::new(name), endpoint: endpoint.to_owned(), pass }
    }

    /// Every player.
    pub(crate) fn players(season: &Season) -> Vec<Self> {
        let league = &season.config().league_id;
        let listener = |player: &league_core::season::agent::Player| {
            Self::new(player.id.as_str(), &player.profile.endpoint, &player.grant, league)
        };
        season.players().iter().map(listener).collect()
    }

    /// Every referee that has not been given up.
    pub(crate) fn referees(season: &Season) -> Vec<Self> {
        let league = &season.config().league_id;
        let listener = |referee: &league_core::season::agent::Referee| {
            Self::new(referee.id.as_str(), &referee.profile.endpoint, &referee.grant, league)
        };
        season.referees().iter().filter(|referee| !referee.lost).map(listener).collect()
    }
}

/// What players hear at the end of a round.
pub(crate) fn round_over(season: &Season, round: RoundId) -> Vec<Notice> {
    let league_id = Some(season.config().league_id.clone());
    let summary = season.summary(round);
    let next = RoundId(round.0 + 1);
    let standings =
        StandingsUpdate { league_id: league_id.clone(), round_id: Some(round), standings: season.standings() };
    let completed = RoundCompleted {
        league_id,
        round_id: round,
        matches_played: summary.total_matches,
        matches_completed: summary.total_matches,
        next_round_id: (next.0 <= season.schedule().rounds()).then_some(next),
        summary,
    };
    vec![
        Notice {
            conversation: ConversationId::named(format_args!("conv-round-{round}-standings")),
            call: Call::UpdateStandings(standings),
        },
        Notice {
            conversation: ConversationId::named(format_args!("conv-round-{round}-complete")),
            call: Call::NotifyRoundCompleted(completed),
        },
    ]
}

/// The announcement of a round; referees are also told where the players listen.
pub(crate) fn announcement(season: &Season, round: RoundId, to_referees: bool) -> Notice {
    let announcement = RoundAnnouncement {
        league_id: Some(season.config().league_id.clone()),
        round_id: round,
        matches: season.announced(round, to_referees),
        total_matches: None,
    };
    Notice {
        conversation: ConversationId::named(format_args!("conv-round-{round}-announce")),
        call: Call::NotifyRound(announcement),
    }
}

/// The end of the league.
pub(crate) fn league_over(season: &Season) -> Notice {
    let completed = LeagueCompleted {
        league_id: Some(season.config().league_id.clone()),
        total_rounds: season.schedule().rounds(),
        total_matches: season.matches_completed(),
        champion: season.champion(),
        final_standings: season.standings().iter().map(FinalRow::from).collect(),
    };
    Notice { conversation: ConversationId::named("conv-league-complete"), call: Call::NotifyLeagueCompleted(completed) }
}

/// The manager's envelope.
pub(crate) fn envelope(conversation_id: ConversationId, now: Timestamp, auth_token: Option<Credential>) -> Envelope {
    Envelope { sender: Sender::manager(), timestamp: now, conversation_id, auth_token }
}

impl Shared {
    /// Tells each listener all of `notices`, in order; different listeners at the same time.
    pub(crate) async fn tell(&self, listeners: Vec<Listener>, notices: &[Notice]) {
        let telling = listeners.into_iter().map(|listener| async move {
            let Ok(endpoint) = listener.endpoint.parse::<Endpoint>() else { return };
            for notice in notices {
                let envelope = envelope(notice.conversation.clone(), self.world.now(), Some(listener.pass.clone()));
                let told = self.client.call_guarded(
                    &self.breakers,
                    &endpoint,
                    Form::default(),
                    &envelope,
                    &notice.call,
                    self.settings.patience,
                );
                if let Err(error) = told.await {
                    let (who, what) = (&listener.name, notice.call.method().row().name);
                    tracing::debug!(%who, what, %error, "a notice was not heard");
                }
            }
        });
        stream::iter(telling).buffer_unordered(self.settings.concurrency.max(1)).collect::<()>().await;
    }
}
