//! What a conversation begins with: the task, what a search for it finds in the base, the plan, each in a block of its own
//! and byte for byte the same in all of them, so that a provider's cache holds them; what changes comes after them.

use std::fmt::Write as _;

use task::port::{Answer, Block, Origin, Query, Told};
use task::{Event, Plan, Source, Step, StepAction, TreeId, TreePath};

use super::looks::Looks;
use super::quote::Quoter;
use super::tools::Seat;
use crate::proving::TreeFiles;
use crate::{Error, walk::Walk};

/// Files that tell agents about style and commands, where they stand at the top.
const GUIDANCE: [&str; 5] =
    ["AGENTS.md", "CLAUDE.md", ".github/copilot-instructions.md", "CONVENTIONS.md", ".cursorrules"];
/// Bytes of all guidance, of one pushed excerpt, of all of them, and of those beside a step's own files.
const GUIDANCE_CAP: usize = 12 * 1024;
const EXCERPT_CAP: usize = 6 * 1024;
const PUSHED_CAP: usize = 28 * 1024;
const STEP_CAP: usize = 14 * 1024;
/// A file that a step names is shown whole up to this size.
const WHOLE_FILE: usize = 8 * 1024;

impl Walk<'_> {
    /// The blocks that all conversations of a plan begin with, and what of the base they show.
    fn beginning(&mut self, plan: Option<&Plan>) -> Result<(Vec<Block>, Vec<String>), Error> {
        let mut blocks = vec![self.about_the_task()?];
        let (found, shown) = self.found_for_the_task()?;
        let quoter = self.desk().quoter.clone();
        if !found.is_empty() {
            let text = format!("# What a search for the task finds in the base, before any change\n\n{found}");
            blocks.push(Block::Text { told: quoter.ours(&text), stable: true });
        }
        if let Some(plan) = plan {
            let mut text = format!("# Plan, version {}\n", plan.version);
            for step in plan.order() {
                text.push_str(&described(step, &quoter));
            }
            blocks.push(Block::Text { told: quoter.ours(&text), stable: true });
        }
        Ok((blocks, shown))
    }

    /// Code of the base that belongs to the task, put before the model without being asked for.
    fn found_for_the_task(&mut self) -> Result<(String, Vec<String>), Error> {
        if let Some(found) = &self.desk().found {
            return Ok(found.clone());
        }
        let base = self.base()?;
        let query = self.state.request.description.clone();
        let found = self.with_looks(&base, |_, looks| {
            let (mut text, mut shown) = (String::new(), Vec::new());
            push(looks, &query, PUSHED_CAP, &[], &mut text, &mut shown);
            Ok((text, shown))
        })?;
        self.desk().found = Some(found.clone());
        Ok(found)
    }

    fn about_the_task(&mut self) -> Result<Block, Error> {
        let base = self.base()?;
        let checks = self.checks_of(&base)?;
        let (request, quoter) = (self.state.request.clone(), self.desk().quoter.clone());
        let origin = if request.source == Source::Issue { Origin::Issue } else { Origin::Developer };
        let mut text = String::from("# Task\n\n");
        text.push_str(&quoter.block(origin, "the task", &request.description, 32 * 1024));
        if !request.acceptance_criteria.is_empty() {
            text.push_str("\nWhat must hold when it is done:\n");
            for criterion in &request.acceptance_criteria {
                let _ = writeln!(text, "- {}", quoter.redact(&task::printable(criterion)));
            }
        }
        let listed = |all: &[String], none: &str| if all.is_empty() { none.to_owned() } else { all.join("; ") };
        let scope = listed(&request.scope.paths, "any file of the repository");
        let _ = writeln!(text, "\nThe request may change: {scope}");
        let checks = if checks.is_empty() { ": none\n".to_owned() } else { quoter.names("checks", &checks) };
        let _ = write!(text, "Checks of this repository{checks}");
        let _ = writeln!(text, "Commands that `run` takes: {}", listed(&request.allowed_commands, "none"));
        let mut left = GUIDANCE_CAP;
        for name in GUIDANCE {
            let Ok(path) = name.parse::<TreePath>() else { continue };
            let Some(bytes) = self.store.read(&base, &path)? else { continue };
            let Ok(guide) = std::str::from_utf8(&bytes) else { continue };
            if left > 0 {
                let _ = write!(
                    text,
                    "\n{}",
                    quoter.block(
                        Origin::Repository,
                        &format!("{name}: guidance about style and commands"),
                        guide,
                        left
                    )
                );
                left = left.saturating_sub(guide.len());
            }
        }
        Ok(Block::Text { told: quoter.ours(&text), stable: true })
    }

    /// Code that belongs to a step: its own files, then what a search for it finds beside what was shown of the base.
    fn pushed(
        &mut self,
        tree: &TreeId,
        query: &str,
        files: &[String],
        mut known: Vec<String>,
    ) -> Result<(String, Vec<String>), Error> {
        if let Some(base) = &self.state.base {
            let changed = worktree::published_files(&self.store, base, tree)?;
            known.retain(|name| !changed.iter().any(|file| name.starts_with(&format!("{}:", file.path))));
        }
        self.with_looks(tree, |_, looks| {
            let (mut text, mut shown) = show_files(looks, files);
            push(looks, query, STEP_CAP, &known, &mut text, &mut shown);
            Ok((text, shown))
        })
    }

    pub(crate) fn open_planning(&mut self, seat: &Seat) -> Result<Vec<Block>, Error> {
        let (mut blocks, shown) = self.beginning(None)?;
        self.was_shown(seat, shown)?;
        let quoter = self.desk().quoter.clone();
        let text = "# Stage: planning\n\nPropose the plan, or ask. Nothing can be edited now.\n";
        blocks.push(Block::Text { told: quoter.ours(text), stable: false });
        blocks.extend(self.words_of_the_developer());
        Ok(blocks)
    }

    fn was_shown(&mut self, seat: &Seat, excerpts: Vec<String>) -> Result<(), Error> {
        if excerpts.is_empty() {
            return Ok(());
        }
        Ok(self.record(Event::Retrieved { stage: seat.stage, excerpts })?)
    }

    /// The beginning of work on a step; `trouble` is what went wrong before, with what was found out about it.
    pub(crate) fn open_step(&mut self, seat: &Seat, tree: &TreeId, trouble: &str) -> Result<Vec<Block>, Error> {
        let plan = self.state.plan.clone();
        let Some(step) = &seat.step else { return Err(Error::Sentence("there is no step".into())) };
        let (mut blocks, known) = self.beginning(plan.as_ref())?;
        let delivers = match &step.action {
            StepAction::Write { delivers } => delivers.clone(),
            other => crate::grammar::write(other),
        };
        let query =
            format!("{}\n{delivers}\n{}\n{}", step.title, step.scope.symbols.join(" "), step.scope.paths.join(" "));
        let (pushed, shown) = self.pushed(tree, &query, &step.scope.paths, known)?;
        self.was_shown(seat, shown)?;
        let quoter = self.desk().quoter.clone();
        let mut text = format!("# Stage: coding, step {}\n\n", step.id);
        let done: Vec<String> = plan
            .iter()
            .flat_map(Plan::order)
            .filter_map(|other| Some((other, self.state.work.steps.get(&other.id)?)))
            .filter(|(other, record)| record.done && other.id != step.id)
            .map(|(other, record)| format!("- {}: {}", other.id, record.outcome))
            .collect();
        if !done.is_empty() {
            let _ = writeln!(text, "Done before:\n{}\n", done.join("\n"));
        }
        if !trouble.is_empty() {
            text.push_str(trouble);
            text.push('\n');
        }
        if !pushed.is_empty() {
            let _ = write!(text, "What this step is about, as it is now:\n{pushed}");
        }
        blocks.push(Block::Text { told: quoter.ours(&text), stable: false });
        blocks.extend(self.words_of_the_developer());
        Ok(blocks)
    }

    pub(crate) fn open_diagnosis(&mut self, trouble: &str) -> Result<Vec<Block>, Error> {
        let plan = self.state.plan.clone();
        let (mut blocks, _) = self.beginning(plan.as_ref())?;
        let text = format!(
            "# Stage: diagnosing\n\nFind the cause before anything is changed, then call `diagnose`.\n\n{trouble}"
        );
        let told = self.desk().quoter.ours(&text);
        blocks.push(Block::Text { told, stable: false });
        Ok(blocks)
    }

    /// Answers, guidance and rejections so far: constraints for what follows.
    fn words_of_the_developer(&self) -> Option<Block> {
        let work = &self.state.work;
        let mut text = String::new();
        for constraint in &self.state.request.constraints {
            let _ = writeln!(text, "{constraint}");
        }
        for answer in &work.answers {
            let _ = writeln!(text, "Asked: {}\nThe developer answered: {}", answer.question, answer.text);
        }
        for guidance in &work.steering {
            let _ = writeln!(text, "The developer says: {guidance}");
        }
        (!text.is_empty()).then(|| {
            let told = Told::new(Origin::Developer, &text, 32 * 1024, &self.house.redactor);
            Block::Text { told, stable: false }
        })
    }

    /// The ids of the checks that a tree has.
    pub(crate) fn checks_of(&self, tree: &TreeId) -> Result<Vec<String>, Error> {
        let needed = checks::find(&TreeFiles { store: &self.store, tree }, checks::Wanted::default()).all();
        Ok(needed.checks.into_iter().map(|check| check.id.0).collect())
    }
}

