//! Registrations are written with `player_meta` or `referee_meta`. They are also read with flat fields, and with as little as an
//! endpoint and a name, as several public players send it.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use smol_str::SmolStr;
use unicode_normalization::char::is_combining_mark;

use crate::draw::DrawCommitment;
use crate::envelope::PROTOCOL;
use crate::id::{GameType, LeagueId, PlayerId, RefereeId};
use crate::lenient::{self, Field};
use crate::quirk::{Quirk, Quirks};
use crate::token::Credential;

/// In characters.
pub const MAX_NAME: usize = 64;
/// In bytes.
pub const MAX_ENDPOINT: usize = 512;
pub const MAX_GAMES: usize = 32;
/// The most combining marks on one letter of a name. More of them cover the lines above and below.
const MAX_MARKS: usize = 4;
/// The most commitments that a referee deposits at a time.
pub const MAX_COMMITMENTS: usize = 256;
/// An answer with this word uses our pass scheme, so the agent may insist on passes.
pub const PASS_SCHEME: &str = "hmac-sha256";

/// What an agent says of itself.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct AgentMeta {
    /// The name that tables show.
    pub display_name: SmolStr,
    /// The agent's own version.
    pub version: SmolStr,
    /// The version of the protocol that it was written for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<SmolStr>,
    /// The games it knows.
    pub game_types: Vec<GameType>,
    /// Where it listens.
    pub contact_endpoint: String,
    /// How many matches a referee runs at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_concurrent_matches: Option<u32>,
    /// How a referee proves to players that it was appointed: `hmac-sha256` when it shows the passes that START_MATCH hands it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass_scheme: Option<SmolStr>,
    /// Whether notices that are due together may come as one JSON-RPC batch.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub accepts_batches: bool,
    /// Whether a player signs its joins and moves.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub signs_moves: bool,
    /// Whether a referee polls with `next_match`; it needs no endpoint.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pulls: bool,
}

impl AgentMeta {
    /// The referee sends passes of our scheme.
    pub fn shows_passes(&self) -> bool {
        self.pass_scheme.as_deref() == Some(PASS_SCHEME)
    }

    /// True if it names no protocol version, or 2.0.0 or later.
    pub fn speaks_our_protocol(&self) -> bool {
        self.protocol_version.as_deref().is_none_or(|version| {
            let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
            version == PROTOCOL || major.is_some_and(|major| major >= 2)
        })
    }
}

/// A referee asks to be let in.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RefereeRegisterRequest {
    /// What it says of itself.
    pub referee_meta: AgentMeta,
    /// The id it would like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub referee_id: Option<RefereeId>,
    /// The league's join key, where one is needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub join_key: Option<Credential>,
    /// The SHA-256 of secrets that will decide its draws, at most 256. A referee that deposits them also confirms GAME_OVER.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub draw_commitments: Vec<DrawCommitment>,
    /// What was unusual about the form.
    #[serde(skip)]
    pub quirks: Quirks,
}

/// A player asks to be let in.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LeagueRegisterRequest {
    /// What it says of itself.
    pub player_meta: AgentMeta,
    /// The id it would like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player_id: Option<PlayerId>,
    /// The league's join key, where one is needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub join_key: Option<Credential>,
    /// What was unusual about the form.
    #[serde(skip)]
    pub quirks: Quirks,
}

/// Alternative names are separate fields instead of aliases, because some agents send both.
#[derive(Deserialize)]
struct RawRegistration {
    #[serde(default)]
    player_meta: Option<RawMeta>,
    #[serde(default)]
    referee_meta: Option<RawMeta>,
    #[serde(default, deserialize_with = "lenient::text")]
    player_id: Option<SmolStr>,
    #[serde(default, deserialize_with = "lenient::text")]
    referee_id: Option<SmolStr>,
    #[serde(default, deserialize_with = "lenient::not_null")]
    display_name: Field<SmolStr>,
    #[serde(default, deserialize_with = "lenient::not_null")]
    name: Field<SmolStr>,
    #[serde(default, deserialize_with = "lenient::not_null")]
    player_name: Field<SmolStr>,
    #[serde(default)]
    version: Field<SmolStr>,
    #[serde(default)]
    protocol_version: Field<SmolStr>,
    #[serde(default)]
    game_types: Option<Vec<GameType>>,
    #[serde(default)]
    contact_endpoint: Option<String>,
    #[serde(default)]
    endpoint: Option<String>,
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    max_concurrent_matches: Option<u32>,
    #[serde(default, deserialize_with = "lenient::text")]
    pass_scheme: Option<SmolStr>,
    #[serde(default, deserialize_with = "lenient::flag")]
    accepts_batches: Option<bool>,
    #[serde(default, deserialize_with = "lenient::flag")]
    signs_moves: Option<bool>,
    #[serde(default, deserialize_with = "lenient::flag")]
    pulls: Option<bool>,
    #[serde(default)]
    draw_commitments: Vec<DrawCommitment>,
    // A `Credential`, so that no type error can quote it.
    #[serde(default, deserialize_with = "lenient::text")]
    join_key: Option<Credential>,
}

