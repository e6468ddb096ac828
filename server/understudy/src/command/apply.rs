//! Writing: an approved tree goes into the developer's files, or comes back out of them.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::sync::Arc;

use agent::{Applied, Approval, House, Report, Walk};
use anstream::{eprintln, println};
use task::{ExitCode, PublicationEnd, TaskId, TreeId};
use worktree::{FilePublisher, Store, Workspace};

use super::request::{code_of, print_json};
use crate::failure::Failure;
use crate::render;

/// The publisher that writes files, for the workspace of a task.
pub fn publisher(house: &House, workspace: &str) -> Result<FilePublisher, Failure> {
    let workspace = Workspace::open(std::path::Path::new(workspace), &house.state).map_err(agent::Error::from)?;
    let store = Arc::new(Store::open(&workspace).map_err(agent::Error::from)?);
    Ok(FilePublisher::new(workspace, store))
}

/// Asks at the terminal; without one the command that would write is the answer.
pub fn ask_and_apply(house: &House, report: &Report, code: ExitCode) -> Result<ExitCode, Failure> {
    let (Some(tree), false) = (&report.tree, report.hunks.is_empty()) else { return Ok(code) };
    if !std::io::stdin().is_terminal() {
        eprintln!("there is no terminal to ask at; the command above writes it");
        return Ok(ExitCode::NeedsAnswer);
    }
    if code != ExitCode::Done {
        eprintln!("{}: only the command above writes a tree that is not verified", report.verdict);
        return Ok(code);
    }
    if !says_yes(report, tree) {
        eprintln!("nothing was written");
        return Ok(ExitCode::NeedsAnswer);
    }
    let consent: Vec<String> = Vec::new();
    let approval = Approval { tree: tree.clone(), unverified: false, consent };
    apply(house, &report.task.id, &approval, false)
}

/// The yes to a selection whose tree was not named: hunks do not say which bytes they make.
pub fn approve_selection(report: &Report, tree: &TreeId, json: bool) -> Result<(), Failure> {
    let (id, verdict) = (&report.task.id, &report.verdict);
    if !json && std::io::stdin().is_terminal() {
        eprintln!("this selection is tree {tree}, {verdict}");
        if says_yes(report, tree) {
            return Ok(());
        }
    }
    Err(Failure {
        code: ExitCode::NeedsAnswer,
        sentence: format!(
            "nothing was written: this selection is tree {tree}, {verdict}, and naming the tree is the approval: \
             `understudy tasks apply {id} --tree {tree}` with the same `--select`"
        ),
    })
}

/// Asks at the terminal whether a tree is to be written.
fn says_yes(report: &Report, tree: &TreeId) -> bool {
    eprintln!();
    anstream::eprint!("Write tree {tree} into {}? [y/N] ", render::one_line(&report.task.workspace));
    // A prompt that cannot be flushed is still answered.
    let _ = std::io::stderr().flush();
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}

/// Applies an approved tree and says what was read back.
pub fn apply(house: &House, id: &TaskId, approval: &Approval, json: bool) -> Result<ExitCode, Failure> {
    let mut walk = Walk::take(house, id)?;
    let publisher = publisher(house, &walk.state().request.workspace)?;
    let applied = walk.apply(approval, &publisher)?;
    let code = finish(&walk, &applied, Some(&approval.tree), json)?;
    walk.give_back()?;
    Ok(code)
}

/// Takes the last publication back.
pub fn undo(house: &House, id: &TaskId, json: bool) -> Result<ExitCode, Failure> {
    let mut walk = Walk::take(house, id)?;
    let publisher = publisher(house, &walk.state().request.workspace)?;
    let applied = walk.undo(&publisher)?;
    let code = finish(&walk, &applied, None, json)?;
    walk.give_back()?;
    Ok(code)
}

fn finish(walk: &Walk<'_>, applied: &Applied, tree: Option<&TreeId>, json: bool) -> Result<ExitCode, Failure> {
    let (code, sentence) = match applied {
        Applied::Ended(PublicationEnd::Applied) => {
            let what = if tree.is_some() { "written" } else { "taken back" };
            (ExitCode::Done, format!("{what}, and read back byte for byte"))
        }
        Applied::AlreadyThere => {
            (ExitCode::Done, "the files already are what this tree says; nothing was written".to_owned())
        }
        Applied::Ended(PublicationEnd::Partial { missing, reason }) => {
            let text =
                format!("partly written: {} files are missing ({reason}); the same command finishes it", missing.len());
            (ExitCode::FilesMoved, text)
        }
        Applied::Ended(PublicationEnd::Diverged { paths }) => {
            let names: Vec<String> = paths.iter().take(5).map(ToString::to_string).collect();
            let text = format!(
                "nothing was written: the text changed where, or right beside where, the diff changes it, in {}",
                names.join(", ")
            );
            (ExitCode::FilesMoved, text)
        }
        Applied::Ended(PublicationEnd::Refused { reason }) => {
            (ExitCode::Infrastructure, format!("nothing was written: {reason}"))
        }
        Applied::Moved { tree, verified } => {
            let word = if *verified { "verified" } else { "not verified" };
            let flag = if *verified { "" } else { " --unverified" };
            let text = format!(
                "nothing was written: the files moved on since the snapshot. On what is there now the change is tree {tree}, {word}; \
                 `understudy tasks apply {} --tree {tree}{flag}` approves it",
                walk.id()
            );
            (ExitCode::NeedsAnswer, text)
        }
        Applied::Refused { reason } => (ExitCode::NeedsAnswer, format!("nothing was written: {reason}")),
    };
    let shown = match applied {
        Applied::Moved { tree, .. } => Some(tree),
        _ => tree.filter(|tree| walk.state().judgement(tree).is_some()),
    };
    let mut report = walk.report(shown)?;
    report.exit_code = code as i32;
    report.reasons.insert(0, sentence.clone());
    if json {
        print_json(&report)?;
    } else {
        if matches!(applied, Applied::Moved { .. }) {
            render::print_report(&report);
        }
        let mark = if code == ExitCode::Done { render::good("✓") } else { render::poor("✗") };
        println!("{mark} {}", render::one_line(&sentence));
        if matches!(applied, Applied::Ended(PublicationEnd::Applied)) && tree.is_some() {
            println!("  `understudy tasks undo {}` takes it back", walk.id());
        }
    }
    Ok(code_of(code as i32))
}
