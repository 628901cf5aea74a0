//! What the manager learns about an agent's dialect. Only news becomes an event.

use league_protocol::dialect::PeerDialect;
use league_protocol::message::report::{LearnedDialect, MatchResultReport};
use league_protocol::quirk::{Quirk, Quirks};
use league_protocol::time::Timestamp;

use super::agent::AgentId;
use super::event::{Event, Fact};
use super::flow::LeaguePhase;
use super::{CommandOutcome, Registered, Season, happened};

impl Season {
    pub fn dialect_of(&self, agent: &AgentId) -> Option<(&PeerDialect, Quirks)> {
        match agent {
            AgentId::Player(id) => self.player(id).map(|player| (&player.dialect, player.quirks)),
            AgentId::Referee(id) => self.referee(id).map(|referee| (&referee.dialect, referee.quirks)),
        }
    }

    /// `None` if it is already known, or the agent is unknown.
    pub fn learn(&self, agent: &AgentId, learned: &LearnedDialect, now: Timestamp) -> Option<Event> {
        let known = self.dialect_of(agent)?;
        let shows_token = learned.shows_token && self.is_yet_to_show_token(agent);
        news(agent, known, &LearnedDialect { shows_token, ..learned.clone() }, now)
    }

    pub fn is_yet_to_show_token(&self, agent: &AgentId) -> bool {
        match agent {
            AgentId::Player(id) => self.player(id).is_some_and(|player| !player.shows_token),
            AgentId::Referee(_) => false,
        }
    }

    /// Records what a referee learned about the two players of its match, and the quirks of the report itself.
    pub fn learn_from(&self, report: &MatchResultReport, by: &AgentId, odd: Quirks, now: Timestamp) -> Vec<Event> {
        let Some(players) = self.contestants(&report.match_id) else { return Vec::new() };
        let news = [players.a, players.b].into_iter().filter_map(|player| {
            let learned = report.learned.get(&player.id)?;
            self.learn(&AgentId::Player(player.id.clone()), learned, now)
        });
        let own = self.learn(by, &LearnedDialect { quirks: odd, ..LearnedDialect::default() }, now);
        news.chain(own).collect()
    }

    /// Adds the dialect that the registration shows. For a returning agent, what was learned earlier takes precedence.
    pub fn note_dialect(
        &self,
        mut ruling: CommandOutcome<Registered>,
        guess: PeerDialect,
        mut quirks: Quirks,
        now: Timestamp,
    ) -> CommandOutcome<Registered> {
        let Registered::Admitted(admitted) = &ruling.reply else { return ruling };
        let known = self.dialect_of(&admitted.id);
        if known.is_some() && self.phase == LeaguePhase::WaitingForRegistrations {
            quirks.note(Quirk::RegistersOften);
        }
        let canonical = PeerDialect::default();
        let dialect = known.is_none().then_some(guess);
        let before = known.unwrap_or((&canonical, Quirks::default()));
        ruling.events.extend(news(&admitted.id, before, &LearnedDialect { dialect, quirks, shows_token: false }, now));
        ruling
    }
}

fn news(
    agent: &AgentId,
    (dialect, quirks): (&PeerDialect, Quirks),
    learned: &LearnedDialect,
    now: Timestamp,
) -> Option<Event> {
    let better = learned.dialect.as_ref().map(|learned| dialect.learning(learned)).filter(|better| better != dialect);
    let new: Quirks = learned.quirks.iter().filter(|quirk| !quirks.has(*quirk)).collect();
    let learned = LearnedDialect { dialect: better, quirks: new, shows_token: learned.shows_token };
    (!learned.is_nothing()).then(|| happened(now, Fact::AgentLearned { agent: agent.clone(), learned }))
}
