//! A file of lines that is rotated when it is full.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::JournalLimits;
use crate::views::replace::in_directory;

#[derive(Debug)]
pub(super) struct LineFile {
    path: PathBuf,
    file: File,
    bytes: u64,
    limits: JournalLimits,
}

impl LineFile {
    pub(super) fn open(path: &Path, limits: JournalLimits) -> io::Result<Self> {
        let file = append_to(path)?;
        let bytes = file.metadata()?.len();
        Ok(Self { path: path.to_path_buf(), file, bytes, limits })
    }

    /// Every file begins and ends with a whole line.
    pub(super) fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        let (mut written, mut end) = (0, 0);
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            let length = line.len() as u64;
            if self.bytes > 0 && self.bytes + length > self.limits.bytes {
                self.file.write_all(&lines[written..end])?;
                written = end;
                self.rotate()?;
            }
            end += line.len();
            self.bytes += length;
        }
        self.file.write_all(&lines[written..])
    }

    /// Renames `.4` to `.5`, and so on, and the file itself to `.1`. The old `.5` is lost.
    fn rotate(&mut self) -> io::Result<()> {
        for number in (0..self.limits.files).rev() {
            let from = if number == 0 { self.path.clone() } else { numbered(&self.path, number) };
            match fs::rename(from, numbered(&self.path, number + 1)) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        if self.limits.files == 0 {
            fs::remove_file(&self.path)?;
        }
        self.file = append_to(&self.path)?;
        self.bytes = 0;
        Ok(())
    }
}

fn append_to(path: &Path) -> io::Result<File> {
    in_directory(path, || OpenOptions::new().append(true).create(true).open(path))
}

fn numbered(path: &Path, number: u32) -> PathBuf {
    let mut name = OsString::from(path.as_os_str());
    name.push(format!(".{number}"));
    PathBuf::from(name)
}
