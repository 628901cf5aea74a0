use http::header::{AUTHORIZATION, HeaderName, HeaderValue};
use http::uri::Scheme;
use http::{HeaderMap, Uri};
use league_wire::endpoint::Endpoint;
use serde_json::{Value, json};
use thiserror::Error;

use super::key::ApiKey;
use super::prompt::Prompt;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ModelApi {
    Gemini,
    OpenAi,
}

#[derive(Clone, Debug)]
pub struct Provider {
    pub api: ModelApi,
    /// With or without the version at the end.
    pub base_url: String,
    pub model: String,
    pub key: Option<ApiKey>,
}

/// As far as the server reports it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    pub prompt_tokens: Option<u64>,
    /// Includes the tokens of the model's reasoning.
    pub answer_tokens: Option<u64>,
}

#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum BadProvider {
    #[error("the model's base URL is to be like {example}, without user, query or fragment", example = ModelApi::OpenAi.own_base_url())]
    BaseUrl,
    #[error("a key is sent by https only, or within this machine")]
    InTheClear,
    #[error("a model's name is made of letters, digits, '.', '-' and '_' here, this one is {0:?}")]
    ModelName(String),
    #[error("the model's key holds characters that no key has")]
    Key,
    #[error("TLS cannot be set up: {0}")]
    Tls(String),
}

impl ModelApi {
    pub fn own_base_url(self) -> &'static str {
        match self {
            Self::Gemini => "https://generativelanguage.googleapis.com",
            Self::OpenAi => "https://api.openai.com",
        }
    }

    /// A small, fast and cheap model is enough for one word.
    pub fn usual_model(self) -> &'static str {
        match self {
            Self::Gemini => "gemini-2.5-flash",
            Self::OpenAi => "gpt-4o-mini",
        }
    }

    fn version(self) -> &'static str {
        match self {
            Self::Gemini => "v1beta",
            Self::OpenAi => "v1",
        }
    }
}

impl Provider {
    pub(super) fn endpoint(&self) -> Result<Endpoint, BadProvider> {
        let base = self.base_url.trim_end_matches('/');
        let uri: Uri = base.parse().map_err(|_| BadProvider::BaseUrl)?;
        let (Some(scheme), Some(authority)) = (uri.scheme(), uri.authority()) else { return Err(BadProvider::BaseUrl) };
        let known = *scheme == Scheme::HTTP || *scheme == Scheme::HTTPS;
        // A user or a query might hold a key, and logs show the address.
        if !known || authority.as_str().contains('@') || uri.query().is_some() || base.contains('#') {
            return Err(BadProvider::BaseUrl);
        }
        if *scheme == Scheme::HTTP && self.key.is_some() && !is_this_machine(authority.host()) {
            return Err(BadProvider::InTheClear);
        }
        // Some servers have their own version in the path, such as `/v1` or `/api/v4`; it is kept.
        let version = if uri.path().split('/').any(is_version) { "" } else { self.api.version() };
        let slash = if version.is_empty() { "" } else { "/" };
        let tail = match self.api {
            ModelApi::Gemini => format!("models/{}:generateContent", self.model_in_path()?),
            ModelApi::OpenAi => String::from("chat/completions"),
        };
        format!("{base}{slash}{version}/{tail}").parse().map_err(|_| BadProvider::BaseUrl)
    }

    fn model_in_path(&self) -> Result<&str, BadProvider> {
        // Gemini lists its models with the collection as a prefix.
        let name = self.model.strip_prefix("models/").unwrap_or(&self.model);
        let harmless = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        if name.is_empty() || !name.chars().all(harmless) {
            return Err(BadProvider::ModelName(name.chars().take(64).collect()));
        }
        Ok(name)
    }

    /// Marked as sensitive, so that logs do not print it.
    pub(super) fn authorization(&self) -> Result<HeaderMap, BadProvider> {
        let mut headers = HeaderMap::new();
        if let Some(key) = &self.key {
            let (name, text) = match self.api {
                ModelApi::Gemini => (HeaderName::from_static("x-goog-api-key"), key.reveal().to_owned()),
                ModelApi::OpenAi => (AUTHORIZATION, format!("Bearer {}", key.reveal())),
            };
            let mut value = HeaderValue::try_from(text).map_err(|_| BadProvider::Key)?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Ok(headers)
    }

    /// Sets no token limit: it would cut off the reasoning of some models before the answer.
    pub(super) fn question(&self, prompt: &Prompt) -> Value {
        let text = prompt.as_str();
        match self.api {
            ModelApi::Gemini => json!({ "contents": [{ "role": "user", "parts": [{ "text": text }] }] }),
            ModelApi::OpenAi => json!({ "model": self.model, "messages": [{ "role": "user", "content": text }] }),
        }
    }

    pub(super) fn usage(&self, body: &Value) -> Usage {
        let count = |path: &str| body.pointer(path).and_then(Value::as_u64);
        match self.api {
            ModelApi::Gemini => {
                let thought = count("/usageMetadata/thoughtsTokenCount").unwrap_or(0);
                let answer_tokens =
                    count("/usageMetadata/candidatesTokenCount").map(|said| said.saturating_add(thought));
                Usage { prompt_tokens: count("/usageMetadata/promptTokenCount"), answer_tokens }
            }
            ModelApi::OpenAi => {
                Usage { prompt_tokens: count("/usage/prompt_tokens"), answer_tokens: count("/usage/completion_tokens") }
            }
        }
    }

    pub(super) fn answer<'a>(&self, body: &'a Value) -> Option<&'a str> {
        match self.api {
            ModelApi::Gemini => {
                let parts = body.pointer("/candidates/0/content/parts")?.as_array()?;
                // Gemini puts reasoning first and marks it.
                let said = |part: &&Value| part.get("thought").and_then(Value::as_bool) != Some(true);
                parts.iter().find(said)?.get("text")?.as_str()
            }
            ModelApi::OpenAi => body.pointer("/choices/0/message/content")?.as_str(),
        }
    }
}

