//! The compiler engine, where compiler and linter say what to mend: rounds of suggestions to a fixpoint.
//!
//! Each round applies as many suggestions as fit together, and asks again. A batch that makes the build worse is cut in
//! halves until the culprit stands alone; that one is left out and reported. So nothing is left half done, and the
//! number of builds stays near the number of rounds.

use std::collections::BTreeSet;

use checks::{Diagnostic, Level};
use task::port::{Answer, Problem};
use task::{Conclusion, Digest, EditSet, Limitation, StepAction, StopReason, TreeId, TreePath};

use super::Proposal;
use super::suggestion::{Suggestion, collect, is_wanted, merged, together};
use crate::proving::Diagnosis;
use crate::{Error, walk::Walk};

/// Rounds at most: each one costs a build. Real projects need two or three.
const ROUNDS: u32 = 20;
/// Quick fixes tried at most in a task, each of which costs a build.
const TRIES: u32 = 60;
/// Builds at most that try suggestions: rounds and the halves of batches that made something worse.
const BUILDS: u32 = 100;

/// What the rounds have reached.
struct Round {
    tree: TreeId,
    diagnosis: Diagnosis,
    /// What was said of the base.
    known: BTreeSet<Identity>,
    /// Suggestions that made the build worse.
    rejected: BTreeSet<Digest>,
    /// Suggestions that would have edited files outside the scope.
    outside: usize,
    /// Quick fixes that were tried.
    tries: u32,
    /// Builds that tried suggestions.
    builds: u32,
}

/// Names a diagnostic when lines move.
type Identity = (Option<String>, String);

impl Round {
    /// What is to be mended: what the task asks for, and what mending it brought to light. A lint that the base does not
    /// show would be a new failure, whatever its name.
    fn wanted<'a>(&'a self, action: &'a StepAction) -> impl Iterator<Item = &'a Diagnostic> {
        let reveals = matches!(action, StepAction::FixClippy { .. });
        let revealed =
            move |it: &&Diagnostic| reveals && it.level == Level::Warning && !self.known.contains(&identity(it));
        self.diagnosis.diagnostics.iter().filter(move |it| is_wanted(action, it) || revealed(it))
    }
}

