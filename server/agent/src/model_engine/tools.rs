//! What a tool call does. The model proposes; whether it may, and what it means, is decided here.

use task::port::{Arguments, Origin, Refactoring, Stage};
use task::{AttemptId, Event, Plan, Question, Step, Tool, TreeId, TreePath};

use super::arguments::{
    Ask, Assist, At, CheckNamed, Create, Diagnosis, Done, Edits, Move, Named, Proposed, Read, Rename, ReplacePattern,
    RunCommand, Search, SymbolEdit, read,
};
use super::change::Changed;
use super::looks::{Looked, Looks};
use super::prompt;
use super::quote::in_marks;
use crate::{Error, Progress, walk::Walk};

/// How often a plan may be replaced in one task. Who plans again and again works on nothing.
const REVISIONS: u32 = 8;

/// Where in the walk a conversation belongs.
#[derive(Debug, Clone)]
pub(crate) struct Seat {
    pub stage: Stage,
    pub attempt: Option<AttemptId>,
    pub step: Option<Step>,
}

/// What ends a conversation.
#[derive(Debug)]
pub(crate) enum End {
    Plan(Plan),
    Revised { plan: Plan, because: String },
    Asked(Vec<Question>),
    Diagnosed { cause: String, fix: String },
    Done { summary: String, unfinished: Vec<String> },
}

/// The answer to a call, and whether it ends the conversation.
#[derive(Debug)]
pub(crate) struct Output {
    pub text: String,
    pub failed: bool,
    pub end: Option<End>,
}

impl Output {
    fn said(looked: Looked) -> Self {
        let failed = looked.is_err();
        Self { text: looked.unwrap_or_else(|why| why), failed, end: None }
    }

    fn failed(text: impl Into<String>) -> Self {
        Self { text: text.into(), failed: true, end: None }
    }

    fn end(end: End) -> Self {
        Self { text: "taken".to_owned(), failed: false, end: Some(end) }
    }
}

/// Tools that only look at a tree; `None` for any other.
pub(crate) fn look(looks: &Looks<'_>, name: &str, arguments: &Arguments) -> Option<Looked> {
    Some(match name {
        "read" => read(arguments).and_then(|it: Read| looks.read(&it.path, it.first_line, it.last_line)),
        "search" => read(arguments).and_then(|it: Search| looks.search(&it.query)),
        "symbol" => read(arguments).and_then(|it: Named| looks.symbol(&it.name)),
        "references" => read(arguments).and_then(|it: Named| looks.uses(&it.name)),
        "outline" => read(arguments).and_then(|it: At| looks.outline(&it.path)),
        _ => return None,
    })
}

/// Which kind of operation a tool is, for what the request permits.
fn kind(name: &str) -> Option<Tool> {
    Some(match name {
        "read" | "outline" => Tool::Read,
        "search" | "symbol" | "references" => Tool::Search,
        "edit" | "edit_symbol" | "create" | "delete" | "move" | "rename" | "replace_pattern" | "assist" => Tool::Edit,
        "check" | "run" => Tool::Execute,
        "ask" | "propose_plan" | "diagnose" | "answer" | "done" => Tool::Think,
        _ => return None,
    })
}

/// The stages in which a tool may be called.
pub(crate) fn fits(name: &str, stage: Stage) -> bool {
    match name {
        "read" | "outline" | "search" | "symbol" | "references" => true,
        "ask" => matches!(stage, Stage::Plan | Stage::Code),
        "propose_plan" => matches!(stage, Stage::Plan | Stage::Code),
        "diagnose" => stage == Stage::Diagnose,
        "answer" => stage == Stage::Explain,
        _ => stage == Stage::Code,
    }
}

