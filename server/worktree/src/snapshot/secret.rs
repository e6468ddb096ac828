//! Files that look like secrets: they enter no tree unless the developer allows their path.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use task::TreePath;

use crate::Error;

/// Paths that may enter although they look like secrets.
#[derive(Debug)]
pub(crate) struct Allowed(GlobSet);

impl Allowed {
    pub(crate) fn new(globs: &[String]) -> Result<Self, Error> {
        let mut set = GlobSetBuilder::new();
        for glob in globs {
            let refuse = |source| Error::Glob { glob: task::printable(glob), source };
            set.add(GlobBuilder::new(glob.trim_start_matches("./")).literal_separator(true).build().map_err(refuse)?);
        }
        let refuse = |source| Error::Glob { glob: globs.join(" "), source };
        Ok(Self(set.build().map_err(refuse)?))
    }

    pub(crate) fn admits(&self, path: &TreePath) -> bool {
        use std::os::unix::ffi::OsStrExt as _;
        self.0.is_match(std::path::Path::new(std::ffi::OsStr::from_bytes(path.as_bytes())))
    }
}

/// What a name alone says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Suspicion {
    None,
    /// Look at the bytes: [`has_secret`].
    Content,
    Secret,
}

/// Folders of which everything is a secret.
const FOLDERS: &[&str] = &[".aws", ".kube", ".ssh", ".gnupg"];
/// Names, and ends of paths of more than one part.
const NAMES: &[&str] = &[
    ".env",
    ".envrc",
    ".flaskenv",
    ".dev.vars",
    ".secrets",
    ".secret",
    "credentials",
    "local.settings.json",
    ".pypirc",
    ".netrc",
    "_netrc",
    ".git-credentials",
    ".htpasswd",
    ".pgpass",
    ".my.cnf",
    ".s3cfg",
    ".boto",
    ".vault-token",
    ".dockercfg",
    "kubeconfig",
    "terraform.tfvars",
    "secring.gpg",
    "wallet.dat",
    "application_default_credentials.json",
    ".docker/config.json",
    ".streamlit/secrets.toml",
    "gh/hosts.yml",
    "gcloud/credentials.db",
    "gcloud/access_tokens.db",
    ".config/hub",
];
const BEGINS: &[&str] = &[".env.", ".cargo/credentials"];
const ENDS: &[&str] =
    &[".tfstate", ".tfstate.backup", ".tfvars", ".tfvars.json", ".p12", ".pfx", ".jks", ".keystore", ".ppk"];
/// Files that show what a secret file should look like.
const EXAMPLES: &[&str] = &[".example", ".sample", ".template", ".dist", ".defaults", ".schema"];
/// What a copy of a file has behind its name.
const COPIES: &[&str] = &["~", ".bak", ".backup", ".old", ".orig", ".save"];

/// Files whose bytes decide, by their name or its end, and how they decide.
const LOOKED_INTO: &[(&str, Look)] = &[
    ("secrets.yml", Look::Values),
    ("secrets.yaml", Look::Values),
    ("secrets.json", Look::Values),
    ("secrets.toml", Look::Values),
    ("credentials.yml", Look::Values),
    ("credentials.yaml", Look::Values),
    ("credentials.json", Look::Values),
    ("credentials.toml", Look::Values),
    ("credentials.ini", Look::Values),
    ("auth.json", Look::Values),
    (".npmrc", Look::Registry),
    (".yarnrc.yml", Look::Registry),
    ("env", Look::Variables),
    (".env", Look::Variables),
    (".pem", Look::Key),
    (".key", Look::Key),
    (".p8", Look::Key),
    (".asc", Look::Armour),
    ("_key", Look::Armour),
    (".pem.txt", Look::Armour),
    (".json", Look::Account),
];

/// What makes bytes a secret.
#[derive(Clone, Copy)]
enum Look {
    /// A private key, or no text at all. Certificates are none.
    Key,
    /// A private key as text.
    Armour,
    /// A service account.
    Account,
    /// A token of a registry of packages.
    Registry,
    /// `NAME=value`, line after line.
    Variables,
    /// A value that is written down, rather than read from somewhere else.
    Values,
}

/// Bytes beyond which a file is not looked into: secrets are small.
const LOOKED_AT: usize = 1 << 20;

