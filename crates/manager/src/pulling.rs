//! Hands matches to referees that pull (`next_match`).
//!
//! The manager keeps no list of what it handed out: a poll says what the referee has, and everything else that the season has assigned
//! to it is handed out again. So no match is lost with an answer.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use league_core::season::agent::{AgentId, RegisteredReferee};
use league_core::season::evidence::ReturnCause;
use league_core::season::{Assignment, CommandOutcome, LeaguePhase, Season};
use league_protocol::envelope::ReceivedEnvelope;
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{MatchId, PlayerId, RefereeId};
use league_protocol::message::next_match::{Attempts, NextMatch, NextMatchAnswer, NextStep};
use league_protocol::message::report::LearnedDialect;
use league_protocol::message::start_match::StartMatch;
use league_protocol::table::Method;
use league_store::journal::JournalLevel;
use tokio::time::{Instant, sleep, timeout_at};

use crate::access::ShownToken;
use crate::inquiry::finish;
use crate::manager::Shared;

const METHOD: Method = Method::NextMatch;

/// How long a league that is over waits for its referees; they deliver their last transcripts meanwhile.
const LAST_POLLS: Duration = Duration::from_secs(6);

/// Matches that wait for a referee that can be reached.
#[derive(Debug, Default)]
pub(crate) struct UnreachableMatches {
    /// The operator was told of these.
    told: HashSet<MatchId>,
    /// When the matches of a player that posts its answers go to referees that pull.
    waits_until: HashMap<PlayerId, Instant>,
}

enum Found {
    Order(Box<(Assignment, StartMatch)>),
    Nothing,
    Over,
    /// The referee has to register again: its matches went to others, or it has no commitment left.
    Unregistered(String),
}

impl Shared {
    /// How long the manager keeps a poll open: ten seconds, if referees are checked every two.
    fn poll_length(&self) -> Duration {
        self.settings.referee_check_interval * 5
    }

    /// How long a referee that pulls may be silent before its matches go to others.
    pub(crate) fn silence_limit(&self) -> Duration {
        self.settings.referee_check_interval * 3
    }

    pub(crate) async fn next_match(
        self: &Arc<Self>,
        head: &ReceivedEnvelope,
        request: NextMatch,
    ) -> Result<NextMatchAnswer, RequestError> {
        let (shown, now) = (ShownToken::of(head, METHOD)?, self.environment.now());
        let known = self.league_handle.read_uncommitted(move |season| {
            let (referee, _) = shown.referee(season, now)?;
            let pulls = season.referee(&referee).is_some_and(|known| known.profile.pulls);
            if pulls {
                return Ok(referee);
            }
            let message = format!(
                "{referee} registered an endpoint, so START_MATCH comes there; register with pulls to ask here"
            );
            Err(RequestError::new(ErrorCode::E010, METHOD, message))
        });
        let referee = known.await??;
        let (poll, was_unanswered) = self.polls.begin(&referee);
        // Polls that the manager answers at once, or that cost it more than an answer.
        let is_costly = request.leaving || !request.returned.is_empty() || self.polls.leaving().contains(&referee);
        if was_unanswered || is_costly {
            self.rate_limits.check_query(&AgentId::Referee(referee.clone()), METHOD)?;
        }
        let holding = request.holding.clone();
        if !request.returned.is_empty() || request.leaving {
            let (shared, referee) = (Arc::clone(self), referee.clone());
            // The referee may exit without waiting for the answer.
            finish(METHOD, async move { shared.take_back(&referee, request).await }).await?;
        }
        let answer = if self.polls.leaving().contains(&referee) {
            NextMatchAnswer { status: NextStep::Wait, start_match: None }
        } else {
            let until = Instant::now() + self.poll_length();
            loop {
                let woken = poll.woken();
                tokio::pin!(woken);
                woken.as_mut().enable();
                if poll.is_superseded() {
                    break NextMatchAnswer { status: NextStep::Wait, start_match: None };
                }
                match self.find_order(&referee, &holding).await? {
                    Found::Order(found) => {
                        let (assignment, order) = *found;
                        self.begun().entry(assignment).or_insert_with(Instant::now);
                        break NextMatchAnswer { status: NextStep::Match, start_match: Some(Box::new(order)) };
                    }
                    Found::Over => break NextMatchAnswer { status: NextStep::Over, start_match: None },
                    Found::Unregistered(message) => {
                        return Err(RequestError::new(ErrorCode::E013, METHOD, message));
                    }
                    Found::Nothing if self.polls.is_closed() => {
                        break NextMatchAnswer { status: NextStep::Wait, start_match: None };
                    }
                    Found::Nothing => {}
                }
                if timeout_at(until, woken).await.is_err() {
                    break NextMatchAnswer { status: NextStep::Wait, start_match: None };
                }
            }
        };
        poll.answered();
        Ok(answer)
    }

