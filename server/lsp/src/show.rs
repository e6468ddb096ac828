//! What a plain client is told: one line per message, and documents opened for it.

use lsp_types::{MessageActionItem, MessageType, ShowDocumentParams, ShowMessageRequestParams, Url};

use serde_json::json;

use crate::act::{Crew, Done};
use crate::choices::{Choice, answer_choices, next_question, plan_choices};
use crate::entry::{Entry, one_line};
use crate::line::{Status, TaskLine, WaitingFor};
use crate::mail::Refusal;
use crate::transport::Outgoing;

/// Options that a message can show at once.
const MOST_OPTIONS: usize = 8;

impl Crew {
    /// One line; a client that shows everything itself hears nothing.
    pub fn say(&self, typ: MessageType, text: &str) {
        if !self.facts.rich {
            self.outbox.put(Outgoing::Message(typ, format!("Understudy: {}", one_line(text))));
        }
    }

    pub fn say_refusal(&self, refusal: &Refusal) {
        self.say(MessageType::ERROR, refusal.sentence());
    }

    /// Opens a document of ours, or names it where the client cannot.
    pub fn open(&self, path: &std::path::Path) {
        if self.facts.rich {
            return;
        }
        match Url::from_file_path(path) {
            Ok(uri) if self.facts.shows_documents => {
                self.outbox.put(Outgoing::ShowDocument(ShowDocumentParams {
                    uri,
                    external: Some(false),
                    take_focus: Some(true),
                    selection: None,
                }));
            }
            _ => self.say(MessageType::INFO, &format!("written to {}", path.display())),
        }
    }

    /// How a task ended, or what it needs.
    pub fn say_end(&self, entry: &Entry, done: &Done) {
        let line = entry.line();
        if let Done::Outcome { word, sentence, .. } = done {
            let there = ["applied", "already there"].contains(word);
            let typ = if there { MessageType::INFO } else { MessageType::WARNING };
            return self.say(typ, &format!("{}: {sentence}", line.title));
        }
        if let Some(question) = &line.question {
            let choices = question.options.iter().map(|option| Choice {
                title: one_line(option),
                command: "understudy.task.create",
                argument: json!({ "description": option, "folder": line.folder }),
            });
            return self.ask(&question.text, choices.collect());
        }
        match line.waiting_for {
            Some(WaitingFor::Answers) => return self.ask_next(entry, &line),
            Some(WaitingFor::Plan) => {
                let choices = plan_choices(&line);
                return self.ask(&format!("{}: {}", line.title, line.sentence), choices);
            }
            Some(WaitingFor::Provider) => {
                let said = format!("{} waits and can be resumed: {}", line.title, line.sentence);
                return self.say(MessageType::WARNING, &said);
            }
            None => {}
        }
        let verdict = line.verdict.as_deref().unwrap_or("in progress");
        let why = if line.sentence.is_empty() { String::new() } else { format!(" ({})", line.sentence) };
        let review = match line.status {
            Status::Review => format!(
                ", {} hunk{} in {} file{} to review",
                line.hunks,
                if line.hunks == 1 { "" } else { "s" },
                line.files,
                if line.files == 1 { "" } else { "s" }
            ),
            _ => String::new(),
        };
        let typ = if verdict == "verified" { MessageType::INFO } else { MessageType::WARNING };
        self.say(typ, &format!("{}: {verdict}{review}{why}", line.title));
    }

    /// The next of the questions that wait; a client without an option that fits has the command line.
    fn ask_next(&self, entry: &Entry, line: &TaskLine) {
        let choices = answer_choices(entry, line);
        let Some(question) = line.questions.get(next_question(entry, line) - 1) else { return };
        let otherwise = format!("`understudy tasks answer {} ANSWER…` takes any other answer", line.id);
        self.ask(&format!("{}: {} ({otherwise})", line.title, question.text), choices);
    }

    /// A message with options to choose from.
    fn ask(&self, text: &str, choices: Vec<Choice>) {
        if self.facts.rich {
            return;
        }
        let titles = choices
            .iter()
            .take(MOST_OPTIONS)
            .map(|choice| MessageActionItem { title: choice.title.clone(), properties: Default::default() });
        let params = ShowMessageRequestParams {
            typ: MessageType::INFO,
            message: format!("Understudy: {}", one_line(text)),
            actions: Some(titles.collect()),
        };
        self.outbox.put(Outgoing::Choose(params, choices));
    }
}
