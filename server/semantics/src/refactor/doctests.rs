//! Doctest code, shown to the compiler as a synthetic crate beside its library, and the way back to the comments.
//!
//! Each library has one synthetic crate that depends on it and whose only file is empty until a question needs it.
//! Each example becomes a module in that file, wrapped as rustdoc wraps it, so that references in it are found and
//! resolved like any other and every answer maps back to the bytes of the comment.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ra_ap_hir::{Crate, Semantics};
use ra_ap_ide_db::FileId;
use ra_ap_syntax::{AstNode, Edition, SourceFile, SyntaxKind, TextRange, ast, ast::HasModuleItem, ast::HasName};

use super::docs::{self, DocBlock, DocLine};
use super::textual::has_word;
use crate::analysis::Analysis;

/// The examples that are shown to the compiler at present.
#[derive(Debug, Default)]
pub struct Doctests {
    /// By synthetic file.
    shown: BTreeMap<PathBuf, Vec<Mapped>>,
}

/// One line of a synthetic file that came from documentation.
#[derive(Debug, Clone)]
struct Mapped {
    start: usize,
    length: usize,
    origin: PathBuf,
    offset: usize,
}

/// One fenced code block.
#[derive(Debug, PartialEq, Eq)]
pub struct Example {
    pub lines: Vec<DocLine>,
}

impl Doctests {
    /// Where a range of a synthetic file comes from; `None` for what rustdoc's wrapping added.
    pub fn origin(&self, synthetic: &Path, range: TextRange) -> Option<(&Path, TextRange)> {
        let lines = self.shown.get(synthetic)?;
        let (start, end) = (usize::from(range.start()), usize::from(range.end()));
        let index = lines.partition_point(|line| line.start <= start).checked_sub(1)?;
        let line = &lines[index];
        if end > line.start + line.length {
            return None;
        }
        let offset = (line.offset + start - line.start) as u32;
        Some((&line.origin, TextRange::at(offset.into(), range.len())))
    }

    /// Whether a file is one of ours.
    pub fn is_synthetic(&self, path: &Path) -> bool {
        self.shown.contains_key(path)
    }
}

impl Analysis {
    /// Shows the compiler every doctest in which `word` occurs. Undone by [`Analysis::hide_doctests`].
    pub(crate) fn show_doctests(&mut self, word: &str) {
        for library in self.doctest_crates.clone() {
            let examples = self.library_examples(library.library, word);
            if examples.is_empty() {
                continue;
            }
            let mut text = format!("extern crate {};\n", library.name);
            let mut mapped = Vec::new();
            for (index, (origin, example)) in examples.iter().enumerate() {
                append(&mut text, &mut mapped, index, origin, example);
            }
            self.set_source(&library.root, Some(text));
            self.doctests.shown.insert(library.root, mapped);
        }
        self.apply_sources();
    }

    /// Empties the synthetic crates again.
    pub(crate) fn hide_doctests(&mut self) {
        for root in std::mem::take(&mut self.doctests.shown).into_keys() {
            self.set_source(&root, Some(String::new()));
        }
        self.apply_sources();
    }

    /// The examples of one library that contain a word, with the file each comes from.
    fn library_examples(&self, library: FileId, word: &str) -> Vec<(PathBuf, Example)> {
        let semantics = Semantics::new(self.database());
        let mut found = Vec::new();
        for (path, file) in self.rust_files() {
            let Some(text) = self.text(&path) else { continue };
            let includes_documentation = text.lf().contains("include_str!");
            if !includes_documentation && !has_word(text.lf(), word) {
                continue;
            }
            let belongs = |krate: Crate| krate.root_file(self.database()) == library;
            if !semantics.file_to_module_defs(file).any(|module| belongs(module.krate(self.database()))) {
                continue;
            }
            let source = semantics.parse_guess_edition(file);
            let origin = self.host_path(&path);
            for block in docs::blocks(&source) {
                found.extend(examples(&block).into_iter().map(|example| (origin.clone(), example)));
            }
            for (origin, block) in self.included_documentation(&origin, &source) {
                found.extend(examples(&block).into_iter().map(|example| (origin.clone(), example)));
            }
        }
        found.retain(|(_, example)| example.lines.iter().any(|line| has_word(&line.text, word)));
        found
    }

    /// Markdown files that a source takes in with `#![doc = include_str!("..")]`.
    pub(crate) fn included_documentation(&self, origin: &Path, source: &SourceFile) -> Vec<(PathBuf, DocBlock)> {
        let attributes = source.syntax().descendants().filter(|node| node.kind() == SyntaxKind::ATTR);
        let mut found = Vec::new();
        for attribute in attributes {
            let text = attribute.text().to_string();
            let Some((_, rest)) = text.split_once("doc").and_then(|(_, rest)| rest.split_once("include_str!")) else {
                continue;
            };
            let Some(name) = rest.split('"').nth(1) else { continue };
            let Some(path) = origin.parent().and_then(|folder| normal(&folder.join(name))) else { continue };
            let Some(text) = self.tree_path(&path).and_then(|path| self.text(&path)) else { continue };
            found.push((path, docs::markdown_file(text.lf())));
        }
        found
    }
}

/// Resolves `..` by name only.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            std::path::Component::ParentDir => {
                out.pop().then_some(())?;
            }
            std::path::Component::CurDir => {}
            other => out.push(other),
        }
    }
    Some(out)
}

