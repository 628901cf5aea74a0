//! The rules of a league that the operator wants, checked before anything is written.

use league_core::rules::registry::game_named;
use league_core::season::config::{LeagueConfig, StartRule};
use league_core::season::format::KnownFormat;
use league_dashboard::index::{CreateError, NewLeague};
use league_protocol::id::LeagueId;
use smol_str::SmolStr;

const MAX_NAME: usize = 64;
const MAX_GAMES: u32 = 1000;

/// `configured` gives the rules of the league by its id.
pub(super) fn rules(
    new: &NewLeague,
    configured: impl FnOnce(&LeagueId) -> Result<LeagueConfig, String>,
) -> Result<LeagueConfig, CreateError> {
    let invalid = |why: String| CreateError::Invalid(why);
    let league: LeagueId = new.league_id.parse().map_err(|error| {
        invalid(format!("league_id {:?}: {error}; expected letters, digits, _, -, : and .", new.league_id))
    })?;
    let mut rules = configured(&league).map_err(CreateError::Failed)?;
    if let Some(name) = &new.display_name {
        if name.trim().is_empty() || name.chars().count() > MAX_NAME || name.chars().any(char::is_control) {
            return Err(invalid(format!("display_name {name:?}: expected 1 to {MAX_NAME} printable characters")));
        }
        rules.display_name = Some(SmolStr::new(name));
    }
    if let Some(game) = &new.game {
        rules.game_type = game_named(game).map_err(|why| invalid(format!("game: {why}")))?;
    }
    if let Some(format) = &new.format {
        let format: KnownFormat = format.parse().map_err(|why| invalid(format!("format: {why}")))?;
        rules = rules.with_format(format);
    }
    if new.games_per_match.is_some_and(|games| !(1..=MAX_GAMES).contains(&games)) {
        return Err(invalid(format!("games_per_match: expected 1 to {MAX_GAMES}")));
    }
    rules = rules.with_games(new.games_per_match);
    rules.check_games().map_err(|error| invalid(error.to_string()))?;
    let (least, most) = (rules.min_players, rules.max_players);
    if new.expect_players.is_some_and(|players| !(least..=most).contains(&players)) {
        return Err(invalid(format!("expect_players: expected {least} to {most}")));
    }
    if new.expect_referees.is_some_and(|referees| !(1..=rules.max_referees).contains(&referees)) {
        return Err(invalid(format!("expect_referees: expected 1 to {}", rules.max_referees)));
    }
    let longest = StartRule::MAX_WINDOW_SEC;
    if new.registration_window.is_some_and(|seconds| !(1..=longest).contains(&seconds)) {
        return Err(invalid(format!("registration_window: expected 1 to {longest} seconds")));
    }
    rules.start = Some(StartRule {
        expect_players: new.expect_players,
        expect_referees: new.expect_referees,
        registration_window_sec: new.registration_window,
    });
    Ok(rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(new: &NewLeague) -> Result<LeagueConfig, CreateError> {
        rules(new, |league| Ok(LeagueConfig::even_odd(league.clone())))
    }

    fn named(league_id: &str) -> NewLeague {
        NewLeague { league_id: league_id.to_owned(), ..NewLeague::default() }
    }

    #[test]
    fn a_league_has_the_rules_that_the_operator_chose_and_otherwise_the_configured_ones() {
        let plain = checked(&named("spring")).unwrap();
        assert_eq!(plain.start, Some(StartRule::default()));
        assert_eq!(LeagueConfig { start: None, ..plain }, LeagueConfig::even_odd("spring".parse().unwrap()));
        let chosen = NewLeague {
            display_name: Some(String::from("Spring")),
            game: Some(String::from("tic_tac_toe")),
            format: Some(String::from("swiss:rounds=5")),
            games_per_match: Some(2),
            expect_players: Some(8),
            expect_referees: Some(1),
            registration_window: Some(60),
            ..named("spring")
        };
        let chosen = checked(&chosen).unwrap();
        assert_eq!(
            (chosen.title(), chosen.game_type.as_str(), chosen.games_per_match.get()),
            ("Spring", "tic_tac_toe", 2)
        );
        assert_eq!(chosen.format.to_string(), "swiss:rounds=5");
        assert_eq!(chosen.start.unwrap().expect_players, Some(8));
    }

    #[test]
    fn a_wrong_value_is_refused_and_named() {
        let wrong = [
            (named(""), "league_id"),
            (named("a/b"), "league_id"),
            (NewLeague { display_name: Some(String::from(" ")), ..named("a") }, "display_name"),
            (NewLeague { game: Some(String::from("golf")), ..named("a") }, "game"),
            (NewLeague { format: Some(String::from("ladder")), ..named("a") }, "format"),
            (NewLeague { games_per_match: Some(0), ..named("a") }, "games_per_match"),
            (NewLeague { expect_players: Some(1), ..named("a") }, "expect_players"),
            (NewLeague { expect_referees: Some(0), ..named("a") }, "expect_referees"),
            (NewLeague { registration_window: Some(0), ..named("a") }, "registration_window"),
            (NewLeague { registration_window: Some(u64::MAX), ..named("a") }, "registration_window"),
        ];
        for (new, field) in wrong {
            match checked(&new) {
                Err(CreateError::Invalid(why)) => assert!(why.starts_with(field), "{why}"),
                other => panic!("{field}: {other:?}"),
            }
        }
    }
}
