//! Which files of the tree a build read, by what the compiler itself recorded.
//!
//! The records lie in the build folder, which hostile code has written to: they are read inside the jail, by a shell
//! that follows whatever it likes there, never by us.

use std::collections::BTreeSet;
use std::path::Path;

use sandbox::{Keep, Output, Stdin};
use task::TreePath;

use crate::cargo_build::Built;
use crate::commands::{Commands, Ending, tree_path};
use crate::folder::{Folder, file_in, upwards};
use crate::order::Order;

/// Prints the record of each file named on standard input. A program is a link to the file that the compiler wrote,
/// whose record lies beside that one.
const SCRIPT: &str = r#"
while IFS= read -r file; do
    folder=${file%/*}; name=${file##*/}
    case $file in
        */output) printf '\036%s\n' "$file"; cat "$file"; continue;;
    esac
    for other in "$folder"/* "$folder"/deps/*; do
        case $other in *.d|*.o|*.rmeta) [ "$other" = "$file" ] || continue;; esac
        [ "$other" -ef "$file" ] || continue
        stem=${other##*/}; stem=${stem%.rlib}; stem=${stem%.rmeta}; stem=${stem%.so}; stem=${stem%.a}
        for record in "${other%/*}/$stem.d" "${other%/*}/${stem#lib}.d"; do
            if [ -f "$record" ]; then printf '\036%s\n' "$record"; cat "$record"; fi
        done
    done
done 2>/dev/null
exit 0
"#;

/// The files of the tree that building what was built read, manifests and cargo's own files included.
pub(crate) fn read_files(commands: &Commands<'_>, order: &Order<'_>, built: &Built) -> Result<Vec<TreePath>, Ending> {
    let root = &order.check.root;
    let mut wanted = String::new();
    for artifact in &built.artifacts {
        // Metadata has the hashed name that the record has, so it is preferred where there is any.
        let hashed = artifact.filenames.iter().filter(|name| name.ends_with(".rmeta"));
        let all = artifact.filenames.iter();
        let names: Vec<&String> = if hashed.clone().next().is_some() { hashed.collect() } else { all.collect() };
        for name in names.into_iter().filter(|name| !name.contains('\n')) {
            wanted.push_str(name);
            wanted.push('\n');
        }
    }
    for folder in built.out_dirs.iter().filter_map(|folder| folder.strip_suffix("/out")) {
        wanted.push_str(folder);
        wanted.push_str("/output\n");
    }
    let mut shell = commands.program(Path::new("/bin/sh"), &commands.folder(root)).arg("-c").arg(SCRIPT);
    shell.stdin = Stdin::Bytes(wanted.into_bytes().into());
    shell.stdout = Output::Captured(Keep::all());
    let finished = commands.run("reading the compiler's records", shell)?;
    let text = finished.stdout.bytes();
    let packages: Vec<Folder> = built
        .metadata
        .packages
        .iter()
        .filter_map(|member| Some(tree_path(order.shadow, root, &member.manifest_path)?.parent()))
        .collect();
    let mut read: BTreeSet<TreePath> = BTreeSet::new();
    let mut folders: BTreeSet<TreePath> = BTreeSet::new();
    for record in text.split(|&byte| byte == 0x1e) {
        let record = String::from_utf8_lossy(record);
        let Some((name, body)) = record.split_once('\n') else { continue };
        if name.ends_with("/output") {
            // Paths are relative to the package, which the record does not name: all are tried.
            let inputs = build_script_inputs(body);
            folders.extend(
                packages
                    .iter()
                    .flat_map(|package| inputs.iter().filter_map(|input| tree_path(order.shadow, package, input))),
            );
        } else {
            read.extend(sources(body).iter().filter_map(|source| tree_path(order.shadow, root, source)));
        }
    }
    let all = order.files.list();
    let known: BTreeSet<&TreePath> = all.iter().collect();
    let mut read: BTreeSet<TreePath> = read.into_iter().filter(|path| known.contains(path)).collect();
    // A build script may name a folder: everything below it counts.
    let below =
        |path: &TreePath| std::iter::successors(Some(path.clone()), TreePath::parent).any(|it| folders.contains(&it));
    read.extend(all.iter().filter(|path| !folders.is_empty() && below(path)).cloned());
    read.extend(cargo_files(root, &packages).into_iter().filter(|path| known.contains(path)));
    Ok(read.into_iter().collect())
}

/// Prerequisites in a record of the compiler: `target: source source`, spaces in names escaped.
pub(crate) fn sources(record: &str) -> Vec<String> {
    let rules = record.lines().filter(|line| !line.starts_with('#'));
    let lists = rules.filter_map(|line| line.split_once(": ").map(|(_, sources)| sources));
    lists
        .flat_map(|list| {
            let marked = list.replace("\\ ", "\u{0}");
            marked.split(' ').filter(|name| !name.is_empty()).map(|name| name.replace('\0', " ")).collect::<Vec<_>>()
        })
        .collect()
}

/// `rerun-if-changed` lines of a build script's output.
fn build_script_inputs(output: &str) -> Vec<String> {
    let lines = output.lines().filter_map(|line| {
        line.strip_prefix("cargo:rerun-if-changed=").or_else(|| line.strip_prefix("cargo::rerun-if-changed="))
    });
    lines.map(str::to_owned).collect()
}

/// What cargo itself reads: manifests, lock files, configuration and toolchain files of the packages' folders and above.
fn cargo_files(root: &Folder, packages: &[Folder]) -> Vec<TreePath> {
    const NAMES: [&str; 6] =
        ["Cargo.toml", "Cargo.lock", ".cargo/config.toml", ".cargo/config", "rust-toolchain.toml", "rust-toolchain"];
    let folders: BTreeSet<Folder> = upwards(root.clone()).chain(packages.iter().cloned()).collect();
    folders.iter().flat_map(|folder| NAMES.iter().filter_map(|name| file_in(folder, name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_of_a_record_are_its_prerequisites() {
        let record = "/t/deps/a-1.d: src/lib.rs src/my\\ file.rs README.md\n\n/t/deps/a-1: src/lib.rs\n\nsrc/lib.rs:\n\
                      # env-dep:CARGO_MANIFEST_DIR=/x: y\n";
        assert_eq!(sources(record), ["src/lib.rs", "src/my file.rs", "README.md", "src/lib.rs"]);
    }

    #[test]
    fn inputs_of_build_scripts_are_read_in_both_spellings() {
        let output = "cargo:rerun-if-changed=a.txt\ncargo::rerun-if-changed=data\ncargo:rustc-env=X=1\n";
        assert_eq!(build_script_inputs(output), ["a.txt", "data"]);
    }
}
