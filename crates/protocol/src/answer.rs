//! Reads the answers of foreign agents: lenient about where a value is, strict about the value.
//! [`ParsedAnswer`] holds every object in which a value may be. A move is never guessed: two places that disagree count as no answer.

mod layer;

use std::fmt;
use std::sync::LazyLock;

use memchr::memchr;
use memchr::memmem::Finder;
use smol_str::SmolStr;

use crate::draw::{DrawNonce, Signature};
use crate::error::{INVALID_PARAMS, METHOD_NOT_FOUND};
use crate::id::{LeagueId, MatchId, PlayerId, RefereeId};
use crate::lenient::Field;
use crate::message::evidence::MatchTestimony;
use crate::message::registration::PASS_SCHEME;
use crate::parity::Parity;
use crate::quirk::{Quirk, Quirks};
use crate::request::MAX_BODY;
use crate::token::{Credential, Pass};
use layer::{Layer, LayerPath};

pub struct ParsedAnswer {
    found: Vec<(LayerPath, Layer)>,
}

/// Shows places only, because answers hold tokens.
impl fmt::Debug for ParsedAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.found.iter().map(|(place, _)| place)).finish()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum UnreadableAnswer {
    #[error("the answer has more than {MAX_BODY} bytes")]
    TooLong,
    #[error("the answer is not a JSON object")]
    NotAnObject,
}

#[derive(Clone, Debug)]
pub struct Interpretation<T> {
    pub answer: T,
    pub quirks: Quirks,
    pub token: Option<Credential>,
    /// Of a player that signs. The referee passes it on and cannot check it.
    pub signature: Option<Signature>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PeerError {
    pub number: Option<i64>,
    pub code: Option<SmolStr>,
    pub words: String,
}

impl PeerError {
    /// True if another form of the request may be understood. The course's example player and MCP tools report this in words only.
    pub fn is_misunderstanding(&self) -> bool {
        const WORDS: [&str; 5] =
            ["unknown method", "method not found", "unknown tool", "unknown message", "validation error"];
        let numbered = [METHOD_NOT_FOUND, INVALID_PARAMS].into_iter().any(|known| self.number == Some(known.into()));
        let words = self.words.to_ascii_lowercase();
        numbered || WORDS.iter().any(|known| words.contains(known))
    }

    /// How specific the error is: a league code is most specific, an unknown method least.
    pub fn weight(&self) -> u8 {
        match (&self.code, self.words.is_empty()) {
            (Some(_), _) => 3,
            (None, false) if !self.is_misunderstanding() => 2,
            (None, false) => 1,
            (None, true) => 0,
        }
    }

