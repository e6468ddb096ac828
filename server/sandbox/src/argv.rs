//! Policy to bubblewrap arguments, as a pure function: everything that makes the jail a jail is in this file and its
//! rules are properties that are tested.
//!
//! The rules: every folder above a mount point is made in the same call, so that nothing an earlier command wrote can
//! lead the creation of a mount point elsewhere (CVE-2026-87766); nothing is mounted below something that is mounted
//! from the host; no option that opens the jail can come out. A filter for system calls belongs in front of the final
//! `--remount-ro`, as one more descriptor.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::host::Layout;
use crate::policy::{HOME, Jailed, Mount};

const PASSWD: &str = "agent:x:1000:1000:agent:/home/agent:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n";
const GROUP: &str = "agent:x:1000:\nnogroup:x:65534:\n";
const HOSTS: &str = "127.0.0.1 localhost sandbox\n::1 localhost\n";
const NSSWITCH: &str = "passwd: files\ngroup: files\nhosts: files\n";

/// One operation of bubblewrap, in the order in which it is carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Folder(PathBuf),
    Link {
        target: PathBuf,
        link: PathBuf,
    },
    Memory {
        at: PathBuf,
        bytes: u64,
        mode: &'static str,
    },
    System(PathBuf),
    Proc,
    Dev,
    Bind {
        host: PathBuf,
        inside: PathBuf,
        writable: bool,
    },
    /// A mount of its own, which stays read-only in a folder that can be written.
    Data {
        inside: PathBuf,
        data: Arc<[u8]>,
    },
    /// Part of the root in memory, read-only with it; no mount, so it costs next to nothing.
    Copy {
        inside: PathBuf,
        data: Arc<[u8]>,
    },
    ReadOnlyFromHere(PathBuf),
}

/// Why a policy is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// A path that is not absolute, or contains `.`, `..`, empty parts or NUL.
    #[error("the path {path:?} in the sandbox policy is not absolute and plain: resolve it first")]
    Path {
        /// The path.
        path: PathBuf,
    },
    /// A mount point that belongs to the system part of the jail.
    #[error("nothing can be mounted at {path:?}: the sandbox itself provides it")]
    Reserved {
        /// The mount point.
        path: PathBuf,
    },
    /// Two mounts at one place, or one below another that comes from the host.
    #[error("{path:?} cannot be mounted below {below:?}, which comes from the host: mount it elsewhere")]
    Below {
        /// The mount point.
        path: PathBuf,
        /// The mount above it, or the same path for a duplicate.
        below: PathBuf,
    },
    /// A program, argument or variable with a NUL, or a variable without a proper name.
    #[error("{what} of the sandboxed command is empty or contains a character that no process can be given")]
    Text {
        /// Which text.
        what: &'static str,
    },
    /// A number out of range.
    #[error("{what} in the sandbox policy is out of range")]
    Range {
        /// Which number.
        what: &'static str,
    },
    /// A descriptor that is neither a pipe nor a socket.
    #[error("descriptor {number} of the sandboxed command is neither a pipe nor a socket: it could lead outside")]
    Descriptor {
        /// Its number inside.
        number: RawFd,
    },
}

/// The steps that build the jail of a policy on a machine with the given layout.
pub(crate) fn plan(jailed: &Jailed, layout: &Layout) -> Result<Vec<Step>, PolicyError> {
    check_command(jailed)?;
    let limits = &jailed.limits;
    let mut build = Build::default();
    for folder in &layout.folders {
        build.mount_point(folder, Step::System(folder.clone()));
    }
    for (target, link) in &layout.links {
        build.sealed.insert(link.clone());
        build.steps.push(Step::Link { target: target.clone(), link: link.clone() });
    }
    build.folder(Path::new("/etc"));
    for path in &layout.etc {
        build.mount_point(path, Step::System(path.clone()));
    }
    for (name, text) in [("passwd", PASSWD), ("group", GROUP), ("hosts", HOSTS), ("nsswitch.conf", NSSWITCH)] {
        let inside = Path::new("/etc").join(name);
        build.mount_point(&inside, Step::Copy { inside: inside.clone(), data: text.as_bytes().into() });
    }
    // Read-only as a whole: while we run as root, the kernel takes the command for the owner of `/proc/sys`, and one
    // line in `core_pattern` would be a way to run programs outside.
    build.steps.extend([Step::Proc, Step::ReadOnlyFromHere("/proc".into()), Step::Dev]);
    // bubblewrap's own /dev is unbounded memory that anyone may fill.
    build.steps.push(Step::Memory { at: "/dev/shm".into(), bytes: 64 << 20, mode: "1777" });
    build.steps.push(Step::ReadOnlyFromHere("/dev".into()));
    build.sealed.extend([PathBuf::from("/proc"), PathBuf::from("/dev")]);
    build.memory(Path::new("/tmp"), limits.tmp_bytes, "1777");
    build.memory(Path::new("/home"), limits.home_bytes, "0755");
    build.folder(Path::new(HOME));

    let mut mounts: Vec<&Mount> = jailed.mounts.iter().collect();
    // Parents first, whatever order the caller chose.
    mounts.sort_by_key(|mount| mount.inside().components().count());
    for mount in mounts {
        build.mount(mount, layout)?;
    }
    build.steps.push(Step::ReadOnlyFromHere("/".into()));
    Ok(build.steps)
}

