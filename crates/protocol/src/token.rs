//! Credentials: tokens, their digests, and the passes derived from them.
//!
//! A raw [`Token`] travels only between its owner and the manager. The manager stores [`TokenDigest`]s. Any other `auth_token` is a
//! [`Pass`], which is valid for one purpose in one league and match. `Debug` and `Display` show at most the owner of a secret.

use std::fmt;
use std::str::FromStr;

use data_encoding::BASE64URL_NOPAD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use subtle::ConstantTimeEq;

use crate::draw::{IdentityNonce, IdentityProof};
use crate::id::{LeagueId, MatchId, PlayerId, RefereeId};
use crate::seal::{digest, seal};

/// In bytes.
pub const MAX_CREDENTIAL: usize = 512;

/// The fewest characters of a secret that a person chooses: an operator's token or a key. A shorter one could be guessed.
pub const MIN_SECRET: usize = 16;

/// What stands in an `auth_token` field: a raw token, a pass, or what a stranger made up.
///
/// Serialises to its text, because it exists to be sent; everything else shows it redacted.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(with = "String")]
pub struct Credential(SmolStr);

impl Credential {
    pub fn new(text: &str) -> Self {
        Self(SmolStr::new(text))
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn digest(&self) -> TokenDigest {
        TokenDigest(digest(self.0.as_bytes()))
    }

    /// Compares in constant time.
    pub fn is(&self, pass: &Pass) -> bool {
        self.0.as_bytes().ct_eq(pass.0.as_bytes()).into()
    }

    pub fn opens(&self, digest: &TokenDigest) -> bool {
        self.0.len() <= MAX_CREDENTIAL && self.digest().same(digest)
    }
}

impl FromStr for Credential {
    type Err = std::convert::Infallible;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self::new(text))
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&redacted(&self.0))
    }
}

impl From<Token> for Credential {
    fn from(token: Token) -> Self {
        Self(token.text)
    }
}

impl From<Pass> for Credential {
    fn from(pass: Pass) -> Self {
        Self(pass.0)
    }
}

/// The public beginning of a token of ours, nothing of any other secret.
pub fn redacted(secret: &str) -> String {
    let owner = secret.strip_prefix("tok-").and_then(|rest| rest.split_once('-')).map(|(owner, _)| owner);
    match owner.filter(|owner| is_id_of_ours(owner)) {
        Some(owner) => format!("tok-{owner}-…"),
        None => String::from("…"),
    }
}

/// Other text might be part of a foreign secret.
fn is_id_of_ours(text: &str) -> bool {
    let player = text.parse().ok().and_then(|id: PlayerId| id.number());
    let referee = text.parse().ok().and_then(|id: RefereeId| id.number());
    player.or(referee).is_some_and(|number| number < 100_000)
}

#[derive(Clone)]
pub struct Token {
    text: SmolStr,
    /// Cached, because every message is checked with it.
    digest: TokenDigest,
}

impl Token {
    /// In bytes.
    pub const USUAL_LENGTH: u8 = 32;

    /// `tok-P01-` and 43 characters for the agent `P01`.
    pub fn mint(agent: &str, random: &[u8; 32]) -> Self {
        Self::of_length(agent, random, Self::USUAL_LENGTH)
    }

    /// 16 to 64 bytes: the first of `random`, and beyond 32 bytes derived from it.
    pub fn of_length(agent: &str, random: &[u8; 32], length: u8) -> Self {
        let more = seal(random, &[b"token"]);
        let bytes: Vec<u8> = random.iter().chain(&more).copied().take(usize::from(length.clamp(16, 64))).collect();
        Self::received(&format!("tok-{agent}-{}", BASE64URL_NOPAD.encode(&bytes)))
    }

    pub fn received(text: &str) -> Self {
        Self { text: SmolStr::new(text), digest: TokenDigest(digest(text.as_bytes())) }
    }

    pub fn reveal(&self) -> &str {
        &self.text
    }

    pub fn digest(&self) -> TokenDigest {
        self.digest.clone()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&redacted(&self.text))
    }
}

/// SHA-256 of a token: stored by the manager, and the key of the owner's passes.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenDigest([u8; 32]);

impl TokenDigest {
    /// Compares in constant time.
    pub fn same(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }

    /// Proves to an agent that a notice comes from the manager of its league.
    pub fn manager_pass(&self, league: &LeagueId) -> Pass {
        self.pass(&[b"manager", league.as_str().as_bytes()])
    }

    /// Proves to this player that the manager assigned `match_id` to `referee`.
    pub fn referee_pass(&self, league: &LeagueId, match_id: &MatchId, referee: &RefereeId) -> Pass {
        let texts = [league.as_str(), match_id.as_str(), referee.as_str()];
        self.pass(&[b"referee", texts[0].as_bytes(), texts[1].as_bytes(), texts[2].as_bytes()])
    }

