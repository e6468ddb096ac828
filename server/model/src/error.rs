//! Why settings do not make a panel of models.

/// Each names the setting and says what to do.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error(
        "no model is configured: write `use = \"anthropic\"`, or another provider, into the section [model] of the settings"
    )]
    NoModel,
    #[error("there is no model `{name}`: write `provider/id`, or describe it as [model.models.{name}]")]
    NoSuchModel { name: String },
    #[error("there is no provider `{provider}`: describe it as [model.providers.{provider}] with its base_url")]
    NoAddress { provider: String },
    #[error("the provider `{provider}` alone does not say which model: write `{provider}/id`")]
    NoDefault { provider: String },
    #[error("the base_url of the provider `{provider}` cannot be used: {why}")]
    Address { provider: String, why: &'static str },
    #[error(
        "there is no key for the provider `{provider}`: set {key_env} in the environment or put it into the keyring"
    )]
    NoKey { provider: String, key_env: String },
    #[error("the provider `{provider}` needs a key: name it with key_env below [model.providers.{provider}]")]
    NoKeyName { provider: String },
    #[error("the key of the provider `{provider}` has characters that no key has; copy it anew")]
    OddKey { provider: String },
    #[error("the model `{model}` cannot be used: {why}")]
    Model { model: String, why: &'static str },
    #[error("the program that speaks HTTP cannot be set up: {0}")]
    Client(String),
}
