//! Keeps other users of the machine out of a home: the log has the keys of all passes.
//!
//! On Windows files inherit the access rights of their directory, and other users have no access below a user's
//! directory, so nothing is done there.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

/// Creates missing directories, which only their owner can enter.
#[cfg(unix)]
pub fn create_dir_all(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(not(unix))]
pub fn create_dir_all(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// A new file can be read by its owner only.
#[cfg(unix)]
pub(crate) fn options() -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    OpenOptions::new().mode(0o600).to_owned()
}

#[cfg(not(unix))]
pub(crate) fn options() -> OpenOptions {
    OpenOptions::new()
}

/// Takes the rights of other users away. Returns whether they had any; a missing file has none.
#[cfg(unix)]
pub(crate) fn tighten(path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt;
    const OTHERS: u32 = 0o077;
    let mut permissions = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        about => about?.permissions(),
    };
    let mode = permissions.mode();
    if mode & OTHERS == 0 {
        return Ok(false);
    }
    permissions.set_mode(mode & !OTHERS);
    fs::set_permissions(path, permissions)?;
    Ok(true)
}

#[cfg(not(unix))]
pub(crate) fn tighten(_: &Path) -> io::Result<bool> {
    Ok(false)
}
