//! `games/games_registry.json`: which of our games are offered.

use league_core::rules::registry::known_games;
use league_protocol::id::GameType;

use super::error::ConfigError;
use super::rule;
use super::section::Section;

pub(super) fn all() -> Vec<GameType> {
    known_games().filter_map(|name| name.parse().ok()).collect()
}

/// Keeps those of `games` that are registered, and warns of registered ones that nobody here can play.
///
/// Games are a list, or an object with the types as its keys: both are in use.
pub(super) fn read(file: &mut Section<'_>, games: &mut Vec<GameType>) -> Result<(), ConfigError> {
    file.get("schema_version", &rule::version("1."))?;
    file.ignore(&["last_updated"]);
    let registered = if file.has_object("games") {
        file.within("games", |section| Ok(section.open()))?
    } else {
        file.each("games", |section| {
            section.open();
            let named = section.get("game_type_id", &rule::id::<GameType>())?;
            let name = match named {
                Some(name) => name,
                None => section.need("game_type", &rule::id())?,
            };
            Ok(String::from(name.as_str()))
        })?
    };
    if registered.is_empty() {
        return Ok(());
    }
    for name in &registered {
        if !games.iter().any(|game| game.as_str() == name) {
            let known: Vec<_> = games.iter().map(GameType::as_str).collect();
            let name = rule::shortened(format!("{name:?}"));
            let what = format!("holds {name}, a game that is not known here; known are {}", known.join(", "));
            file.warn("games", &what);
        }
    }
    let offered = |game: &GameType| registered.iter().any(|name| name == game.as_str());
    if games.iter().any(offered) {
        games.retain(offered);
        return Ok(());
    }
    Err(file.wrong("games", &format!("{registered:?}"), rule::game().allowed()))
}
