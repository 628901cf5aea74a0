//! The notices of the manager, and their recipients.
//!
//! Up to [`TOLD_WHOLE`] players, every agent gets all matches of a round and all standings, serialized once. Larger
//! leagues would need n² rows. There a player gets its own match, the first rows and its own row, a referee gets its own
//! matches, and both can query the rest.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use league_core::season::Season;
use league_core::season::agent::{AgentId, AgentProfile, RegisteredPlayer, RegisteredReferee, StoredCredential};
use league_protocol::dialect::PeerDialect;
use league_protocol::envelope::Envelope;
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::{ConversationId, LeagueId, RoundId};
use league_protocol::message::league_error::LeagueError;
use league_protocol::message::round::{
    AnnouncedMatch, LeagueCompleted, RoundAnnouncement, RoundCompleted, ShutdownCommand,
};
use league_protocol::message::standings::{FinalRow, StandingsRow, StandingsUpdate};
use league_protocol::sender::Sender;
use league_protocol::table::{Call, Method};
use league_protocol::time::Timestamp;
use league_protocol::token::Credential;
use league_wire::endpoint::Endpoint;
use smol_str::SmolStr;

use crate::message_log::Answers;

/// About 8 KB of standings and 6 KB of matches for each agent in a round.
const TOLD_WHOLE: usize = 64;
const HEAD: usize = 10;
/// The most matches in an announcement to a referee, which also gets an order for each match.
const MATCHES: usize = 128;

#[derive(Clone, Debug)]
pub(crate) struct Notice {
    pub(crate) conversation: ConversationId,
    pub(crate) call: Call,
    /// The JSON body, serialized once for all recipients.
    pub(crate) body: Option<Vec<u8>>,
}

impl Notice {
    fn new(conversation: ConversationId, call: Call) -> Self {
        let mut body = Vec::with_capacity(4096);
        let written = call.write_body(&mut body).is_ok();
        Self { conversation, call, body: written.then_some(body) }
    }
}

/// Serialized when the agent is told, so that the first agents do not wait for the others' excerpts.
type Excerpt = Box<dyn Fn(&AgentId) -> Option<Call> + Send + Sync>;

pub(crate) struct Announcement {
    pub(crate) notice: Notice,
    excerpt: Option<Excerpt>,
    pub(crate) answers: Answers,
}

impl Announcement {
    fn new(conversation: ConversationId, call: Call) -> Self {
        Self { notice: Notice::new(conversation, call), excerpt: None, answers: Answers::default() }
    }

    fn in_excerpts(
        conversation: ConversationId,
        call: Call,
        excerpt: impl Fn(&AgentId) -> Option<Call> + Send + Sync + 'static,
    ) -> Self {
        Self { excerpt: Some(Box::new(excerpt)), ..Self::new(conversation, call) }
    }

    pub(crate) fn to(&self, agent: &AgentId) -> Cow<'_, Notice> {
        let own = self.excerpt.as_ref().and_then(|excerpt| excerpt(agent));
        own.map_or(Cow::Borrowed(&self.notice), |call| Cow::Owned(Notice::new(self.notice.conversation.clone(), call)))
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Recipient {
    pub(crate) id: AgentId,
    pub(crate) endpoint: Endpoint,
    pub(crate) pass: Credential,
    pub(crate) dialect: PeerDialect,
    pub(crate) accepts_batches: bool,
}

impl Recipient {
    /// `None` when the endpoint is no URL.
    pub(crate) fn player(player: &RegisteredPlayer, league: &LeagueId) -> Option<Self> {
        let RegisteredPlayer { id, profile, grant, dialect, .. } = player;
        Self::new(AgentId::Player(id.clone()), profile, grant, dialect, league)
    }

    pub(crate) fn referee(referee: &RegisteredReferee, league: &LeagueId) -> Option<Self> {
        let RegisteredReferee { id, profile, grant, dialect, .. } = referee;
        Self::new(AgentId::Referee(id.clone()), profile, grant, dialect, league)
    }

