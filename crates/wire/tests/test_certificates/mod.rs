//! Test certificates: an authority and a server certificate signed by it. Tests of other crates include this file.

use std::path::PathBuf;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tempfile::TempDir;

/// `ca.pem`, `server.pem` and `server.key`, for `localhost` and 127.0.0.1.
pub(crate) struct TestCertificates {
    directory: TempDir,
}

impl TestCertificates {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut authority = CertificateParams::new(Vec::new()).unwrap();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority_key = KeyPair::generate().unwrap();
        let authority_pem = authority.self_signed(&authority_key).unwrap().pem();
        let server_key = KeyPair::generate().unwrap();
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let server = CertificateParams::new(names).unwrap();
        let certificate = server.signed_by(&server_key, &Issuer::new(authority, authority_key)).unwrap();
        let certificates = Self { directory };
        certificates.write("ca.pem", &authority_pem);
        certificates.write("server.pem", &certificate.pem());
        certificates.write("server.key", &server_key.serialize_pem());
        certificates
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }
}
