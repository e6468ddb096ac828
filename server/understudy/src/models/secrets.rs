//! What is secret in the environment, by the names of its variables: such values never reach a model.

use std::ffi::OsString;

/// Endings of words in the names of variables whose values are secret.
const WORDS: [&str; 9] = ["KEY", "KEYS", "TOKEN", "TOKENS", "SECRET", "SECRETS", "PASSWORD", "PASSWD", "PASSPHRASE"];

/// The values that look secret. One that is not UTF-8 is in no text either.
pub fn of_environment(variables: impl Iterator<Item = (OsString, OsString)>) -> Vec<String> {
    let text = variables.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let secret = text.filter(|(name, value)| is_secret(name) && !value.trim().is_empty());
    secret.map(|(_, value)| value.trim().to_owned()).collect()
}

/// `STRIPE_API_KEY`, `GH_TOKEN`, `PGPASSWORD`; not `XKB_KEYMAP`, nor what only says where a key lies.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let place = ["PATH", "FILE", "DIR", "SOCK"].iter().any(|place| name.ends_with(place));
    !place && words.any(|word| WORDS.iter().any(|secret| word.ends_with(secret)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_secret_by_its_name() {
        for name in ["STRIPE_API_KEY", "GH_TOKEN", "PGPASSWORD", "client_secret", "SECRET_KEY_BASE", "MY_APIKEY"] {
            assert!(is_secret(name), "{name}");
        }
        for name in ["XKB_KEYMAP", "KEYBOARD", "PATH", "TOKENIZERS_PARALLELISM", "SSH_KEY_PATH", "MONKEY_ISLAND_DIR"] {
            assert!(!is_secret(name), "{name}");
        }
        let variables = [("A_TOKEN", " s3cr3t-value\n"), ("B_TOKEN", ""), ("EDITOR", "vi")];
        let variables = variables.map(|(name, value)| (name.into(), value.into()));
        assert_eq!(of_environment(variables.into_iter()), ["s3cr3t-value"]);
    }
}
