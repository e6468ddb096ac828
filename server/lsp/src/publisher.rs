//! [`EditorPublisher`]: approved bytes into documents that the editor has open, and into the files that it has not.
//!
//! Open documents are edited by `workspace/applyEdit`: one file per request, with its version. What the client answers is a
//! hint; the text that it then reports is what counts. A file that is not open is written by the file publisher: an edit
//! without a version would land on whatever text a client holds that we cannot see.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use agent::Blobs;
use lsp_types::{
    ApplyWorkspaceEditParams, DeleteFile, DocumentChangeOperation, DocumentChanges, OneOf,
    OptionalVersionedTextDocumentIdentifier, ResourceOp, TextDocumentEdit, WorkspaceEdit,
};
use task::port::{PublishError, Publisher};
use task::{Mode, PublicationEnd, PublishedFile, TreePath};

use crate::act::Crew;
use crate::documents::Look;
use crate::edits::{self, Planned};
use crate::folders::Folder;
use crate::mail::Mail;
use crate::transport::{Outgoing, SaveParams};

/// How long a client may take to answer an edit; it may ask its user.
const ANSWER: Duration = Duration::from_secs(60);
/// How long the changed text may take after the answer. Neovim sends changes 150 ms late, others later.
const TEXT: Duration = Duration::from_secs(10);
/// How long a client that refused may take to report that it did it all the same.
const TEXT_AFTER_NO: Duration = Duration::from_secs(1);

pub struct EditorPublisher {
    crew: Crew,
    folder: Folder,
    files: Box<dyn Publisher>,
    blobs: Blobs,
    unsaved: RefCell<Vec<TreePath>>,
    /// What was saved is on disk byte for byte.
    exact: Cell<bool>,
}

/// One file that the editor has open.
struct Open<'f> {
    file: &'f PublishedFile,
    path: PathBuf,
    /// Text before and after; `None` is no file.
    before: Option<String>,
    after: Option<String>,
    /// The document was what the disk has.
    clean: bool,
}

/// What came of one document.
enum Edited {
    There,
    /// As before, and why.
    Not(String),
    /// Neither as before nor as wanted, by what its user typed.
    Other(String),
    /// The editor made something of the edit, but not the whole.
    Part(String),
}

impl EditorPublisher {
    pub fn new(crew: Crew, folder: Folder, files: Box<dyn Publisher>, blobs: Blobs) -> Self {
        Self { crew, folder, files, blobs, unsaved: RefCell::default(), exact: Cell::new(true) }
    }

    /// Documents that hold the new text and are not saved.
    pub fn unsaved(&self) -> Vec<TreePath> {
        self.unsaved.borrow().clone()
    }

    /// Whether the disk has the approved bytes, not only their text in the form that an editor gives it.
    pub fn is_exact(&self) -> bool {
        self.exact.get()
    }

    fn look(&self, path: &std::path::Path) -> Option<Look> {
        self.crew.mailbox.ask(|reply| Mail::Look { path: path.to_owned(), reply }).flatten()
    }

