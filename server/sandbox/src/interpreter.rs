//! Finds node and python on the machine without running anything: not the shims of version managers, which would follow
//! a repository's file, and nothing that lies in the developer's folder.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::policy::Mount;

/// Where interpreters may be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Interpreters {
    /// The user's home, below which version managers keep what they installed.
    pub home: PathBuf,
    /// The folders of the user's `PATH`, in their order.
    pub path: Vec<PathBuf>,
    /// Folders of version managers, each with one installation a subfolder, and where its programs are in that.
    pub managers: Vec<Manager>,
}

/// What one version manager installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manager {
    /// `node` or `python3`.
    pub program: &'static str,
    /// One subfolder an installation, named by its version.
    pub versions: PathBuf,
    /// Where programs are in an installation.
    pub bin: &'static str,
    /// A file with the version that the user chose for everything.
    pub chosen: Option<PathBuf>,
}

/// A program that runs code, with what a jail needs to see of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interpreter {
    /// The program, as it is started inside.
    pub program: PathBuf,
    pub mounts: Vec<Mount>,
    /// The folder of installed packages that belong to it, outside of any project; for python only.
    pub packages: Vec<PathBuf>,
}

/// Why there is no interpreter. The message ends with what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InterpreterError {
    /// None was found.
    #[error(
        "no {program} was found in PATH, nor in the folders of nvm, fnm, volta, asdf, mise, pyenv or uv: install it"
    )]
    None {
        /// Its name.
        program: &'static str,
    },
    /// A folder that looks like a virtual environment, and is none.
    #[error("{folder} is no usable virtual environment ({reason}): make it anew with `python3 -m venv`")]
    Environment {
        /// The folder.
        folder: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
}

