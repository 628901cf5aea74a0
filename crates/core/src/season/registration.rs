//! Registration: each agent once, with the id it asks for if that is free, and a token that only the agent receives.

use http::Uri;
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{PlayerId, RefereeId};
use league_protocol::message::registration::{LeagueRegisterRequest, RefereeRegisterRequest};
use league_protocol::quirk::Quirk;
use league_protocol::sender::Sender;
use league_protocol::table::Method;
use league_protocol::time::Timestamp;
use league_protocol::token::{Credential, Token};
use smol_str::SmolStr;

use super::agent::{AgentId, AgentProfile, RegisteredPlayer, StoredCredential};
use super::event::{Event, Fact};
use super::flow::LeaguePhase;
use super::identity::AgentIdentity;
use super::{CommandOutcome, MatchSlot, Season, happened, whole};

/// Keeps ids short and lists of them small.
const MAX_WISH: u32 = 99_999;

/// The token is not shown again.
#[derive(Clone, Debug)]
pub struct Admission {
    pub id: AgentId,
    pub token: Token,
    pub returning: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rejection {
    /// Begins with the wording of the course documents and says what to do.
    pub reason: String,
    /// The number of the reason in the message contracts.
    pub code: i32,
    pub error: ErrorCode,
}

impl Rejection {
    pub fn new(reason: RejectionReason, method: Method, advice: impl std::fmt::Display) -> Self {
        let error = reason.error();
        Self { reason: format!("{}: {advice}", reason.phrase()), code: reason.code(method), error }
    }
}

/// Each reason has one number for players and one for referees.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RejectionReason {
    Full,
    DuplicateName,
    Endpoint,
    Game,
    Closed,
}

impl RejectionReason {
    fn phrase(self) -> &'static str {
        match self {
            Self::Full => "League full",
            Self::DuplicateName => "Duplicate name",
            Self::Endpoint => "Invalid endpoint",
            Self::Game => "Game type not supported",
            Self::Closed => "Registration closed",
        }
    }

    fn error(self) -> ErrorCode {
        match self {
            Self::Full => ErrorCode::E020,
            Self::DuplicateName => ErrorCode::E017,
            Self::Closed => ErrorCode::E019,
            Self::Endpoint | Self::Game => ErrorCode::E002,
        }
    }

    fn code(self, method: Method) -> i32 {
        let referee = matches!(method, Method::RegisterReferee);
        match (self, referee) {
            (Self::Full | Self::DuplicateName | Self::Closed, _) => self.error().rpc(Some(method)),
            (Self::Endpoint, true) => 1002,
            (Self::Endpoint, false) => 2003,
            (Self::Game, true) => 1003,
            (Self::Game, false) => 2004,
        }
    }
}

#[derive(Clone, Debug)]
pub enum Registered {
    Admitted(Admission),
    Rejected(Rejection),
}

