//! Chooses the model from environment variables; docs/llm.md explains them to users.
//!
//! | setting | variable | default |
//! |---|---|---|
//! | API | `LEAGUE_LLM_API`: `gemini` or `openai` | by the address, else by the key that is set, else OpenAI's |
//! | base URL | `LEAGUE_LLM_BASE_URL` | the address of the API's own provider |
//! | model | `LEAGUE_LLM_MODEL`, or `llm:MODEL` as the strategy | [`ModelApi::usual_model`] |
//! | key | `LEAGUE_LLM_KEY` | `GEMINI_API_KEY` for Gemini's API, `OPENAI_API_KEY` for OpenAI's |
//!
//! A key is sent only to the base URL. The key of one API is never sent to an address of the other.

use thiserror::Error;

use super::key::ApiKey;
use super::provider::{ModelApi, Provider};

#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum BadModelSettings {
    #[error(
        "no language model is configured: set GEMINI_API_KEY, OPENAI_API_KEY or LEAGUE_LLM_BASE_URL; docs/llm.md explains them"
    )]
    NoProvider,
    #[error("LEAGUE_LLM_API is {0:?}; allowed are \"gemini\" and \"openai\"")]
    NoApi(String),
    #[error("which model of {base_url}? Set LEAGUE_LLM_MODEL, or name it in the strategy: llm:MODEL")]
    NoModel { base_url: String },
    #[error("{base_url} wants a key: set {variable} or LEAGUE_LLM_KEY")]
    NoKey { base_url: &'static str, variable: &'static str },
}

const APIS: [ModelApi; 2] = [ModelApi::Gemini, ModelApi::OpenAi];

fn key_variable(api: ModelApi) -> &'static str {
    match api {
        ModelApi::Gemini => "GEMINI_API_KEY",
        ModelApi::OpenAi => "OPENAI_API_KEY",
    }
}

impl Provider {
    /// `model` takes precedence over the environment.
    pub fn of_environment(
        model: Option<&str>,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, BadModelSettings> {
        // An empty variable counts as unset.
        let variable =
            |name: &str| environment(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let base_url = variable("LEAGUE_LLM_BASE_URL");
        let named = match variable("LEAGUE_LLM_API").as_deref() {
            None => None,
            Some("gemini") => Some(ModelApi::Gemini),
            Some("openai") => Some(ModelApi::OpenAi),
            Some(other) => return Err(BadModelSettings::NoApi(other.chars().take(64).collect())),
        };
        let by_address =
            || APIS.into_iter().find(|api| base_url.as_deref().is_some_and(|base_url| is_own(*api, base_url)));
        let by_key = || APIS.into_iter().find(|api| variable(key_variable(*api)).is_some());
        // Most other servers offer OpenAI's API.
        let by_custom = || base_url.as_ref().map(|_| ModelApi::OpenAi);
        let api = named.or_else(by_address).or_else(by_key).or_else(by_custom).ok_or(BadModelSettings::NoProvider)?;
        let base_url = base_url.unwrap_or_else(|| api.own_base_url().to_owned());
        let own = is_own(api, &base_url);
        // Another server with OpenAI's API has its own models, so there is no default.
        let usual = || (own || api == ModelApi::Gemini).then(|| api.usual_model().to_owned());
        let model = model.map(str::to_owned).or_else(|| variable("LEAGUE_LLM_MODEL")).or_else(usual);
        let model = model.ok_or_else(|| BadModelSettings::NoModel { base_url: base_url.clone() })?;
        let key = variable("LEAGUE_LLM_KEY").or_else(|| variable(key_variable(api))).map(ApiKey::from);
        if own && key.is_none() {
            return Err(BadModelSettings::NoKey { base_url: api.own_base_url(), variable: key_variable(api) });
        }
        Ok(Self { api, base_url, model, key })
    }
}

fn is_own(api: ModelApi, base_url: &str) -> bool {
    base_url.strip_prefix(api.own_base_url()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(model: Option<&str>, environment: &[(&str, &str)]) -> Result<Provider, BadModelSettings> {
        let value = |name: &str| environment.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).into());
        Provider::of_environment(model, value)
    }

    const OWN_URL: (&str, &str) = ("LEAGUE_LLM_BASE_URL", "http://localhost:9000");

    #[test]
    fn the_key_or_the_address_decides_the_api_and_each_api_has_a_usual_model() {
        use ModelApi::{Gemini, OpenAi};
        for (model, environment, expected) in [
            (None, &[("GEMINI_API_KEY", "g"), ("OPENAI_API_KEY", "o")][..], (Gemini, Some("g"), "gemini-2.5-flash")),
            (None, &[("GEMINI_API_KEY", " "), ("OPENAI_API_KEY", "o")], (OpenAi, Some("o"), "gpt-4o-mini")),
            // Any address can offer Gemini's API.
            (None, &[OWN_URL, ("GEMINI_API_KEY", "g")], (Gemini, Some("g"), "gemini-2.5-flash")),
            (None, &[OWN_URL, ("LEAGUE_LLM_API", "gemini")], (Gemini, None, "gemini-2.5-flash")),
            // Another server offers OpenAI's API, and needs the name of its model.
            (Some("llama3:8b"), &[OWN_URL], (OpenAi, None, "llama3:8b")),
            // The key of one API does not go to an address of the other.
            (Some("m"), &[OWN_URL, ("LEAGUE_LLM_API", "openai"), ("GEMINI_API_KEY", "g")], (OpenAi, None, "m")),
        ] {
            let provider = resolve(model, environment).unwrap();
            let key = provider.key.as_ref().map(ApiKey::reveal);
            assert_eq!((provider.api, key, provider.model.as_str()), expected, "{environment:?}");
        }
        assert_eq!(resolve(None, &[("OPENAI_API_KEY", "o")]).unwrap().base_url, "https://api.openai.com");
    }

    #[test]
    fn an_error_names_the_variable_to_set() {
        let other = ("LEAGUE_LLM_BASE_URL", "https://api.openai.com/v1");
        for (environment, expected) in [
            (
                &[OWN_URL][..],
                "which model of http://localhost:9000? Set LEAGUE_LLM_MODEL, or name it in the strategy: llm:MODEL",
            ),
            (
                &[other, ("GEMINI_API_KEY", "g")],
                "https://api.openai.com wants a key: set OPENAI_API_KEY or LEAGUE_LLM_KEY",
            ),
            (&[], "set GEMINI_API_KEY, OPENAI_API_KEY or LEAGUE_LLM_BASE_URL"),
            (&[("LEAGUE_LLM_API", "palm")], r#"LEAGUE_LLM_API is "palm"; allowed are "gemini" and "openai""#),
            (&[("LEAGUE_LLM_API", "gemini")], "set GEMINI_API_KEY or LEAGUE_LLM_KEY"),
        ] {
            let error = resolve(None, environment).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