impl Interpreters {
    /// As the user's own shell would find them.
    pub fn from_env() -> Self {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let home = PathBuf::from(variable("HOME").unwrap_or_else(|| OsString::from("/")));
        let path = variable("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
        let folder = |name: &str, usual: &str| variable(name).map_or_else(|| home.join(usual), PathBuf::from);
        let pyenv = folder("PYENV_ROOT", ".pyenv");
        let (asdf, mise) = (folder("ASDF_DATA_DIR", ".asdf"), folder("MISE_DATA_DIR", ".local/share/mise"));
        let manager = |program, versions, bin| Manager { program, versions, bin, chosen: None };
        let managers = vec![
            manager("node", folder("NVM_DIR", ".nvm").join("versions/node"), "bin"),
            manager("node", folder("FNM_DIR", ".local/share/fnm").join("node-versions"), "installation/bin"),
            manager("node", folder("VOLTA_HOME", ".volta").join("tools/image/node"), "bin"),
            manager("node", asdf.join("installs/nodejs"), "bin"),
            manager("node", mise.join("installs/node"), "bin"),
            Manager { chosen: Some(pyenv.join("version")), ..manager("python3", pyenv.join("versions"), "bin") },
            manager("python3", asdf.join("installs/python"), "bin"),
            manager("python3", mise.join("installs/python"), "bin"),
            manager("python3", home.join(".local/share/uv/python"), "bin"),
        ];
        Self { home, path, managers }
    }

    /// The user's node. `pinned` is what the repository asks for (`.nvmrc`): it may choose among what is installed, and
    /// is passed over where it is not.
    ///
    /// # Errors
    /// When there is none.
    pub fn node(&self, pinned: Option<&str>, workspace: &Path) -> Result<Interpreter, InterpreterError> {
        let program = self.find("node", pinned, workspace).ok_or(InterpreterError::None { program: "node" })?;
        let mounts = self.shown(&BTreeSet::from([prefix(&program)]), &program, workspace);
        Ok(Interpreter { program, mounts, packages: Vec::new() })
    }

    /// The user's python outside of any virtual environment, chosen likewise.
    ///
    /// # Errors
    /// When there is none.
    pub fn python(&self, pinned: Option<&str>, workspace: &Path) -> Result<Interpreter, InterpreterError> {
        let program = self.find("python3", pinned, workspace).ok_or(InterpreterError::None { program: "python3" })?;
        let mounts = self.shown(&BTreeSet::from([prefix(&program)]), &program, workspace);
        let packages = packages(&prefix(&program));
        Ok(Interpreter { program, mounts, packages })
    }

    /// The python of a virtual environment, which is shown at its own path. Its base installation may lie anywhere.
    ///
    /// # Errors
    /// When the folder is none, or what it was made with is gone.
    pub fn environment(&self, folder: &Path) -> Result<Interpreter, InterpreterError> {
        let broken = |reason| InterpreterError::Environment { folder: folder.to_owned(), reason };
        let text = fs::read_to_string(folder.join("pyvenv.cfg")).map_err(|_| broken("it has no pyvenv.cfg"))?;
        let home = text.lines().filter_map(|line| line.split_once('=')).find(|(key, _)| key.trim() == "home");
        let home = home.map(|(_, home)| PathBuf::from(home.trim())).filter(|home| home.is_absolute());
        let home = home.ok_or_else(|| broken("its pyvenv.cfg names no home"))?;
        let program = folder.join("bin/python");
        let real = program.canonicalize().map_err(|_| broken("the python that it was made with is gone"))?;
        if !is_program(&real) {
            return Err(broken("its python is no program"));
        }
        // Every installation that the links of the program pass through, and the one that is written in its file.
        let mut roots = BTreeSet::from([prefix(&real), home.parent().unwrap_or(&home).to_owned()]);
        let mut at = program.clone();
        for _ in 0..16 {
            let Ok(target) = fs::read_link(&at) else { break };
            at = at.parent().unwrap_or(Path::new("/")).join(target);
            if !at.starts_with(folder) {
                roots.insert(prefix(&at));
            }
        }
        let mut mounts = self.shown(&roots, &real, folder);
        mounts.push(Mount::read_only(folder));
        Ok(Interpreter { program, mounts, packages: Vec::new() })
    }

    fn find(&self, name: &'static str, pinned: Option<&str>, workspace: &Path) -> Option<PathBuf> {
        let pinned = pinned.map(str::trim).filter(|text| is_version(text));
        let managers = || self.managers.iter().filter(|manager| manager.program == name);
        if let Some(program) = pinned.and_then(|version| managers().find_map(|manager| manager.installed(version))) {
            return Some(program);
        }
        for folder in self.path.iter().filter(|folder| folder.is_absolute() && !folder.starts_with(workspace)) {
            let Ok(real) = folder.join(name).canonicalize() else { continue };
            if is_program(&real)
                && !real.starts_with(workspace)
                && real.file_name().is_some_and(|it| {
                    // A version manager's own program under another name is no interpreter.
                    it.to_string_lossy().starts_with(name.trim_end_matches('3'))
                })
            {
                return Some(real);
            }
            if folder.ends_with("shims") {
                // Whoever has shims in front means the version that their manager was told to use.
                break;
            }
        }
        managers().find_map(Manager::preferred).or_else(|| {
            let system = ["/usr/local/bin", "/usr/bin"].map(|folder| Path::new(folder).join(name));
            system.iter().filter_map(|path| path.canonicalize().ok()).find(|path| is_program(path))
        })
    }

    /// Mounts for these installations. One whose folder also holds a home or the developer's files is shown in the parts
    /// that python needs.
    fn shown(&self, roots: &BTreeSet<PathBuf>, program: &Path, workspace: &Path) -> Vec<Mount> {
        let mut mounts = Vec::new();
        for root in roots {
            let Ok(host) = root.canonicalize() else { continue };
            if [Path::new("/usr"), Path::new("/nix/store")].iter().any(|shown| host.starts_with(shown)) {
                continue;
            }
            let holds = |folder: &Path| folder.starts_with(&host);
            let wide =
                holds(&self.home) || holds(workspace) || host.ends_with(".local") || host.components().count() < 3;
            let parts: Vec<PathBuf> = if !wide {
                vec![PathBuf::new()]
            } else if program.starts_with(&host) {
                let mut parts = libraries(&host);
                parts.extend(program.strip_prefix(&host).ok().map(Path::to_owned));
                parts
            } else {
                Vec::new()
            };
            for part in parts {
                let join = |base: &Path| if part.as_os_str().is_empty() { base.to_owned() } else { base.join(&part) };
                mounts.push(Mount::ReadOnly { host: join(&host), inside: join(&host) });
                if *root != host {
                    mounts.push(Mount::ReadOnly { host: join(&host), inside: join(root) });
                }
            }
        }
        mounts
    }
}

impl Manager {
    /// The program of an installed version; the latest one that begins with what is asked for.
    fn installed(&self, version: &str) -> Option<PathBuf> {
        let wanted: Vec<u64> = numbers(version);
        let mut found: Vec<(Vec<u64>, PathBuf)> = self.all();
        found.retain(|(version, _)| version.starts_with(&wanted));
        found.pop().map(|(_, program)| program)
    }