impl Season {
    /// The season derives the token from `random`.
    pub fn register_player(
        &self,
        request: &LeagueRegisterRequest,
        sender: Option<&Sender>,
        random: &[u8; 32],
        now: Timestamp,
    ) -> Result<CommandOutcome<Registered>, RequestError> {
        const METHOD: Method = Method::RegisterPlayer;
        let profile = AgentProfile::from(&request.player_meta);
        let identity = AgentIdentity::of(&profile);
        let named = self.player_names.get(&identity.name);
        let located = self.player_addresses.get(&identity.address);
        let clash = named.into_iter().chain(located).min().and_then(|place| self.players.get(*place as usize));
        if let Some(known) = clash.filter(|player| player.identity == identity) {
            if known.withdrawn {
                let advice = format!("the operator has withdrawn {} from this league; wait for the next one", known.id);
                return Ok(reject(RejectionReason::Closed, METHOD, advice));
            }
            let mut profile = profile;
            if self.phase == LeaguePhase::RunningLeague {
                if known.profile.signs_moves && !profile.signs_moves {
                    return Ok(reject(
                        RejectionReason::DuplicateName,
                        METHOD,
                        stripped(known.id.as_str(), "signs_moves: true"),
                    ));
                }
                // A player that begins to sign during a match would make the report of its referee wrong.
                profile.signs_moves = known.profile.signs_moves;
                if known.former_keys.len() >= RegisteredPlayer::MAX_FORMER_KEYS && self.is_in_match(&known.id) {
                    let message =
                        format!("{} has registered too often during its match; wait until the match is over", known.id);
                    return Err(RequestError::new(ErrorCode::E014, METHOD, message));
                }
            }
            let player = known.id.clone();
            let (token, grant) = self.grant(player.as_str(), random, now);
            let fact = Fact::PlayerReturned { player: player.clone(), profile, grant };
            return Ok(admit(AgentId::Player(player), token, happened(now, fact), true));
        }
        if !self.takes_players() {
            let advice = "wait for the next league, or ask the operator to open the registration again";
            return Ok(reject(RejectionReason::Closed, METHOD, advice));
        }
        let clash = clash.map(|player| (player.id.as_str(), &player.profile.name, &player.identity));
        if let Some(rejection) = self.unsuitable(&profile, &identity, clash, METHOD) {
            return Ok(rejection);
        }
        if self.players.len() >= self.config.max_players as usize {
            let most = self.config.max_players;
            let advice = format!("it has its {most} players; ask the operator to raise participants.max_players");
            return Ok(reject(RejectionReason::Full, METHOD, advice));
        }
        let named = sender.and_then(Sender::player_id);
        let mut wishes = request.player_id.clone().into_iter().chain(named);
        // The list of players stays in the order of ids once the registration is closed.
        let last = self.players.last().filter(|_| self.phase != LeaguePhase::WaitingForRegistrations);
        let is_free = |id: &PlayerId| last.is_none_or(|last| last.id < *id) && !self.player_index.contains_key(id);
        let wish = wishes.find(|id| may_wish(id.number()) && is_free(id));
        let next = last.and_then(|last| last.id.number()).map_or(self.free_player, |last| last + 1);
        let player = wish.unwrap_or_else(|| PlayerId::numbered(next));
        let (token, grant) = self.grant(player.as_str(), random, now);
        let fact = Fact::PlayerRegistered { player: player.clone(), profile, grant };
        Ok(admit(AgentId::Player(player), token, happened(now, fact), false))
    }

    /// The season derives the token from `random`. Referees may register while the league runs, to replace lost ones.
    pub fn register_referee(
        &self,
        request: &RefereeRegisterRequest,
        sender: Option<&Sender>,
        random: &[u8; 32],
        now: Timestamp,
    ) -> Result<CommandOutcome<Registered>, RequestError> {
        const METHOD: Method = Method::RegisterReferee;
        let profile = AgentProfile::from(&request.referee_meta);
        // An unlimited claim would draw every match to one referee.
        let capacity =
            request.referee_meta.max_concurrent_matches.unwrap_or(1).min(self.config.max_referee_capacity).max(1);
        let (identity, commitments) = (AgentIdentity::of(&profile), request.draw_commitments.clone());
        if let Some(known) = self.referees.iter().find(|referee| referee.identity == identity) {
            if known.withdrawn {
                let advice = format!("the operator has withdrawn {} from this league; wait for the next one", known.id);
                return Ok(reject(RejectionReason::Closed, METHOD, advice));
            }
            if self.phase == LeaguePhase::RunningLeague {
                let needs = if known.profile.shows_passes && !profile.shows_passes {
                    Some("pass_scheme")
                } else {
                    (known.deposits && commitments.is_empty()).then_some("draw_commitments")
                };
                if let Some(needs) = needs {
                    return Ok(reject(RejectionReason::DuplicateName, METHOD, stripped(known.id.as_str(), needs)));
                }
            }
            let referee = known.id.clone();
            let (token, grant) = self.grant(referee.as_str(), random, now);
            let fact = Fact::RefereeReturned { referee: referee.clone(), profile, capacity, grant, commitments };
            return Ok(admit(AgentId::Referee(referee), token, happened(now, fact), true));
        }
        if self.phase == LeaguePhase::LeagueCompleted {
            return Ok(reject(RejectionReason::Closed, METHOD, "the league is over; wait for the next one"));
        }
        let mut others =
            self.referees.iter().map(|referee| (referee.id.as_str(), &referee.profile.name, &referee.identity));
        let clash = others.find(|(_, _, other)| identity.clashes_with(other));
        if let Some(rejection) = self.unsuitable(&profile, &identity, clash, METHOD) {
            return Ok(rejection);
        }
        // A new referee can replace a lost one even if the league allows only one.
        let present = self.referees.iter().filter(|referee| !referee.is_absent()).count();
        if present >= self.config.max_referees as usize {
            let most = self.config.max_referees;
            let advice = format!("it has its {most} referees; ask the operator to raise participants.max_referees");
            return Ok(reject(RejectionReason::Full, METHOD, advice));
        }
        let named = sender.and_then(Sender::referee_id);
        let mut wishes = request.referee_id.clone().into_iter().chain(named);
        let wish = wishes.find(|id| may_wish(id.number()) && !self.referee_index.contains_key(id));
        let referee = wish.unwrap_or_else(|| RefereeId::numbered(self.free_referee));
        let (token, grant) = self.grant(referee.as_str(), random, now);
        let fact = Fact::RefereeRegistered { referee: referee.clone(), profile, capacity, grant, commitments };
        Ok(admit(AgentId::Referee(referee), token, happened(now, fact), false))
    }

