//! What a `package.json` says, as far as checks depend on it.

use std::collections::BTreeMap;

use serde_json::Value;

/// A parsed manifest. What cannot be understood is as if it were not there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub name: Option<String>,
    pub scripts: BTreeMap<String, String>,
    /// Everything that has to be installed for it, by name, with the wanted version.
    pub dependencies: BTreeMap<String, String>,
    /// The names among them that it cannot do without.
    pub required: Vec<String>,
}

impl Manifest {
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        let value: Value = serde_json::from_slice(bytes).ok().filter(Value::is_object)?;
        let table = |key: &str| {
            let entries = value.get(key).and_then(Value::as_object).into_iter().flatten();
            entries.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
        };
        let kinds = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];
        Some(Self {
            name: value.get("name").and_then(Value::as_str).map(str::to_owned),
            scripts: table("scripts").collect(),
            dependencies: kinds.iter().flat_map(|kind| table(kind)).collect(),
            required: kinds[..2].iter().flat_map(|kind| table(kind)).map(|(name, _)| name).collect(),
        })
    }

    /// The script of `npm test`, unless it is the one that `npm init` writes.
    pub(crate) fn test(&self) -> Option<&str> {
        self.scripts.get("test").map(String::as_str).filter(|script| !script.contains("no test specified"))
    }
}
