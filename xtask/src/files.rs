//! File operations whose errors name the path.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::Outcome;

pub(crate) fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(cannot("read", path))
}

pub(crate) fn write(path: &Path, contents: impl AsRef<[u8]>) -> Outcome {
    fs::write(path, contents).map_err(cannot("write", path))
}

/// Creates the folder of `to`.
pub(crate) fn copy(from: &Path, to: &Path) -> Outcome {
    create(to.parent().unwrap_or(to))?;
    fs::copy(from, to).map(drop).map_err(cannot("copy", from))
}

pub(crate) fn create(folder: &Path) -> Outcome {
    fs::create_dir_all(folder).map_err(cannot("create", folder))
}

pub(crate) fn rename(from: &Path, to: &Path) -> Outcome {
    fs::rename(from, to).map_err(cannot("rename", from))
}

/// In bytes.
pub(crate) fn size(path: &Path) -> Result<u64, String> {
    fs::metadata(path).map(|about| about.len()).map_err(cannot("read", path))
}

/// Creates the folder, or removes everything in it.
pub(crate) fn empty(folder: &Path) -> Outcome {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(cannot("empty", folder))?;
    }
    create(folder)
}

/// The paths in a folder, sorted.
pub(crate) fn list(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(cannot("list", folder))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

pub(crate) fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn cannot(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> String {
    move |error| format!("cannot {what} {}: {error}", path.display())
}