/// What the name of a file says about it, whatever its case.
pub(crate) fn suspicion(path: &TreePath) -> Suspicion {
    let whole = plain(path);
    if EXAMPLES.iter().any(|end| whole.ends_with(end)) {
        return Suspicion::None;
    }
    let (folders, name) = whole.rsplit_once('/').unwrap_or(("", &whole));
    let last_two = folders.rsplit('/').next().map(|parent| format!("{parent}/{name}")).unwrap_or_default();
    let is = |test: &dyn Fn(&str) -> bool| test(name) || test(&last_two);
    let secret = folders.split('/').any(|part| FOLDERS.contains(&part))
        || is(&|it| NAMES.contains(&it))
        || is(&|it| BEGINS.iter().any(|begin| it.starts_with(begin)))
        || is_ssh_key(name)
        || ENDS.iter().any(|end| name.ends_with(end));
    if secret {
        Suspicion::Secret
    } else if look(&whole).is_some() {
        Suspicion::Content
    } else {
        Suspicion::None
    }
}

/// The path in small letters, and a copy under the name of what it is a copy of.
fn plain(path: &TreePath) -> String {
    let lower = String::from_utf8_lossy(path.as_bytes()).to_lowercase();
    let mut rest = lower.as_str();
    while let Some(shorter) = COPIES.iter().find_map(|end| rest.strip_suffix(end)).filter(|it| !it.is_empty()) {
        rest = shorter;
    }
    rest.to_owned()
}

fn look(path: &str) -> Option<Look> {
    let name = path.rsplit('/').next()?;
    if name.starts_with(".env") {
        return Some(Look::Variables);
    }
    let ends = |end: &str| end.starts_with(['.', '_']) && name.ends_with(end);
    LOOKED_INTO.iter().find(|(end, _)| name == *end || ends(end)).map(|(_, look)| *look)
}

/// `id_rsa`, `id_ed25519_work`, but neither `id_rsa.pub` nor `id_map.rs`.
fn is_ssh_key(name: &str) -> bool {
    name.starts_with("id_") && !name.contains('.')
}

/// Whether the bytes of a file of suspicious name are a secret.
pub(crate) fn has_secret(path: &TreePath, bytes: &[u8]) -> bool {
    let Some(look) = look(&plain(path)) else { return false };
    let head = &bytes[..bytes.len().min(LOOKED_AT)];
    let has = |needle: &[u8]| contains(head, needle);
    match look {
        Look::Key => has(b"PRIVATE KEY") || !has(b"-----BEGIN "),
        Look::Armour => has(b"PRIVATE KEY"),
        Look::Account => has(b"\"service_account\"") && has(b"\"private_key\""),
        Look::Registry => {
            [&b"_auth"[..], b"_password", b"authtoken", b"AuthToken", b"AuthIdent"].iter().any(|needle| has(needle))
        }
        Look::Variables => !head.starts_with(b"#!") && lines(head).any(|line| is_variable(&line)),
        Look::Values => lines(head).any(|line| gives_a_value(&line)),
    }
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = std::borrow::Cow<'_, str>> {
    bytes.split(|&byte| byte == b'\n').map(String::from_utf8_lossy)
}

/// `NAME=value`, `export NAME=value`.
fn is_variable(line: &str) -> bool {
    let line = line.trim_start();
    let line = line.strip_prefix("export ").unwrap_or(line);
    let name = line.split_once('=').map_or("", |(name, _)| name.trim_end());
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'))
}

/// How a value begins that is read from somewhere else.
const REFERENCES: &[char] = &['$', '<', '%', '!', '*', '&', '('];
/// Words in the names of secrets.
const SECRET_WORDS: &[&str] = &["token", "secret", "passw", "private", "key", "credential", "auth"];

/// Whether a line of YAML, TOML, JSON or INI writes a value down that is one word with a digit, or one under the name of a
/// secret. What only repeats its name is a label.
fn gives_a_value(line: &str) -> bool {
    line.split(['{', '}', ',']).filter_map(|pair| pair.split_once(['=', ':'])).any(|(name, value)| {
        let clean =
            |text: &str| text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '-')).to_owned();
        let (name, value) = (clean(name).to_lowercase(), clean(value));
        let one_word = value.len() >= 8 && !value.contains(char::is_whitespace) && !value.starts_with(REFERENCES);
        let mixed = value.contains(|c: char| c.is_ascii_digit()) && value.contains(char::is_alphabetic);
        let named = SECRET_WORDS.iter().any(|word| name.contains(word)) && !name.contains(&value.to_lowercase());
        one_word && (mixed || named)
    })
}

