//! What the compiler engine understands: a small grammar, and a refusal that says all of it.

use task::{Position, StepAction, TreePath};

/// The whole grammar, as shown to people.
pub const FORMS: &[(&str, &str)] = &[
    (
        "rename SYMBOL [at PATH:LINE:COLUMN] to NEW",
        "functions, types, fields, variants, modules with their files; doc links and doc tests included",
    ),
    ("fix warnings", "what rustc can mend by itself, to a fixpoint"),
    ("fix clippy [LINT...]", "the same for clippy, all lints or the named ones"),
    ("fix errors", "rustc's own suggestions, and imports, match arms, fields, trait items, unresolved names"),
    ("replace PATTERN ==>> TEMPLATE", "typed structural search and replace, with $placeholders"),
    ("assist ID at PATH:LINE:COLUMN", "one code action of the compiler"),
];

/// A text that is not a task for the compiler engine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GrammarError {
    #[error("`{text}` is not a task that the compiler engine can take{}", meant(text))]
    FreeForm { text: String },
    #[error("`{form}`: {what}")]
    Malformed { form: &'static str, what: String },
}

/// Reads a task text. Symbols, patterns and templates may stand in backticks.
///
/// # Errors
/// [`GrammarError::FreeForm`] when no form begins like this, [`GrammarError::Malformed`] when one does and the rest
/// does not fit it.
pub fn parse(text: &str) -> Result<StepAction, GrammarError> {
    let text = text.trim();
    let (verb, rest) = word(text);
    let free_form = || GrammarError::FreeForm { text: task::printable(&text.chars().take(72).collect::<String>()) };
    match verb.to_ascii_lowercase().as_str() {
        "rename" => rename(rest),
        "fix" => fix(rest).ok_or_else(free_form)?,
        "replace" => replace(rest),
        "assist" => assist(rest),
        _ => Err(free_form()),
    }
}

/// How a form begins that this was perhaps meant to be, as the end of a sentence; empty where nothing is near.
fn meant(text: &str) -> String {
    nearest(text).map_or(String::new(), |begin| format!(" (did you mean `{begin}`?)"))
}

/// The task that was meant, where a text is one but for a slip of the finger in its first words.
pub fn slip(text: &str) -> Option<String> {
    let begin = nearest(text)?;
    let rest: Vec<&str> = text.split_whitespace().skip(begin.split_whitespace().count()).collect();
    parse(format!("{begin} {}", rest.join(" ")).trim()).ok().map(|action| write(&action))
}

/// How the form begins that a text comes near to.
fn nearest(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    let words: Vec<&str> = text.split_whitespace().collect();
    let away = |begin: &str| {
        let count = begin.split_whitespace().count().min(words.len());
        strsim::osa_distance(begin, &words[..count].join(" "))
    };
    let begins = ["fix warnings", "fix clippy", "fix errors", "rename", "replace", "assist"];
    let nearest = begins.into_iter().map(|begin| (away(begin), begin)).min();
    // At two letters people slipped; further away they meant something else.
    nearest.filter(|(away, _)| (1..=2).contains(away)).map(|(_, begin)| begin)
}

fn malformed(form: usize, what: impl Into<String>) -> GrammarError {
    GrammarError::Malformed { form: FORMS[form].0, what: what.into() }
}

/// The first word and what follows it.
fn word(text: &str) -> (&str, &str) {
    text.split_once(char::is_whitespace).map_or((text, ""), |(word, rest)| (word, rest.trim()))
}

/// A term without the backticks around it.
fn bare(text: &str) -> String {
    let text = text.trim();
    text.strip_prefix('`').and_then(|text| text.strip_suffix('`')).unwrap_or(text).trim().to_owned()
}

/// Words that may stand before a symbol; its path says what it is anyway.
const KINDS: [&str; 15] = [
    "the", "module", "mod", "function", "fn", "method", "type", "struct", "enum", "trait", "field", "variant", "const",
    "static", "macro",
];

