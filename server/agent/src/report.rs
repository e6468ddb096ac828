//! [`Report`]: everything about a task as one value. The terminal renders it, `--json` prints it, and later fronts show
//! the same.

use schemars::JsonSchema;
use serde::Serialize;
use task::{
    Author, Comparison, Conclusion, Diff, Digest, ExitCode, HunkId, HunkKind, Limitation, Limits, Plan, Publication,
    PublicationEnd, Question, Receipt, Risk, SandboxLevel, Source, State, TaskId, TreeId, TreePath, UnixMillis, Usage,
    Verdict,
};

/// One object with the whole result of `run`, `prove` and the `tasks` verbs.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Report {
    /// How the task ended, as its word: `verified`, `not verified`, `nothing to do`, `stopped`, `infrastructure`,
    /// `cancelled`, `needs an answer`; `in progress` while it has not.
    pub verdict: String,
    /// What the process exits with; no result is not a pass, so a task in progress has the code of `not verified`.
    pub exit_code: i32,
    /// Why it is not verified, one sentence each.
    pub reasons: Vec<String>,
    pub question: Option<Question>,
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
    pub usage: Usage,
    /// Where the time went, in the order of the walk.
    pub timings: Vec<Timing>,
    pub task: TaskRecord,
    pub plan: Option<Plan>,
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
    pub status: String,
    pub created: UnixMillis,
    pub completed: Option<UnixMillis>,
    pub limits: Limits,
}

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
    pub risks: Vec<Risk>,
    /// Whether writing it needs a consent of its own.
    pub needs_consent: bool,
    /// Whether the reviewer took it out of what would be written.
    pub rejected: bool,
}

/// One command that ran in the sandbox to judge a tree.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ExecutionRecord {
    pub tree: TreeId,
    pub command: Vec<String>,
    pub verdict: Verdict,
    pub reason: Option<String>,
    pub exit_code: Option<i32>,
    pub passed: u32,
    pub failed: u32,
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

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NextStep {
    pub what: String,
    pub command: String,
}

/// What a report is made from, besides the state.
#[derive(Debug)]
pub struct Evidence {
    pub diff: Option<Diff>,
    pub unified: String,
    pub kept_tree: Option<TreeId>,
    pub receipts: Vec<Receipt>,
    pub timings: Vec<Timing>,
    pub completed: Option<UnixMillis>,
}

impl Report {
    /// The report about the tree of the evidence's diff: the task's own tree, or a selection from it.
    pub fn new(state: &State, evidence: Evidence) -> Self {
        let request = &state.request;
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
        let question = match &conclusion {
            Some(Conclusion::NeedsAnswer { question }) => Some(question.clone()),
            _ => None,
        };
        Self {
            verdict: conclusion.as_ref().map_or("in progress", Conclusion::word).to_owned(),
            exit_code: conclusion.as_ref().map_or(ExitCode::NotVerified, Conclusion::exit_code) as i32,
            reasons: conclusion.as_ref().map(Conclusion::reasons).unwrap_or_default(),
            question,
            base: diff.map(|diff| diff.base.clone()).or_else(|| state.base.clone()),
            next: next_steps(state, tree.as_ref(), diff, conclusion.as_ref()),
            tree,
            diff: evidence.unified,
            hunks: diff.map(|diff| hunk_records(state, diff)).unwrap_or_default(),
            revision: state.revision,
            kept_verdict: kept_verdict(state, evidence.kept_tree.as_ref()),
            kept_tree: evidence.kept_tree,
            checks: judgement.map(|judgement| judgement.comparisons.clone()).unwrap_or_default(),
            limitations,
            usage: Usage {
                attempts: u32::try_from(state.attempts.len()).unwrap_or(u32::MAX),
                commands: state.commands,
                ..Usage::default()
            },
            timings: evidence.timings,
            task: TaskRecord {
                id: request.id.clone(),
                source: request.source,
                source_url: request.source_url.clone(),
                title: request.title(),
                description: request.description.clone(),
                workspace: request.workspace.clone(),
                base_revision: request.base_revision.clone(),
                engine: request.engine.as_str().to_owned(),
                status: state.station.word().to_owned(),
                created: request.created,
                completed: evidence.completed,
                limits: request.limits.clone(),
            },
            plan: state.plan.clone(),
            executions: evidence.receipts.iter().map(execution).collect(),
            publications: state.publications.iter().map(publication).collect(),
        }
    }
}

fn kept_verdict(state: &State, kept: Option<&TreeId>) -> Option<String> {
    let judgement = state.judgement(kept?)?;
    Some(if judgement.verified { "verified" } else { "not verified" }.to_owned())
}

fn hunk_records(state: &State, diff: &Diff) -> Vec<HunkRecord> {
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
            risks: file.risks.clone(),
            needs_consent: file.risks.iter().any(|risk| risk.needs_consent()),
            rejected: state.rejected.contains(&hunk.id),
        })
        .collect()
}

fn execution(receipt: &Receipt) -> ExecutionRecord {
    let count = |result| {
        let items = receipt.items.iter().filter(|item| item.result == result);
        u32::try_from(items.count()).unwrap_or(u32::MAX)
    };
    ExecutionRecord {
        tree: receipt.tree.clone(),
        command: receipt.check.command.clone(),
        verdict: receipt.verdict,
        reason: receipt.reason.clone(),
        exit_code: receipt.exit_code,
        passed: count(task::ItemResult::Passed),
        failed: count(task::ItemResult::Failed),
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

fn next_steps(
    state: &State,
    tree: Option<&TreeId>,
    diff: Option<&Diff>,
    conclusion: Option<&Conclusion>,
) -> Vec<NextStep> {
    let id = &state.request.id;
    let step = |what: &str, command: String| NextStep { what: what.to_owned(), command };
    let mut steps = Vec::new();
    if conclusion.is_none() {
        steps.push(step("continue it", format!("understudy tasks resume {id}")));
    }
    if let (Some(tree), Some(diff), Some(conclusion)) = (tree, diff, conclusion)
        && !diff.is_empty()
    {
        let verified = matches!(conclusion, Conclusion::Verified);
        let mut command = format!("understudy tasks apply {id} --tree {tree}");
        if !verified {
            command.push_str(" --unverified");
        }
        for file in diff.files.iter().filter(|file| file.risks.iter().any(|risk| risk.needs_consent())) {
            command.push_str(&format!(" --consent {}", shell_word(&file.path.to_string())));
        }
        let is_worktree = state.is_in_the_files();
        // The working tree shows its own candidate already.
        if !is_worktree || state.candidate.as_ref() != Some(tree) {
            steps.push(step(if verified { "write it" } else { "write it all the same" }, command));
        }
        // Hunks are selected from the diff under review: those of another base are others.
        if state.reviewed().is_some_and(|(base, _)| *base == diff.base) {
            let what = if is_worktree { "take some of it back" } else { "keep only some hunks" };
            steps.push(step(what, format!("understudy tasks diff {id} --select HUNK,...")));
        }
    }
    let applied = state.publications.iter().rev().find(|publication| publication.end == Some(PublicationEnd::Applied));
    if applied.is_some_and(|publication| publication.undoes.is_none()) {
        steps.push(step("take it back", format!("understudy tasks undo {id}")));
    }
    steps
}

fn shell_word(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte);
    if text.bytes().all(plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}