/// The refactoring that a call asks for.
fn refactoring(name: &str, arguments: &Arguments) -> Result<Refactoring, String> {
    Ok(match name {
        "rename" => {
            let Rename { name, to } = read(arguments)?;
            Refactoring::Rename { symbol: name, new_name: to, at: None }
        }
        "replace_pattern" => {
            let ReplacePattern { pattern, template } = read(arguments)?;
            Refactoring::Replace { pattern, template }
        }
        _ => {
            let Assist { id, path, line, column } = read(arguments)?;
            Refactoring::Assist { id, path: super::looks::parse(&path)?, line, column }
        }
    })
}

/// Why a call cannot be taken at all.
pub(crate) fn refusal(name: &str, stage: Stage, permitted: &[Tool]) -> Option<String> {
    let Some(kind) = kind(name) else {
        let names: Vec<String> = prompt::tools().into_iter().map(|tool| tool.name).collect();
        let odd: String = task::printable(name).chars().take(60).collect();
        return Some(format!("there is no tool `{odd}`; there are {}", names.join(", ")));
    };
    if !fits(name, stage) {
        return Some(format!("`{name}` has no place while the stage is `{}`", stage.as_str()));
    }
    // Thinking is not to be forbidden: without it nothing ends.
    if kind != Tool::Think && !permitted.contains(&kind) {
        return Some(format!("the developer's request does not permit `{name}` (`--tools`)"));
    }
    None
}

/// A call in a few words, for people.
pub(crate) fn sketch(name: &str, arguments: &Arguments) -> String {
    let Arguments::Read(value) = arguments else { return name.to_owned() };
    let first = |key: &str| value.get(key).and_then(|it| it.as_str()).map(str::to_owned);
    let edited = || {
        let paths = value.get("edits")?.as_array()?.iter().filter_map(|edit| edit.get("path")?.as_str());
        Some(paths.collect::<std::collections::BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", "))
    };
    let what = ["path", "query", "name", "from", "check"].iter().find_map(|key| first(key)).or_else(edited);
    let what: String = task::printable(&what.unwrap_or_default()).chars().take(80).collect();
    format!("{name} {}", what.lines().next().unwrap_or_default()).trim_end().to_owned()
}

