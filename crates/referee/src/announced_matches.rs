//! Plays matches that a manager announces and does not order.
//!
//! S0 3.2.2 lets a match begin with ROUND_ANNOUNCEMENT. If the manager showed no passes at registration and sends no
//! START_MATCH within two seconds, the referee plays the announced matches that name its endpoint. After one
//! START_MATCH from a manager the referee waits for orders.
//!
//! Any client can post an announcement. The referee therefore takes the addresses of players only from the manager:
//! from an announcement that comes from the manager's address, or from its answer to a query.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use league_protocol::envelope::Envelope;
use league_protocol::id::{GameType, MatchId, PlayerId, RoundId};
use league_protocol::message::query::{LeagueQuery, QueryParams, QueryType};
use league_protocol::message::round::{AnnouncedMatch, RoundAnnouncement};
use league_protocol::message::start_match::{Contestant, MatchLimits, MatchMode, MatchPoints, StartMatch};
use league_protocol::sender::Sender;
use league_protocol::side::Pair;
use league_protocol::table::Call;
use league_store::journal::JournalLevel;
use league_wire::endpoint::Endpoint;
use league_wire::net;
use league_wire::peer_client::{OutgoingCall, Peer, is_acknowledged};
use tokio::time::sleep;

use crate::directory::PlayerDirectory;
use crate::orders::MatchPurpose;
use crate::referee::Shared;
use crate::registration::RefereeIdentity;

/// The time in which a manager can order a match that it announced.
const GRACE: Duration = Duration::from_secs(2);

const MAX_WAITING: usize = 64;

/// Counted in `announcements` until it is dropped.
struct Waiting(Arc<Shared>);

impl Waiting {
    fn new(shared: &Arc<Shared>) -> Option<Self> {
        let waiting = shared.announcements.fetch_add(1, Ordering::Relaxed);
        let this = Self(Arc::clone(shared));
        (waiting < MAX_WAITING).then_some(this)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.announcements.fetch_sub(1, Ordering::Relaxed);
    }
}

pub(crate) type Announcements = AtomicUsize;

impl Shared {
    /// `peer` is the address of the caller, which need not be the manager.
    pub(crate) fn round_announced(self: &Arc<Self>, round: RoundAnnouncement, peer: SocketAddr) {
        let Some(identity) = self.identity().filter(|identity| !identity.passes) else { return };
        self.remember_rounds(&round);
        let mine: Vec<AnnouncedMatch> =
            round.matches.iter().filter(|announced| self.is_named_by(announced)).cloned().collect();
        if mine.is_empty() || self.is_ordered() {
            return;
        }
        let Some(waiting) = Waiting::new(self) else {
            tracing::warn!(round_id = %round.round_id, "too many announcements wait; this one is only acknowledged");
            return;
        };
        tokio::spawn(async move {
            let shared = &waiting.0;
            sleep(GRACE).await;
            if shared.is_ordered() || !shared.is_still(&identity) {
                return;
            }
            let directory = shared.directory(&identity, &round, &mine, peer).await;
            for announced in &mine {
                match order(&round, announced, &directory) {
                    Some(order) => shared.play_announced(&identity, order).await,
                    None => {
                        tracing::warn!(match_id = %announced.match_id, "the manager does not say where the players of an announced match listen");
                    }
                }
            }
        });
    }

    fn is_named_by(&self, announced: &AnnouncedMatch) -> bool {
        let named = announced.referee_endpoint.as_deref().and_then(|text| text.parse::<Endpoint>().ok());
        let own = &self.settings.contact;
        named.is_some_and(|named| named.port() == own.port() && is_same_host(named.host(), own.host()))
    }

