//! From the names in settings to a model at a provider, with everything that is known of it.

use std::sync::Arc;

use task::port::{Profile, Stage};

use crate::Price;
use crate::error::SettingsError;
use crate::known;
use crate::place::Place;
use crate::prices::table;
use crate::settings::{ModelSettings, Settings, Thinking, Wire};

/// A model that can be asked.
#[derive(Debug)]
pub(crate) struct Choice {
    pub(crate) place: Arc<Place>,
    /// As the provider names it.
    pub(crate) id: String,
    pub(crate) window: u64,
    pub(crate) max_output: u64,
    pub(crate) price: Option<Price>,
    pub(crate) thinking: Option<Thinking>,
    pub(crate) effort: Option<String>,
}

/// What a model of which nothing is known is taken to hold, window and output: on a server of one's own, as they are
/// usually started; elsewhere, as the smaller ones of today.
const USUAL_NEAR: (u64, u64) = (32_768, 4_096);
const USUAL_OPENAI: (u64, u64) = (128_000, 16_000);
const USUAL_ANTHROPIC: (u64, u64) = (200_000, 32_000);
/// Less is no thinking, says the wire.
const LEAST_THINKING: u64 = 1024;

impl Choice {
    /// `name` is one below `models`, `provider/id`, or a provider whose models we know.
    pub(crate) fn new(settings: &Settings, name: &str, stage: Stage) -> Result<Self, SettingsError> {
        if let Some(model) = settings.models.get(name) {
            return Self::described(settings, name, model);
        }
        let (provider, id) = match name.split_once('/') {
            Some((provider, id)) => (provider, id),
            None => match known::provider(name) {
                Some(known) => {
                    let id = known.model(stage);
                    (name, id.ok_or_else(|| SettingsError::NoDefault { provider: name.to_owned() })?)
                }
                None if settings.providers.contains_key(name) => {
                    return Err(SettingsError::NoDefault { provider: name.to_owned() });
                }
                None => return Err(SettingsError::NoSuchModel { name: name.to_owned() }),
            },
        };
        let model = ModelSettings { provider: provider.to_owned(), model: id.to_owned(), ..Default::default() };
        Self::described(settings, name, &model)
    }

    fn described(settings: &Settings, name: &str, model: &ModelSettings) -> Result<Self, SettingsError> {
        let bad = |why: &'static str| Err(SettingsError::Model { model: name.to_owned(), why });
        if model.model.is_empty() || model.provider.is_empty() {
            return bad("it needs a provider and a model");
        }
        let provider = settings.providers.get(&model.provider).cloned().unwrap_or_default();
        let place = Place::new(&model.provider, &provider)?;
        let listed = place.prices.as_deref().and_then(|vendor| table().vendor(vendor, &model.model));
        let ability = listed.or_else(|| table().anywhere(&model.model));
        let usual = match place.wire {
            _ if !place.is_tls() => USUAL_NEAR,
            Wire::Anthropic => USUAL_ANTHROPIC,
            Wire::Openai => USUAL_OPENAI,
        };
        let window = model.window.or(ability.map(|known| known.window)).unwrap_or(usual.0);
        let max_output = model.max_output.or(ability.map(|known| known.max_output));
        let max_output = max_output.unwrap_or(usual.1.min(window / 2));
        if max_output == 0 || max_output > window {
            return bad("max_output must be above 0 and fit into the window");
        }
        match (place.wire, model.thinking, &model.effort) {
            (Wire::Anthropic, _, Some(_)) => return bad("its wire knows `thinking`, not `effort`"),
            (Wire::Openai, Some(_), _) => return bad("its wire knows `effort`, not `thinking`"),
            (_, Some(Thinking::Budget(budget)), _) if budget < LEAST_THINKING || budget >= max_output => {
                return bad("thinking must be at least 1024 and below max_output");
            }
            _ => {}
        }
        let price = model.price.or(listed.map(|listed| listed.price()));
        if price.is_some_and(|price| !price.is_sound()) {
            return bad("its price is no amount of money");
        }
        let (thinking, effort) = (model.thinking, model.effort.clone());
        Ok(Self { place: Arc::new(place), id: model.model.clone(), window, max_output, price, thinking, effort })
    }

    /// `anthropic/claude-…`.
    pub(crate) fn name(&self) -> String {
        format!("{}/{}", self.place.name, self.id)
    }

