//! The check of the TypeScript compiler: every diagnostic is an item, like those of a linter are, and known where the
//! base has it.

use std::collections::BTreeSet;

use sandbox::Outcome;
use serde_json::Value;
use task::{Item, ItemId, ItemKind, ItemResult, TreePath, Verdict};

use crate::cargo_test::passed;
use crate::commands::{Ending, tree_path};
use crate::npm::start::command;
use crate::outside::{Found, Outside};
use crate::signature::signature;
use crate::tool::{Tool, arguments};
use crate::watch::{Progress, Watch};

/// The configurations that a `tsconfig.json` refers to, where it has no files of its own to compile.
pub(crate) fn references(text: &[u8]) -> Vec<String> {
    let Some(value) = parse(&String::from_utf8_lossy(text)) else { return Vec::new() };
    let own = value.get("files").and_then(Value::as_array).is_none_or(|files| !files.is_empty())
        || value.get("include").is_some();
    let references = value.get("references").and_then(Value::as_array).into_iter().flatten();
    let paths = references.filter_map(|it| it.get("path")?.as_str().map(str::to_owned));
    if own { Vec::new() } else { paths.collect() }
}

/// JSON with comments and trailing commas.
fn parse(text: &str) -> Option<Value> {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.trim_start_matches('\u{feff}').chars().peekable();
    let mut quoted = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' if quoted => out.extend([Some(c), chars.next()].into_iter().flatten()),
            '"' => {
                quoted = !quoted;
                out.push(c);
            }
            '/' if !quoted && chars.peek() == Some(&'/') => while chars.next_if(|next| *next != '\n').is_some() {},
            '/' if !quoted && chars.peek() == Some(&'*') => {
                chars.next();
                let mut star = false;
                for next in chars.by_ref() {
                    if star && next == '/' {
                        break;
                    }
                    star = next == '*';
                }
            }
            ']' | '}' if !quoted => {
                let kept = out.trim_end().trim_end_matches(',').len();
                out.truncate(kept);
                out.push(c);
            }
            c => out.push(c),
        }
    }
    serde_json::from_str(&out).ok()
}

/// Compiles without writing anything.
pub(crate) fn compile(outside: &Outside<'_>, package: &str, watch: &Watch) -> Result<Found, Ending> {
    let (_, args) = arguments(outside.order.check, Tool::Tsc);
    let mut configurations: Vec<Option<String>> =
        args.chunks(2).filter_map(|pair| pair.get(1).cloned().map(Some)).collect();
    if configurations.is_empty() {
        configurations.push(None);
    }
    let mut found = Found { exit_code: Some(0), ..Found::default() };
    let mut diagnostics: BTreeSet<(String, u32, u32, String, String)> = BTreeSet::new();
    let mut read = BTreeSet::new();
    for configuration in configurations {
        (watch.progress)(Progress::Doing("compiling TypeScript".to_owned()));
        // State that an incremental project keeps is left in the shadow, where it is swept away.
        let mut words: Vec<String> = ["--noEmit", "--pretty", "false", "--listFiles"].map(str::to_owned).into();
        words.extend(configuration.into_iter().flat_map(|path| ["-p".to_owned(), path]));
        let finished = outside.run("tsc", command(outside, Some("typescript/bin/tsc"), words, &[])?)?;
        let Outcome::Exit { code } = finished.outcome else {
            return Err(Ending::new(Verdict::Killed, format!("tsc: {}", finished.outcome)));
        };
        let text = String::from_utf8_lossy(&finished.stdout.bytes()).into_owned();
        let before = diagnostics.len();
        let mut errors = 0;
        for line in text.lines() {
            if let Some(diagnostic) = diagnostic(line) {
                errors += 1;
                diagnostics.insert(diagnostic);
            } else if line.starts_with('/') {
                read.extend(path(outside, line));
            }
        }
        if code != 0 && errors == 0 && diagnostics.len() == before {
            let said: String =
                text.lines().chain(finished.stderr.lossy().lines()).take(5).collect::<Vec<_>>().join("; ");
            return Err(Ending::new(Verdict::Failed, format!("tsc exited with {code}: {}", task::printable(&said))));
        }
        if let Some((.., code, message)) = diagnostics.iter().find(|(file, _, _, code, _)| is_early(file, code)) {
            let said = task::printable(message);
            return Err(Ending::new(Verdict::Failed, format!("tsc could not begin: {code}: {said}")));
        }
        if code == 0 && errors > 0 {
            return Err(Ending::new(Verdict::Failed, "tsc exited with 0 although it found errors"));
        }
        if code != 0 {
            found.exit_code = Some(code);
        }
        found.output.push(("tsc".to_owned(), finished.stdout));
    }
    found.items = diagnostics.into_iter().map(|diagnostic| item(outside, package, diagnostic)).collect();
    let all = outside.order.files.list();
    found.read = all.into_iter().filter(|path| read.contains(path)).collect();
    Ok(found)
}

