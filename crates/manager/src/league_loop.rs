//! Runs a league from registration to champion: asks the season for the next action and performs it.
//!
//! The loop keeps no state that matters: after a crash the season names the next action again.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use league_core::season::event::Fact;
use league_core::season::{Assignment, CommandOutcome, DrawSource, Exceptions, NextAction};
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{MatchId, RoundId};
use thiserror::Error;
use tokio::time::{Instant, sleep, timeout_at};

use crate::broadcast::Broadcast;
use crate::manager::Shared;
use crate::notices::{self, Announcement, Recipient};

#[derive(Debug, Error)]
pub enum LeagueStopped {
    #[error("registration ended after {window:?} with {players} of {needed} players and {referees} referees")]
    TooFew { window: Duration, players: usize, needed: u32, referees: usize },
    #[error(transparent)]
    Refused(#[from] RequestError),
}

impl Shared {
    pub(crate) async fn conduct(self: &Arc<Self>) -> Result<(), LeagueStopped> {
        let _polls = self.polls.open();
        let last = tokio::select! {
            biased;
            over = self.play_rounds() => over?,
            never = self.keep_files() => match never {},
        };
        self.conclude(last).await
    }

    /// Returns the last round if players have not been told of its end.
    async fn play_rounds(self: &Arc<Self>) -> Result<Option<RoundId>, LeagueStopped> {
        let mut opened = None;
        let mut changes = self.league_handle.changes();
        // Referees may know of matches that were assigned before this start.
        let found =
            self.league_handle.read(|season, _| (HashSet::from_iter(season.assignments()), season.last_completed()));
        let (before, mut finished) = found.await?;
        // Nothing has been played since this manager started.
        let mut resumed = true;
        let mut paced = false;
        loop {
            // Marked before the read, so that no later change is missed.
            changes.mark_unchanged();
            let round = match self.league_handle.read(|season, _| season.next_action()).await? {
                NextAction::AwaitRegistrations => {
                    let since = *opened.get_or_insert_with(Instant::now);
                    finished = None;
                    self.await_registrations(since, &mut changes).await?;
                    continue;
                }
                NextAction::AwaitStart => {
                    opened = None;
                    drop(changes.changed().await);
                    continue;
                }
                // No call is open now, so the pause counts against no deadline. The operator may act in the meantime.
                NextAction::StartRound(_) if !paced && !self.settings.pace.is_zero() => {
                    sleep(self.settings.pace).await;
                    paced = true;
                    continue;
                }
                NextAction::StartRound(_) => {
                    // Sent together, so that they share a commit.
                    let (started, assigned) =
                        tokio::join!(self.league_handle.command(|season, now| season.start_round(now)), self.assign());
                    assigned?;
                    // Without a round the format is complete and the league is over.
                    let Some(round) = unless_refused(started, &mut changes).await?.flatten() else { continue };
                    resumed = false;
                    round
                }
                NextAction::Play(round) => {
                    // Assigned first, so that announcements name the referee.
                    self.assign().await?;
                    round
                }
                NextAction::Conclude => return Ok(finished.filter(|_| !resumed)),
            };
            (opened, paced) = (None, false);
            self.play(round, &before, finished, resumed, &mut changes).await?;
            // The players hear their results from the referees before they hear more from the manager.
            self.game_over.wait().await;
            (finished, resumed) = (Some(round), false);
        }
    }

