//! How pytest is started, with a plugin of ours in it.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;

use sandbox::{Interpreter, Mount};
use task::{TreePath, Verdict};

use crate::commands::Ending;
use crate::folder::{file_in, holds, upwards};
use crate::installed::{Installed, installed};
use crate::outside::{OURS, Outside, Run, ours};
use crate::tool::{Tool, arguments};
use crate::watch::Watch;

const PLUGIN: &str = include_str!("plugin.py");

/// Files that say what is installed.
pub(crate) const LOCKS: [&str; 7] =
    ["requirements.txt", "requirements-dev.txt", "poetry.lock", "uv.lock", "Pipfile.lock", "pdm.lock", "pylock.toml"];

/// Names of virtual environments, as they are usually made.
const ENVIRONMENTS: [&str; 3] = [".venv", "venv", "env"];

/// The python of a project.
pub(crate) struct Python {
    pub interpreter: Interpreter,
    /// Its virtual environment, where it has one, at the place where it really is.
    pub environment: Option<Installed>,
}

/// The python of the nearest virtual environment, else the machine's.
pub(crate) fn interpreter(outside: &Outside<'_>) -> Result<Python, Ending> {
    let unavailable = |reason| Ending::new(Verdict::Unavailable, reason);
    let (root, files) = (&outside.order.check.root, outside.order.files);
    let list = files.list();
    for at in upwards(root.clone()).flat_map(|folder| ENVIRONMENTS.map(|name| file_in(&folder, name))).flatten() {
        // One that the repository brings is the repository's, and could name any folder of this machine.
        if list.iter().any(|path| holds(&Some(at.clone()), path)) {
            continue;
        }
        let Some(found) = installed(outside.workspace, at).map_err(unavailable)? else { continue };
        if !found.host.join("pyvenv.cfg").is_file() {
            continue;
        }
        let interpreter =
            outside.interpreters.environment(&found.host).map_err(|error| unavailable(error.to_string()))?;
        let real = found.host.strip_prefix(outside.workspace).unwrap_or(&found.host).as_os_str().as_bytes().to_vec();
        let at = TreePath::new(real).map_err(|error| unavailable(error.to_string()))?;
        return Ok(Python { interpreter, environment: Some(Installed { at, host: found.host }) });
    }
    let read = |name| upwards(root.clone()).find_map(|folder| files.read(&file_in(&folder, name)?));
    let pinned = read(".python-version").map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let found = outside.interpreters.python(pinned.as_deref(), outside.workspace);
    let interpreter = found.map_err(|error| unavailable(error.to_string()))?;
    Ok(Python { interpreter, environment: None })
}

/// Runs the tests of a check, or only those in some files.
pub(crate) fn test(outside: &Outside<'_>, only: &[String], watch: &Watch) -> Result<Run, Ending> {
    let Python { interpreter: python, environment } = interpreter(outside)?;
    let (env, args) = arguments(outside.order.check, Tool::Pytest);
    let mut jailed = outside.program(&python.program, environment.as_slice());
    // The environment itself is shown already, with the developer's folder imitated around it.
    let shown = environment.map(|it| Mount::read_only(it.host));
    jailed.mounts.extend(python.mounts.iter().filter(|mount| Some(*mount) != shown.as_ref()).cloned());
    jailed.mounts.push(ours("python/understudy_report.py", PLUGIN));
    let words = [
        "-m",
        "pytest",
        "-p",
        "understudy_report",
        "-o",
        "cache_dir=/tmp/pytest",
        "--maxfail=0",
        "--color=no",
        "--continue-on-collection-errors",
    ];
    let mut jailed = jailed.args(words).args(args).args(only.iter().cloned());
    jailed.env.extend(env.iter().map(|(name, value)| (name.into(), value.into())));
    jailed.env.insert("PYTHONPATH".into(), format!("{OURS}/python").into());
    let mut path = python.program.parent().map(|bin| bin.as_os_str().to_owned()).unwrap_or_default();
    path.push(OsString::from(":/usr/local/bin:/usr/bin:/bin"));
    jailed.env.insert("PATH".into(), path);
    let run = outside.run_reported(Tool::Pytest, jailed, watch)?;
    let said = run.finished.stderr.lossy();
    if said.contains("No module named pytest") {
        let root = outside
            .order
            .check
            .root
            .as_ref()
            .map_or_else(|| "the top of the repository".to_owned(), ToString::to_string);
        let reason = format!("pytest is not installed: make a virtual environment `.venv` with pytest in {root}");
        return Err(Ending::new(Verdict::Unavailable, reason));
    }
    Ok(run)
}
