//! Reading a stranger's answer: liberal about where it stands, strict about what it says.
//!
//! Answers come in a JSON-RPC result, bare, in the `params` of something that looks like a request, in `data`, in MCP's
//! `structuredContent` or as JSON in a text block. [`ParsedAnswer`] is all of that in one reading; each question then looks for
//! its own answer. A move is never guessed: where two places say different things, nothing was said.

mod layer;

use std::fmt;
use std::sync::LazyLock;

use memchr::memchr;
use memchr::memmem::Finder;
use smol_str::SmolStr;

use crate::draw::DrawNonce;
use crate::error::{INVALID_PARAMS, METHOD_NOT_FOUND};
use crate::id::{LeagueId, MatchId, PlayerId, RefereeId};
use crate::message::registration::PASS_SCHEME;
use crate::parity::Parity;
use crate::quirk::{Quirk, Quirks};
use crate::request::MAX_BODY;
use crate::token::{Credential, Pass};
use layer::{Layer, LayerPath, TextField};

/// An answer that has been parsed and not yet understood.
pub struct ParsedAnswer<'a> {
    found: Vec<(LayerPath, Layer<'a>)>,
}

/// Where something stood, and nothing of what: answers hold tokens.
impl fmt::Debug for ParsedAnswer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.found.iter().map(|(place, _)| place)).finish()
    }
}

/// An answer in which nothing is to be found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum UnreadableAnswer {
    #[error("the answer has more than {MAX_BODY} bytes")]
    TooLong,
    /// Not JSON, or JSON that is no object.
    #[error("the answer is not a JSON object")]
    NotAnObject,
}

/// What an answer says, and what was odd about it.
#[derive(Clone, Debug)]
pub struct Interpretation<T> {
    pub said: T,
    pub quirks: Quirks,
    /// The credential that came with it.
    pub token: Option<Credential>,
}

/// An error that a peer answered with.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PeerError {
    pub number: Option<i64>,
    /// The league's code, such as `E012`.
    pub code: Option<SmolStr>,
    /// The peer's own words, cut to a sensible length.
    pub words: String,
}

impl PeerError {
    /// Whether the peer did not know what was meant, so that another form may be understood.
    ///
    /// The course's own example player answers an unknown method with words and no number, and tools fail in words.
    pub fn is_misunderstanding(&self) -> bool {
        const WORDS: [&str; 5] =
            ["unknown method", "method not found", "unknown tool", "unknown message", "validation error"];
        let numbered = [METHOD_NOT_FOUND, INVALID_PARAMS].into_iter().any(|known| self.number == Some(known.into()));
        let words = self.words.to_ascii_lowercase();
        numbered || WORDS.iter().any(|known| words.contains(known))
    }

    /// How much it says about what went wrong: a code of the league most, that a method is not known least.
    pub fn weight(&self) -> u8 {
        match (&self.code, self.words.is_empty()) {
            (Some(_), _) => 3,
            (None, false) if !self.is_misunderstanding() => 2,
            (None, false) => 1,
            (None, true) => 0,
        }
    }

    /// Whether the peer asks us to slow down.
    pub fn is_rate_limit(&self) -> bool {
        self.code.as_deref() == Some("E014") || self.words.to_ascii_lowercase().contains("rate limit")
    }
}

/// A player's answer to an invitation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum JoinAnswer {
    Joined {
        /// What it adds to the draw.
        nonce: DrawNonce,
    },
    Declined,
    Error(PeerError),
    /// It answered with something else: an acknowledgement perhaps, with the join to follow.
    Nothing,
}

/// A player's answer to a call for a move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MoveAnswer {
    /// This, to the letter; whether it is legal is the game's to say.
    Move(SmolStr),
    /// Something in the place of a move that is none.
    Invalid(String),
    Error(PeerError),
    /// It answered with something else: an acknowledgement perhaps, with the move to follow.
    Nothing,
}

/// A manager's answer to a registration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RegistrationAnswer {
    Accepted {
        /// The id that was given to a player.
        player_id: Option<PlayerId>,
        /// The id that was given to a referee.
        referee_id: Option<RefereeId>,
        league_id: Option<LeagueId>,
        /// Whether its passes can be checked.
        passes: bool,
    },
    Rejected {
        reason: String,
        code: Option<i64>,
    },
    Error(PeerError),
    Nothing,
}

/// Whether anything but an error came back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReplyKind {
    Yes,
    Error(PeerError),
}

