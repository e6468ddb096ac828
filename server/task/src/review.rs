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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Engine, HunkId, Judgement, Limits, Request, Scope, Source, UnixMillis};

    fn tree(digit: char) -> TreeId {
        digit.to_string().repeat(40).parse().unwrap()
    }

    fn judgement(tree: &TreeId) -> Box<Judgement> {
        let (reasons, comparisons, limitations) = (Vec::new(), Vec::new(), Vec::new());
        Box::new(Judgement { tree: tree.clone(), verified: true, reasons, comparisons, limitations })
    }

    fn rebased(onto: char, from: char, to: char) -> Event {
        let judgement = judgement(&tree(to));
        Event::Rebased { onto: tree(onto), from: tree(from), tree: tree(to), receipts: Vec::new(), judgement, ran: 0 }
    }

    fn rechecked(base: Option<char>, of: char) -> Event {
        let (base, judgement) = (base.map(tree), judgement(&tree(of)));
        Event::Rechecked { tree: tree(of), base, kept: Vec::new(), receipts: Vec::new(), judgement, ran: 0 }
    }

    /// Base `a`, tree `b`, where nothing else is said.
    fn with_diff(candidate: Option<Candidate>) -> State {
        let mut state = State::new(Request {
            id: "t".parse().unwrap(),
            request_id: None,
            source: Source::Editor,
            source_url: None,
            workspace: "/w".into(),
            description: String::new(),
            acceptance_criteria: Vec::new(),
            scope: Scope::default(),
            tools: Vec::new(),
            allowed_files: Vec::new(),
            base_revision: None,
            engine: Engine::Patch,
            candidate,
            trigger: None,
            constraints: Vec::new(),
            plan_policy: crate::PlanPolicy::default(),
            allowed_commands: Vec::new(),
            limits: Limits::default(),
            created: UnixMillis(0),
        });
        let (base, candidate) = (tree('a'), Some(tree('b')));
        state.apply(&Event::Snapshotted { base, candidate, limitations: Vec::new() });
        state.apply(&Event::DiffReady { tree: tree('b'), limitations: Vec::new(), ended: None, ran: 0 });
        state
    }

    fn offer(state: &State, of: char) -> Option<(TreeId, TreeId)> {
        state.offer(&tree(of)).map(|offered| (offered.base.clone(), offered.over.clone()))
    }

    #[test]
    fn a_revision_counts_what_a_reviewer_acts_on() {
        let mut state = with_diff(None);
        assert_eq!(state.revision, 1);
        let hunk: HunkId = "0123456789abcdef".parse().unwrap();
        let reason = None;
        for (event, revision, rejected) in [
            (Event::HunkRejected { hunk: hunk.clone(), reason: reason.clone() }, 2, 1),
            (rechecked(None, 'c'), 2, 1),
            (Event::HunkKept { hunk: hunk.clone() }, 3, 0),
            (Event::HunkRejected { hunk, reason }, 4, 1),
            (rebased('d', 'b', 'e'), 5, 0),
            (Event::Closed {}, 5, 0),
        ] {
            state.apply(&event);
            assert_eq!((state.revision, state.rejected.len()), (revision, rejected), "{event:?}");
        }
    }

    #[test]
    fn every_tree_is_relative_to_what_it_was_made_of() {
        let mut state = with_diff(None);
        state.apply(&rechecked(None, 'c'));
        state.apply(&rebased('d', 'c', 'e'));
        state.apply(&rechecked(Some('d'), 'f'));
        assert_eq!(state.reviewed(), Some((&tree('d'), &tree('e'))));
        for (of, base) in [('b', 'a'), ('c', 'a'), ('e', 'd'), ('f', 'd')] {
            assert_eq!(offer(&state, of), Some((tree(base), tree(base))), "{of}");
        }
        assert_eq!(offer(&state, 'a'), None);
    }

    #[test]
    fn a_working_tree_is_written_over_itself_and_compared_with_what_was_before() {
        let mut state = with_diff(Some(Candidate::Worktree));
        state.apply(&rechecked(Some('a'), 'c'));
        // The developer took everything back by hand: the files are the base again.
        state.apply(&rebased('a', 'c', 'd'));
        state.apply(&rechecked(Some('a'), 'd'));
        assert_eq!(state.reviewed(), Some((&tree('a'), &tree('b'))));
        assert_eq!(offer(&state, 'c'), Some((tree('a'), tree('b'))));
        assert_eq!(offer(&state, 'd'), Some((tree('a'), tree('a'))));
    }
}