    /// A match that waits for this referee and was not handed out yet, for the answer to a report.
    pub(crate) async fn next_unclaimed(&self, referee: &RefereeId) -> Option<Box<StartMatch>> {
        let claimed = self.begun().keys().filter(|held| held.referee == *referee).cloned().collect::<Vec<_>>();
        let claimed = claimed.into_iter().map(|held| (held.match_id, held.attempt)).collect();
        if self.polls.leaving().contains(referee) {
            return None;
        }
        let Ok(Found::Order(found)) = self.find_order(referee, &claimed).await else { return None };
        let (assignment, order) = *found;
        self.begun().entry(assignment).or_insert_with(Instant::now);
        Some(Box::new(order))
    }

    /// `held` are the attempts that the referee says it has. They count as begun.
    async fn find_order(&self, referee: &RefereeId, held: &Attempts) -> Result<Found, RequestError> {
        let (ready, wanted, held) = (self.polls.ready(referee), referee.clone(), held.clone());
        let (mode, seed) = (self.settings.mode, self.settings.seed.clone());
        let found = self.league_handle.read_uncommitted(move |season| {
            let known = season.referee(&wanted);
            if season.phase() == LeaguePhase::LeagueCompleted || known.is_some_and(|known| known.withdrawn) {
                return (Found::Over, Vec::new());
            }
            if let Some(message) = known.and_then(registers_again) {
                return (Found::Unregistered(message), Vec::new());
            }
            let (claimed, offered): (Vec<Assignment>, Vec<Assignment>) = ready
                .into_iter()
                .filter(|ready| season.holds(ready))
                .partition(|ready| held.get(&ready.match_id) == Some(&ready.attempt));
            let order = offered.into_iter().find_map(|assignment| {
                let secret = seed.as_ref().map(|seed| seed.secret(&assignment.match_id));
                let order = season.order(&assignment, mode, secret)?;
                Some(Found::Order(Box::new((assignment, order))))
            });
            (order.unwrap_or(Found::Nothing), claimed)
        });
        let (mut found, claimed) = found.await?;
        for assignment in claimed {
            self.begun().entry(assignment).or_insert_with(Instant::now);
        }
        if let Found::Order(found) = &mut found {
            found.1.home_mark.clone_from(&self.settings.home_mark);
        }
        Ok(found)
    }

    /// The referee gives attempts back, or leaves. A referee that leaves also gives back what it has not taken: orders may be lost with
    /// the answer to its last poll.
    async fn take_back(&self, referee: &RefereeId, request: NextMatch) -> Result<(), RequestError> {
        let NextMatch { holding, returned, posting, leaving, .. } = request;
        if leaving {
            self.polls.leave(referee);
        }
        let (has_left, wanted) = (leaving && holding.is_empty(), referee.clone());
        // Only attempts that it has: it must not make the manager ask the players of other matches.
        let given_back = self.league_handle.read_uncommitted(move |season| {
            let own = season.assignments().into_iter().filter(|held| held.referee == wanted);
            let names = |attempts: &Attempts, held: &Assignment| attempts.get(&held.match_id) == Some(&held.attempt);
            own.filter(|held| names(&returned, held) || (leaving && !names(&holding, held))).collect::<Vec<_>>()
        });
        let returned = given_back.await?;
        for Assignment { match_id, .. } in &returned {
            self.log(JournalLevel::Warn, "MATCH_RETURNED", || {
                format!("{referee} gives {match_id} back; it is given away again")
            });
        }
        let found_out = self.learn_posting(&returned, posting).await?;
        if !leaving {
            // A referee that refuses every match must not get them in a loop.
            sleep(self.settings.referee_check_interval / 4).await;
        }
        let (unreachable, refused) = returned.into_iter().partition(|held| found_out.contains(&held.match_id));
        self.interrupt(unreachable, Some(ReturnCause::Unreachable)).await?;
        self.interrupt(refused, Some(ReturnCause::Refused)).await?;
        if !has_left {
            return Ok(());
        }
        let left = referee.clone();
        let released = self.league_handle.command(move |season, now| match season.phase() {
            LeaguePhase::LeagueCompleted => Ok(CommandOutcome { events: Vec::new(), reply: () }),
            LeaguePhase::WaitingForRegistrations | LeaguePhase::CreatingSchedule | LeaguePhase::RunningLeague => {
                season.leave_referee(&left, now)
            }
        });
        released.await
    }