    async fn directory(
        &self,
        identity: &RefereeIdentity,
        round: &RoundAnnouncement,
        mine: &[AnnouncedMatch],
        peer: SocketAddr,
    ) -> PlayerDirectory {
        let mut directory = PlayerDirectory::default();
        if net::resolves_to(&identity.manager, peer.ip()).await {
            for value in [&round.players, &round.agents].into_iter().flatten() {
                directory.read(value);
            }
            for announced in mine {
                directory.read(&serde_json::json!([
                    {"player_id": announced.player_a_id, "endpoint": announced.player_a_endpoint},
                    {"player_id": announced.player_b_id, "endpoint": announced.player_b_endpoint},
                ]));
            }
        }
        let complete = |directory: &PlayerDirectory| {
            let known = |id: &PlayerId| directory.of(id).is_some();
            mine.iter().all(|announced| known(&announced.player_a_id) && known(&announced.player_b_id))
        };
        for query_type in [QueryType::GetPlayerDirectory, QueryType::GetRegistrations] {
            if complete(&directory) {
                break;
            }
            self.ask(identity, query_type, &mut directory).await;
        }
        directory
    }

    async fn ask(&self, identity: &RefereeIdentity, query_type: QueryType, directory: &mut PlayerDirectory) {
        let RefereeIdentity { id, token, manager, dialect, proven, league, .. } = identity;
        let envelope = Envelope { sender: Sender::referee(id), ..self.envelope(None, token.clone().map(Into::into)) };
        let query = LeagueQuery { league_id: league.clone(), query_type, query_params: QueryParams::default() };
        let call = Call::LeagueQuery(query);
        let limit = self.settings.answer_limit;
        let message = OutgoingCall { envelope: &envelope, call: &call, body: None, limit, notice: false };
        let peer = Peer { endpoint: manager, dialect, proven: *proven };
        let mut tries = Vec::new();
        self.peer_client.send(peer, message, &is_acknowledged, &mut tries).await;
        for answer in
            tries.iter().filter(|attempt| !attempt.is_probe).filter_map(|attempt| attempt.result.as_ref().ok())
        {
            if let Ok(value) = serde_json::from_slice(&answer.body) {
                directory.read(&value);
            }
        }
    }

    async fn play_announced(self: &Arc<Self>, identity: &RefereeIdentity, order: StartMatch) {
        let match_id = order.match_id.clone();
        let mut over = self.over.subscribe();
        while self.is_still(identity) {
            match self.start(order.clone(), MatchPurpose::League) {
                Ok(answer) if answer.reason.as_deref() == Some("busy") => {
                    if over.changed().await.is_err() {
                        return;
                    }
                }
                Ok(answer) => {
                    self.note(JournalLevel::Info, "ANNOUNCED_MATCH", || {
                        format!("{match_id}: {} without an order", answer.status)
                    });
                    return;
                }
                Err(fault) => {
                    tracing::warn!(%match_id, %fault, "an announced match cannot be played");
                    return;
                }
            }
        }
    }

    /// False if the referee has since registered with another manager or league, or under another id.
    fn is_still(&self, before: &RefereeIdentity) -> bool {
        self.identity()
            .is_some_and(|now| now.manager == before.manager && now.id == before.id && now.league == before.league)
    }

    pub(crate) fn announced_round(&self, match_id: &MatchId) -> Option<RoundId> {
        self.rounds().iter().rev().find(|(known, _)| known == match_id).map(|(_, round)| *round)
    }
}

/// The START_MATCH that the manager could have sent. `None` if an address is missing.
fn order(round: &RoundAnnouncement, announced: &AnnouncedMatch, directory: &PlayerDirectory) -> Option<StartMatch> {
    let contestant =
        |player_id: &PlayerId| Some(Contestant::new(player_id.clone(), directory.of(player_id)?.to_string()));
    Some(StartMatch {
        games_per_match: 1,
        league_id: round.league_id.clone(),
        round_id: Some(announced.round_id.unwrap_or(round.round_id)),
        match_id: announced.match_id.clone(),
        game_type: announced.game_type.clone().unwrap_or_else(GameType::even_odd),
        attempt: 1,
        mode: MatchMode::Flowing,
        players: Pair::new(contestant(&announced.player_a_id)?, contestant(&announced.player_b_id)?),
        timeouts: MatchLimits::default(),
        scoring: MatchPoints::default(),
        draw_secret: None,
        draw_commitment: None,
        manager_nonce: None,
        home_mark: None,
        strict: false,
    })
}

fn is_same_host(host: &str, other: &str) -> bool {
    let here = |host: &str| {
        host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    };
    host.eq_ignore_ascii_case(other) || (here(host) && here(other))
}
