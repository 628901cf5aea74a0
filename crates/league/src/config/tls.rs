//! The names of the files that HTTPS needs: `security` in `system.json`.

use std::path::PathBuf;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct TlsFiles {
    /// The certificate chain of the servers that this process starts.
    pub(crate) certificate: Option<PathBuf>,
    pub(crate) key: Option<PathBuf>,
    /// Trusted in addition to the authorities of the system.
    pub(crate) authority: Option<PathBuf>,
}

impl TlsFiles {
    /// `below` fills the gaps.
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