    pub(crate) fn profile(&self) -> Profile {
        Profile {
            name: self.name(),
            window: self.window,
            max_output: self.max_output,
            priced: self.price.is_some(),
            identity: self.identity(),
        }
    }

    /// What decides the answers. Not the address: the same model behind another gateway is the same model.
    fn identity(&self) -> String {
        let thinking = match (self.thinking, &self.effort) {
            (Some(Thinking::Budget(budget)), _) => budget.to_string(),
            (Some(Thinking::Named(_)), _) => "adaptive".to_owned(),
            (None, Some(effort)) => effort.clone(),
            (None, None) => "none".to_owned(),
        };
        format!(
            "wire={} model={} window={} max_output={} thinking={thinking} prices={}",
            self.place.wire.as_str(),
            self.name(),
            self.window,
            self.max_output,
            table().as_of
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(text: &str, name: &str, stage: Stage) -> Result<Choice, SettingsError> {
        let settings: Settings = toml::from_str(text).unwrap();
        let settings = settings.with_keys(|provider, _| Some(format!("key-of-{provider}")));
        Choice::new(&settings, name, stage)
    }

    #[test]
    fn two_lines_are_enough() {
        let code = choice("", "anthropic", Stage::Code).unwrap();
        assert_eq!(code.name(), "anthropic/claude-sonnet-4-5");
        assert_eq!((code.window, code.max_output, code.price.unwrap().output), (200_000, 64_000, 15.0));
        let quick = choice("", "openai", Stage::Summarise).unwrap();
        assert_eq!(quick.name(), "openai/gpt-5-mini");
        let own = choice("", "llama/qwen/coder", Stage::Code).unwrap();
        assert_eq!((own.id.as_str(), own.window, own.price), ("qwen/coder", USUAL_NEAR.0, None));
    }

    #[test]
    fn a_model_that_nobody_knew_yet_is_taken_for_a_usual_one() {
        let new = choice("", "anthropic/claude-next", Stage::Code).unwrap();
        assert_eq!((new.window, new.max_output, new.price), (200_000, 32_000, None));
        let small = "[models.small]\nprovider = \"openai\"\nmodel = \"next\"\nwindow = 10_000";
        assert_eq!(choice(small, "small", Stage::Code).unwrap().max_output, 5_000);
    }

    #[test]
    fn a_router_has_the_abilities_of_a_model_but_not_its_price() {
        let routed = choice("", "openrouter/anthropic/claude-haiku-4-5", Stage::Code).unwrap();
        assert_eq!((routed.window, routed.price), (200_000, None));
        let text = "[providers.gate]\nwire = \"anthropic\"\nbase_url = \"https://gate.example.org\"\nkey_env = \"GATE\"\nprices = \"anthropic\"";
        assert_eq!(choice(text, "gate/claude-haiku-4-5", Stage::Code).unwrap().price.unwrap().input, 1.0);
    }

    #[test]
    fn what_cannot_be_meant_is_said() {
        let cases = [
            ("", "claude", "there is no model `claude`"),
            ("", "nobody/x", "there is no provider `nobody`"),
            ("", "llama", "does not say which model"),
            ("[models.x]\nprovider = \"llama\"", "x", "needs a provider and a model"),
            ("[models.x]\nprovider = \"llama\"\nmodel = \"m\"\nthinking = 2048", "x", "not `thinking`"),
            ("[models.x]\nprovider = \"anthropic\"\nmodel = \"m\"\neffort = \"high\"", "x", "not `effort`"),
            ("[models.x]\nprovider = \"anthropic\"\nmodel = \"m\"\nthinking = 9", "x", "at least 1024"),
            ("[models.x]\nprovider = \"llama\"\nmodel = \"m\"\nwindow = 10\nmax_output = 11", "x", "fit into"),
            ("[models.x]\nprovider = \"llama\"\nmodel = \"m\"\nprice = { input = -1, output = 2 }", "x", "no amount"),
        ];
        for (text, name, words) in cases {
            let error = choice(text, name, Stage::Code).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn the_identity_names_what_decides_the_answers() {
        let identity = choice("", "openai/gpt-5", Stage::Code).unwrap().identity();
        assert!(
            identity
                .starts_with("wire=openai model=openai/gpt-5 window=400000 max_output=128000 thinking=none prices=20")
        );
    }
}
