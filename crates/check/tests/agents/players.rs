//! Players with planted faults.

use std::time::Duration;

use league_check::CheckOptions;

use crate::support::faulty_player::{Fault, start};
use crate::support::{at, each_fault};

/// These show only with short time limits.
const SLOW: [Fault; 5] =
    [Fault::NeverJoins, Fault::JoinsLate, Fault::NeverChooses, Fault::ChoosesLate, Fault::OneAtATime];

async fn check_faults(slow: bool, options: CheckOptions) {
    let planted = Fault::PLANTED.iter().filter(|(fault, _)| SLOW.contains(fault) == slow);
    each_fault(planted, async |fault| league_check::player(&at(&start(fault)), &options).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_checker_finds_every_planted_fault_of_a_player_and_no_other() {
    check_faults(false, CheckOptions::default()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_player_fails_the_check() {
    check_faults(true, CheckOptions { max_wait: Duration::from_secs(3), ..CheckOptions::default() }).await;
}
