//! Language models, as the user's settings name them, and what must never reach one.

mod keys;
mod secrets;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use agent::House;
use model::{Panel, SettingsError};
use task::Redactor;
use task::port::{Model, Stage};

use crate::settings::{Settings, config_folder, variable};
use keys::Keys;

/// Names the model of every stage in place of the settings.
const VARIABLE: &str = "UNDERSTUDY_MODEL";
/// The provider of the models that an editor lends: there are none where no editor is connected.
const EDITOR: &str = "editor";
/// How long an editor's models may be out of reach, where the settings do not say.
const PATIENCE: Duration = Duration::from_secs(900);

/// The model of each stage, and what is secret on this machine.
pub struct Models {
    pub panel: Result<Panel, String>,
    /// Whether the user asked for any.
    pub wanted: bool,
    /// By provider, the name of its key and where it was found.
    pub keys: BTreeMap<String, (String, &'static str)>,
    /// By provider, why a key that is there was not taken.
    pub problems: BTreeMap<String, String>,
    redactor: Redactor,
}

/// Reads which models are configured and finds their keys. Nobody is asked, nothing is sent.
pub fn open(settings: &Settings) -> Models {
    let named = variable(VARIABLE).map(|name| name.trim().to_owned());
    let wanted = named.is_some() || settings.model.is_some();
    let (mut keys, mut found, mut problems) = (Keys::default(), BTreeMap::new(), BTreeMap::new());
    let mut secrets = secrets::of_environment(std::env::vars_os());
    let panel = match (&settings.model, named) {
        (None, None) => Err(unconfigured()),
        _ if lent(settings).is_some() => Err(format!(
            "the settings name the models of the editor (`{EDITOR}`), which it lends to tasks that are asked for in it; \
             `{VARIABLE}=PROVIDER/MODEL` names others for this one"
        )),
        (section, named) => {
            let mut section = section.clone().unwrap_or_default();
            section.common = named.or(section.common);
            let section = section.with_keys(|provider, name| {
                let taken = keys.find(name);
                problems.extend(keys.problem(name).map(|problem| (provider.to_owned(), problem.to_owned())));
                let (key, place) = taken?;
                found.insert(provider.to_owned(), (name.to_owned(), place));
                Some(key)
            });
            secrets.extend(section.keys().map(|key| key.reveal().to_owned()));
            Panel::new(&section).map_err(|error| sentence(&error, &keys))
        }
    };
    // Where the home folder is a link, programs print where it leads.
    let home = std::env::var("HOME").ok().filter(|home| home.starts_with('/'));
    let real = home.as_ref().and_then(|home| std::fs::canonicalize(home).ok()?.into_os_string().into_string().ok());
    Models { panel, wanted, keys: found, problems, redactor: Redactor::new(secrets, home.into_iter().chain(real)) }
}

/// Whether the user wants the models of the editor, and the patience with them.
pub fn lent(settings: &Settings) -> Option<Duration> {
    let section = settings.model.as_ref();
    let named = variable(VARIABLE).map(|name| name.trim().to_owned());
    let named = named.or_else(|| section.and_then(|section| section.common.clone()));
    let patience = section.and_then(|section| section.patience).map_or(PATIENCE, Duration::from_secs);
    (named.as_deref() == Some(EDITOR)).then_some(patience)
}

impl Models {
    /// Whether a model can be asked, or why not and what to do.
    pub fn usable(&self) -> Result<(), &str> {
        self.panel.as_ref().map(|_| ()).map_err(String::as_str)
    }

    /// A house whose tasks may ask these models.
    pub fn furnish(self, mut house: House) -> House {
        house.model = self.panel.map(|panel| Arc::new(panel) as _);
        house.redactor = self.redactor;
        house
    }
}

/// The way to a first model, in two lines.
fn unconfigured() -> String {
    let file = config_folder().map_or("config.toml".into(), |folder| folder.join("config.toml").display().to_string());
    let mut text = format!(
        "no model is configured. These two lines in {} set one up, with ANTHROPIC_API_KEY in the environment:\n  \
         [model]\n  use = \"anthropic\"\n\
         Others: \"openai\", \"openrouter/ID\", \"ollama/NAME\", \"llama/NAME\" and any server that speaks like one of them.",
        task::printable(&file)
    );
    for (key, provider) in [("ANTHROPIC_API_KEY", "anthropic"), ("OPENAI_API_KEY", "openai")] {
        if variable(key).is_some() {
            text.push_str(&format!(
                "\n{key} is set; it is not used unasked, because that costs money: `{VARIABLE}={provider}` uses it."
            ));
        }
    }
    text
}

fn sentence(error: &SettingsError, keys: &Keys) -> String {
    match error {
        SettingsError::NoKey { provider, key_env } => match keys.problem(key_env) {
            Some(problem) => problem.to_owned(),
            None => format!("there is no key for the provider `{provider}`: {}", keys::places(key_env)),
        },
        _ => error.to_string(),
    }
}

/// One model with what it serves.
#[derive(Debug, PartialEq, Eq)]
pub struct Served {
    /// `anthropic/claude-…`.
    pub name: String,
    /// `plan, code`, in words.
    pub stages: String,
    pub priced: bool,
}

/// Models that no price is known of, by name.
pub fn unpriced(model: &dyn Model) -> Vec<String> {
    served(model).into_iter().filter(|served| !served.priced).map(|served| served.name).collect()
}

/// Which model serves which stage; stronger ones come last. Nobody is asked.
pub fn served(model: &dyn Model) -> Vec<Served> {
    let mut served: BTreeMap<(bool, String), (Vec<&str>, bool)> = BTreeMap::new();
    for escalated in [false, true] {
        for stage in Stage::ALL {
            if let Some(profile) = model.profile(stage, escalated) {
                let entry = served.entry((escalated, profile.name)).or_insert_with(|| (Vec::new(), profile.priced));
                entry.0.push(stage.as_str());
            }
        }
    }
    let line = |((escalated, name), (stages, priced)): ((bool, String), (Vec<&str>, bool))| {
        let all = stages.len() == Stage::ALL.len();
        let stages = if all { "everything".to_owned() } else { stages.join(", ") };
        let stages = if escalated { format!("{stages}, where the first one fails") } else { stages };
        Served { name, stages, priced }
    };
    served.into_iter().map(line).collect()
}
