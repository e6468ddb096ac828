//! `understudy run`: carry out a task.

use task::{Engine, ExitCode, StepAction, Tool};

use super::request::{Ask, carry_out, folder, front, request};
use crate::args::Run;
use crate::failure::Failure;
use crate::wiring;

pub fn run(args: &Run) -> Result<ExitCode, Failure> {
    let description = args.task.join(" ");
    match args.engine.as_str() {
        "compiler" => {}
        "patch" => return Err(Failure::usage("the patch engine takes a change: `understudy prove --patch FILE`")),
        "model" => {
            return Err(Failure::usage(
                "this version has no model engine; `--engine compiler` is the one that `run` has",
            ));
        }
        other => {
            return Err(Failure::usage(format!("`{}` is not an engine; `run` has `compiler`", task::printable(other))));
        }
    }
    let action = agent::grammar::parse(&description).map_err(|error| Failure::usage(refusal(&error)))?;
    let tools = if args.tools.is_empty() {
        Tool::ALL.to_vec()
    } else {
        args.tools.iter().map(|tool| tool.parse::<Tool>()).collect::<Result<_, _>>().map_err(Failure::usage)?
    };
    let budget_microdollars = match args.budget_usd {
        None => None,
        Some(dollars) if dollars.is_finite() && dollars >= 0.0 => Some((dollars * 1e6) as u64),
        Some(_) => return Err(Failure::usage("`--budget-usd` is an amount of dollars, 0 or more")),
    };
    let folder = folder(&args.common.repo.repo)?;
    let opened = wiring::open_on(front(&args.common), &folder)?;
    if let StepAction::FixClippy { lints } = &action
        && !lints.is_empty()
        && let Some(odd) = agent::unknown_lints(&opened.house, std::path::Path::new(&folder), lints)
    {
        return Err(Failure::usage(odd));
    }
    let ask = Ask {
        engine: Engine::Compiler,
        description,
        candidate: None,
        tools,
        base_revision: args.base.clone(),
        budget_microdollars,
    };
    let request = request(&opened, folder, &args.common, ask)?;
    carry_out(&opened, &args.common, request)
}

/// What to say to a text that the compiler engine cannot take: all that it can.
fn refusal(error: &agent::grammar::GrammarError) -> String {
    let width = agent::grammar::FORMS.iter().map(|(form, _)| form.len()).max().unwrap_or(0);
    let forms: String = agent::grammar::FORMS.iter().map(|(form, what)| format!("\n  {form:width$}  {what}")).collect();
    format!(
        "{error}. It takes:{forms}\nAnything else needs a language model, which this version cannot use yet; \
         `understudy prove` takes a change that another agent made."
    )
}
