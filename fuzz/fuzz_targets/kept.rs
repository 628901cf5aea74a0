//! Any lines in place of the events of a log or of a file on disk.
//!
//! Nothing panics; an event that was read, written again, is the same event; and a log that can be replayed can be replayed again.

#![no_main]
#![forbid(unsafe_code)]

use league_core::season::Season;
use league_core::season::event::Event;
use league_store::views::history::HistoryFile;
use league_store::views::keys::KeysFile;
use league_store::views::match_file::MatchFile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let events: Vec<Event> =
        bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
    for event in &events {
        let written = serde_json::to_vec(event).expect("what was read can be written");
        let again: Event = serde_json::from_slice(&written).expect("what was written can be read");
        assert_eq!(serde_json::to_vec(&again).expect("and written again"), written);
    }
    if let Ok(season) = Season::replay(&events) {
        let again = Season::replay(&events).expect("what was replayed can be replayed");
        assert!(season == again, "two replays differ");
    }
    let _ = serde_json::from_slice::<MatchFile>(bytes);
    let _ = serde_json::from_slice::<HistoryFile>(bytes);
    let _ = serde_json::from_slice::<KeysFile>(bytes);
});