#[derive(Default, Deserialize)]
struct RawMeta {
    #[serde(default, deserialize_with = "lenient::not_null")]
    display_name: Field<SmolStr>,
    #[serde(default, deserialize_with = "lenient::not_null")]
    name: Field<SmolStr>,
    #[serde(default)]
    version: Field<SmolStr>,
    #[serde(default)]
    protocol_version: Field<SmolStr>,
    #[serde(default)]
    game_types: Option<Vec<GameType>>,
    #[serde(default)]
    contact_endpoint: Option<String>,
    #[serde(default)]
    endpoint: Option<String>,
    #[serde(default)]
    max_concurrent_matches: Option<u32>,
    #[serde(default, deserialize_with = "lenient::text")]
    pass_scheme: Option<SmolStr>,
    #[serde(default, deserialize_with = "lenient::flag")]
    accepts_batches: Option<bool>,
    #[serde(default, deserialize_with = "lenient::flag")]
    signs_moves: Option<bool>,
    #[serde(default, deserialize_with = "lenient::flag")]
    pulls: Option<bool>,
    #[serde(default, deserialize_with = "lenient::text")]
    player_id: Option<SmolStr>,
    #[serde(default, deserialize_with = "lenient::text")]
    referee_id: Option<SmolStr>,
}

struct Ordered {
    meta: AgentMeta,
    wanted: Option<SmolStr>,
    join_key: Option<Credential>,
    draw_commitments: Vec<DrawCommitment>,
    quirks: Quirks,
}

impl RawRegistration {
    fn order<E: de::Error>(self, meta_name: &'static str) -> Result<Ordered, E> {
        let mut quirks = Quirks::default();
        let nested = self.player_meta.or(self.referee_meta);
        if nested.is_none() {
            quirks.note(Quirk::FlatRegistration);
        }
        let place = if nested.is_some() { format!("{meta_name}.") } else { String::new() };
        let nested = nested.unwrap_or_default();
        let wanted = nested.player_id.or(nested.referee_id).or(self.player_id).or(self.referee_id);
        let flat_endpoint = self.contact_endpoint.or(self.endpoint).or(self.url);
        let endpoint = nested.contact_endpoint.or(nested.endpoint).or(flat_endpoint);
        let pulls = nested.pulls.or(self.pulls).unwrap_or_default();
        let contact_endpoint = endpoint.or_else(|| pulls.then(String::new)).ok_or_else(|| {
            let advice = "send the URL where your agent listens, like http://localhost:8101/mcp";
            E::custom(format_args!("missing field `{meta_name}.contact_endpoint`: {advice}"))
        })?;
        if contact_endpoint.len() > MAX_ENDPOINT {
            let length = contact_endpoint.len();
            let rule =
                format_args!("`{place}contact_endpoint` has {length} bytes; send a URL of at most {MAX_ENDPOINT}");
            return Err(E::custom(rule));
        }
        let mut bare = false;
        let flat_name = self.display_name.or(self.name).or(self.player_name);
        let display_name = match nested.display_name.or(nested.name).or(flat_name) {
            Field::Good(name) => fitting_name(name, &place)?,
            Field::Bad(found) => return Err(bad_name(&place, &found)),
            Field::Absent => {
                bare = true;
                let nameless = || contact_endpoint.chars().filter(|c| !c.is_control()).take(MAX_NAME).collect();
                wanted.clone().unwrap_or_else(nameless)
            }
        };
        let version = fitting_text(nested.version.or(self.version), &place, "version")?.unwrap_or_else(|| {
            bare = true;
            SmolStr::new_static("0.0.0")
        });
        let protocol_version = nested.protocol_version.or(self.protocol_version);
        let protocol_version = fitting_text(protocol_version, &place, "protocol_version")?;
        let game_types = nested.game_types.or(self.game_types).unwrap_or_else(|| {
            bare = true;
            vec![GameType::even_odd()]
        });
        if game_types.len() > MAX_GAMES {
            let count = game_types.len();
            let rule = format_args!("`{place}game_types` has {count} entries; send at most {MAX_GAMES}");
            return Err(E::custom(rule));
        }
        let draw_commitments = self.draw_commitments;
        if draw_commitments.len() > MAX_COMMITMENTS {
            let count = draw_commitments.len();
            let rule = format_args!("`draw_commitments` has {count} entries; send at most {MAX_COMMITMENTS}");
            return Err(E::custom(rule));
        }
        if bare {
            quirks.note(Quirk::BareRegistration);
        }
        let meta = AgentMeta {
            display_name,
            version,
            protocol_version,
            game_types,
            contact_endpoint,
            max_concurrent_matches: nested.max_concurrent_matches.or(self.max_concurrent_matches),
            pass_scheme: nested.pass_scheme.or(self.pass_scheme),
            accepts_batches: nested.accepts_batches.or(self.accepts_batches).unwrap_or_default(),
            signs_moves: nested.signs_moves.or(self.signs_moves).unwrap_or_default(),
            pulls,
        };
        let join_key = self.join_key.filter(|key| !key.is_empty());
        Ok(Ordered { meta, wanted, join_key, draw_commitments, quirks })
    }
}

