//! TLS from files: who we are, and whom we trust.
//!
//! The cryptography is ring's, named here and not taken from the process, so that nothing depends on what else is linked.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use thiserror::Error;

/// What is wrong with which file.
#[derive(Debug, Error)]
pub enum BadTls {
    /// A file that cannot be read.
    #[error("{}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: std::io::Error,
    },
    /// A file that is damaged.
    #[error("{}: not in PEM form: {error}", path.display())]
    NotPem {
        /// The file.
        path: PathBuf,
        /// Where it goes wrong.
        error: pem::Error,
    },
    /// A file without what it is for.
    #[error("{}: holds no {wanted}", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        wanted: &'static str,
    },
    /// A certificate or key that cannot be used.
    #[error("{}: {error}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: rustls::Error,
    },
    /// No certificate of this machine can be read, and none was given.
    #[error("this machine has no trusted certificates, and no CA file was given: {0}")]
    NoRoots(String),
    /// The library refuses its own defaults.
    #[error("TLS cannot be set up: {0}")]
    Setup(rustls::Error),
}

/// Who we are: the chain in `certificate` and the key in `key`, both PEM.
pub fn server_config(certificate: &Path, key: &Path) -> Result<Arc<ServerConfig>, BadTls> {
    let chain = certificates(certificate)?;
    let secret = PrivateKeyDer::from_pem_slice(&contents(key)?).map_err(|error| {
        let path = key.to_owned();
        if matches!(error, pem::Error::NoItemsFound) {
            BadTls::Missing { path, wanted: "private key" }
        } else {
            BadTls::NotPem { path, error }
        }
    })?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(BadTls::Setup)?
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .map_err(|error| {
            // The certificate is looked at first; a key that does not fit it is the key's fault.
            let fault = if matches!(error, rustls::Error::InvalidCertificate(_)) { certificate } else { key };
            BadTls::Unusable { path: fault.to_owned(), error }
        })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// Whom we trust: the certificates of this machine, and those in `extra`, which is PEM.
pub fn client_config(extra: Option<&Path>) -> Result<Arc<ClientConfig>, BadTls> {
    let mut roots = RootCertStore::empty();
    let native = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(native.certs);
    if let Some(path) = extra {
        for certificate in certificates(path)? {
            roots.add(certificate).map_err(|error| BadTls::Unusable { path: path.to_owned(), error })?;
        }
    }
    if roots.is_empty() {
        let reasons: Vec<_> = native.errors.iter().map(ToString::to_string).collect();
        return Err(BadTls::NoRoots(reasons.join("; ")));
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(BadTls::Setup)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, BadTls> {
    let text = contents(path)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    match found {
        Ok(found) if found.is_empty() => Err(BadTls::Missing { path: path.to_owned(), wanted: "certificate" }),
        Ok(found) => Ok(found),
        Err(error) => Err(BadTls::NotPem { path: path.to_owned(), error }),
    }
}

fn contents(path: &Path) -> Result<Vec<u8>, BadTls> {
    std::fs::read(path).map_err(|error| BadTls::Unreadable { path: path.to_owned(), error })
}