    /// Gives waiting matches to referees, one at a time in a paced league. Also returns of each match whether its referee shows passes,
    /// and whether a player has to know the referee's address because it posts its answers there.
    async fn assign(&self) -> Result<(Vec<Assignment>, Vec<(bool, bool)>), RequestError> {
        let (seed, random) = (self.settings.seed.clone(), self.environment.random());
        let paced = !self.settings.pace.is_zero();
        let exceptions = Exceptions { leaving: self.polls.leaving(), given_up: self.given_up_players() };
        self.league_handle
            .command(move |season, now| {
                let source = seed.as_ref().map_or(DrawSource::Random(&random), DrawSource::Seed);
                let outcome = one_at_most(season.assign_except(source, &exceptions, now), paced);
                let CommandOutcome { events, reply: due } = outcome;
                let posts = |held: &Assignment| {
                    season.contestants(&held.match_id).is_some_and(|of| of.a.dialect.posts() || of.b.dialect.posts())
                };
                let told = due.iter().map(|held| (season.shows_passes(&held.referee), posts(held))).collect();
                Ok(CommandOutcome { events, reply: (due, told) })
            })
            .await
    }

    async fn await_registrations(
        &self,
        opened: Instant,
        changes: &mut tokio::sync::watch::Receiver<u64>,
    ) -> Result<(), LeagueStopped> {
        let settings = &self.settings;
        let there = self.league_handle.read(|season, _| {
            let present = season.referees().iter().filter(|referee| !referee.is_absent()).count();
            (season.players().len(), present, season.config().min_players.max(2), season.was_reopened())
        });
        let (players, referees, needed, reopened) = there.await?;
        let enough = |expected: Option<u32>, there: usize| expected.is_none_or(|expected| there >= expected as usize);
        // The expected numbers no longer apply after the operator reopened registration.
        let expecting = !reopened && (settings.expect_players.is_some() || settings.expect_referees.is_some());
        let all = enough(settings.expect_players, players) && enough(settings.expect_referees, referees);
        if !(expecting && all && referees > 0 && players >= needed as usize) {
            // A window that ends after the clock of this machine never ends.
            let ending = settings.registration_window.and_then(|window| Some((window, opened.checked_add(window)?)));
            let Some((window, until)) = ending else {
                drop(changes.changed().await);
                return Ok(());
            };
            if timeout_at(until, changes.changed()).await.is_ok() {
                return Ok(());
            }
            if referees == 0 || players < needed as usize {
                return Err(LeagueStopped::TooFew { window, players, needed, referees });
            }
        }
        unless_refused(self.league_handle.command(|season, now| season.start(now)).await, changes).await?;
        Ok(())
    }

