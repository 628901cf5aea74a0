//! For random messages a session never panics, counts every match once and never changes a choice.

use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;

use super::*;
use crate::session::DrawCheck;
use crate::session::active_match::AttemptKey;
use league_protocol::message::standings::PlayerRecord;

#[derive(Clone, Debug)]
enum Said {
    Announced { round: u32, plays: bool },
    Invited { number: u32, attempt: Option<u32> },
    AskedParity { number: u32 },
    AskedMove { number: u32, board: u8 },
    Chose { number: u32, cell: u8 },
    Over { number: u32, kind: u8, points: Option<u32> },
    RoundCompleted { round: u32, last: bool },
    LeagueCompleted,
    Registered { league: bool },
}

fn said() -> impl Strategy<Value = Said> {
    let number = 1..5_u32;
    prop_oneof![
        (1..4_u32, any::<bool>()).prop_map(|(round, plays)| Said::Announced { round, plays }),
        (number.clone(), prop::option::of(1..3_u32)).prop_map(|(number, attempt)| Said::Invited { number, attempt }),
        number.clone().prop_map(|number| Said::AskedParity { number }),
        (number.clone(), 0..3_u8).prop_map(|(number, board)| Said::AskedMove { number, board }),
        (number.clone(), 1..4_u8).prop_map(|(number, cell)| Said::Chose { number, cell }),
        (number, 0..6_u8, prop::option::of(prop_oneof![0..4_u32, Just(u32::MAX)]))
            .prop_map(|(number, kind, points)| Said::Over { number, kind, points }),
        (1..4_u32, any::<bool>()).prop_map(|(round, last)| Said::RoundCompleted { round, last }),
        Just(Said::LeagueCompleted),
        any::<bool>().prop_map(|league| Said::Registered { league }),
    ]
}

/// The expected state of a session.
#[derive(Default)]
struct Witness {
    league: bool,
    results: HashMap<(bool, MatchId), (OwnResult, u32)>,
    attempts: HashMap<MatchId, BTreeMap<Option<u32>, Attempt>>,
    asked: HashMap<MatchId, MoveRequest>,
}

#[derive(Default)]
struct Attempt {
    joined: bool,
    over: bool,
    /// The first answer in each position.
    answers: HashMap<String, SmolStr>,
}

impl Witness {
    fn hears(&mut self, session: &mut PlayerSession, said: &Said) -> Result<(), TestCaseError> {
        let head = ReceivedEnvelope::default();
        let at = |number: &u32| MatchId::of(RoundId(1), *number);
        match said {
            Said::Announced { round, plays } => {
                let announced = announcement(*round, if *plays { &[(1, 2)] } else { &[(2, 3)] });
                let _ = session.round_announced(&head, &RoundAnnouncement { league_id: None, ..announced });
            }
            Said::Invited { number, attempt } => {
                let known = self.attempts.entry(at(number)).or_default().entry(*attempt).or_default();
                let again = known.joined && (attempt.is_some() || !known.over);
                if known.joined && !again {
                    *known = Attempt::default();
                }
                known.joined = true;
                let invitation =
                    GameInvitation { attempt: *attempt, round_id: None, ..foreign_invitation(&at(number)) };
                let own = nonce(if again { "again" } else { "fresh" });
                let join = session.invited(&head, &invitation, own, Timestamp::EPOCH).unwrap();
                prop_assert_ne!(join.draw_nonce, Some(nonce("again")));
            }
            Said::AskedParity { number } => self.asked(session, parity_call(&at(number)).into())?,
            Said::AskedMove { number, board } => {
                self.asked(session, move_call(&at(number), &format!("board {board}")).into())?;
            }
            Said::Chose { number, cell } => {
                if let Some(request) = self.asked.get(&at(number)).cloned() {
                    let stands = session.move_chosen(&head, &request.asked(), cell.to_string().into()).unwrap();
                    let answers = &mut self.latest(&at(number)).answers;
                    let first = answers.entry(request.view.to_string()).or_insert_with(|| cell.to_string().into());
                    prop_assert_eq!(&*first, &stands.played);
                    prop_assert_eq!(stands.signature, None, "a call without a turn is not signed");
                }
            }
            Said::Over { number, kind, points } => {
                let match_id = at(number);
                let (status, winner, own) = match kind {
                    0 => (ResultStatus::Win, Some(me()), OwnResult::Win),
                    1 => (ResultStatus::Win, Some(opponent()), OwnResult::Loss),
                    2 => (ResultStatus::Draw, None, OwnResult::Draw),
                    3 => (ResultStatus::TechnicalLoss, Some(me()), OwnResult::Win),
                    4 => (ResultStatus::TechnicalLoss, Some(opponent()), OwnResult::TechnicalLoss),
                    _ => (ResultStatus::TechnicalLoss, None, OwnResult::TechnicalLoss),
                };
                let whole = Some(result(status, winner.as_ref()));
                let over = GameOver { game_result: whole, points_earned: *points, ..blank(&match_id) };
                session.match_over(&head, &over).unwrap();
                let usual = match own {
                    OwnResult::Win => 3,
                    OwnResult::Draw => 1,
                    OwnResult::Loss | OwnResult::TechnicalLoss => 0,
                };
                self.results.insert((self.league, match_id.clone()), (own, points.unwrap_or(usual)));
                if self.attempts.contains_key(&match_id) {
                    self.latest(&match_id).over = true;
                }
            }
            Said::RoundCompleted { round, last } => {
                let end = completed(*round, (!last).then_some(round + 1));
                let _ = session.round_completed(&head, &RoundCompleted { league_id: None, ..end });
            }
            Said::LeagueCompleted => {
                let _ = session.league_completed(&head, &LeagueCompleted { league_id: None, ..league_completed() });
            }
            Said::Registered { league } => {
                let ended = session.state() == SessionState::LeagueComplete;
                let name = if *league { "one" } else { "two" };
                session.registered(PlayerIdentity { league_id: Some(name.parse().unwrap()), ..identity(false) });
                if ended || self.league != *league {
                    let results = std::mem::take(&mut self.results);
                    *self = Self { league: *league, results, ..Self::default() };
                }
            }
        }
        self.closed(session);
        Ok(())
    }

