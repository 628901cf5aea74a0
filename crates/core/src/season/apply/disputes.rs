//! Attempts that end without a result, evidence, and the operator's decisions.

use league_protocol::id::{MatchId, RefereeId};
use league_protocol::message::operate::DisputeDecision;

use super::{BadEvent, unknown};
use crate::season::agent::RegisteredReferee;
use crate::season::evidence::{MatchEvidence, ReturnCause};
use crate::season::{MatchSlot, Season};

impl Season {
    pub(super) fn return_match(
        &mut self,
        match_id: &MatchId,
        attempt: u32,
        cause: ReturnCause,
    ) -> Result<(), BadEvent> {
        let index = self.held(match_id, attempt)?;
        self.set(match_id, MatchSlot::Waiting { attempts: attempt, refused_by: Some(index) });
        let referee = &mut self.referees[index as usize];
        referee.running -= 1;
        match cause {
            ReturnCause::Refused | ReturnCause::Unreachable => {}
            ReturnCause::Stalled | ReturnCause::Overdue => referee.stalled = true,
            ReturnCause::Vanished => self.bar(match_id, index),
            ReturnCause::Contested => {
                self.bar(match_id, index);
                self.evidence_of(match_id).contested += 1;
            }
        }
        Ok(())
    }

    pub(super) fn evidence_of(&mut self, match_id: &MatchId) -> &mut MatchEvidence {
        self.evidence.entry(match_id.clone()).or_default()
    }

    /// The referee does not get the match again while another one exists.
    pub(super) fn bar(&mut self, match_id: &MatchId, referee: u32) {
        let barred = &mut self.evidence_of(match_id).barred;
        if !barred.contains(&referee) {
            barred.push(referee);
        }
    }

    pub(super) fn resolve_dispute(&mut self, match_id: &MatchId, decision: DisputeDecision) -> Result<(), BadEvent> {
        let alerts = self.evidence.get_mut(match_id).map(|known| std::mem::take(&mut known.alerts)).unwrap_or_default();
        if alerts.is_empty() {
            return Err(BadEvent::Untimely("this decision"));
        }
        let suspended = match self.slot(match_id) {
            Some(MatchSlot::Suspended { attempt, referee, draw, report }) => {
                Some((*attempt, *referee, draw.clone(), report.is_some()))
            }
            Some(
                MatchSlot::Waiting { .. } | MatchSlot::Held { .. } | MatchSlot::Awarded { .. } | MatchSlot::Done { .. },
            )
            | None => None,
        };
        if let Some((attempt, referee, draw, is_reported)) = suspended {
            // The reported result counts with the next event.
            let counts = is_reported && decision == DisputeDecision::Reject;
            self.referees[referee as usize].running += u32::from(counts);
            self.set(
                match_id,
                match counts {
                    true => MatchSlot::Held { attempt, referee, draw },
                    false => MatchSlot::Waiting { attempts: attempt, refused_by: Some(referee) },
                },
            );
        }
        if decision == DisputeDecision::Uphold {
            let mut named: Vec<&RefereeId> = alerts.iter().map(|alert| &alert.referee).collect();
            named.sort();
            named.dedup();
            for referee in named {
                let index = *self.referee_index.get(referee).ok_or_else(|| unknown(referee))?;
                self.referees[index as usize].faults += 1;
                if self.referees[index as usize].faults == RegisteredReferee::MAX_FAULTS {
                    self.release(referee)?;
                }
            }
        }
        self.forget_evidence(match_id);
        Ok(())
    }

    /// Evidence about a decided match is needed only while an alert is open.
    pub(super) fn forget_evidence(&mut self, match_id: &MatchId) {
        let is_decided = self.slot(match_id).is_some_and(|slot| slot.outcome().is_some());
        if is_decided && self.evidence.get(match_id).is_some_and(|known| known.alerts.is_empty()) {
            self.evidence.remove(match_id);
        }
    }
}
