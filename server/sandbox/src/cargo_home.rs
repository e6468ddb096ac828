//! What a jail sees of cargo's home: index, archives and git databases read-only; unpacked sources private; of the
//! configuration the sources and registries, without secrets. `credentials.toml` and everything else stays outside.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use crate::policy::Mount;

/// The user's cargo home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CargoHome {
    /// Its folder; need not exist.
    pub host: PathBuf,
    /// Variables that choose registries, of the user's environment.
    pub variables: Vec<(OsString, OsString)>,
}

/// A jail's own cargo home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CargoView {
    /// What to mount.
    pub mounts: Vec<Mount>,
    /// What to set.
    pub env: Vec<(OsString, OsString)>,
    /// The configuration that takes the place of the user's: part of what a result depends on.
    pub config: String,
    /// What was left out of it, one sentence each.
    pub left_out: Vec<String>,
}

/// Why the private part of a cargo home could not be made.
#[derive(Debug, thiserror::Error)]
#[error("{path} in a private cargo home could not be made: check the permissions above it and the free space")]
pub struct CargoHomeError {
    /// The folder or file.
    pub path: PathBuf,
    /// The cause.
    #[source]
    pub source: io::Error,
}

/// What cargo itself only reads, as long as it is offline.
const SHARED: [&str; 3] = ["registry/index", "registry/cache", "git/db"];
/// What cargo unpacks: written by whatever runs in the jail, so never the user's.
const PRIVATE: [&str; 2] = ["registry/src", "git/checkouts"];
/// By which cargo keeps two of its kind from unpacking at the same time: shared by the jails of one home.
const LOCKS: [&str; 2] = [".package-cache", ".package-cache-mutate"];
/// Room for the database of uses.
const SCRATCH_BYTES: u64 = 64 << 20;

