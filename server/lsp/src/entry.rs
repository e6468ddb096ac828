//! [`Entry`]: a task as the loop knows it, and the line that clients see of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agent::{House, Progress, Report, Side};
use task::{Candidate, Conclusion, Engine, HunkId, PublicationEnd, State, TaskId, TreeId, TreePath, Verdict, Wait};

use crate::act::Done;
use crate::line::{Next, PublicationLine, PublicationState, Status, TaskLine};
use crate::owed::{self, Partial};

/// Files whose text is held for hints at most, and bytes of one at most: a review of more is read in its document.
const MOST_FILES: usize = 200;
const LARGEST_FILE: usize = 1 << 20;

/// What a look compares before it reads more: most tasks are as they were.
#[derive(Debug, Clone, PartialEq)]
pub struct Glance {
    state: State,
    elsewhere: bool,
    answered: Option<u64>,
}

impl Glance {
    fn at(house: &House, id: &TaskId) -> Result<Self, agent::Error> {
        // Before the history: whoever ends in between is believed to be at work, and looked at once more.
        let owner = house.journal.owner(id)?;
        let elsewhere = owner.is_some_and(|owner| owner != std::process::id());
        let records = house.journal.records(id)?;
        let state = State::fold(records.iter().filter_map(|record| record.event.as_ref().ok()))
            .ok_or_else(|| agent::Error::Sentence(format!("the history of task {id} cannot be read")))?;
        let notes = house.journal.notes(id, state.work.note)?;
        let answered = notes.iter().rfind(|(_, note)| owed::answers(note)).map(|(number, _)| *number);
        Ok(Self { state, elsewhere, answered })
    }
}

/// A task as its journal and trees have it.
#[derive(Debug, Clone)]
pub struct Loaded {
    pub id: TaskId,
    pub state: State,
    /// Of the diff under review, without its text: the review document reads that anew.
    pub report: Arc<Report>,
    /// The text that the developer's files show while nothing is applied, for the files of the diff.
    pub shown: BTreeMap<TreePath, Arc<[u8]>>,
    /// Another process works on it.
    pub elsewhere: bool,
    /// The number of the last note that answers what it waits for and was not taken up.
    pub answered: Option<u64>,
}

impl Loaded {
    pub fn load(house: &House, id: &TaskId) -> Result<Self, agent::Error> {
        Self::beyond(Glance::at(house, id)?, house, id)
    }

    /// `None` where the task is as it is known.
    pub fn load_news(house: &House, id: &TaskId, known: &Glance) -> Result<Option<Self>, agent::Error> {
        let glance = Glance::at(house, id)?;
        (glance != *known).then(|| Self::beyond(glance, house, id)).transpose()
    }

    fn beyond(glance: Glance, house: &House, id: &TaskId) -> Result<Self, agent::Error> {
        let Glance { state, elsewhere, answered } = glance;
        let mut report = agent::report(&*house.journal, &house.state, id, None)?;
        report.diff = String::new();
        let mut shown = BTreeMap::new();
        if let (Some(base), Some(tree)) = (&report.base, &report.tree) {
            let worktree = shows_the_tree(&state);
            let tree = if worktree { tree } else { base };
            let paths: BTreeSet<&TreePath> =
                report.hunks.iter().map(|hunk| if worktree { &hunk.path } else { &hunk.old_path }).collect();
            let paths = paths.into_iter().take(MOST_FILES);
            let files = agent::files_of(&*house.journal, &house.state, id, tree, paths)?.into_iter();
            shown.extend(
                files.filter(|(_, bytes)| bytes.len() <= LARGEST_FILE).map(|(path, bytes)| (path, bytes.into())),
            );
        }
        Ok(Self { id: id.clone(), state, report: Arc::new(report), shown, elsewhere, answered })
    }
}

/// Whether the developer's files show the tree of the diff and not its base: their working tree was the candidate.
pub fn shows_the_tree(state: &State) -> bool {
    state.request.candidate == Some(Candidate::Worktree) && state.rebases.is_empty()
}

