//! The worker's side: read an order, carry it out, report.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};

use task::TreePath;
use task::port::Change;

use super::wire::{self, Order, Report};
use crate::analysis::Analysis;
use crate::desk::rebase;
use crate::load::{Facts, MacroPipes, MacroServer};
use crate::questions::{Ask, Reply};

/// The hidden first argument that makes a binary act as the worker.
pub const WORKER_ARG: &str = "__compiler-worker";

/// The numbers under which the worker finds the pipe ends of the proc-macro server.
pub(super) const MACROS_TO: RawFd = 3;
pub(super) const MACROS_FROM: RawFd = 4;

/// Orders that are read before they are carried out.
const READ_AHEAD: usize = 4;

/// The compiler recurses deeply on deeply nested code.
const STACK_BYTES: usize = 64 << 20;

/// Becomes the worker if the process was started as one; returns otherwise. Call it at the start of `main`, after
/// [`sandbox::run_if_launcher`], in every binary that uses [`crate::Workspace`].
pub fn run_if_worker() {
    if std::env::args_os().nth(1).as_deref() != Some(std::ffi::OsStr::new(WORKER_ARG)) {
        return;
    }
    let worker = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(|| {
        let orders = Orders::read(BufReader::new(io::stdin()))?;
        serve(&orders, BufWriter::new(io::stdout()))
    });
    let served = worker.and_then(|worker| worker.join().map_err(|_| io::Error::other("it panicked")).flatten());
    if let Err(error) = &served {
        // Not `eprintln`, which panics when nobody reads.
        let _nobody_reads = writeln!(io::stderr(), "compiler worker: {error}");
    }
    std::process::exit(i32::from(served.is_err()));
}

/// Orders as they arrive, read ahead by a few, so that a head start ends when the next one is here.
struct Orders {
    arrived: Receiver<io::Result<Order>>,
    waiting: Arc<AtomicUsize>,
}

impl Orders {
    fn read(mut from: impl io::Read + Send + 'static) -> io::Result<Orders> {
        let (sender, arrived) = mpsc::sync_channel(READ_AHEAD);
        let waiting = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&waiting);
        std::thread::Builder::new().name("orders".into()).spawn(move || {
            // Ends with the stream, or when nobody carries out orders any more.
            while let Some(order) = wire::read::<Order>(&mut from).transpose() {
                counted.fetch_add(1, Ordering::Release);
                let broken = order.is_err();
                if sender.send(order).is_err() || broken {
                    return;
                }
            }
        })?;
        Ok(Orders { arrived, waiting })
    }

    fn next(&self) -> io::Result<Option<Order>> {
        let Ok(order) = self.arrived.recv() else { return Ok(None) };
        self.waiting.fetch_sub(1, Ordering::Release);
        order.map(Some)
    }

    fn is_waiting(&self) -> bool {
        self.waiting.load(Ordering::Acquire) > 0
    }
}

/// Carries out orders until there are no more.
fn serve(orders: &Orders, mut to: impl Write) -> io::Result<()> {
    let mut files = Vec::new();
    let mut analysis: Option<Mutex<Analysis>> = None;
    let mut base: Option<Change> = None;
    let mut warmed: Option<Analysis> = None;
    while let Some(order) = orders.next()? {
        match order {
            Order::Files(more) => files.extend(more),
            Order::Warm { facts, generation, expected } => {
                let change = base.insert(Change { generation, files: bodies(&mut files) });
                // Only a head start: what goes wrong here goes wrong again, with a reason, when it counts.
                let loaded = catch_unwind(AssertUnwindSafe(|| {
                    let mut loaded = Analysis::load(*facts, change, None).ok()?;
                    loaded.rehearse(expected.as_deref(), &|| orders.is_waiting());
                    Some(loaded)
                }));
                warmed = loaded.ok().flatten();
            }
            Order::Load { facts, generation, macros } => {
                let base = base.take().unwrap_or_else(|| Change { generation, files: bodies(&mut files) });
                let report = match load(*facts, &base, warmed.take(), macros) {
                    Ok(loaded) => {
                        analysis = Some(Mutex::new(loaded));
                        Report::Loaded
                    }
                    Err(reason) => Report::NotLoaded { reason },
                };
                wire::write(&mut to, &report)?;
            }
            Order::Push { generation } => {
                let change = Change { generation, files: bodies(&mut files) };
                if let Some(analysis) = &analysis {
                    analysis.push(change);
                }
            }
            Order::Rebase { generation, differing } => {
                let change = Change { generation, files: bodies(&mut files) };
                let holds = analysis.as_ref().is_some_and(|analysis| rebase(analysis, &change, &differing));
                wire::write(&mut to, &Report::Rebased { holds })?;
            }
            Order::Ask { id, at, question } => {
                let reply = match &analysis {
                    Some(analysis) => analysis.ask(at, question),
                    None => Reply::Unknown("no project is loaded".to_owned()),
                };
                wire::write(&mut to, &Report::Answered { id, reply, resident_bytes: resident_bytes() })?;
            }
        }
    }
    Ok(())
}

fn bodies(files: &mut Vec<(TreePath, wire::Body)>) -> Vec<(TreePath, Option<Arc<[u8]>>)> {
    std::mem::take(files).into_iter().map(|(path, body)| (path, body.into_bytes())).collect()
}

fn load(facts: Facts, base: &Change, warmed: Option<Analysis>, macros: bool) -> Result<Analysis, String> {
    let server = if macros {
        let pipes = MacroPipes { to: inherited(MACROS_TO), from: inherited(MACROS_FROM) };
        // Without the server macros are unknown and the answers say so.
        MacroServer::connect(&facts.place.macro_server(), pipes, &facts.toolchain.version).ok()
    } else {
        None
    };
    let loaded = match warmed {
        Some(warmed) => warmed.reload(facts, server),
        None => Analysis::load(facts, base, server),
    };
    loaded.map_err(|error| error.to_string())
}

fn inherited(number: RawFd) -> File {
    // SAFETY: the server starts a worker that it tells about macros with exactly these two descriptors open, and
    // loading happens once in the life of a worker, so nothing else owns them.
    File::from(unsafe { OwnedFd::from_raw_fd(number) })
}

/// The memory this process holds, from the kernel; 0 where it cannot be read.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()).unwrap_or(0) * 1024
}
