//! Checks at the start that this process may open enough files: later errors would not always say so.

use std::fs::File;
use std::path::Path;

use anyhow::{Result, bail};

/// A runtime, a log, its lock and its files need about twenty; the rest is for connections.
const NEEDED: usize = 40;

/// Windows has no such limit.
pub(crate) fn expect_enough() -> Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    let mut open = Vec::with_capacity(NEEDED);
    for number in 0..NEEDED {
        match File::open(Path::new("/")) {
            Ok(file) => open.push(file),
            Err(error) => bail!(
                "this process may open only {number} more files and connections, and needs {NEEDED} to begin with ({error}); allow it more, \
                 as with `ulimit -n 4096`"
            ),
        }
    }
    Ok(())
}
