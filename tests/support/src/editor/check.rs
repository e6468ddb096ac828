//! What must hold in everything that a server ever says to an editor, whatever the test is about.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::client::Client;
use super::desk::From;

/// Severities of diagnostics.
const INFORMATION: u64 = 3;
const HINT: u64 = 4;

/// Commands whose purpose is to show a document.
const OPENERS: [&str; 6] = [
    "understudy.review.open",
    "understudy.check.receipt",
    "understudy.check.compare",
    "understudy.doctor",
    "understudy.plan.open",
    "understudy.explain",
];

/// The rules that were broken, each with the message that broke it.
pub(crate) fn faults(client: &Client, transcript: &[(From, Value)]) -> Vec<String> {
    let mut found = Found::default();
    let mut asked: BTreeMap<i64, &str> = BTreeMap::new();
    let mut answered = BTreeSet::new();
    let mut progress = Progress::default();
    let mut commands: Vec<&Value> = Vec::new();
    // Documents that were asked for and not shown yet.
    let mut wanted = 0_u32;
    for (from, message) in transcript {
        let method = message["method"].as_str();
        match (from, method) {
            (From::Editor, Some(method)) => {
                if let Some(id) = message["id"].as_i64() {
                    asked.insert(id, method);
                }
                let command = message["params"]["command"].as_str().unwrap_or_default();
                wanted += u32::from(OPENERS.contains(&command));
            }
            (From::Editor, None) => {}
            (From::Server, None) => {
                let id = message["id"].as_i64().unwrap_or_default();
                let once = asked.contains_key(&id) && answered.insert(id);
                found.unless(once, "an answer to nothing, or a second one", message);
                if let Some(error) = message.get("error") {
                    found.unless(
                        error["code"].is_i64() && is_line(&error["message"]),
                        "an error without a sentence",
                        message,
                    );
                }
                match asked.get(&id).copied() {
                    Some("initialize") if message["result"].is_object() => {
                        capabilities(client, &message["result"], &mut found);
                        commands = list(&message["result"]["capabilities"]["executeCommandProvider"]["commands"]);
                    }
                    Some("textDocument/codeAction") => actions(client, &message["result"], &commands, &mut found),
                    Some("textDocument/codeLens") => {
                        let all = list(&message["result"]);
                        let known = all.iter().all(|lens| commands.contains(&&lens["command"]["command"]));
                        found.unless(known, "a lens whose command is not known", message);
                    }
                    _ => {}
                }
            }
            (From::Server, Some("$/progress")) => progress.take(message, &mut found),
            (From::Server, Some("window/workDoneProgress/create")) => {
                found.unless(client.progress, "progress for a client that shows none", message);
                progress.created.insert(message["params"]["token"].to_string());
            }
            (From::Server, Some(method)) => {
                if method == "window/showDocument" {
                    found.unless(wanted > 0, "a document that nobody asked for", message);
                    wanted = wanted.saturating_sub(1);
                }
                says(client, method, message, &mut found);
            }
        }
    }
    found.0
}

#[derive(Debug, Default)]
struct Found(Vec<String>);

impl Found {
    fn unless(&mut self, holds: bool, what: &str, message: &Value) {
        if !holds {
            self.0.push(format!("{what}: {message}"));
        }
    }
}

fn says(client: &Client, method: &str, message: &Value, found: &mut Found) {
    let params = &message["params"];
    match method {
        "window/showMessage" | "window/showMessageRequest" => {
            found.unless(is_line(&params["message"]), "a message of more than one line", message);
            found.unless(!client.rich, "a message to a client that shows tasks itself", message);
        }
        "window/logMessage" => {}
        "textDocument/publishDiagnostics" => {
            found.unless(!client.rich, "diagnostics for a client that shows tasks itself", message);
            let all = list(&params["diagnostics"]);
            found.unless(all.iter().all(|it| is_allowed(client, it)), "a diagnostic against the rule", message);
        }
        "window/showDocument" => {
            found.unless(
                client.show_document && !client.rich,
                "a document for a client that does not want it",
                message,
            );
        }
        "workspace/applyEdit" => edit(client, message, found),
        "workspace/codeLens/refresh" => found.unless(client.code_lens, "lenses for a client that has none", message),
        "understudy/taskChanged" | "understudy/save" => {
            found.unless(client.rich, "something of our own to a plain client", message);
        }
        "understudy/model" | "understudy/modelOver" => {
            found.unless(client.model.is_some(), "a call to a model that the client does not lend", message);
        }
        _ => found.unless(false, "something that no client agreed to", message),
    }
}

