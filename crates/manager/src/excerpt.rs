//! What one agent hears of what everybody could hear.
//!
//! A round of n players has n/2 matches and a table of n rows: telling everybody everything costs n times n. Up to [`TOLD_WHOLE`] players that
//! is little, and the bytes are written once and shared by all. In a larger league a player hears of its own match, the head of the table and
//! its own row; a referee of its own matches; and each of how many there are in all. Whoever wants the rest asks for it.

use std::borrow::Cow;
use std::collections::HashMap;

use league_core::season::Season;
use league_core::season::agent::AgentId;
use league_protocol::id::ConversationId;
use league_protocol::message::round::{AnnouncedMatch, RoundAnnouncement};
use league_protocol::message::standings::StandingsRow;
use league_protocol::table::{Call, Method};

use crate::message_log::Answers;
use crate::notices::Notice;

/// Leagues of so many players tell everybody everything: about 8 KB of standings and 6 KB of matches for each in a round.
const TOLD_WHOLE: usize = 64;
const HEAD: usize = 10;
/// The most matches that a referee hears of at once; what it was given it also hears with each order.
const MATCHES: usize = 128;

/// Something that is said to many.
pub(crate) struct Told {
    /// To whom nothing else is said.
    others: Notice,
    own: Own,
    pub(crate) answers: Answers,
}

/// What somebody hears instead. It is written when its turn has come: the first can hear theirs while that of the others is not written yet.
type Own = Box<dyn Fn(&AgentId) -> Option<Notice> + Send + Sync>;

impl Told {
    pub(crate) fn alike(notice: Notice) -> Self {
        Self { others: notice, own: Box::new(|_| None), answers: Answers::default() }
    }

    /// Its conversation, and what it is.
    pub(crate) fn subject(&self) -> (&ConversationId, Method) {
        (&self.others.conversation, self.others.call.method())
    }

    /// What `who` hears.
    pub(crate) fn to(&self, who: &AgentId) -> Cow<'_, Notice> {
        (self.own)(who).map_or(Cow::Borrowed(&self.others), Cow::Owned)
    }
}

/// A table, in parts where it is long.
pub(crate) struct Excerpts {
    standings: Vec<StandingsRow>,
}

impl Excerpts {
    pub(crate) fn of(season: &Season) -> Self {
        Self { standings: season.standings() }
    }

    /// A notice of the table, or of what is to be seen of it: given these rows, and their number where these are not all.
    pub(crate) fn told(
        mut self,
        conversation: ConversationId,
        call: impl Fn(Vec<StandingsRow>, Option<u32>) -> Call + Send + Sync + 'static,
    ) -> Told {
        let notice = move |rows, total| Notice::new(conversation.clone(), call(rows, total));
        if self.standings.len() <= TOLD_WHOLE {
            return Told::alike(notice(self.standings, None));
        }
        let total = u32::try_from(self.standings.len()).ok();
        let rest = self.standings.split_off(HEAD);
        let rest: HashMap<_, _> = rest.into_iter().map(|row| (AgentId::Player(row.player_id.clone()), row)).collect();
        let head = self.standings;
        let others = notice(head.clone(), total);
        let own = move |who: &AgentId| {
            let row = rest.get(who)?;
            Some(notice(head.iter().chain([row]).cloned().collect(), total))
        };
        Told { others, own: Box::new(own), answers: Answers::default() }
    }
}

/// The announcement of a round, whole or in parts.
pub(crate) fn announced(
    season: &Season,
    conversation: ConversationId,
    mut whole: RoundAnnouncement,
    to_referees: bool,
) -> Told {
    if season.players().len() <= TOLD_WHOLE {
        return Told::alike(Notice::new(conversation, Call::NotifyRound(whole)));
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
    let part = move |matches| {
        let part = RoundAnnouncement { matches, ..whole.clone() };
        Notice::new(conversation.clone(), Call::NotifyRound(part))
    };
    let others = part(Vec::new());
    let own = move |who: &AgentId| Some(part(concerned.get(who)?.clone()));
    Told { others, own: Box::new(own), answers: Answers::default() }
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
    use crate::notices::{announcement, league_over, round_over};

    /// A league of so many players after its first round.
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

    fn rows(told: &Told, who: &AgentId) -> (Vec<PlayerId>, Option<u32>) {
        let heard = told.to(who);
        let call = &heard.call;
        if let Call::UpdateStandings(update) = call {
            return (update.standings.iter().map(|row| row.player_id.clone()).collect(), update.total_players);
        }
        let Call::NotifyLeagueCompleted(end) = call else { panic!("{:?}", call.method()) };
        (end.final_standings.iter().map(|row| row.player_id.clone()).collect(), end.total_players)
    }

    fn matches(told: &Told, who: &AgentId) -> (usize, Option<u32>) {
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
    fn up_to_the_limit_everybody_hears_everything() {
        let season = after_a_round(64);
        let [standings, _] = round_over(&season, RoundId(1));
        let (whole, total) = rows(&standings, &player(64));
        assert_eq!((whole.len(), total), (64, None));
        assert_eq!(matches(&announcement(&season, RoundId(1), false), &player(1)), (32, None));
    }

    #[test]
    fn beyond_it_everybody_hears_of_itself_and_how_many_there_are() {
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
    fn nothing_in_a_large_league_is_longer_than_anybody_reads() {
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
