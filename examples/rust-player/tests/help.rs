//! The program itself. The league's own tests have it play.

use std::process::Command;

#[test]
fn it_says_how_it_is_started() {
    let help = Command::new(env!("CARGO_BIN_EXE_rust-player")).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    assert!(
        ["--manager", "--name", "--host", "--port", "--advertise", "--join-key"]
            .iter()
            .all(|option| help.contains(option)),
        "{help}"
    );
}
