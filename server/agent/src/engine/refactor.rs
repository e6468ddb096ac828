//! The compiler engine, where the compiler works the whole change out by itself: rename, replace, assist.

use task::port::{Answer, Definition, GateReport, Refactored, Refactoring, Symbol};
use task::{Conclusion, EditSet, Event, Limitation, Position, Question, StepAction, StopReason, TreeId, TreePath};

use super::Proposal;
use crate::trigger::Start;
use crate::{Error, grammar, walk::Walk};

impl Walk<'_> {
    pub(super) fn refactor(&mut self, action: &StepAction) -> Result<Proposal, Error> {
        let start = self.start()?;
        let base = start.tree.clone();
        let refactoring = match refactoring(action, &start) {
            Ok(refactoring) => refactoring,
            Err(why) => return Ok(Proposal::stuck(why)),
        };
        self.house.audience.doing("asking the compiler");
        let (compiler, at) = self.compiler_on(&base, &base)?;
        let (refactored, missing) = match compiler.refactor(at, &refactoring) {
            Answer::Known { value, missing } => (value, missing),
            Answer::Unknown { .. } if self.house.cancel.is_cancelled() => return Err(Error::Cancelled),
            Answer::Unknown { reason } => return Ok(Proposal::End(Conclusion::Infrastructure { reason })),
        };
        let (edits, mut limitations) = match refactored {
            Refactored::Edits { edits, limitations } => (edits, limitations),
            Refactored::Ambiguous { candidates } => {
                return Ok(Proposal::End(self.ambiguous(action, &candidates, &start)?));
            }
            Refactored::NotFound { nearest } => return Ok(Proposal::End(not_found(action, nearest))),
            Refactored::Refused { reason } => return Ok(Proposal::stuck(reason)),
        };
        limitations.extend(missing.into_iter().map(Limitation::general));
        if edits.is_empty() {
            return Ok(Proposal::nothing_to_do("the compiler finds nothing to change"));
        }
        if let Some(stop) = self.out_of_scope(&edits)? {
            return Ok(stop);
        }
        let tree = self.store.apply(&base, &edits)?;
        if tree == base {
            return Ok(Proposal::nothing_to_do("the change leaves every file as it is"));
        }
        limitations.extend(self.gate(&base, &tree)?);
        Ok(Proposal::Tree { tree, limitations })
    }

    /// Pushes the text of a tree and judges it against the base, before any command runs. What the gate finds is a
    /// limitation and not a verdict: cargo stays the judge.
    fn gate(&mut self, base: &TreeId, tree: &TreeId) -> Result<Vec<Limitation>, Error> {
        let files = worktree::published_files(&self.store, base, tree)?;
        let edited: Vec<TreePath> = files.into_iter().map(|file| file.path).collect();
        let (compiler, at) = self.compiler_on(base, tree)?;
        let (verdict, problems, limitations) = match compiler.gate(at, &edited) {
            GateReport::Clean { .. } => ("clean", Vec::new(), Vec::new()),
            GateReport::Errors { problems, .. } => {
                let lines =
                    problems.iter().map(|it| format!("{}:{}: {} {}", it.path, it.line, it.code, it.message)).collect();
                let limits = problems
                    .into_iter()
                    .map(|it| Limitation::at(it.path, Some(it.line), format!("the gate: {}", it.message)));
                ("errors", lines, limits.collect())
            }
            GateReport::Unknown { reason } => {
                ("unknown", vec![reason.clone()], vec![Limitation::general(format!("the gate: {reason}"))])
            }
        };
        if let Some(attempt) = self.state.attempts.last().map(|attempt| attempt.id) {
            self.record(Event::Gated { attempt, tree: tree.clone(), verdict: verdict.to_owned(), problems })?;
        }
        Ok(limitations)
    }

    /// A refactoring is whole or nothing: one that would leave the permitted files is not begun.
    fn out_of_scope(&self, edits: &EditSet) -> Result<Option<Proposal>, Error> {
        let outside = self.state.request.scope.outside(edits.paths())?;
        let Some(first) = outside.first() else { return Ok(None) };
        let more = if outside.len() > 1 { format!(" and {} more", outside.len() - 1) } else { String::new() };
        let what = format!("the change would have to edit {first}{more}, outside the permitted paths (`--paths`)");
        Ok(Some(Proposal::End(Conclusion::Stopped { reason: StopReason::OutOfScope { what } })))
    }
}

/// The step in the words of the compiler, which sees the tree that the engine starts from.
fn refactoring(action: &StepAction, start: &Start) -> Result<Refactoring, String> {
    Ok(match action {
        StepAction::Rename { symbol, new_name, at } => {
            let at = at.clone().map(|at| Position { line: start.line(&at.path, at.line), ..at });
            Refactoring::Rename { symbol: symbol.clone(), new_name: new_name.clone(), at }
        }
        StepAction::Replace { pattern, template } => {
            Refactoring::Replace { pattern: pattern.clone(), template: template.clone() }
        }
        StepAction::Assist { id, path, line, column } => {
            let path = TreePath::parse_escaped(path).map_err(|error| error.to_string())?;
            let line = start.line(&path, *line);
            Refactoring::Assist { id: id.clone(), path, line, column: *column }
        }
        _ => return Err("this step is not a refactoring".into()),
    })
}

impl Walk<'_> {
    /// The request again, for each thing that its name may mean: each answer is a task that means only that.
    fn ambiguous(&self, action: &StepAction, candidates: &[Symbol], start: &Start) -> Result<Conclusion, Error> {
        let StepAction::Rename { symbol, new_name, .. } = action else {
            let text = format!("the name may mean {} things; which one?", candidates.len());
            let options = candidates.iter().map(|symbol| symbol.name.clone()).collect();
            return Ok(Conclusion::NeedsAnswer { question: Question { text, options, why: String::new() } });
        };
        let mut options = Vec::new();
        for candidate in candidates {
            let Definition { path, start: offset, line, .. } = &candidate.definition;
            let text = self.store.read(&start.tree, path)?.unwrap_or_default();
            let at =
                Position { path: path.clone(), line: start.line_at_base(path, *line), column: column(&text, *offset) };
            let (symbol, new_name) = (candidate.name.clone(), new_name.clone());
            options.push(grammar::write(&StepAction::Rename { symbol, new_name, at: Some(at) }));
        }
        let text = format!("`{symbol}` may mean {} things; which one?", candidates.len());
        Ok(Conclusion::NeedsAnswer { question: Question { text, options, why: String::new() } })
    }
}

/// The column of a byte offset, from 1, in characters.
fn column(text: &[u8], offset: usize) -> u32 {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    // A byte order mark is no character of the first line.
    let count = line.strip_prefix('\u{feff}').unwrap_or(&line).chars().count();
    u32::try_from(count).unwrap_or(u32::MAX).saturating_add(1)
}

fn not_found(action: &StepAction, nearest: Vec<String>) -> Conclusion {
    let (text, options) = match action {
        StepAction::Rename { symbol, new_name, .. } => (
            format!("there is no `{symbol}` in this project; which symbol did you mean?"),
            nearest.into_iter().map(|name| format!("rename `{name}` to `{new_name}`")).collect(),
        ),
        StepAction::Assist { id, .. } => {
            (format!("the compiler offers no `{id}` at this place; which one did you mean?"), nearest)
        }
        _ => ("nothing in this project has that name; what did you mean?".to_owned(), nearest),
    };
    Conclusion::NeedsAnswer { question: Question { text, options, why: String::new() } }
}