fn is_version(segment: &str) -> bool {
    segment.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

fn is_this_machine(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn provider(api: ModelApi, base_url: &str, key: Option<&str>) -> Provider {
        Provider { api, base_url: base_url.into(), model: "some-model-1.5".into(), key: key.map(ApiKey::new) }
    }

    fn endpoint(api: ModelApi, base_url: &str) -> String {
        provider(api, base_url, None).endpoint().unwrap().to_string()
    }

    #[test]
    fn a_base_url_may_or_may_not_have_its_version() {
        for base in ["https://api.openai.com", "https://api.openai.com/", "https://api.openai.com/v1/"] {
            assert_eq!(endpoint(ModelApi::OpenAi, base), "https://api.openai.com/v1/chat/completions");
        }
        assert_eq!(endpoint(ModelApi::OpenAi, "https://x.example/api/v4"), "https://x.example/api/v4/chat/completions");
        for base in ["https://g.example", "https://g.example/v1beta"] {
            let expected = "https://g.example/v1beta/models/some-model-1.5:generateContent";
            assert_eq!(endpoint(ModelApi::Gemini, base), expected);
        }
    }

    #[test]
    fn what_is_no_base_url_is_refused() {
        for base in
            ["", "api.openai.com", "/v1", "ftp://x", "https://me:secret@x", "https://x/?key=secret", "https://x/#y"]
        {
            assert_eq!(provider(ModelApi::OpenAi, base, None).endpoint(), Err(BadProvider::BaseUrl), "{base}");
        }
        let odd = Provider { model: "a/../b?c".into(), ..provider(ModelApi::Gemini, "https://x", None) };
        assert_eq!(odd.endpoint(), Err(BadProvider::ModelName("a/../b?c".into())));
    }

    #[test]
    fn a_key_does_not_travel_in_the_clear() {
        let refused = provider(ModelApi::OpenAi, "http://model.example", Some("secret")).endpoint();
        assert_eq!(refused, Err(BadProvider::InTheClear));
        for base in ["http://localhost:11434", "http://127.0.0.1:1", "http://[::1]:1", "https://model.example"] {
            assert!(provider(ModelApi::OpenAi, base, Some("secret")).endpoint().is_ok(), "{base}");
        }
        assert!(provider(ModelApi::OpenAi, "http://model.example", None).endpoint().is_ok());
    }

    #[test]
    fn no_form_of_a_provider_shows_its_key() {
        for api in [ModelApi::Gemini, ModelApi::OpenAi] {
            let provider = provider(api, "https://x", Some("secret"));
            let shown = format!("{provider:?} {:?}", provider.authorization().unwrap());
            assert!(!shown.contains("secret"), "{shown}");
        }
        let bad = provider(ModelApi::OpenAi, "https://x", Some("sec\nret")).authorization().unwrap_err();
        assert!(!format!("{bad} {bad:?}").contains("ret"));
    }

    #[test]
    fn answers_are_found_where_each_api_puts_them() {
        let gemini = provider(ModelApi::Gemini, "https://x", None);
        let parts = json!([{ "text": "hm", "thought": true }, { "text": "odd" }]);
        let body = json!({ "candidates": [{ "content": { "role": "model", "parts": parts } }] });
        assert_eq!(gemini.answer(&body), Some("odd"));
        let openai = provider(ModelApi::OpenAi, "https://x", None);
        let body = json!({ "choices": [{ "message": { "role": "assistant", "content": "even" } }] });
        assert_eq!(openai.answer(&body), Some("even"));
        for empty in [json!({}), json!([]), json!({ "choices": [], "candidates": [{ "finishReason": "SAFETY" }] })] {
            assert_eq!((gemini.answer(&empty), openai.answer(&empty)), (None, None));
        }
    }
}