impl Walk<'_> {
    pub(super) fn fix(&mut self, action: &StepAction) -> Result<Proposal, Error> {
        let base = self.start()?.tree;
        self.house.audience.doing("asking the compiler what is wrong");
        let diagnosis = self.diagnose(&base, action)?;
        if let Some(conclusion) = diagnosis.unusable {
            return Ok(Proposal::End(conclusion));
        }
        if wanted(&diagnosis, action).next().is_none() {
            return Ok(match diagnosis.broken {
                None => Proposal::nothing_to_do(clean(action)),
                // A compiler that gave up has not said everything: no warning is not "no warning".
                Some(why) => Proposal::stuck(format!("the project does not build at base ({why}); mend that first")),
            });
        }
        let known = diagnosis.diagnostics.iter().map(identity).collect();
        let tree = self.state.attempts.last().map_or_else(|| base.clone(), |attempt| attempt.tree.clone());
        let diagnosis = if tree == base { diagnosis } else { self.diagnose(&tree, action)? };
        let mut round = Round { tree, diagnosis, known, rejected: BTreeSet::new(), outside: 0, tries: 0, builds: 0 };
        for number in 1..=ROUNDS {
            let (reached, rejected) = (round.tree.clone(), round.rejected.len());
            self.suggestions(action, &mut round)?;
            if *action == StepAction::FixErrors {
                self.quick_fixes(action, &mut round)?;
            }
            if round.tree != reached {
                self.checkpoint(&round.tree, &format!("round {number}"), &[])?;
            } else if round.rejected.len() == rejected {
                // Suggestions that overlapped a rejected one have their turn in the next round.
                break;
            }
            if self.cut_short().is_some() || round.builds >= BUILDS {
                break;
            }
        }
        let left = round.wanted(action).count();
        let mut limitations = Vec::new();
        if left > 0 {
            limitations.push(Limitation::general(remain(action, left)));
        }
        for diagnostic in round.wanted(action).take(20) {
            let line = diagnostic.path.is_some().then_some(diagnostic.line);
            limitations.push(Limitation {
                path: diagnostic.path.clone(),
                line,
                text: format!("remains: {}", diagnostic.message),
            });
        }
        if !round.rejected.is_empty() {
            let count = round.rejected.len();
            limitations
                .push(Limitation::general(format!("{count} suggestions made the build worse and were taken back")));
        }
        if round.builds >= BUILDS {
            limitations.push(Limitation::general(format!("no more was tried after {BUILDS} builds")));
        }
        if round.outside > 0 {
            limitations
                .push(Limitation::general(format!("{} suggestions lie outside the permitted paths", round.outside)));
        }
        limitations.extend(self.placeholders(&base, &round.tree)?);
        if let (true, Some(conclusion)) = (round.tree == base, self.cut_short()) {
            return Ok(Proposal::End(conclusion));
        }
        if round.tree == base {
            let mut what = format!("{}; none of them can be mended without a decision", remain(action, left));
            for diagnostic in round.wanted(action).take(5) {
                let at =
                    diagnostic.path.as_ref().map(|path| format!("{path}:{}: ", diagnostic.line)).unwrap_or_default();
                what.push_str(&format!("\n    {at}{}", diagnostic.message));
            }
            return Ok(Proposal::End(Conclusion::Stopped { reason: StopReason::NonProgress { what } }));
        }
        Ok(Proposal::Tree { tree: round.tree, limitations })
    }

    /// One batch of machine-applicable suggestions.
    fn suggestions(&mut self, action: &StepAction, round: &mut Round) -> Result<(), Error> {
        let (all, outside) = collect(round.wanted(action), &self.state.request.scope)?;
        round.outside = outside;
        let mut fresh = Vec::new();
        for suggestion in all {
            let suggestion = suggestion.with_whole_lines(|path| self.text(path, &round.tree));
            if !round.rejected.contains(&self.key(&suggestion, &round.tree)) {
                fresh.push(suggestion);
            }
        }
        let batch = together(&fresh);
        if !batch.is_empty() {
            self.house.audience.doing(format!("applying {} suggestions", batch.len()));
            self.try_batch(action, round, &batch)?;
        }
        Ok(())
    }

    /// Applies a batch, or what of it does not make the build worse.
    fn try_batch(&mut self, action: &StepAction, round: &mut Round, batch: &[Suggestion]) -> Result<(), Error> {
        if round.builds >= BUILDS {
            return Ok(());
        }
        round.builds += 1;
        if let Some((tree, diagnosis)) = self.try_edits(action, round, &merged(batch))? {
            (round.tree, round.diagnosis) = (tree, diagnosis);
            return Ok(());
        }
        if self.cut_short().is_some() {
            return Ok(());
        }
        match batch {
            [] => {}
            [culprit] => {
                let key = self.key(culprit, &round.tree);
                round.rejected.insert(key);
            }
            _ => {
                // Halves are positions in the same text: only the first can be applied as it is, the second half comes
                // back as fresh suggestions in the next round.
                let (first, second) = batch.split_at(batch.len() / 2);
                let before = round.tree.clone();
                self.try_batch(action, round, first)?;
                if round.tree == before {
                    self.try_batch(action, round, second)?;
                }
            }
        }
        Ok(())
    }

    /// The tree after the edits with what is wrong in it; `None` when it is worse than before, or the task was cut short.
    ///
    /// # Errors
    /// Also when nothing could be said of the tree: that is no fault of the edits.
    fn try_edits(
        &mut self,
        action: &StepAction,
        round: &Round,
        edits: &EditSet,
    ) -> Result<Option<(TreeId, Diagnosis)>, Error> {
        let tree = match self.store.apply(&round.tree, edits) {
            Ok(tree) => tree,
            Err(worktree::ApplyError::Store(error)) => return Err(error.into()),
            // A suggestion whose ranges do not fit the text is one that cannot be applied.
            Err(_) => return Ok(None),
        };
        let diagnosis = self.diagnose(&tree, action)?;
        if let Some(end) = diagnosis.unusable {
            let reason = end.reasons().join("; ");
            return if self.cut_short().is_some() { Ok(None) } else { Err(Error::Sentence(reason)) };
        }
        let worse = is_worse(&round.diagnosis, &diagnosis, edits);
        Ok((!worse).then_some((tree, diagnosis)))
    }

    /// For errors without a suggestion: the compiler's own quick fixes, one error at a time, best first.
    fn quick_fixes(&mut self, action: &StepAction, round: &mut Round) -> Result<(), Error> {
        let base = self.start()?.tree;
        let mut hopeless: BTreeSet<(Identity, u32)> = BTreeSet::new();
        // One message may stand at several places, of which only some can be mended.
        let place = |it: &Diagnostic| (identity(it), it.bytes.start);
        while round.tries < TRIES && self.cut_short().is_none() {
            let open = wanted(&round.diagnosis, action)
                .find(|it| it.path.is_some() && !hopeless.contains(&place(it)))
                .cloned();
            let Some((diagnostic, path)) = open.and_then(|it| it.path.clone().map(|path| (it, path))) else { break };
            let (compiler, at) = self.compiler_on(&base, &round.tree)?;
            let problem = Problem {
                path,
                start: diagnostic.bytes.start as usize,
                end: diagnostic.bytes.end as usize,
                code: diagnostic.code.clone(),
                message: diagnostic.message.clone(),
            };
            let candidates = match compiler.quick_fixes(at, &problem) {
                Answer::Known { value, .. } => value,
                Answer::Unknown { .. } => Vec::new(),
            };
            // Several fixes may lessen the errors, `use std::..` for one name in a crate without std among them: the one
            // that leaves fewest is taken.
            let mut best: Option<(TreeId, Diagnosis)> = None;
            for edits in candidates {
                if !self.state.request.scope.outside(edits.paths())?.is_empty() {
                    round.outside += 1;
                    continue;
                }
                round.tries += 1;
                let fewest = best.as_ref().map_or(round.diagnosis.errors(), |(_, diagnosis)| diagnosis.errors());
                if let Some((tree, diagnosis)) = self.try_edits(action, round, &edits)?
                    && diagnosis.errors() < fewest
                {
                    let done = diagnosis.errors() == 0;
                    best = Some((tree, diagnosis));
                    if done {
                        break;
                    }
                }
                if round.tries >= TRIES || self.cut_short().is_some() {
                    break;
                }
            }
            let mended = best.is_some();
            if let Some((tree, diagnosis)) = best {
                (round.tree, round.diagnosis) = (tree, diagnosis);
            }
            if !mended {
                hopeless.insert(place(&diagnostic));
            }
        }
        Ok(())
    }

    /// What the fixes left for a person to write. The checks judge a tree with placeholders like any other, and code
    /// that no test reaches passes with them, so each one is named.
    fn placeholders(&self, base: &TreeId, tree: &TreeId) -> Result<Vec<Limitation>, Error> {
        let mut found = Vec::new();
        for file in worktree::published_files(&self.store, base, tree)? {
            let text = |tree| -> Result<String, Error> {
                let bytes = self.store.read(tree, &file.path)?;
                Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default())
            };
            found
                .extend(new_placeholders(&text(base)?, &text(tree)?).into_iter().map(|line| (file.path.clone(), line)));
        }
        let count = found.len();
        let what = if count == 1 {
            "1 placeholder `todo!()` was".to_owned()
        } else {
            format!("{count} placeholders `todo!()` were")
        };
        let head = (count > 0).then(|| {
            Limitation::general(format!("{what} left: what has to happen there is a decision, and running it panics"))
        });
        let places = found.into_iter().map(|(path, line)| Limitation {
            path: Some(path),
            line: Some(line),
            text: "a placeholder `todo!()` was left here".to_owned(),
        });
        Ok(head.into_iter().chain(places).collect())
    }

    fn key(&self, suggestion: &Suggestion, tree: &TreeId) -> Digest {
        suggestion.key(|path| self.text(path, tree))
    }

    fn text(&self, path: &TreePath, tree: &TreeId) -> Option<Vec<u8>> {
        self.store.read(tree, path).ok().flatten().map(|bytes| bytes.to_vec())
    }
}