/// What works on a task at present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    Waiting,
    Walking,
    Checking,
    Publishing,
    /// Something short.
    Noting,
}

#[derive(Debug)]
pub struct Entry {
    pub id: TaskId,
    pub state: State,
    pub report: Option<Arc<Report>>,
    pub shown: BTreeMap<TreePath, Arc<[u8]>>,
    pub elsewhere: bool,
    pub answered: Option<u64>,
    /// Answers of a client that gives them one by one.
    pub partial: Partial,
    pub activity: Option<Activity>,
    /// The last answer with which the task went on here.
    went_on: Option<u64>,
    doing: String,
    done: u64,
    total: u64,
    /// What came of the last publication of this session.
    published: Option<(String, Vec<TreePath>)>,
}

impl Entry {
    pub fn new(id: TaskId, state: State) -> Self {
        Self {
            id,
            state,
            report: None,
            shown: BTreeMap::new(),
            elsewhere: false,
            answered: None,
            partial: Partial::default(),
            activity: None,
            went_on: None,
            doing: String::new(),
            done: 0,
            total: 0,
            published: None,
        }
    }

    pub fn load(&mut self, loaded: Loaded) {
        self.state = loaded.state;
        self.report = Some(loaded.report);
        (self.elsewhere, self.answered) = (loaded.elsewhere, loaded.answered);
        // Hints are for reviews alone: what has ended costs no memory of its files.
        self.shown = if self.is_in_review() { loaded.shown } else { BTreeMap::new() };
    }

    /// Takes a piece of news in; whether there is something to tell then.
    pub fn hear(&mut self, news: Progress) -> bool {
        let side = |side| if side == Side::Base { " at base" } else { "" };
        let doing = match news {
            Progress::Happened(event) => {
                self.state.apply(&event);
                return true;
            }
            // What is used follows from the facts, and what a model says is in them once it is said.
            Progress::Heard(_) | Progress::Spent { .. } => return false,
            Progress::Doing(text) | Progress::Tool(text) => (text, 0, 0),
            Progress::Waiting { why, .. } => (format!("waits for the model: {why}"), 0, 0),
            Progress::CheckStarted { check, side: at } => (format!("{}{}", check.0, side(at)), 0, 0),
            Progress::CheckAdvanced { check, text, done, total } => (format!("{}: {text}", check.0), done, total),
            // What fails before the change is no news about the change.
            Progress::CheckEnded { check, side: Side::Base, verdict: Verdict::Failed, .. } => {
                (format!("{} at base: some of it fails there already", check.0), 0, 0)
            }
            Progress::CheckEnded { check, side: at, verdict, .. } => {
                (format!("{}{}: {}", check.0, side(at), verdict.word()), 0, 0)
            }
        };
        (self.doing, self.done, self.total) = doing;
        self.doing = task::printable(&self.doing);
        true
    }

    /// What it waits for, while nobody works on it and nothing was answered.
    pub fn wait(&self) -> Option<&Wait> {
        let idle = self.activity.is_none() && !self.elsewhere && self.answered.is_none();
        agent::waiting(&self.state).filter(|_| idle)
    }

    /// Whether another process works on it, or may begin to at any time.
    pub fn is_for_others(&self) -> bool {
        self.activity.is_none() && (self.elsewhere || self.state.conclusion.is_none())
    }

    pub fn glance(&self) -> Glance {
        Glance { state: self.state.clone(), elsewhere: self.elsewhere, answered: self.answered }
    }

    /// Whether it can go on with an answer that nobody took up; once for each.
    pub fn goes_on(&mut self) -> bool {
        let goes = self.answered > self.went_on
            && self.activity.is_none()
            && !self.elsewhere
            && agent::waiting(&self.state).is_some();
        if goes {
            self.went_on = self.answered;
        }
        goes
    }

