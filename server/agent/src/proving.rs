//! Stations 5 and 11: the checks of a tree run, at base and at the candidate, and the receipts are judged.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use checks::{Case, Diagnostic, Evidence, Files, Guard, Level, Moment, Order, Ran, Wanted, Watch};
use task::{
    Candidate, Check, CheckId, CheckKind, Conclusion, Digest, Engine, Event, Features, Judgement, Receipt, StepAction,
    TreeId, TreePath, Verdict,
};
use worktree::{Slot, Store};

use crate::environment::Missing;
use crate::lanes::{Common, Job};
use crate::progress::{Audience, Progress, Side};
use crate::site::Site;
use crate::{Error, renames, walk::Walk};

/// What compiler and linter say about a tree.
#[derive(Debug, Clone, Default)]
pub(crate) struct Diagnosis {
    pub diagnostics: Vec<Diagnostic>,
    /// Why nothing can be said.
    pub unusable: Option<Conclusion>,
    /// What keeps the project from building: whoever looks for something less sees only a part of it.
    pub broken: Option<String>,
}

impl Diagnosis {
    pub fn errors(&self) -> usize {
        self.diagnostics.iter().filter(|it| it.level == Level::Error).count()
    }
}

/// A tree of the store as the checks see it.
pub(crate) struct TreeFiles<'a> {
    pub store: &'a Store,
    pub tree: &'a TreeId,
}

impl Files for TreeFiles<'_> {
    fn list(&self) -> Vec<TreePath> {
        self.store.entries(self.tree).map(|entries| entries.keys().cloned().collect()).unwrap_or_default()
    }

    fn read(&self, path: &TreePath) -> Option<Vec<u8>> {
        self.store.read(self.tree, path).ok().flatten().map(|bytes| bytes.to_vec())
    }
}

/// The slot as the guard of its shadow.
pub(crate) struct Shadow<'a> {
    pub slot: &'a mut Slot,
    pub store: &'a Store,
    /// Written while the check ran, with the same bytes in the end.
    pub rewritten: Vec<TreePath>,
}

impl Guard for Shadow<'_> {
    fn verify(&mut self, moment: Moment) -> Result<(), String> {
        let changed = match moment {
            Moment::Before => self.slot.restore(self.store).map(|_| Vec::new()),
            Moment::After => self.slot.inspect().map(|inspection| {
                self.rewritten = inspection.rewritten;
                inspection.differing
            }),
        };
        match changed.map_err(|error| Error::from(error).chain())?.as_slice() {
            [] => Ok(()),
            [only] => Err(format!("{only} was changed while the check ran")),
            [first, rest @ ..] => {
                Err(format!("{first} and {} more files were changed while the check ran", rest.len()))
            }
        }
    }
}

/// What came of one check on one tree.
enum Found {
    Receipt(Box<Receipt>),
    Missing(Verdict, String),
}