fn described(step: &Step, quoter: &Quoter) -> String {
    let mut text = format!("\n## Step {}: {}\n", step.id, step.title);
    let _ = writeln!(text, "May change: {}", step.scope.paths.join(", "));
    if let StepAction::Write { delivers } = &step.action {
        let _ = writeln!(text, "Delivers: {delivers}");
    }
    for criterion in &step.acceptance {
        let _ = writeln!(text, "Must hold: {criterion}");
    }
    if !step.depends_on.is_empty() {
        let names: Vec<&str> = step.depends_on.iter().map(|id| id.as_str()).collect();
        let _ = writeln!(text, "After: {}", names.join(", "));
    }
    quoter.redact(&text)
}

/// Files that are named outright, with the names of what is shown.
fn show_files(looks: &Looks<'_>, files: &[String]) -> (String, Vec<String>) {
    let (mut text, mut shown) = (String::new(), Vec::new());
    for name in files.iter().filter(|name| !name.contains(['*', '?', '{', '['])) {
        let Ok((path, whole)) = looks.file(name) else { continue };
        if whole.len() <= WHOLE_FILE && text.len() + whole.len() <= PUSHED_CAP {
            text.push_str(&looks.quoter.block(Origin::Repository, &format!("{path}, all of it"), &whole, WHOLE_FILE));
            shown.push(path.to_string());
        } else if let Ok(outline) = looks.outline(name) {
            text.push_str(&outline);
        }
    }
    (text, shown)
}

/// The best excerpts for a query, but for those that are known and those of files that are shown as a whole.
fn push(looks: &Looks<'_>, query: &str, cap: usize, known: &[String], text: &mut String, shown: &mut Vec<String>) {
    let query = Query { text: query.to_owned(), most: 8, source_only: false };
    let Answer::Known { value, .. } = looks.retrieve.search(&query) else { return };
    for excerpt in value {
        let path = excerpt.path.to_string();
        let name = format!("{path}:{}-{}", excerpt.first_line, excerpt.last_line);
        if shown.contains(&path) || known.contains(&name) || text.len() >= cap {
            continue;
        }
        let what = format!("{name} ({})", excerpt.reason);
        text.push_str(&looks.excerpt(&excerpt, &what, EXCERPT_CAP));
        shown.push(name);
    }
}
