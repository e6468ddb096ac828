//! `understudy tasks`: list, show, answer, continue, apply, undo, forget.

mod again;
mod notes;
mod plan;

use agent::{Approval, Walk};
use anstream::println;
use task::{Event, ExitCode, TaskId, TreeId, Wait};

use super::apply;
use super::dialogue::{self, Dialogue};
use super::request::{opened, print_json, show, task_id};
use crate::args::Tasks;
use crate::failure::Failure;
use crate::render;
use crate::wiring::{self, Opened};

pub fn tasks(verb: Tasks) -> Result<ExitCode, Failure> {
    match verb {
        Tasks::List { waiting, json } => list(&opened(true)?, waiting, json),
        Tasks::Show { id, json } => {
            let opened = opened(true)?;
            let report = agent::report(&*opened.house.journal, &opened.house.state, &task_id(&id)?, None)?;
            if !json {
                render::print_task(&report);
            }
            show(&report, json)?;
            Ok(ExitCode::Done)
        }
        Tasks::Diff { id, select, json } => diff(&opened(json)?, &task_id(&id)?, select, json),
        Tasks::Resume { id, json } => resume(&opened(json)?, &task_id(&id)?, json),
        Tasks::Answer { id, answers, onward } => {
            notes::answer(&opened(onward.json)?, &task_id(&id)?, &answers, &onward)
        }
        Tasks::ApprovePlan { id, version, onward } => {
            notes::approve(&opened(onward.json)?, &task_id(&id)?, version, &onward)
        }
        Tasks::Plan { id, amend: None, onward } => plan::print(&opened(true)?, &task_id(&id)?, onward.json),
        Tasks::Plan { id, amend: Some(file), onward } => {
            plan::amend(&opened(onward.json)?, &task_id(&id)?, &file, &onward)
        }
        Tasks::Steer { id, text } => notes::steer(&opened(true)?, &task_id(&id)?, &text.join(" ")),
        Tasks::Raise(raise) => notes::raise(&opened(true)?, &task_id(&raise.id)?, &raise),
        Tasks::Again { id, because, json } => again::again(&opened(json)?, &task_id(&id)?, &because, json),
        Tasks::Cancel { id } => cancel(&opened(true)?, &task_id(&id)?),
        Tasks::Apply { id, tree, select, unverified, consent, json } => {
            let opened = opened(json)?;
            let id = task_id(&id)?;
            let tree = tree.map(|tree| agent::tree_named(&*opened.house.journal, &id, &tree)).transpose()?;
            let tree = match (select, tree) {
                (None, Some(tree)) => tree,
                (None, None) => return Err(unnamed(&opened, &id)?),
                (Some(hunks), Some(named)) => selected(&opened, &id, hunks, Some(named))?,
                (Some(hunks), None) => {
                    let tree = selected(&opened, &id, hunks, None)?;
                    let report = agent::report(&*opened.house.journal, &opened.house.state, &id, Some(&tree))?;
                    apply::approve_selection(&report, &tree, json)?;
                    tree
                }
            };
            apply::apply(&opened.house, &id, &Approval { tree, unverified, consent }, json)
        }
        Tasks::Undo { id, json } => apply::undo(&opened(json)?.house, &task_id(&id)?, json),
        Tasks::Purge { id, ended } => purge(&opened(true)?, id.as_deref(), ended),
    }
}

fn list(opened: &Opened, waiting: bool, json: bool) -> Result<ExitCode, Failure> {
    let mut lines = agent::list(&*opened.house.journal)?;
    lines.retain(|line| !waiting || (line.waiting.is_some() && !line.given));
    if json {
        print_json(&lines)?;
        return Ok(ExitCode::Done);
    }
    if lines.is_empty() && waiting {
        println!("no task waits for you");
    } else if lines.is_empty() {
        println!("there are no tasks; `understudy run` and `understudy prove` start one");
    }
    for line in lines {
        let given = if line.given { " (given)" } else { "" };
        let word = format!("{:24}", line.verdict.unwrap_or(line.status) + given);
        println!(
            "{}  {}  {}  {}",
            render::bold(&line.id),
            if line.waiting.is_some() && !line.given { render::doubtful(word) } else { word },
            line.title,
            render::dim(render::one_line(&line.workspace))
        );
        if let Some(Wait::Answers { questions }) = line.waiting.as_ref().filter(|_| !line.given) {
            for question in questions {
                println!("          {}", render::one_line(&question.text));
            }
        }
    }
    Ok(ExitCode::Done)
}

