//! Replaces a file so that no reader sees a partial file, not even after a power cut.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::private;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReplaceSync {
    Now,
    /// The caller syncs. A power cut may damage the file, which can be written again from the log.
    Later,
}

/// Writes a temporary file, then renames it; creates the directory if needed. The rename is durable after
/// [`sync_directory`], and one call covers many files.
pub fn replace(path: &Path, contents: &[u8], sync: ReplaceSync) -> io::Result<()> {
    replace_as(path, contents, sync, OpenOptions::new())
}

/// Other users of the machine cannot read the file.
pub fn replace_private(path: &Path, contents: &[u8], sync: ReplaceSync) -> io::Result<()> {
    replace_as(path, contents, sync, private::options())
}

fn replace_as(path: &Path, contents: &[u8], sync: ReplaceSync, mut options: OpenOptions) -> io::Result<()> {
    let beside = beside(path);
    options.write(true).create(true).truncate(true);
    let written = in_directory(path, || write(&beside, contents, sync, &options));
    let replaced = written.and_then(|()| rename(&beside, path));
    if replaced.is_err() {
        let _ = fs::remove_file(&beside);
    }
    replaced
}

/// Creates the directory of `path` if it is missing.
pub(crate) fn in_directory<T>(path: &Path, open: impl Fn() -> io::Result<T>) -> io::Result<T> {
    open().or_else(|error| match (error.kind(), path.parent()) {
        (io::ErrorKind::NotFound, Some(directory)) => private::create_dir_all(directory).and_then(|()| open()),
        _ => Err(error),
    })
}

fn write(path: &Path, contents: &[u8], sync: ReplaceSync, options: &OpenOptions) -> io::Result<()> {
    let mut file = options.open(path)?;
    file.write_all(contents)?;
    match sync {
        ReplaceSync::Now => file.sync_all(),
        ReplaceSync::Later => Ok(()),
    }
}

#[cfg(not(windows))]
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)
}

/// Windows refuses the rename while an editor or virus scanner has the file open. It does not report when the file is
/// closed, so this retries for half a second.
#[cfg(windows)]
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    const ACCESS_DENIED: i32 = 5;
    const SHARING_VIOLATION: i32 = 32;
    for pause in [2, 10, 40, 150, 300].map(std::time::Duration::from_millis) {
        match fs::rename(from, to) {
            Err(error) if matches!(error.raw_os_error(), Some(ACCESS_DENIED | SHARING_VIOLATION)) && !to.is_dir() => {
                std::thread::sleep(pause);
            }
            renamed => return renamed,
        }
    }
    fs::rename(from, to)
}

/// A unique name in the same directory, which no reader takes for the file.
pub(crate) fn beside(path: &Path) -> PathBuf {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}-{}.tmp", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed)));
    path.with_file_name(name)
}

/// Windows syncs only files that are open for writing.
pub fn sync_file(path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.sync_all()
}

/// Makes renames durable. Systems that cannot sync directories do this by themselves.
pub fn sync_directory(path: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn a_reader_never_sees_half_a_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("deep/er/standings.json");
        let document = |round: usize| serde_json::to_vec(&vec![round; 1 + round * 7 % 5000]).unwrap();
        replace(&path, &document(0), ReplaceSync::Now).unwrap();
        let done = AtomicBool::new(false);
        let seen = std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut seen = 0;
                while !done.load(Ordering::Relaxed) {
                    let read: Vec<usize> = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
                    assert_eq!(read.len(), 1 + read[0] * 7 % 5000);
                    seen += 1;
                }
                seen
            });
            for round in 1..=1000 {
                replace(&path, &document(round), if round % 100 == 0 { ReplaceSync::Now } else { ReplaceSync::Later })
                    .unwrap();
            }
            sync_directory(path.parent().unwrap()).unwrap();
            done.store(true, Ordering::Relaxed);
            reader.join().unwrap()
        });
        assert!(seen > 0);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing is left beside it");
    }

    /// Runs under Wine in the step `windows` of `cargo xtask ci`.
    #[cfg(windows)]
    #[test]
    fn a_file_that_another_program_closes_soon_is_replaced() {
        use std::os::windows::fs::OpenOptionsExt;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("standings.json");
        replace(&path, b"1", ReplaceSync::Now).unwrap();
        let held = OpenOptions::new().read(true).share_mode(0).open(&path).unwrap();
        replace(&path, b"2", ReplaceSync::Now).unwrap_err();
        let (begin, began) = std::sync::mpsc::channel();
        let holder = std::thread::spawn(move || {
            began.recv().unwrap();
            std::thread::sleep(std::time::Duration::from_millis(50));
            drop(held);
        });
        begin.send(()).unwrap();
        replace(&path, b"3", ReplaceSync::Now).unwrap();
        holder.join().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"3");
    }

    #[test]
    fn a_failed_replacement_leaves_no_temporary_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("taken");
        fs::create_dir(&path).unwrap();
        fs::write(path.join("inside"), b"").unwrap();
        replace(&path, b"{}", ReplaceSync::Now).unwrap_err();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}