    fn new(
        id: AgentId,
        profile: &AgentProfile,
        grant: &StoredCredential,
        dialect: &PeerDialect,
        league: &LeagueId,
    ) -> Option<Self> {
        let (endpoint, pass) = (profile.endpoint.parse().ok()?, grant.digest.manager_pass(league).into());
        Some(Self { id, endpoint, pass, dialect: dialect.clone(), accepts_batches: profile.accepts_batches })
    }

    pub(crate) fn players(season: &Season) -> Vec<Self> {
        Self::of(season, season.players().iter().filter(|player| !player.withdrawn))
    }

    /// In the order of the matches: opponents are told together, and can begin while others are told. Players without a match
    /// come last.
    pub(crate) fn players_of(season: &Season, round: RoundId) -> Vec<Self> {
        let plan = season.plan(round).unwrap_or_default();
        let meeting = plan.pairings.iter().flat_map(|pair| [pair.a, pair.b]).chain(plan.byes.iter().copied());
        let meeting: Vec<u32> = meeting.collect();
        let told: HashSet<u32> = meeting.iter().copied().collect();
        // Players that are out hear how the league goes on.
        let others = (0..).take(season.players().len()).filter(|place| !told.contains(place));
        let players = meeting.iter().copied().chain(others).filter_map(|place| season.players().get(place as usize));
        Self::of(season, players.filter(|player| !player.withdrawn))
    }

    /// Withdrawn players are also told when the league is over.
    pub(crate) fn all_players(season: &Season) -> Vec<Self> {
        Self::of(season, season.players())
    }

    fn of<'a>(season: &Season, players: impl IntoIterator<Item = &'a RegisteredPlayer>) -> Vec<Self> {
        let league = &season.config().league_id;
        players.into_iter().filter_map(|player| Self::player(player, league)).collect()
    }

    pub(crate) fn referees(season: &Season) -> Vec<Self> {
        let league = &season.config().league_id;
        let present = season.referees().iter().filter(|referee| !referee.is_absent());
        present.filter_map(|referee| Self::referee(referee, league)).collect()
    }
}

/// `call` gets the rows, and their total number when they are an excerpt.
fn standings(
    season: &Season,
    conversation: ConversationId,
    call: impl Fn(Vec<StandingsRow>, Option<u32>) -> Call + Send + Sync + 'static,
) -> Announcement {
    let mut head = season.standings();
    if head.len() <= TOLD_WHOLE {
        return Announcement::new(conversation, call(head, None));
    }
    let total = u32::try_from(head.len()).ok();
    let rest = head.split_off(HEAD).into_iter().map(|row| (AgentId::Player(row.player_id.clone()), row));
    let rest: HashMap<AgentId, StandingsRow> = rest.collect();
    Announcement::in_excerpts(conversation, call(head.clone(), total), move |agent| {
        let own = rest.get(agent)?;
        Some(call(head.iter().chain([own]).cloned().collect(), total))
    })
}

pub(crate) fn round_over(season: &Season, round: RoundId) -> [Announcement; 2] {
    let league_id = Some(season.config().league_id.clone());
    let summary = season.summary(round);
    let next = RoundId(round.0 + 1);
    let completed = RoundCompleted {
        league_id: league_id.clone(),
        round_id: round,
        matches_played: summary.total_matches,
        matches_completed: summary.total_matches,
        next_round_id: (next.0 <= season.total_rounds()).then_some(next),
        summary,
    };
    let conversation = |what| ConversationId::named(format_args!("conv-round-{round}-{what}"));
    let standings = standings(season, conversation("standings"), move |standings, total_players| {
        let (league_id, round_id) = (league_id.clone(), Some(round));
        Call::UpdateStandings(StandingsUpdate { league_id, round_id, standings, total_players })
    });
    [standings, Announcement::new(conversation("complete"), Call::NotifyRoundCompleted(completed))]
}

