//! Gives matches to referees, and monitors the referees that hold one.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use league_core::season::agent::{AgentId, RefereeCondition, RegisteredPlayer};
use league_core::season::config::LeagueConfig;
use league_core::season::evidence::ReturnCause;
use league_core::season::{Assignment, Season};
use league_protocol::answer::{ParsedAnswer, ReplyKind};
use league_protocol::id::{ConversationId, PlayerId, RefereeId, RoundId};
use league_protocol::message::operate::Empty;
use league_protocol::message::report::LearnedDialect;
use league_protocol::message::start_match::{MatchMode, StartMatch, span};
use league_protocol::message::step::RegisterToLeague;
use league_protocol::quirk::Quirk;
use league_protocol::side::Pair;
use league_protocol::table::{Call, Method};
use league_store::journal::JournalLevel;
use league_wire::exchange::{CallError, Exchange};
use league_wire::peer_client::{OutgoingCall, Peer, is_acknowledged};
use league_wire::trace;
use tokio::time::{Instant, sleep};
use tracing::Instrument;

use crate::broadcast::DeliveryBarrier;
use crate::manager::{Manager, Shared};
use crate::notices::{self, Recipient, envelope};
use crate::pulling::pulling;

/// Consecutive failures after which a referee is given up.
const MAX_TRIES: u32 = 3;

/// Later attempts are taken away only when they are overdue, so that players cannot delay a match for ever.
const MAX_INQUIRED: u32 = 3;

enum Offer {
    Taken,
    Refused,
    Unheard,
    /// The referee knows no form of the order: it works from announcements, or polls.
    Unknown,
}

impl Shared {
    /// Waits until the referee and both players have been told. A refused match returns to the list; an unreachable
    /// referee is given up. A `new` match is not begun when a player was withdrawn meanwhile. The players of a match that is `retold`
    /// first hear of its round again, because it went to a referee with other passes.
    pub(crate) async fn dispatch(
        self: Arc<Self>,
        assignment: Assignment,
        new: bool,
        told: Arc<DeliveryBarrier>,
        retold: Option<RoundId>,
    ) {
        let wanted = assignment.match_id.clone();
        let players = self.league_handle.read_uncommitted(move |season| {
            let ids = |players: Pair<&RegisteredPlayer>| [players.a.id.clone(), players.b.id.clone()];
            season.contestants(&wanted).map(ids)
        });
        let Ok(Some(players)) = players.await else { return };
        if let Some(round) = retold {
            self.announce_again(round, &players).await;
        }
        self.announced().insert(assignment.clone());
        let concerned = players.into_iter().map(AgentId::Player).chain([AgentId::Referee(assignment.referee.clone())]);
        told.wait_for(concerned).await;
        let wanted = assignment.clone();
        let (mode, seed) = (self.settings.mode, self.settings.seed.clone());
        let order = self.league_handle.read_uncommitted(move |season| {
            let secret = seed.as_ref().map(|seed| seed.secret(&wanted.match_id));
            let order = season.holds(&wanted).then(|| season.order(&wanted, mode, secret)).flatten();
            let pulls = season.referee(&wanted.referee)?.profile.pulls;
            let referee = referee_of(season, &wanted.referee);
            Some((order?, referee, pulls, season.walkover(&wanted.match_id).is_some()))
        });
        // The match was taken from this referee meanwhile.
        let Ok(Some((mut order, referee, pulls, decided))) = order.await else { return };
        order.home_mark.clone_from(&self.settings.home_mark);
        // A referee that takes no orders has begun already.
        let takes_orders = referee.as_ref().is_none_or(|referee| referee.dialect.knows(Method::StartMatch));
        if new && decided && takes_orders {
            drop(self.league_handle.command(move |season, now| season.give_back(&assignment, now)).await);
            return;
        }
        if pulls {
            self.polls.offer(assignment);
            return;
        }
        let Some(mut referee) = referee else { return };
        let matched = trace::match_span(&order.match_id, order.attempt);
        for tried in 1..=MAX_TRIES {
            match self.offer(&mut referee, &order).instrument(matched.clone()).await {
                // A match that the referee does not begin is taken away.
                Offer::Taken | Offer::Unknown => {
                    self.begun().insert(assignment, Instant::now());
                    return;
                }
                Offer::Refused => {
                    self.log(JournalLevel::Warn, "MATCH_REFUSED", || {
                        format!("{} does not take {}; it is given away again", assignment.referee, assignment.match_id)
                    });
                    sleep(self.settings.referee_check_interval / 4).await;
                    // The referee may have called the players before it refused, and not like what it saw.
                    drop(self.interrupt(vec![assignment], Some(ReturnCause::Refused)).await);
                    return;
                }
                Offer::Unheard => {
                    self.log(JournalLevel::Warn, "ORDER_RETRIED", || {
                        let Assignment { match_id, referee, .. } = &assignment;
                        format!("{referee} did not answer the order for {match_id}, try {tried} of {MAX_TRIES}")
                    });
                    sleep(self.settings.referee_check_interval / 4 * tried).await;
                }
            }
        }
        tracing::warn!(referee = %assignment.referee, match_id = %assignment.match_id, "the referee does not answer the order");
        drop(self.interrupt_all(&assignment.referee).await);
        drop(self.league_handle.command(move |season, now| season.lose_unresponsive_referee(&assignment, now)).await);
    }

