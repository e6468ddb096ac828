//! What a plain client is told: one line per message, and documents opened for it.

use lsp_types::{MessageActionItem, MessageType, ShowDocumentParams, ShowMessageRequestParams, Url};

use crate::act::{Crew, Done};
use crate::entry::{Entry, one_line};
use crate::line::Status;
use crate::mail::Refusal;
use crate::transport::Outgoing;

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
            return self.ask(&line.folder, &question.text, &question.options);
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

    /// A question with answers to choose from; the chosen one becomes a task.
    fn ask(&self, folder: &str, text: &str, options: &[String]) {
        if self.facts.rich {
            return;
        }
        let titles = options
            .iter()
            .take(8)
            .map(|title| MessageActionItem { title: one_line(title), properties: Default::default() });
        let params = ShowMessageRequestParams {
            typ: MessageType::INFO,
            message: format!("Understudy: {}", one_line(text)),
            actions: Some(titles.collect()),
        };
        self.outbox.put(Outgoing::Choose(params, options.to_vec(), folder.to_owned()));
    }
}
