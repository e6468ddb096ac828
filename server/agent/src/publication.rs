//! Stations 15 to 17: an approved tree goes into the developer's files. Prepared, requested, verified: what a publisher
//! claims is a hint, what is read back is the end.

use task::port::Publisher;
use task::{Event, Publication, PublicationEnd, PublishedFile, Risk, Scope, TreeId, TreePath};
use worktree::{Frozen, Rebased};

use crate::cancel::CancelWatch;
use crate::{Error, walk::Walk};

/// The developer's yes. It names the bytes.
#[derive(Debug, Clone)]
pub struct Approval {
    pub tree: TreeId,
    /// Also when the tree is not verified.
    pub unverified: bool,
    /// Globs of files that act by themselves and may be written.
    pub consent: Vec<String>,
}

/// What came of an approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Applied {
    /// The publisher was asked, and this is what was read back.
    Ended(PublicationEnd),
    /// The files already are what the tree says.
    AlreadyThere,
    /// The workspace moved on. The change was brought onto it: another tree, checked, to be approved anew.
    Moved { tree: TreeId, verified: bool },
    /// Nothing was asked of the publisher, and why.
    Refused { reason: String },
}

impl Walk<'_> {
    /// Publishes an approved tree.
    ///
    /// # Errors
    /// When the journal, the store or the workspace cannot be worked with.
    pub fn apply(&mut self, approval: &Approval, publisher: &dyn Publisher) -> Result<Applied, Error> {
        let refused = |reason: String| Ok(Applied::Refused { reason });
        let _watch = CancelWatch::new(&self.house.journal, &self.lease, &self.house.cancel, None);
        // A publication that is not done comes first: files already written count as done. Where it cannot be finished
        // because the text moved on, the change goes the way of any change whose files moved.
        if let Some(open) = self.state.open_publication().cloned() {
            if open.undoes.is_some() || open.tree != approval.tree {
                let way = if open.undoes.is_some() {
                    "`understudy tasks undo` finishes it"
                } else {
                    "applying that tree finishes it, undo takes it back"
                };
                return refused(format!("the publication of tree {} is not done: {way}", open.tree));
            }
            let end = self.finish(&open, publisher)?;
            if matches!(end, PublicationEnd::Partial { .. } | PublicationEnd::Applied) {
                return Ok(Applied::Ended(end));
            }
        }
        let Some(over) = self.state.offer(&approval.tree).map(|offered| offered.over.clone()) else {
            let is_kept = self.state.reviewed().is_some() && self.kept_tree().is_ok_and(|kept| kept == approval.tree);
            return refused(if is_kept {
                format!("tree {} was not checked yet as the selection that it is", approval.tree)
            } else {
                format!("task {} has no tree {}; `understudy tasks show` names those it has", self.id(), approval.tree)
            });
        };
        if !self.state.is_verified(&approval.tree) && !approval.unverified {
            return refused(format!("tree {} is not verified; `--unverified` writes it all the same", approval.tree));
        }
        let current = self.current()?;
        if current.base == approval.tree {
            return Ok(Applied::AlreadyThere);
        }
        // Files that are in no tree (an ignored lock file, a submodule) decide what checks say, too.
        let same_environment = self.store.kept_provision(self.id())?.as_ref() == Some(&current.provision);
        // Where another selection of this task is in the files, the approved one takes its place.
        let other = self.state.last_applied().cloned().map(|last| last.tree).filter(|_| current.base != over);
        let expected = other.clone().unwrap_or_else(|| over.clone());
        if current.base != expected || !same_environment {
            let applied = self.rebase(&expected, &approval.tree, &current)?;
            // Taken out by hand, it has no place that could be taken.
            let again = applied == Applied::AlreadyThere && other.is_some();
            return if again { self.rebase(&over, &approval.tree, &current) } else { Ok(applied) };
        }
        let files = worktree::published_files(&self.store, &expected, &approval.tree)?;
        if let Some(conclusion) = self.leaves_the_scope(&expected, &approval.tree)? {
            return refused(conclusion.reasons().join("; "));
        }
        let needing = self.needing_consent(&expected, &approval.tree, &files);
        if let Some(reason) = missing_consent(&needing, &approval.consent)? {
            return refused(reason);
        }
        self.publish(&expected, &approval.tree, None, files, publisher).map(Applied::Ended)
    }

    /// Takes the last publication back; nothing is written where the text has moved on since.
    ///
    /// # Errors
    /// When the journal, the store or the workspace cannot be worked with.
    pub fn undo(&mut self, publisher: &dyn Publisher) -> Result<Applied, Error> {
        let last = match self.state.open_publication().cloned() {
            Some(open) if open.undoes.is_some() => return self.finish(&open, publisher).map(Applied::Ended),
            // What is written of it comes out again, without being finished first.
            Some(open) => Some(open),
            None => self.state.last_applied().cloned(),
        };
        let Some(last) = last else {
            return Ok(Applied::Refused {
                reason: format!("task {} has written nothing that could be taken back", self.id()),
            });
        };
        let swapped = last
            .files
            .into_iter()
            .map(|file| PublishedFile { before: file.after, after: file.before, ..file })
            .collect();
        self.publish(&last.tree, &last.base, Some(last.number), swapped, publisher).map(Applied::Ended)
    }

    fn finish(&mut self, open: &Publication, publisher: &dyn Publisher) -> Result<PublicationEnd, Error> {
        let end = match (&open.end, self.ask(&open.files, publisher)?) {
            // What is written in part stays so, whatever kept the rest from being written now.
            (Some(PublicationEnd::Partial { missing, .. }), PublicationEnd::Refused { reason }) => {
                PublicationEnd::Partial { missing: missing.clone(), reason }
            }
            (Some(PublicationEnd::Partial { missing, .. }), PublicationEnd::Diverged { paths }) => {
                let names: Vec<String> = paths.iter().map(ToString::to_string).collect();
                let reason = format!("{} changed where the rest would go", names.join(", "));
                PublicationEnd::Partial { missing: missing.clone(), reason }
            }
            (_, end) => end,
        };
        self.record(Event::Published { publication: open.number, end: end.clone() })?;
        Ok(end)
    }

    fn publish(
        &mut self,
        base: &TreeId,
        tree: &TreeId,
        undoes: Option<u32>,
        files: Vec<PublishedFile>,
        publisher: &dyn Publisher,
    ) -> Result<PublicationEnd, Error> {
        let publication = u32::try_from(self.state.publications.len()).unwrap_or(u32::MAX).saturating_add(1);
        let (base, tree) = (base.clone(), tree.clone());
        self.record(Event::PublicationPrepared { publication, base, tree, undoes, files: files.clone() })?;
        self.record(Event::PublicationRequested { publication })?;
        let end = self.ask(&files, publisher)?;
        self.record(Event::Published { publication, end: end.clone() })?;
        Ok(end)
    }

    /// Another process may take the task over at any moment; the fence is asked before each file.
    fn ask(&self, files: &[PublishedFile], publisher: &dyn Publisher) -> Result<PublicationEnd, Error> {
        let fence = || self.house.journal.fence(&self.lease).is_ok();
        Ok(publisher.publish(files, &fence)?)
    }

    /// Brings the change onto the files as they are now and judges what comes of it.
    fn rebase(&mut self, expected: &TreeId, tree: &TreeId, now: &Frozen) -> Result<Applied, Error> {
        let current = &now.base;
        let rebased = match worktree::rebase(&self.store, expected, tree, current)? {
            Rebased::Tree(rebased) => rebased,
            Rebased::Diverged { paths } => return Ok(Applied::Ended(PublicationEnd::Diverged { paths })),
        };
        if rebased == *current {
            return Ok(Applied::AlreadyThere);
        }
        self.house.audience.doing("the files moved on: checking the change on what is there now");
        self.store.keep(self.id(), current)?;
        self.store.keep(self.id(), &rebased)?;
        self.store.keep_provision(self.id(), &now.provision)?;
        let (receipts, judgement) = self.prove(&self.judged_against(current), &rebased)?;
        self.leave();
        let verified = judgement.verified;
        let (onto, from, tree, ran) = (current.clone(), tree.clone(), rebased.clone(), self.take_ran());
        self.record(Event::Rebased { onto, from, tree, receipts, judgement: Box::new(judgement), ran })?;
        Ok(Applied::Moved { tree: rebased, verified })
    }

    /// The workspace as it is now, with what stands in editors.
    pub(crate) fn current(&self) -> Result<Frozen, Error> {
        let options = self.freeze_options();
        let documents = self.house.documents.open(self.workspace.top());
        Ok(worktree::freeze(&self.workspace, &self.store, &documents, &options)?)
    }
}

/// Files that act by themselves are never part of "all of it".
fn missing_consent(needing: &[(TreePath, Risk)], consent: &[String]) -> Result<Option<String>, Error> {
    let paths = needing.iter().map(|(path, _)| path);
    let missing = if consent.is_empty() { paths.collect() } else { Scope::new(consent.to_vec())?.outside(paths)? };
    let Some(first) = missing.first() else { return Ok(None) };
    let why = needing.iter().find(|(path, _)| path == *first).map_or("acts by itself", |(_, risk)| risk.sentence());
    let more = match missing.len() {
        1 => String::new(),
        count => format!(", and {} more files need theirs", count - 1),
    };
    Ok(Some(format!("{first} {why}; writing it needs its own consent: `--consent {first}`{more}")))
}
