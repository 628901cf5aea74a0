//! The program itself. The league's own tests have it play.

use std::process::Command;

#[test]
fn help_lists_every_option() {
    let help = Command::new(env!("CARGO_BIN_EXE_rust-player")).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    for option in ["--manager", "--name", "--host", "--port", "--advertise", "--join-key"] {
        assert!(help.contains(option), "{help}");
    }
}