    /// The assignments that players know of, so that their referee may begin.
    pub(crate) fn announced(&self) -> MutexGuard<'_, HashSet<Assignment>> {
        self.announced.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn begun(&self) -> MutexGuard<'_, HashMap<Assignment, Instant>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn announce_again(&self, round: RoundId, players: &[PlayerId; 2]) {
        let wanted = players.clone();
        let announcement = self.league_handle.read(move |season, _| {
            let to = season.players().iter().filter(|player| wanted.contains(&player.id));
            let to: Vec<_> = to.filter_map(|player| Recipient::player(player, &season.config().league_id)).collect();
            (to, notices::announcement(season, round, false))
        });
        if let Ok((players, announcement)) = announcement.await {
            self.tell(players, vec![announcement]).await;
        }
    }

    async fn offer(&self, referee: &mut Recipient, order: &StartMatch) -> Offer {
        if !referee.dialect.knows(Method::StartMatch) {
            return Offer::Unknown;
        }
        let conversation = ConversationId::named(format_args!("conv-{}-start", order.match_id));
        let envelope = envelope(conversation, self.environment.now(), Some(referee.pass.clone()));
        let call = Call::StartMatch(order.clone());
        let message = OutgoingCall {
            envelope: &envelope,
            call: &call,
            body: None,
            limit: self.settings.answer_limit,
            notice: false,
        };
        let peer = Peer { endpoint: &referee.endpoint, dialect: &referee.dialect, proven: false };
        let mut tries = Vec::new();
        let sent = self.broadcaster.client.send(peer, message, &understood, &mut tries).await;
        self.note_sent(&referee.id, &envelope.conversation_id, &tries, sent.understood);
        let answers =
            tries.iter().filter(|attempt| !attempt.is_probe).filter_map(|attempt| attempt.result.as_ref().ok());
        answers.for_each(|exchange| self.note_latency(&referee.id, exchange));
        let offer = match tries.iter().rfind(|attempt| !attempt.is_probe).map(|last| &last.result) {
            None | Some(Err(_)) => Offer::Unheard,
            Some(Ok(exchange)) => match ParsedAnswer::parse(&exchange.body) {
                _ if !sent.understood && tries.len() > 1 => Offer::Unknown,
                Ok(layers) if layers.refuses() => Offer::Refused,
                Ok(layers) if layers.reply_kind() == ReplyKind::NoError => Offer::Taken,
                Ok(_) => Offer::Refused,
                Err(_) => Offer::Unheard,
            },
        };
        let mut learned = LearnedDialect { dialect: sent.learned, quirks: sent.quirks, shows_token: false };
        if matches!(offer, Offer::Unknown) {
            learned.quirks.note(Quirk::TakesNoOrders);
            learned.dialect =
                Some(learned.dialect.unwrap_or_else(|| referee.dialect.clone()).without(Method::StartMatch));
        }
        if let Some(dialect) = &learned.dialect {
            referee.dialect.clone_from(dialect);
        }
        self.learn(referee.id.clone(), learned).await;
        offer
    }

    pub(crate) async fn give_up(&self, referee: &RefereeId) {
        tracing::warn!(%referee, "the referee does not answer; its matches go to others");
        drop(self.interrupt_all(referee).await);
        let lost = referee.clone();
        drop(self.league_handle.command(move |season, now| season.lose_referee(&lost, now)).await);
        // A referee that pulls hears that it has to register again.
        self.polls.wake(referee);
    }

    /// Runs during a round: pings referees that hold matches, takes matches away that are overdue or were not begun, and calls
    /// referees back that are lost or have no commitment left.
    pub(crate) async fn monitor_referees(&self) {
        let mut failures: HashMap<RefereeId, u32> = HashMap::new();
        let mut since: HashMap<Assignment, Instant> = HashMap::new();
        let mut inquired: HashSet<Assignment> = HashSet::new();
        loop {
            sleep(self.settings.referee_check_interval).await;
            // Before the season is read, so that a match that is assigned meanwhile stays offered.
            let offers = self.polls.offers();
            let seen = self.league_handle.read(|season, _| {
                let holding: Vec<_> = season
                    .referees()
                    .iter()
                    .filter(|referee| !referee.is_absent() || referee.condition() == RefereeCondition::Lost)
                    .filter(|referee| referee.running > 0 || referee.lost || referee.needs_commitments())
                    .filter_map(|referee| {
                        // To register again is to lose the running matches.
                        let must_register = referee.lost || (referee.needs_commitments() && referee.running == 0);
                        Some((referee.id.clone(), must_register, referee_of(season, &referee.id)?))
                    })
                    .collect();
                let limits = (match_time_limit(season.config()), invitation_limit(season.config()));
                (holding, season.assignments(), limits, (pulling(season), season.unreachable_matches()))
            });
            let Ok((holding, held, limits, (pulling, unreachable))) = seen.await else { return };
            let (match_time_limit, invitation_limit) = limits;
            self.give_up_silent(pulling).await;
            self.note_unreachable(unreachable, match_time_limit);
            self.polls.forget(&offers.into_iter().filter(|offer| !held.contains(offer)).collect());
            since.retain(|assignment, _| held.contains(assignment));
            inquired.retain(|assignment| held.contains(assignment));
            self.begun().retain(|assignment, _| held.contains(assignment));
            let (mut overdue, mut doubtful) = (Vec::new(), Vec::new());
            // A stepped match has no limit: the operator decides when it continues.
            for assignment in held.into_iter().filter(|_| self.settings.mode == MatchMode::Flowing) {
                let elapsed = since.entry(assignment.clone()).or_insert_with(Instant::now).elapsed();
                let begun = self.begun().get(&assignment).is_some_and(|at| at.elapsed() > invitation_limit);
                if elapsed > match_time_limit {
                    tracing::warn!(match_id = %assignment.match_id, referee = %assignment.referee, "overdue");
                    overdue.push(assignment);
                } else if begun && assignment.attempt <= MAX_INQUIRED && inquired.insert(assignment.clone()) {
                    doubtful.push(assignment);
                }
            }
            let asked = doubtful.into_iter().map(async |assignment| {
                let is_stalled = self.is_stalled(&assignment).await;
                is_stalled.then_some(assignment)
            });
            let stalled: Vec<_> = join_all(asked).await.into_iter().flatten().collect();
            for Assignment { match_id, referee, .. } in &stalled {
                tracing::warn!(%match_id, %referee, "not begun");
            }
            drop(self.interrupt(stalled, Some(ReturnCause::Stalled)).await);
            drop(self.interrupt(overdue, Some(ReturnCause::Overdue)).await);
            for (id, must_register, referee) in holding {
                let call = match must_register {
                    true => Call::RegisterToLeague(RegisterToLeague::default()),
                    false => Call::Ping(Empty {}),
                };
                if self.call_and_log(&referee, call).await {
                    failures.remove(&id);
                } else {
                    let count = failures.entry(id.clone()).or_default();
                    *count += 1;
                    if *count >= MAX_TRIES {
                        failures.remove(&id);
                        self.give_up(&id).await;
                    }
                }
            }
        }
    }

    /// A smoothed mean for display only.
    fn note_latency(&self, referee: &AgentId, exchange: &Exchange) {
        let Some(took) = exchange.receipt.last_byte else { return };
        let mut latencies = self.latencies.lock().unwrap_or_else(PoisonError::into_inner);
        latencies.entry(referee.clone()).and_modify(|mean| *mean = (*mean * 7 + took) / 8).or_insert(took);
    }

    pub(crate) async fn call_referee(
        &self,
        referee: &Recipient,
        conversation: ConversationId,
        call: &Call,
        limit: Duration,
    ) -> Result<Exchange, CallError> {
        let envelope = envelope(conversation, self.environment.now(), Some(referee.pass.clone()));
        let client = self.broadcaster.client.client();
        client.call(&referee.endpoint, &referee.dialect, &envelope, call, limit).await
    }

    async fn call_and_log(&self, referee: &Recipient, call: Call) -> bool {
        let limit = self.settings.referee_check_interval.min(self.settings.answer_limit);
        let answer = self.call_referee(referee, ConversationId::named("conv-watch"), &call, limit).await;
        if let Err(error) = &answer {
            self.log(JournalLevel::Warn, "MESSAGE_FAILED", || {
                format!("{} to {}: {error}", call.method().row().name, referee.id.as_str())
            });
        }
        answer.inspect(|exchange| self.note_latency(&referee.id, exchange)).is_ok()
    }
}