/// Referees also get the endpoints of the players.
pub(crate) fn announcement(season: &Season, round: RoundId, to_referees: bool) -> Announcement {
    let conversation = ConversationId::named(format_args!("conv-round-{round}-announce"));
    let mut whole = RoundAnnouncement {
        league_id: Some(season.config().league_id.clone()),
        round_id: round,
        matches: season.announced(round, to_referees),
        total_matches: None,
        referees_show_passes: (!season.referees_show_passes()).then_some(false),
        players: None,
        agents: None,
    };
    if season.players().len() <= TOLD_WHOLE {
        return Announcement::new(conversation, Call::NotifyRound(whole));
    }
    let matches = std::mem::take(&mut whole.matches);
    whole.total_matches = u32::try_from(matches.len()).ok();
    let mut concerned: HashMap<AgentId, Vec<AnnouncedMatch>> = HashMap::new();
    for announced in matches {
        let players = [&announced.player_a_id, &announced.player_b_id].map(|player| AgentId::Player(player.clone()));
        let referee = announced.referee_id.iter().map(|referee| AgentId::Referee(referee.clone()));
        let agents: Vec<_> = if to_referees { referee.collect() } else { players.to_vec() };
        for agent in agents {
            let matches = concerned.entry(agent).or_default();
            if matches.len() < MATCHES {
                matches.push(announced.clone());
            }
        }
    }
    Announcement::in_excerpts(conversation, Call::NotifyRound(whole.clone()), move |agent| {
        let matches = concerned.get(agent)?.clone();
        Some(Call::NotifyRound(RoundAnnouncement { matches, ..whole.clone() }))
    })
}

pub(crate) fn league_over(season: &Season) -> Announcement {
    let (league_id, champion) = (Some(season.config().league_id.clone()), season.champion());
    let (total_rounds, total_matches) = (season.total_rounds(), season.matches_completed());
    standings(season, ConversationId::named("conv-league-complete"), move |standings, total_players| {
        let (league_id, champion) = (league_id.clone(), champion.clone());
        let final_standings = standings.iter().map(FinalRow::from).collect();
        let end = LeagueCompleted { league_id, total_rounds, total_matches, champion, final_standings, total_players };
        Call::NotifyLeagueCompleted(end)
    })
}

/// An agent that is in no match may leave.
pub(crate) fn withdrawn(league: &LeagueId, agent: &AgentId, may_leave: bool) -> Vec<Announcement> {
    let (method, code) = match agent {
        AgentId::Player(_) => (Method::WithdrawPlayer, ErrorCode::E005),
        AgentId::Referee(_) => (Method::WithdrawReferee, ErrorCode::E013),
    };
    let id = agent.as_str();
    let conversation = ConversationId::named(format_args!("conv-{id}-withdrawn"));
    let message = format!("the operator has withdrawn {id} from {league}; its token counts no more");
    let fault = RequestError::new(code, method, message);
    let out = Call::NotifyLeagueError(LeagueError::of(&fault, Some(method.row().name)));
    let reason = Some(SmolStr::new_static("withdrawn by the operator"));
    let leave = may_leave.then_some(Call::Shutdown(ShutdownCommand { reason }));
    [Some(out), leave].into_iter().flatten().map(|call| Announcement::new(conversation.clone(), call)).collect()
}

pub(crate) fn envelope(conversation_id: ConversationId, now: Timestamp, auth_token: Option<Credential>) -> Envelope {
    Envelope { sender: Sender::manager(), timestamp: now, conversation_id, auth_token }
}

#[cfg(test)]
mod tests {
    use league_core::in_memory::InMemoryLeague;
    use league_core::rules::seed::Seed;
    use league_core::season::config::LeagueConfig;
    use league_protocol::id::{PlayerId, RefereeId, RoundId};
    use league_protocol::request::MAX_BODY;
    use league_protocol::time::Timestamp;
    use smol_str::format_smolstr;

    use super::*;