    pub fn is_rate_limit(&self) -> bool {
        self.code.as_deref() == Some("E014") || self.words.to_ascii_lowercase().contains("rate limit")
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum JoinAnswer {
    Joined { nonce: DrawNonce },
    Declined,
    Error(PeerError),
    Nothing,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MoveAnswer {
    /// The game decides whether it is legal.
    Move(SmolStr),
    /// The wrong text, or what was wrong.
    Invalid(String),
    Error(PeerError),
    /// Something else, perhaps an acknowledgement with the move to follow.
    Nothing,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RegistrationAnswer {
    Accepted {
        player_id: Option<PlayerId>,
        referee_id: Option<RefereeId>,
        league_id: Option<LeagueId>,
        /// The agent can check passes of this manager.
        passes: bool,
        /// Operator calls need the operator's token.
        operator_needs_token: bool,
    },
    Rejected {
        reason: String,
        code: Option<i64>,
    },
    Error(PeerError),
    Nothing,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReplyKind {
    NoError,
    Error(PeerError),
}

/// Every form of error contains one of these: `error`, `isError`, `LEAGUE_ERROR`, `GAME_ERROR`.
static ERROR: LazyLock<[Finder<'static>; 2]> = LazyLock::new(|| ["rror", "RROR"].map(Finder::new));

/// True unless the answer is an error. Most answers to notices contain no error word and need no parsing.
pub fn has_no_error(body: &[u8]) -> bool {
    let names_error = memchr(b'\\', body).is_some() || ERROR.iter().any(|name| name.find(body).is_some());
    !names_error || ParsedAnswer::parse(body).map_or(true, |layers| layers.reply_kind() == ReplyKind::NoError)
}

impl ParsedAnswer {
    pub fn parse(body: &[u8]) -> Result<Self, UnreadableAnswer> {
        if body.len() > MAX_BODY {
            return Err(UnreadableAnswer::TooLong);
        }
        let outer = std::str::from_utf8(body).ok().and_then(Layer::read).ok_or(UnreadableAnswer::NotAnObject)?;
        let mut found = Vec::with_capacity(2);
        outer.unfold(LayerPath::Outside, &mut found);
        Ok(Self { found })
    }

    /// The outermost layer takes precedence for each part.
    pub fn error(&self) -> Option<PeerError> {
        self.found.iter().filter_map(|(_, layer)| layer.peer_error()).reduce(|outer, inner| PeerError {
            number: outer.number.or(inner.number),
            // Words beside a code say more than the text of a tool.
            words: if outer.words.is_empty() || outer.code.is_none() && inner.code.is_some() {
                inner.words
            } else {
                outer.words
            },
            code: outer.code.or(inner.code),
        })
    }

    pub fn reply_kind(&self) -> ReplyKind {
        self.error().map_or(ReplyKind::NoError, ReplyKind::Error)
    }

    /// The peer says that it has all parts of the transcript.
    pub fn is_complete(&self) -> bool {
        self.first(|layer| layer.complete).unwrap_or(false)
    }

    /// The peer understood and declines; mostly a busy referee.
    pub fn refuses(&self) -> bool {
        self.found.iter().any(|(_, layer)| layer.refuses() || layer.accepts() == Some(false))
    }

    pub fn names_other_than(&self, player: &PlayerId) -> bool {
        self.first(|layer| layer.player_id.as_text().map(|named| named != player.as_str())).unwrap_or(false)
    }

    pub fn join(&self, match_id: &MatchId) -> Interpretation<JoinAnswer> {
        let joins = |layer: &Layer| layer.is_called("GAME_JOIN_ACK") || layer.accepts().is_some() || layer.joins();
        let (answer, quirks, token, signature) = match self.find(match_id, joins) {
            SearchResult::Nothing => (JoinAnswer::Nothing, Quirks::default(), None, None),
            SearchResult::Error(error) => (JoinAnswer::Error(error), Quirks::default(), None, None),
            SearchResult::Found(layer, mut quirks) => {
                let named = layer.is_called("GAME_JOIN_ACK");
                match (named, layer.accepts()) {
                    (_, Some(_)) => {}
                    (true, None) => quirks.note(Quirk::NoAccept),
                    (false, None) => quirks.note(Quirk::StatusJoin),
                }
                let nonce =
                    if layer.draw_nonce.is_absent() { Some(DrawNonce::default()) } else { layer.draw_nonce.parse() };
                if nonce.is_none() {
                    quirks.note(Quirk::OddNonce);
                }
                // A refusal counts in any layer, whatever status surrounds it.
                let answer = if self.found.iter().any(|(_, layer)| layer.accepts() == Some(false)) {
                    JoinAnswer::Declined
                } else {
                    JoinAnswer::Joined { nonce: nonce.unwrap_or_default() }
                };
                (answer, quirks, layer.credential(), layer.signature.parse())
            }
        };
        Interpretation { answer, quirks, token, signature }
    }

    pub fn parity(&self, match_id: &MatchId) -> Interpretation<MoveAnswer> {
        self.chosen(match_id, |layer| {
            let is_parity_choice = layer.is_called("PARITY_CHOICE");
            let (read, quirk): (fn(&str) -> Option<Parity>, _) = if is_parity_choice {
                (Parity::folded, Quirk::ParityChoiceForm)
            } else {
                (Parity::exact, Quirk::ChoiceField)
            };
            match (&layer.parity_choice, &layer.choice) {
                (Field::Good(exact), Field::Good(folded))
                    if is_parity_choice && Parity::exact(exact) != Parity::folded(folded) =>
                {
                    Some((invalid(TWO_CHOICES), Some(Quirk::ParityChoiceForm)))
                }
                (Field::Good(text), _) => Some((parity_move(text, Parity::exact), None)),
                (Field::Bad(_), _) => Some((invalid("not a text"), None)),
                (Field::Absent, Field::Good(text)) => Some((parity_move(text, read), Some(quirk))),
                (Field::Absent, Field::Bad(_)) => Some((invalid("not a text"), Some(Quirk::ChoiceField))),
                (Field::Absent, Field::Absent) if is_parity_choice || layer.is_called("CHOOSE_PARITY_RESPONSE") => {
                    Some((invalid("no parity_choice"), None))
                }
                (Field::Absent, Field::Absent) => None,
            }
        })
    }

    pub fn game_move(&self, match_id: &MatchId) -> Interpretation<MoveAnswer> {
        self.chosen(match_id, |layer| match &layer.played {
            Field::Good(text) => Some((MoveAnswer::Move(text.clone()), None)),
            Field::Bad(_) => Some((invalid("not a text"), None)),
            Field::Absent if layer.is_called("GAME_MOVE_RESPONSE") => Some((invalid("no move"), None)),
            Field::Absent => None,
        })
    }

    fn chosen(
        &self,
        match_id: &MatchId,
        look: impl Fn(&Layer) -> Option<(MoveAnswer, Option<Quirk>)>,
    ) -> Interpretation<MoveAnswer> {
        let says = |layer: &Layer| look(layer).is_some();
        let nothing = |answer| Interpretation { answer, quirks: Quirks::default(), token: None, signature: None };
        match self.find(match_id, says) {
            SearchResult::Nothing => nothing(MoveAnswer::Nothing),
            SearchResult::Error(error) => nothing(MoveAnswer::Error(error)),
            SearchResult::Found(layer, mut quirks) => {
                let mut answer = None;
                for (_, other) in &self.found {
                    let Some((here, quirk)) = look(other) else { continue };
                    quirks.extend(quirk);
                    match &answer {
                        None => answer = Some(here),
                        Some(before) if *before == here => {}
                        Some(_) => return nothing(invalid(TWO_CHOICES)),
                    }
                }
                let (answer, token) = (answer.unwrap_or(MoveAnswer::Nothing), layer.credential());
                Interpretation { answer, quirks, token, signature: layer.signature.parse() }
            }
        }
    }

    pub fn registration(&self) -> Interpretation<RegistrationAnswer> {
        let mut quirks = Quirks::default();
        let answers = self.found.iter().find(|(_, layer)| layer.admission().is_some());
        let answer = match (answers, self.error()) {
            (Some((place, layer)), _) => {
                quirks.extend(place.quirk());
                let reason = layer.reason.as_deref().unwrap_or("no reason given");
                // Longer than a quoted move, because the reason says what to do.
                let reason = || reason.chars().take(1000).collect::<String>();
                match layer.admission() {
                    Some(true) => {
                        if layer.status.as_text() != Some("ACCEPTED") {
                            quirks.note(Quirk::OddStatus);
                        }
                        let answer = RegistrationAnswer::Accepted {
                            player_id: self.first(|layer| layer.player_id.parse()),
                            referee_id: self.first(|layer| layer.referee_id.parse()),
                            league_id: self.first(|layer| layer.league_id.parse()),
                            passes: self.first(|layer| layer.pass_scheme.parse::<SmolStr>()).as_deref()
                                == Some(PASS_SCHEME),
                            operator_needs_token: self.found.iter().any(|(_, layer)| layer.operator_needs_token),
                        };
                        let token = self.first(Layer::credential);
                        return Interpretation { answer, quirks, token, signature: None };
                    }
                    Some(false) | None => RegistrationAnswer::Rejected { reason: reason(), code: layer.reason_code },
                }
            }
            (None, Some(error)) => RegistrationAnswer::Error(error),
            (None, None) => self.first(Layer::complaint).map_or(RegistrationAnswer::Nothing, RegistrationAnswer::Error),
        };
        Interpretation { answer, quirks, token: None, signature: None }
    }

    /// What a player says that it saw of an attempt; `None` if it does not say.
    pub fn testimony(&self) -> Option<MatchTestimony> {
        self.first(|layer| {
            Some(MatchTestimony {
                called: layer.called?,
                joined: layer.joined?,
                moves: layer.moves?,
                asked: layer.asked,
                revealed: layer.revealed?,
                draw_commitment: layer.draw_commitment.parse(),
            })
        })
    }

    /// The outermost match, because `status` may be outside the object that it accepts.
    fn first<T>(&self, look: impl Fn(&Layer) -> Option<T>) -> Option<T> {
        self.found.iter().find_map(|(_, layer)| look(layer))
    }

    /// The outermost layer that answers, unless the peer also reports an error or names another match.
    fn find(&self, match_id: &MatchId, answers: impl Fn(&Layer) -> bool) -> SearchResult<'_> {
        if let Some(error) = self.error() {
            return SearchResult::Error(error);
        }
        let mut quirks = Quirks::default();
        for (place, layer) in &self.found {
            quirks.extend(place.quirk());
            if layer.null_error {
                quirks.note(Quirk::NullError);
            }
            if !answers(layer) {
                continue;
            }
            if layer.match_id.is_absent() && !layer.game_id.is_absent() {
                quirks.note(Quirk::GameIdField);
            }
            if layer.named_match().is_some_and(|named| named != match_id.as_str()) {
                let words = String::from("the answer is for another match");
                return SearchResult::Error(PeerError { words, ..PeerError::default() });
            }
            if *place == LayerPath::Outside {
                quirks.note(Quirk::BareAnswer);
            }
            layer.envelope_quirks(&mut quirks);
            return SearchResult::Found(layer, quirks);
        }
        SearchResult::Nothing
    }
}

const TWO_CHOICES: &str = "two different choices";

enum SearchResult<'a> {
    Found(&'a Layer, Quirks),
    Error(PeerError),
    Nothing,
}

/// `expected` is the pass from the manager. The raw token is also right, because players of other implementations send it.
pub fn token_quirk(
    given: Option<&Credential>,
    expected: &Pass,
    league: &LeagueId,
    match_id: &MatchId,
) -> Option<Quirk> {
    match given {
        None => Some(Quirk::NoToken),
        Some(token) if token.is(expected) => None,
        Some(token) if Credential::from(token.digest().player_pass(league, match_id)).is(expected) => None,
        Some(_) => Some(Quirk::OddToken),
    }
}

fn invalid(what: &str) -> MoveAnswer {
    MoveAnswer::Invalid(what.chars().take(200).collect())
}

fn parity_move(text: &str, read: fn(&str) -> Option<Parity>) -> MoveAnswer {
    read(text).map_or_else(|| invalid(text), |parity| MoveAnswer::Move(SmolStr::new_static(parity.as_str())))
}
