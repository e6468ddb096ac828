//! The files of the repository that were written here, and which part of them is product code.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Not written here, or not source: what builds leave, git, scenario archives, and the crate that `try` carries.
const SKIPPED: [&str; 5] = ["target", ".git", "node_modules", "tests/data", "server/understudy/sample"];

/// One text file.
#[derive(Debug)]
pub struct Source {
    /// Relative to the repository.
    pub path: String,
    pub text: String,
}

impl Source {
    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// `server/NAME/...` or `tests/support/...`: the folder of the package.
    pub fn package(&self) -> Option<&str> {
        let mut parts = self.path.split('/');
        match (parts.next()?, parts.next()?) {
            ("server", name) if parts.next().is_some() => Some(name),
            ("tests", "support") => Some("support"),
            _ => None,
        }
    }
}

/// Every text file, in the order of the paths.
pub fn all() -> Vec<Source> {
    let root = support::repository();
    let mut sources = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(root.join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = folder.join(entry.file_name());
            let skipped = SKIPPED.iter().any(|skipped| path == Path::new(skipped) || path.ends_with(skipped));
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                open.extend((!skipped).then_some(path));
            } else if kind.is_file()
                && let Ok(text) = fs::read_to_string(root.join(&path))
            {
                sources.push(Source { path: path.to_str().unwrap().to_owned(), text });
            }
        }
    }
    sources.sort_by(|one, two| one.path.cmp(&two.path));
    sources
}

pub fn rust() -> Vec<Source> {
    all().into_iter().filter(Source::is_rust).collect()
}

/// Lines of product code with their numbers: no test folders, no test modules, no comments.
pub fn product(sources: &[Source]) -> Vec<(&Source, Vec<(usize, &str)>)> {
    let tests: BTreeSet<String> = sources.iter().flat_map(test_files).collect();
    let is_product = |source: &&Source| {
        source.path.starts_with("server/")
            && source.path.contains("/src/")
            && !tests.iter().any(|test| source.path == *test || source.path.starts_with(&folder_of(test)))
    };
    sources.iter().filter(is_product).map(|source| (source, product_lines(&source.text))).collect()
}

/// A file without what stands behind `#[cfg(test)]`. Relies on the layout that rustfmt gives.
fn product_lines(text: &str) -> Vec<(usize, &str)> {
    let mut kept = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let trimmed = line.trim_start();
        if trimmed == "#[cfg(test)]" {
            let end = format!("{}}}", &line[..line.len() - trimmed.len()]);
            let mut item = lines.by_ref().map(|(_, line)| line).skip_while(|line| line.trim_start().starts_with("#["));
            if item.next().is_some_and(|line| line.ends_with('{')) {
                item.find(|line| *line == end);
            }
        } else if !trimmed.starts_with("//") {
            kept.push((number + 1, line));
        }
    }
    kept
}

/// Files that a file declares as test modules.
fn test_files(source: &Source) -> Vec<String> {
    let path = Path::new(&source.path);
    let (folder, stem) = (path.parent().unwrap(), path.file_stem().unwrap());
    let below = if stem == "lib" || stem == "main" { folder.to_owned() } else { folder.join(stem) };
    let mut found = Vec::new();
    let mut lines = source.text.lines();
    while lines.by_ref().any(|line| line.trim() == "#[cfg(test)]") {
        let mut file = None;
        for line in lines.by_ref() {
            if let Some(named) = line.trim().strip_prefix("#[path = \"").and_then(|rest| rest.strip_suffix("\"]")) {
                file = Some(folder.join(named));
            } else if let Some(name) = line.trim().strip_suffix(';').and_then(|line| line.split("mod ").nth(1)) {
                found.extend(file.unwrap_or_else(|| below.join(name).with_extension("rs")).to_str().map(str::to_owned));
                break;
            } else if !line.trim().starts_with("#[") {
                break;
            }
        }
    }
    found
}

fn folder_of(file: &str) -> String {
    format!("{}/", file.trim_end_matches(".rs"))
}

#[test]
fn test_modules_are_told_from_product_code() {
    let text = "fn a() {}\n// note\n#[cfg(test)]\nmod tests {\n    fn b() {\n    }\n}\nfn c() {}\n#[cfg(test)]\nmod d;\nfn e() {}\n";
    let kept: Vec<_> = product_lines(text).into_iter().map(|(_, line)| line).collect();
    assert_eq!(kept, ["fn a() {}", "fn c() {}", "fn e() {}"]);
    let text = "#[cfg(test)]\nmod d;\n#[cfg(test)]\n#[path = \"x_tests.rs\"]\nmod tests;\n".to_owned();
    let source = Source { path: "server/x/src/y.rs".into(), text };
    assert_eq!(test_files(&source), ["server/x/src/y/d.rs", "server/x/src/x_tests.rs"]);
}
