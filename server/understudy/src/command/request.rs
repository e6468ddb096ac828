//! From flags to a request, and from a request to its end.

use std::path::Path;

use agent::Walk;
use task::{Candidate, Engine, ExitCode, PlanPolicy, Request, Source, Tool};

use super::apply::ask_and_apply;
use super::dialogue::{self, Dialogue};
use crate::args::Common;
use crate::draft::Draft;
use crate::failure::Failure;
use crate::render;
use crate::settings::microdollars;
use crate::wiring::{self, Front};

/// What differs between `run` and `prove`.
pub struct Ask {
    pub source: Source,
    pub engine: Engine,
    pub description: String,
    pub candidate: Option<Candidate>,
    pub tools: Vec<Tool>,
    pub base_revision: Option<String>,
    pub plan_policy: Option<PlanPolicy>,
    pub budget_microdollars: Option<u64>,
    pub max_tokens: Option<u64>,
}

impl Ask {
    /// A task with everything that an engine may use.
    pub fn new(engine: Engine, description: impl Into<String>) -> Self {
        Self {
            source: Source::CommandLine,
            engine,
            description: description.into(),
            candidate: None,
            tools: Tool::ALL.to_vec(),
            base_revision: None,
            plan_policy: None,
            budget_microdollars: None,
            max_tokens: None,
        }
    }
}

/// What `--budget-usd` says, in millionths.
pub fn dollars(dollars: f64) -> Result<u64, Failure> {
    microdollars(dollars).ok_or_else(|| Failure::usage("`--budget-usd` is an amount of dollars, 0 or more"))
}

/// The front that these flags ask for.
pub fn front(common: &Common) -> Front {
    if common.json { Front::Json } else { Front::Terminal }
}

/// Builds the request.
pub fn request(front: &wiring::Opened, folder: String, common: &Common, ask: Ask) -> Result<Request, Failure> {
    let draft = Draft {
        source: ask.source,
        folder,
        description: ask.description,
        engine: ask.engine,
        candidate: ask.candidate,
        acceptance_criteria: common.acceptance_criteria.clone(),
        paths: common.paths.clone(),
        tools: ask.tools,
        allowed_files: common.allow_file.clone(),
        base_revision: ask.base_revision,
        trigger: None,
        plan_policy: ask.plan_policy,
        max_attempts: common.max_attempts,
        timeout_seconds: common.timeout,
        budget_microdollars: ask.budget_microdollars,
        max_tokens: ask.max_tokens,
        request_id: common.request_id.clone(),
    };
    draft.request(&front.settings)
}

/// The folder that the user named, canonical, as text.
pub fn folder(path: &Path) -> Result<String, Failure> {
    let shown = task::printable(&path.to_string_lossy());
    let canonical = path
        .canonicalize()
        .map_err(|error| Failure::usage(format!("{shown} is not a folder that can be opened: {error}")))?;
    if !canonical.is_dir() {
        return Err(Failure::usage(format!("{shown} is not a folder; `--repo` names the folder to work on")));
    }
    canonical
        .into_os_string()
        .into_string()
        .map_err(|_| Failure::usage(format!("the path of {shown} is not UTF-8; move the folder")))
}

/// Walks a new task to its end and shows what came of it.
pub fn carry_out(opened: &wiring::Opened, common: &Common, request: Request) -> Result<ExitCode, Failure> {
    let house = &opened.house;
    let title = request.title();
    let limits = (request.engine == Engine::Model).then(|| request.limits.clone());
    let walk = match Walk::begin(house, request)? {
        Ok(walk) => walk,
        Err(id) => {
            if !common.json {
                anstream::eprintln!("this request was made before: it is task {id}");
            }
            let report = agent::report(&*house.journal, &house.state, &id, None)?;
            return show(&report, common.json);
        }
    };
    if !common.json {
        anstream::eprintln!("{} {}  {}", render::bold("task"), render::bold(walk.id()), title);
        if let Some(limits) = &limits {
            anstream::eprintln!("{}", render::dim(render::limits(walk.id(), limits, &unpriced(house))));
        }
    }
    wiring::cancel_on_interrupt(&house.cancel);
    let walk = dialogue::walk_on(house, walk, Dialogue::of(common.json))?;
    let report = walk.report(None)?;
    if !common.apply || common.json {
        let code = show(&report, common.json)?;
        return Ok(if common.apply && code == ExitCode::Done && !report.hunks.is_empty() {
            ExitCode::NeedsAnswer
        } else {
            code
        });
    }
    show(&report, false)?;
    drop(walk);
    ask_and_apply(house, &report, code_of(report.exit_code))
}

/// Models of a house that only tokens limit.
fn unpriced(house: &agent::House) -> Vec<String> {
    house.model.as_ref().map(|model| crate::models::unpriced(&**model)).unwrap_or_default()
}

/// Prints a report in the form that was asked for.
pub fn show(report: &agent::Report, json: bool) -> Result<ExitCode, Failure> {
    if json {
        print_json(report)?;
    } else {
        render::print_report(report);
    }
    Ok(code_of(report.exit_code))
}

/// Prints one JSON value on one line.
pub fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string(value).map_err(|error| Failure::infrastructure(error.to_string()))?;
    println!("{text}");
    Ok(())
}

/// The exit code with this number.
pub fn code_of(number: i32) -> ExitCode {
    use ExitCode::{Cancelled, Done, FilesMoved, Infrastructure, NeedsAnswer, NotVerified, Stopped, Usage};
    [Done, Usage, NotVerified, Stopped, Infrastructure, Cancelled, NeedsAnswer, FilesMoved]
        .into_iter()
        .find(|code| *code as i32 == number)
        .unwrap_or(Infrastructure)
}

/// A house for reading and continuing tasks.
pub fn opened(json: bool) -> Result<wiring::Opened, Failure> {
    wiring::open(if json { Front::Json } else { Front::Terminal })
}

/// A task id as typed.
pub fn task_id(text: &str) -> Result<task::TaskId, Failure> {
    Ok(text.parse()?)
}
