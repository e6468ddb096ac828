//! The arguments of tool calls as types. What does not fit is a sentence for the model and changes nothing.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use task::port::Arguments;
use task::{Plan, PlanId, Question, Scope, Step, StepAction, StepId};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Read {
    pub path: String,
    pub first_line: Option<u32>,
    pub last_line: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Search {
    pub query: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Named {
    pub name: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct At {
    pub path: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Edits {
    pub edits: Vec<ExactEdit>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExactEdit {
    pub path: String,
    pub old: String,
    pub new: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SymbolEdit {
    pub path: String,
    pub name: String,
    pub text: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Create {
    pub path: String,
    pub text: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Move {
    pub from: String,
    pub to: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rename {
    pub name: String,
    pub to: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReplacePattern {
    pub pattern: String,
    pub template: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Assist {
    pub id: String,
    pub path: String,
    pub line: u32,
    pub column: u32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckNamed {
    pub check: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunCommand {
    pub command: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ask {
    pub questions: Vec<Asked>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    pub text: String,
    #[serde(default)]
    pub options: Vec<String>,
    #[serde(default)]
    pub why: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Diagnosis {
    pub cause: String,
    pub fix: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Done {
    pub summary: String,
    #[serde(default)]
    pub unfinished: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Explained {
    pub text: String,
    #[serde(default)]
    pub citations: Vec<Cited>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cited {
    pub path: String,
    pub first_line: u32,
    pub last_line: u32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Proposed {
    #[serde(default)]
    pub because: String,
    pub steps: Vec<ProposedStep>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProposedStep {
    pub id: String,
    pub title: String,
    pub paths: Vec<String>,
    #[serde(default)]
    pub symbols: Vec<String>,
    pub delivers: String,
    #[serde(default)]
    pub acceptance: Vec<String>,
    #[serde(default)]
    pub checks: Vec<String>,
    #[serde(default)]
    pub after: Vec<String>,
    #[serde(default)]
    pub reasoning: String,
}

/// Arguments of one tool.
pub(crate) fn read<T: DeserializeOwned>(arguments: &Arguments) -> Result<T, String> {
    match arguments {
        Arguments::Read(value) => T::deserialize(value).map_err(|error| format!("the arguments do not fit: {error}")),
        Arguments::Malformed(text) => {
            let shown: String = text.chars().take(200).collect();
            Err(format!("the arguments are no JSON object: {}", task::printable(&shown)))
        }
    }
}

impl Asked {
    pub fn question(self) -> Question {
        let clean = |text: String| task::printable(text.trim());
        Question {
            text: clean(self.text),
            options: self.options.into_iter().map(clean).collect(),
            why: clean(self.why),
        }
    }
}

impl Proposed {
    /// The plan, if it is one that can be walked.
    pub fn plan(self, version: u32, revised_from: Option<u32>) -> Result<Plan, String> {
        let id = |text: &str| -> Result<StepId, String> {
            text.trim().parse().map_err(|error: task::IdError| error.to_string())
        };
        let clean = |text: String| task::printable(text.trim());
        let steps = self.steps.into_iter().map(|step| {
            if step.paths.is_empty() {
                return Err(format!("step {} names no file that it may change", task::printable(&step.id)));
            }
            Ok(Step {
                id: id(&step.id)?,
                title: clean(step.title),
                action: StepAction::Write { delivers: clean(step.delivers) },
                scope: Scope { paths: step.paths, symbols: step.symbols },
                acceptance: step.acceptance.into_iter().map(clean).collect(),
                checks: step.checks,
                depends_on: step.after.iter().map(|text| id(text)).collect::<Result<_, _>>()?,
                reasoning: clean(step.reasoning),
                estimated_files: None,
            })
        });
        let steps = steps.collect::<Result<Vec<_>, String>>()?;
        let name: PlanId = "plan".parse().map_err(|error: task::IdError| error.to_string())?;
        let plan = Plan { id: name, version, revised_from, steps };
        match plan.faults() {
            faults if faults.is_empty() => Ok(plan),
            faults => Err(faults.join("; ")),
        }
    }
}

/// Every string in a value, changed: what is sent back to a model passes the redactor like everything else.
pub(crate) fn with_strings(value: &Value, change: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(change(text)),
        Value::Array(items) => items.iter().map(|item| with_strings(item, change)).collect(),
        Value::Object(map) => map.iter().map(|(key, item)| (key.clone(), with_strings(item, change))).collect(),
        other => other.clone(),
    }
}
