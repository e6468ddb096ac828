//! What every ending of a command makes of a check, told by a jail that follows a script.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sandbox::{CancelToken, Captured, Finished, Interpreters, Jailed, Outcome, SpawnStage};
use task::{CheckKind, Digest, Features, SandboxLevel, Verdict};

use crate::files::FileMap;
use crate::needed::check;
use crate::order::{Order, Ran};
use crate::run::Runner;
use crate::tools::{Equipment, Jail, Tools};
use crate::watch::{Guard, Moment, Unguarded, Watch};

/// `rustc` answers; the first command of cargo ends as told.
struct Script(Outcome);

impl Jail for Script {
    fn run(&self, command: Jailed, _: &CancelToken) -> Finished {
        let asks = command.program == Path::new("/tc/rustc");
        let head = if asks { b"rustc 1.95.0\nhost: x86_64-unknown-linux-gnu\n".to_vec() } else { Vec::new() };
        Finished {
            outcome: if asks { Outcome::Exit { code: 0 } } else { self.0.clone() },
            stdout: Captured { total: head.len() as u64, head, tail: Vec::new() },
            stderr: Captured::default(),
            duration: Duration::ZERO,
            usage: None,
        }
    }
}

fn ran(outcome: Outcome, remaining: Duration, cancel: CancelToken, guard: &mut dyn Guard) -> Ran {
    let tools = Tools {
        cargo: "/tc/cargo".into(),
        rustc: "/tc/rustc".into(),
        mounts: Vec::new(),
        env: BTreeMap::new(),
        configuration: Vec::new(),
        level: SandboxLevel::Bubblewrap,
    };
    let files = FileMap(BTreeMap::from([("Cargo.toml".parse().unwrap(), b"[package]".to_vec())]));
    let order = Order {
        check: &check(&None, CheckKind::Build, Features::Default),
        tree: &"a".repeat(40).parse().unwrap(),
        files: &files,
        shadow: Path::new("/shadow"),
        build: Path::new("/work"),
        proof: true,
        environment: &Digest::of(["e"]),
        base: None,
        remaining,
    };
    let equipment = Equipment {
        rust: Ok(tools),
        interpreters: Interpreters::default(),
        workspace: "/ws".into(),
        level: SandboxLevel::Bubblewrap,
    };
    Runner::new(Arc::new(Script(outcome)), equipment).run(&order, &Watch { cancel, ..Watch::default() }, guard)
}

fn ended(outcome: Outcome) -> Ran {
    ran(outcome, Duration::from_secs(60), CancelToken::new(), &mut Unguarded)
}

#[test]
fn every_outcome_has_its_own_word_and_only_those_about_the_tree_a_receipt() {
    let spawn = Outcome::SpawnError { stage: SpawnStage::Program, errno: 2, message: "no such program".into() };
    for (outcome, verdict, receipt) in [
        (Outcome::Timeout, Verdict::Timeout, true),
        (Outcome::OutputCap, Verdict::Killed, true),
        (Outcome::OutOfMemory, Verdict::Killed, true),
        (Outcome::Cancelled, Verdict::NotRun, false),
        (spawn, Verdict::Unavailable, true),
        (Outcome::Infrastructure { reason: "no namespaces".into() }, Verdict::Infrastructure, false),
        (Outcome::Exit { code: 101 }, Verdict::Failed, true),
    ] {
        let ran = ended(outcome.clone());
        assert_eq!((ran.verdict, ran.receipt.is_some()), (verdict, receipt), "{outcome}");
        assert!(ran.reason.is_some(), "{outcome}");
        assert!(ran.receipt.is_none_or(|receipt| receipt.verdict == verdict));
    }
}

#[test]
fn nothing_is_started_without_time_or_after_a_cancellation() {
    let outcome = Outcome::Infrastructure { reason: "it was started".into() };
    let late = ran(outcome.clone(), Duration::ZERO, CancelToken::new(), &mut Unguarded);
    assert_eq!(late.verdict, Verdict::Timeout);
    let cancel = CancelToken::new();
    cancel.cancel();
    let cancelled = ran(outcome, Duration::from_secs(60), cancel, &mut Unguarded);
    assert_eq!((cancelled.verdict, cancelled.receipt.is_none()), (Verdict::NotRun, true));
}

/// Finds a difference at one moment.
struct Differs(Moment);

impl Guard for Differs {
    fn verify(&mut self, moment: Moment) -> Result<(), String> {
        if moment == self.0 { Err("src/lib.rs changed".to_owned()) } else { Ok(()) }
    }
}

#[test]
fn a_shadow_that_is_not_what_was_written_is_an_infrastructure_failure() {
    for moment in [Moment::Before, Moment::After] {
        let outcome = Outcome::Exit { code: 101 };
        let ran = ran(outcome, Duration::from_secs(60), CancelToken::new(), &mut Differs(moment));
        assert_eq!((ran.verdict, ran.receipt.is_none()), (Verdict::Infrastructure, true));
        assert_eq!(ran.reason.as_deref(), Some("src/lib.rs changed"));
    }
}
