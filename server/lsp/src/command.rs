//! The commands of `protocol.md`, read once into one closed type.

use lsp_types::{ExecuteCommandParams, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use task::{Engine, HunkId, PlanPolicy, TaskId, TreeId, Trigger};

use crate::limits::LimitParams;
use crate::mail::Refusal;

/// Every command that is advertised, in the order of the table.
pub const NAMES: [&str; 22] = [
    "understudy.task.create",
    "understudy.task.list",
    "understudy.task.get",
    "understudy.task.resume",
    "understudy.task.cancel",
    "understudy.task.purge",
    "understudy.task.again",
    "understudy.task.answer",
    "understudy.task.steer",
    "understudy.task.raise",
    "understudy.plan.open",
    "understudy.plan.approve",
    "understudy.explain",
    "understudy.hunk.reject",
    "understudy.hunk.keep",
    "understudy.check.run",
    "understudy.check.again",
    "understudy.check.receipt",
    "understudy.check.compare",
    "understudy.apply",
    "understudy.undo",
    "understudy.review.open",
];
/// The last one, apart because it needs nothing.
pub const DOCTOR: &str = "understudy.doctor";

#[derive(Debug)]
pub enum Command {
    Create(Box<CreateParams>),
    List(ListParams),
    Get(GetParams),
    Resume(TaskParams),
    Cancel(TaskParams),
    Purge(TaskParams),
    Again(AgainParams),
    Answer(AnswerParams),
    Steer(SteerParams),
    Raise(RaiseParams),
    OpenPlan(TaskParams),
    ApprovePlan(PlanParams),
    Explain(ExplainParams),
    Reject(HunkParams),
    Keep(HunkParams),
    Check(RevisionParams),
    CheckAgain(RevisionParams),
    Receipt(CheckParams),
    Compare(CheckParams),
    Apply(ApplyParams),
    Undo(RevisionParams),
    Review(TaskParams),
    Doctor,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreateParams {
    #[serde(default)]
    pub description: String,
    pub folder: Option<String>,
    #[serde(default)]
    pub acceptance_criteria: Vec<String>,
    #[serde(default)]
    pub path_scope: Vec<String>,
    pub base_revision: Option<String>,
    pub branch: Option<String>,
    pub patch: Option<String>,
    #[serde(default)]
    pub worktree: bool,
    /// `compiler` or `model`; without it whoever can: the compiler where its grammar takes the description.
    pub engine: Option<Engine>,
    /// Who agrees to the plan of a model.
    pub plan: Option<PlanPolicy>,
    pub trigger: Option<Trigger>,
    #[serde(default)]
    pub limits: LimitParams,
    pub request_id: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListParams {
    pub folder: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskParams {
    pub task: TaskId,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgainParams {
    pub task: TaskId,
    /// What was wrong with it, besides the reasons that hunks were rejected for.
    #[serde(default)]
    pub because: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerParams {
    pub task: TaskId,
    pub revision: u64,
    /// One for each question, in order.
    pub answers: Vec<String>,
    /// Where it answers one of several questions: which, counted from 1. The others are asked for next.
    pub question: Option<usize>,
    /// What the caller saw as asked; an answer to something else is refused.
    pub asked: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SteerParams {
    pub task: TaskId,
    pub text: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RaiseParams {
    pub task: TaskId,
    pub limits: LimitParams,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanParams {
    pub task: TaskId,
    pub revision: u64,
    pub version: u32,
    /// The document as the developer changed it.
    pub text: Option<String>,
    /// Takes the text from the document that `plan.open` wrote, as the editor or the disk has it.
    #[serde(default)]
    pub document: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExplainParams {
    pub question: String,
    pub folder: Option<String>,
    /// The document that the question is asked in, and the line in it, counted from 0 as everywhere in this protocol.
    pub uri: Option<Url>,
    pub line: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GetParams {
    pub task: TaskId,
    pub tree: Option<TreeId>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RevisionParams {
    pub task: TaskId,
    pub revision: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HunkParams {
    pub task: TaskId,
    pub revision: u64,
    pub hunks: Vec<HunkId>,
    pub reason: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckParams {
    pub task: TaskId,
    pub check: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApplyParams {
    pub task: TaskId,
    pub revision: u64,
    /// Naming it is the approval.
    pub tree: TreeId,
    #[serde(default)]
    pub unverified: bool,
    /// Paths of files that act by themselves and may be written.
    #[serde(default)]
    pub consent: Vec<String>,
}

/// `understudy/document`.
#[derive(Debug, Deserialize)]
pub struct DocumentParams {
    pub uri: String,
}

impl Command {
    /// Reads a command and its one argument.
    pub fn read(params: ExecuteCommandParams) -> Result<Self, Refusal> {
        let name = params.command.as_str();
        let argument = match params.arguments.len() {
            0 => json!({}),
            1 => params.arguments.into_iter().next().unwrap_or_default(),
            // A command line of an editor may have cut the text at its blanks.
            _ if ["understudy.task.create", "understudy.explain"].contains(&name)
                && params.arguments.iter().all(Value::is_string) =>
            {
                let words: Vec<&str> = params.arguments.iter().filter_map(Value::as_str).collect();
                Value::String(words.join(" "))
            }
            _ => return Err(Refusal::BadParams(format!("`{name}` takes one argument, an object"))),
        };
        match name {
            "understudy.task.create" => read(name, argument, "description").map(Box::new).map(Self::Create),
            "understudy.task.list" => read(name, argument, "folder").map(Self::List),
            "understudy.task.get" => read(name, argument, "task").map(Self::Get),
            "understudy.task.resume" => read(name, argument, "task").map(Self::Resume),
            "understudy.task.cancel" => read(name, argument, "task").map(Self::Cancel),
            "understudy.task.purge" => read(name, argument, "task").map(Self::Purge),
            "understudy.task.again" => read(name, argument, "task").map(Self::Again),
            "understudy.task.answer" => read(name, argument, "").map(Self::Answer),
            "understudy.task.steer" => read(name, argument, "").map(Self::Steer),
            "understudy.task.raise" => read(name, argument, "").map(Self::Raise),
            "understudy.plan.open" => read(name, argument, "task").map(Self::OpenPlan),
            "understudy.plan.approve" => read(name, argument, "").map(Self::ApprovePlan),
            "understudy.explain" => read(name, argument, "question").map(Self::Explain),
            "understudy.hunk.reject" => read(name, argument, "").map(Self::Reject),
            "understudy.hunk.keep" => read(name, argument, "").map(Self::Keep),
            "understudy.check.run" => read(name, argument, "").map(Self::Check),
            "understudy.check.again" => read(name, argument, "").map(Self::CheckAgain),
            "understudy.check.receipt" => read(name, argument, "").map(Self::Receipt),
            "understudy.check.compare" => read(name, argument, "").map(Self::Compare),
            "understudy.apply" => read(name, argument, "").map(Self::Apply),
            "understudy.undo" => read(name, argument, "").map(Self::Undo),
            "understudy.review.open" => read(name, argument, "task").map(Self::Review),
            DOCTOR => Ok(Self::Doctor),
            other => Err(Refusal::BadParams(format!("`{}` is not a command of Understudy", task::printable(other)))),
        }
    }
}

/// Reads an object, or a bare string as its one `key`.
fn read<T: DeserializeOwned>(name: &str, argument: Value, key: &str) -> Result<T, Refusal> {
    let argument = match argument {
        Value::String(text) if !key.is_empty() => json!({ key: text }),
        Value::Null => json!({}),
        other => other,
    };
    serde_json::from_value(argument)
        .map_err(|error| Refusal::BadParams(format!("the argument of `{name}` is not understood: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(name: &str, arguments: Vec<Value>) -> Result<Command, Refusal> {
        Command::read(ExecuteCommandParams { command: name.into(), arguments, ..ExecuteCommandParams::default() })
    }

    #[test]
    fn a_task_can_be_typed_at_a_command_line() {
        for arguments in [
            vec![json!("fix warnings")],
            vec![json!({"description": "fix warnings"})],
            vec![json!("fix"), json!("warnings")],
        ] {
            let Ok(Command::Create(params)) = command("understudy.task.create", arguments) else { panic!() };
            assert_eq!(params.description, "fix warnings");
        }
        assert!(matches!(command("understudy.task.list", vec![]), Ok(Command::List(_))));
        let Ok(Command::Explain(params)) = command("understudy.explain", vec![json!("why"), json!("so?")]) else {
            panic!()
        };
        assert_eq!(params.question, "why so?");
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (name, argument, what) in [
            ("understudy.apply", json!({"task": "t", "revision": 1}), "missing field `tree`"),
            ("understudy.undo", json!({"task": "t", "revision": 1, "force": true}), "unknown field `force`"),
            ("understudy.task.get", json!({"task": "../x"}), "is not a task id"),
            ("understudy.everything", json!({}), "is not a command"),
        ] {
            let refusal = command(name, vec![argument]).unwrap_err();
            assert!(refusal.sentence().contains(what), "{}", refusal.sentence());
        }
        for name in NAMES.into_iter().chain([DOCTOR]) {
            let unknown = command(name, vec![json!({})])
                .err()
                .is_some_and(|refusal| refusal.sentence().contains("is not a command"));
            assert!(!unknown, "{name}");
        }
    }
}
