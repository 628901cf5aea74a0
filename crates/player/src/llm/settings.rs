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

    fn key_of(provider: &Provider) -> Option<&str> {
        provider.key.as_ref().map(ApiKey::reveal)
    }

    #[test]
    fn the_key_that_is_there_says_whom_to_ask_and_each_api_has_a_usual_model() {
        let gemini = resolve(None, &[("GEMINI_API_KEY", "g"), ("OPENAI_API_KEY", "o")]).unwrap();
        assert_eq!(
            (gemini.api, key_of(&gemini), gemini.model.as_str()),
            (ModelApi::Gemini, Some("g"), "gemini-2.5-flash")
        );
        let openai = resolve(None, &[("GEMINI_API_KEY", " "), ("OPENAI_API_KEY", "o")]).unwrap();
        assert_eq!((openai.api, key_of(&openai), openai.model.as_str()), (ModelApi::OpenAi, Some("o"), "gpt-4o-mini"));
        assert_eq!(openai.base_url, "https://api.openai.com");
    }

    #[test]
    fn any_address_can_speak_gemini_s_api() {
        let own = [("LEAGUE_LLM_BASE_URL", "http://localhost:9000"), ("GEMINI_API_KEY", "g")];
        let provider = resolve(None, &own).unwrap();
        assert_eq!((provider.api, key_of(&provider)), (ModelApi::Gemini, Some("g")));
        assert_eq!(provider.model, "gemini-2.5-flash");
        let named = [("LEAGUE_LLM_BASE_URL", "http://localhost:9000"), ("LEAGUE_LLM_API", "gemini")];
        assert_eq!(resolve(None, &named).unwrap().api, ModelApi::Gemini);
    }

    #[test]
    fn a_server_of_other_make_speaks_openai_s_api_and_names_its_model() {
        let own = [("LEAGUE_LLM_BASE_URL", "http://localhost:11434")];
        let provider = resolve(Some("llama3:8b"), &own).unwrap();
        assert_eq!((provider.api, key_of(&provider), provider.model.as_str()), (ModelApi::OpenAi, None, "llama3:8b"));
        let told = resolve(None, &own).unwrap_err().to_string();
        assert_eq!(
            told,
            "which model of http://localhost:11434? Set LEAGUE_LLM_MODEL, or name it in the strategy: llm:MODEL"
        );
    }

    #[test]
    fn the_key_of_one_api_does_not_go_to_the_address_of_the_other() {
        let other = [("LEAGUE_LLM_BASE_URL", "https://api.openai.com/v1"), ("GEMINI_API_KEY", "g")];
        let told = resolve(None, &other).unwrap_err().to_string();
        assert_eq!(told, "https://api.openai.com wants a key: set OPENAI_API_KEY or LEAGUE_LLM_KEY");
        let named =
            [("LEAGUE_LLM_API", "openai"), ("LEAGUE_LLM_BASE_URL", "http://localhost:1"), ("GEMINI_API_KEY", "g")];
        assert_eq!(key_of(&resolve(Some("m"), &named).unwrap()), None);
    }

    #[test]
    fn what_is_missing_or_wrong_is_told_with_where_to_set_it() {
        let told = |environment: &[_]| resolve(None, environment).unwrap_err().to_string();
        assert!(told(&[]).contains("set GEMINI_API_KEY, OPENAI_API_KEY or LEAGUE_LLM_BASE_URL"));
        assert_eq!(
            told(&[("LEAGUE_LLM_API", "palm")]),
            r#"LEAGUE_LLM_API is "palm"; allowed are "gemini" and "openai""#
        );
        assert!(told(&[("LEAGUE_LLM_API", "gemini")]).contains("set GEMINI_API_KEY or LEAGUE_LLM_KEY"));
    }
}