    /// The files that go through the editor. Text alone does: modes, links and bytes that are no text go to the disk.
    fn open<'f>(&self, files: &'f [PublishedFile]) -> Result<(Vec<Open<'f>>, Vec<PublishedFile>), PublishError> {
        let (mut open, mut closed) = (Vec::new(), Vec::new());
        for file in files {
            let path = self.folder.document(&file.path);
            let Some(look) = self.look(&path) else {
                closed.push(file.clone());
                continue;
            };
            let same_mode = match (&file.before, &file.after) {
                (Some((_, before)), Some((_, after))) => before == after,
                (None, Some((_, mode))) => *mode == Mode::File,
                (before, None) => before.is_some(),
            };
            match (self.text(&file.before)?, self.text(&file.after)?) {
                (Some(before), Some(after)) if same_mode => {
                    let disk = std::fs::read_to_string(&path).ok().filter(|disk| edits::is_text_of(&look.text, disk));
                    let exact = |disk: &str, after: &str| edits::is_saved_exactly(&look.text, disk, after);
                    // What cannot be seen in a document, or would be saved as other bytes than those approved.
                    let unseen = match (&before, &after) {
                        (Some(before), Some(after)) => before != after && edits::is_text_of(before, after),
                        _ => false,
                    };
                    let inexact = match (&disk, &after) {
                        (Some(disk), Some(after)) => disk != after && !exact(disk, after),
                        _ => false,
                    };
                    if unseen || inexact {
                        closed.push(file.clone());
                    } else {
                        open.push(Open { file, path, before, after, clean: disk.is_some() });
                    }
                }
                _ => closed.push(file.clone()),
            }
        }
        Ok((open, closed))
    }

    /// The text of a side, `Some(None)` for no file, `None` for what is no text.
    fn text(&self, side: &Option<(String, Mode)>) -> Result<Option<Option<String>>, PublishError> {
        match side {
            None => Ok(Some(None)),
            Some((_, Mode::Symlink | Mode::Gitlink)) => Ok(None),
            Some((blob, _)) => {
                let bytes = self
                    .blobs
                    .read(blob)
                    .map_err(|error| PublishError { what: "read".into(), source: Box::new(error) })?;
                Ok(String::from_utf8(bytes).ok().map(Some))
            }
        }
    }

    /// Whether a document stands as the publication expects it: before it, already after it, or with a part of it made.
    fn stands(&self, open: &Open<'_>) -> bool {
        let Some(look) = self.look(&open.path) else { return true };
        [&open.before, &open.after].into_iter().flatten().any(|text| edits::is_text_of(&look.text, text))
            || self.is_between(open, &look)
    }

    /// Whether a document shows what this publication, asked for before, has done.
    fn has_begun(&self, open: &Open<'_>) -> bool {
        let Some(look) = self.look(&open.path) else { return false };
        matches!((&open.before, &open.after), (Some(before), Some(after)) if edits::shows_part(&look.text, before, after))
    }

    fn is_between(&self, open: &Open<'_>, look: &Look) -> bool {
        matches!((&open.before, &open.after), (Some(before), Some(after)) if edits::is_between(&look.text, before, after))
    }

    fn edit(&self, open: &Open<'_>) -> Edited {
        let Some(look) = self.look(&open.path) else { return Edited::Not("it was closed meanwhile".into()) };
        let Some(after) = &open.after else { return self.delete(open, &look) };
        if edits::is_text_of(&look.text, after) {
            return Edited::There;
        }
        let before = open.before.as_deref().unwrap_or_default();
        if !edits::is_text_of(&look.text, before) && !self.is_between(open, &look) {
            return Edited::Other("its text changed meanwhile".into());
        }
        if edits::has_lone_returns(&look.text) {
            let why = "it holds carriage returns that editors count in different ways; save it and apply again";
            return Edited::Not(why.into());
        }
        let Ok(Planned { edits, expected }) = edits::plan(&look.text, after, self.crew.facts.encoding) else {
            return Edited::Not("its text cannot be compared".into());
        };
        let text_document =
            OptionalVersionedTextDocumentIdentifier { uri: look.uri.clone(), version: Some(look.version) };
        let edits = edits.into_iter().map(OneOf::Left).collect();
        let edit = DocumentChanges::Edits(vec![TextDocumentEdit { text_document, edits }]);
        let answer = self.ask(edit);
        let patience = if matches!(answer, Answer::No(_)) { TEXT_AFTER_NO } else { TEXT };
        let deadline = Instant::now() + patience;
        let mut unlike = Arc::clone(&look.text);
        let now = loop {
            let (path, seen) = (open.path.clone(), Arc::clone(&unlike));
            let watch = |reply| Mail::Watch { path, unlike: seen, deadline, reply };
            match self.crew.mailbox.ask(watch).flatten() {
                Some(now) if edits::holds(&now.text, &look.text, &expected) => return Edited::There,
                Some(now) if Instant::now() < deadline => unlike = now.text,
                now => break now,
            }
        };
        match now {
            // It may still make the edit: that nothing was written cannot be said.
            Some(now) if now.text == look.text && matches!(answer, Answer::Silence) => Edited::Part(answer.why()),
            Some(now) if now.text == look.text => Edited::Not(answer.why()),
            Some(now) => {
                let why = format!("its text is neither the old nor the new one ({})", answer.why());
                let made = matches!(answer, Answer::Yes) || self.is_between(open, &now);
                if made { Edited::Part(why) } else { Edited::Other(why) }
            }
            // Closed: what the disk says counts.
            None => match std::fs::read_to_string(&open.path) {
                Ok(disk) if edits::is_text_of(&disk, after) => Edited::There,
                _ => Edited::Not("it was closed meanwhile".into()),
            },
        }
    }

    /// Deletes an open document: through the client where it can, so that no editor writes the file back.
    fn delete(&self, open: &Open<'_>, look: &Look) -> Edited {
        let before = open.before.as_deref().unwrap_or_default();
        if !edits::is_text_of(&look.text, before) {
            return Edited::Other("its text changed meanwhile".into());
        }
        if !(self.crew.facts.deletes && self.crew.facts.document_changes && open.clean) {
            return Edited::Not("it is open in the editor; close it and apply again".into());
        }
        let operation = ResourceOp::Delete(DeleteFile { uri: look.uri.clone(), options: None });
        let answer = self.ask(DocumentChanges::Operations(vec![DocumentChangeOperation::Op(operation)]));
        match answer {
            _ if open.path.symlink_metadata().is_err() => Edited::There,
            Answer::Silence => Edited::Part(answer.why()),
            _ => Edited::Not(answer.why()),
        }
    }

    fn ask(&self, changes: DocumentChanges) -> Answer {
        let edit = match changes {
            // The older form has no place for a version: the text that comes back tells.
            DocumentChanges::Edits(edits) if !self.crew.facts.document_changes => {
                let plain = |edit: OneOf<_, lsp_types::AnnotatedTextEdit>| match edit {
                    OneOf::Left(edit) => edit,
                    OneOf::Right(annotated) => annotated.text_edit,
                };
                let of_file =
                    |file: TextDocumentEdit| (file.text_document.uri, file.edits.into_iter().map(plain).collect());
                WorkspaceEdit { changes: Some(edits.into_iter().map(of_file).collect()), ..WorkspaceEdit::default() }
            }
            changes => WorkspaceEdit { document_changes: Some(changes), ..WorkspaceEdit::default() },
        };
        let params = ApplyWorkspaceEditParams { label: Some("Understudy".into()), edit };
        let (reply, answer) = channel();
        self.crew.outbox.put(Outgoing::ApplyEdit(Box::new(params), reply));
        match answer.recv_timeout(ANSWER) {
            Ok(Ok(answer)) if answer.applied => Answer::Yes,
            Ok(Ok(answer)) => Answer::No(answer.failure_reason.unwrap_or_else(|| "the editor refused the edit".into())),
            Ok(Err(error)) => Answer::No(format!("the editor answered with an error: {error}")),
            Err(_) => Answer::Silence,
        }
    }

    /// Has the client save what it had clean, and notes what is not on disk.
    fn save(&self, edited: &[&Open<'_>]) {
        let with_text = || edited.iter().filter(|open| open.after.is_some());
        let clean: Vec<_> = with_text().filter(|open| open.clean).collect();
        if self.crew.facts.rich && !clean.is_empty() {
            let uris = clean.iter().filter_map(|open| Some(self.look(&open.path)?.uri.to_string())).collect();
            let (reply, answer) = channel();
            self.crew.outbox.put(Outgoing::Save(SaveParams { uris }, reply));
            // The disk says what was saved.
            let _ = answer.recv_timeout(ANSWER);
        }
        let is_saved = |open: &Open<'_>| {
            let (Ok(disk), Some(after)) = (std::fs::read_to_string(&open.path), &open.after) else { return false };
            let saved = edits::is_text_of(&disk, after);
            self.exact.set(self.exact.get() && (!saved || disk == *after));
            saved
        };
        let unsaved = with_text().filter(|open| !is_saved(open)).map(|open| open.file.path.clone());
        self.unsaved.borrow_mut().extend(unsaved);
    }
}

