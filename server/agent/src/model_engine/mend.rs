//! What the compiler mends by itself before the model is asked again: imports that are missing, names that are spelled
//! nearly right. It costs no token, and its edits carry its name.

use task::port::{Answer, GateProblem, Problem};
use task::{Event, TreeId, TreePath};

use super::looks::begin;
use super::tools::Seat;
use crate::{Error, walk::Walk};

/// Fixes that are tried for one step at most.
const TRIES: usize = 12;

impl Walk<'_> {
    /// Applies quick fixes as long as each leaves fewer problems. Answers how many were mended, and what is left.
    pub(crate) fn mend(&mut self, seat: &Seat, tree: &mut TreeId) -> Result<(usize, Vec<GateProblem>), Error> {
        let from = tree.clone();
        let mut problems = self.gate_problems(tree)?;
        let before = problems.len();
        let mut tries = 0;
        let mut at = 0;
        while let Some(problem) = problems.get(at).cloned() {
            if tries >= TRIES || self.cut_short().is_some() {
                break;
            }
            let mut mended = false;
            for edits in self.fixes(tree, &problem)? {
                tries += 1;
                let scoped = seat.step.as_ref().map(|step| step.scope.outside(edits.paths()).map(|it| it.is_empty()));
                let allowed =
                    self.state.request.scope.outside(edits.paths())?.is_empty() && scoped.transpose()?.unwrap_or(true);
                if !allowed {
                    continue;
                }
                let Ok(candidate) = self.store.apply(tree, &edits) else { continue };
                let left = self.gate_problems(&candidate)?;
                if left.len() < problems.len() {
                    (*tree, problems, mended) = (candidate, left, true);
                    break;
                }
                if tries >= TRIES {
                    break;
                }
            }
            // After a fix the list is another one; what could not be fixed is passed over.
            at = if mended { 0 } else { at + 1 };
        }
        if *tree != from
            && let Some(attempt) = seat.attempt
        {
            self.store.keep(self.id(), tree)?;
            self.record(Event::Repaired { attempt, from, tree: tree.clone() })?;
        }
        Ok((before - problems.len(), problems))
    }

    /// The uses of a name by meaning, where the compiler knows exactly one definition of it; `None` where it does not.
    pub(crate) fn resolved_uses(&mut self, tree: &TreeId, name: &str) -> Result<Option<String>, Error> {
        let base = self.base()?;
        if !self.has_compiler(tree)? {
            return Ok(None);
        }
        let (compiler, at) = self.compiler_on(&base, tree)?;
        let Answer::Known { value: found, .. } = compiler.find(at, name) else { return Ok(None) };
        let [symbol] = found.as_slice() else { return Ok(None) };
        let definition = &symbol.definition;
        let Answer::Known { value, missing } = compiler.references(at, &definition.path, definition.start) else {
            return Ok(None);
        };
        let quoter = self.desk().quoter.clone();
        // The file that was looked at last, without its secrets: references come file by file.
        let mut file: Option<(TreePath, String)> = None;
        let mut lines = Vec::new();
        for reference in value.iter().take(80) {
            if file.as_ref().is_none_or(|(path, _)| *path != reference.path) {
                let bytes = self.store.read(tree, &reference.path)?.unwrap_or_default();
                file = Some((reference.path.clone(), quoter.redact(&String::from_utf8_lossy(&bytes))));
            }
            let line = file.iter().find_map(|(_, text)| text.lines().nth((reference.line as usize).saturating_sub(1)));
            lines.push(format!("{}:{}: {}", reference.path, reference.line, begin(line.unwrap_or_default())));
        }
        let what = format!(
            "{} uses of {}, defined at {}:{}, by meaning",
            value.len(),
            symbol.name,
            definition.path,
            definition.line
        );
        let more = if missing.is_empty() { String::new() } else { format!("Not seen: {}\n", missing.join("; ")) };
        Ok(Some(quoter.block(task::port::Origin::Repository, &what, &lines.join("\n"), 16 * 1024) + &more))
    }

    fn fixes(&mut self, tree: &TreeId, problem: &GateProblem) -> Result<Vec<task::EditSet>, Error> {
        let base = self.base()?;
        let Some(bytes) = self.store.read(tree, &problem.path)? else { return Ok(Vec::new()) };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((start, end)) = place(&text, problem) else { return Ok(Vec::new()) };
        let (compiler, at) = self.compiler_on(&base, tree)?;
        let problem = Problem {
            path: problem.path.clone(),
            start,
            end,
            code: Some(problem.code.clone()),
            message: problem.message.clone(),
        };
        Ok(match compiler.quick_fixes(at, &problem) {
            Answer::Known { value, .. } => value,
            Answer::Unknown { .. } => Vec::new(),
        })
    }
}

/// Where on its line a problem stands: at the name that its message quotes, else at the first character.
fn place(text: &str, problem: &GateProblem) -> Option<(usize, usize)> {
    let line_start: usize = text.split_inclusive('\n').take(problem.line.checked_sub(1)? as usize).map(str::len).sum();
    let line = text.get(line_start..)?.lines().next()?;
    let quoted = problem.message.split('`').skip(1).step_by(2);
    for name in quoted {
        let last = name.rsplit("::").next().unwrap_or(name);
        if let Some(at) = line.find(last).filter(|_| !last.is_empty()) {
            return Some((line_start + at, line_start + at + last.len()));
        }
    }
    let indent = line.len() - line.trim_start().len();
    Some((line_start + indent, line_start + line.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_stands_at_the_name_that_its_message_quotes() {
        let problem = GateProblem {
            path: "a.rs".parse().unwrap(),
            line: 2,
            code: "unresolved-path".into(),
            message: "cannot find `std::HashMap` here".into(),
        };
        let text = "fn a() {\n    let x = HashMap::new();\n}\n";
        assert_eq!(place(text, &problem).map(|(start, end)| &text[start..end]), Some("HashMap"));
        let elsewhere = GateProblem { message: "no name".into(), ..problem };
        assert_eq!(place(text, &elsewhere).map(|(start, end)| &text[start..end]), Some("let x = HashMap::new();"));
    }
}