    /// Proves to the referee of `match_id` that the sender is this player.
    pub fn player_pass(&self, league: &LeagueId, match_id: &MatchId) -> Pass {
        self.pass(&[b"player", league.as_str().as_bytes(), match_id.as_str().as_bytes()])
    }

    /// Proves to the manager that the agent holds this token.
    pub fn identity_proof(&self, nonce: &IdentityNonce) -> IdentityProof {
        IdentityProof(seal(&self.0, &[b"identity", String::from(*nonce).as_bytes()]))
    }

    fn pass(&self, fields: &[&[u8]]) -> Pass {
        Pass(SmolStr::new(format!("pass-{}", BASE64URL_NOPAD.encode(&self.seal(fields)))))
    }

    pub(crate) fn seal(&self, fields: &[&[u8]]) -> [u8; 32] {
        seal(&self.0, fields)
    }
}

/// Not printed, because an attacker could derive passes from it.
impl fmt::Debug for TokenDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("digest:…")
    }
}

impl Serialize for TokenDigest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&BASE64URL_NOPAD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for TokenDigest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).map_err(serde::de::Error::custom)?;
        bytes.try_into().map(Self).map_err(|_| serde::de::Error::custom("a token digest has 32 bytes"))
    }
}

/// A proof derived from a token's digest that is worth nothing anywhere else: `pass-` and 43 characters.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(with = "String")]
pub struct Pass(SmolStr);

impl Pass {
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("pass-…")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::RoundId;

    fn token() -> Token {
        Token::mint("P01", &[0xA5; 32])
    }

    #[test]
    fn a_token_names_its_owner_and_shows_nothing_else() {
        let token = token();
        assert!(token.reveal().starts_with("tok-P01-") && token.reveal().len() == 8 + 43, "{}", token.reveal());
        let shown = format!("{token:?} {:?} {:?}", Credential::from(token.clone()), token.digest());
        assert_eq!(shown, "tok-P01-… tok-P01-… digest:…");
        // The random part may contain dashes.
        let dashed = Token::mint("REF100", &[0xFB; 32]);
        assert!(dashed.reveal().matches('-').count() > 2, "{}", dashed.reveal());
        assert_eq!(format!("{dashed:?}"), "tok-REF100-…");
    }

    #[test]
    fn a_token_has_as_many_bytes_as_the_league_wants() {
        let random = std::array::from_fn(|index| index as u8);
        for (length, characters) in [(16, 22), (32, 43), (33, 44), (64, 86)] {
            let token = Token::of_length("P01", &random, length);
            assert_eq!(token.reveal().len(), "tok-P01-".len() + characters, "{length}");
        }
        assert_eq!(Token::of_length("P01", &random, 32).reveal(), Token::mint("P01", &random).reveal());
    }

    #[test]
    fn a_foreign_secret_is_redacted_completely() {
        for secret in [
            "hunter2",
            "tok_p01_abc",
            "tok-",
            "tok-P01",
            "tok-hunter2-x",
            "tok-se-cret-x",
            "pass-P01-x",
            "",
            "tok-P999999999-59",
        ] {
            assert_eq!(redacted(secret), "…", "{secret}");
        }
    }

    #[test]
    fn a_digest_matches_only_its_token() {
        let digest = token().digest();
        assert!(Credential::from(token()).opens(&digest));
        assert!(!Credential::new("tok-P01-x").opens(&digest));
        assert!(!Credential::new("").opens(&digest));
        let stored = serde_json::to_string(&digest).unwrap();
        assert!(serde_json::from_str::<TokenDigest>(&stored).unwrap().same(&digest));
    }

    #[test]
    fn a_pass_fits_one_league_one_match_one_referee() {
        let league = "league_2025_even_odd".parse().unwrap();
        let (first, second) = (MatchId::of(RoundId(1), 1), MatchId::of(RoundId(1), 2));
        let key = token().digest();
        let pass = key.referee_pass(&league, &first, &RefereeId::numbered(1));
        assert!(Credential::from(pass.clone()).is(&key.referee_pass(&league, &first, &RefereeId::numbered(1))));
        let others = [
            key.referee_pass(&league, &second, &RefereeId::numbered(1)),
            key.referee_pass(&league, &first, &RefereeId::numbered(2)),
            key.referee_pass(&"other".parse().unwrap(), &first, &RefereeId::numbered(1)),
            key.player_pass(&league, &first),
            key.manager_pass(&league),
            Token::mint(PlayerId::numbered(1).as_str(), &[1; 32]).digest().player_pass(&league, &first),
        ];
        assert!(others.iter().all(|other| !Credential::from(pass.clone()).is(other)));
        assert!(!pass.reveal().contains(token().reveal()));
    }
}
