//! A killed process and a full disk: acknowledged events survive, and files are whole or absent.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may panic, and so may what helps it")]

mod support;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use league_store::lock::Lock;
use league_store::log::{EventLog, LogError, LogHead, SqliteLog, scan};
use support::{Random, halted, now, played};

/// The path of the child's log; set in children only.
const CHILD_LOG: &str = "LEAGUE_STORE_CHILD";

/// Not a test: the code that the child processes of the tests below run.
#[test]
fn child() {
    let Some(path) = std::env::var_os(CHILD_LOG) else { return };
    let path = Path::new(&path);
    let _lock = Lock::take(path.with_file_name("manager.lock"), now()).unwrap();
    let log = SqliteLog::at(path);
    let mut head = log.head().unwrap();
    println!("\nopened");
    let events = played(4, 9).events;
    loop {
        match log.append(head, events[..3].to_vec()).wait() {
            Ok(appended) => {
                head = appended;
                println!("acknowledged {}", head.seq);
            }
            Err(error) => {
                println!("failed {error}");
                break;
            }
        }
    }
    println!("refused {}", log.append(head, vec![halted()]).wait().unwrap_err());
}

fn whole(log: &SqliteLog) -> LogHead {
    scan(log, |_, _| Ok::<_, LogError>(())).unwrap()
}

fn command(program: &mut Command, path: &Path) -> Child {
    program.env(CHILD_LOG, path).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn acknowledged_events_survive_a_killed_process() {
    let clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("league.db");
    let mut events = 0;
    for round in 0..40_u64 {
        // On a busy machine no event may be durable so early: retry with more time.
        if round >= 10 && events > 0 {
            break;
        }
        let seed = u64::try_from(clock.as_nanos() & 0xFFFF_FFFF).unwrap() + round;
        let pause = Duration::from_millis((1 + Random(seed).below(80)) * (1 + round / 10 * 4));
        println!("round {round}: seed {seed}, killed after {pause:?}");
        let program = std::env::current_exe().unwrap();
        let mut child = command(Command::new(program).args(["child", "--exact", "--nocapture"]), &path);
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let pid = child.id();
        let mut acknowledged = 0;
        let mut killer = None;
        for line in lines.map_while(Result::ok) {
            if line == "opened" {
                let refused = Lock::take(path.with_file_name("manager.lock"), now()).unwrap_err().to_string();
                assert!(refused.contains(&format!("process {pid}")), "{refused}");
                killer = Some(std::thread::spawn({
                    let mut child = std::mem::replace(&mut child, Command::new("true").spawn().unwrap());
                    move || {
                        std::thread::sleep(pause);
                        child.kill().unwrap();
                        child.wait().unwrap();
                    }
                }));
            }
            if let Some(seq) = line.strip_prefix("acknowledged ") {
                // The kill may have cut off the last line, which then shows a smaller number.
                acknowledged = acknowledged.max(seq.parse().unwrap_or(0));
            }
        }
        killer.expect("the child has opened the log").join().unwrap();
        child.wait().unwrap();
        Lock::take(path.with_file_name("manager.lock"), now()).expect("the lock went with its process");
        let found = whole(&SqliteLog::at(&path)).seq;
        println!("  acknowledged {acknowledged}, found {found}");
        assert!(found >= acknowledged, "{found} < {acknowledged}");
        assert_eq!(found % 3, 0, "batches are whole");
        assert!(found >= events);
        events = found;
    }
    assert!(events > 0);
}

#[test]
fn a_full_disk_is_reported_and_leaves_a_whole_log() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("league.db");
    // No file may grow beyond 2 MB. With the signal ignored, writing fails as on a full disk.
    let script = "trap '' XFSZ; ulimit -f 4096; exec \"$0\" child --exact --nocapture";
    let mut child = command(Command::new("sh").arg("-c").arg(script).arg(std::env::current_exe().unwrap()), &path);
    let output = std::io::read_to_string(child.stdout.take().unwrap()).unwrap();
    child.wait().unwrap();
    let last = |prefix: &str| output.lines().rev().find_map(|line| line.strip_prefix(prefix)).unwrap_or_default();
    let (failed, refused) = (last("failed "), last("refused "));
    let acknowledged: u64 = last("acknowledged ").parse().unwrap();
    println!("acknowledged {acknowledged}; failed: {failed}; refused: {refused}");
    assert!(acknowledged > 0 && failed.contains("could not be made durable"), "{failed}");
    assert!(refused.contains("since a commit failed"), "{refused}");
    let log = SqliteLog::at(&path);
    let head = whole(&log);
    assert!(head.seq >= acknowledged && head.seq.is_multiple_of(3), "{head} of {acknowledged}");
    log.append(head, vec![halted()]).wait().unwrap();
}