fn contains(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_name_and_their_examples_are_not() {
        for (path, expected) in [
            (".env", Suspicion::Secret),
            ("a/.env.production", Suspicion::Secret),
            (".env.example", Suspicion::None),
            (".AWS/config", Suspicion::Secret),
            (".docker/config.json", Suspicion::Secret),
            (".cargo/credentials.toml", Suspicion::Secret),
            (".cargo/config.toml", Suspicion::None),
            ("keys/id_ed25519", Suspicion::Secret),
            ("keys/id_ed25519.pub", Suspicion::None),
            ("src/id_map.rs", Suspicion::None),
            ("prod.tfvars", Suspicion::Secret),
            ("cert.pem", Suspicion::Content),
            ("prod.env", Suspicion::Content),
            ("bin/env", Suspicion::Content),
            (".flaskenv", Suspicion::Secret),
            (".dev.vars", Suspicion::Secret),
            ("config/Secrets.yml", Suspicion::Content),
            (".streamlit/secrets.toml", Suspicion::Secret),
            ("credentials", Suspicion::Secret),
            ("aws/credentials", Suspicion::Secret),
            ("credentials.json", Suspicion::Content),
            ("kubeconfig", Suspicion::Secret),
            (".config/gh/hosts.yml", Suspicion::Secret),
            ("terraform.tfvars.bak", Suspicion::Secret),
            (".env~", Suspicion::Secret),
            ("id_rsa.old", Suspicion::Secret),
            ("deploy_key", Suspicion::Content),
            // Code, encrypted files and templates.
            ("src/credentials.rs", Suspicion::None),
            ("app/secrets.py", Suspicion::None),
            ("credentials/mod.rs", Suspicion::None),
            ("config/secrets.yml.enc", Suspicion::None),
            ("prod.env.example", Suspicion::None),
            ("secrets.yml.dist", Suspicion::None),
            ("env.rs", Suspicion::None),
            ("hosts.yml", Suspicion::None),
            ("src/lib.rs", Suspicion::None),
        ] {
            assert_eq!(suspicion(&path.parse().unwrap()), expected, "{path}");
        }
    }

    #[test]
    fn a_certificate_is_no_secret_and_a_private_key_is() {
        let path = "x.pem".parse().unwrap();
        assert!(!has_secret(&path, b"-----BEGIN CERTIFICATE-----\n"));
        assert!(has_secret(&path, b"-----BEGIN EC PRIVATE KEY-----\n"));
        assert!(has_secret(&path, b"\x00\x01"));
        let json = "account.json".parse().unwrap();
        assert!(has_secret(&json, br#"{"type": "service_account", "private_key": "x"}"#));
        assert!(!has_secret(&json, b"{}"));
    }

    #[test]
    fn what_holds_no_value_is_no_secret() {
        for (path, text, expected) in [
            ("prod.env", "# x\nexport TOKEN=abc\n", true),
            ("bin/env", "#!/bin/sh\nA=1\n", false),
            ("env", "This is about the environment.\n", false),
            ("secrets.yml", "development:\n  secret_key_base: <%= ENV[\"KEY_BASE_1\"] %>\n", false),
            ("secrets.yml", "development:\n  secret_key_base: \"0a1b2c3d4e5f\"\n", true),
            ("secrets.yaml", "apiVersion: v1\ndata:\n  password: {{ .Values.password | b64enc }}\n", false),
            ("secrets.toml", "stripe = 'abc_live_12345'\n", true),
            ("auth.json", r#"{"token": "tok0025secret"}"#, true),
            (
                "auth.json",
                r#"{"http-basic": {"repo.example.org": {"username": "me", "password": "correct-horse"}}}"#,
                true,
            ),
            (
                "lang/en/auth.json",
                r#"{"password": "Password", "failed": "These credentials do not match our records."}"#,
                false,
            ),
            ("credentials.json.bak", r#"{"refresh_token": "1//0abcdefgh"}"#, true),
            ("deploy_key", "-----BEGIN OPENSSH PRIVATE KEY-----\n", true),
            ("sort_key", "the order of things", false),
            ("signing.asc", "-----BEGIN PGP PUBLIC KEY BLOCK-----\n", false),
            ("signing.asc", "-----BEGIN PGP PRIVATE KEY BLOCK-----\n", true),
        ] {
            let path = path.parse().unwrap();
            assert_eq!(suspicion(&path), Suspicion::Content, "{path}");
            assert_eq!(has_secret(&path, text.as_bytes()), expected, "{path}: {text}");
        }
    }
}
