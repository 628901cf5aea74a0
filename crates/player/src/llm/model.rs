//! The client: one POST, one answer of bounded size. The caller has the clock: the whole of it, to the last byte, is one
//! future that can be dropped at any time.

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

/// The largest answer that is read, in bytes: one word, and whatever providers tell around it.
pub const MAX_ANSWER: usize = 256 * 1024;

/// A model that can be asked.
#[derive(Clone, Debug)]
pub struct Model {
    provider: Provider,
    endpoint: Endpoint,
    headers: HeaderMap,
    client: Client,
}

/// What a model said, and what that cost.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModelAnswer {
    pub text: String,
    pub usage: Usage,
}

/// Why there is no answer. What the other side wrote is not repeated here: some repeat the key.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ModelError {
    /// There was no connection, or it broke.
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    #[error("it refuses the key (HTTP {0})")]
    WrongKey(StatusCode),
    /// It refuses, or has failed itself.
    #[error("it answered HTTP {0}")]
    Refused(StatusCode),
    #[error("its answer is larger than {limit} bytes", limit = MAX_ANSWER)]
    TooLong,
    /// Its answer holds no text where its API has one.
    #[error("its answer is not what its API says")]
    Unreadable,
    #[error("its answer gives the key away, and is not looked at")]
    Indiscreet,
}

impl Model {
    /// The model of `provider`, trusted by the root certificates that come with the binary. Fails on wrong settings, before
    /// the first match.
    pub fn new(provider: Provider) -> Result<Self, BadProvider> {
        let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| BadProvider::Tls(error.to_string()))?;
        Self::trusting(provider, Arc::new(tls.with_root_certificates(roots).with_no_client_auth()))
    }

    /// The same with the trust of `tls`: an operator's own model may have an authority of its own.
    pub fn trusting(provider: Provider, tls: Arc<ClientConfig>) -> Result<Self, BadProvider> {
        let (endpoint, mut headers) = (provider.endpoint()?, provider.authorization()?);
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let client = Client::new(ClientSettings { tls: Some(tls), ..ClientSettings::default() });
        Ok(Self { provider, endpoint, headers, client })
    }

    pub fn name(&self) -> &str {
        &self.provider.model
    }

    /// What the model says to `prompt`.
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
