//! What a reviewer acts on: the diff under review, the verdicts on its hunks, the trees that may be approved.

use crate::{Candidate, Event, State, TreeId};

/// A tree that may be approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offered {
    pub tree: TreeId,
    /// What the tree is compared with: hunks are cut between the two.
    pub base: TreeId,
    /// What the workspace has to show for the tree to be written as it is. Differs from `base` where the developer's
    /// working tree is the change itself.
    pub over: TreeId,
}

impl State {
    /// Base and tree of the diff under review: of the newest rebase, else of the task itself. A working tree that is the
    /// change stays under review as a whole: what a rebase of it shows is only what would be taken back.
    pub fn reviewed(&self) -> Option<(&TreeId, &TreeId)> {
        match self.rebases.last().filter(|_| !self.is_in_the_files()) {
            Some(rebase) => Some((&rebase.onto, &rebase.tree)),
            None => Some((self.base.as_ref()?, self.tree.as_ref()?)),
        }
    }

    /// The newest offer of this tree; `None` for a tree that nobody may approve.
    pub fn offer(&self, tree: &TreeId) -> Option<&Offered> {
        self.offered.iter().rev().find(|offered| offered.tree == *tree)
    }

    /// What the developer's files are expected to show before anything is written: the base, or where their working tree
    /// is the change, that.
    pub fn expected(&self) -> Option<&TreeId> {
        if self.is_in_the_files() { self.candidate.as_ref() } else { self.base.as_ref() }
    }

    /// Whether the change stood in the developer's files before the task began.
    pub fn is_in_the_files(&self) -> bool {
        self.request.candidate == Some(Candidate::Worktree)
    }

    /// The part of the fold that a reviewer sees.
    pub(crate) fn review(&mut self, event: &Event) {
        match event {
            Event::DiffReady { tree, .. } => {
                self.rejected.clear();
                if let (Some(base), Some(over)) = (self.base.clone(), self.expected().cloned()) {
                    self.offered.push(Offered { tree: tree.clone(), base, over });
                }
            }
            Event::Rechecked { tree, base, .. } => {
                let Some(base) = base.clone().or_else(|| self.base.clone()) else { return };
                let again = self.offer(tree).filter(|offered| offered.base == base).map(|offered| offered.over.clone());
                let own = self.expected().filter(|_| self.base.as_ref() == Some(&base)).cloned();
                let over = again.or(own).unwrap_or_else(|| base.clone());
                self.offered.push(Offered { tree: tree.clone(), base, over });
                // Not what is acted on: only what is known about it.
                return;
            }
            Event::Rebased { onto, tree, .. } => {
                // Verdicts belong to the hunks of one diff.
                if !self.is_in_the_files() {
                    self.rejected.clear();
                }
                self.offered.push(Offered { tree: tree.clone(), base: onto.clone(), over: onto.clone() });
            }
            Event::HunkRejected { hunk, .. } => {
                self.rejected.insert(hunk.clone());
            }
            Event::HunkKept { hunk } => {
                self.rejected.remove(hunk);
            }
            Event::PublicationPrepared { .. } | Event::Published { .. } | Event::Concluded { .. } => {}
            _ => return,
        }
        self.revision += 1;
    }
}