fn resume(opened: &Opened, id: &TaskId, json: bool) -> Result<ExitCode, Failure> {
    let walk = Walk::resume(&opened.house, id)?;
    wiring::cancel_on_interrupt(&opened.house.cancel);
    let walk = dialogue::walk_on(&opened.house, walk, Dialogue::of(json))?;
    show(&walk.report(None)?, json)
}

fn diff(opened: &Opened, id: &TaskId, select: Option<Vec<String>>, json: bool) -> Result<ExitCode, Failure> {
    let tree = match select {
        None => None,
        Some(hunks) => Some(selected(opened, id, hunks, None)?),
    };
    show(&agent::report(&*opened.house.journal, &opened.house.state, id, tree.as_ref())?, json)
}

/// The tree of a selection, judged; with a named tree, the selection must be that tree.
fn selected(opened: &Opened, id: &TaskId, hunks: Vec<String>, named: Option<TreeId>) -> Result<TreeId, Failure> {
    let hunks: Vec<String> = hunks.into_iter().filter(|hunk| !hunk.is_empty()).collect();
    // Of a task that runs nothing is selected, whatever its hunks are called.
    let mut walk = Walk::take(&opened.house, id)?;
    let kept = agent::hunks_named(&*opened.house.journal, &opened.house.state, id, &hunks)?;
    wiring::cancel_on_interrupt(&opened.house.cancel);
    let tree = walk.select(&kept)?;
    walk.give_back()?;
    match named {
        Some(named) if named != tree => Err(Failure {
            code: ExitCode::NeedsAnswer,
            sentence: format!(
                "this selection is tree {tree}, not the tree {named} that was approved; nothing was written"
            ),
        }),
        None | Some(_) => Ok(tree),
    }
}

/// Applying without a tree is no approval: say which tree it would be.
fn unnamed(opened: &Opened, id: &TaskId) -> Result<Failure, Failure> {
    let report = agent::report(&*opened.house.journal, &opened.house.state, id, None)?;
    let sentence = match &report.kept_tree.or(report.tree) {
        Some(tree) => format!("naming the tree is the approval: `understudy tasks apply {id} --tree {tree}`"),
        None => format!("task {id} has no diff to write"),
    };
    Ok(Failure { code: ExitCode::NeedsAnswer, sentence })
}

fn cancel(opened: &Opened, id: &TaskId) -> Result<ExitCode, Failure> {
    let journal = &opened.house.journal;
    if let Some(owner) = journal.owner(id)? {
        journal.request_cancel(id)?;
        println!("process {owner} was asked to end task {id}");
        return Ok(ExitCode::Done);
    }
    let walk = Walk::take(&opened.house, id)?;
    if walk.state().conclusion.is_some() {
        println!("task {id} has ended already");
    } else {
        walk.cancel()?;
        println!("task {id} is cancelled");
    }
    Ok(ExitCode::Done)
}

fn purge(opened: &Opened, id: Option<&str>, ended: bool) -> Result<ExitCode, Failure> {
    let journal = &opened.house.journal;
    let doomed = match (id, ended) {
        (Some(id), _) => vec![task_id(id)?],
        (None, true) => {
            let mut doomed = Vec::new();
            for id in journal.tasks()? {
                let records = journal.records(&id)?;
                if records.iter().any(|record| matches!(record.event, Ok(Event::Concluded { .. }))) {
                    doomed.push(id);
                }
            }
            doomed
        }
        (None, false) => return Err(Failure::usage("name a task, or `--ended` for all that have ended")),
    };
    for id in &doomed {
        agent::forget(&opened.house, id)?;
    }
    println!("{} task{} forgotten", doomed.len(), if doomed.len() == 1 { "" } else { "s" });
    Ok(ExitCode::Done)
}
