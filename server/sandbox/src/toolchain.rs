//! Finds the Rust toolchain that a command needs without running anything: not rustup, whose proxies would follow a
//! repository's file to any program, and not cargo.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use crate::policy::Mount;

/// Where rustup and the system keep toolchains, and which one the user prefers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RustHome {
    /// rustup's folder; need not exist.
    pub rustup: PathBuf,
    /// The folder of a Rust that the system's packages installed, normally `/usr`; need not have one.
    pub system: PathBuf,
    /// The user's own choice for everything (`RUSTUP_TOOLCHAIN`).
    pub forced: Option<String>,
}

impl RustHome {
    /// As rustup itself would find it: `RUSTUP_HOME`, else `.rustup` in `HOME`.
    pub fn from_env() -> RustHome {
        let rustup = env::var_os("RUSTUP_HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
        let home = || PathBuf::from(env::var_os("HOME").unwrap_or_else(|| "/".into()));
        RustHome {
            rustup: rustup.unwrap_or_else(|| home().join(".rustup")),
            system: "/usr".into(),
            forced: env::var("RUSTUP_TOOLCHAIN").ok().filter(|name| !name.is_empty()),
        }
    }
}

/// An installed toolchain. All paths are absolute, without links, and the same inside the jail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toolchain {
    /// Its full name, such as `stable-x86_64-unknown-linux-gnu`, or `system`.
    pub name: String,
    /// Its folder, the sysroot.
    pub root: PathBuf,
    /// The `cargo` program.
    pub cargo: PathBuf,
    /// The `rustc` program.
    pub rustc: PathBuf,
    /// The program that expands procedural macros for rust-analyzer.
    pub proc_macro_server: Option<PathBuf>,
    /// The `library` folder of the standard library's sources; `None` if the component `rust-src` is missing, for
    /// which [`Toolchain::rust_src_remedy`] says what to do.
    pub library: Option<PathBuf>,
}

/// Why no toolchain can be used. The message ends with what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolchainError {
    /// There is none at all.
    #[error("no Rust toolchain was found in {rustup} or {system}: install one with `rustup toolchain install stable`")]
    None {
        /// rustup's folder.
        rustup: PathBuf,
        /// The system's folder.
        system: PathBuf,
    },
    /// The wanted one is not installed.
    #[error("the toolchain `{channel}` is not installed: run `rustup toolchain install {channel}`")]
    NotInstalled {
        /// What was asked for.
        channel: String,
    },
    /// The repository names a toolchain by path: it could name any program.
    #[error("the repository's rust-toolchain file names a toolchain by path, which is refused: name a channel instead")]
    PathRefused,
    /// The repository's file says nothing that can be understood.
    #[error("the repository's rust-toolchain file is malformed: {reason}")]
    Malformed {
        /// What is wrong.
        reason: String,
    },
    /// rustup's settings cannot be read.
    #[error("{path} cannot be read: run `rustup default stable` to write it anew")]
    Settings {
        /// The settings file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// A folder of a toolchain without its programs.
    #[error("the toolchain `{name}` has no {program}: run `rustup toolchain install {name}` again")]
    Incomplete {
        /// The toolchain.
        name: String,
        /// The missing program.
        program: &'static str,
    },
}

impl Toolchain {
    /// What a jail needs to see of it: nothing if it lies in a folder that every jail shows.
    pub fn mounts(&self) -> Vec<Mount> {
        let shown = self.root.starts_with("/usr") || self.root.starts_with("/nix/store");
        if shown { Vec::new() } else { vec![Mount::read_only(&self.root)] }
    }

    /// The value of `PATH` that makes `cargo` and `rustc` its own.
    pub fn path_variable(&self) -> OsString {
        let mut path = self.root.join("bin").into_os_string();
        path.push(":/usr/local/bin:/usr/bin:/bin");
        path
    }

    /// The command that adds the standard library's sources.
    pub fn rust_src_remedy(&self) -> String {
        if self.name == "system" {
            "install your distribution's package with the Rust sources (such as `rust-src`)".to_owned()
        } else {
            format!("rustup component add rust-src --toolchain {}", self.name)
        }
    }
}

/// The toolchain for a folder. In rustup's own order: what the user forces, the user's override for the folder or the
/// nearest one above it, the repository's `rust-toolchain` or `rust-toolchain.toml` (its bytes, as `pinned`), the
/// default; the system's where rustup has none.
pub fn rust_toolchain(home: &RustHome, folder: &Path, pinned: Option<&[u8]>) -> Result<Toolchain, ToolchainError> {
    // Asked first: a file that names a path is refused even where something else would take precedence.
    let pinned = pinned.map(channel_of).transpose()?.flatten();
    let settings = settings(&home.rustup)?;
    let text = |key: &str| settings.get(key).and_then(toml::Value::as_str).map(str::to_owned);
    let overridden = settings.get("overrides").and_then(toml::Value::as_table).and_then(|overrides| {
        folder.ancestors().find_map(|above| overrides.get(above.to_str()?)?.as_str().map(str::to_owned))
    });
    let toolchains = home.rustup.join("toolchains");
    let wanted = home.forced.clone().or(overridden).or(pinned);
    let Some(channel) = wanted.clone().or_else(|| text("default_toolchain")) else { return system(home) };
    let triple = text("default_host_triple").unwrap_or_else(host_triple);
    match installed(&toolchains, &channel, &triple) {
        Some((name, root)) => examine(name, root, "lib"),
        // A system's own cargo ignores the repository's file, and so does everybody who uses it.
        None if !toolchains.is_dir() => system(home).map_err(|_| ToolchainError::NotInstalled { channel }),
        None => Err(ToolchainError::NotInstalled { channel }),
    }
}

