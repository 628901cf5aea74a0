//! The client: one POST, one answer of bounded size. The caller has the clock: the whole of it, to the last byte, is one
//! future that can be dropped at any time.

use std::error::Error as _;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Request, StatusCode, Uri};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::ClientConfig;
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
    endpoint: Uri,
    headers: HeaderMap,
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
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
    /// The model of `provider`. Whatever could be wrong with the settings shows here, before the first match.
    pub fn new(provider: Provider) -> Result<Self, BadProvider> {
        let roots = HttpsConnectorBuilder::new()
            .with_provider_and_webpki_roots(rustls::crypto::ring::default_provider())
            .map_err(|error| BadProvider::Tls(error.to_string()))?;
        Self::over(provider, roots.https_or_http().enable_http1().build())
    }

    /// The same, where those are trusted that `tls` trusts: a model of one's own may have an authority of one's own.
    pub fn trusting(provider: Provider, tls: &ClientConfig) -> Result<Self, BadProvider> {
        // The connector says itself which HTTP it speaks.
        let mut tls = tls.clone();
        tls.alpn_protocols.clear();
        let roots = HttpsConnectorBuilder::new().with_tls_config(tls);
        Self::over(provider, roots.https_or_http().enable_http1().build())
    }

    fn over(provider: Provider, connector: HttpsConnector<HttpConnector>) -> Result<Self, BadProvider> {
        let (endpoint, headers) = (provider.endpoint()?, provider.authorization()?);
        let client = Client::builder(TokioExecutor::new()).build(connector);
        Ok(Self { provider, endpoint, headers, client })
    }

    pub fn name(&self) -> &str {
        &self.provider.model
    }

    /// What the model says to `prompt`.
    pub async fn ask(&self, prompt: &Prompt) -> Result<ModelAnswer, ModelError> {
        let mut request = Request::new(Full::from(self.provider.question(prompt).to_string()));
        *request.method_mut() = http::Method::POST;
        *request.uri_mut() = self.endpoint.clone();
        *request.headers_mut() = self.headers.clone();
        const JSON: HeaderValue = HeaderValue::from_static("application/json");
        request.headers_mut().extend([(CONTENT_TYPE, JSON), (ACCEPT, JSON)]);
        let response = self.client.request(request).await.map_err(|error| unreachable(&error))?;
        match response.status() {
            ok if ok.is_success() => {}
            refused @ (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => return Err(ModelError::WrongKey(refused)),
            other => return Err(ModelError::Refused(other)),
        }
        let body = Limited::new(response.into_body(), MAX_ANSWER).collect().await.map_err(|error| {
            if error.is::<LengthLimitError>() {
                ModelError::TooLong
            } else {
                ModelError::Unreachable(error.to_string())
            }
        })?;
        let body: Value = serde_json::from_slice(&body.to_bytes()).map_err(|_| ModelError::Unreadable)?;
        let text = self.provider.answer(&body).ok_or(ModelError::Unreadable)?;
        match &self.provider.key {
            Some(key) if key.is_in(text) => Err(ModelError::Indiscreet),
            Some(_) | None => Ok(ModelAnswer { text: text.to_owned(), usage: self.provider.usage(&body) }),
        }
    }
}

/// The outermost error says only that there is one; the innermost says what.
fn unreachable(error: &hyper_util::client::legacy::Error) -> ModelError {
    let mut cause = error.source();
    let mut told = error.to_string();
    while let Some(inner) = cause {
        told = inner.to_string();
        cause = inner.source();
    }
    ModelError::Unreachable(told)
}
