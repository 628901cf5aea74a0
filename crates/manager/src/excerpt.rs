//! What one agent hears of what everybody could hear.
//!
//! A round of n players has n/2 matches and a table of n rows: telling everybody everything costs n times n. Up to [`TOLD_WHOLE`] players that
//! is little, and the bytes are written once and shared by all. In a larger league a player hears of its own match, the head of the table and
//! its own row; a referee of its own matches; and each of how many there are in all. Whoever wants the rest asks for it.

use std::collections::HashMap;
use std::sync::Arc;

use league_core::season::Season;
use league_core::season::agent::AgentId;
use league_protocol::id::ConversationId;
use league_protocol::message::round::{AnnouncedMatch, RoundAnnouncement};
use league_protocol::message::standings::StandingsRow;
use league_protocol::table::Call;

use crate::notices::Notice;

/// Leagues of so many players tell everybody everything: about 8 KB of standings and 6 KB of matches for each in a round.
const TOLD_WHOLE: usize = 64;
/// The rows that everybody sees.
const HEAD: usize = 10;
/// The most matches that a referee hears of at once; what it was given it also hears with each order.
const MATCHES: usize = 128;

/// Something that is said to many.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    /// To whom nothing else is said.
    others: Notice,
    each: Arc<HashMap<AgentId, Notice>>,
}

impl Told {
    /// The same to everybody.
    pub(crate) fn alike(notice: Notice) -> Self {
        Self { others: notice, each: Arc::default() }
    }

    /// What `who` hears.
    pub(crate) fn to(&self, who: &AgentId) -> &Notice {
        self.each.get(who).unwrap_or(&self.others)
    }
}

/// A table, in parts where it is long.
pub(crate) struct Excerpts {
    standings: Vec<StandingsRow>,
}

impl Excerpts {
    /// The table as it stands.
    pub(crate) fn of(season: &Season) -> Self {
        Self { standings: season.standings() }
    }

    /// A notice of the table, or of what is to be seen of it: given these rows, and their number where these are not all.
    pub(crate) fn told(
        self,
        conversation: ConversationId,
        call: impl Fn(Vec<StandingsRow>, Option<u32>) -> Call,
    ) -> Told {
        let notice = |rows, total| Notice::new(conversation.clone(), call(rows, total));
        if self.standings.len() <= TOLD_WHOLE {
            return Told::alike(notice(self.standings, None));
        }
        let total = u32::try_from(self.standings.len()).ok();
        let (head, rest) = self.standings.split_at(HEAD);
        let others = notice(head.to_vec(), total);
        let each = rest.iter().map(|own| {
            let rows = head.iter().chain([own]).cloned().collect();
            (AgentId::Player(own.player_id.clone()), notice(rows, total))
        });
        Told { each: Arc::new(each.collect()), others }
    }
}

/// The announcement of a round, whole or in parts.
pub(crate) fn announced(
    season: &Season,
    conversation: ConversationId,
    whole: RoundAnnouncement,
    to_referees: bool,
) -> Told {
    let notice = |announcement| Notice::new(conversation.clone(), Call::NotifyRound(announcement));
    if season.players().len() <= TOLD_WHOLE {
        return Told::alike(notice(whole));
    }
    let total_matches = u32::try_from(whole.matches.len()).ok();
    let part = |matches| {
        let RoundAnnouncement { league_id, round_id, referees_show_passes, .. } = &whole;
        let (league_id, round_id) = (league_id.clone(), *round_id);
        let referees_show_passes = *referees_show_passes;
        notice(RoundAnnouncement { league_id, round_id, matches, total_matches, referees_show_passes })
    };
    let mut own: HashMap<AgentId, Vec<AnnouncedMatch>> = HashMap::new();
    for announced in &whole.matches {
        let players = [&announced.player_a_id, &announced.player_b_id].map(|player| AgentId::Player(player.clone()));
        let referee = announced.referee_id.iter().map(|referee| AgentId::Referee(referee.clone()));
        let concerned: Vec<_> = if to_referees { referee.collect() } else { players.to_vec() };
        for agent in concerned {
            let matches = own.entry(agent).or_default();
            if matches.len() < MATCHES {
                matches.push(announced.clone());
            }
        }
    }
    let each = own.into_iter().map(|(agent, matches)| (agent, part(matches)));
    Told { each: Arc::new(each.collect()), others: part(Vec::new()) }
}
