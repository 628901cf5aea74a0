//! What hostile referees do. Their friend is the player with the lower number.

use std::collections::BTreeMap;
use std::sync::Arc;

use league_protocol::dialect::PeerDialect;
use league_protocol::message::report::{LearnedDialect, MatchResultReport};
use league_protocol::table::Method;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::hostile::lies;
use crate::hostile::tamper::{Adversary, Fate};
use crate::process_id::ProcessId;
use crate::rng::Rng;
use crate::scenario::Scenario;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum RefereeLie {
    AlterMove,
    AlterNonce,
    ForgeDraw,
    AlterNumber,
    OmitProof,
    AlterWinner,
    OmitMoves,
    StripSignatures,
    /// Charges a player that has moved.
    Charge,
    /// Loses the player's moves.
    LoseMoves,
    /// Loses the player's joins.
    LoseJoins,
    /// Reads another move than the player sent.
    CorruptMoves,
    NeverInvite,
    /// Invites the player and does not ask it for its move.
    NeverAsk,
    /// The same, and does not wait for the limits.
    ChargeAtOnce,
    /// Does not report a match that its friend did not win, and registers again.
    AbortAndReturn,
    /// The same, and never speaks of the match again.
    AbortAndFallSilent,
    OtherCommitment,
    AlterView,
    PoisonDialects,
    /// Claims a capacity of 1,000 and plays no match.
    Stall,
    /// Registers again without passes and commitments, and then changes moves.
    DropProofs,
    /// Says that it does not take a match, and plays it.
    RefuseAndPlay,
}

impl RefereeLie {
    pub const EVEN_ODD: &[Self] = &[
        Self::AlterMove,
        Self::AlterNonce,
        Self::ForgeDraw,
        Self::AlterNumber,
        Self::OmitProof,
        Self::AlterWinner,
        Self::OmitMoves,
        Self::StripSignatures,
        Self::Charge,
        Self::LoseMoves,
        Self::LoseJoins,
        Self::CorruptMoves,
        Self::NeverInvite,
        Self::NeverAsk,
        Self::ChargeAtOnce,
        Self::AbortAndReturn,
        Self::AbortAndFallSilent,
        Self::OtherCommitment,
        Self::PoisonDialects,
        Self::Stall,
        Self::DropProofs,
        Self::RefuseAndPlay,
    ];

    pub const TIC_TAC_TOE: &[Self] = &[
        Self::AlterMove,
        Self::AlterView,
        Self::OmitMoves,
        Self::StripSignatures,
        Self::Charge,
        Self::LoseMoves,
        Self::NeverAsk,
        Self::AbortAndReturn,
        Self::AbortAndFallSilent,
        Self::DropProofs,
        Self::RefuseAndPlay,
    ];

    /// In a game with cards.
    pub const KUHN_POKER: &[Self] = &[
        Self::ForgeDraw,
        Self::AlterView,
        Self::AlterWinner,
        Self::OmitProof,
        Self::OmitMoves,
        Self::Charge,
        Self::OtherCommitment,
        Self::NeverAsk,
        Self::AbortAndReturn,
    ];
}

#[derive(Debug)]
pub struct HostileReferee {
    lie: RefereeLie,
    seed: u64,
    referees: u8,
    restart: Arc<Notify>,
    registrations: u32,
    /// The player that each match is to go against.
    victims: BTreeMap<String, ProcessId>,
    /// Matches of which the manager hears nothing more.
    aborted: Vec<(String, Value)>,
}

impl HostileReferee {
    pub fn new(scenario: &Scenario, lie: RefereeLie, restart: Arc<Notify>) -> Self {
        let (seed, referees) = (scenario.seed, scenario.referees);
        Self { lie, seed, referees, restart, registrations: 0, victims: BTreeMap::new(), aborted: Vec::new() }
    }

    /// Some matches are played honestly, so that the referee keeps getting others.
    fn rng(&self, match_id: &str) -> Option<Rng> {
        let name = match_id.bytes().fold(0, |name: u64, byte| name.wrapping_mul(257).wrapping_add(u64::from(byte)));
        let mut rng = Rng::new(self.seed, &[20, name]);
        rng.happens(800).then_some(rng)
    }