    fn is_in_match(&self, player: &PlayerId) -> bool {
        let slot = self.rounds.last().zip(self.player_index.get(player)).and_then(|(round, index)| {
            let number = round.numbers.get(*index as usize)?.checked_sub(1)?;
            round.slots.get(number as usize)
        });
        matches!(slot, Some(MatchSlot::Held { .. } | MatchSlot::Suspended { .. }))
    }

    /// Unknown, wrong and expired tokens give the same error, E012.
    pub fn authenticate(&self, token: &Credential, method: Method, now: Timestamp) -> Result<AgentId, RequestError> {
        let grant = |agent: &AgentId| match agent {
            AgentId::Player(id) => self.player(id).map(|player| &player.grant),
            AgentId::Referee(id) => self.referee(id).map(|referee| &referee.grant),
        };
        AgentId::claimed_by(token.reveal())
            .filter(|agent| grant(agent).is_some_and(|grant| token.opens(&grant.digest) && now < grant.expires))
            .ok_or_else(|| {
                let message = "the token is not valid here, or no longer; register again to get a fresh one";
                RequestError::new(ErrorCode::E012, method, message).about("auth_token")
            })
            .and_then(|agent| self.check_not_withdrawn(agent, method))
    }

    fn check_not_withdrawn(&self, agent: AgentId, method: Method) -> Result<AgentId, RequestError> {
        match &agent {
            AgentId::Player(id) if self.player(id).is_some_and(|player| player.withdrawn) => {}
            AgentId::Referee(id) if self.referee(id).is_some_and(|referee| referee.withdrawn) => {}
            AgentId::Player(_) | AgentId::Referee(_) => return Ok(agent),
        }
        let id = agent.as_str();
        let message = format!("the operator has withdrawn {id} from this league; wait for the next league");
        Err(RequestError::new(ErrorCode::E012, method, message).about("auth_token"))
    }

    /// Compares the `sender` of a request with `owner`, whose token it carries. Another registered agent as sender is refused. An
    /// unknown sender is a quirk, which only a strict league refuses.
    pub fn check_sender(
        &self,
        owner: &AgentId,
        sender: Option<&Sender>,
        method: Method,
    ) -> Result<Option<Quirk>, RequestError> {
        let Some(sender) = sender else { return Ok(None) };
        let player = sender.player_id().filter(|id| self.player(id).is_some()).map(AgentId::Player);
        let referee = || sender.referee_id().filter(|id| self.referee(id).is_some()).map(AgentId::Referee);
        let mine = match owner {
            AgentId::Player(id) => Sender::player(id),
            AgentId::Referee(id) => Sender::referee(id),
        };
        let (code, found) = match player.or_else(referee) {
            Some(named) if named == *owner => return Ok(None),
            Some(named) => (ErrorCode::E012, format!("is {}, another agent", named.as_str())),
            None if self.config.strict => (ErrorCode::E002, format!("is {:?}", sender.as_str())),
            None => return Ok(Some(Quirk::OddSender)),
        };
        let message = format!("sender {found}, and auth_token belongs to {}; send {:?}", owner.as_str(), mine.as_str());
        Err(RequestError::new(code, method, message).about("sender"))
    }