    fn preferred(&self) -> Option<PathBuf> {
        let chosen = self.chosen.as_ref().and_then(|file| fs::read_to_string(file).ok());
        let chosen = chosen.as_deref().and_then(|text| text.lines().next()).map(str::trim);
        chosen
            .filter(|text| is_version(text))
            .and_then(|version| self.installed(version))
            .or_else(|| self.all().pop().map(|it| it.1))
    }

    /// Every installed program with its version, the latest last.
    fn all(&self) -> Vec<(Vec<u64>, PathBuf)> {
        let entries = fs::read_dir(&self.versions).into_iter().flatten().flatten();
        let mut found: Vec<(Vec<u64>, PathBuf)> = entries
            .filter_map(|entry| {
                let version = numbers(&entry.file_name().to_string_lossy());
                let program = entry.path().join(self.bin).join(self.program).canonicalize().ok()?;
                (!version.is_empty() && is_program(&program)).then_some((version, program))
            })
            .collect();
        found.sort();
        found
    }
}

/// The numbers of a version, which a name may stand in front of: `v20.11.1`, `cpython-3.12.4-linux`.
fn numbers(text: &str) -> Vec<u64> {
    let text = text.trim_start_matches(|c: char| !c.is_ascii_digit());
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text[..end].split('.').map_while(|part| part.parse().ok()).collect()
}

fn is_version(text: &str) -> bool {
    let text = text.strip_prefix('v').unwrap_or(text);
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '.')
}

/// The installation of a program: the folder above its `bin`.
fn prefix(program: &Path) -> PathBuf {
    program.parent().and_then(Path::parent).unwrap_or(Path::new("/")).to_owned()
}

/// What python needs of an installation whose folder holds other things too.
fn libraries(root: &Path) -> Vec<PathBuf> {
    let mut parts = Vec::new();
    for folder in ["lib", "lib64"] {
        let entries = fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let wanted = names.filter(|name| name.starts_with("python3") || name.starts_with("libpython3"));
        parts.extend(wanted.map(|name| Path::new(folder).join(name)));
    }
    parts
}

/// Where an installation keeps packages.
fn packages(root: &Path) -> Vec<PathBuf> {
    let versions = libraries(root).into_iter().map(|part| root.join(part));
    let folders = versions.flat_map(|folder| ["site-packages", "dist-packages"].map(|name| folder.join(name)));
    folders.filter(|folder| folder.is_dir()).collect()
}

/// Whether a file is a program and no script.
fn is_program(path: &Path) -> bool {
    let mut magic = [0; 4];
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && magic == *b"\x7fELF"
}

#[cfg(test)]
#[path = "interpreter_tests.rs"]
mod tests;