impl CargoHome {
    /// As cargo itself would find it: `CARGO_HOME`, else `.cargo` in `HOME`.
    pub fn from_env() -> CargoHome {
        let host = env::var_os("CARGO_HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
        let home = || PathBuf::from(env::var_os("HOME").unwrap_or_else(|| "/".into()));
        let variables = env::vars_os().filter(|(name, value)| {
            name.to_str().is_some_and(chooses_a_registry) && !has_user(&value.to_string_lossy())
        });
        CargoHome { host: host.unwrap_or_else(|| home().join(".cargo")), variables: variables.collect() }
    }

    /// Gives a jail a cargo home at `private`, a folder of ours on the host (canonical), whose `registry/src` and
    /// `git/checkouts` it fills. The path inside is the same, so that paths of sources mean the same on both sides.
    pub fn provision(&self, private: &Path) -> Result<CargoView, CargoHomeError> {
        let mut mounts = vec![Mount::Scratch { inside: private.into(), bytes: SCRATCH_BYTES }];
        for folder in SHARED {
            if let Ok(host) = self.host.join(folder).canonicalize() {
                mounts.push(Mount::ReadOnly { host, inside: private.join(folder) });
            }
        }
        for folder in PRIVATE {
            let path = private.join(folder);
            fs::create_dir_all(&path).map_err(|source| CargoHomeError { path: path.clone(), source })?;
            mounts.push(Mount::writable(path));
        }
        for file in LOCKS {
            let path = private.join(file);
            let made = fs::OpenOptions::new().create(true).append(true).open(&path);
            made.map_err(|source| CargoHomeError { path: path.clone(), source })?;
            mounts.push(Mount::writable(path));
        }
        let mut filtered = filter(&self.read_config());
        let parent = self.host.parent().unwrap_or(Path::new("/"));
        for folder in filtered.folders.iter().map(|folder| parent.join(folder)) {
            match folder.canonicalize() {
                Ok(host) if !host.starts_with("/usr") => mounts.push(Mount::ReadOnly { host, inside: folder }),
                Ok(_) => {}
                Err(_) => filtered.left_out.push(format!("the source folder {} is missing", folder.display())),
            }
        }
        mounts.push(Mount::File { inside: private.join("config.toml"), data: filtered.text.as_bytes().into() });
        // Where it lies in a folder that every jail shows, its credentials would show too.
        if let Ok(host) = self.host.canonicalize() {
            mounts.push(Mount::Hidden { inside: host });
        }
        let mut env: Vec<(OsString, OsString)> = self.variables.clone();
        env.push(("CARGO_HOME".into(), private.into()));
        env.push(("CARGO_NET_OFFLINE".into(), "true".into()));
        Ok(CargoView { mounts, env, config: filtered.text, left_out: filtered.left_out })
    }

    /// The text of the user's configuration; cargo prefers the name without an ending where both exist.
    fn read_config(&self) -> String {
        let read = |name: &str| fs::read_to_string(self.host.join(name)).ok();
        read("config").or_else(|| read("config.toml")).unwrap_or_default()
    }
}

struct Filtered {
    text: String,
    left_out: Vec<String>,
    /// Folders that sources name, as written.
    folders: Vec<PathBuf>,
}

/// Keys of the tables `source.NAME` and `registries.NAME` that pass. A list of what may pass, because a new kind of
/// secret would not be on a list of what may not.
const SOURCE_KEYS: [&str; 8] =
    ["replace-with", "registry", "local-registry", "directory", "git", "branch", "tag", "rev"];
const REGISTRY_KEYS: [&str; 2] = ["index", "protocol"];

fn filter(config: &str) -> Filtered {
    let mut filtered = Filtered { text: String::new(), left_out: Vec::new(), folders: Vec::new() };
    let table: toml::Table = match config.parse() {
        Ok(table) => table,
        Err(_) => {
            filtered.left_out.push("the user's cargo configuration is malformed and was left out".into());
            return filtered;
        }
    };
    let mut kept = toml::Table::new();
    for (section, keys) in [("source", &SOURCE_KEYS[..]), ("registries", &REGISTRY_KEYS[..])] {
        let Some(entries) = table.get(section).and_then(toml::Value::as_table) else { continue };
        let mut kept_entries = toml::Table::new();
        for (name, entry) in entries {
            let Some(entry) = entry.as_table() else { continue };
            let mut kept_entry = toml::Table::new();
            for (key, value) in entry.iter().filter(|(key, _)| keys.contains(&key.as_str())) {
                let text = value.as_str().unwrap_or_default();
                if has_user(text) {
                    filtered.left_out.push(format!("{section}.{name}.{key} contains a user name or password"));
                    continue;
                }
                let mut value = value.clone();
                if matches!(key.as_str(), "directory" | "local-registry") {
                    filtered.folders.push(text.into());
                    value = toml::Value::String(text.to_owned());
                }
                kept_entry.insert(key.clone(), value);
            }
            if !kept_entry.is_empty() {
                kept_entries.insert(name.clone(), toml::Value::Table(kept_entry));
            }
        }
        if !kept_entries.is_empty() {
            kept.insert(section.to_owned(), toml::Value::Table(kept_entries));
        }
    }
    if let Some(default) = table.get("registry").and_then(|registry| registry.get("default")) {
        let registry = toml::Table::from_iter([("default".to_owned(), default.clone())]);
        kept.insert("registry".to_owned(), toml::Value::Table(registry));
    }
    filtered.text = toml::to_string(&kept).unwrap_or_default();
    filtered
}

/// Whether an address carries a user name or password before its host.
fn has_user(address: &str) -> bool {
    address
        .split_once("://")
        .is_some_and(|(_, rest)| rest.split(['/', '?', '#']).next().is_some_and(|host| host.contains('@')))
}

fn chooses_a_registry(variable: &str) -> bool {
    variable == "CARGO_REGISTRY_DEFAULT"
        || variable.starts_with("CARGO_REGISTRIES_")
            && (variable.ends_with("_INDEX") || variable.ends_with("_PROTOCOL"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = r#"
[source.crates-io]
replace-with = "mirror"
[source.mirror]
registry = "sparse+https://mirror.invalid/index/"
[source.leaky]
registry = "sparse+https://me:hunter2@mirror.invalid/"
[source.vendored]
directory = "vendor"
[registries.company]
index = "sparse+https://company.invalid/"
token = "SECRET"
credential-provider = ["/bin/evil"]
[registry]
default = "company"
token = "SECRET"
[build]
rustc-wrapper = "/bin/evil"
[env]
KEY = "SECRET"
[http]
proxy = "https://me:SECRET@proxy.invalid"
"#;

    #[test]
    fn only_sources_and_registries_pass_and_without_secrets() {
        let filtered = filter(CONFIG);
        for kept in ["mirror.invalid/index", "replace-with", "company.invalid", "default = \"company\""] {
            assert!(filtered.text.contains(kept), "{kept} in {}", filtered.text);
        }
        for dropped in ["SECRET", "hunter2", "evil", "token", "proxy", "KEY", "leaky"] {
            assert!(!filtered.text.contains(dropped), "{dropped} in {}", filtered.text);
        }
        assert_eq!(filtered.left_out, ["source.leaky.registry contains a user name or password"]);
        assert_eq!(filtered.folders, [PathBuf::from("vendor")]);
    }

    #[test]
    fn a_malformed_configuration_is_left_out_and_told() {
        let filtered = filter("[source\ntoken = \"SECRET\"");
        assert_eq!((filtered.text.as_str(), filtered.left_out.len()), ("", 1));
    }

    #[test]
    fn variables_with_secrets_do_not_pass() {
        assert!(chooses_a_registry("CARGO_REGISTRIES_COMPANY_INDEX"));
        assert!(!chooses_a_registry("CARGO_REGISTRIES_COMPANY_TOKEN"));
        assert!(!chooses_a_registry("CARGO_REGISTRY_TOKEN"));
        assert!(has_user("https://me@host/") && has_user("sparse+https://a:b@host"));
        assert!(!has_user("https://host/@scope") && !has_user("git@host:path"));
    }

    #[test]
    fn credentials_are_not_among_the_mounts() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let home = CargoHome { host: root.join("cargo"), variables: Vec::new() };
        fs::create_dir_all(home.host.join("registry/index")).unwrap();
        fs::write(home.host.join("credentials.toml"), "SECRET").unwrap();
        let view = home.provision(&root.join("slot")).unwrap();
        for mount in &view.mounts {
            if let Mount::ReadOnly { host, .. } | Mount::Writable { host, .. } = mount {
                assert!(!home.host.join("credentials.toml").starts_with(host), "{host:?}");
            }
        }
        assert!(view.mounts.contains(&Mount::ReadOnly {
            host: home.host.join("registry/index"),
            inside: root.join("slot/registry/index")
        }));
        assert!(root.join("slot/registry/src").is_dir());
    }
}
