//! What a user may set about models: the section `[model]` of their own configuration file.
//!
//! Two lines are enough, with `ANTHROPIC_API_KEY` in the environment or the keyring:
//!
//! ```toml
//! [model]
//! use = "anthropic"
//! ```
//!
//! or, for a server of one's own, `use = "llama/qwen3-coder"`. A model is named `provider/id`, or by a name below
//! `models`; a provider alone means its models that we chose for each stage.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use task::port::Stage;

use crate::Price;

/// Everything about models. Never read from a repository: a base URL decides who sees code and keys.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The model of every stage that names none.
    #[serde(rename = "use")]
    pub common: Option<String>,
    /// Asked when the first one cannot be reached any more.
    pub fallback: Option<String>,
    /// The stronger model, for steps on which the first one failed.
    pub escalation: Option<String>,
    /// Stages with models of their own.
    pub stages: BTreeMap<Stage, StageSettings>,
    /// Providers beside those that are built in, or changes to those.
    pub providers: BTreeMap<String, ProviderSettings>,
    /// Models with properties of their own, by a name to use elsewhere here.
    pub models: BTreeMap<String, ModelSettings>,
    /// Seconds for which a provider may be overloaded or out of reach before a call gives up. 900 if not set.
    pub patience: Option<u64>,
    /// Seconds to reach a provider. 20 if not set.
    pub connect_timeout: Option<u64>,
    /// Seconds without a byte after which an answer counts as broken off. 300 if not set: models think in silence.
    pub idle_timeout: Option<u64>,
}

/// The models of one stage.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StageSettings {
    /// In place of the common one; and so the other two.
    #[serde(rename = "use")]
    pub first: Option<String>,
    pub fallback: Option<String>,
    pub escalation: Option<String>,
}

/// How a provider is reached.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProviderSettings {
    /// `openai` if not set.
    pub wire: Option<Wire>,
    /// `https://api.openai.com/v1`. Without TLS only for this machine and private networks.
    pub base_url: Option<String>,
    /// The name of the key, in the environment and the keyring. None is needed on this machine and private networks.
    pub key_env: Option<String>,
    /// Whose list prices hold there: `anthropic` or `openai`. Known for these two themselves.
    pub prices: Option<String>,
    /// The key itself, put here by [`Settings::with_keys`]; a file cannot hold it.
    #[serde(skip)]
    pub key: Option<Key>,
}

/// A model and what is known of it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelSettings {
    /// As settings name it.
    pub provider: String,
    /// As the provider names it.
    pub model: String,
    /// Tokens that input and output share.
    pub window: Option<u64>,
    /// Tokens of output at most.
    pub max_output: Option<u64>,
    /// In place of the list price.
    pub price: Option<Price>,
    /// Wire `anthropic`: tokens for thinking, or `"adaptive"`. Off if not set.
    pub thinking: Option<Thinking>,
    /// Wire `openai`: `reasoning_effort`.
    pub effort: Option<String>,
}

/// How much a model may think before it speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Thinking {
    /// Tokens, at least 1024.
    Budget(u64),
    /// As the model likes.
    Named(Adaptive),
}

/// The one word beside a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Adaptive {
    Adaptive,
}

/// The language that a provider speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wire {
    /// Messages.
    Anthropic,
    /// Chat completions.
    #[default]
    Openai,
}

impl Wire {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Openai => "openai",
        }
    }
}

/// A secret. Nothing prints it.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// Without the white space that files and terminals leave around it.
    pub fn new(secret: &str) -> Self {
        Self(secret.trim().to_owned())
    }

    /// The secret itself, for the header of a request and for the redactor.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

impl Settings {
    /// Whether any model is named.
    pub fn is_empty(&self) -> bool {
        self.common.is_none() && self.stages.values().all(|stage| stage.first.is_none())
    }

    /// Looks up the keys of all providers, built-in ones included: `find` gets the provider and the name of its key.
    #[must_use]
    pub fn with_keys(mut self, mut find: impl FnMut(&str, &str) -> Option<String>) -> Self {
        for (name, known) in crate::known::providers() {
            let provider = self.providers.entry(name.to_owned()).or_default();
            provider.key_env = provider.key_env.take().or(known.key_env.map(str::to_owned));
        }
        for (name, provider) in &mut self.providers {
            if let Some(key_env) = &provider.key_env {
                provider.key = find(name, key_env).map(|key| Key::new(&key)).filter(|key| !key.0.is_empty());
            }
        }
        self
    }

    /// The keys that were found, for the redactor.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.providers.values().filter_map(|provider| provider.key.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_everything_but_keys() {
        let settings: Settings = toml::from_str(
            r#"
            use = "anthropic"
            fallback = "mine"
            patience = 60
            [stages.plan]
            use = "openai/gpt-5"
            escalation = "openai/o3"
            [providers.gateway]
            wire = "anthropic"
            base_url = "https://models.example.org"
            key_env = "GATEWAY_KEY"
            [models.mine]
            provider = "gateway"
            model = "big"
            window = 1000
            thinking = 2048
            price = { input = 1, output = 2.5 }
            "#,
        )
        .unwrap();
        assert_eq!(settings.stages[&Stage::Plan].escalation.as_deref(), Some("openai/o3"));
        assert_eq!(settings.models["mine"].thinking, Some(Thinking::Budget(2048)));
        assert_eq!(settings.models["mine"].price.unwrap().output, 2.5);
        for bad in ["key = 1", "[providers.x]\nkey = \"sk\"", "[stages.dance]", "[models.x]\nthinking = \"much\""] {
            assert!(toml::from_str::<Settings>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn keys_are_found_by_name_and_never_shown() {
        let settings: Settings = toml::from_str("[providers.mine]\nkey_env = \"MINE\"").unwrap();
        let settings = settings.with_keys(|provider, name| match (provider, name) {
            ("mine", "MINE") => Some(" s3cret\n".to_owned()),
            ("openai", "OPENAI_API_KEY") => Some("other".to_owned()),
            _ => None,
        });
        assert_eq!(settings.keys().map(Key::reveal).collect::<Vec<_>>(), ["s3cret", "other"]);
        let shown = format!("{settings:?}");
        assert!(!shown.contains("s3cret") && !shown.contains("other"), "{shown}");
    }
}
