//! Files that cargo runs while it builds, whatever they are called: build scripts and the sources of procedural macros.

use std::collections::BTreeSet;

use task::TreePath;
use toml::{Table, Value};

use crate::files::Files;
use crate::folder::{Folder, resolve, within};

/// What runs at build time in one tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Acting {
    scripts: BTreeSet<TreePath>,
    /// Folders of packages that are procedural macros.
    macros: BTreeSet<Folder>,
}

impl Acting {
    /// Reads the manifests of a tree. `build.rs` is known by its name and not looked for here.
    pub fn of(files: &dyn Files) -> Self {
        let mut acting = Self::default();
        for path in files.list().into_iter().filter(|path| path.file_name() == b"Cargo.toml") {
            let text = files.read(&path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
            let Ok(table) = text.trim_start_matches('\u{feff}').parse::<Table>() else { continue };
            let folder = path.parent();
            let script = table.get("package").and_then(|package| package.get("build")).and_then(Value::as_str);
            acting.scripts.extend(script.and_then(|script| resolve(&folder, script).ok().flatten()));
            let library = table.get("lib").and_then(Value::as_table);
            let is_macro = |key: &str| library.and_then(|lib| lib.get(key)).and_then(Value::as_bool) == Some(true);
            if is_macro("proc-macro") || is_macro("proc_macro") {
                acting.macros.insert(folder);
            }
        }
        acting
    }

    /// Whether cargo runs this file, or code made of it, while it builds.
    pub fn contains(&self, path: &TreePath) -> bool {
        let is_source = path.file_name().ends_with(b".rs");
        let place = path.parent();
        self.scripts.contains(path) || (is_source && self.macros.iter().any(|folder| within(&place, folder)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::FileMap;

    #[test]
    fn scripts_of_any_name_and_sources_of_macros_run_at_build_time() {
        let files = [
            ("Cargo.toml", "[package]\nname='a'\nbuild='gen/make.rs'"),
            ("derive/Cargo.toml", "[package]\nname='d'\n[lib]\nproc-macro=true"),
        ];
        let files = FileMap(files.map(|(path, text)| (path.parse().unwrap(), text.as_bytes().to_vec())).into());
        let acting = Acting::of(&files);
        for (path, runs) in
            [("gen/make.rs", true), ("derive/src/lib.rs", true), ("src/lib.rs", false), ("derive/README.md", false)]
        {
            assert_eq!(acting.contains(&path.parse().unwrap()), runs, "{path}");
        }
    }
}