/// The channel that a toolchain file asks for; `None` if it leaves the choice open.
fn channel_of(file: &[u8]) -> Result<Option<String>, ToolchainError> {
    let malformed = |reason: &str| ToolchainError::Malformed { reason: reason.to_owned() };
    let text =
        std::str::from_utf8(file).map_err(|_| malformed("it is not UTF-8"))?.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err(malformed("it is empty"));
    }
    // The old form is one line with a name and nothing else.
    if !text.contains(['\n', '[', '=']) {
        return proper(text).map(Some);
    }
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| malformed(error.message()))?;
    let section = table.get("toolchain").and_then(toml::Value::as_table);
    let section = section.ok_or_else(|| malformed("it has no table [toolchain]"))?;
    if section.contains_key("path") {
        return Err(ToolchainError::PathRefused);
    }
    match section.get("channel") {
        Some(toml::Value::String(channel)) => proper(channel).map(Some),
        Some(_) => Err(malformed("`channel` is not a string")),
        None => Ok(None),
    }
}

/// A channel is a name: it becomes part of a path.
fn proper(channel: &str) -> Result<String, ToolchainError> {
    if channel.starts_with(['/', '.']) || channel.contains('/') {
        return Err(ToolchainError::PathRefused);
    }
    let good = |character: char| character.is_ascii_alphanumeric() || "._-+".contains(character);
    if channel.is_empty() || channel.len() > 128 || !channel.chars().all(good) {
        return Err(ToolchainError::Malformed { reason: format!("{channel:?} is not the name of a toolchain") });
    }
    Ok(channel.to_owned())
}

fn settings(rustup: &Path) -> Result<toml::Table, ToolchainError> {
    let path = rustup.join("settings.toml");
    match fs::read_to_string(&path) {
        Ok(text) => text.parse().map_err(|error: toml::de::Error| ToolchainError::Settings {
            path,
            source: io::Error::new(io::ErrorKind::InvalidData, error),
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(toml::Table::new()),
        Err(source) => Err(ToolchainError::Settings { path, source }),
    }
}

/// The installed toolchain of a channel: under that name, with the machine's triple added, or, for a version without a
/// patch number, the latest patch release.
fn installed(toolchains: &Path, channel: &str, triple: &str) -> Option<(String, PathBuf)> {
    let folder =
        |name: String| toolchains.join(&name).canonicalize().ok().filter(|path| path.is_dir()).map(|path| (name, path));
    folder(channel.to_owned()).or_else(|| folder(format!("{channel}-{triple}"))).or_else(|| {
        let patch = |name: &str| -> Option<u32> {
            name.strip_prefix(channel)?.strip_prefix('.')?.strip_suffix(triple)?.strip_suffix('-')?.parse().ok()
        };
        let names = fs::read_dir(toolchains).ok()?.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        names.filter_map(|name| Some((patch(&name)?, name))).max().and_then(|(_, name)| folder(name))
    })
}

fn examine(name: String, root: PathBuf, libraries: &str) -> Result<Toolchain, ToolchainError> {
    let program = |path: String| Some(root.join(path)).filter(|path| path.is_file());
    let missing = |program| ToolchainError::Incomplete { name: name.clone(), program };
    let cargo = program("bin/cargo".into()).ok_or_else(|| missing("cargo"))?;
    let rustc = program("bin/rustc".into()).ok_or_else(|| missing("rustc"))?;
    let proc_macro_server = program("libexec/rust-analyzer-proc-macro-srv".into())
        .or_else(|| program(format!("{libraries}/rust-analyzer-proc-macro-srv")));
    let library = root.join(libraries).join("rustlib/src/rust/library");
    let library = Some(library).filter(|library| library.join("core/src/lib.rs").is_file());
    Ok(Toolchain { name, cargo, rustc, proc_macro_server, library, root })
}

/// The one that the distribution's packages installed.
fn system(home: &RustHome) -> Result<Toolchain, ToolchainError> {
    let none = || ToolchainError::None { rustup: home.rustup.clone(), system: home.system.clone() };
    let root = home.system.canonicalize().map_err(|_| none())?;
    // Some distributions install rustup's proxies there, which are no toolchain.
    let proxy = root
        .join("bin/cargo")
        .canonicalize()
        .is_ok_and(|cargo| cargo.file_name().is_some_and(|name| name.to_string_lossy().starts_with("rustup")));
    if proxy {
        return Err(none());
    }
    let libraries = if root.join("lib64/rustlib").is_dir() { "lib64" } else { "lib" };
    examine("system".to_owned(), root, libraries).map_err(|_| none())
}

fn host_triple() -> String {
    let environment = if cfg!(target_env = "musl") { "musl" } else { "gnu" };
    format!("{}-unknown-linux-{environment}", env::consts::ARCH)
}

#[cfg(test)]
#[path = "toolchain_tests.rs"]
mod tests;