/// What every error has in its name, in every form that there is: `error`, `isError`, `LEAGUE_ERROR`, `GAME_ERROR`.
static ERROR: LazyLock<[Finder<'static>; 2]> = LazyLock::new(|| ["rror", "RROR"].map(Finder::new));

/// Whether a peer that was told something took it: anything but an error says so, whether it can be read or not.
///
/// Nearly all answers to news do, and need not be read to know it.
pub fn is_heard(body: &[u8]) -> bool {
    let names_error = memchr(b'\\', body).is_some() || ERROR.iter().any(|name| name.find(body).is_some());
    !names_error || ParsedAnswer::parse(body).map_or(true, |layers| layers.heard() == ReplyKind::Yes)
}

impl<'a> ParsedAnswer<'a> {
    /// Parses an answer, whatever the HTTP status said.
    pub fn parse(body: &'a [u8]) -> Result<Self, UnreadableAnswer> {
        if body.len() > MAX_BODY {
            return Err(UnreadableAnswer::TooLong);
        }
        let outer = std::str::from_utf8(body).ok().and_then(Layer::read).ok_or(UnreadableAnswer::NotAnObject)?;
        let mut found = Vec::with_capacity(2);
        outer.unfold(LayerPath::Outside, &mut found);
        Ok(Self { found })
    }

    /// What the peer says went wrong, where it says so: the outermost word on each point.
    pub fn error(&self) -> Option<PeerError> {
        self.found.iter().filter_map(|(_, layer)| layer.peer_error()).reduce(|outer, inner| PeerError {
            number: outer.number.or(inner.number),
            // A code comes with words of its own, which say more than a tool's text about the same.
            words: if outer.words.is_empty() || outer.code.is_none() && inner.code.is_some() {
                inner.words
            } else {
                outer.words
            },
            code: outer.code.or(inner.code),
        })
    }

    /// Whether the peer acknowledged or refused.
    pub fn heard(&self) -> ReplyKind {
        self.error().map_or(ReplyKind::Yes, ReplyKind::Error)
    }

    /// Whether the peer says that it has all parts of what it is sent.
    pub fn is_complete(&self) -> bool {
        self.first(|layer| layer.complete).unwrap_or(false)
    }

    /// Whether the peer heard and does not want to: a referee that is busy, mostly.
    pub fn refuses(&self) -> bool {
        self.found.iter().any(|(_, layer)| layer.refuses() || layer.accepts() == Some(false))
    }

    /// Whether the answer comes in the name of somebody else than `player`.
    pub fn names_other_than(&self, player: &PlayerId) -> bool {
        self.first(|layer| layer.player_id.as_text().map(|named| named != player.as_str())).unwrap_or(false)
    }

    /// The answer to an invitation to `match_id`.
    pub fn join(&self, match_id: &MatchId) -> Interpretation<JoinAnswer> {
        let joins = |layer: &Layer<'_>| layer.is_called("GAME_JOIN_ACK") || layer.accepts().is_some() || layer.joins();
        let (said, quirks, token) = match self.find(match_id, joins) {
            SearchResult::Nothing => (JoinAnswer::Nothing, Quirks::default(), None),
            SearchResult::Error(error) => (JoinAnswer::Error(error), Quirks::default(), None),
            SearchResult::Found(layer, mut quirks) => {
                let named = layer.is_called("GAME_JOIN_ACK");
                match (named, layer.accepts()) {
                    (_, Some(_)) => {}
                    (true, None) => quirks.note(Quirk::NoAccept),
                    (false, None) => quirks.note(Quirk::StatusJoin),
                }
                let nonce = match &layer.draw_nonce {
                    TextField::Text(text) => text.parse().ok(),
                    TextField::Absent => Some(DrawNonce::default()),
                    TextField::Other => None,
                };
                if nonce.is_none() {
                    quirks.note(Quirk::OddNonce);
                }
                // A refusal counts wherever it stands: nobody is made to play by a status word around it.
                let said = if self.found.iter().any(|(_, layer)| layer.accepts() == Some(false)) {
                    JoinAnswer::Declined
                } else {
                    JoinAnswer::Joined { nonce: nonce.unwrap_or_default() }
                };
                (said, quirks, layer.credential())
            }
        };
        Interpretation { said, quirks, token }
    }

    /// The choice between even and odd for `match_id`.
    pub fn parity(&self, match_id: &MatchId) -> Interpretation<MoveAnswer> {
        self.chosen(match_id, |layer| match (&layer.parity_choice, &layer.choice) {
            (TextField::Text(exact), TextField::Text(folded))
                if layer.is_called("PARITY_CHOICE") && Parity::exact(exact) != Parity::folded(folded) =>
            {
                Some((MoveAnswer::Invalid(String::from(TWO_CHOICES)), Some(Quirk::ParityChoiceForm)))
            }
            (TextField::Text(text), _) => Some(match Parity::exact(text) {
                Some(parity) => (MoveAnswer::Move(SmolStr::new_static(parity.as_str())), None),
                None => (MoveAnswer::Invalid(clipped(text)), None),
            }),
            (TextField::Other, _) => Some((MoveAnswer::Invalid(String::from("not a text")), None)),
            (TextField::Absent, TextField::Text(text)) if layer.is_called("PARITY_CHOICE") => {
                let said = match Parity::folded(text) {
                    Some(parity) => MoveAnswer::Move(SmolStr::new_static(parity.as_str())),
                    None => MoveAnswer::Invalid(clipped(text)),
                };
                Some((said, Some(Quirk::ParityChoiceForm)))
            }
            (TextField::Absent, TextField::Text(text)) => {
                let said = match Parity::exact(text) {
                    Some(parity) => MoveAnswer::Move(SmolStr::new_static(parity.as_str())),
                    None => MoveAnswer::Invalid(clipped(text)),
                };
                Some((said, Some(Quirk::ChoiceField)))
            }
            (TextField::Absent, TextField::Other) => {
                Some((MoveAnswer::Invalid(String::from("not a text")), Some(Quirk::ChoiceField)))
            }
            // It says that it answers, and where the choice belongs there is none.
            (TextField::Absent, TextField::Absent)
                if layer.is_called("CHOOSE_PARITY_RESPONSE") || layer.is_called("PARITY_CHOICE") =>
            {
                Some((MoveAnswer::Invalid(String::from("no parity_choice")), None))
            }
            (TextField::Absent, TextField::Absent) => None,
        })
    }

    /// The move in a game other than Even/Odd for `match_id`.
    pub fn game_move(&self, match_id: &MatchId) -> Interpretation<MoveAnswer> {
        self.chosen(match_id, |layer| match &layer.played {
            TextField::Text(text) => Some((MoveAnswer::Move(SmolStr::new(text)), None)),
            TextField::Other => Some((MoveAnswer::Invalid(String::from("not a text")), None)),
            TextField::Absent if layer.is_called("GAME_MOVE_RESPONSE") => {
                Some((MoveAnswer::Invalid(String::from("no move")), None))
            }
            TextField::Absent => None,
        })
    }

    fn chosen(
        &self,
        match_id: &MatchId,
        look: impl Fn(&Layer<'_>) -> Option<(MoveAnswer, Option<Quirk>)>,
    ) -> Interpretation<MoveAnswer> {
        let says = |layer: &Layer<'_>| look(layer).is_some();
        let nothing = |said| Interpretation { said, quirks: Quirks::default(), token: None };
        match self.find(match_id, says) {
            SearchResult::Nothing => nothing(MoveAnswer::Nothing),
            SearchResult::Error(error) => nothing(MoveAnswer::Error(error)),
            SearchResult::Found(layer, mut quirks) => {
                let mut said = None;
                for (_, other) in &self.found {
                    let Some((here, quirk)) = look(other) else { continue };
                    quirks.extend(quirk);
                    match &said {
                        None => said = Some(here),
                        Some(before) if *before == here => {}
                        Some(_) => return nothing(MoveAnswer::Invalid(String::from(TWO_CHOICES))),
                    }
                }
                Interpretation { said: said.unwrap_or(MoveAnswer::Nothing), quirks, token: layer.credential() }
            }
        }
    }

    pub fn registration(&self) -> Interpretation<RegistrationAnswer> {
        let mut quirks = Quirks::default();
        let answers = self.found.iter().find(|(_, layer)| layer.admission().is_some());
        let said = match (answers, self.error()) {
            (Some((place, layer)), _) => {
                quirks.extend(place.quirk());
                let reason = layer.reason.as_deref().unwrap_or("no reason given");
                // Longer than a move that is quoted: it says what to do.
                let reason = || reason.chars().take(1000).collect::<String>();
                match layer.admission() {
                    Some(true) => {
                        if layer.status.as_text() != Some("ACCEPTED") {
                            quirks.note(Quirk::OddStatus);
                        }
                        let said = RegistrationAnswer::Accepted {
                            player_id: self.first(|layer| layer.player_id.parse()),
                            referee_id: self.first(|layer| layer.referee_id.parse()),
                            league_id: self.first(|layer| layer.league_id.parse()),
                            passes: self.first(|layer| layer.pass_scheme.parse::<SmolStr>()).as_deref()
                                == Some(PASS_SCHEME),
                        };
                        return Interpretation { said, quirks, token: self.first(Layer::credential) };
                    }
                    Some(false) | None => RegistrationAnswer::Rejected { reason: reason(), code: layer.reason_code },
                }
            }
            (None, Some(error)) => RegistrationAnswer::Error(error),
            (None, None) => self.first(Layer::complaint).map_or(RegistrationAnswer::Nothing, RegistrationAnswer::Error),
        };
        Interpretation { said, quirks, token: None }
    }

    /// The outermost of something: the word that lets an agent in may stand outside of what it is let in with.
    fn first<T>(&self, look: impl Fn(&Layer<'a>) -> Option<T>) -> Option<T> {
        self.found.iter().find_map(|(_, layer)| look(layer))
    }

    /// The outermost layer that answers, unless the peer also says that something went wrong, or speaks of another match.
    fn find(&self, match_id: &MatchId, answers: impl Fn(&Layer<'_>) -> bool) -> SearchResult<'_, 'a> {
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
            if layer.match_id == TextField::Absent && layer.game_id != TextField::Absent {
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

/// A player that says two things has said nothing.
const TWO_CHOICES: &str = "two different choices";

/// What a search through the layers came to.
enum SearchResult<'s, 'a> {
    Found(&'s Layer<'a>, Quirks),
    Error(PeerError),
    Nothing,
}

/// What is odd about the token in a player's answer, where `expected` is what the manager told the referee to expect.
///
/// The pass itself is right; so is the raw token that it was made from, which players of other make send.
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

fn clipped(text: &str) -> String {
    text.chars().take(200).collect()
}