    fn grant(&self, id: &str, random: &[u8; 32], now: Timestamp) -> (Token, StoredCredential) {
        let token = Token::of_length(id, random, self.config.token_length);
        let grant = StoredCredential { digest: token.digest(), expires: whole(now.after(self.config.token_ttl())) };
        (token, grant)
    }

    /// Reasons for a rejection that do not depend on the league's capacity.
    fn unsuitable<'a>(
        &self,
        profile: &AgentProfile,
        identity: &AgentIdentity,
        clash: Option<(&'a str, &'a SmolStr, &'a AgentIdentity)>,
        method: Method,
    ) -> Option<CommandOutcome<Registered>> {
        if !profile.games.contains(&self.config.game_type) {
            let advice = format!("this league plays {}; add it to game_types", self.config.game_type);
            return Some(reject(RejectionReason::Game, method, advice));
        }
        if profile.pull_host().is_none()
            && let Err(advice) = check_endpoint(&profile.endpoint)
        {
            return Some(reject(RejectionReason::Endpoint, method, advice));
        }
        Some(match clash? {
            (id, name, other) if identity.name == other.name => {
                let advice = format!("{name:?} belongs to {id} already; choose another display_name");
                reject(RejectionReason::DuplicateName, method, advice)
            }
            (id, _, _) => {
                let advice = format!("{id} already listens at this contact_endpoint; listen on another port");
                reject(RejectionReason::Endpoint, method, advice)
            }
        })
    }
}

fn reject(reason: RejectionReason, method: Method, advice: impl std::fmt::Display) -> CommandOutcome<Registered> {
    let rejection = Rejection::new(reason, method, advice);
    CommandOutcome { events: Vec::new(), reply: Registered::Rejected(rejection) }
}

/// An agent cannot drop what lets the manager check its matches.
fn stripped(id: &str, needs: &str) -> String {
    format!("{id} began this league with {needs}; register with it again, or under another name in the next league")
}

fn admit(id: AgentId, token: Token, event: Event, returning: bool) -> CommandOutcome<Registered> {
    CommandOutcome { events: vec![event], reply: Registered::Admitted(Admission { id, token, returning }) }
}

fn may_wish(number: Option<u32>) -> bool {
    number.is_some_and(|number| number <= MAX_WISH)
}

/// Whether the endpoint can be called at all. The caller judges which addresses a client may name, because it knows the client's
/// network.
fn check_endpoint(endpoint: &str) -> Result<(), String> {
    let example = "give a full URL like http://localhost:8101/mcp as contact_endpoint";
    let uri: Uri = endpoint.parse().map_err(|_| format!("this is not a URL; {example}"))?;
    match (uri.scheme_str(), uri.authority()) {
        (Some("http" | "https"), Some(authority)) if !authority.host().is_empty() => {
            if authority.as_str().contains('@') {
                return Err(format!("a contact_endpoint holds no user name; {example}"));
            }
            // The URL parser does not check the part after the host, which must be a port or nothing.
            let has_port = authority.as_str() != authority.host();
            if has_port && authority.port_u16().is_none_or(|port| port == 0) {
                return Err(format!("a port is a number from 1 to 65535; {example}"));
            }
            Ok(())
        }
        (Some("http" | "https"), _) => Err(format!("the URL names no host; {example}")),
        (Some(_) | None, _) => Err(format!("only http and https can be called; {example}")),
    }
}
