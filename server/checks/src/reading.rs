//! Which files of the tree a build read, by what the compiler itself recorded.
//!
//! The records lie in the build folder, which hostile code has written to: they are read inside the jail, by a shell
//! that follows whatever it likes there, never by us.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use sandbox::{Keep, Output, Stdin};
use task::TreePath;

use crate::cargo_build::Built;
use crate::commands::{Commands, Ending, tree_path};
use crate::folder::{Folder, file_in, upwards};
use crate::order::Order;

/// Prints each record named on standard input. A line without a stem names the record itself. One with a stem names a
/// file that cargo put in its place, a link to the one that the compiler wrote, whose record lies beside that one.
const SCRIPT: &str = r#"
print() { if [ -f "$1" ]; then printf '\036%s\n' "$1"; cat "$1"; fi; }
while IFS='|' read -r stem file; do
    if [ -z "$stem" ]; then print "$file"; continue; fi
    folder=${file%/*}
    for other in "$folder/$stem"-* "$folder/deps/$stem" "$folder/deps/$stem"-* "$folder/deps/lib$stem"-* "$folder/deps/lib$stem".*; do
        if [ "$other" -ef "$file" ]; then
            name=${other##*/}; name=${name%.rlib}; name=${name%.so}; name=${name%.a}
            print "${other%/*}/$name.d"; print "${other%/*}/${name#lib}.d"
        fi
    done
done 2>/dev/null
exit 0
"#;

/// The files of the tree that building what was built read, manifests and cargo's own files included.
pub(crate) fn read_files(commands: &Commands<'_>, order: &Order<'_>, built: &Built) -> Result<Vec<TreePath>, Ending> {
    let root = &order.check.root;
    let mut wanted = String::new();
    for artifact in &built.artifacts {
        for (stem, file) in records_of(&artifact.filenames) {
            wanted.push_str(&format!("{stem}|{file}\n"));
        }
    }
    let mut scripts: BTreeMap<String, Folder> = BTreeMap::new();
    for (package, out_dir) in &built.out_dirs {
        let Some((folder, member)) = out_dir.strip_suffix("/out").zip(built.metadata.member(package)) else { continue };
        let Some(manifest) = tree_path(order.shadow, root, &member.manifest_path) else { continue };
        let output = format!("{folder}/output");
        wanted.push_str(&format!("|{output}\n"));
        scripts.insert(output, manifest.parent());
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
        if let Some(package) = scripts.get(name) {
            let inputs = build_script_inputs(body);
            folders.extend(inputs.iter().filter_map(|input| tree_path(order.shadow, package, input)));
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

/// Where the records of an artifact are: their own path, or the stem and the path of a file that leads to them.
fn records_of(files: &[String]) -> Vec<(String, String)> {
    let readable = files.iter().filter(|file| !file.contains(['\n', '|']));
    let mut records = Vec::new();
    for file in readable {
        let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
        let name =
            ["rmeta", "rlib", "so", "a"].iter().find_map(|end| name.strip_suffix(&format!(".{end}"))).unwrap_or(name);
        let library = file.len() > folder.len() + 1 + name.len();
        let stem = if library { name.strip_prefix("lib").unwrap_or(name) } else { name };
        if folder.ends_with("/deps") {
            return vec![(String::new(), format!("{folder}/{stem}.d"))];
        }
        records.push((stem.replace('-', "_"), file.clone()));
    }
    records
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
    fn an_artifact_leads_to_its_record() {
        let of = |files: &[&str]| records_of(&files.iter().map(|&file| file.to_owned()).collect::<Vec<_>>());
        assert_eq!(
            of(&["/t/debug/liba.rlib", "/t/debug/deps/liba-1.rmeta"]),
            [(String::new(), "/t/debug/deps/a-1.d".into())]
        );
        assert_eq!(of(&["/t/debug/deps/it-2"]), [(String::new(), "/t/debug/deps/it-2.d".into())]);
        assert_eq!(of(&["/t/debug/my-tool"]), [("my_tool".into(), "/t/debug/my-tool".into())]);
        assert_eq!(of(&["/t/debug/libc.so"]), [("c".into(), "/t/debug/libc.so".into())]);
    }

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