fn fitting_name<E: de::Error>(name: SmolStr, place: &str) -> Result<SmolStr, E> {
    let length = name.chars().count();
    if name.trim().is_empty() {
        return Err(bad_name(place, "empty"));
    }
    if length > MAX_NAME {
        return Err(bad_name(place, &format!("{length} characters long")));
    }
    if name.chars().any(char::is_control) {
        return Err(bad_name(place, "not printable"));
    }
    if name
        .chars()
        .map(is_combining_mark)
        .collect::<Vec<_>>()
        .windows(MAX_MARKS + 1)
        .any(|marks| !marks.contains(&false))
    {
        return Err(bad_name(place, "covered by combining marks"));
    }
    Ok(name)
}

fn bad_name<E: de::Error>(place: &str, found: &str) -> E {
    let rule = format_args!("`{place}display_name` is {found}; send a text of 1 to {MAX_NAME} printable characters");
    E::custom(rule)
}

fn fitting_text<E: de::Error>(text: Field<SmolStr>, place: &str, field: &str) -> Result<Option<SmolStr>, E> {
    let found = match text {
        Field::Absent => return Ok(None),
        Field::Good(text) if text.trim().is_empty() => return Ok(None),
        Field::Good(text) if text.len() <= MAX_NAME => return Ok(Some(text)),
        Field::Good(text) => format!("{} bytes long", text.len()),
        Field::Bad(found) => found,
    };
    Err(E::custom(format_args!("`{place}{field}` is {found}; send a text of at most {MAX_NAME} bytes")))
}

impl<'de> Deserialize<'de> for RefereeRegisterRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Ordered { meta, wanted, join_key, draw_commitments, quirks } =
            RawRegistration::deserialize(deserializer)?.order("referee_meta")?;
        let referee_id = wanted.and_then(|id| id.parse().ok());
        Ok(Self { referee_meta: meta, referee_id, join_key, draw_commitments, quirks })
    }
}

impl<'de> Deserialize<'de> for LeagueRegisterRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Ordered { meta, wanted, join_key, quirks, draw_commitments: _ } =
            RawRegistration::deserialize(deserializer)?.order("player_meta")?;
        let player_id = wanted.and_then(|id| id.parse().ok());
        Ok(Self { player_meta: meta, player_id, join_key, quirks })
    }
}

/// In or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum RegistrationStatus {
    /// In.
    #[serde(alias = "REGISTERED", alias = "OK", alias = "SUCCESS", alias = "accepted", alias = "registered")]
    Accepted,
    /// Not in; the reason says why.
    #[serde(alias = "rejected", alias = "ERROR", alias = "FAILED")]
    Rejected,
}

/// The answer to a registration. The token is the envelope's `auth_token`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RegisterResponse {
    /// In or not.
    pub status: RegistrationStatus,
    /// The player's id, when a player was let in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub player_id: Option<PlayerId>,
    /// The referee's id, when a referee was let in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub referee_id: Option<RefereeId>,
    /// The league.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub league_id: Option<LeagueId>,
    /// Why not, and what to do about it; null when let in.
    #[serde(default)]
    pub reason: Option<String>,
    /// The number of the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason_code: Option<i32>,
    /// The league's code of the reason: E017, E019, E020, or E002 for an endpoint or a game that does not fit.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub error_code: Option<SmolStr>,
    /// `hmac-sha256` when notices and referees of this league carry passes that can be checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass_scheme: Option<SmolStr>,
    /// Whether operator calls in this league need the operator's token; referees then refuse them without it, too.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "std::ops::Not::not")]
    pub operator_needs_token: bool,
    /// What was unusual about the registration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}