#[derive(Default)]
struct Build {
    steps: Vec<Step>,
    /// Folders in memory that this call made: mount points may lie directly below them.
    made: BTreeSet<PathBuf>,
    /// Everything that comes from the host or from bubblewrap: nothing may lie below it.
    sealed: BTreeSet<PathBuf>,
    /// Mount points of the policy that are folders in memory: below them is fine, on them is a duplicate.
    taken: BTreeSet<PathBuf>,
}

impl Build {
    fn mount(&mut self, mount: &Mount, layout: &Layout) -> Result<(), PolicyError> {
        let inside = mount.inside();
        plain(inside)?;
        if let Mount::Hidden { .. } = mount {
            return self.hide(inside, layout);
        }
        let system = ["/", "/etc", "/tmp", "/home", HOME];
        if system.iter().any(|path| inside == Path::new(path)) || inside.starts_with("/etc") {
            return Err(PolicyError::Reserved { path: inside.into() });
        }
        if let Some(below) = inside.ancestors().find(|above| self.sealed.contains(*above)) {
            return Err(PolicyError::Below { path: inside.into(), below: below.into() });
        }
        // Only an ancestor that was made for another mount can be taken: mounting over it would hide that mount.
        if self.taken.contains(inside) || self.made.contains(inside) {
            return Err(PolicyError::Below { path: inside.into(), below: inside.into() });
        }
        match mount {
            Mount::ReadOnly { host, .. } | Mount::Writable { host, .. } => {
                plain(host)?;
                let writable = matches!(mount, Mount::Writable { .. });
                self.mount_point(inside, Step::Bind { host: host.clone(), inside: inside.into(), writable });
            }
            Mount::File { data, .. } => {
                self.mount_point(inside, Step::Data { inside: inside.into(), data: Arc::clone(data) });
            }
            Mount::Scratch { bytes, .. } => {
                if *bytes == 0 {
                    return Err(PolicyError::Range { what: "the size of a scratch folder" });
                }
                self.memory(inside, *bytes, "0755");
                self.taken.insert(inside.into());
            }
            Mount::Link { target, .. } => {
                plain(target)?;
                self.mount_point(inside, Step::Link { target: target.clone(), link: inside.into() });
            }
            Mount::Hidden { .. } => {}
        }
        Ok(())
    }

    /// Lays an empty folder over one that a system folder shows. The folder exists there and only root can exchange
    /// it, which is why the rule about mounts below mounts can be lifted for it.
    fn hide(&mut self, inside: &Path, layout: &Layout) -> Result<(), PolicyError> {
        let shown = layout.folders.iter().any(|folder| inside != folder && inside.starts_with(folder));
        if shown && layout.hideable.iter().any(|folder| folder == inside) {
            self.steps.push(Step::Memory { at: inside.into(), bytes: 4096, mode: "0755" });
            self.steps.push(Step::ReadOnlyFromHere(inside.into()));
        }
        Ok(())
    }

    fn mount_point(&mut self, inside: &Path, step: Step) {
        self.ancestors(inside);
        self.sealed.insert(inside.into());
        self.steps.push(step);
    }

    fn memory(&mut self, at: &Path, bytes: u64, mode: &'static str) {
        self.ancestors(at);
        self.made.insert(at.into());
        self.steps.push(Step::Memory { at: at.into(), bytes, mode });
    }

    fn folder(&mut self, path: &Path) {
        self.ancestors(path);
        if self.made.insert(path.into()) {
            self.steps.push(Step::Folder(path.into()));
        }
    }

    fn ancestors(&mut self, path: &Path) {
        let mut missing: Vec<&Path> =
            path.ancestors().skip(1).filter(|above| *above != Path::new("/") && !self.made.contains(*above)).collect();
        while let Some(above) = missing.pop() {
            self.made.insert(above.into());
            self.steps.push(Step::Folder(above.into()));
        }
    }
}

/// Absolute, without `.`, `..`, empty parts or NUL: what the kernel resolves is what we compared.
fn plain(path: &Path) -> Result<(), PolicyError> {
    let bytes = path.as_os_str().as_bytes();
    let good = bytes.len() > 1
        && bytes[0] == b'/'
        && !bytes.contains(&0)
        && bytes[1..].split(|byte| *byte == b'/').all(|part| !matches!(part, b"" | b"." | b".."));
    if good { Ok(()) } else { Err(PolicyError::Path { path: path.into() }) }
}

