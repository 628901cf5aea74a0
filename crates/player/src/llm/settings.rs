//! Which model to ask: from the configuration, else from the environment.
//!
//! | what | configuration | environment |
//! |---|---|---|
//! | API | `provider`: `gemini` or `openai` | by the key that is there |
//! | base URL | `base_url` | `LEAGUE_LLM_BASE_URL`; else the inventor's of the API |
//! | model | `model` | `LEAGUE_LLM_MODEL` |
//! | key | `key` | `LEAGUE_LLM_KEY`; else `GEMINI_API_KEY` or `OPENAI_API_KEY` |
//!
//! A base URL without a provider is taken for a server that speaks OpenAI's API, as most do. The keys that are named after a
//! provider go to that provider's own address only: another server is not to learn them because both variables were set.

use serde::Deserialize;
use thiserror::Error;

use super::key::Key;
use super::provider::{Api, Provider};

/// What the configuration says about the model; all of it may be left to the environment.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LlmSettings {
    /// What it speaks.
    pub provider: Option<Api>,
    /// Where it is.
    pub base_url: Option<String>,
    /// Which one.
    pub model: Option<String>,
    /// Its key.
    pub key: Option<Key>,
}

/// Settings that do not name a model.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum BadSettings {
    /// Nothing says whom to ask.
    #[error("no language model is configured: set GEMINI_API_KEY, OPENAI_API_KEY or LEAGUE_LLM_BASE_URL")]
    NoProvider,
    /// Nothing says which model.
    #[error("which language model? Set LEAGUE_LLM_MODEL, or `model` in the configuration")]
    NoModel,
    /// The provider's own service wants a key.
    #[error("{base_url} wants a key: set {variable} or LEAGUE_LLM_KEY")]
    NoKey {
        /// Whose.
        base_url: &'static str,
        /// Where it is usually kept.
        variable: &'static str,
    },
}

fn key_variable(api: Api) -> &'static str {
    match api {
        Api::Gemini => "GEMINI_API_KEY",
        Api::OpenAi => "OPENAI_API_KEY",
    }
}

impl LlmSettings {
    /// The model that these settings and the environment name together.
    pub fn resolve(self, environment: impl Fn(&str) -> Option<String>) -> Result<Provider, BadSettings> {
        // Set to nothing is as good as not set.
        let variable = |name: &str| environment(name).filter(|value| !value.trim().is_empty());
        let base_url = self.base_url.or_else(|| variable("LEAGUE_LLM_BASE_URL"));
        let by_key = || [Api::Gemini, Api::OpenAi].into_iter().find(|api| variable(key_variable(*api)).is_some());
        let by_address = || {
            let base_url = base_url.as_deref()?;
            Some(if is_own(Api::Gemini, base_url) { Api::Gemini } else { Api::OpenAi })
        };
        let api = self.provider.or_else(by_address).or_else(by_key).ok_or(BadSettings::NoProvider)?;
        let base_url = base_url.unwrap_or_else(|| api.own_base_url().to_owned());
        let own = is_own(api, &base_url);
        let model = self.model.or_else(|| variable("LEAGUE_LLM_MODEL")).ok_or(BadSettings::NoModel)?;
        let of_provider = || if own { variable(key_variable(api)) } else { None };
        let from_environment = || variable("LEAGUE_LLM_KEY").or_else(of_provider).map(Key::from);
        let key = self.key.or_else(from_environment);
        if own && key.is_none() {
            return Err(BadSettings::NoKey { base_url: api.own_base_url(), variable: key_variable(api) });
        }
        Ok(Provider { api, base_url, model: model.trim().to_owned(), key })
    }
}

/// Whether `base_url` is at the address of the API's inventor.
fn is_own(api: Api, base_url: &str) -> bool {
    base_url.strip_prefix(api.own_base_url()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(settings: LlmSettings, environment: &[(&str, &str)]) -> Result<Provider, BadSettings> {
        let value = |name: &str| environment.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into());
        settings.resolve(value)
    }

    fn key_of(provider: &Provider) -> Option<&str> {
        provider.key.as_ref().map(Key::reveal)
    }

    const MODEL: (&str, &str) = ("LEAGUE_LLM_MODEL", "m");

    #[test]
    fn the_key_that_is_there_says_whom_to_ask() {
        let gemini =
            resolve(LlmSettings::default(), &[MODEL, ("GEMINI_API_KEY", "g"), ("OPENAI_API_KEY", "o")]).unwrap();
        assert_eq!((gemini.api, key_of(&gemini)), (Api::Gemini, Some("g")));
        let openai =
            resolve(LlmSettings::default(), &[MODEL, ("GEMINI_API_KEY", " "), ("OPENAI_API_KEY", "o")]).unwrap();
        assert_eq!((openai.api, key_of(&openai)), (Api::OpenAi, Some("o")));
        assert_eq!(openai.base_url, "https://api.openai.com");
    }

    #[test]
    fn a_server_of_ones_own_does_not_learn_the_key_to_another() {
        let own = [MODEL, ("LEAGUE_LLM_BASE_URL", "http://localhost:11434"), ("OPENAI_API_KEY", "o")];
        let provider = resolve(LlmSettings::default(), &own).unwrap();
        assert_eq!((provider.api, key_of(&provider)), (Api::OpenAi, None));
        let near = [MODEL, ("LEAGUE_LLM_BASE_URL", "https://api.openai.com.evil.example"), ("OPENAI_API_KEY", "o")];
        assert_eq!(key_of(&resolve(LlmSettings::default(), &near).unwrap()), None);
        let given = [own.as_slice(), &[("LEAGUE_LLM_KEY", "l")]].concat();
        assert_eq!(key_of(&resolve(LlmSettings::default(), &given).unwrap()), Some("l"));
    }

    #[test]
    fn the_configuration_goes_before_the_environment() {
        let text = r#"{ "provider": "openai", "base_url": "https://x.example/v1", "model": "n", "key": "k" }"#;
        let settings: LlmSettings = serde_json::from_str(text).unwrap();
        let others =
            [MODEL, ("LEAGUE_LLM_BASE_URL", "https://y.example"), ("LEAGUE_LLM_KEY", "l"), ("GEMINI_API_KEY", "g")];
        let provider = resolve(settings, &others).unwrap();
        assert_eq!((provider.api, provider.base_url.as_str()), (Api::OpenAi, "https://x.example/v1"));
        assert_eq!((provider.model.as_str(), key_of(&provider)), ("n", Some("k")));
    }

    #[test]
    fn what_is_missing_is_told_with_where_to_set_it() {
        let told = |settings, environment: &[_]| resolve(settings, environment).unwrap_err().to_string();
        assert!(
            told(LlmSettings::default(), &[]).contains("set GEMINI_API_KEY, OPENAI_API_KEY or LEAGUE_LLM_BASE_URL")
        );
        assert!(told(LlmSettings::default(), &[("GEMINI_API_KEY", "g")]).contains("LEAGUE_LLM_MODEL"));
        let keyless = LlmSettings { provider: Some(Api::Gemini), ..LlmSettings::default() };
        assert!(told(keyless, &[MODEL]).contains("set GEMINI_API_KEY or LEAGUE_LLM_KEY"));
    }
}
