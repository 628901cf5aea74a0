//! Decides whether a manager leads its league, from what the store says about the lease. It performs nothing.
//!
//! The store refuses every append with an epoch that is not the last one, so a manager that decides late writes nothing.
//! PostgreSQL and the simulation use the same decisions.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ElectionInput {
    /// The lease in the store, with epoch 0 if there was never one. The clock of the store says whether it has expired.
    Seen { epoch: u64, is_free: bool },
    /// The answer to [`ElectionStep::Take`]: the new epoch, or `None` if another manager was faster.
    Taken(Option<u64>),
    /// The answer to a renewal: whether the lease still has the epoch of this manager.
    Renewed(bool),
    /// The store did not answer. What was asked for may have happened or not.
    Unanswered,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ElectionStep {
    Follow,
    Take,
    Lead {
        epoch: u64,
    },
    /// Another manager leads, or the store has lost a lease. This manager never writes again.
    Stop,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Position {
    Follower,
    Leader(u64),
    Deposed,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Election {
    position: Position,
    /// The last epoch that the store showed.
    last: u64,
}

impl Default for Election {
    fn default() -> Self {
        Self { position: Position::Follower, last: 0 }
    }
}

impl Election {
    /// The epoch of a leader.
    pub fn epoch(&self) -> Option<u64> {
        match self.position {
            Position::Leader(epoch) => Some(epoch),
            Position::Follower | Position::Deposed => None,
        }
    }

    pub fn decide(&mut self, input: ElectionInput) -> ElectionStep {
        match (self.position, input) {
            (Position::Deposed, _) => ElectionStep::Stop,
            // An earlier epoch than before: the store was restored from a copy, and its log may have lost events.
            (Position::Follower, ElectionInput::Seen { epoch, .. }) if epoch < self.last => self.stop(),
            (Position::Follower, ElectionInput::Seen { epoch, is_free }) => {
                self.last = epoch;
                if is_free { ElectionStep::Take } else { ElectionStep::Follow }
            }
            (Position::Follower, ElectionInput::Taken(Some(epoch))) if epoch <= self.last => self.stop(),
            (Position::Follower, ElectionInput::Taken(Some(epoch))) => {
                (self.position, self.last) = (Position::Leader(epoch), epoch);
                ElectionStep::Lead { epoch }
            }
            // If the lease was taken and only the answer was lost, it expires.
            (
                Position::Follower,
                ElectionInput::Taken(None) | ElectionInput::Unanswered | ElectionInput::Renewed(_),
            ) => ElectionStep::Follow,
            (Position::Leader(own), ElectionInput::Seen { epoch, .. }) if epoch != own => self.stop(),
            (Position::Leader(_), ElectionInput::Renewed(false) | ElectionInput::Taken(_)) => self.stop(),
            // Without an answer the lease may still be held. Each append finds out.
            (
                Position::Leader(epoch),
                ElectionInput::Seen { .. } | ElectionInput::Renewed(true) | ElectionInput::Unanswered,
            ) => ElectionStep::Lead { epoch },
        }
    }

    fn stop(&mut self) -> ElectionStep {
        self.position = Position::Deposed;
        ElectionStep::Stop
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A lease with a clock of its own, as the store keeps it.
    #[derive(Default)]
    struct TestLease {
        epoch: u64,
        expires: u64,
        now: u64,
    }

    const TTL: u64 = 5;

    impl TestLease {
        fn is_free(&self) -> bool {
            self.expires <= self.now
        }

        fn take(&mut self) -> Option<u64> {
            if !self.is_free() {
                return None;
            }
            (self.epoch, self.expires) = (self.epoch + 1, self.now + TTL);
            Some(self.epoch)
        }

        fn renew(&mut self, epoch: u64) -> bool {
            if epoch == self.epoch {
                self.expires = self.now + TTL;
            }
            epoch == self.epoch
        }
    }

    /// What happens at one moment: to which manager, and whether the question or the answer is lost.
    #[derive(Clone, Copy, Debug)]
    enum Moment {
        Polls { manager: usize, question_lost: bool, answer_lost: bool },
        Writes { manager: usize },
        GivesBack { manager: usize },
        Time(u64),
    }

    fn moments() -> impl Strategy<Value = Vec<Moment>> {
        let manager = 0..4_usize;
        let moment = prop_oneof![
            6 => (manager.clone(), prop::bool::weighted(0.15), prop::bool::weighted(0.15)).prop_map(
                |(manager, question_lost, answer_lost)| Moment::Polls { manager, question_lost, answer_lost }
            ),
            3 => manager.clone().prop_map(|manager| Moment::Writes { manager }),
            1 => manager.prop_map(|manager| Moment::GivesBack { manager }),
            3 => (0..8_u64).prop_map(Moment::Time),
        ];
        prop::collection::vec(moment, 1..400)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn epochs_only_grow_and_no_epoch_has_two_writers(moments in moments()) {
            let mut lease = TestLease::default();
            let mut managers = [Election::default(); 4];
            let mut writers: Vec<(u64, usize)> = Vec::new();
            let mut last = 0;
            for moment in moments {
                match moment {
                    Moment::Time(passed) => lease.now += passed,
                    Moment::GivesBack { manager } => {
                        // It ends; another process starts in its place.
                        if managers[manager].epoch() == Some(lease.epoch) {
                            lease.expires = lease.now;
                        }
                        managers[manager] = Election::default();
                    }
                    Moment::Polls { manager, question_lost, answer_lost } => {
                        let election = &mut managers[manager];
                        if question_lost {
                            election.decide(ElectionInput::Unanswered);
                            continue;
                        }
                        let (answered, epoch) = (!answer_lost, election.epoch());
                        if let Some(epoch) = epoch {
                            let renewed = lease.renew(epoch);
                            let told = if answered { ElectionInput::Renewed(renewed) } else { ElectionInput::Unanswered };
                            let step = election.decide(told);
                            prop_assert_eq!(step == ElectionStep::Stop, answered && !renewed);
                            continue;
                        }
                        let seen = ElectionInput::Seen { epoch: lease.epoch, is_free: lease.is_free() };
                        if election.decide(seen) == ElectionStep::Take {
                            let taken = lease.take();
                            election.decide(if answered { ElectionInput::Taken(taken) } else { ElectionInput::Unanswered });
                        }
                    }
                    Moment::Writes { manager } => {
                        // The condition of the store: the epoch of the append, and a lease that has not expired.
                        if let Some(epoch) = managers[manager].epoch().filter(|epoch| *epoch == lease.epoch)
                            && !lease.is_free()
                        {
                            writers.push((epoch, manager));
                        }
                    }
                }
                prop_assert!(lease.epoch >= last, "an epoch went back");
                last = lease.epoch;
                let leading = managers.iter().filter(|election| election.epoch() == Some(lease.epoch)).count();
                prop_assert!(leading <= 1, "two managers lead epoch {}", lease.epoch);
            }
            for pair in writers.windows(2) {
                prop_assert!(pair[0].0 < pair[1].0 || pair[0] == pair[1], "{:?} writes after {:?}", pair[1], pair[0]);
            }
        }
    }

    #[test]
    fn a_deposed_manager_never_leads_again() {
        let mut election = Election::default();
        assert_eq!(election.decide(ElectionInput::Seen { epoch: 3, is_free: true }), ElectionStep::Take);
        assert_eq!(election.decide(ElectionInput::Taken(Some(4))), ElectionStep::Lead { epoch: 4 });
        assert_eq!(election.decide(ElectionInput::Unanswered), ElectionStep::Lead { epoch: 4 });
        assert_eq!(election.decide(ElectionInput::Renewed(false)), ElectionStep::Stop);
        for input in [
            ElectionInput::Seen { epoch: 5, is_free: true },
            ElectionInput::Taken(Some(6)),
            ElectionInput::Renewed(true),
            ElectionInput::Unanswered,
        ] {
            assert_eq!(election.decide(input), ElectionStep::Stop);
        }
        assert_eq!((election.position, election.epoch()), (Position::Deposed, None));
    }

    #[test]
    fn a_store_that_went_back_to_an_earlier_epoch_is_not_led() {
        let mut election = Election::default();
        election.decide(ElectionInput::Seen { epoch: 7, is_free: false });
        assert_eq!(election.decide(ElectionInput::Seen { epoch: 6, is_free: true }), ElectionStep::Stop);
        let mut election = Election::default();
        election.decide(ElectionInput::Seen { epoch: 7, is_free: true });
        assert_eq!(election.decide(ElectionInput::Taken(Some(7))), ElectionStep::Stop);
    }
}