    /// Believes the referee only about players of the matches that it gives back. Returns the matches in which it found out about a
    /// player: the manager knows it from now on, so the referee cannot say so again to get rid of a match.
    async fn learn_posting(
        &self,
        returned: &[Assignment],
        posting: Vec<PlayerId>,
    ) -> Result<HashSet<MatchId>, RequestError> {
        if posting.is_empty() {
            return Ok(HashSet::new());
        }
        let returned = returned.to_vec();
        let learned = self.league_handle.read_uncommitted(move |season| {
            let held = returned.iter().filter(|held| season.holds(held));
            let mut learned = BTreeMap::new();
            let mut found_out = HashSet::new();
            for held in held {
                let players = season.contestants(&held.match_id).into_iter().flat_map(|players| [players.a, players.b]);
                for player in players.filter(|player| posting.contains(&player.id) && !player.dialect.posts()) {
                    learned.insert(player.id.clone(), player.dialect.posting());
                    found_out.insert(held.match_id.clone());
                }
            }
            (learned, found_out)
        });
        let (learned, found_out) = learned.await?;
        for (player, dialect) in learned {
            let found = LearnedDialect { dialect: Some(dialect), ..LearnedDialect::default() };
            self.learn(AgentId::Player(player), found).await;
        }
        Ok(found_out)
    }

    /// Takes the matches of referees that do not poll any more.
    pub(crate) async fn give_up_silent(&self, pulling: Vec<RefereeId>) {
        let limit = self.silence_limit();
        for referee in pulling.into_iter().filter(|referee| self.polls.silence(referee) > limit) {
            self.give_up(&referee).await;
        }
    }

    fn unreachable(&self) -> MutexGuard<'_, UnreachableMatches> {
        self.unreachable.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Players that post their answers and have waited too long for a referee that can be reached.
    pub(crate) fn given_up_players(&self) -> HashSet<PlayerId> {
        let now = Instant::now();
        let unreachable = self.unreachable();
        let due = unreachable.waits_until.iter().filter(|(_, until)| **until <= now);
        due.map(|(player, _)| player.clone()).collect()
    }

    /// Tells the operator once about each match that waits because of a player that posts its answers. After `limit` the matches of this
    /// player go to referees that pull: one player must not stop the league.
    pub(crate) fn note_unreachable(&self, waiting: Vec<(MatchId, Vec<PlayerId>)>, limit: Duration) {
        let now = Instant::now();
        let mut unreachable = self.unreachable();
        for (match_id, players) in waiting {
            for player in &players {
                let until = *unreachable.waits_until.entry(player.clone()).or_insert_with(|| now + limit);
                if until <= now {
                    self.reassign.notify_one();
                }
            }
            if !unreachable.told.insert(match_id.clone()) {
                continue;
            }
            let players: Vec<String> = players.iter().map(ToString::to_string).collect();
            let words = format!(
                "{match_id} waits: {} posts its answers to the referee, and every referee pulls, so that no answer reaches one; start a \
                 referee without --pull, or withdraw the player; after {} s without such a referee the player loses its matches",
                players.join(" and "),
                limit.as_secs()
            );
            tracing::warn!("{words}");
            self.log(JournalLevel::Warn, "MATCH_WAITS", || words.clone());
        }
    }

    pub(crate) async fn dismiss_polls(&self) {
        self.polls.wake_all();
        self.polls.all_left(LAST_POLLS).await;
    }
}

fn registers_again(referee: &RegisteredReferee) -> Option<String> {
    let id = &referee.id;
    if referee.lost {
        return Some(format!("{id} was silent for too long, and its matches went to others; register again"));
    }
    let is_out = referee.needs_commitments() && referee.running == 0;
    if referee.left {
        return Some(format!("{id} has left; register again"));
    }
    is_out.then(|| format!("{id} has no draw commitment left; register again with more"))
}

/// The referees that pull and are there, as far as the season knows.
pub(crate) fn pulling(season: &Season) -> Vec<RefereeId> {
    let pulling = season.referees().iter().filter(|referee| referee.profile.pulls && !referee.is_absent());
    pulling.map(|referee| referee.id.clone()).collect()
}
