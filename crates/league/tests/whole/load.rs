//! A referee with many matches at a time, and players who take their time. The whole of it is `cargo xtask load`.

use std::time::Duration;

use league_load::plan::Plan;
use league_load::run::run;

#[test]
fn whoever_answers_in_time_is_not_charged_and_whoever_is_silent_is() {
    let league = env!("CARGO_BIN_EXE_league").into();
    let limit = Duration::from_secs(1);
    let report = run(&Plan { league, matches: 200, calls: 3_000, limit, silent: 10 }).unwrap();
    println!("{report}");
    assert_eq!(report.injustices(), Vec::<String>::new(), "{report}");
    assert!(report.answered >= 3_000 && report.silent > 0, "{report}");
}
