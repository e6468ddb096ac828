//! [`State`]: what a task currently is, folded from its events and from nothing else.

use std::collections::BTreeSet;

use crate::{
    AttemptId, Conclusion, Digest, Event, HunkId, Judgement, Limitation, Offered, Plan, PublicationEnd, PublishedFile,
    Request, TreeId, Work,
};

/// The fold of a task's events. Equal events give equal states, so a resumed task continues where the journal says.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    pub request: Request,
    pub station: Station,
    pub base: Option<TreeId>,
    /// The candidate as it came, with the patch engine.
    pub candidate: Option<TreeId>,
    pub baseline: Option<Vec<Digest>>,
    pub plan: Option<Plan>,
    pub attempts: Vec<Attempt>,
    /// The tree of the diff, once there is one.
    pub tree: Option<TreeId>,
    pub limitations: Vec<Limitation>,
    /// The last judgement of each tree that was judged, the diff's own and those of selections.
    pub judgements: Vec<Judgement>,
    /// Which hunks make up a selected tree.
    pub selections: Vec<(TreeId, Vec<HunkId>)>,
    /// Trees that were moved onto text that had changed since base.
    pub rebases: Vec<Rebase>,
    /// Every tree that may be approved, oldest first; the newest entry of a tree counts.
    pub offered: Vec<Offered>,
    /// Hunks of the diff under review that the reviewer took out.
    pub rejected: BTreeSet<HunkId>,
    /// How often what a reviewer acts on changed: an answer to an older revision may be an answer to something else.
    pub revision: u64,
    pub publications: Vec<Publication>,
    /// What ended the task, where its end is not written down yet.
    pub ended: Option<Conclusion>,
    pub conclusion: Option<Conclusion>,
    /// Sandboxed commands that ran for this task, as far as they were counted.
    pub commands: u32,
    /// How often another process took the task over.
    pub resumed: u32,
    /// What only the model engine has.
    pub work: Work,
}

/// The last station of the walk that is behind us.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Station {
    Requested,
    Admitted,
    Frozen,
    Planned,
    Approved,
    Attempting,
    DiffReady,
    Concluded,
    Closed,
}

impl Station {
    pub fn word(self) -> &'static str {
        match self {
            Self::Requested => "requested",
            Self::Admitted => "admitted",
            Self::Frozen => "frozen",
            Self::Planned => "planned",
            Self::Approved => "plan approved",
            Self::Attempting => "attempting",
            Self::DiffReady => "diff ready",
            Self::Concluded => "concluded",
            Self::Closed => "closed",
        }
    }
}

/// One try, as far as it got.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    pub id: AttemptId,
    pub from: TreeId,
    /// The last checkpoint.
    pub tree: TreeId,
    /// Checkpoints with what they hold, oldest first.
    pub checkpoints: Vec<(TreeId, String)>,
    /// What the last checkpoint does not reach.
    pub limitations: Vec<Limitation>,
    pub outcome: Option<String>,
    /// Models, prompts, tools and versions, with the model engine.
    pub configuration: Option<Digest>,
}

/// A tree brought onto newer text; another tree, judged and approved as such.
#[derive(Debug, Clone, PartialEq)]
pub struct Rebase {
    /// The workspace's tree at that moment, the new base.
    pub onto: TreeId,
    pub from: TreeId,
    pub tree: TreeId,
}

/// One way of an approved diff into the developer's files.
#[derive(Debug, Clone, PartialEq)]
pub struct Publication {
    pub number: u32,
    pub base: TreeId,
    pub tree: TreeId,
    /// The publication that this one takes back.
    pub undoes: Option<u32>,
    pub files: Vec<PublishedFile>,
    pub requested: bool,
    pub end: Option<PublicationEnd>,
}

impl State {
    /// The state of a task that has only been asked for.
    pub fn new(request: Request) -> Self {
        Self {
            request,
            station: Station::Requested,
            base: None,
            candidate: None,
            baseline: None,
            plan: None,
            attempts: Vec::new(),
            tree: None,
            limitations: Vec::new(),
            judgements: Vec::new(),
            selections: Vec::new(),
            rebases: Vec::new(),
            offered: Vec::new(),
            rejected: BTreeSet::new(),
            revision: 0,
            publications: Vec::new(),
            ended: None,
            conclusion: None,
            commands: 0,
            resumed: 0,
            work: Work::default(),
        }
    }