    /// Whether a call of this match goes to its victim. The invitations come first and name both players.
    fn is_victim(&mut self, to: ProcessId, params: &Value) -> bool {
        let match_id = text(params, "match_id");
        if self.rng(&match_id).is_none() {
            return false;
        }
        let number = |id: &str| id.trim_start_matches('P').parse::<u8>().ok();
        if let Some(opponent) = number(&text(params, "opponent_id")) {
            let victim = ProcessId((opponent + self.referees).max(to.0));
            self.victims.insert(match_id.clone(), victim);
        }
        self.victims.get(&match_id) == Some(&to)
    }

    fn asks(&mut self, to: ProcessId, method: &str, request: &mut Value) -> Fate {
        let params = &mut request["params"];
        if !self.is_victim(to, params) {
            return Fate::Pass;
        }
        let is_invitation = method == "handle_game_invitation";
        let is_move = matches!(method, "choose_parity" | "make_move");
        if self.lie == RefereeLie::NeverInvite || (self.lie == RefereeLie::NeverAsk && is_move) {
            return Fate::Lose;
        }
        if method == "notify_match_result" && self.is_aborted(params) {
            return Fate::Lose;
        }
        if self.lie == RefereeLie::ChargeAtOnce && is_move {
            let result = json!({"match_id": params["match_id"], "parity_choice": "neither", "move": "neither"});
            return Fate::Answer(json!({"jsonrpc": "2.0", "id": request["id"], "result": result}));
        }
        if self.lie == RefereeLie::OtherCommitment && is_invitation {
            params["draw_commitment"] = json!("ab".repeat(32));
        }
        if self.lie == RefereeLie::AlterView
            && let Some(state) = params["context"]["state"].as_str()
        {
            let swapped = |mark| match mark {
                'X' => 'O',
                'O' => 'X',
                'J' => 'K',
                'K' => 'J',
                other => other,
            };
            params["context"]["state"] = json!(state.chars().map(swapped).collect::<String>());
        }
        Fate::Pass
    }

    fn is_aborted(&self, params: &Value) -> bool {
        let match_id = text(params, "match_id");
        self.aborted.iter().any(|(known, _)| *known == match_id)
    }

    fn reports(&mut self, request: &mut Value) -> Fate {
        let Some(mut report) = lies::read(&request["params"]) else { return Fate::Pass };
        let Some(mut rng) = self.rng(report.match_id.as_str()) else { return Fate::Pass };
        let friend_won =
            lies::friend_and_victim(&report).is_some_and(|(friend, _)| report.result.winner == Some(friend));
        let attempt = json!(report.attempt);
        match self.lie {
            RefereeLie::PoisonDialects => poison(&mut report),
            _ if friend_won || report.result.details.may_charge() => return Fate::Pass,
            RefereeLie::DropProofs if self.registrations == 1 => {
                self.restart.notify_one();
                return Fate::Pass;
            }
            RefereeLie::AlterMove | RefereeLie::DropProofs => lies::alter_move(&mut report, &mut rng),
            RefereeLie::AlterNonce => lies::alter_nonce(&mut report, &mut rng),
            RefereeLie::ForgeDraw if report.result.details.moves.is_empty() => lies::forge_draw(&mut report, &mut rng),
            RefereeLie::ForgeDraw => lies::forge_cards(&mut report, &mut rng),
            RefereeLie::AlterNumber => lies::alter_number(&mut report, true),
            RefereeLie::OmitProof => lies::alter_number(&mut report, false),
            RefereeLie::AlterWinner => lies::alter_winner(&mut report),
            RefereeLie::OmitMoves => lies::omit_moves(&mut report),
            RefereeLie::StripSignatures => {
                lies::alter_move(&mut report, &mut rng);
                report.signatures.0.clear();
            }
            RefereeLie::Charge => lies::charge(&mut report),
            RefereeLie::AbortAndReturn | RefereeLie::AbortAndFallSilent => {
                let about = (report.match_id.to_string(), attempt);
                if !self.aborted.contains(&about) {
                    self.aborted.push(about);
                    if self.lie == RefereeLie::AbortAndReturn {
                        self.restart.notify_one();
                    }
                }
                return Fate::Lose;
            }
            RefereeLie::LoseMoves
            | RefereeLie::LoseJoins
            | RefereeLie::CorruptMoves
            | RefereeLie::NeverInvite
            | RefereeLie::NeverAsk
            | RefereeLie::ChargeAtOnce
            | RefereeLie::OtherCommitment
            | RefereeLie::AlterView
            | RefereeLie::Stall
            | RefereeLie::RefuseAndPlay => return Fate::Pass,
        }
        lies::write(&mut request["params"], &report);
        Fate::Pass
    }
}

