//! Times the stations of the compiler on a project: load, first question, rename to gated diff, gate on one edit.
//!
//! `measure TREE TARGET SYMBOL NEW_NAME FILE FROM TO`: TREE is a project with its lock file, TARGET a build folder,
//! and FROM in FILE is replaced by TO for the gate.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use sandbox::{CargoHome, Sandbox};
use semantics::{Analysis, InProcess, MacroProcess, MacroServer, Place, Tools, WorkerLimits, Workspace, gather};
use task::port::{
    Answer, Change, Compiler as _, Gate as _, GateReport, Generation, Refactor as _, Refactored, Refactoring,
    Symbols as _,
};
use task::{Features, TreePath};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    sandbox::run_if_launcher();
    semantics::run_if_worker();
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [tree, target, symbol, new_name, file, from, to] = words.as_slice() else {
        return Err("usage: measure TREE TARGET SYMBOL NEW_NAME FILE FROM TO".into());
    };
    let place = place(Path::new(tree), Path::new(target))?;
    let mut files = BTreeMap::new();
    read(&place.tree, &place.tree, &mut files)?;
    let sandbox = Sandbox::open()?;
    let cargo = CargoHome::from_env().provision(&place.cargo_home)?;
    let tools = Tools { sandbox: sandbox.clone(), place: place.clone(), cargo };
    let manifests: Vec<String> =
        files.keys().map(TreePath::to_string).filter(|path| path.ends_with("Cargo.toml")).collect();

    let begin = Instant::now();
    let facts = timed("cargo in the sandbox", || gather(&tools, &manifests, Features::All, Duration::from_secs(300)))?;
    println!("  {} workspaces; {:?}", facts.workspaces.len(), facts.notes);
    let (_process, pipes) = MacroProcess::start(&sandbox, &place)?.ok_or("no proc-macro server")?;
    let server = MacroServer::connect(&place.macro_server(), pipes, &facts.toolchain.version)?;
    let base = files.iter().map(|(path, bytes)| (path.clone(), Some(Arc::clone(bytes)))).collect();
    let base = Change { generation: Generation(1), files: base };
    let compiler = InProcess::new(timed("load", || Analysis::load(facts, &base, Some(server)))?);
    let mut generation = 1;

    for round in ["cold", "warm", "warm again"] {
        let started = Instant::now();
        let refactoring = Refactoring::Rename { symbol: symbol.clone(), new_name: new_name.clone() };
        let answer = timed("rename", || compiler.refactor(Generation(generation), &refactoring));
        let Answer::Known { value: Refactored::Edits { edits, limitations }, missing } = answer else {
            return Err(format!("{answer:?}").into());
        };
        let new = edits.apply(|path| files.get(path).cloned())?;
        println!("  {} files, {} limitations, missing {missing:?}", new.len(), limitations.len());
        let paths: Vec<TreePath> = new.keys().cloned().collect();
        let old = paths.iter().map(|path| (path.clone(), files.get(path).cloned())).collect();
        generation += 1;
        timed("push", || {
            compiler.push(Change { generation: Generation(generation), files: new.into_iter().collect() })
        });
        report(timed("gate", || compiler.gate(Generation(generation), &paths)));
        println!("{round}: rename to gated diff {:.2} s", started.elapsed().as_secs_f64());
        generation += 1;
        compiler.push(Change { generation: Generation(generation), files: old });
    }
    println!("from nothing {:.2} s", begin.elapsed().as_secs_f64());

    let path: TreePath = file.parse()?;
    let old = files.get(&path).ok_or("no such file")?;
    let text = String::from_utf8(old.to_vec())?;
    if !text.contains(from.as_str()) {
        return Err(format!("{file} does not contain {from}").into());
    }
    for (round, edit) in
        [text.replace(from, to), format!("{}\n", text.replace(from, to)), text.replace(from, &format!("{to} "))]
            .into_iter()
            .enumerate()
    {
        generation += 1;
        println!("edit {round}");
        let files = vec![(path.clone(), Some(edit.into_bytes().into()))];
        timed("push", || compiler.push(Change { generation: Generation(generation), files }));
        report(timed("gate", || compiler.gate(Generation(generation), std::slice::from_ref(&path))));
        generation += 1;
        compiler
            .push(Change { generation: Generation(generation), files: vec![(path.clone(), Some(Arc::clone(old)))] });
    }
    let cold = place.target.with_extension("cold");
    std::fs::create_dir_all(&cold)?;
    let place = Place { target: cold.clone(), ..place };
    let tools = Tools { place, ..tools };
    let worker = Workspace::open(tools, Features::All, WorkerLimits::default());
    worker.push(base);
    timed("find in a worker, nothing built, other process", || worker.find(Generation(1), symbol));
    sandbox::remove_tree(&cold)?;
    timed("find", || compiler.find(Generation(generation), symbol));
    println!(
        "{}",
        std::fs::read_to_string("/proc/self/status")?
            .lines()
            .find(|line| line.starts_with("VmRSS"))
            .unwrap_or_default()
    );
    Ok(())
}

/// Prints wall-clock time and the processor time of this process, which a busy machine does not stretch.
fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let (started, used) = (Instant::now(), processor());
    let done = work();
    println!("{what}: {:.1?}, {:.1?} on the processor", started.elapsed(), processor() - used);
    done
}

fn processor() -> Duration {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(used.tv_sec.unsigned_abs(), u32::try_from(used.tv_nsec).unwrap_or_default())
}

fn report(report: GateReport) {
    match report {
        GateReport::Clean { missing } => println!("  clean; missing {missing:?}"),
        GateReport::Errors { problems, missing } => {
            println!("  {} problems; missing {missing:?}", problems.len());
            for problem in problems.iter().take(8) {
                println!("    {}:{} {} {}", problem.path, problem.line, problem.code, problem.message);
            }
        }
        GateReport::Unknown { reason } => println!("  unknown: {reason}"),
    }
}

fn place(tree: &Path, target: &Path) -> Result<Place, Failure> {
    std::fs::create_dir_all(target)?;
    let cargo = PathBuf::from(env!("CARGO")).canonicalize()?;
    let toolchain = cargo.ancestors().nth(2).ok_or("cargo lies nowhere")?.to_owned();
    let target = target.canonicalize()?;
    let cargo_home = target.with_extension("cargo");
    std::fs::create_dir_all(&cargo_home)?;
    Ok(Place { tree: tree.canonicalize()?, target, toolchain, cargo_home })
}

fn read(root: &Path, folder: &Path, files: &mut BTreeMap<TreePath, Arc<[u8]>>) -> Result<(), Failure> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            if entry.file_name() != ".git" && entry.file_name() != "target" {
                read(root, &path, files)?;
            }
        } else if let Some(relative) = path.strip_prefix(root)?.to_str() {
            files.insert(relative.parse()?, std::fs::read(&path)?.into());
        }
    }
    Ok(())
}
