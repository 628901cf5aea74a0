use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::id::{MatchId, PlayerId, RefereeId, RoundId};
use crate::lenient;

/// "Heard you." Nothing of it is needed, so nothing of it is required.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Acknowledgement {
    /// `ACKNOWLEDGED`.
    #[serde(default = "acknowledged")]
    pub status: SmolStr,
    /// The player that heard it.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub player_id: Option<PlayerId>,
    /// The referee that heard it.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub referee_id: Option<RefereeId>,
    /// The round it was about.
    #[serde(default, deserialize_with = "lenient::number", skip_serializing_if = "Option::is_none")]
    pub round_id: Option<RoundId>,
    /// The match it was about.
    #[serde(default, deserialize_with = "lenient::text", skip_serializing_if = "Option::is_none")]
    pub match_id: Option<MatchId>,
}

fn acknowledged() -> SmolStr {
    SmolStr::new_static("ACKNOWLEDGED")
}

impl Acknowledgement {
    pub fn of_player(player: PlayerId) -> Self {
        Self { player_id: Some(player), ..Self::default() }
    }

    pub fn of_referee(referee: RefereeId) -> Self {
        Self { referee_id: Some(referee), ..Self::default() }
    }

    #[must_use]
    pub fn for_round(mut self, round: RoundId) -> Self {
        self.round_id = Some(round);
        self
    }

    #[must_use]
    pub fn for_match(mut self, match_id: MatchId) -> Self {
        self.match_id = Some(match_id);
        self
    }
}

impl Default for Acknowledgement {
    fn default() -> Self {
        Self { status: acknowledged(), player_id: None, referee_id: None, round_id: None, match_id: None }
    }
}
