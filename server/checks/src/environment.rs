//! What a result depends on besides the tree, in one digest; and the lock file of trees that have none.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use sandbox::{CancelToken, Jailed, Keep, Output};
use task::{Check, Digest, TreePath, Verdict};

use crate::commands::{Commands, Ending, first_error, unavailable};
use crate::files::Files;
use crate::folder::{file_in, upwards};
use crate::run::Runner;
use crate::tool::Tool;
use crate::tools::Tools;

/// What commands of a workspace run in, beyond the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    pub digest: Digest,
    /// `rustc 1.95.0 (59807616e 2026-04-14)`, `node v20.11.1`, `Python 3.12.1`
    pub toolchain: String,
    /// `x86_64-unknown-linux-gnu`; empty where nothing is compiled.
    pub target: String,
}

/// A compiler that needs longer to say its version does not work.
const LONGEST_WORD: Duration = Duration::from_secs(60);

/// What the toolchain says of itself.
#[derive(Debug, Clone)]
pub(crate) struct Machine {
    pub version: String,
    pub cfg: String,
    pub host: String,
}

/// Why an environment could not be described, or a lock not be generated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct EnvironmentError {
    /// The word for it: unavailable, timeout, infrastructure, not run (cancelled), failed.
    pub verdict: Verdict,
    /// One sentence.
    pub reason: String,
}

impl From<Ending> for EnvironmentError {
    fn from(ending: Ending) -> Self {
        Self { verdict: ending.verdict, reason: ending.reason }
    }
}

impl Runner {
    /// Describes what a check runs in. `provisioned` are the files that are in the shadow but not in
    /// the tree (a generated lock, files of `.worktreeinclude`, submodules), with the digests of their bytes.
    ///
    /// # Errors
    /// When the toolchain does not run in the sandbox, or what the check needs is not installed.
    pub fn environment(
        &self,
        files: &dyn Files,
        check: &Check,
        provisioned: &[(TreePath, Digest)],
        shadow: &Path,
        remaining: Duration,
        cancel: &CancelToken,
    ) -> Result<Environment, EnvironmentError> {
        match Tool::of(check) {
            Some(Tool::Cargo) => {}
            Some(tool) => {
                return self.environment_outside(files, (check, tool), provisioned, shadow, remaining, cancel);
            }
            None => return Err(Ending::new(Verdict::Unavailable, "its results cannot be read").into()),
        }
        let root = &check.root;
        let tools = self.rust()?;
        let commands = Commands::new(&*self.jail, tools, shadow, remaining.min(LONGEST_WORD), cancel);
        let machine = self.machine(&commands)?;
        let mut parts: Vec<Vec<u8>> = vec![machine.version.clone().into(), machine.cfg.clone().into()];
        parts.extend(variables(&tools.env));
        parts.push(tools.configuration.clone());
        parts.extend(named(provisioned));
        const READ_BY_CARGO: [&str; 4] =
            [".cargo/config.toml", ".cargo/config", "rust-toolchain.toml", "rust-toolchain"];
        let above = upwards(root.clone()).flat_map(|folder| READ_BY_CARGO.map(|name| file_in(&folder, name)));
        for path in above.chain([file_in(root, "Cargo.lock")]).flatten() {
            if let Some(bytes) = files.read(&path) {
                parts.push(path.as_bytes().to_vec());
                parts.push(bytes);
            }
        }
        Ok(Environment {
            digest: Digest::of(parts),
            toolchain: machine.version.lines().next().unwrap_or_default().to_owned(),
            target: machine.host.clone(),
        })
    }

    /// Generates the lock file of a workspace that has none, from what is in cargo's caches. The caller keeps the bytes,
    /// puts them into every shadow whose tree has the same [`crate::lock_inputs`], and counts them as provisioned.
    ///
    /// # Errors
    /// When a dependency is not in the caches, or the manifests are wrong.
    pub fn generate_lock(
        &self,
        shadow: &Path,
        root: &Option<TreePath>,
        remaining: Duration,
        cancel: &CancelToken,
    ) -> Result<Vec<u8>, EnvironmentError> {
        let commands = Commands::new(&*self.jail, self.rust()?, shadow, remaining, cancel);
        let cargo = commands.cargo(root, "generate-lockfile", &[]);
        let finished = commands.run("cargo generate-lockfile", cargo)?;
        if !finished.outcome.success() {
            let said = finished.stderr.lossy();
            let missing = unavailable(&said);
            let verdict = if missing.is_some() { Verdict::Unavailable } else { Verdict::Failed };
            let reason = missing.unwrap_or_else(|| first_error(&said));
            return Err(EnvironmentError { verdict, reason: format!("no Cargo.lock could be generated: {reason}") });
        }
        // Read inside: the shadow is written by us and never read back.
        let mut cat = commands.program(Path::new("/bin/cat"), &commands.folder(root)).arg("Cargo.lock");
        cat.stdout = Output::Captured(Keep::all());
        let finished = commands.run("reading Cargo.lock", cat)?;
        if !finished.outcome.success() {
            let reason = format!("the generated Cargo.lock cannot be read: {}", finished.outcome);
            return Err(EnvironmentError { verdict: Verdict::Infrastructure, reason });
        }
        Ok(finished.stdout.bytes().into_owned())
    }

    pub(crate) fn machine(&self, commands: &Commands<'_>) -> Result<Machine, Ending> {
        if let Some(machine) = self.machine.get() {
            return Ok(machine.clone());
        }
        let ask = |args: &[&str]| -> Result<String, Ending> {
            let rustc = bare(commands.tools, commands.shadow).args(args.iter().copied());
            let finished = commands.run("rustc", rustc)?;
            if !finished.outcome.success() {
                let reason = format!("the toolchain does not run: {}", first_error(&finished.stderr.lossy()));
                return Err(Ending::new(Verdict::Unavailable, reason));
            }
            Ok(finished.stdout.lossy().to_string())
        };
        let version = ask(&["-vV"])?;
        let cfg = ask(&["--print", "cfg"])?;
        let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default().to_owned();
        let machine = Machine { version, cfg, host };
        Ok(self.machine.get_or_init(|| machine).clone())
    }
}

/// `rustc` where nothing of the repository can speak for it.
fn bare(tools: &Tools, shadow: &Path) -> Jailed {
    let mut jailed = Jailed::new(&tools.rustc, "/tmp");
    jailed.env.extend(tools.env.clone());
    jailed.mounts.clone_from(&tools.mounts);
    debug_assert!(!tools.rustc.starts_with(shadow), "the toolchain comes from the machine");
    jailed
}

/// Path and digest of every provisioned file.
pub(crate) fn named(provisioned: &[(TreePath, Digest)]) -> Vec<Vec<u8>> {
    let mut sorted = provisioned.to_vec();
    sorted.sort();
    sorted.into_iter().flat_map(|(path, digest)| [path.as_bytes().to_vec(), digest.as_str().into()]).collect()
}

/// Name and value of every variable that commands get.
pub(crate) fn variables(more: &BTreeMap<OsString, OsString>) -> impl Iterator<Item = Vec<u8>> + use<> {
    use std::os::unix::ffi::OsStringExt as _;
    let mut all = Jailed::default_env();
    all.extend(more.clone());
    all.into_iter().flat_map(|(name, value)| [name.into_vec(), value.into_vec()])
}
