//! Diagnostics of compiler and linter, with what an engine needs to apply their suggestions.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use task::TreePath;

use crate::commands::tree_path;
use crate::folder::Folder;
use crate::message::Target;

/// How serious it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    Error,
    Warning,
    /// Notes and helps that stand by themselves.
    Note,
}

/// One message of compiler or linter about a file of the tree, the same for all targets and features that show it.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostic {
    pub package: String,
    /// Kinds and names of the targets that show it, such as `lib` and `test api`.
    pub targets: BTreeSet<String>,
    pub level: Level,
    /// `E0308`, `unused_variables`, `clippy::needless_return`; `None` for messages without one.
    pub code: Option<String>,
    pub message: String,
    /// As the compiler prints it; printable.
    pub rendered: String,
    /// Where it points; `None` where it points outside the tree or nowhere.
    pub path: Option<TreePath>,
    /// Bytes of the primary span in that file.
    pub bytes: Range<u32>,
    /// Line of the primary span, from 1.
    pub line: u32,
    pub suggestions: Vec<Suggestion>,
    /// The compiler's own JSON, unchanged, for `rustfix`. File names in it are relative to `root`.
    pub json: String,
    /// The folder of the Cargo workspace, to which file names in `json` are relative; `None` is the top of the tree.
    pub root: Option<TreePath>,
}

/// One replacement that the compiler proposes; those of one `group` belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    pub group: u32,
    pub path: TreePath,
    pub bytes: Range<u32>,
    pub replacement: String,
    /// `MachineApplicable` alone may be applied without asking.
    pub machine_applicable: bool,
}

/// The parts of the compiler's JSON that we read; the rest passes through untouched.
#[derive(Debug, Deserialize)]
struct Raw {
    message: String,
    code: Option<Code>,
    level: String,
    spans: Vec<Span>,
    #[serde(default)]
    children: Vec<Raw>,
    rendered: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Code {
    code: String,
}

#[derive(Debug, Deserialize)]
struct Span {
    file_name: String,
    byte_start: u32,
    byte_end: u32,
    line_start: u32,
    is_primary: bool,
    suggested_replacement: Option<String>,
    suggestion_applicability: Option<String>,
}

/// Gathers diagnostics and merges those that several targets show.
pub(crate) struct Collector<'a> {
    shadow: &'a Path,
    root: &'a Folder,
    found: BTreeMap<Key, Diagnostic>,
}

/// Path, bytes, level, code and message: what makes two diagnostics the same.
type Key = (Option<TreePath>, u32, u32, Level, Option<String>, String, String);

impl<'a> Collector<'a> {
    pub(crate) fn new(shadow: &'a Path, root: &'a Folder) -> Self {
        Self { shadow, root, found: BTreeMap::new() }
    }

    pub(crate) fn add(&mut self, package: &str, target: &Target, message: &serde_json::Value) {
        let Ok(raw) = Raw::deserialize(message) else { return };
        let level = match raw.level.as_str() {
            "error" | "error: internal compiler error" => Level::Error,
            "warning" => Level::Warning,
            _ => Level::Note,
        };
        // "aborting due to 2 previous errors", "1 warning emitted" and "for more information" say nothing of their own.
        if raw.spans.is_empty() && raw.code.is_none() && is_closing(&raw.message) {
            return;
        }
        let primary = raw.spans.iter().find(|span| span.is_primary);
        let path = primary.and_then(|span| tree_path(self.shadow, self.root, &span.file_name));
        let bytes = primary.map_or(0..0, |span| span.byte_start..span.byte_end);
        let mut suggestions = Vec::new();
        for (group, child) in (0..).zip(std::iter::once(&raw).chain(&raw.children)) {
            suggestions.extend(child.spans.iter().filter_map(|span| {
                Some(Suggestion {
                    group,
                    path: tree_path(self.shadow, self.root, &span.file_name)?,
                    bytes: span.byte_start..span.byte_end,
                    replacement: span.suggested_replacement.clone()?,
                    machine_applicable: span.suggestion_applicability.as_deref() == Some("MachineApplicable"),
                })
            }));
        }
        let code = raw.code.map(|code| code.code);
        let key = (path.clone(), bytes.start, bytes.end, level, code.clone(), raw.message.clone(), package.to_owned());
        let diagnostic = self.found.entry(key).or_insert_with(|| Diagnostic {
            package: package.to_owned(),
            targets: BTreeSet::new(),
            level,
            code,
            message: task::printable(&raw.message),
            rendered: task::printable(&raw.rendered.unwrap_or_default()),
            path,
            line: primary.map_or(0, |span| span.line_start),
            bytes,
            suggestions,
            json: message.to_string(),
            root: self.root.clone(),
        });
        diagnostic.targets.insert(target.label());
    }