/// Whether the compiler gave up before it looked at the code: a configuration that it refuses, or parts of a larger build
/// that are not built. What it says then about the code is not all that there is to say.
fn is_early(file: &str, code: &str) -> bool {
    let number: u32 = code.trim_start_matches("TS").parse().unwrap_or_default();
    let configuration = (5000..7000).contains(&number) || matches!(number, 18002 | 18003);
    let written = file.is_empty() || file.ends_with(".json");
    (written && configuration) || number == 6305
}

fn path(outside: &Outside<'_>, named: &str) -> Option<TreePath> {
    let root = &outside.order.check.root;
    let path = tree_path(outside.order.shadow, root, named).or_else(|| tree_path(outside.workspace, root, named));
    path.filter(|path| !crate::npm::is_installed(path))
}

/// `src/a.ts(3,14): error TS2322: Type 'string' is not ...`, or without a place.
fn diagnostic(line: &str) -> Option<(String, u32, u32, String, String)> {
    let (place, rest) = match line.strip_prefix("error TS") {
        Some(_) => ("", line),
        None => line
            .split_once(": error TS")
            .map(|(place, rest)| (place, &line[line.len() - rest.len() - "error TS".len()..]))?,
    };
    let (code, message) = rest.strip_prefix("error ")?.split_once(": ")?;
    if place.is_empty() {
        return Some((String::new(), 0, 0, code.to_owned(), message.to_owned()));
    }
    let (file, numbers) = place.strip_suffix(')')?.rsplit_once('(')?;
    let (line, column) = numbers.split_once(',')?;
    Some((file.to_owned(), line.parse().ok()?, column.parse().ok()?, code.to_owned(), message.to_owned()))
}

fn item(
    outside: &Outside<'_>,
    package: &str,
    (file, line, _, code, message): (String, u32, u32, String, String),
) -> Item {
    let at = path(outside, &file);
    let root = &outside.order.check.root;
    let shown =
        at.as_ref().map(|at| root.as_ref().and_then(|root| at.strip_prefix(root)).unwrap_or_else(|| at.clone()));
    let place = shown.map_or(file, |path| path.to_string());
    let id = ItemId {
        package: package.to_owned(),
        target: Tool::Tsc.name().to_owned(),
        path: format!("{place} {code}").trim_start().to_owned(),
    };
    let mut item = passed(id, ItemKind::Diagnostic);
    item.result = ItemResult::Failed;
    item.signature = Some(signature(&item.id, &code, &message, outside.order.shadow));
    item.at = at.map(|at| (at, line));
    item.excerpt = crate::told::excerpt(&format!("{code}: {message}"));
    item
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diagnostics_are_read_with_and_without_a_place() {
        let found = diagnostic("src/a (b).ts(3,14): error TS2322: Type 'a: b' is wrong.").unwrap();
        assert_eq!(found, ("src/a (b).ts".into(), 3, 14, "TS2322".into(), "Type 'a: b' is wrong.".into()));
        assert_eq!(diagnostic("error TS18003: No inputs were found.").unwrap().3, "TS18003");
        assert_eq!(diagnostic("  The expected type comes from property 'x'"), None);
        assert_eq!(diagnostic("/s/src/a.ts"), None);
    }

    #[test]
    fn a_configuration_that_only_refers_to_others_leads_to_them() {
        let text = "{ // the parts\n \"files\": [], \"references\": [{\"path\": \"./tsconfig.app.json\"}, /* last */ {\"path\":\"./n\"},], }";
        assert_eq!(references(text.as_bytes()), ["./tsconfig.app.json", "./n"]);
        assert_eq!(references(br#"{"include": ["src"], "references": [{"path": "./a"}]}"#), Vec::<String>::new());
    }
}