/// Words that Rust keeps for itself in every edition, and in 2018 and later.
const KEYWORDS: [&str; 50] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "if", "impl", "in", "let", "loop", "macro", "match", "mod",
    "move", "mut", "override", "priv", "pub", "ref", "return", "self", "Self", "static", "struct", "super", "trait",
    "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "yield",
];

fn rename(rest: &str) -> Result<StepAction, GrammarError> {
    let unfinished = || malformed(0, "say which symbol, then `to`, then its new name");
    let (symbol, new_name) = rest.rsplit_once(" to ").ok_or_else(unfinished)?;
    // A symbol holds no white space, so what follows ` at ` is a place.
    let (symbol, at) = match symbol.split_once(" at ") {
        Some((symbol, at)) => (symbol, Some(place(0, at)?)),
        None => (symbol, None),
    };
    let mut words: Vec<&str> = symbol.split_whitespace().collect();
    while words.len() > 1 && KINDS.contains(&words[0]) {
        words.remove(0);
    }
    let (symbol, new_name) = (bare(&words.join(" ")), bare(new_name));
    if symbol.is_empty() || symbol.contains(char::is_whitespace) {
        return Err(unfinished());
    }
    let name = new_name.strip_prefix("r#").unwrap_or(&new_name);
    let starts_well = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    if !starts_well || name == "_" || !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return Err(malformed(0, format!("`{}` is not a name that Rust allows", task::printable(&new_name))));
    }
    if KEYWORDS.contains(&new_name.as_str()) {
        return Err(malformed(0, format!("`{new_name}` is a keyword of Rust")));
    }
    Ok(StepAction::Rename { symbol, new_name, at })
}

fn fix(rest: &str) -> Option<Result<StepAction, GrammarError>> {
    let (what, lints) = word(rest);
    let action = match what.to_ascii_lowercase().as_str() {
        "warnings" if lints.is_empty() => StepAction::FixWarnings,
        "errors" if lints.is_empty() => StepAction::FixErrors,
        "clippy" => {
            let names = lints.split(|c: char| c.is_whitespace() || c == ',').filter(|name| !name.is_empty());
            let lints: Vec<String> =
                names.map(bare).map(|name| name.trim_start_matches("clippy::").replace('-', "_")).collect();
            let is_lint = |name: &String| {
                name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_' || byte.is_ascii_digit())
            };
            if let Some(odd) = lints.iter().find(|name| !is_lint(name)) {
                return Some(Err(malformed(2, format!("`{}` is not a lint name", task::printable(odd)))));
            }
            StepAction::FixClippy { lints }
        }
        _ => return None,
    };
    Some(Ok(action))
}

fn replace(rest: &str) -> Result<StepAction, GrammarError> {
    let Some((pattern, template)) = rest.split_once("==>>") else {
        return Err(malformed(4, "put `==>>` between the pattern and the template"));
    };
    let (pattern, template) = (bare(pattern), bare(template));
    if pattern.is_empty() {
        return Err(malformed(4, "the pattern is empty"));
    }
    Ok(StepAction::Replace { pattern, template })
}

fn assist(rest: &str) -> Result<StepAction, GrammarError> {
    let (id, rest) = word(rest);
    let rest = rest.strip_prefix("at ").ok_or_else(|| malformed(5, "`at` and a place are missing after the id"))?;
    let Position { path, line, column } = place(5, rest)?;
    Ok(StepAction::Assist { id: bare(id), path: path.to_string(), line, column })
}

/// A place in a file of the project.
fn place(form: usize, text: &str) -> Result<Position, GrammarError> {
    let at = bare(text);
    let mut parts = at.rsplitn(3, ':');
    let mut number = || parts.next().and_then(|part| part.parse::<u32>().ok()).filter(|&number| number > 0);
    let (column, line) = (number(), number());
    let (Some(path), Some(line), Some(column)) = (parts.next(), line, column) else {
        return Err(malformed(form, "the place cannot be read; it is PATH:LINE:COLUMN, counted from 1"));
    };
    let path = TreePath::parse_escaped(path.trim_start_matches("./"));
    let path = path.map_err(|error| malformed(form, error.to_string()))?;
    Ok(Position { path, line, column })
}

