//! [`Report`]: everything about a task as one value. The terminal renders it, `--json` prints it, and later fronts show
//! the same.

mod costs;
mod criteria;
mod next;
mod plainly;
mod planned;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use task::{
    Answer, AttemptId, Author, Comparison, Conclusion, Diff, Digest, ExitCode, HunkId, HunkKind, Limitation, Limits,
    PlanPolicy, Publication, PublicationEnd, Question, Receipt, Record, Risk, SandboxLevel, Source, State, StepId,
    TaskId, TreeId, TreePath, UnixMillis, Verdict, Wait,
};

pub use costs::{AttemptRecord, CostRecord, Costs, ModelRecord, OpenCall, UsageRecord};
pub use criteria::{Criterion, Held};
pub use next::NextStep;
pub use plainly::plainly;
pub use planned::{PlanRecord, PlannedStep, Progress as StepProgress, Revision, step_progress};

/// One object with the whole result of `run`, `prove` and the `tasks` verbs.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Report {
    /// How the task ended, as its word: `verified`, `not verified`, `nothing to do`, `stopped`, `infrastructure`,
    /// `cancelled`, `needs an answer`; while it has not, `in progress`, or `paused` where its provider does not answer.
    pub verdict: String,
    /// What the process exits with; no result is not a pass, so a task in progress has the code of `not verified`.
    pub exit_code: i32,
    /// Why it is not verified, one sentence each.
    pub reasons: Vec<String>,
    /// The question that has to be answered, the first one where there are several.
    pub question: Option<Question>,
    /// What a task that has not ended waits for: answers, the yes to its plan, its provider.
    pub waiting: Option<Wait>,
    /// What the request says must hold when the task is done.
    pub criteria: Vec<Criterion>,
    /// What the developer answered so far.
    pub answers: Vec<Answer>,
    /// Guidance that the developer gave while it ran.
    pub steering: Vec<String>,
    /// The tree that the diff is relative to.
    pub base: Option<TreeId>,
    /// The tree that the checks, the diff and any approval speak of.
    pub tree: Option<TreeId>,
    /// One unified diff from base to tree that `git apply` takes, binary files included.
    pub diff: String,
    pub hunks: Vec<HunkRecord>,
    /// How often what a reviewer acts on changed: verdicts on hunks, rebases, publications, the end.
    pub revision: u64,
    /// The tree of the hunks that are not rejected, of the diff under review; with nothing rejected the diff's own.
    pub kept_tree: Option<TreeId>,
    /// `verified` or `not verified`; `None` while nothing judged that tree.
    pub kept_verdict: Option<String>,
    /// Each check at the tree against the same check at base.
    pub checks: Vec<Comparison>,
    /// What the evidence does not cover.
    pub limitations: Vec<Limitation>,
    pub usage: UsageRecord,
    pub attempts: Vec<AttemptRecord>,
    /// Where the time went, in the order of the walk.
    pub timings: Vec<Timing>,
    pub task: TaskRecord,
    pub plan: Option<PlanRecord>,
    pub executions: Vec<ExecutionRecord>,
    pub publications: Vec<PublicationRecord>,
    /// Commands that may follow.
    pub next: Vec<NextStep>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TaskRecord {
    pub id: TaskId,
    pub source: Source,
    pub source_url: Option<String>,
    pub title: String,
    pub description: String,
    pub workspace: String,
    pub base_revision: Option<String>,
    pub engine: String,
    pub plan_policy: PlanPolicy,
    pub status: String,
    pub created: UnixMillis,
    pub completed: Option<UnixMillis>,
    /// The process that works on it at present.
    pub process: Option<u32>,
    pub limits: Limits,
}

/// One change, as it can be kept or rejected.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HunkRecord {
    pub id: HunkId,
    pub kind: HunkKind,
    pub path: TreePath,
    /// Differs from `path` for a moved file.
    pub old_path: TreePath,
    /// First line in base that goes away and in the tree that comes, from 1; 0 lines may stand there.
    pub base_start: u32,
    pub base_lines: u32,
    pub new_start: u32,
    pub new_lines: u32,
    pub author: Author,
    /// The step that changed this file last, where steps wrote it.
    pub step: Option<StepId>,
    /// The model that wrote that step.
    pub model: Option<String>,
    pub risks: Vec<Risk>,
    /// Whether writing it needs a consent of its own.
    pub needs_consent: bool,
    /// Whether the reviewer took it out of what would be written.
    pub rejected: bool,
}

