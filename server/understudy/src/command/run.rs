//! `understudy run`: carry out a task.

use std::path::Path;

use task::{Engine, ExitCode, Source, StepAction, Tool};

use super::input::read_text;
use super::request::{Ask, carry_out, dollars, folder, front, request};
use crate::args::Run;
use crate::engine::choose;
use crate::failure::Failure;
use crate::settings::Settings;
use crate::{models, render, wiring};

/// A longer issue is a discussion; whoever asks can say which part of it is the task.
const LARGEST_ISSUE: u64 = 256 << 10;

pub fn run(args: &Run) -> Result<ExitCode, Failure> {
    let (source, description) = match &args.issue {
        Some(path) => (Source::Issue, read_text("issue", path, LARGEST_ISSUE)?),
        None => (Source::CommandLine, args.task.join(" ")),
    };
    // What somebody wrote into an issue is not the developer's command: the compiler does not obey it.
    let name = match (source, args.engine.as_str()) {
        (Source::Issue, "auto") => "model",
        (Source::Issue, "compiler") => {
            return Err(Failure::usage("an issue is read by a language model; the compiler engine takes a task text"));
        }
        (_, name) => name,
    };
    let settings = Settings::load()?;
    let models = models::open(&settings);
    let engine = choose(name, &description, models.usable(), models.wanted)?;
    let tools = if args.tools.is_empty() {
        Tool::ALL.to_vec()
    } else {
        args.tools.iter().map(|tool| tool.parse::<Tool>()).collect::<Result<_, _>>().map_err(Failure::usage)?
    };
    let budget_microdollars = args.budget_usd.map(dollars).transpose()?;
    if engine == Engine::Model && !args.common.json {
        warn(&models, args.budget_usd.is_some());
    }
    let folder = folder(&args.common.repo.repo)?;
    let opened = wiring::open_with(settings, models, front(&args.common), Some(&folder))?;
    if engine == Engine::Compiler {
        known_lints(&opened, &folder, &description)?;
    }
    let ask = Ask {
        source,
        tools,
        base_revision: args.base.clone(),
        plan_policy: args.plan,
        budget_microdollars,
        max_tokens: args.max_tokens,
        ..Ask::new(engine, description)
    };
    let request = request(&opened, folder, &args.common, ask)?;
    carry_out(&opened, &args.common, request)
}

/// What the developer set and will not count.
fn warn(models: &models::Models, has_budget: bool) {
    let mut warnings: Vec<String> = models.problems.values().cloned().collect();
    let unpriced = models.panel.as_ref().map(|panel| models::unpriced(panel)).unwrap_or_default();
    if has_budget && !unpriced.is_empty() {
        warnings.push(format!(
            "`--budget-usd` limits nothing: no price is known for {}; `price` of the model below [model.models] makes it count",
            unpriced.join(", ")
        ));
    }
    for warning in warnings {
        anstream::eprintln!("{} {}", render::doubtful("warning:"), render::one_line(&warning));
    }
}

/// Lints are named before anything is copied or built.
fn known_lints(opened: &wiring::Opened, folder: &str, text: &str) -> Result<(), Failure> {
    match agent::grammar::parse(text) {
        Ok(StepAction::FixClippy { lints }) if !lints.is_empty() => {
            match agent::unknown_lints(&opened.house, Path::new(folder), &lints) {
                Some(odd) => Err(Failure::usage(odd)),
                None => Ok(()),
            }
        }
        _ => Ok(()),
    }
}
