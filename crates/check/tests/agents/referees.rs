//! Referees with planted faults.

use std::time::Duration;

use league_check::CheckOptions;

use crate::support::faulty_referee::{Fault, start};
use crate::support::house_agents::free_port;
use crate::support::{at, each_fault};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_checker_finds_every_planted_fault_of_a_referee_and_no_other() {
    each_fault(Fault::PLANTED.iter().chain(&[(Fault::None, &[][..])]), async |fault| {
        let port = free_port();
        let referee = start(fault, port);
        // The checker waits for the report that never comes until its own limit.
        let max_wait = Duration::from_secs(if fault == Fault::NeverReports { 2 } else { 10 });
        let listen = ([127, 0, 0, 1], port).into();
        let options = CheckOptions { listen, max_wait, registration: Duration::ZERO, ..CheckOptions::default() };
        league_check::referee(&at(&referee), &options).await
    })
    .await;
}