/// The task in a form that [`parse`] reads back to the same action.
pub fn write(action: &StepAction) -> String {
    match action {
        StepAction::Rename { symbol, new_name, at: None } => format!("rename `{symbol}` to `{new_name}`"),
        StepAction::Rename { symbol, new_name, at: Some(at) } => format!("rename `{symbol}` at {at} to `{new_name}`"),
        StepAction::FixWarnings => "fix warnings".into(),
        StepAction::FixClippy { lints } if lints.is_empty() => "fix clippy".into(),
        StepAction::FixClippy { lints } => format!("fix clippy {}", lints.join(" ")),
        StepAction::FixErrors => "fix errors".into(),
        StepAction::Replace { pattern, template } => format!("replace {pattern} ==>> {template}"),
        StepAction::Assist { id, path, line, column } => format!("assist {id} at {path}:{line}:{column}"),
        StepAction::Prove => "prove the change".into(),
        StepAction::Write { delivers } => delivers.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read_with_and_without_backticks() {
        for (text, canonical) in [
            ("rename VersionReq::matches to accepts", "rename `VersionReq::matches` to `accepts`"),
            ("  Rename `a::b` to `c` ", "rename `a::b` to `c`"),
            ("rename the module shapes to forms", "rename `shapes` to `forms`"),
            ("rename x to r#type", "rename `x` to `r#type`"),
            ("rename x at ./src/a b.rs:3:14 to y", "rename `x` at src/a b.rs:3:14 to `y`"),
            ("rename `x` at `to at/lib.rs:1:1` to `y`", "rename `x` at to at/lib.rs:1:1 to `y`"),
            ("fix warnings", "fix warnings"),
            ("fix clippy", "fix clippy"),
            ("fix clippy clippy::needless-return, `redundant_clone`", "fix clippy needless_return redundant_clone"),
            ("FIX errors", "fix errors"),
            ("replace foo($a, $b) ==>> $a.foo($b)", "replace foo($a, $b) ==>> $a.foo($b)"),
            ("replace `foo($a)` ==>> `bar($a)`", "replace foo($a) ==>> bar($a)"),
            ("assist extract_variable at src/a:b.rs:3:14", "assist extract_variable at src/a:b.rs:3:14"),
        ] {
            let action = parse(text).unwrap();
            assert_eq!(write(&action), canonical);
            assert_eq!(parse(canonical).unwrap(), action);
        }
    }

    #[test]
    fn a_slip_of_the_finger_is_told_from_another_wish() {
        for (text, meant) in
            [("fix warings", "fix warnings"), ("Fix clipy needless_return", "fix clippy"), ("renmae a to b", "rename")]
        {
            let said = parse(text).unwrap_err().to_string();
            assert!(said.ends_with(&format!("(did you mean `{meant}`?)")), "{said}");
        }
        assert_eq!(slip("renmae a  to b").as_deref(), Some("rename `a` to `b`"));
        assert_eq!(slip("fix error handling in the parser"), None);
        assert_eq!(slip("fix warnings"), None);
        for text in ["add pagination to /users", "fix the login page", "", "fix warnings in src"] {
            assert!(parse(text).unwrap_err().to_string().ends_with("can take"), "{text}");
        }
    }

    #[test]
    fn free_text_is_told_from_a_form_that_is_not_finished() {
        for free in ["add pagination to /users", "fix the login page", "", "fix warnings in src"] {
            assert!(matches!(parse(free), Err(GrammarError::FreeForm { .. })), "{free}");
        }
        for broken in [
            "rename a",
            "rename a to",
            "rename a to 1x",
            "rename a to fn",
            "rename a b to c",
            "rename a at to c",
            "rename a at x.rs:1 to c",
            "rename a at /x.rs:1:1 to c",
            "replace x",
            "replace ==>> y",
            "assist x",
            "assist x at y:1",
            "assist x at y:0:1",
        ] {
            assert!(matches!(parse(broken), Err(GrammarError::Malformed { .. })), "{broken}");
        }
    }
}
