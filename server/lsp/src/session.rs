//! [`Session`]: everything that changes while a client is connected. The loop owns it; nobody else sees it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use lsp_types::Diagnostic;
use serde_json::Value;
use task::{TaskId, TreePath};

use crate::client::Facts;
use crate::desk::Desk;
use crate::documents::{Documents, Look};
use crate::entry::{Entry, shows_the_tree};
use crate::folders::{Folder, Folders};
use crate::hints::{Hint, Reviewed, Wanted};
use crate::lending::Lending;
use crate::mail::{Mail, Reply};
use crate::progress::Progresses;
use crate::stale::Stale;

/// Clients hear of a task this often at most.
pub const TELL: Duration = Duration::from_millis(100);
/// Tasks that other processes work on are looked at this often: nobody tells us of them.
const LOOK: Duration = Duration::from_secs(2);

#[derive(Default)]
pub struct Session {
    pub facts: Facts,
    pub folders: Folders,
    pub documents: Documents,
    pub entries: BTreeMap<TaskId, Entry>,
    pub desk: Desk,
    pub progresses: Progresses,
    pub hints: BTreeMap<PathBuf, Vec<Hint>>,
    pub stale: Stale,
    /// Tasks that clients have not heard the newest of.
    pub changed: BTreeSet<TaskId>,
    pub told: Option<Instant>,
    pub watches: Vec<Watch>,
    /// When tasks of other processes were last looked at, and whether that look is not over.
    pub looked: Option<Instant>,
    pub looking: bool,
    /// What the client shows.
    pub published: BTreeMap<PathBuf, Vec<Diagnostic>>,
    /// Who waits for the end of a cancelled task.
    pub cancelling: Vec<(TaskId, Reply<Value>)>,
    /// Folders whose earlier tasks are being read, and the requests that wait for them.
    pub restoring: usize,
    pub held: Vec<Mail>,
    pub lending: Lending,
    /// Whether a model is configured, and if not why; `None` until somebody has looked.
    pub model: Option<Result<(), String>>,
    pub shut_down: bool,
}

/// An act that waits for the text of a document.
#[derive(Debug)]
pub struct Watch {
    pub path: PathBuf,
    pub unlike: Arc<str>,
    pub deadline: Instant,
    pub reply: Sender<Option<Look>>,
}

impl Session {
    /// Answers the watches of a document whose text is another one now, or that is closed.
    pub fn serve_watches(&mut self, path: &PathBuf) {
        let look = self.documents.get(path);
        self.watches.retain(|watch| {
            let done = watch.path == *path && look.is_none_or(|look| look.text != watch.unlike);
            if done {
                // An act that is gone needs no answer.
                let _ = watch.reply.send(look.cloned());
            }
            !done
        });
    }

    /// Answers the watches whose time is over with the text as it is.
    pub fn expire_watches(&mut self, now: Instant) {
        let documents = &self.documents;
        self.watches.retain(|watch| {
            let over = watch.deadline <= now;
            if over {
                let _ = watch.reply.send(documents.get(&watch.path).cloned());
            }
            !over
        });
    }

    /// The folder of a task; `None` when the client has closed it meanwhile.
    pub fn folder_of(&self, entry: &Entry) -> Option<&Folder> {
        self.folders.by_path(&entry.state.request.workspace)
    }

    /// What acts take turns in: one repository is one workspace, whichever of its folders are open.
    pub fn workspace(&self, folder: &str) -> String {
        let top = self.folders.by_path(folder).map(|folder| folder.top.to_string_lossy().into_owned());
        top.unwrap_or_else(|| folder.to_owned())
    }

    /// Tasks that other processes work on, or may begin to: the command line answers questions too.
    pub fn elsewhere(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values().filter(|entry| entry.is_for_others())
    }

    /// When to look at them; `None` while there are none or somebody looks.
    pub fn next_look_elsewhere(&self, now: Instant) -> Option<Instant> {
        let wanted = !self.looking && self.elsewhere().next().is_some();
        // The caller compares with its own present: a later one would never be reached.
        wanted.then(|| self.looked.map_or(now, |looked| looked + LOOK))
    }

    /// Tasks under review, with their folders.
    pub fn reviews(&self) -> impl Iterator<Item = (&Entry, &Folder)> {
        let entries = self.entries.values().filter(|entry| entry.is_in_review());
        entries.filter_map(|entry| Some((entry, self.folder_of(entry)?)))
    }

    /// What has to be worked out: each file of each review.
    pub fn wanted(&self) -> Vec<Wanted> {
        let mut files: BTreeMap<PathBuf, Vec<Reviewed>> = BTreeMap::new();
        for (entry, folder) in self.reviews() {
            let Some(report) = &entry.report else { continue };
            let worktree = shows_the_tree(&entry.state);
            let mut by_path: BTreeMap<&TreePath, Vec<_>> = BTreeMap::new();
            for hunk in &report.hunks {
                let (path, start, count) = if worktree {
                    (&hunk.path, hunk.new_start, hunk.new_lines)
                } else {
                    (&hunk.old_path, hunk.base_start, hunk.base_lines)
                };
                let start = start.saturating_sub(1);
                by_path.entry(path).or_default().push((hunk.id.clone(), start..start + count));
            }
            for (path, hunks) in by_path {
                let shown = entry.shown.get(path).cloned();
                let reviewed = Reviewed { task: entry.id.clone(), shown, hunks };
                files.entry(folder.document(path)).or_default().push(reviewed);
            }
        }
        let text = |path: &PathBuf| self.documents.get(path).map(|look| look.text.clone());
        files.into_iter().map(|(path, reviews)| Wanted { text: text(&path), path, reviews }).collect()
    }

    /// Open documents below a folder, by tree path.
    pub fn documents_below(&self, top: &std::path::Path) -> Vec<(TreePath, Arc<str>)> {
        let mut found: BTreeMap<TreePath, Arc<str>> = BTreeMap::new();
        // Whoever asks knows the top; a folder may not know its own yet.
        for (path, look) in self.documents.iter() {
            let mut below = self.folders.iter().filter_map(|folder| folder.tree_path_below(top, path));
            if let Some(path) = below.next() {
                found.insert(path, Arc::clone(&look.text));
            }
        }
        found.into_iter().collect()
    }

    /// When the loop has to look again although no mail comes.
    pub fn next_look(&self) -> Option<Instant> {
        let now = Instant::now();
        let tell = (!self.changed.is_empty()).then(|| self.told.map_or(now, |told| told + TELL));
        let watch = self.watches.iter().map(|watch| watch.deadline).min();
        // Callers that cancelled their requests, and a client that died without a word.
        let usual = (!self.desk.is_idle() || self.facts.process.is_some()).then(|| now + Duration::from_millis(500));
        [self.stale.due(), tell, watch, usual, self.next_look_elsewhere(now)].into_iter().flatten().min()
    }
}
