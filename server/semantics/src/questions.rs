//! The ports' questions and answers as values, so that the same compiler can be asked in process or over a pipe.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use task::port::{
    Answer, Change, Gate, GateReport, Generation, Impact, Problem, Refactor, Refactored, Refactoring, Reference,
    Symbol, Symbols,
};
use task::{EditSet, TreePath};

/// One question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    Find { name: String },
    Outline { path: TreePath },
    References { path: TreePath, offset: usize },
    Refactor { refactoring: Refactoring },
    QuickFixes { problem: Problem },
    Gate { edited: Vec<TreePath> },
    Affected { changed: Vec<TreePath> },
}

/// Its answer, of the same kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    Find(Answer<Vec<Symbol>>),
    Outline(Answer<Vec<Symbol>>),
    References(Answer<Vec<Reference>>),
    Refactor(Answer<Refactored>),
    QuickFixes(Answer<Vec<EditSet>>),
    Gate(GateReport),
    Affected(Answer<Vec<String>>),
    /// Nothing could be answered, and why.
    Unknown(String),
}

/// Someone who has a compiler, or knows why there is none at present.
pub trait Ask: Send + Sync {
    /// Takes new text.
    fn push(&self, change: Change);
    /// As [`task::port::Compiler::rebase`].
    fn rebase(&self, base: Change) -> bool;
    /// Answers one question about the text of a generation.
    fn ask(&self, at: Generation, question: Question) -> Reply;
}

/// The ports, answered by whoever can be asked.
#[derive(Debug)]
pub struct Answers<T>(pub T);

/// Takes the answer of the right kind out of a reply; a reply of another kind is a malformed answer.
macro_rules! expect {
    ($reply:expr, $kind:ident) => {
        match $reply {
            Reply::$kind(answer) => answer,
            Reply::Unknown(reason) => Answer::Unknown { reason },
            _ => Answer::Unknown { reason: "the compiler answered another question".to_owned() },
        }
    };
}

impl<T: Ask> Symbols for Answers<T> {
    fn find(&self, at: Generation, name: &str) -> Answer<Vec<Symbol>> {
        expect!(self.0.ask(at, Question::Find { name: name.to_owned() }), Find)
    }

    fn outline(&self, at: Generation, path: &TreePath) -> Answer<Vec<Symbol>> {
        expect!(self.0.ask(at, Question::Outline { path: path.clone() }), Outline)
    }

    fn references(&self, at: Generation, path: &TreePath, offset: usize) -> Answer<Vec<Reference>> {
        expect!(self.0.ask(at, Question::References { path: path.clone(), offset }), References)
    }
}

impl<T: Ask> Refactor for Answers<T> {
    fn refactor(&self, at: Generation, refactoring: &Refactoring) -> Answer<Refactored> {
        expect!(self.0.ask(at, Question::Refactor { refactoring: refactoring.clone() }), Refactor)
    }

    fn quick_fixes(&self, at: Generation, problem: &Problem) -> Answer<Vec<EditSet>> {
        expect!(self.0.ask(at, Question::QuickFixes { problem: problem.clone() }), QuickFixes)
    }
}

impl<T: Ask> Gate for Answers<T> {
    fn gate(&self, at: Generation, edited: &[TreePath]) -> GateReport {
        match self.0.ask(at, Question::Gate { edited: edited.to_vec() }) {
            Reply::Gate(report) => report,
            Reply::Unknown(reason) => GateReport::Unknown { reason },
            _ => GateReport::Unknown { reason: "the compiler answered another question".to_owned() },
        }
    }
}

impl<T: Ask> Impact for Answers<T> {
    fn affected(&self, at: Generation, changed: &[TreePath]) -> Answer<Vec<String>> {
        expect!(self.0.ask(at, Question::Affected { changed: changed.to_vec() }), Affected)
    }
}

impl<T: Ask + 'static> task::port::Compiler for Answers<T> {
    fn push(&self, change: Change) {
        self.0.push(change);
    }

    fn rebase(&self, base: Change) -> bool {
        self.0.rebase(base)
    }
}

/// A whole text, by path.
pub type Texts = BTreeMap<TreePath, Arc<[u8]>>;

/// The files in which one whole text differs from another, as the other has them.
pub fn difference(one: &Texts, other: &Texts) -> Vec<(TreePath, Option<Arc<[u8]>>)> {
    let same = |one: &Arc<[u8]>, other: &Arc<[u8]>| Arc::ptr_eq(one, other) || one == other;
    let changed = other.iter().filter(|(path, bytes)| !one.get(*path).is_some_and(|before| same(before, bytes)));
    let changed = changed.map(|(path, bytes)| (path.clone(), Some(Arc::clone(bytes))));
    let gone = one.keys().filter(|path| !other.contains_key(*path)).map(|path| (path.clone(), None));
    changed.chain(gone).collect()
}