    /// Each match begins when its own agents have been told of the round. Referees may know the matches in `given`.
    /// Players first hear of the end of round `before`; after a restart (`resumed`) they get the standings again.
    async fn play(
        self: &Arc<Self>,
        round: RoundId,
        given: &HashSet<Assignment>,
        before: Option<RoundId>,
        resumed: bool,
        changes: &mut tokio::sync::watch::Receiver<u64>,
    ) -> Result<(), LeagueStopped> {
        let sending = self.league_handle.read(move |season, _| {
            let over = before.into_iter().flat_map(|before| notices::round_over(season, before));
            let mut to_players: Vec<Announcement> = over.take(if resumed { 1 } else { 2 }).collect();
            to_players.push(notices::announcement(season, round, false));
            let to_referees = vec![notices::announcement(season, round, true)];
            let broadcast = Broadcast::default()
                .to(Recipient::players_of(season, round), to_players)
                .to(Recipient::referees(season), to_referees);
            let size = (season.config().league_id.clone(), season.total_matches());
            let without_passes = season.assignments().into_iter().filter(|held| !season.shows_passes(&held.referee));
            let without_passes: HashSet<MatchId> = without_passes.map(|held| held.match_id).collect();
            (broadcast, season.assignments(), without_passes, size)
        });
        let (mut broadcast, mut due, mut without_passes, (league, matches)) = sending.await?;
        self.announced().clear();
        // The matches of `due` whose players do not know enough about their referee.
        let mut retold = HashSet::new();
        let grace = if round == RoundId(1) { self.settings.grace } else { Duration::ZERO };
        let barrier = broadcast.barrier();
        let telling = self.broadcast(broadcast, grace).shared();
        if let Some(views) = &self.views {
            views.expect(league, matches).await;
        }
        tracing::info!(%round, matches = due.len(), "the round begins");
        let playing = async {
            let mut sent = HashSet::new();
            loop {
                for assignment in due.drain(..) {
                    if sent.insert(assignment.clone()) {
                        let is_new = !given.contains(&assignment);
                        let again = retold.contains(&assignment.match_id).then_some(round);
                        tokio::spawn(Arc::clone(self).dispatch(assignment, is_new, Arc::clone(&barrier), again));
                    }
                }
                changes.mark_unchanged();
                // Usually there is nothing to do, and this check need not wait for the disk.
                let waits = self.league_handle.read_uncommitted(move |season| {
                    season.next_action() == NextAction::Play(round) && season.only_awaits_results()
                });
                if !waits.await? {
                    if self.league_handle.read(move |season, _| season.next_action() != NextAction::Play(round)).await?
                    {
                        return Ok(());
                    }
                    // The operator may act in the meantime.
                    if !self.settings.pace.is_zero() {
                        sleep(self.settings.pace).await;
                    }
                    let told;
                    (due, told) = self.assign().await?;
                    retold = due
                        .iter()
                        .zip(told)
                        .filter_map(|(Assignment { match_id, .. }, (shows, posts))| {
                            let changed = if shows {
                                without_passes.remove(match_id)
                            } else {
                                without_passes.insert(match_id.clone())
                            };
                            (changed || posts).then(|| match_id.clone())
                        })
                        .collect();
                }
                if due.is_empty() {
                    tokio::select! {
                        biased;
                        _ = changes.changed() => {}
                        () = self.reassign.notified() => {}
                    }
                }
            }
        };
        let played = async {
            let (played, ()) = tokio::join!(playing, telling.clone());
            played
        };
        let monitoring = async {
            // A match that could not begin yet is not overdue.
            telling.clone().await;
            self.monitor_referees().await;
        };
        tokio::select! {
            biased;
            played = played => played,
            () = monitoring => Ok(()),
        }
    }

    async fn conclude(self: &Arc<Self>, last: Option<RoundId>) -> Result<(), LeagueStopped> {
        self.file().await?;
        let sending = self.league_handle.read(move |season, _| {
            let over = last.into_iter().flat_map(|last| notices::round_over(season, last));
            let to_players = over.chain([notices::league_over(season)]).collect();
            Broadcast::default()
                .to(Recipient::all_players(season), to_players)
                .to(Recipient::referees(season), vec![notices::league_over(season)])
        });
        tokio::join!(self.broadcast(sending.await?, Duration::ZERO), self.dismiss_polls());
        if let Some(views) = &self.views
            && let Err(error) = views.flush().await
        {
            tracing::warn!(%error, "the league's files are not complete");
        }
        Ok(())
    }
}

/// Keeps the first of several assignments: the others are made later, as if no referee were free for them now.
fn one_at_most(mut outcome: CommandOutcome<Vec<Assignment>>, paced: bool) -> CommandOutcome<Vec<Assignment>> {
    if paced {
        outcome.reply.truncate(1);
        let first = outcome.reply.first().map(|held| held.match_id.clone());
        let is_later =
            |fact: &Fact| matches!(fact, Fact::MatchAssigned { match_id, .. } if first.as_ref() != Some(match_id));
        outcome.events.retain(|event| !is_later(&event.fact));
    }
    outcome
}

/// `None` when the season refuses the command because the operator changed the league. Waits for that change, so that the
/// loop can ask again.
async fn unless_refused<T>(
    reply: Result<T, RequestError>,
    changes: &mut tokio::sync::watch::Receiver<u64>,
) -> Result<Option<T>, LeagueStopped> {
    match reply {
        Ok(reply) => Ok(Some(reply)),
        Err(refused) if refused.code == Some(ErrorCode::E010) => {
            tracing::info!(%refused, "the operator was faster; the league is looked at again");
            drop(changes.changed().await);
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