/// One command that ran in the sandbox to judge a tree.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ExecutionRecord {
    /// Of the receipt.
    pub id: Digest,
    /// The attempt and the step that it judged; neither for the base, for selections and rebases.
    pub attempt: Option<AttemptId>,
    pub step: Option<StepId>,
    pub tree: TreeId,
    pub command: Vec<String>,
    pub verdict: Verdict,
    pub reason: Option<String>,
    pub exit_code: Option<i32>,
    pub passed: u32,
    pub failed: u32,
    /// Items of which nothing says how they ended.
    pub errored: u32,
    /// Artifacts that hold the complete output.
    pub output: Vec<Digest>,
    pub duration_ms: u64,
    pub sandbox: SandboxLevel,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PublicationRecord {
    pub number: u32,
    pub tree: TreeId,
    pub undoes: Option<u32>,
    pub files: Vec<TreePath>,
    /// `None` while nobody has seen how it ended.
    pub end: Option<PublicationEnd>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Timing {
    pub station: String,
    pub ms: u64,
}

/// What a report is made from, besides the state.
#[derive(Debug)]
pub struct Evidence {
    pub diff: Option<Diff>,
    pub unified: String,
    pub kept_tree: Option<TreeId>,
    pub receipts: Vec<(Receipt, Judged)>,
    /// Which step changed a file last.
    pub writers: BTreeMap<TreePath, StepId>,
    pub timings: Vec<Timing>,
    pub completed: Option<UnixMillis>,
    /// The process that works on it, where it is not the one that asks.
    pub process: Option<u32>,
}

/// What a check judged.
#[derive(Debug, Clone, Default)]
pub struct Judged {
    pub attempt: Option<AttemptId>,
    pub step: Option<StepId>,
}

impl Report {
    /// The report about the tree of the evidence's diff: the task's own tree, or a selection from it.
    pub fn new(state: &State, records: &[Record], evidence: Evidence) -> Self {
        let diff = evidence.diff.as_ref();
        let tree = diff.map(|diff| diff.tree.clone()).or_else(|| state.tree.clone());
        let judgement = tree.as_ref().and_then(|tree| state.judgement(tree));
        let judged_since = |tree: &TreeId| {
            let selected = state.selections.iter().any(|(selected, _)| selected == tree);
            selected || state.rebases.iter().any(|rebase| rebase.tree == *tree)
        };
        let conclusion = match (judgement, tree.as_ref().is_some_and(judged_since)) {
            // A selection has a judgement of its own, whatever became of the whole.
            (Some(judgement), true) if judgement.verified => Some(Conclusion::Verified),
            (Some(judgement), true) => Some(Conclusion::NotVerified { reasons: judgement.reasons.clone() }),
            _ => state.conclusion.clone(),
        };
        let mut limitations = state.limitations.clone();
        limitations.extend(judgement.iter().flat_map(|judgement| judgement.limitations.iter().cloned()));
        limitations.sort();
        limitations.dedup();
        let waiting = waiting(state).cloned();
        let mut standing = Standing::of(conclusion.as_ref(), waiting.as_ref(), evidence.process);
        if matches!(conclusion, Some(Conclusion::Stopped { .. })) {
            // Why it stopped says nothing about the tree that is handed over.
            standing.reasons.extend(judgement.iter().flat_map(|judgement| judgement.reasons.iter().cloned()));
        }
        let costs = Costs::of(records);
        Self {
            criteria: criteria::criteria(state, tree.as_ref(), &evidence.receipts),
            verdict: standing.verdict,
            exit_code: standing.code as i32,
            reasons: standing.reasons,
            question: standing.question,
            waiting,
            answers: state.work.answers.clone(),
            steering: state.work.steering.clone(),
            base: diff.map(|diff| diff.base.clone()).or_else(|| state.base.clone()),
            next: next::next_steps(state, tree.as_ref(), diff, conclusion.as_ref(), evidence.process),
            tree,
            diff: evidence.unified,
            hunks: diff.map(|diff| hunk_records(state, diff, &evidence.writers, &costs)).unwrap_or_default(),
            revision: state.revision,
            kept_verdict: kept_verdict(state, evidence.kept_tree.as_ref()),
            kept_tree: evidence.kept_tree,
            checks: judgement.map(|judgement| judgement.comparisons.clone()).unwrap_or_default(),
            limitations,
            usage: costs.usage(state, evidence.process.is_some()),
            attempts: costs.attempts(state),
            timings: evidence.timings,
            task: TaskRecord::new(state, evidence.completed, evidence.process),
            plan: PlanRecord::new(state, records, &costs),
            executions: evidence.receipts.iter().map(|(receipt, judged)| execution(receipt, judged)).collect(),
            publications: state.publications.iter().map(publication).collect(),
        }
    }
}

/// What a task waits for that has not ended.
pub fn waiting(state: &State) -> Option<&Wait> {
    state.work.wait.as_ref().filter(|_| state.conclusion.is_none())
}

/// How a task stands, in the four ways a report says it.
struct Standing {
    verdict: String,
    code: ExitCode,
    reasons: Vec<String>,
    question: Option<Question>,
}

impl Standing {
    fn of(conclusion: Option<&Conclusion>, waiting: Option<&Wait>, process: Option<u32>) -> Self {
        let said =
            |verdict: &str, code, reasons, question| Self { verdict: verdict.to_owned(), code, reasons, question };
        match (conclusion, waiting) {
            (Some(conclusion), _) => {
                let question = match conclusion {
                    Conclusion::NeedsAnswer { question } => Some(question.clone()),
                    _ => None,
                };
                said(conclusion.word(), conclusion.exit_code(), conclusion.reasons(), question)
            }
            (None, Some(Wait::Answers { questions })) => {
                let reasons = questions.iter().map(|question| question.text.clone()).collect();
                said("needs an answer", ExitCode::NeedsAnswer, reasons, questions.first().cloned())
            }
            (None, Some(Wait::PlanApproval { version })) => {
                let reason = format!("version {version} of the plan waits for your yes");
                said("needs an answer", ExitCode::NeedsAnswer, vec![reason], None)
            }
            (None, Some(Wait::Provider { sentence })) => {
                said("paused", ExitCode::Infrastructure, vec![sentence.clone()], None)
            }
            (None, None) => {
                let reasons = process.map(|process| format!("process {process} works on it")).into_iter().collect();
                said("in progress", ExitCode::NotVerified, reasons, None)
            }
        }
    }
}

impl TaskRecord {
    fn new(state: &State, completed: Option<UnixMillis>, process: Option<u32>) -> Self {
        let request = &state.request;
        Self {
            id: request.id.clone(),
            source: request.source,
            source_url: request.source_url.clone(),
            title: request.title(),
            description: request.description.clone(),
            workspace: request.workspace.clone(),
            base_revision: request.base_revision.clone(),
            engine: request.engine.as_str().to_owned(),
            plan_policy: request.plan_policy,
            status: state.station.word().to_owned(),
            created: request.created,
            completed,
            process,
            limits: request.limits.clone(),
        }
    }
}

fn kept_verdict(state: &State, kept: Option<&TreeId>) -> Option<String> {
    let judgement = state.judgement(kept?)?;
    Some(if judgement.verified { "verified" } else { "not verified" }.to_owned())
}

fn hunk_records(state: &State, diff: &Diff, writers: &BTreeMap<TreePath, StepId>, costs: &Costs) -> Vec<HunkRecord> {
    let writer = |file: &task::FileDiff| writers.get(&file.path).or_else(|| writers.get(&file.old_path));
    diff.hunks()
        .map(|(file, hunk)| HunkRecord {
            id: hunk.id.clone(),
            kind: hunk.kind,
            path: file.path.clone(),
            old_path: file.old_path.clone(),
            base_start: hunk.base.start + 1,
            base_lines: hunk.base.count,
            new_start: hunk.new.start + 1,
            new_lines: hunk.new.count,
            author: hunk.author,
            step: writer(file).cloned(),
            model: writer(file).filter(|_| hunk.author == Author::Model).and_then(|step| costs.model_of(step)),
            risks: file.risks.clone(),
            needs_consent: file.risks.iter().any(|risk| risk.needs_consent()),
            rejected: state.rejected.contains(&hunk.id),
        })
        .collect()
}

fn execution(receipt: &Receipt, judged: &Judged) -> ExecutionRecord {
    let count = |result| {
        let items = receipt.items.iter().filter(|item| item.result == result);
        u32::try_from(items.count()).unwrap_or(u32::MAX)
    };
    ExecutionRecord {
        id: receipt.key(),
        attempt: judged.attempt,
        step: judged.step.clone(),
        tree: receipt.tree.clone(),
        command: receipt.check.command.clone(),
        verdict: receipt.verdict,
        reason: receipt.reason.clone(),
        exit_code: receipt.exit_code,
        passed: count(task::ItemResult::Passed),
        failed: count(task::ItemResult::Failed),
        errored: count(task::ItemResult::NoResult),
        output: receipt.output.clone(),
        duration_ms: receipt.duration_ms,
        sandbox: receipt.sandbox,
    }
}

fn publication(publication: &Publication) -> PublicationRecord {
    PublicationRecord {
        number: publication.number,
        tree: publication.tree.clone(),
        undoes: publication.undoes,
        files: publication.files.iter().map(|file| file.path.clone()).collect(),
        end: publication.end.clone(),
    }
}