    pub(crate) fn finish(self) -> Vec<Diagnostic> {
        self.found.into_values().collect()
    }
}

fn is_closing(message: &str) -> bool {
    message.starts_with("aborting due to")
        || message.starts_with("For more information about")
        || message.starts_with("Some errors have detailed explanations")
        || message.ends_with(" emitted")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As rustc 1.95 wrote it, shortened.
    const SAID: &str = r#"{"rendered":"warning: unused variable: `unused`\n","$message_type":"diagnostic",
        "children":[{"children":[],"code":null,"level":"note","message":"`#[warn(unused_variables)]` on by default","rendered":null,"spans":[]},
        {"children":[],"code":null,"level":"help","message":"if this is intentional, prefix it with an underscore","rendered":null,
        "spans":[{"byte_end":417,"byte_start":411,"column_end":44,"column_start":38,"expansion":null,"file_name":"src/lib.rs","is_primary":true,
        "label":null,"line_end":24,"line_start":24,"suggested_replacement":"_unused","suggestion_applicability":"MachineApplicable","text":[]}]}],
        "level":"warning","message":"unused variable: `unused`","spans":[{"byte_end":417,"byte_start":411,"column_end":44,"column_start":38,
        "expansion":null,"file_name":"src/lib.rs","is_primary":true,"label":null,"line_end":24,"line_start":24,
        "suggested_replacement":null,"suggestion_applicability":null,"text":[]}],"code":{"code":"unused_variables","explanation":null}}"#;

    fn target(kind: &str, name: &str) -> Target {
        serde_json::from_value(serde_json::json!({ "kind": [kind], "name": name })).unwrap()
    }

    #[test]
    fn what_several_targets_show_is_one_diagnostic_with_the_compilers_own_json() {
        let message: serde_json::Value = serde_json::from_str(SAID).unwrap();
        let root = Some("tools".parse().unwrap());
        let mut collector = Collector::new(Path::new("/shadow"), &root);
        collector.add("a", &target("lib", "a"), &message);
        collector.add("a", &target("bin", "b"), &message);
        let found = collector.finish();
        let [one] = found.as_slice() else { panic!("{found:#?}") };
        assert_eq!(one.path, Some("tools/src/lib.rs".parse().unwrap()));
        assert_eq!((one.level, one.line, one.bytes.clone()), (Level::Warning, 24, 411..417));
        assert_eq!(one.targets.iter().map(String::as_str).collect::<Vec<_>>(), ["bin b", "lib"]);
        assert_eq!(one.suggestions.len(), 1);
        assert_eq!((one.suggestions[0].replacement.as_str(), one.suggestions[0].machine_applicable), ("_unused", true));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&one.json).unwrap(), message);
    }

    #[test]
    fn closing_words_of_the_compiler_are_no_diagnostics() {
        let root = None;
        let mut collector = Collector::new(Path::new("/shadow"), &root);
        for text in
            ["aborting due to 2 previous errors", "1 warning emitted", "For more information about this error, try"]
        {
            let message = serde_json::json!({ "message": text, "code": null, "level": "failure-note", "spans": [] });
            collector.add("a", &target("lib", "a"), &message);
        }
        assert!(collector.finish().is_empty());
    }
}