    /// Folds a whole history; `None` when it does not begin with the request.
    pub fn fold<'a>(events: impl IntoIterator<Item = &'a Event>) -> Option<Self> {
        let mut events = events.into_iter();
        let Some(Event::Requested { request }) = events.next() else { return None };
        let mut state = Self::new((**request).clone());
        events.for_each(|event| state.apply(event));
        Some(state)
    }

    /// Takes one more fact in. Total: facts are never refused, whoever appends them has to be right.
    pub fn apply(&mut self, event: &Event) {
        self.review(event);
        self.work.apply(event);
        match event {
            Event::Requested { request } => *self = Self::new((**request).clone()),
            Event::Admitted { .. } => self.station = Station::Admitted,
            Event::Resumed { .. } => self.resumed += 1,
            Event::Snapshotted { base, candidate, limitations } => {
                self.station = Station::Frozen;
                self.base = Some(base.clone());
                self.candidate.clone_from(candidate);
                self.limitations.extend_from_slice(limitations);
            }
            // The station stays: a plan that the developer wrote is approved by an event of its own.
            Event::PlanRevised { plan, .. } => self.plan = Some(plan.clone()),
            Event::LimitsRaised { limits, .. } => self.request.limits = limits.clone(),
            Event::StepChecked { ran, .. } => self.count(*ran),
            // A fact, not a station: it happens beside looking and planning.
            Event::Baselined { receipts, ran } => {
                self.baseline = Some(receipts.clone());
                self.count(*ran);
            }
            Event::PlanProposed { plan } => {
                self.station = Station::Planned;
                self.plan = Some(plan.clone());
            }
            Event::PlanApproved { .. } => self.station = Station::Approved,
            Event::AttemptStarted { attempt, from, configuration } => {
                self.station = Station::Attempting;
                let (from, tree) = (from.clone(), from.clone());
                self.attempts.push(Attempt {
                    id: *attempt,
                    from,
                    tree,
                    checkpoints: Vec::new(),
                    limitations: Vec::new(),
                    outcome: None,
                    configuration: configuration.clone(),
                });
            }
            Event::Checkpointed { attempt, tree, what, limitations } => {
                if let Some(attempt) = self.attempt_mut(*attempt) {
                    attempt.tree = tree.clone();
                    attempt.checkpoints.push((tree.clone(), what.clone()));
                    attempt.limitations.clone_from(limitations);
                }
            }
            Event::Checked { judgement, ran, .. } => {
                self.judgements.extend(judgement.as_deref().cloned());
                self.count(*ran);
            }
            Event::AttemptEnded { attempt, tree, outcome } => {
                if let Some(attempt) = self.attempt_mut(*attempt) {
                    attempt.tree = tree.clone();
                    attempt.outcome = Some(outcome.clone());
                }
            }
            Event::DiffReady { tree, limitations, ended, ran } => {
                self.station = Station::DiffReady;
                self.tree = Some(tree.clone());
                self.limitations.extend_from_slice(limitations);
                self.ended.clone_from(ended);
                self.count(*ran);
            }
            Event::Rechecked { tree, kept, judgement, ran, .. } => {
                self.selections.push((tree.clone(), kept.clone()));
                self.judgements.push((**judgement).clone());
                self.count(*ran);
            }
            Event::Rebased { onto, from, tree, judgement, ran, .. } => {
                self.rebases.push(Rebase { onto: onto.clone(), from: from.clone(), tree: tree.clone() });
                self.judgements.push((**judgement).clone());
                self.count(*ran);
            }
            Event::PublicationPrepared { publication, base, tree, undoes, files } => {
                self.publications.push(Publication {
                    number: *publication,
                    base: base.clone(),
                    tree: tree.clone(),
                    undoes: *undoes,
                    files: files.clone(),
                    requested: false,
                    end: None,
                });
            }
            Event::PublicationRequested { publication } => {
                if let Some(publication) = self.publication_mut(*publication) {
                    publication.requested = true;
                }
            }
            Event::Published { publication, end } => {
                if let Some(publication) = self.publication_mut(*publication) {
                    publication.end = Some(end.clone());
                }
            }
            Event::Concluded { conclusion } => {
                self.station = Station::Concluded;
                self.conclusion = Some(conclusion.clone());
            }
            Event::Closed {} => self.station = Station::Closed,
            // Some facts are for readers alone; what a reviewer and the model engine do is folded above.
            _ => {}
        }
    }

    /// The judgement of exactly this tree, the newest one.
    pub fn judgement(&self, tree: &TreeId) -> Option<&Judgement> {
        self.judgements.iter().rev().find(|judgement| judgement.tree == *tree)
    }

    /// Whether every required check has a receipt for exactly this tree and passed.
    pub fn is_verified(&self, tree: &TreeId) -> bool {
        self.judgement(tree).is_some_and(|judgement| judgement.verified)
    }

    /// The newest publication that was asked for and is not done: nobody has seen its end, or it was partial. One that
    /// was taken back since is done.
    pub fn open_publication(&self) -> Option<&Publication> {
        let applied = |publication: &&Publication| publication.end == Some(PublicationEnd::Applied);
        let undone = |number| self.publications.iter().filter(applied).any(|it| it.undoes == Some(number));
        self.publications.iter().rev().find(|publication| {
            let open = matches!(publication.end, None | Some(PublicationEnd::Partial { .. }));
            publication.requested && open && !undone(publication.number)
        })
    }

    fn count(&mut self, ran: u32) {
        self.commands = self.commands.saturating_add(ran);
    }

    /// The newest publication that is in the files: applied, and not taken back since.
    pub fn last_applied(&self) -> Option<&Publication> {
        let applied = || self.publications.iter().filter(|it| it.end == Some(PublicationEnd::Applied));
        let undone = |number| applied().any(|it| it.undoes == Some(number));
        applied().rev().find(|it| it.undoes.is_none() && !undone(it.number))
    }

    fn attempt_mut(&mut self, id: AttemptId) -> Option<&mut Attempt> {
        self.attempts.iter_mut().rev().find(|attempt| attempt.id == id)
    }

    fn publication_mut(&mut self, number: u32) -> Option<&mut Publication> {
        self.publications.iter_mut().rev().find(|publication| publication.number == number)
    }
}
