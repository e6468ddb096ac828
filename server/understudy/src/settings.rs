//! Settings, declared once: flag over `UNDERSTUDY_*` variable over the user's `config.toml` over default.

use std::path::PathBuf;

use serde::Deserialize;
use task::{Engine, Limits, PlanPolicy};

/// What the user's `config.toml` may say; unknown keys are an error, so that a typing mistake is not a silent default.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Where Understudy keeps its journal, trees and shadows.
    pub state_dir: Option<PathBuf>,
    /// Active time of a task at most, in seconds.
    pub timeout: Option<u64>,
    /// Time of one sandboxed command at most, in seconds.
    pub check_timeout: Option<u64>,
    /// Data memory of each sandboxed process at most, in MiB.
    pub check_memory: Option<u64>,
    /// Attempts at most.
    pub max_attempts: Option<u32>,
    /// Globs of files that may be copied although they look like secrets.
    #[serde(default)]
    pub allow_files: Vec<String>,
    /// Commands that a model may run in the sandbox, by their first words: `npm run build`. None without this.
    #[serde(default)]
    pub allow_commands: Vec<String>,
    /// Dollars that a task with a model may cost.
    pub budget_usd: Option<f64>,
    /// Of these, what the stronger model may cost, where one is configured.
    pub escalation_usd: Option<f64>,
    /// Tokens that a task with a model may use.
    pub max_tokens: Option<u64>,
    /// Who agrees to the plans of a model.
    pub plan: Option<PlanPolicy>,
    /// Language models. Only here: neither an editor's settings nor a repository decide who gets to see code and keys.
    pub model: Option<model::Settings>,
}

/// What a task with a model may use where nobody says otherwise.
const BUDGET_MICRODOLLARS: u64 = 500_000;
const MAX_TOKENS: u64 = 1_000_000;
const MODEL_TIMEOUT_MS: u64 = 600_000;