enum Answer {
    Yes,
    No(String),
    Silence,
}

impl Answer {
    fn why(&self) -> String {
        match self {
            Self::Yes => "the editor says that it applied the edit, and its text says otherwise".into(),
            Self::No(why) => task::printable(why),
            Self::Silence => "the editor did not answer and may still make the edit".into(),
        }
    }
}

impl Publisher for EditorPublisher {
    fn publish(&self, files: &[PublishedFile], fence: &dyn Fn() -> bool) -> Result<PublicationEnd, PublishError> {
        let (open, closed) = self.open(files)?;
        if open.is_empty() {
            return self.files.publish(files, fence);
        }
        let moved: Vec<TreePath> =
            open.iter().filter(|open| !self.stands(open)).map(|open| open.file.path.clone()).collect();
        if !moved.is_empty() && open.iter().any(|open| self.has_begun(open)) {
            let reason = format!("{} changed meanwhile", moved[0]);
            return Ok(PublicationEnd::Partial { missing: moved, reason });
        }
        if !moved.is_empty() {
            return Ok(PublicationEnd::Diverged { paths: moved });
        }
        let (mut edited, mut missing, mut stopped) = (Vec::new(), Vec::new(), None);
        let mut in_part = false;
        let mut diverged = Vec::new();
        for open in &open {
            if stopped.is_some() {
                missing.push(open.file.path.clone());
                continue;
            }
            let result = if fence() { self.edit(open) } else { Edited::Not("the task has another owner now".into()) };
            match result {
                Edited::There => edited.push(open),
                Edited::Not(why) => {
                    missing.push(open.file.path.clone());
                    stopped = Some(format!("{}: {why}", open.file.path));
                }
                Edited::Part(why) => {
                    in_part = true;
                    missing.push(open.file.path.clone());
                    stopped = Some(format!("{}: {why}", open.file.path));
                }
                Edited::Other(why) => {
                    missing.push(open.file.path.clone());
                    diverged.push(open.file.path.clone());
                    stopped = Some(format!("{}: {why}", open.file.path));
                }
            }
        }
        self.save(&edited);
        let all_closed = || closed.iter().map(|file| file.path.clone());
        let nothing_made = edited.is_empty() && !in_part;
        match stopped {
            None => {}
            Some(_) if nothing_made && !diverged.is_empty() => {
                return Ok(PublicationEnd::Diverged { paths: diverged });
            }
            Some(reason) if nothing_made => return Ok(PublicationEnd::Refused { reason }),
            Some(reason) => {
                missing.extend(all_closed());
                missing.sort_unstable();
                return Ok(PublicationEnd::Partial { missing, reason });
            }
        }
        if closed.is_empty() {
            return Ok(PublicationEnd::Applied);
        }
        // The second leg. Part of the change is in the editor by now: whatever ends it here leaves it partial.
        Ok(match self.files.publish(&closed, fence)? {
            PublicationEnd::Diverged { paths } => {
                PublicationEnd::Partial { missing: paths, reason: "files changed on disk meanwhile".into() }
            }
            PublicationEnd::Refused { reason } => PublicationEnd::Partial { missing: all_closed().collect(), reason },
            end => end,
        })
    }
}