impl Adversary for HostileReferee {
    fn sends(&mut self, to: ProcessId, request: &mut Value) -> Fate {
        let method = text(request, "method");
        match method.as_str() {
            "report_match_result" => self.reports(request),
            "register_referee" if self.lie == RefereeLie::DropProofs => {
                self.registrations += 1;
                if self.registrations > 1 {
                    request["params"]["referee_meta"]["pass_scheme"] = Value::Null;
                    request["params"]["draw_commitments"] = json!([]);
                }
                Fate::Pass
            }
            "register_referee" if self.lie == RefereeLie::Stall => {
                request["params"]["referee_meta"]["max_concurrent_matches"] = json!(1000);
                Fate::Pass
            }
            _ if to == ProcessId::MANAGER => Fate::Pass,
            _ => self.asks(to, &method, request),
        }
    }

    fn hears(&mut self, from: ProcessId, request: &Value, answer: &mut Value) -> Fate {
        let method = text(request, "method");
        let is_move = matches!(method.as_str(), "choose_parity" | "make_move");
        if from == ProcessId::MANAGER || !self.is_victim(from, &request["params"]) {
            return Fate::Pass;
        }
        let loses_join = self.lie == RefereeLie::LoseJoins && method == "handle_game_invitation";
        if loses_join || (self.lie == RefereeLie::LoseMoves && is_move) {
            return Fate::Lose;
        }
        if self.lie == RefereeLie::CorruptMoves && is_move {
            for name in ["parity_choice", "choice", "move"] {
                if let Some(said) = answer["result"].get_mut(name) {
                    *said = json!("neither");
                }
            }
        }
        Fate::Pass
    }

    fn answers(&mut self, _: ProcessId, request: &Value, answer: &mut Value) -> Fate {
        if self.lie == RefereeLie::RefuseAndPlay && text(request, "method") == "start_match" {
            answer["result"]["status"] = json!("REFUSED");
        }
        Fate::Pass
    }

    fn receives(&mut self, _: ProcessId, request: &mut Value) -> Fate {
        if self.lie != RefereeLie::Stall || text(request, "method") != "start_match" {
            return Fate::Pass;
        }
        let (match_id, attempt) = (&request["params"]["match_id"], &request["params"]["attempt"]);
        let result = json!({"protocol": "league.v2", "message_type": "START_MATCH_ACK", "sender": "referee:REF01",
            "timestamp": request["params"]["timestamp"], "conversation_id": request["params"]["conversation_id"],
            "status": "ACCEPTED", "match_id": match_id, "attempt": attempt});
        Fate::Answer(json!({"jsonrpc": "2.0", "id": request["id"], "result": result}))
    }
}

fn poison(report: &mut MatchResultReport) {
    let canonical = PeerDialect::default();
    let dialect = canonical.calling(Method::UpdateStandings, "shutdown").calling(Method::ChooseParity, "shutdown");
    let players: Vec<_> = report.result.score.0.iter().map(|(id, _)| id.clone()).collect();
    for player in players {
        let learned = LearnedDialect { dialect: Some(dialect.clone()), ..LearnedDialect::default() };
        report.learned.0.retain(|(id, _)| *id != player);
        report.learned.0.push((player, learned));
    }
}

pub(super) fn text(value: &Value, name: &str) -> String {
    value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}
