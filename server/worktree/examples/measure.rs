//! Measures snapshot and shadow against `git worktree add` of the same repository: `measure FILES` prints a table.

use std::fs;
use std::path::Path;
use std::time::Instant;

use worktree::{FreezeOptions, Slot, Store, Workspace, freeze};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let files: usize = std::env::args().nth(1).map_or(Ok(5000), |text| text.parse())?;
    let home = std::env::temp_dir().join(format!("understudy-measure-{}", std::process::id()));
    let result = measure(&home, files);
    fs::remove_dir_all(&home)?;
    result
}

fn measure(home: &Path, files: usize) -> Outcome<()> {
    let top = home.join("work");
    let body: String = (0..220).map(|line| format!("    let value_{line} = compute({line});\n")).collect();
    for number in 0..files {
        let folder = top.join(format!("crate{}/src/part{}", number / 500, number / 50 % 10));
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(format!("file{number}.rs")), format!("// {number}\n{body}"))?;
    }
    git(&top, &["init", "-q"])?;
    git(&top, &["config", "gc.auto", "0"])?;
    git(&top, &["config", "maintenance.auto", "false"])?;
    git(&top, &["add", "-A"])?;
    git(&top, &["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "x"])?;
    git(&top, &["gc", "-q"])?;
    // Stamps must have settled, as they have in any repository that somebody works on.
    std::thread::sleep(std::time::Duration::from_millis(2500));
    for round in 0..3 {
        let (linked, state) = (home.join(format!("linked{round}")), home.join(format!("state{round}")));
        let cpu = children();
        let start = Instant::now();
        git(&top, &["worktree", "add", "-q", "--detach", linked.to_str().unwrap_or_default()])?;
        let git = start.elapsed();
        let git_cpu = children() - cpu;
        let cpu = own();
        let start = Instant::now();
        let workspace = Workspace::open(&top, &state)?;
        let store = Store::open(&workspace)?;
        let frozen = freeze(&workspace, &store, &[], &FreezeOptions::default())?;
        store.keep(&"first".parse()?, &frozen.base)?;
        let snapshot = start.elapsed();
        let mut slot = Slot::lease(&workspace)?;
        slot.project(&store, &frozen.base, Some(&frozen.provision))?;
        let first = start.elapsed();
        let first_cpu = own() - cpu;
        drop((slot, store));
        let cpu = own();
        fs::write(top.join("crate0/src/part0/file0.rs"), format!("// round {round}\n"))?;
        let start = Instant::now();
        let workspace = Workspace::open(&top, &state)?;
        let store = Store::open(&workspace)?;
        let frozen = freeze(&workspace, &store, &[], &FreezeOptions::default())?;
        store.keep(&"second".parse()?, &frozen.base)?;
        let warm_snapshot = start.elapsed();
        let mut slot = Slot::lease(&workspace)?;
        slot.project(&store, &frozen.base, Some(&frozen.provision))?;
        let warm = start.elapsed();
        let warm_cpu = own() - cpu;
        let start = Instant::now();
        slot.verify()?;
        let verify = start.elapsed();
        println!(
            "git worktree add {git:>8.1?} | first {first:>8.1?} ({:.2}x; snapshot {snapshot:.1?}) | warm {warm:>8.1?} ({:.2}x; snapshot {warm_snapshot:.1?}) | verify {verify:.1?}",
            first.as_secs_f64() / git.as_secs_f64(),
            warm.as_secs_f64() / git.as_secs_f64(),
        );
        println!("processor time: git {git_cpu:.2} s, first {first_cpu:.2} s, warm {warm_cpu:.2} s");
    }
    Ok(())
}

/// Seconds of processor time of this process, all threads.
fn own() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The same of ended child processes, in steps of ten milliseconds.
fn children() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|text| text.parse::<f64>().ok()).unwrap_or_default();
    (ticks(13) + ticks(14)) / 100.0
}

#[expect(clippy::disallowed_methods, reason = "the measurement compares with git itself")]
fn git(folder: &Path, arguments: &[&str]) -> Outcome<()> {
    let status = std::process::Command::new("git").args(arguments).current_dir(folder).status()?;
    if status.success() { Ok(()) } else { Err(format!("git {arguments:?}: {status}").into()) }
}