impl Walk<'_> {
    /// Runs the checks that a change needs on both trees, as far as no receipt says it already, and judges.
    pub(crate) fn prove(&mut self, base: &TreeId, tree: &TreeId) -> Result<(Vec<Digest>, Judgement), Error> {
        self.prove_some(base, tree, None)
    }

    /// The checks that build what a change touches, by their ids.
    pub(crate) fn builds_of(&self, base: &TreeId, tree: &TreeId) -> Result<Vec<String>, Error> {
        let files = worktree::published_files(&self.store, base, tree)?;
        let found = checks::find(&TreeFiles { store: &self.store, tree }, Wanted::default());
        let needed = found.checks_for(files.iter().map(|file| &file.path));
        let builds =
            needed.checks.into_iter().filter(|it| it.kind == CheckKind::Build && it.features == Features::Default);
        Ok(builds.map(|check| check.id.0).collect())
    }

    /// The same for some of the checks only, by their ids: their judgement is one of these checks and not of the tree.
    pub(crate) fn prove_some(
        &mut self,
        base: &TreeId,
        tree: &TreeId,
        only: Option<&[String]>,
    ) -> Result<(Vec<Digest>, Judgement), Error> {
        self.settle()?;
        let store = Arc::clone(&self.store);
        let files = worktree::published_files(&store, base, tree)?;
        let (mut changed, mut removed) = (BTreeSet::new(), BTreeSet::new());
        for file in files {
            if file.after.is_some() {
                changed.insert(file.path)
            } else {
                removed.insert(file.path)
            };
        }
        let touched: Vec<&TreePath> = changed.union(&removed).collect();
        let wanted = Wanted { lints: self.is_about_lints() };
        let plan = checks::find(&TreeFiles { store: &store, tree }, wanted).checks_for(touched.iter().copied());
        let before = checks::find(&TreeFiles { store: &store, tree: base }, wanted).checks_for(touched.iter().copied());
        // The base is run as it says itself: a change that narrows what is tested shows in what vanished.
        let own = before.checks.iter().map(|check| (check.id.clone(), check.clone())).collect();
        let gone = before.checks.into_iter().filter(|check| !plan.checks.iter().any(|it| it.id == check.id));
        let mut cases: Vec<Case> = plan.checks.iter().map(|check| case(check.clone(), None)).collect();
        cases.extend(
            gone.map(|check| case(check, Some((Verdict::NotRun, "what it judges is gone from this tree".to_owned())))),
        );
        if let Some(only) = only {
            cases.retain(|case| only.contains(&case.check.id.0));
        }
        for case in &mut cases {
            if let Some(reason) = plan.unavailable.get(&case.check.id) {
                case.missing = Some((Verdict::Unavailable, reason.clone()));
            }
        }
        if let Err(reason) = self.house.sandbox.clone() {
            for case in &mut cases {
                case.missing.get_or_insert((Verdict::Unavailable, reason.clone()));
            }
        }
        self.set_up(|walk| walk.baseline(base, &mut cases, &own))?;
        let mut keys = Vec::new();
        for group in cases.chunk_by_mut(|one, other| run_together(&one.check, &other.check)) {
            let mut open: Vec<&mut Case> = group.iter_mut().filter(|case| case.missing.is_none()).collect();
            let wanted = open.iter().map(|case| (case.check.clone(), case.base.clone())).collect();
            for (case, found) in open.iter_mut().zip(self.check(wanted, tree, Side::Candidate)?) {
                match found {
                    Found::Receipt(receipt) => {
                        keys.push(receipt.key());
                        case.candidate = Some(*receipt);
                    }
                    Found::Missing(verdict, reason) => case.missing = Some((verdict, reason)),
                }
            }
        }
        let renames = renames::of(self.state.plan.as_ref(), &cases);
        let nothing = plan.nothing.as_deref();
        let packages = &plan.packages;
        let evidence = Evidence {
            tree,
            base,
            cases: &cases,
            changed: &changed,
            removed: &removed,
            packages,
            renames: &renames,
            nothing,
        };
        Ok((keys, checks::judge(&evidence)))
    }

    /// The base's receipts for these checks; the first time they become an event.
    fn baseline(&mut self, base: &TreeId, cases: &mut [Case], own: &BTreeMap<CheckId, Check>) -> Result<(), Error> {
        let mut keys = Vec::new();
        for group in cases.chunk_by_mut(|one, other| run_together(&one.check, &other.check)) {
            let mut open: Vec<&mut Case> = group.iter_mut().filter(|case| case.missing.is_none()).collect();
            let check = |case: &Case| own.get(&case.check.id).unwrap_or(&case.check).clone();
            let wanted = open.iter().map(|case| (check(case), None)).collect();
            for (case, found) in open.iter_mut().zip(self.check(wanted, base, Side::Base)?) {
                match found {
                    Found::Receipt(receipt) => {
                        keys.push(receipt.key());
                        case.base = Some(*receipt);
                    }
                    Found::Missing(verdict, reason) => case.missing = Some((verdict, format!("at base: {reason}"))),
                }
            }
        }
        if self.state.baseline.is_none() && self.state.base.as_ref() == Some(base) {
            let ran = self.take_ran();
            self.record(Event::Baselined { receipts: keys, ran })?;
        }
        Ok(())
    }

    /// Checks of one kind on one tree, with the base's receipts: what receipts say already, and runs for the others.
    fn check(&mut self, wanted: Vec<(Check, Option<Receipt>)>, tree: &TreeId, side: Side) -> Result<Vec<Found>, Error> {
        let (mut found, mut jobs, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for (check, base) in wanted {
            self.not_cancelled()?;
            let environment = match self.environment(tree, &check)? {
                Ok(environment) => environment,
                Err((verdict, reason)) => {
                    self.not_cancelled()?;
                    found.push(Found::Missing(verdict, reason));
                    continue;
                }
            };
            if self.anew.as_ref() != Some(tree)
                && let Some(known) = self.known(tree, &check, &environment)?
            {
                let (check, tree, verdict, duration_ms) = (check.id, tree.clone(), known.verdict, known.duration_ms);
                let ended = Progress::CheckEnded { check, side, tree, verdict, cached: true, duration_ms };
                self.house.audience.tell(ended);
                found.push(Found::Receipt(Box::new(known)));
                continue;
            }
            places.push(found.len());
            found.push(Found::Missing(Verdict::NotRun, "it was not run".into()));
            jobs.push(Job { check, environment, base });
        }
        if jobs.is_empty() {
            return Ok(found);
        }
        self.ran += u32::try_from(jobs.len()).unwrap_or(u32::MAX);
        self.second_lane(&jobs, tree)?;
        let common = self.common(tree);
        let runs = run_told(self.site_for(tree)?, &common, &jobs, side)?;
        for (at, ran) in places.into_iter().zip(runs) {
            found[at] = match self.write_down(ran)? {
                Ok(receipt) => Found::Receipt(receipt),
                Err((verdict, reason)) => {
                    // What was cut short says nothing, and must not be written down as a judgement.
                    self.not_cancelled()?;
                    Found::Missing(verdict, reason)
                }
            };
        }
        Ok(found)
    }

    /// What a receipt says already.
    pub(crate) fn known(&self, tree: &TreeId, check: &Check, environment: &Digest) -> Result<Option<Receipt>, Error> {
        let known = self.house.journal.receipt(&Receipt::key_of(tree, check, environment))?;
        Ok(known.filter(|known| known.verdict.is_conclusive()))
    }

    /// Writes down what came of a run, or says why nothing did.
    pub(crate) fn write_down(&self, ran: Ran) -> Result<Result<Box<Receipt>, Missing>, Error> {
        for (_, bytes) in &ran.output {
            self.house.journal.put_artifact(bytes)?;
        }
        let Some(mut receipt) = ran.receipt else {
            return Ok(Err((ran.verdict, ran.reason.unwrap_or_else(|| "nothing says why".into()))));
        };
        receipt.configuration = self.configuration();
        self.house.journal.put_receipt(&receipt)?;
        Ok(Ok(Box::new(receipt)))
    }

    pub(crate) fn not_cancelled(&self) -> Result<(), Error> {
        if self.house.cancel.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// A check that makes no receipt, in the warm build folder.
    fn survey(&mut self, check: &Check, tree: &TreeId, environment: &Digest) -> Result<Ran, Error> {
        let store = Arc::clone(&self.store);
        let remaining = self.command_time();
        self.ran += 1;
        let watch = Watch {
            cancel: self.house.cancel.clone(),
            progress: progress(self.house.audience.clone(), check.id.clone()),
        };
        let site = self.site_on(tree)?;
        let runner = site.runner.as_ref().map_err(|reason| Error::Sentence(reason.clone()))?.clone();
        let (shadow, build, files) = (site.slot.shadow(), site.slot.work(), TreeFiles { store: &store, tree });
        let order = Order {
            check,
            tree,
            files: &files,
            shadow: &shadow,
            build: &build,
            proof: false,
            environment,
            base: None,
            remaining,
        };
        Ok(runner.run(&order, &watch, &mut Shadow { slot: &mut site.slot, store: &store, rewritten: Vec::new() }))
    }

    /// What compiler or linter say about a tree, from the warm build folder and without a receipt.
    pub(crate) fn diagnose(&mut self, tree: &TreeId, action: &StepAction) -> Result<Diagnosis, Error> {
        let store = Arc::clone(&self.store);
        let lints = matches!(action, StepAction::FixClippy { .. });
        let plan = checks::find(&TreeFiles { store: &store, tree }, Wanted { lints }).cargo();
        let kind = if lints { CheckKind::Lint } else { CheckKind::Build };
        let mut diagnosis = Diagnosis::default();
        let ended = |conclusion| Ok(Diagnosis { unusable: Some(conclusion), ..Diagnosis::default() });
        let unusable = |reason: String| ended(Conclusion::Infrastructure { reason });
        if let Some(nothing) = plan.nothing {
            return ended(Conclusion::NotVerified { reasons: vec![nothing] });
        }
        for check in plan.checks.iter().filter(|check| check.kind == kind) {
            if let Some(reason) = plan.unavailable.get(&check.id) {
                return unusable(format!("{}: {reason}", check.id));
            }
            let environment = match self.environment(tree, check)? {
                Ok(environment) => environment,
                Err((_, reason)) => return unusable(format!("{}: {reason}", check.id)),
            };
            let ran = self.survey(check, tree, &environment)?;
            self.not_cancelled()?;
            if !ran.verdict.is_conclusive() {
                let why = ran.reason.unwrap_or_else(|| ran.verdict.word().to_owned());
                return unusable(format!("{}: {why}", check.id));
            }
            let error = ran.diagnostics.iter().find(|it| it.level == Level::Error);
            // A linter fails by what it has to say; it has given up only where that is an error, or nothing.
            let spoke = check.kind == CheckKind::Lint && error.is_none() && !ran.diagnostics.is_empty();
            if !matches!(ran.verdict, Verdict::Passed) && !spoke && diagnosis.broken.is_none() {
                let why = error.map(|error| error.message.clone()).or(ran.reason);
                diagnosis.broken = Some(why.unwrap_or_else(|| format!("{} failed", check.id)));
            }
            for diagnostic in ran.diagnostics {
                let known = diagnosis.diagnostics.iter().any(|it| is_same(it, &diagnostic));
                if !known {
                    diagnosis.diagnostics.push(diagnostic);
                }
            }
        }
        Ok(diagnosis)
    }

    /// Whether the code of a tree is the developer's own, which they build by hand anyway: the base, their working tree,
    /// and what our compiler made of the base. What other trees leave in the build folder serves nobody else, and that
    /// costs a cold build.
    pub(crate) fn is_vouched_for(&self, tree: &TreeId) -> bool {
        let own =
            self.state.request.engine == Engine::Compiler || self.state.request.candidate == Some(Candidate::Worktree);
        own || self.state.base.as_ref() == Some(tree)
    }

    fn is_about_lints(&self) -> bool {
        let steps = self.state.plan.iter().flat_map(|plan| &plan.steps);
        steps.into_iter().any(|step| matches!(step.action, StepAction::FixClippy { .. }))
    }
}

/// Runs checks of one kind on a tree, and tells of each that it begins and ends.
pub(crate) fn run_told(site: &mut Site, common: &Common, jobs: &[Job], side: Side) -> Result<Vec<Ran>, Error> {
    for job in jobs {
        common.audience.tell(Progress::CheckStarted { check: job.check.id.clone(), side });
    }
    let started = Instant::now();
    let runs = site.run_beside(common, jobs)?;
    let all = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    for (job, ran) in jobs.iter().zip(&runs) {
        let (check, tree, verdict) = (job.check.id.clone(), common.tree.clone(), ran.verdict);
        let duration_ms = ran.receipt.as_ref().map_or(all, |receipt| receipt.duration_ms);
        let ended = Progress::CheckEnded { check, side, tree, verdict, cached: false, duration_ms };
        common.audience.tell(ended);
    }
    Ok(runs)
}

/// A source that is changed for a moment and put back was perhaps judged with other bytes: no receipt, unless the base
/// does the same (generators write what is there already).
pub(crate) fn void_if_rewritten(ran: &mut Ran, rewritten: Vec<TreePath>, base: Option<&Receipt>) {
    let Some(receipt) = &mut ran.receipt else { return };
    let fresh =
        |path: &&TreePath| receipt.read.contains(path) && base.is_some_and(|base| !base.rewritten.contains(path));
    let reason = rewritten.iter().find(fresh).map(|path| {
        format!("{path} was written while the check ran and put back: what was judged may not have been this tree")
    });
    receipt.rewritten = rewritten;
    if reason.is_some() {
        (ran.receipt, ran.verdict, ran.reason) = (None, Verdict::Infrastructure, reason);
    }
}

/// Whether two checks may run at the same time: the same kind with other features, which have lanes of their own. Kinds
/// follow each other, as tests build upon what was built.
pub(crate) fn run_together(one: &Check, other: &Check) -> bool {
    one.kind == other.kind && one.root == other.root
}

fn case(check: Check, missing: Option<(Verdict, String)>) -> Case {
    Case { check, base: None, candidate: None, missing }
}

/// Default and all features show most diagnostics both.
fn is_same(one: &Diagnostic, other: &Diagnostic) -> bool {
    one.path == other.path && one.bytes == other.bytes && one.code == other.code && one.message == other.message
}

pub(crate) fn progress(audience: Audience, check: CheckId) -> Arc<dyn Fn(checks::Progress) + Send + Sync> {
    Arc::new(move |news| {
        let (text, done, total) = match news {
            checks::Progress::Compiled { done, all, unit } => (format!("compiled {unit}"), done, all),
            checks::Progress::Tested { done, all, test } => (format!("tested {test}"), done, all),
            checks::Progress::Doing(what) => (what, 0, 0),
        };
        audience.tell(Progress::CheckAdvanced { check: check.clone(), text, done: done.into(), total: total.into() });
    })
}