/// Only what waits for the developer is in the list of problems, and hints only where there are no lenses.
fn is_allowed(client: &Client, diagnostic: &Value) -> bool {
    let severity = diagnostic["severity"].as_u64();
    let allowed = severity == Some(INFORMATION) || (severity == Some(HINT) && !client.code_lens);
    allowed && diagnostic["source"] == "understudy" && is_line(&diagnostic["message"])
}

/// One file in each edit, with its version, in the form that the client knows.
fn edit(client: &Client, message: &Value, found: &mut Found) {
    let edit = &message["params"]["edit"];
    if !client.document_changes {
        let files = edit["changes"].as_object().map_or(0, serde_json::Map::len);
        return found.unless(files == 1 && edit["documentChanges"].is_null(), "not one file in an edit", message);
    }
    let changes = list(&edit["documentChanges"]);
    found.unless(changes.len() == 1 && edit["changes"].is_null(), "not one file in an edit", message);
    for change in changes {
        if change["kind"].is_string() {
            found.unless(client.resource_operations, "an operation that the client has not", message);
            continue;
        }
        let version = change["textDocument"].get("version");
        let present = version.is_some_and(|version| version.is_i64() || version.is_null());
        found.unless(present, "an edit without a version", message);
    }
}

/// Commands and nothing else: an edit inside an action would be made without being looked at.
fn actions(client: &Client, result: &Value, commands: &[&Value], found: &mut Found) {
    for action in list(result) {
        found.unless(action["edit"].is_null(), "an action with an edit in it", action);
        let command = &action["command"]["command"];
        // A client of ours carries out a few by itself.
        let own = client.rich && command.as_str().is_some_and(|name| name.starts_with("understudy.client."));
        found.unless(own || commands.contains(&command), "an action whose command is not known", action);
        found.unless(is_line(&action["title"]), "an action without a title", action);
    }
}

fn capabilities(client: &Client, result: &Value, found: &mut Found) {
    let offered = &result["capabilities"];
    let quiet = [
        "hoverProvider",
        "completionProvider",
        "renameProvider",
        "definitionProvider",
        "referencesProvider",
        "documentFormattingProvider",
        "documentRangeFormattingProvider",
        "signatureHelpProvider",
        "diagnosticProvider",
    ];
    let silent = quiet.iter().all(|name| offered[*name].is_null() || offered[*name] == false);
    found.unless(silent, "something beside what other servers do", result);
    let encoding = offered["positionEncoding"].as_str().unwrap_or("utf-16");
    let known = encoding == "utf-16" || client.encodings.iter().any(|it| it.name() == encoding);
    found.unless(known, "an encoding that was not offered", result);
    let negotiated = !offered["experimental"]["understudy"].is_null();
    found.unless(negotiated == client.rich, "a protocol that was not negotiated", result);
}

/// Each bar is created, begins, goes on and ends once.
#[derive(Debug, Default)]
struct Progress {
    created: BTreeSet<String>,
    begun: BTreeSet<String>,
}

impl Progress {
    fn take(&mut self, message: &Value, found: &mut Found) {
        let (token, value) = (message["params"]["token"].to_string(), &message["params"]["value"]);
        let fits = match value["kind"].as_str() {
            Some("begin") => self.created.contains(&token) && self.begun.insert(token),
            Some("report") => self.begun.contains(&token),
            Some("end") => self.created.remove(&token) && self.begun.remove(&token),
            _ => false,
        };
        found.unless(fits, "progress out of order", message);
        let several = value["message"].as_str().is_some_and(|text| text.contains(['\n', '\r']));
        found.unless(!several, "progress of several lines", message);
    }
}

fn is_line(text: &Value) -> bool {
    text.as_str().is_some_and(|text| !text.trim().is_empty() && !text.contains(['\n', '\r']))
}

fn list(value: &Value) -> Vec<&Value> {
    value.as_array().into_iter().flatten().collect()
}