    pub fn settled(&mut self, done: &Done) {
        (self.doing, self.done, self.total) = (String::new(), 0, 0);
        let Done::Outcome { word, sentence, unsaved } = done else { return };
        // What was refused before it began is no publication, and says nothing about the one before it.
        let end = self.state.publications.last().and_then(|last| last.end.as_ref());
        let is_its_end = match end {
            Some(PublicationEnd::Applied) => *word == "applied",
            Some(PublicationEnd::Partial { .. }) => *word == "partial",
            Some(PublicationEnd::Diverged { .. }) => *word == "diverged",
            Some(PublicationEnd::Refused { .. }) => *word == "refused",
            None => false,
        };
        if is_its_end {
            self.published = Some((sentence.clone(), unsaved.clone()));
        }
    }

    /// The user saved a document that a publication had left unsaved.
    pub fn saved(&mut self, path: &TreePath) -> bool {
        let Some((_, unsaved)) = &mut self.published else { return false };
        let before = unsaved.len();
        unsaved.retain(|left| left != path);
        unsaved.len() < before
    }

    pub fn status(&self) -> Status {
        match self.activity {
            Some(Activity::Waiting) => Status::Waiting,
            Some(Activity::Walking) => Status::Running,
            Some(Activity::Checking) => Status::Checking,
            Some(Activity::Publishing) => Status::Publishing,
            _ if self.state.conclusion.is_none() && self.elsewhere => Status::Running,
            _ if matches!(self.wait(), Some(Wait::Answers { .. } | Wait::PlanApproval { .. })) => Status::NeedsYou,
            // Between an answer and the walk that goes on with it nothing is interrupted.
            _ if self.state.conclusion.is_none() && self.is_taken_up() => Status::Waiting,
            _ if self.state.conclusion.is_none() => Status::Interrupted,
            _ if self.is_in_review() => Status::Review,
            _ => Status::Ended,
        }
    }

    /// Whether what the developer answered is about to be gone on with.
    fn is_taken_up(&self) -> bool {
        self.answered.is_some() && (self.activity == Some(Activity::Noting) || self.answered > self.went_on)
    }

    /// Whether a diff waits for verdicts.
    pub fn is_in_review(&self) -> bool {
        // What a cancelled task reached can be looked at and applied, but nobody is asked to.
        let ended = self.state.conclusion.as_ref().is_some_and(|it| *it != Conclusion::Cancelled)
            && self.state.station != task::Station::Closed;
        let Some(report) = &self.report else { return false };
        ended && !report.hunks.is_empty() && !self.is_written()
    }

    /// Whether what is kept stands in the files already.
    fn is_written(&self) -> bool {
        if shows_the_tree(&self.state) && self.state.rejected.is_empty() {
            // A proved working tree: there is nothing to write, and a diff that nobody doubts is no review.
            return matches!(self.state.conclusion, Some(Conclusion::Verified));
        }
        let (kept, _) = self.kept();
        self.state.last_applied().is_some_and(|publication| Some(&publication.tree) == kept.as_ref())
    }

    pub fn next(&self) -> Vec<Next> {
        let mut next = Vec::new();
        match self.status() {
            Status::Waiting | Status::Running | Status::Checking | Status::Publishing => next.push(Next::Cancel),
            Status::Interrupted => next.extend([Next::Resume, Next::Cancel]),
            Status::NeedsYou => {
                let answered = matches!(self.wait(), Some(Wait::Answers { .. }));
                next.extend([if answered { Next::Answer } else { Next::ApprovePlan }, Next::Cancel]);
            }
            Status::Review => next.extend([Next::Apply, Next::Cancel]),
            Status::Ended => {}
        }
        match (self.state.request.engine, &self.state.conclusion) {
            (Engine::Model, None) => next.extend([Next::Steer, Next::Raise]),
            (Engine::Model, Some(_)) if self.activity.is_none() => next.push(Next::Again),
            _ => {}
        }
        let open = self.state.open_publication().is_some();
        if self.activity.is_none() && (open || self.state.last_applied().is_some()) {
            next.push(Next::Undo);
        }
        next
    }

