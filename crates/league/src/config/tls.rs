//! Certificates: `security` in `system.json`. Which files, not what is in them.

use std::path::{Path, PathBuf};

use super::error::ConfigError;
use super::rule;
use super::section::Section;

/// The files of HTTPS. None has to be there.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct TlsFiles {
    /// The certificate of what is started here, and those above it.
    pub(crate) certificate: Option<PathBuf>,
    pub(crate) key: Option<PathBuf>,
    /// An authority that is trusted in calls, beside those of the system.
    pub(crate) authority: Option<PathBuf>,
}

impl TlsFiles {
    /// Takes what `security` says. Names are read from `root`, the directory of the configuration.
    pub(super) fn read(&mut self, section: &mut Section<'_>, root: &Path) -> Result<(), ConfigError> {
        let named = || rule::file().map(PathBuf::from);
        let from = |path: PathBuf| root.join(path);
        self.certificate = section.get("tls_certificate", &named())?.map(from);
        self.key = section.get("tls_key", &named())?.map(from);
        self.authority = section.get("tls_authority", &named())?.map(from);
        Ok(())
    }

    /// These files, and those of `below` where none is named here.
    pub(crate) fn laid_over(self, below: Self) -> Self {
        Self {
            certificate: self.certificate.or(below.certificate),
            key: self.key.or(below.key),
            authority: self.authority.or(below.authority),
        }
    }

    pub(crate) fn serves(&self) -> bool {
        self.certificate.is_some() || self.key.is_some()
    }
}