/// The fenced Rust examples of a block of documentation.
pub fn examples(block: &DocBlock) -> Vec<Example> {
    let mut found = Vec::new();
    let mut open: Option<(char, usize, usize, bool, Vec<DocLine>)> = None;
    for line in &block.lines {
        let trimmed = line.text.trim_start();
        let indent = line.text.len() - trimmed.len();
        let mark = trimmed.chars().next().filter(|mark| matches!(mark, '`' | '~'));
        let count = mark.map_or(0, |mark| trimmed.chars().take_while(|c| *c == mark).count());
        match &mut open {
            None if count >= 3 => {
                let info = trimmed[count..].trim();
                open = Some((mark.unwrap_or('`'), count, indent, is_rust(info), Vec::new()));
            }
            None => {}
            Some((fence, length, _, _, _))
                if mark == Some(*fence) && count >= *length && trimmed[count..].trim().is_empty() =>
            {
                if let Some((_, _, _, true, lines)) = open.take() {
                    found.push(Example { lines });
                }
            }
            Some((_, _, indent, _, lines)) => {
                let cut = line.text.len() - line.text.trim_start_matches(' ').len();
                lines.push(shown(&line.text, line.offset, cut.min(*indent)));
            }
        }
    }
    found
}

/// Whether rustdoc takes a fence with this information string for Rust.
fn is_rust(info: &str) -> bool {
    let words = info.split(|c: char| c == ',' || c.is_whitespace()).filter(|word| !word.is_empty());
    words.into_iter().all(|word| {
        matches!(
            word,
            "rust"
                | "should_panic"
                | "no_run"
                | "ignore"
                | "compile_fail"
                | "allow_fail"
                | "test_harness"
                | "standalone_crate"
        ) || word.starts_with("ignore-")
            || word.starts_with("edition")
            || (word.len() == 5 && word.starts_with('E') && word[1..].bytes().all(|byte| byte.is_ascii_digit()))
    })
}

/// A line of an example as the compiler sees it: `# ` in front hides a line from readers only.
fn shown(text: &str, offset: usize, cut: usize) -> DocLine {
    let body = &text[cut..];
    let lead = body.len() - body.trim_start().len();
    let rest = &body[lead..];
    let skip = if rest == "#" {
        lead + 1
    } else if rest.starts_with("# ") {
        lead + 2
    } else if rest.starts_with("##") {
        lead + 1
    } else {
        0
    };
    DocLine { text: body[skip..].to_owned(), offset: offset + cut + skip }
}

/// Appends one example as a module, wrapped in `main` unless it has its own.
fn append(text: &mut String, mapped: &mut Vec<Mapped>, index: usize, origin: &Path, example: &Example) {
    let code: String = example.lines.iter().map(|line| format!("{}\n", line.text)).collect();
    // Code that does not parse would swallow the examples after it.
    let wrapped = format!("fn main() {{\n{code}}}\n");
    let parses = |code: &str| SourceFile::parse(code, Edition::CURRENT).ok();
    let own_main = parses(&code).is_ok_and(|file| {
        file.items().any(
            |item| matches!(item, ast::Item::Fn(function) if function.name().is_some_and(|name| name.text() == "main")),
        )
    });
    if !own_main && parses(&wrapped).is_err() {
        return;
    }
    text.push_str(&format!("mod example{index} {{\n"));
    if !own_main {
        text.push_str("fn main() {\n");
    }
    for line in &example.lines {
        mapped.push(Mapped {
            start: text.len(),
            length: line.text.len(),
            origin: origin.to_owned(),
            offset: line.offset,
        });
        text.push_str(&line.text);
        text.push('\n');
    }
    text.push_str(if own_main { "}\n" } else { "}\n}\n" });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(markdown: &str) -> Vec<String> {
        let found = examples(&docs::markdown_file(markdown));
        found
            .iter()
            .map(|example| example.lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n"))
            .collect()
    }

    #[test]
    fn only_fences_that_rustdoc_compiles_are_examples() {
        let text = "a\n```\none\n```\n```text\nno\n```\n~~~rust,no_run\ntwo\n~~~\n```toml\n[x]\n```\n````\n```\n````\n";
        assert_eq!(code(text), ["one", "two", "```"]);
    }

    #[test]
    fn hidden_lines_are_code_and_keep_their_place() {
        let text = "```\n# use a::b;\n#\n##[x]\n#[derive(Debug)]\n```\n";
        assert_eq!(code(text), ["use a::b;\n\n#[x]\n#[derive(Debug)]"]);
        for line in &examples(&docs::markdown_file(text))[0].lines {
            assert!(text[line.offset..].starts_with(&line.text));
        }
    }

    #[test]
    fn ranges_of_the_wrapping_have_no_origin() {
        let example = Example { lines: vec![DocLine { text: "f();".into(), offset: 100 }] };
        let (mut text, mut mapped) = (String::new(), Vec::new());
        append(&mut text, &mut mapped, 0, Path::new("/a.rs"), &example);
        let shown = Doctests { shown: BTreeMap::from([(PathBuf::from("/d.rs"), mapped)]) };
        let at = text.find("f()").unwrap() as u32;
        let origin = shown.origin(Path::new("/d.rs"), TextRange::at(at.into(), 1.into()));
        assert_eq!(origin, Some((Path::new("/a.rs"), TextRange::at(100.into(), 1.into()))));
        assert_eq!(shown.origin(Path::new("/d.rs"), TextRange::at(0.into(), 3.into())), None);
    }

    #[test]
    fn an_example_that_does_not_parse_is_left_out() {
        let example = Example { lines: vec![DocLine { text: "let x = {".into(), offset: 0 }] };
        let (mut text, mut mapped) = (String::new(), Vec::new());
        append(&mut text, &mut mapped, 0, Path::new("/a.rs"), &example);
        assert!(text.is_empty() && mapped.is_empty());
    }
}