fn wanted<'a>(diagnosis: &'a Diagnosis, action: &'a StepAction) -> impl Iterator<Item = &'a Diagnostic> {
    diagnosis.diagnostics.iter().filter(move |diagnostic| is_wanted(action, diagnostic))
}

fn identity(diagnostic: &Diagnostic) -> Identity {
    (diagnostic.code.clone(), format!("{:?} {}", diagnostic.path, diagnostic.message))
}

/// Worse is: an error that was not there before, in a file that the edits touch, or any where there was none. Mending one
/// error may uncover others elsewhere, which is no fault of the edit; so may a linker that had nothing to link before,
/// whose words name no file: they count unless errors became fewer.
fn is_worse(before: &Diagnosis, after: &Diagnosis, edits: &EditSet) -> bool {
    let known: BTreeSet<_> = before.diagnostics.iter().filter(|it| it.level == Level::Error).map(identity).collect();
    let touched: BTreeSet<_> = edits.paths().collect();
    let mut fresh = after.diagnostics.iter().filter(|it| it.level == Level::Error && !known.contains(&identity(it)));
    let had_errors = !known.is_empty();
    let fewer = after.errors() < before.errors();
    fresh.any(|it| !had_errors || it.path.as_ref().map_or(!fewer, |path| touched.contains(path)))
}

fn clean(action: &StepAction) -> &'static str {
    match action {
        StepAction::FixWarnings => "the compiler has no warning",
        StepAction::FixClippy { lints } if lints.is_empty() => "clippy has nothing to say",
        StepAction::FixClippy { .. } => "clippy does not show these lints",
        _ => "the project builds",
    }
}

fn remain(action: &StepAction, left: usize) -> String {
    let what = match action {
        StepAction::FixErrors => "error",
        StepAction::FixClippy { .. } => "lint",
        _ => "warning",
    };
    if left == 1 { format!("1 {what} remains") } else { format!("{left} {what}s remain") }
}

/// The lines, counted from 1, that have a `todo!(` and were not there before.
fn new_placeholders(before: &str, after: &str) -> Vec<u32> {
    let has = |line: &&str| line.contains("todo!(");
    let mut known: Vec<&str> = before.lines().filter(has).map(str::trim).collect();
    let mut found = Vec::new();
    for (number, line) in (1..).zip(after.lines()).filter(|(_, line)| has(line)) {
        match known.iter().position(|known| *known == line.trim()) {
            Some(at) => drop(known.swap_remove(at)),
            None => found.push(number),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_that_were_there_before_are_not_counted() {
        let before = "fn a() { todo!() }\n";
        let after = "x\nfn a() { todo!() }\n    E::B => todo!(),\n";
        assert_eq!(new_placeholders(before, after), [3]);
        assert!(new_placeholders(before, before).is_empty());
    }
}
