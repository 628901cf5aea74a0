//! TLS settings from files. The crypto provider (ring) is explicit, so it does not depend on what else the process links.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use thiserror::Error;

pub use rustls::{ClientConfig, ServerConfig};

const LOCKED: &[u8] = b"BEGIN ENCRYPTED PRIVATE KEY";

#[derive(Debug, Error)]
pub enum BadTls {
    #[error("{}: {error}; name a PEM file that this process may read", path.display())]
    Unreadable { path: PathBuf, error: std::io::Error },
    #[error("{}: not in PEM form ({error}); copy the file again, or have it issued again", path.display())]
    NotPem { path: PathBuf, error: pem::Error },
    #[error("{}: holds no {wanted} in PEM form, which begins with -----BEGIN {}-----", path.display(), wanted.to_uppercase())]
    Missing { path: PathBuf, wanted: &'static str },
    #[error("{}: holds a private key behind a password; write it without one, with openssl pkey -in … -out …", path.display())]
    Locked { path: PathBuf },
    #[error("{}: is not the key of {}; give the two files that were issued together", key.display(), certificate.display())]
    Strangers { key: PathBuf, certificate: PathBuf },
    #[error("{}: cannot be used ({error}); have it issued again", path.display())]
    Unusable { path: PathBuf, error: rustls::Error },
    #[error("this machine has no trusted certificates, and no CA file was given; give one ({0})")]
    NoRoots(String),
    #[error("TLS cannot be set up: {0}")]
    Setup(rustls::Error),
}

/// Both files are PEM; `certificate` holds the whole chain.
pub fn server_config(certificate: &Path, key: &Path) -> Result<Arc<ServerConfig>, BadTls> {
    let chain = certificates(certificate)?;
    let text = contents(key)?;
    let secret = PrivateKeyDer::from_pem_slice(&text).map_err(|error| {
        let path = key.to_owned();
        if !matches!(error, pem::Error::NoItemsFound) {
            BadTls::NotPem { path, error }
        } else if text.windows(LOCKED.len()).any(|part| part == LOCKED) {
            BadTls::Locked { path }
        } else {
            BadTls::Missing { path, wanted: "private key" }
        }
    })?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(BadTls::Setup)?
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .map_err(|error| {
            if matches!(error, rustls::Error::InconsistentKeys(_)) {
                return BadTls::Strangers { key: key.to_owned(), certificate: certificate.to_owned() };
            }
            // The certificate is checked first, so a later error concerns the key.
            let fault = if matches!(error, rustls::Error::InvalidCertificate(_)) { certificate } else { key };
            BadTls::Unusable { path: fault.to_owned(), error }
        })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// Trusts the root certificates of this machine and those in the PEM file `extra`.
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