fn check_command(jailed: &Jailed) -> Result<(), PolicyError> {
    let nul = |text: &std::ffi::OsStr| text.as_bytes().contains(&0);
    if jailed.program.as_os_str().is_empty() || nul(jailed.program.as_os_str()) {
        return Err(PolicyError::Text { what: "the program" });
    }
    if jailed.args.iter().any(|arg| nul(arg)) {
        return Err(PolicyError::Text { what: "an argument" });
    }
    let bad_name = |name: &OsString| name.is_empty() || nul(name) || name.as_bytes().contains(&b'=');
    if jailed.env.iter().any(|(name, value)| bad_name(name) || nul(value)) {
        return Err(PolicyError::Text { what: "a variable" });
    }
    if jailed.cwd != Path::new("/") {
        plain(&jailed.cwd)?;
    }
    if !(0..=19).contains(&jailed.nice) {
        return Err(PolicyError::Range { what: "the niceness" });
    }
    let limits = &jailed.limits;
    let sizes = [limits.data_bytes, limits.file_bytes, limits.open_files, limits.processes];
    if sizes.contains(&0) || limits.tmp_bytes == 0 || limits.home_bytes == 0 {
        return Err(PolicyError::Range { what: "a limit" });
    }
    let mut numbers = BTreeSet::new();
    for inherited in &jailed.inherited {
        if !(3..=255).contains(&inherited.number) || !numbers.insert(inherited.number) {
            return Err(PolicyError::Range { what: "the number of an inherited descriptor" });
        }
        if !crate::descriptors::may_be_inherited(&*inherited.fd).unwrap_or(false) {
            return Err(PolicyError::Descriptor { number: inherited.number });
        }
    }
    Ok(())
}

/// How a step that needs something from the host is named: by descriptor, or by path where bubblewrap is too old.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Handle {
    Fd(RawFd),
    Path,
}

/// The options for the steps. `handles` has one entry for each `Bind`, `Data` and `Copy` step, in order.
pub(crate) fn options(steps: &[Step], handles: &[Handle], status: RawFd) -> Vec<OsString> {
    let mut options = Options::default();
    options.add(["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]);
    options.add(["--unshare-cgroup-try", "--disable-userns", "--assert-userns-disabled"]);
    options.add(["--uid", "1000", "--gid", "1000", "--hostname", "sandbox", "--new-session"]);
    options.add(["--as-pid-1", "--clearenv", "--cap-drop", "ALL"]);
    options.add([OsString::from("--json-status-fd"), status.to_string().into()]);
    let mut handles = handles.iter();
    for step in steps {
        match step {
            Step::Folder(path) => options.add([OsString::from("--dir"), path.into()]),
            Step::Link { target, link } => options.add([OsString::from("--symlink"), target.into(), link.into()]),
            Step::Memory { at, bytes, mode } => {
                options.add([OsString::from("--perms"), mode.into(), "--size".into(), bytes.to_string().into()]);
                options.add([OsString::from("--tmpfs"), at.into()]);
            }
            Step::System(path) => options.add([OsString::from("--ro-bind-try"), path.into(), path.into()]),
            Step::Proc => options.add(["--proc", "/proc"]),
            Step::Dev => options.add(["--dev", "/dev"]),
            Step::Bind { host, inside, writable } => {
                let (option, source): (&str, OsString) = match (handles.next(), writable) {
                    (Some(Handle::Fd(fd)), true) => ("--bind-fd", fd.to_string().into()),
                    (Some(Handle::Fd(fd)), false) => ("--ro-bind-fd", fd.to_string().into()),
                    (_, true) => ("--bind", host.into()),
                    (_, false) => ("--ro-bind", host.into()),
                };
                options.add([option.into(), source, inside.into()]);
            }
            Step::Data { inside, .. } => {
                if let Some(Handle::Fd(fd)) = handles.next() {
                    // A script may stand in the place of a program.
                    options.add([OsString::from("--perms"), "0755".into(), "--ro-bind-data".into()]);
                    options.add([fd.to_string().into(), OsString::from(inside)]);
                }
            }
            Step::Copy { inside, .. } => {
                if let Some(Handle::Fd(fd)) = handles.next() {
                    options.add([OsString::from("--perms"), "0644".into(), "--file".into()]);
                    options.add([fd.to_string().into(), OsString::from(inside)]);
                }
            }
            Step::ReadOnlyFromHere(path) => options.add([OsString::from("--remount-ro"), path.into()]),
        }
    }
    options.0
}

#[derive(Default)]
struct Options(Vec<OsString>);

impl Options {
    fn add<T: Into<OsString>>(&mut self, words: impl IntoIterator<Item = T>) {
        self.0.extend(words.into_iter().map(Into::into));
    }
}

/// The command line of bubblewrap: its options travel in a file, so that no host path shows in a process list, and the
/// `--` keeps what follows from being read as an option.
pub(crate) fn command_line(options: RawFd, launcher: RawFd, control: RawFd, orders: RawFd) -> Vec<OsString> {
    let mut line = Options::default();
    line.add([OsString::from("--args"), options.to_string().into(), "--".into()]);
    // Executed through its descriptor: the binary is not visible inside and may have been replaced on disk meanwhile.
    line.add([format!("/proc/self/fd/{launcher}"), crate::launcher::LAUNCHER_ARG.to_owned()]);
    line.add([control.to_string(), orders.to_string()]);
    line.0
}

#[cfg(test)]
#[path = "argv_tests.rs"]
mod tests;