impl Walk<'_> {
    /// Does what a call asks for. A tree that came of it is in `tree` afterwards.
    pub(crate) fn use_tool(
        &mut self,
        seat: &Seat,
        tree: &mut TreeId,
        name: &str,
        arguments: &Arguments,
    ) -> Result<Output, Error> {
        if let Some(why) = refusal(name, seat.stage, &self.state.request.tools) {
            return Ok(Output::failed(why));
        }
        self.house.audience.tell(Progress::Tool(sketch(name, arguments)));
        let done = match name {
            "references" => read(arguments).map(|it: Named| self.uses(tree, &it.name)),
            "check" => read(arguments).map(|it: CheckNamed| self.check_tool(tree, &it.check)),
            "run" => read(arguments).map(|it: RunCommand| Ok(Output::said(self.run_command(tree, &it.command)?))),
            "ask" => read(arguments).map(|it: Ask| Ok(self.ask_tool(it))),
            "propose_plan" => read(arguments).map(|it: Proposed| self.plan_tool(seat, tree, it)),
            "diagnose" => read(arguments)
                .map(|Diagnosis { cause, fix }: Diagnosis| Ok(Output::end(End::Diagnosed { cause, fix }))),
            "done" => read(arguments).map(|it: Done| self.done_tool(seat, tree, it)),
            _ if kind(name) == Some(Tool::Edit) => Ok(self.edit_tool(seat, tree, name, arguments)),
            // `answer` belongs to explaining, which is no walk.
            _ => Ok(self.with_looks(tree, |_, looks| {
                let looked = look(looks, name, arguments);
                Ok(Output::said(looked.unwrap_or_else(|| Err(format!("`{name}` has no place here")))))
            })),
        };
        done.unwrap_or_else(|why| Ok(Output::failed(why)))
    }

    /// Shows a tree to someone who looks.
    pub(crate) fn with_looks<T>(
        &mut self,
        tree: &TreeId,
        f: impl FnOnce(&mut Self, &Looks<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let store = std::sync::Arc::clone(&self.store);
        let desk = self.desk();
        let retrieve = desk.indexed.show(&store, tree)?;
        let quoter = desk.quoter.clone();
        f(self, &Looks { store: &store, tree, retrieve: &*retrieve, quoter: &quoter })
    }

    /// By meaning where the compiler knows the name, else by text.
    fn uses(&mut self, tree: &TreeId, name: &str) -> Result<Output, Error> {
        if let Some(text) = self.resolved_uses(tree, name)? {
            return Ok(Output::said(Ok(text)));
        }
        self.with_looks(tree, |_, looks| Ok(Output::said(looks.uses(name))))
    }

    fn edit_tool(
        &mut self,
        seat: &Seat,
        tree: &mut TreeId,
        name: &str,
        arguments: &Arguments,
    ) -> Result<Output, Error> {
        let Some(step) = seat.step.clone() else { return Ok(Output::failed("there is no step to edit for")) };
        let before = tree.clone();
        let changed: Changed = self.with_looks(&before, |walk, looks| {
            let done = match name {
                "edit" => read(arguments).map(|it: Edits| walk.exact_edits(looks, &step, it.edits)),
                "edit_symbol" => read(arguments).map(|it: SymbolEdit| walk.symbol_edit(looks, &step, it)),
                "create" => read(arguments).map(|it: Create| walk.create(looks, &step, it)),
                "delete" => read(arguments).map(|it: At| walk.delete(looks, &step, &it.path)),
                "move" => read(arguments).map(|it: Move| walk.move_file(looks, &step, &it)),
                other => refactoring(other, arguments).map(|it| walk.refactoring(looks, &step, &it)),
            };
            done.unwrap_or_else(|why| Ok(Err(why)))
        })?;
        Ok(Output::said(changed.map(|(reached, said)| {
            *tree = reached;
            said
        })))
    }

    fn check_tool(&mut self, tree: &TreeId, name: &str) -> Result<Output, Error> {
        let known = self.checks_of(tree)?;
        if !known.iter().any(|id| id == name) {
            return Ok(Output::failed(no_check(name, &known)));
        }
        let base = self.base()?;
        let (_, judgement) = self.prove_some(&base, tree, Some(&[name.to_owned()]))?;
        let text = self.with_looks(tree, |_, looks| Ok(super::feedback::of(&judgement, &[], looks)))?;
        let nothing = || format!("{name}: nothing fails that does not fail at base");
        Ok(Output::said(Ok(if text.is_empty() { nothing() } else { text })))
    }

    /// Answers come back as the result of the call that asked; until they are there, the call is the end.
    fn ask_tool(&self, asked: Ask) -> Output {
        let questions: Vec<Question> =
            asked.questions.into_iter().take(8).map(super::arguments::Asked::question).collect();
        if questions.is_empty() || questions.iter().any(|question| question.text.is_empty()) {
            return Output::failed("a question needs a text");
        }
        let answer = |question: &Question| {
            let answers = self.state.work.answers.iter().rev();
            answers.clone().find(|answer| answer.question == question.text).map(|answer| answer.text.clone())
        };
        let answers: Option<Vec<String>> = questions.iter().map(answer).collect();
        match answers {
            Some(answers) => {
                let said =
                    questions.iter().zip(answers).map(|(question, answer)| format!("{}\n-> {answer}", question.text));
                Output::said(Ok(said.collect::<Vec<_>>().join("\n\n")))
            }
            None => Output::end(End::Asked(questions)),
        }
    }

    fn plan_tool(&self, seat: &Seat, tree: &TreeId, proposed: Proposed) -> Result<Output, Error> {
        let known = self.checks_of(tree)?;
        if let Some(made_up) = proposed.steps.iter().flat_map(|step| &step.checks).find(|name| !known.contains(name)) {
            return Ok(Output::failed(no_check(made_up, &known)));
        }
        for step in &proposed.steps {
            if let Some(outside) = self.outside_the_request(&step.paths)? {
                let (id, permitted) = (task::printable(&step.id), self.state.request.scope.paths.join(", "));
                return Ok(Output::failed(format!(
                    "step {id} names {outside}, and the request permits changes of {permitted} only: leave it out, or ask"
                )));
            }
        }
        let because = task::printable(proposed.because.trim());
        let present = self.state.plan.as_ref().map(|plan| plan.version);
        if seat.stage == Stage::Code && because.is_empty() {
            return Ok(Output::failed("a plan in place of the present one needs its reason (`because`)"));
        }
        if seat.stage == Stage::Code && present.is_some_and(|version| version > REVISIONS) {
            return Ok(Output::failed(format!(
                "the plan was replaced {REVISIONS} times already and stays as it is: finish the step, or call `done` and say what is in the way"
            )));
        }
        Ok(match proposed.plan(present.unwrap_or(0) + 1, present) {
            Ok(plan) if seat.stage == Stage::Code => Output::end(End::Revised { plan, because }),
            Ok(plan) => Output::end(End::Plan(plan)),
            Err(why) => Output::failed(format!("the plan cannot be taken: {why}")),
        })
    }

    /// The first path without a wildcard that the request does not let change.
    fn outside_the_request(&self, paths: &[String]) -> Result<Option<TreePath>, Error> {
        let literal = paths.iter().filter(|path| !path.contains(['*', '?', '[', '{']));
        for path in literal.filter_map(|path| path.parse::<TreePath>().ok()) {
            if !self.state.request.scope.admits(&path)? {
                return Ok(Some(path));
            }
        }
        Ok(None)
    }

    /// Before a step counts as finished the compiler looks at it, and mends for nothing what it can.
    fn done_tool(&mut self, seat: &Seat, tree: &mut TreeId, done: Done) -> Result<Output, Error> {
        let (mended, problems) = self.mend(seat, tree)?;
        let seen: Vec<String> =
            problems.iter().take(20).map(|it| format!("{}:{}: {}", it.path, it.line, it.message)).collect();
        if let Some(attempt) = seat.attempt {
            let verdict = if problems.is_empty() { "clean" } else { "errors" }.to_owned();
            self.record(Event::Gated { attempt, tree: tree.clone(), verdict, problems: seen.clone() })?;
        }
        if problems.is_empty() || self.desk().refused_done >= 2 {
            let Done { summary, unfinished } = done;
            return Ok(Output::end(End::Done { summary, unfinished }));
        }
        self.desk().refused_done += 1;
        let quoter = self.desk().quoter.clone();
        let said = quoter.block(Origin::Output, "the compiler's view of the tree", &seen.join("\n"), 8192);
        let mended = if mended > 0 { format!(" It has mended {mended} others by itself.") } else { String::new() };
        Ok(Output::failed(format!("not finished: the compiler sees what the base does not show.{mended}\n{said}")))
    }
}

fn no_check(name: &str, known: &[String]) -> String {
    let name = task::printable(name);
    match known {
        [] => format!("there is no check `{name}`: no check of this project is known here, so leave `checks` out"),
        known => format!("there is no check `{name}`; there are {}", in_marks(known)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_that_is_offered_has_a_kind_and_a_stage() {
        for tool in prompt::tools() {
            assert!(kind(&tool.name).is_some(), "{}", tool.name);
            assert!(Stage::ALL.iter().any(|stage| fits(&tool.name, *stage)), "{}", tool.name);
        }
    }

    #[test]
    fn unknown_tools_and_tools_of_another_stage_are_named() {
        assert!(refusal("bash", Stage::Code, &Tool::ALL).unwrap().contains("there is no tool `bash`"));
        assert!(refusal("edit", Stage::Plan, &Tool::ALL).unwrap().contains("no place"));
        assert!(refusal("run", Stage::Code, &[Tool::Read]).unwrap().contains("does not permit"));
        assert_eq!(refusal("done", Stage::Code, &[]), None);
    }
}
