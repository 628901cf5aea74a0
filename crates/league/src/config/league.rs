//! `leagues/<league_id>.json`: one league.

use league_core::season::standings::{DoubleForfeit, Scoring, TieBreak};
use league_protocol::id::GameType;

use super::error::ConfigError;
use super::section::Section;
use super::{Configured, rule};

pub(super) fn read(file: &mut Section<'_>, configured: &mut Configured) -> Result<(), ConfigError> {
    let league = &mut configured.league;
    file.get("schema_version", &rule::version("1."))?;
    file.ignore(&["created_at", "last_updated"]);
    // A copied file whose id was forgotten would give one league the rules of another.
    file.get("league_id", &rule::only(league.league_id.as_str()))?;
    // A league is put aside by any other word.
    file.get("status", &rule::only("ACTIVE"))?;
    league.display_name = file.get("display_name", &rule::name())?;
    let offered = rule::games(configured.games.iter().map(GameType::as_str));
    file.take("game_type", &offered, &mut league.game_type)?;
    file.take("strict", &rule::truth(), &mut league.strict)?;
    file.within("scoring", |section| scoring(section, &mut league.scoring))?;
    file.within("scheduling", |section| {
        section.get("format", &rule::only("round_robin"))?;
        // It follows from the number of players.
        section.ignore(&["matches_per_round"]);
        Ok(())
    })?;
    file.within("participants", |section| {
        section.take("min_players", &rule::players(), &mut league.min_players)?;
        section.take("max_players", &rule::players(), &mut league.max_players)?;
        section.take("max_referees", &rule::referees(), &mut league.max_referees)
    })
}

fn scoring(section: &mut Section<'_>, scoring: &mut Scoring) -> Result<(), ConfigError> {
    section.take("win_points", &rule::points(), &mut scoring.win_points)?;
    section.take("draw_points", &rule::points(), &mut scoring.draw_points)?;
    section.take("loss_points", &rule::points(), &mut scoring.loss_points)?;
    section.take("technical_loss_points", &rule::points(), &mut scoring.technical_loss_points)?;
    let double_forfeit =
        rule::one_of(&[("draw", DoubleForfeit::Draw), ("technical_loss", DoubleForfeit::TechnicalLoss)]);
    section.take("double_forfeit", &double_forfeit, &mut scoring.double_forfeit)?;
    let tiebreak = rule::one_of(&[
        ("wins", Some(TieBreak::Wins)),
        ("head_to_head", Some(TieBreak::HeadToHead)),
        ("draws", Some(TieBreak::Draws)),
        ("points", None),
    ]);
    if let Some(tiebreakers) = section.list("tiebreakers", &tiebreak)? {
        // Files of other implementations name them; they decide before any tie-break in any case.
        if tiebreakers.contains(&None) {
            section.warn("tiebreakers", "holds \"points\", which always come first and need not be named");
        }
        scoring.tiebreakers = tiebreakers.into_iter().flatten().collect();
    }
    Ok(())
}