/// Settings that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("the settings in {} cannot be read: {source}", .path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error("the settings in {} are not understood, line {line}: {}", .path.display(), .source.message())]
    Toml { path: PathBuf, line: usize, source: Box<toml::de::Error> },
    #[error("{name} is `{value}`, which is not a number")]
    Number { name: &'static str, value: String },
    #[error("{what} must be at least {least}")]
    TooSmall { what: &'static str, least: u64 },
    #[error("{what} must be at most {most}")]
    TooLarge { what: &'static str, most: u64 },
    #[error("{what} is an amount of dollars, 0 or more")]
    Dollars { what: &'static str },
    #[error("{name}: {sentence}")]
    Word { name: &'static str, sentence: String },
    #[error("neither XDG_STATE_HOME nor HOME is set; set UNDERSTUDY_STATE_DIR to a folder of yours")]
    NoHome,
}

impl Settings {
    /// Reads file and variables.
    ///
    /// # Errors
    /// Names the file or the variable that cannot be understood.
    pub fn load() -> Result<Self, SettingsError> {
        let mut settings = Self::from_file()?;
        if let Some(folder) = std::env::var_os("UNDERSTUDY_STATE_DIR").filter(|value| !value.is_empty()) {
            settings.state_dir = Some(folder.into());
        }
        let number = |name: &'static str| match std::env::var(name) {
            Ok(value) => value.trim().parse::<u64>().map(Some).map_err(|_| SettingsError::Number { name, value }),
            Err(_) => Ok(None),
        };
        settings.timeout = number("UNDERSTUDY_TIMEOUT")?.or(settings.timeout);
        settings.check_timeout = number("UNDERSTUDY_CHECK_TIMEOUT")?.or(settings.check_timeout);
        settings.check_memory = number("UNDERSTUDY_CHECK_MEMORY")?.or(settings.check_memory);
        if let Some(attempts) = number("UNDERSTUDY_MAX_ATTEMPTS")? {
            settings.max_attempts = Some(u32::try_from(attempts).unwrap_or(u32::MAX));
        }
        settings.max_tokens = number("UNDERSTUDY_MAX_TOKENS")?.or(settings.max_tokens);
        if let Some(dollars) = variable("UNDERSTUDY_BUDGET_USD") {
            let not_dollars = |_| SettingsError::Dollars { what: "UNDERSTUDY_BUDGET_USD" };
            settings.budget_usd = Some(dollars.trim().parse().map_err(not_dollars)?);
        }
        if let Some(policy) = variable("UNDERSTUDY_PLAN") {
            let unknown = |sentence| SettingsError::Word { name: "UNDERSTUDY_PLAN", sentence };
            settings.plan = Some(policy.trim().parse().map_err(unknown)?);
        }
        if let Some(globs) = std::env::var_os("UNDERSTUDY_ALLOW_FILES") {
            settings.allow_files = list(&globs.to_string_lossy());
        }
        settings.validated()
    }

    /// Takes what an editor sent, where neither a variable nor the user's file says something. Harmless keys only: a
    /// server cannot tell a user's value from one that a repository brought along.
    ///
    /// # Errors
    /// Names the key whose value is no number above zero.
    pub fn fill_in(&mut self, editor: &serde_json::Value) -> Result<(), SettingsError> {
        let number = |key: &'static str| match &editor[key] {
            serde_json::Value::Null => Ok(None),
            value => match value.as_u64() {
                Some(0) => Err(SettingsError::TooSmall { what: key, least: 1 }),
                Some(number) => Ok(Some(number)),
                None => Err(SettingsError::Number { name: key, value: task::printable(&value.to_string()) }),
            },
        };
        self.timeout = self.timeout.or(number("timeout")?);
        self.check_timeout = self.check_timeout.or(number("check_timeout")?);
        let attempts = number("max_attempts")?.map(|attempts| u32::try_from(attempts).unwrap_or(u32::MAX));
        self.max_attempts = self.max_attempts.or(attempts);
        few_enough(attempts)
    }

    fn validated(self) -> Result<Self, SettingsError> {
        for (what, value) in [
            ("timeout", self.timeout),
            ("check_timeout", self.check_timeout),
            ("check_memory", self.check_memory),
            ("max_attempts", self.max_attempts.map(u64::from)),
            ("max_tokens", self.max_tokens),
        ] {
            if value == Some(0) {
                return Err(SettingsError::TooSmall { what, least: 1 });
            }
        }
        few_enough(self.max_attempts)?;
        for (what, dollars) in [("budget_usd", self.budget_usd), ("escalation_usd", self.escalation_usd)] {
            if dollars.is_some_and(|dollars| microdollars(dollars).is_none()) {
                return Err(SettingsError::Dollars { what });
            }
        }
        Ok(self)
    }

    fn from_file() -> Result<Self, SettingsError> {
        let Some(folder) = config_folder() else { return Ok(Self::default()) };
        let path = folder.join("config.toml");
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(source) => return Err(SettingsError::File { path, source }),
        };
        toml::from_str(&text).map_err(|source: toml::de::Error| {
            let before = source.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            SettingsError::Toml { path, line, source: Box::new(source) }
        })
    }

    /// The state folder.
    ///
    /// # Errors
    /// Where nothing says where it could be.
    pub fn state_folder(&self) -> Result<PathBuf, SettingsError> {
        if let Some(folder) = &self.state_dir {
            return Ok(std::path::absolute(folder).unwrap_or_else(|_| folder.clone()));
        }
        Ok(xdg("XDG_STATE_HOME", ".local/state").ok_or(SettingsError::NoHome)?.join("understudy"))
    }

    /// The limits of a request, where flags say nothing else. Only a model costs tokens and dollars.
    pub fn limits(&self, engine: Engine) -> Limits {
        let default = Limits::default();
        let milliseconds = |seconds: u64| seconds.saturating_mul(1000);
        let mut limits = Limits {
            max_attempts: self.max_attempts.unwrap_or(default.max_attempts),
            timeout_ms: self.timeout.map_or(default.timeout_ms, milliseconds),
            check_timeout_ms: self.check_timeout.map_or(default.check_timeout_ms, milliseconds),
            check_memory_bytes: self.check_memory.map(|mib| mib.saturating_mul(1 << 20)),
            ..default
        };
        if engine == Engine::Model {
            limits.timeout_ms = self.timeout.map_or(MODEL_TIMEOUT_MS, milliseconds);
            limits.budget_microdollars = self.budget_usd.and_then(microdollars).or(Some(BUDGET_MICRODOLLARS));
            limits.escalation_microdollars = self.escalation_usd.and_then(microdollars);
            limits.max_tokens = self.max_tokens.or(Some(MAX_TOKENS));
        }
        limits
    }
}

/// More attempts are not what helps.
fn few_enough(attempts: Option<u32>) -> Result<(), SettingsError> {
    match attempts {
        Some(attempts) if attempts > Limits::MOST_ATTEMPTS => {
            Err(SettingsError::TooLarge { what: "max_attempts", most: Limits::MOST_ATTEMPTS.into() })
        }
        _ => Ok(()),
    }
}

/// Dollars in millionths; `None` for what is no amount of money.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was looked at")]
pub fn microdollars(dollars: f64) -> Option<u64> {
    (0.0..=1e9).contains(&dollars).then(|| (dollars * 1e6).round() as u64)
}

/// A variable that says something.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// The items of a list with commas between them.
fn list(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
}

/// Where the user's `config.toml` lies, where anything says so.
pub fn config_folder() -> Option<PathBuf> {
    xdg("XDG_CONFIG_HOME", ".config").map(|folder| folder.join("understudy"))
}

/// A base folder as the XDG specification finds it: relative values are ignored.
fn xdg(variable: &str, below_home: &str) -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute(variable).or_else(|| absolute("HOME").map(|home| home.join(below_home)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_readme_shows_as_settings_makes_models() {
        let readme = include_str!("../../../README.md");
        let blocks: Vec<&str> = readme.split("```toml\n").skip(1).filter_map(|it| it.split("```").next()).collect();
        assert!(blocks.len() > 1, "{blocks:?}");
        for block in blocks {
            let settings: Settings = toml::from_str(block).unwrap_or_else(|error| panic!("{error}\n{block}"));
            let section = settings.model.unwrap().with_keys(|_, _| Some("a-key".to_owned()));
            model::Panel::new(&section).unwrap_or_else(|error| panic!("{error}\n{block}"));
        }
    }

    #[test]
    fn a_misspelt_key_is_an_error_that_names_it() {
        let error = toml::from_str::<Settings>("time_out = 3").unwrap_err();
        assert!(error.message().contains("time_out"), "{error}");
    }

    #[test]
    fn an_editor_fills_in_what_nobody_else_says() {
        let mut settings = Settings { timeout: Some(90), ..Settings::default() };
        settings.fill_in(&serde_json::json!({ "timeout": 5, "check_timeout": 7, "state_dir": "/elsewhere" })).unwrap();
        assert_eq!((settings.timeout, settings.check_timeout, settings.state_dir), (Some(90), Some(7), None));
        let money = serde_json::json!({ "budget_usd": 1e6, "plan": "skip", "allow_commands": ["sh"], "model": {} });
        let mut settings = Settings::default();
        settings.fill_in(&money).unwrap();
        assert!(settings.budget_usd.is_none() && settings.plan.is_none(), "an editor's settings spend no money");
        assert!(settings.allow_commands.is_empty() && settings.model.is_none());
        for (attempts, words) in [(serde_json::json!("many"), "max_attempts"), (serde_json::json!(11), "10")] {
            let odd = Settings::default().fill_in(&serde_json::json!({ "max_attempts": attempts })).unwrap_err();
            assert!(odd.to_string().contains(words), "{odd}");
        }
    }

    #[test]
    fn a_list_has_commas_between_its_items() {
        assert_eq!(list(" .env.test, keys/*.pem ,"), [".env.test", "keys/*.pem"]);
        assert!(list("").is_empty());
    }

    #[test]
    fn seconds_become_limits() {
        let settings = Settings { timeout: Some(90), ..Settings::default() };
        assert_eq!(settings.limits(Engine::Compiler).timeout_ms, 90_000);
        assert_eq!(settings.limits(Engine::Model).timeout_ms, 90_000);
        assert!(Settings { check_memory: Some(0), ..Settings::default() }.validated().is_err());
    }

    #[test]
    fn only_a_model_has_a_budget_and_it_always_has_one() {
        let limits = Settings::default().limits(Engine::Model);
        assert_eq!((limits.budget_microdollars, limits.max_tokens), (Some(500_000), Some(1_000_000)));
        assert_eq!((limits.timeout_ms, limits.max_attempts), (600_000, 3));
        let settings = Settings { budget_usd: Some(0.1), max_tokens: Some(7), ..Settings::default() };
        let limits = settings.limits(Engine::Model);
        assert_eq!((limits.budget_microdollars, limits.max_tokens), (Some(100_000), Some(7)));
        assert_eq!(settings.limits(Engine::Patch).budget_microdollars, None);
    }

    #[test]
    fn what_is_no_amount_of_money_is_refused() {
        for dollars in [-0.01, f64::NAN, f64::INFINITY, 1e10] {
            assert_eq!(microdollars(dollars), None, "{dollars}");
            assert!(Settings { budget_usd: Some(dollars), ..Settings::default() }.validated().is_err());
        }
        assert_eq!(microdollars(0.07), Some(70_000));
        assert!(Settings { max_attempts: Some(11), ..Settings::default() }.validated().is_err());
    }
}
