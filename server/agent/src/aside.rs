//! What is done beside tasks: a look at a workspace, one command in the jail, forgetting.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use checks::{Files as _, Tools, Wanted};
use sandbox::{Finished, Jailed, Keep, Limits, Mount, Output};
use task::TaskId;
use worktree::{FreezeOptions, Slot, Store, Workspace};

use crate::Error;
use crate::house::House;
use crate::proving::TreeFiles;
use crate::pulse::Pulse;
use crate::site::{level, place, runner};

/// Nothing is asked of a compiler here; a place says so in time.
const LOOK: Duration = Duration::ZERO;

/// An interpreter that needs longer to say its version does not work.
const A_WORD: Duration = Duration::from_secs(20);

/// One thing that was looked at in a workspace.
#[derive(Debug)]
pub struct Examined {
    pub what: String,
    pub works: bool,
    /// Works as far as it goes: the detail says how far.
    pub note: bool,
    pub detail: String,
    pub remedy: Option<String>,
}

/// Looks at a workspace as a task would: snapshot, toolchain, what checks it.
pub fn examine(house: &House, folder: &Path) -> Vec<Examined> {
    let mut all = Vec::new();
    let mut say = |what: &str, result: Result<String, (String, Option<String>)>| {
        let (works, detail, remedy) = match result {
            Ok(detail) => (true, detail, None),
            Err((detail, remedy)) => (false, detail, remedy),
        };
        all.push(Examined { what: what.to_owned(), works, note: false, detail, remedy });
    };
    let snapshot = || -> Result<_, Error> {
        let workspace = Workspace::open(folder, &house.state)?;
        let store = Store::open(&workspace)?;
        let frozen = worktree::freeze(&workspace, &store, &[], &FreezeOptions::default())?;
        let slot = Slot::lease(&workspace)?;
        Ok((workspace, store, frozen, slot))
    };
    let (workspace, store, frozen, slot) = match snapshot() {
        Ok(taken) => taken,
        Err(error) => {
            say("snapshot", Err((error.chain(), None)));
            return all;
        }
    };
    let files = TreeFiles { store: &store, tree: &frozen.base };
    say("snapshot", Ok(format!("{} files, {} withheld", files.list().len(), frozen.withheld.len())));
    let found = checks::find(&files, Wanted { lints: false });
    let place = place(house, &store, &frozen.base, &slot, &workspace, LOOK);
    // Where nothing is Rust, nothing is missing without it.
    if !found.workspaces.is_empty() || found.projects.is_empty() {
        match &place {
            Ok(place) => {
                say("toolchain", Ok(place.toolchain.name.clone()));
                say(
                    "rust-src",
                    match &place.toolchain.library {
                        Some(_) => Ok("the sources of std are there".into()),
                        None => Err((
                            "the sources of std are missing: the compiler engine cannot work".into(),
                            Some(place.toolchain.rust_src_remedy()),
                        )),
                    },
                );
            }
            Err(reason) => say("toolchain", Err((reason.clone(), None))),
        }
    }
    let runner = runner(&house.sandbox, &place, workspace.top(), &task::Limits::default());
    let plan = found.all();
    for check in found.projects.iter().flat_map(|project| &project.checks) {
        let shadow = slot.shadow();
        let ask = |runner: &checks::Runner| runner.environment(&files, check, &[], &shadow, A_WORD, &house.cancel);
        let answer = match plan.unavailable.get(&check.id) {
            Some(reason) => Err(reason.clone()),
            None => runner.as_ref().map_err(Clone::clone).and_then(|it| ask(it).map_err(|error| error.reason)),
        };
        say(&check.id.0, answer.map(|environment| environment.toolchain).map_err(|reason| (reason, None)));
    }
    // A folder without checks is no fault of the machine.
    let note = plan.nothing.is_some();
    let ids = || plan.checks.iter().map(|check| check.id.to_string()).collect::<Vec<_>>().join(", ");
    let detail = plan.nothing.clone().unwrap_or_else(ids);
    all.push(Examined { what: "checks".to_owned(), works: true, note, detail, remedy: None });
    all
}

/// Runs one command in the jail, on a shadow of the workspace as it is now.
///
/// # Errors
/// When there is no jail, or the workspace cannot be pictured.
pub fn in_shadow(house: &House, folder: &str, command: Vec<OsString>, limit: Duration) -> Result<Finished, Error> {
    let workspace = Workspace::open(Path::new(folder), &house.state)?;
    let store = Store::open(&workspace)?;
    let frozen = worktree::freeze(&workspace, &store, &[], &FreezeOptions::default())?;
    let mut slot = Slot::lease(&workspace)?;
    slot.project(&store, &frozen.base, Some(&frozen.provision))?;
    let sandbox = house.sandbox.clone().map_err(Error::Sentence)?;
    let mut words = command.into_iter();
    let program = words.next().ok_or_else(|| Error::Sentence("no command was given".into()))?;
    let mut jailed = Jailed::new(program, slot.shadow()).args(words);
    jailed.mounts.push(Mount::writable(slot.shadow()));
    jailed.mounts.push(Mount::writable(slot.work()));
    jailed.limits = Limits::within(limit);
    jailed.stdout = Output::Captured(Keep::all());
    jailed.stderr = Output::Captured(Keep::all());
    // Without a toolchain the command still runs; it may not need one.
    if let Ok(place) = place(house, &store, &frozen.base, &slot, &workspace, limit) {
        let tools = Tools::new(&place.toolchain, &place.cargo, level());
        jailed.mounts.extend(tools.mounts);
        jailed.env.extend(tools.env);
        jailed.env.insert("CARGO_TARGET_DIR".into(), slot.work().into());
    }
    Ok(sandbox.run(jailed, &house.cancel))
}

/// Forgets a task: its journal, its trees, what only it needs.
///
/// # Errors
/// While another process works on it.
pub fn forget(house: &House, id: &TaskId) -> Result<(), Error> {
    let records = house.journal.records(id)?;
    house.journal.purge(id)?;
    Pulse::of(&house.state, id).stop();
    // Of a workspace that cannot be opened any more the trees stay in its folder of our state.
    if let Ok(state) = crate::walk::fold(id, &records)
        && let Ok(workspace) = Workspace::open(Path::new(&state.request.workspace), &house.state)
    {
        // What an editor showed of it.
        let documents = std::fs::read_dir(workspace.state().join("docs")).into_iter().flatten().flatten();
        let own = format!("{id}.");
        for document in documents.filter(|file| file.file_name().as_encoded_bytes().starts_with(own.as_bytes())) {
            let _ = std::fs::remove_file(document.path());
        }
        let store = Store::open(&workspace)?;
        store.forget(id)?;
        store.tidy()?;
    }
    Ok(())
}