    /// A match without attempt that the league continued without may be invited again. The session knows which.
    fn closed(&mut self, session: &mut PlayerSession) {
        for (match_id, attempts) in &mut self.attempts {
            for (attempt, known) in attempts {
                let key = AttemptKey { match_id, attempt: *attempt, referee: None };
                known.over |= session.matches.exact(key).is_some_and(|active| !active.is_open());
            }
        }
    }

    /// A message that names no attempt is about the latest one.
    fn latest(&mut self, match_id: &MatchId) -> &mut Attempt {
        let attempts = self.attempts.entry(match_id.clone()).or_default();
        let latest = attempts.keys().next_back().copied().flatten();
        attempts.entry(latest).or_default()
    }

    fn asked(&mut self, session: &mut PlayerSession, request: MoveRequest) -> Result<(), TestCaseError> {
        let request = session.move_requested(&ReceivedEnvelope::default(), request).unwrap();
        let known = self.latest(&request.match_id).answers.get(request.view.as_str()).cloned();
        prop_assert_eq!(request.answered.as_ref(), known.as_ref());
        self.asked.insert(request.match_id.clone(), request);
        Ok(())
    }

    fn record(&self) -> PlayerRecord {
        self.results.values().fold(PlayerRecord::default(), |mut record, (own, points)| {
            match own {
                OwnResult::Win => record.wins += 1,
                OwnResult::Draw => record.draws += 1,
                OwnResult::Loss | OwnResult::TechnicalLoss => record.losses += 1,
            }
            record.points = record.points.saturating_add(*points);
            record
        })
    }
}

proptest! {
    #[test]
    fn every_match_counts_once_and_no_choice_changes(script in prop::collection::vec(said(), 0..60)) {
        let mut session = PlayerSession::new("Alpha".into(), History::default());
        let mut witness = Witness { league: true, ..Witness::default() };
        session.registered(PlayerIdentity { league_id: Some("one".parse().unwrap()), ..identity(false) });
        for said in &script {
            witness.hears(&mut session, said)?;
            prop_assert_eq!(session.history().record(), witness.record());
            prop_assert_eq!(session.history().matches().len(), witness.results.len());
            let shown = session.player_state(None);
            prop_assert_eq!(shown.state.as_str(), session.state().as_str());
            let playing = matches!(
                session.state(),
                SessionState::WaitingForChoiceRequest | SessionState::ChoosingParity | SessionState::WaitingForResult
            );
            prop_assert_eq!(shown.current_match.is_some(), playing);
        }
        prop_assert!(session.history().matches().iter().all(|played| played.draw == DrawCheck::Unproved));
        let written = serde_json::to_string(session.history()).unwrap();
        prop_assert_eq!(&serde_json::from_str::<History>(&written).unwrap(), &**session.history());
    }
}
