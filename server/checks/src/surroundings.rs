//! What results of npm and python depend on besides the tree: the interpreter, lock files, what is installed.

use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::Duration;

use sandbox::{CancelToken, Interpreter, Jailed, Keep, Limits, Output};
use task::{Check, Digest, TreeId, TreePath, Verdict};

use crate::commands::{Ending, run_within};
use crate::environment::{Environment, EnvironmentError, named, variables};
use crate::files::Files;
use crate::folder::{file_in, upwards};
use crate::installed::fingerprint;
use crate::order::Order;
use crate::outside::Outside;
use crate::run::Runner;
use crate::tool::{Ecosystem, Tool};
use crate::{npm, python};

/// An interpreter that needs longer to say its version does not work.
const LONGEST_WORD: Duration = Duration::from_secs(60);
/// Before this version of node a reporter is not told which file a test stands in.
const OLDEST_NODE: u32 = 20;

impl Runner {
    pub(crate) fn environment_outside(
        &self,
        files: &dyn Files,
        (check, tool): (&Check, Tool),
        provisioned: &[(TreePath, Digest)],
        shadow: &Path,
        remaining: Duration,
        cancel: &CancelToken,
    ) -> Result<Environment, EnvironmentError> {
        // Only what an order says about the tree is looked at.
        let tree: TreeId =
            "0".repeat(40).parse().map_err(|_| Ending::new(Verdict::Infrastructure, "no id is all zeros"))?;
        let nothing = Digest::of([""]);
        let order = Order {
            check,
            tree: &tree,
            files,
            shadow,
            build: shadow,
            proof: false,
            environment: &nothing,
            base: None,
            remaining: remaining.min(LONGEST_WORD),
        };
        let outside = self.outside(&order, cancel);
        let (interpreter, installed): (Interpreter, Vec<PathBuf>) = match tool.ecosystem() {
            Ecosystem::Npm => {
                let installed = npm::installed(&outside)?;
                (npm::node(&outside, &check.root)?, installed.into_iter().map(|it| it.host).collect())
            }
            _ => {
                let python::Python { interpreter, environment } = python::interpreter(&outside)?;
                let packages = interpreter.packages.clone();
                (interpreter, environment.map(|it| it.host).into_iter().chain(packages).collect())
            }
        };
        let version = self.version(&outside, &interpreter)?;
        if tool == Tool::Node && major(&version).is_some_and(|major| major < OLDEST_NODE) {
            let reason =
                format!("node {version} does not tell which file a test stands in: use node {OLDEST_NODE} or later");
            return Err(Ending::new(Verdict::Unavailable, reason).into());
        }
        let mut parts: Vec<Vec<u8>> = vec![version.clone().into()];
        parts.extend(variables(&Default::default()));
        parts.extend(named(provisioned));
        parts.push(fingerprint(&installed).as_str().into());
        let locks: Vec<&str> = match tool.ecosystem() {
            Ecosystem::Npm => npm::LOCKS.iter().map(|(name, _)| *name).collect(),
            _ => python::LOCKS.to_vec(),
        };
        for path in
            upwards(check.root.clone()).flat_map(|folder| locks.iter().filter_map(move |name| file_in(&folder, name)))
        {
            if let Some(bytes) = files.read(&path) {
                parts.extend([path.as_bytes().to_vec(), bytes]);
            }
        }
        let word = if tool.ecosystem() == Ecosystem::Npm { "node " } else { "" };
        let toolchain = format!("{word}{}", version.lines().next().unwrap_or_default());
        Ok(Environment { digest: Digest::of(parts), toolchain, target: String::new() })
    }

    /// What an interpreter says of itself, where nothing of the repository can speak for it.
    fn version(&self, outside: &Outside<'_>, interpreter: &Interpreter) -> Result<String, Ending> {
        let known = |runner: &Self| {
            let versions = runner.versions.lock().unwrap_or_else(PoisonError::into_inner);
            versions.get(&interpreter.program).cloned()
        };
        if let Some(version) = known(self) {
            return Ok(version);
        }
        let mut jailed = Jailed::new(&interpreter.program, "/tmp").arg("--version");
        jailed.mounts.clone_from(&interpreter.mounts);
        jailed.stdout = Output::Captured(Keep::all());
        jailed.limits = Limits::within(LONGEST_WORD);
        let what = interpreter.program.to_string_lossy().into_owned();
        let finished = run_within(outside.jail, outside.cancel, outside.deadline, &what, jailed)?;
        if !finished.outcome.success() {
            let said = task::printable(finished.stderr.lossy().lines().next().unwrap_or_default());
            return Err(Ending::new(Verdict::Unavailable, format!("{what} does not run: {} {said}", finished.outcome)));
        }
        let version = finished.stdout.lossy().trim().to_owned();
        let mut versions = self.versions.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(versions.entry(interpreter.program.clone()).or_insert(version).clone())
    }
}

/// The first number of `v20.11.1`.
fn major(version: &str) -> Option<u32> {
    version.trim_start_matches('v').split('.').next()?.parse().ok()
}