impl Manager {
    /// `None` before the referee has answered an order or a ping.
    pub fn referee_latency(&self, referee: &RefereeId) -> Option<Duration> {
        let latencies = self.shared.latencies.lock().unwrap_or_else(PoisonError::into_inner);
        latencies.get(&AgentId::Referee(referee.clone())).copied()
    }
}

pub(crate) fn referee_of(season: &Season, referee: &RefereeId) -> Option<Recipient> {
    Recipient::referee(season.referee(referee)?, &season.config().league_id)
}

/// True when the referee accepts the order, refuses it, or answers with a code of the league.
fn understood(exchange: &Exchange) -> bool {
    let layers = ParsedAnswer::parse(&exchange.body);
    let answered = layers.is_ok_and(|layers| layers.refuses() || layers.error().is_some_and(|e| e.code.is_some()));
    answered || is_acknowledged(exchange)
}

/// By then an honest referee has called both players.
fn invitation_limit(config: &LeagueConfig) -> Duration {
    span(config.limits.game_join_ack_timeout_sec)
}

/// The longest time by the limits and the game, and half as long again.
fn match_time_limit(config: &LeagueConfig) -> Duration {
    let limits = &config.limits;
    let turns = f64::from(config.match_about().map_or(1, |about| about.max_turns));
    let tries = f64::from(limits.max_retries.max(1));
    let pauses = limits.base_delay_sec * (2_f64.powf(tries - 1.0) - 1.0);
    let joins = tries * limits.game_join_ack_timeout_sec + pauses;
    let moves = turns * (tries * limits.move_timeout_sec + pauses);
    let notices = ((turns + 1.0) * tries + 1.0) * limits.game_over_timeout_sec;
    Duration::try_from_secs_f64(1.5 * (joins + moves + notices) + 5.0).unwrap_or(Duration::from_secs(3600))
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use league_core::rules::registry::{all_games, new_game};

    use super::*;

    #[test]
    fn every_game_has_time_for_its_longest_course_of_slow_moves() {
        for (game_type, games) in all_games().into_iter().flat_map(|game| [1, 50].map(|games| (game.clone(), games))) {
            let games_per_match = NonZeroU32::new(games).unwrap();
            let config =
                LeagueConfig { game_type, games_per_match, ..LeagueConfig::even_odd("league".parse().unwrap()) };
            let turns = games * new_game(&config.game_type).unwrap().about().max_turns;
            let slowest = f64::from(turns) * f64::from(config.limits.max_retries) * config.limits.move_timeout_sec;
            assert!(
                match_time_limit(&config).as_secs_f64() > slowest,
                "{}: {:?}",
                config.game_type,
                match_time_limit(&config)
            );
        }
        assert_eq!(match_time_limit(&LeagueConfig::even_odd("league".parse().unwrap())), Duration::from_secs(233));
    }
}
