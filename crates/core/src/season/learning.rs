//! What the manager learns about an agent's dialect. Only news becomes an event.

use league_protocol::dialect::{BadLesson, PeerDialect};
use league_protocol::error::{ErrorCode, RequestError};
use league_protocol::id::PlayerId;
use league_protocol::message::report::{LearnedDialect, MatchResultReport};
use league_protocol::quirk::{Quirk, Quirks};
use league_protocol::table::Method;
use league_protocol::time::Timestamp;

use super::agent::AgentId;
use super::event::{Event, Fact};
use super::flow::LeaguePhase;
use super::{CommandOutcome, Registered, Season, happened};

/// What a report teaches about the players of its match.
#[derive(Debug, Default)]
pub struct Lessons {
    pub events: Vec<Event>,
    pub refused: Vec<(PlayerId, BadLesson)>,
}

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

    /// Records what a referee learned about the two players of its match, and the quirks of the report itself. A dialect that could
    /// lead a player to another call is left out.
    pub fn learn_from(&self, report: &MatchResultReport, by: &AgentId, odd: Quirks, now: Timestamp) -> Lessons {
        let mut lessons = Lessons::default();
        let Some(players) = self.contestants(&report.match_id) else { return lessons };
        for player in [players.a, players.b] {
            let Some(learned) = report.learned.get(&player.id) else { continue };
            let mut learned = learned.clone();
            let names_path = player.profile.endpoint.parse::<http::Uri>().is_ok_and(|uri| uri.path() != "/");
            if let Some(Err(bad)) = learned.dialect.as_ref().map(|dialect| dialect.check_lesson(names_path)) {
                learned.dialect = None;
                lessons.refused.push((player.id.clone(), bad));
            }
            lessons.events.extend(self.learn(&AgentId::Player(player.id.clone()), &learned, now));
        }
        let own = LearnedDialect { quirks: odd, ..LearnedDialect::default() };
        lessons.events.extend(self.learn(by, &own, now));
        lessons
    }

    /// The next calls to the player are canonical.
    pub fn forget_dialect(&self, id: &PlayerId, now: Timestamp) -> Result<CommandOutcome<()>, RequestError> {
        if self.player(id).is_none() {
            let message = format!("{id} is not registered in this league; name a registered player");
            return Err(RequestError::new(ErrorCode::E005, Method::ForgetDialect, message).about("player_id"));
        }
        let fact = Fact::DialectForgotten { player: id.clone() };
        Ok(CommandOutcome { events: vec![happened(now, fact)], reply: () })
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
