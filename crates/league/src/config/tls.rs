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
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            certificate: self.certificate.or(other.certificate),
            key: self.key.or(other.key),
            authority: self.authority.or(other.authority),
        }
    }

    pub(crate) fn serves(&self) -> bool {
        self.certificate.is_some() || self.key.is_some()
    }
}
