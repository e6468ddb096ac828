//! A loaded compiler answers questions: one at a time, each contained, so that a panic of the compiler is "unknown".

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use task::TreePath;
use task::port::{Change, Generation, Refactored, Refactoring};

use crate::analysis::Analysis;
use crate::load::panic_text;
use crate::questions::{Answers, Ask, Question, Reply, Texts, difference};

/// The compiler in this process: what the worker runs, and what tests ask directly.
pub type InProcess = Answers<Mutex<Analysis>>;

impl InProcess {
    /// Answers questions about a loaded tree.
    pub fn new(analysis: Analysis) -> InProcess {
        Answers(Mutex::new(analysis))
    }
}

impl Ask for Mutex<Analysis> {
    fn push(&self, change: Change) {
        let mut analysis = self.lock().unwrap_or_else(PoisonError::into_inner);
        // A panic here would be the compiler's; the next question answers for the text that did arrive.
        let _ = catch_unwind(AssertUnwindSafe(|| analysis.push(&change)));
    }

    fn rebase(&self, base: Change) -> bool {
        let new: Texts = base.files.into_iter().filter_map(|(path, bytes)| Some((path, bytes?))).collect();
        let (files, differing) = {
            let analysis = self.lock().unwrap_or_else(PoisonError::into_inner);
            (difference(analysis.files(), &new), difference(analysis.base(), &new))
        };
        let differing: Vec<TreePath> = differing.into_iter().map(|(path, _)| path).collect();
        rebase(self, &Change { generation: base.generation, files }, &differing)
    }

    fn ask(&self, at: Generation, question: Question) -> Reply {
        let mut analysis = self.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(reason) = analysis.check(at) {
            return Reply::Unknown(reason);
        }
        match catch_unwind(AssertUnwindSafe(|| analysis.answer(question))) {
            Ok(reply) => reply,
            Err(panic) => {
                // A question that changed the text for itself may not have changed it back.
                analysis.restore();
                Reply::Unknown(format!("the compiler gave up on this question: {}", panic_text(&*panic)))
            }
        }
    }
}

/// [`Analysis::rebase`], contained. After a panic of the compiler the text is nobody's any more, and the answer is no.
pub fn rebase(analysis: &Mutex<Analysis>, change: &Change, differing: &[TreePath]) -> bool {
    let mut analysis = analysis.lock().unwrap_or_else(PoisonError::into_inner);
    catch_unwind(AssertUnwindSafe(|| analysis.rebase(change, differing))).unwrap_or(false)
}

impl Analysis {
    fn answer(&mut self, question: Question) -> Reply {
        match question {
            Question::Find { name } => Reply::Find(self.known(self.attached(|| self.find(&name)))),
            Question::Outline { path } => match self.text(&path) {
                Some(_) => Reply::Outline(self.known(self.attached(|| self.outline(&path)))),
                None => Reply::Unknown(not_analysed(&path)),
            },
            Question::References { path, offset } => match self.attached(|| self.references(&path, offset)) {
                Ok(found) => Reply::References(self.known(found)),
                Err(reason) => Reply::Unknown(reason),
            },
            Question::Refactor { refactoring } => {
                let refactored = self.refactor(&refactoring);
                Reply::Refactor(self.known(refactored))
            }
            Question::QuickFixes { problem } => match self.text(&problem.path) {
                Some(_) => Reply::QuickFixes(self.known(self.quick_fixes(&problem))),
                None => Reply::Unknown(not_analysed(&problem.path)),
            },
            Question::Gate { edited } => Reply::Gate(self.gate(&edited)),
            Question::Affected { changed } => Reply::Affected(self.known(self.affected(&changed))),
        }
    }

    pub(crate) fn refactor(&mut self, refactoring: &Refactoring) -> Refactored {
        match refactoring {
            Refactoring::Rename { symbol, new_name, at } => self.rename(symbol, at.as_ref(), new_name),
            Refactoring::Replace { pattern, template } => self.replace(pattern, template),
            Refactoring::Assist { id, path, line, column } => self.assist(id, path, *line, *column),
        }
    }
}

fn not_analysed(path: &TreePath) -> String {
    format!("{path} is not a file that the compiler analyses")
}