    fn after_a_round(players: u32) -> Season {
        let config = LeagueConfig { max_players: players, ..LeagueConfig::even_odd("league_large".parse().unwrap()) };
        let names: Vec<_> = (1..=players).map(|number| format_smolstr!("Player {number}")).collect();
        let seed = Seed::new(1, config.league_id.clone());
        let mut league = InMemoryLeague::new(config, &names, seed, Timestamp::EPOCH).unwrap();
        league.play_round().unwrap();
        league.season().clone()
    }

    fn player(number: u32) -> AgentId {
        AgentId::Player(PlayerId::numbered(number))
    }

    fn rows(told: &Announcement, who: &AgentId) -> (Vec<PlayerId>, Option<u32>) {
        let heard = told.to(who);
        let call = &heard.call;
        if let Call::UpdateStandings(update) = call {
            return (update.standings.iter().map(|row| row.player_id.clone()).collect(), update.total_players);
        }
        let Call::NotifyLeagueCompleted(end) = call else { panic!("{:?}", call.method()) };
        (end.final_standings.iter().map(|row| row.player_id.clone()).collect(), end.total_players)
    }

    fn matches(told: &Announcement, who: &AgentId) -> (usize, Option<u32>) {
        let heard = told.to(who);
        let call = &heard.call;
        let Call::NotifyRound(round) = call else { panic!("{:?}", call.method()) };
        if let AgentId::Player(player) = who {
            let own = |one: &AnnouncedMatch| one.player_a_id == *player || one.player_b_id == *player;
            assert!(round.total_matches.is_none() || round.matches.iter().all(own));
        }
        (round.matches.len(), round.total_matches)
    }

    #[test]
    fn up_to_the_limit_every_agent_is_told_everything() {
        let season = after_a_round(64);
        let [standings, _] = round_over(&season, RoundId(1));
        let (whole, total) = rows(&standings, &player(64));
        assert_eq!((whole.len(), total), (64, None));
        assert_eq!(matches(&announcement(&season, RoundId(1), false), &player(1)), (32, None));
    }

    #[test]
    fn beyond_the_limit_an_agent_is_told_about_itself_and_the_total() {
        let season = after_a_round(65);
        let table = season.standings();
        let [standings, _] = round_over(&season, RoundId(1));
        for told in [standings, league_over(&season)] {
            for (place, row) in table.iter().enumerate() {
                let (seen, total) = rows(&told, &AgentId::Player(row.player_id.clone()));
                assert_eq!((seen.len(), total), (if place < HEAD { 10 } else { 11 }, Some(65)));
                assert!(seen.contains(&row.player_id));
            }
            assert_eq!(rows(&told, &AgentId::Referee(RefereeId::numbered(1))).0.len(), 10);
        }
        let told = announcement(&season, RoundId(1), false);
        let of_each: Vec<_> = (1..=65).map(|number| matches(&told, &player(number))).collect();
        assert_eq!(of_each.iter().filter(|of_one| **of_one == (1, Some(32))).count(), 64);
        assert_eq!(of_each.iter().filter(|of_one| **of_one == (0, Some(32))).count(), 1, "one has no opponent");
        let to_referees = announcement(&season, RoundId(1), true);
        assert_eq!(matches(&to_referees, &AgentId::Referee(RefereeId::numbered(1))), (32, Some(32)));
    }

    #[test]
    fn no_notice_in_a_large_league_is_longer_than_an_agent_reads() {
        let season = after_a_round(1000);
        let [standings, completed] = round_over(&season, RoundId(1));
        let announced = [false, true].map(|to_referees| announcement(&season, RoundId(1), to_referees));
        for told in [standings, completed, league_over(&season)].iter().chain(&announced) {
            for who in (1..=1000).map(player).chain([AgentId::Referee(RefereeId::numbered(1))]) {
                let length = told.to(&who).body.as_ref().map_or(0, Vec::len);
                assert!(0 < length && length < MAX_BODY / 2, "{length} bytes");
            }
        }
    }
}
