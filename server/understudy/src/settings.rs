//! Settings, declared once: flag over `UNDERSTUDY_*` variable over the user's `config.toml` over default.

use std::path::PathBuf;

use serde::Deserialize;

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
}

/// Settings that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("the settings in {} cannot be read: {source}", .path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error("the settings in {} are not understood: {}", .path.display(), .source.message())]
    Toml { path: PathBuf, source: Box<toml::de::Error> },
    #[error("{name} is `{value}`, which is not a number")]
    Number { name: &'static str, value: String },
    #[error("{what} must be at least {least}")]
    TooSmall { what: &'static str, least: u64 },
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
        Ok(())
    }

    fn validated(self) -> Result<Self, SettingsError> {
        for (what, value) in [
            ("timeout", self.timeout),
            ("check_timeout", self.check_timeout),
            ("check_memory", self.check_memory),
            ("max_attempts", self.max_attempts.map(u64::from)),
        ] {
            if value == Some(0) {
                return Err(SettingsError::TooSmall { what, least: 1 });
            }
        }
        Ok(self)
    }

    fn from_file() -> Result<Self, SettingsError> {
        let Some(folder) = xdg("XDG_CONFIG_HOME", ".config") else { return Ok(Self::default()) };
        let path = folder.join("understudy/config.toml");
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(source) => return Err(SettingsError::File { path, source }),
        };
        toml::from_str(&text).map_err(|source| SettingsError::Toml { path, source: Box::new(source) })
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

    /// The limits of a request, where flags say nothing else.
    pub fn limits(&self) -> task::Limits {
        let default = task::Limits::default();
        task::Limits {
            max_attempts: self.max_attempts.unwrap_or(default.max_attempts),
            timeout_ms: self.timeout.map_or(default.timeout_ms, |seconds| seconds.saturating_mul(1000)),
            check_timeout_ms: self
                .check_timeout
                .map_or(default.check_timeout_ms, |seconds| seconds.saturating_mul(1000)),
            check_memory_bytes: self.check_memory.map(|mib| mib.saturating_mul(1 << 20)),
            ..default
        }
    }
}

/// The items of a list with commas between them.
fn list(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
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
    fn a_misspelt_key_is_an_error_that_names_it() {
        let error = toml::from_str::<Settings>("time_out = 3").unwrap_err();
        assert!(error.message().contains("time_out"), "{error}");
    }

    #[test]
    fn an_editor_fills_in_what_nobody_else_says() {
        let mut settings = Settings { timeout: Some(90), ..Settings::default() };
        settings.fill_in(&serde_json::json!({ "timeout": 5, "check_timeout": 7, "state_dir": "/elsewhere" })).unwrap();
        assert_eq!((settings.timeout, settings.check_timeout, settings.state_dir), (Some(90), Some(7), None));
        let odd = Settings::default().fill_in(&serde_json::json!({ "max_attempts": "many" })).unwrap_err();
        assert!(odd.to_string().contains("max_attempts"), "{odd}");
    }

    #[test]
    fn a_list_has_commas_between_its_items() {
        assert_eq!(list(" .env.test, keys/*.pem ,"), [".env.test", "keys/*.pem"]);
        assert!(list("").is_empty());
    }

    #[test]
    fn seconds_become_limits() {
        let settings = Settings { timeout: Some(90), ..Settings::default() };
        assert_eq!(settings.limits().timeout_ms, 90_000);
        assert!(Settings { check_memory: Some(0), ..Settings::default() }.validated().is_err());
    }
}
