//! The providers that need no settings but a key, and the models of theirs that we use where none is named.

use task::port::Stage;

use crate::settings::Wire;

/// A provider that is built in.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) wire: Wire,
    pub(crate) base_url: &'static str,
    pub(crate) key_env: Option<&'static str>,
    /// For work that needs thought, and for work that needs none.
    pub(crate) models: Option<(&'static str, &'static str)>,
}

const ANTHROPIC: Known = Known {
    wire: Wire::Anthropic,
    base_url: "https://api.anthropic.com",
    key_env: Some("ANTHROPIC_API_KEY"),
    models: Some(("claude-sonnet-4-5", "claude-haiku-4-5")),
};
const OPENAI: Known = Known {
    wire: Wire::Openai,
    base_url: "https://api.openai.com/v1",
    key_env: Some("OPENAI_API_KEY"),
    models: Some(("gpt-5", "gpt-5-mini")),
};
const OPENROUTER: Known = Known {
    wire: Wire::Openai,
    base_url: "https://openrouter.ai/api/v1",
    key_env: Some("OPENROUTER_API_KEY"),
    models: None,
};
// Servers of one's own, at the ports that they open unless told otherwise.
const LLAMA: Known = local("http://127.0.0.1:8080/v1");
const LMSTUDIO: Known = local("http://127.0.0.1:1234/v1");
const OLLAMA: Known = local("http://127.0.0.1:11434/v1");
const VLLM: Known = local("http://127.0.0.1:8000/v1");

const fn local(base_url: &'static str) -> Known {
    Known { wire: Wire::Openai, base_url, key_env: None, models: None }
}

const PROVIDERS: [(&str, &Known); 7] = [
    ("anthropic", &ANTHROPIC),
    ("llama", &LLAMA),
    ("lmstudio", &LMSTUDIO),
    ("ollama", &OLLAMA),
    ("openai", &OPENAI),
    ("openrouter", &OPENROUTER),
    ("vllm", &VLLM),
];

pub(crate) fn providers() -> impl Iterator<Item = (&'static str, &'static Known)> {
    PROVIDERS.into_iter()
}

pub(crate) fn provider(name: &str) -> Option<&'static Known> {
    providers().find(|(known, _)| *known == name).map(|(_, known)| known)
}

/// Whose list prices hold at a host.
pub(crate) fn vendor(host: &str) -> Option<&'static str> {
    match host {
        "api.anthropic.com" => Some("anthropic"),
        "api.openai.com" => Some("openai"),
        _ => None,
    }
}

impl Known {
    /// The model that we chose for a stage.
    pub(crate) fn model(&self, stage: Stage) -> Option<&'static str> {
        let (strong, quick) = self.models?;
        Some(match stage {
            Stage::Plan | Stage::Code | Stage::Diagnose => strong,
            Stage::Summarise | Stage::Explain => quick,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prices::table;

    #[test]
    fn every_model_that_we_chose_has_a_price() {
        for (name, known) in providers() {
            for stage in Stage::ALL {
                if let Some(model) = known.model(stage) {
                    assert!(table().vendor(name, model).is_some(), "{name}/{model}");
                }
            }
            assert_eq!(known.key_env.is_none(), known.base_url.starts_with("http://127.0.0.1:"));
        }
    }
}
