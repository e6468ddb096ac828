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

const FOLDERS: &[&[u8]] = &[b".aws", b".kube", b".ssh", b".gnupg"];
const NAMES: &[&str] = &[".pypirc", ".netrc", "_netrc", ".git-credentials", ".htpasswd", ".pgpass", "terraform.tfvars"];
const ENDS: &[&str] =
    &[".tfstate", ".tfstate.backup", ".tfvars", ".tfvars.json", ".p12", ".pfx", ".jks", ".keystore", ".ppk"];
/// Files that show what a secret file should look like.
const EXAMPLES: &[&str] = &[".example", ".sample", ".template", ".dist", ".defaults", ".schema"];
/// Bytes beyond which a file is not looked into: secrets are small.
const LOOKED_AT: usize = 1 << 20;

/// What the name of a file says about it, whatever its case.
pub(crate) fn suspicion(path: &TreePath) -> Suspicion {
    let mut parts: Vec<Vec<u8>> = path.components().map(<[u8]>::to_ascii_lowercase).collect();
    let Some(name) = parts.pop() else { return Suspicion::None };
    let text = String::from_utf8_lossy(&name);
    if EXAMPLES.iter().any(|end| text.ends_with(end)) {
        return Suspicion::None;
    }
    let parent = parts.last().map(Vec::as_slice);
    let secret = parts.iter().any(|part| FOLDERS.contains(&part.as_slice()))
        || (parent == Some(b".docker") && text == "config.json")
        || (parent == Some(b".cargo") && text.starts_with("credentials"))
        || text == ".env"
        || text.starts_with(".env.")
        || text == ".envrc"
        || is_ssh_key(&text)
        || NAMES.contains(&&*text)
        || ENDS.iter().any(|end| text.ends_with(end));
    if secret {
        return Suspicion::Secret;
    }
    let look = text.starts_with(".env") || text == ".npmrc" || text == ".yarnrc.yml";
    if look || [".pem", ".key", ".json"].iter().any(|end| text.ends_with(end)) {
        Suspicion::Content
    } else {
        Suspicion::None
    }
}

/// `id_rsa`, `id_ed25519_work`, but neither `id_rsa.pub` nor `id_map.rs`.
fn is_ssh_key(name: &str) -> bool {
    name.starts_with("id_") && !name.contains('.')
}

/// Whether the bytes of a file of suspicious name are a secret. Certificates are not, private keys are; what ends in
/// `.key` and is no text is taken for one.
pub(crate) fn has_secret(path: &TreePath, bytes: &[u8]) -> bool {
    let name = String::from_utf8_lossy(path.file_name()).to_ascii_lowercase();
    let head = &bytes[..bytes.len().min(LOOKED_AT)];
    let has = |needle: &[u8]| contains(head, needle);
    if name.ends_with(".json") {
        return has(b"\"service_account\"") && has(b"\"private_key\"");
    }
    if name == ".npmrc" || name == ".yarnrc.yml" {
        return [&b"_auth"[..], b"_password", b"authtoken", b"AuthToken", b"AuthIdent"]
            .iter()
            .any(|needle| has(needle));
    }
    if name.ends_with(".pem") || name.ends_with(".key") {
        return has(b"PRIVATE KEY") || !has(b"-----BEGIN ");
    }
    has(b"=")
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
}
