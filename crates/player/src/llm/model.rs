//! One POST, one answer of bounded size. The caller limits the time by dropping the future.

use std::sync::Arc;

use http::header::ACCEPT;
use http::{HeaderMap, HeaderValue, StatusCode};
use league_wire::client::{Client, ClientSettings};
use league_wire::endpoint::Endpoint;
use league_wire::exchange::Failure;
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use thiserror::Error;

use super::prompt::Prompt;
use super::provider::{BadProvider, Provider, Usage};

/// In bytes. The move is one word, but providers add metadata.
pub const MAX_ANSWER: usize = 256 * 1024;

#[derive(Clone, Debug)]
pub struct Model {
    provider: Provider,
    endpoint: Endpoint,
    headers: HeaderMap,
    client: Client,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModelAnswer {
    pub text: String,
    pub usage: Usage,
}

/// Does not quote the server's text, because some servers repeat the key.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ModelError {
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    #[error("it refuses the key (HTTP {0})")]
    WrongKey(StatusCode),
    #[error("it answered HTTP {0}")]
    Refused(StatusCode),
    #[error("its answer is larger than {limit} bytes", limit = MAX_ANSWER)]
    TooLong,
    #[error("its answer is not what its API says")]
    Unreadable,
    #[error("its answer gives the key away, and is not looked at")]
    Indiscreet,
}

impl Model {
    /// Trusts the root certificates in the binary. Wrong settings fail here, before the first match.
    pub fn new(provider: Provider) -> Result<Self, BadProvider> {
        let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| BadProvider::Tls(error.to_string()))?;
        Self::trusting(provider, Arc::new(tls.with_root_certificates(roots).with_no_client_auth()))
    }

    /// Like `new`, but with the roots of `tls`: an operator's own model may use a private authority.
    pub fn trusting(provider: Provider, tls: Arc<ClientConfig>) -> Result<Self, BadProvider> {
        let (endpoint, mut headers) = (provider.endpoint()?, provider.authorization()?);
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let client = Client::new(ClientSettings { tls: Some(tls), ..ClientSettings::default() });
        Ok(Self { provider, endpoint, headers, client })
    }

    pub fn name(&self) -> &str {
        &self.provider.model
    }

    pub async fn ask(&self, prompt: &Prompt) -> Result<ModelAnswer, ModelError> {
        let question = self.provider.question(prompt).to_string();
        let asking = self.client.fetch(&self.endpoint, &self.headers, question.into(), MAX_ANSWER);
        let (status, body) = asking.await.map_err(|failure| match failure {
            Failure::TooLong => ModelError::TooLong,
            Failure::NotListening => ModelError::Unreachable(String::from("connection refused")),
            Failure::Unreachable(why) | Failure::HungUp(why) | Failure::Unwritable(why) => ModelError::Unreachable(why),
            Failure::TimedOut | Failure::Refused => ModelError::Unreachable(String::from("not tried")),
        })?;
        match status {
            ok if ok.is_success() => {}
            refused @ (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => return Err(ModelError::WrongKey(refused)),
            other => return Err(ModelError::Refused(other)),
        }
        let body: Value = serde_json::from_slice(&body).map_err(|_| ModelError::Unreadable)?;
        let text = self.provider.answer(&body).ok_or(ModelError::Unreadable)?;
        match &self.provider.key {
            Some(key) if key.is_in(text) => Err(ModelError::Indiscreet),
            Some(_) | None => Ok(ModelAnswer { text: text.to_owned(), usage: self.provider.usage(&body) }),
        }
    }
}
