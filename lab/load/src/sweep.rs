//! Reads the match files as they come, and clears them away: a million calls would otherwise fill a disk.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use league_store::views::match_file::{Direction, MatchFile};

use crate::tally::Read;

const PAUSE: Duration = Duration::from_millis(500);

/// The sweeper, on a thread of its own.
pub(crate) struct Sweeper {
    work: JoinHandle<()>,
    end: Sender<()>,
}

impl Sweeper {
    /// Sweeps `directory`, which need not be there yet.
    pub(crate) fn start(directory: PathBuf, read: Arc<Read>) -> io::Result<Self> {
        let (end, ended) = channel();
        let work = thread::Builder::new().name("sweep".into()).spawn(move || sweep(&directory, &read, &ended))?;
        Ok(Self { work, end })
    }

    pub(crate) fn finish(self) {
        drop(self.end);
        drop(self.work.join());
    }
}

fn sweep(directory: &Path, read: &Read, ended: &Receiver<()>) {
    loop {
        let last = ended.recv_timeout(PAUSE) == Err(RecvTimeoutError::Disconnected);
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let path = entry.path();
            // A name with a dot in front is one that is being written.
            if path.extension().is_some_and(|kind| kind == "json")
                && !entry.file_name().as_encoded_bytes().starts_with(b".")
                && let Ok(text) = fs::read(&path)
            {
                match serde_json::from_slice::<MatchFile>(&text) {
                    Ok(file) => note(&file, read),
                    Err(error) => eprintln!("{} cannot be read: {error}", path.display()),
                }
                drop(fs::remove_file(&path));
            }
        }
        if last {
            return;
        }
    }
}

/// Counts what a match's receipts say.
fn note(file: &MatchFile, read: &Read) {
    read.files.up();
    for said in &file.transcript {
        let Some(receipt) = said.receipt else { continue };
        if let Some(granted) = receipt.granted_ms {
            read.note_grant(granted);
        }
        match (said.direction, receipt.given_up_ms) {
            // News of an error is no call of the game.
            _ if said.message_type.starts_with("GAME_ERROR") => {}
            (Direction::Received, _) => read.answered.up(),
            (Direction::Sent, Some(given_up)) if given_up >= receipt.limit_ms => {
                read.note_timeout(given_up - receipt.limit_ms, receipt.granted_ms.unwrap_or_default());
            }
            (Direction::Sent, _) => read.broken.up(),
        }
    }
}
