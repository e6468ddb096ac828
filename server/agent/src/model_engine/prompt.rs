//! What every conversation begins with: who the model is here, and which tools it has. Byte for byte the same for all
//! stages of a task, so that a provider's cache holds it.

use serde_json::{Value, json};
use task::Digest;
use task::port::ToolSpec;

/// The instructions. `{word}` is the mark of quotations.
const SYSTEM: &str = include_str!("system.md");

pub(crate) fn system(word: &str) -> String {
    SYSTEM.replace("{word}", word)
}

/// Names the prompts and tools of this version, for the configuration id.
pub(crate) fn identity() -> Digest {
    let tools = serde_json::to_string(&tools()).unwrap_or_default();
    Digest::of([SYSTEM, &tools, env!("CARGO_PKG_VERSION")])
}

fn tool(name: &str, description: &str, properties: Value, required: &[&str]) -> ToolSpec {
    let parameters = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    ToolSpec { name: name.to_owned(), description: description.to_owned(), parameters }
}

/// All tools, in the order in which they are sent.
pub(crate) fn tools() -> Vec<ToolSpec> {
    let path = json!({"type": "string", "description": "relative to the top of the repository"});
    let text = |what: &str| json!({"type": "string", "description": what});
    let list = |what: &str| json!({"type": "array", "items": {"type": "string"}, "description": what});
    let line = |what: &str| json!({"type": "integer", "minimum": 1, "description": what});
    vec![
        tool(
            "read",
            "Lines of a file, as they are now.",
            json!({
                "path": path, "first_line": line("default 1"), "last_line": line("default: 400 lines further"),
            }),
            &["path"],
        ),
        tool(
            "search",
            "The most relevant pieces of code for words, names or paths.",
            json!({
                "query": text("words, identifiers, paths, an error message"),
            }),
            &["query"],
        ),
        tool(
            "symbol",
            "Definitions of a name, with their text.",
            json!({
                "name": text("`accepts`, `VersionReq::accepts`, `UserService.list`"),
            }),
            &["name"],
        ),
        tool(
            "references",
            "Where a name is used.",
            json!({
                "name": text("a name as `symbol` takes it"),
            }),
            &["name"],
        ),
        tool(
            "outline",
            "The items of a file with their lines, or the files of a folder.",
            json!({"path": path}),
            &["path"],
        ),
        tool(
            "edit",
            "Replace exact pieces of text, in one file or several. All of them are applied or none. `old` must occur exactly once in its file: take enough lines.",
            json!({
                "edits": {"type": "array", "minItems": 1, "items": {
                    "type": "object",
                    "properties": {"path": path, "old": text("exact text, whitespace included"), "new": text("what stands there afterwards")},
                    "required": ["path", "old", "new"], "additionalProperties": false,
                }},
            }),
            &["edits"],
        ),
        tool(
            "edit_symbol",
            "Replace a whole item (function, method, type, ...) by its name.",
            json!({
                "path": path, "name": text("`accepts` or `VersionReq::accepts`"), "text": text("the whole new item, attributes and comments included; empty removes it"),
            }),
            &["path", "name", "text"],
        ),
        tool("create", "A new file.", json!({"path": path, "text": text("all of it")}), &["path", "text"]),
        tool("delete", "Remove a file.", json!({"path": path}), &["path"]),
        tool("move", "Give a file another path.", json!({"from": path, "to": path}), &["from", "to"]),
        tool(
            "rename",
            "Rename a symbol everywhere, by meaning (Rust).",
            json!({
                "name": text("the symbol as `symbol` takes it"), "to": text("the new name"),
            }),
            &["name", "to"],
        ),
        tool(
            "replace_pattern",
            "Replace code by its structure and its resolved names, everywhere (Rust).",
            json!({
                "pattern": text("`$a.unwrap_or($b())`"), "template": text("`$a.unwrap_or_else($b)`"),
            }),
            &["pattern", "template"],
        ),
        tool(
            "assist",
            "One code action of rust-analyzer at a place, by its id (Rust).",
            json!({
                "id": text("such as `extract_function`, `inline_local_variable`, `convert_to_guarded_return`"), "path": path,
                "line": line("counted from 1"), "column": line("in characters, counted from 1"),
            }),
            &["id", "path", "line", "column"],
        ),
        tool(
            "check",
            "Run one of the project's checks on the tree as it is now.",
            json!({
                "check": text("the id of a check, from the list in the task"),
            }),
            &["check"],
        ),
        tool(
            "run",
            "Run a command in the sandbox, if the developer's settings allow it. What it writes is thrown away.",
            json!({
                "command": list("program and arguments"),
            }),
            &["command"],
        ),
        tool(
            "ask",
            "Questions to the developer, only where the answer changes the result and nothing in the repository answers it.",
            json!({
                "questions": {"type": "array", "minItems": 1, "maxItems": 8, "items": {
                    "type": "object",
                    "properties": {"text": text("one question"), "options": list("answers to choose from"), "why": text("what depends on it")},
                    "required": ["text", "options"], "additionalProperties": false,
                }},
            }),
            &["questions"],
        ),
        tool(
            "propose_plan",
            "The plan, while planning; or another plan in place of the present one, with the reason.",
            json!({
                "because": text("why the present plan does not do; empty while planning"),
                "steps": {"type": "array", "minItems": 1, "maxItems": 64, "items": {
                    "type": "object",
                    "properties": {
                        "id": text("a short name, such as `1` or `routes`"),
                        "title": text("one line"),
                        "paths": list("files this step may change, as paths or globs"),
                        "symbols": list("symbols it is about"),
                        "delivers": text("what is there when it is done"),
                        "acceptance": list("what must hold then; `test NAME passes` is checked by running it"),
                        "checks": list("ids of checks to run right after the step"),
                        "after": list("ids of steps it depends on"),
                        "reasoning": text("why this way"),
                    },
                    "required": ["id", "title", "paths", "delivers"], "additionalProperties": false,
                }},
            }),
            &["steps"],
        ),
        tool(
            "diagnose",
            "While diagnosing: the cause of the failures.",
            json!({
                "cause": text("what goes wrong and where, from the evidence"), "fix": text("what has to change"),
            }),
            &["cause", "fix"],
        ),
        tool(
            "answer",
            "While explaining: the answer, each statement with the lines that show it.",
            json!({
                "text": text("Markdown"),
                "citations": {"type": "array", "items": {
                    "type": "object",
                    "properties": {"path": path, "first_line": line("counted from 1"), "last_line": line("included")},
                    "required": ["path", "first_line", "last_line"], "additionalProperties": false,
                }},
            }),
            &["text", "citations"],
        ),
        tool(
            "done",
            "The step is finished: its change is complete and nothing more is needed.",
            json!({
                "summary": text("what was changed and why, in a few sentences"),
                "unfinished": list("what was not done, if anything"),
            }),
            &["summary"],
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_required_argument_is_declared() {
        for tool in tools() {
            for name in tool.parameters["required"].as_array().unwrap() {
                assert!(tool.parameters["properties"].get(name.as_str().unwrap()).is_some(), "{} {name}", tool.name);
            }
        }
        assert!(system("abc").contains("quote-abc") && !system("abc").contains("{word}"));
    }
}