    fn publication(&self) -> Option<PublicationLine> {
        let last = self.state.publications.last()?;
        let state = match (&last.end, last.undoes) {
            (None | Some(PublicationEnd::Partial { .. }), _) => PublicationState::Partial,
            (Some(PublicationEnd::Applied), Some(_)) => PublicationState::Undone,
            (Some(PublicationEnd::Applied), None) => PublicationState::Applied,
            (Some(PublicationEnd::Diverged { .. }), _) => PublicationState::Diverged,
            (Some(_), _) => PublicationState::Refused,
        };
        let (sentence, unsaved) = self.published.clone().unwrap_or_default();
        Some(PublicationLine { number: last.number, state, sentence, unsaved })
    }

    /// The tree that an approval would name, and what its checks say. What was brought onto files that had moved stands
    /// for what it was made from, also where the review goes on with the change as it was.
    fn kept(&self) -> (Option<TreeId>, Option<String>) {
        let Some(report) = &self.report else { return (None, None) };
        let moved = self.state.rebases.last().filter(|rebase| Some(&rebase.from) == report.kept_tree.as_ref());
        let Some(moved) = moved else { return (report.kept_tree.clone(), report.kept_verdict.clone()) };
        let verdict = self.state.judgement(&moved.tree).map(|judgement| judgement.verified);
        let verdict = verdict.map(|verified| if verified { "verified" } else { "not verified" }.to_owned());
        (Some(moved.tree.clone()), verdict)
    }

    pub fn line(&self) -> TaskLine {
        let (kept_tree, kept_verdict) = self.kept();
        let request = &self.state.request;
        let report = self.report.as_deref();
        let conclusion = self.state.conclusion.as_ref();
        let wait = self.wait();
        let mut files: Vec<_> = report.iter().flat_map(|report| report.hunks.iter().map(|hunk| &hunk.path)).collect();
        files.dedup();
        let count = |lines: fn(&agent::HunkRecord) -> u32| {
            report.map_or(0, |report| report.hunks.iter().map(|hunk| u64::from(lines(hunk))).sum())
        };
        TaskLine {
            id: self.id.clone(),
            folder: request.workspace.clone(),
            title: request.title(),
            source: request.source,
            engine: request.engine,
            status: self.status(),
            doing: self.doing.clone(),
            done: self.done,
            total: self.total,
            verdict: conclusion.map(|conclusion| conclusion.word().to_owned()),
            sentence: match (conclusion, wait) {
                (Some(conclusion), _) => conclusion.reasons().first().map(|it| one_line(it)).unwrap_or_default(),
                (None, wait) => wait.map(owed::sentence).unwrap_or_default(),
            },
            revision: self.state.revision,
            base: report.and_then(|report| report.base.clone()).or_else(|| self.state.base.clone()),
            tree: report.and_then(|report| report.tree.clone()).or_else(|| self.state.tree.clone()),
            kept_tree,
            kept_verdict,
            hunks: report.map_or(0, |report| report.hunks.len()),
            rejected: self.state.rejected.len(),
            files: files.len(),
            insertions: count(|hunk| hunk.new_lines),
            deletions: count(|hunk| hunk.base_lines),
            question: match conclusion {
                Some(Conclusion::NeedsAnswer { question }) => Some(question.clone()),
                _ => None,
            },
            waiting_for: wait.map(owed::waiting_for),
            asked: wait.and_then(owed::asked),
            questions: owed::questions(wait).to_vec(),
            plan: owed::plan(&self.state),
            usage: owed::usage(&self.state),
            publication: self.publication(),
            next: self.next(),
        }
    }

    pub fn is_rejected(&self, hunk: &HunkId) -> bool {
        self.state.rejected.contains(hunk)
    }
}

/// A text as one line.
pub fn one_line(text: &str) -> String {
    let line: Vec<&str> = text.split_whitespace().collect();
    task::printable(&line.join(" "))
}
