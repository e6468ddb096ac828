//! Processes that should be gone. Everything that runs for one test has the name of that test's folder somewhere: in its
//! environment, its arguments, its folder, or, inside the sandbox where those are empty, in what is mounted.

use std::fs;
use std::path::Path;

/// A process that is still there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    pub process: u32,
    pub command: String,
}

/// All processes that carry the marker, except this one, those that have ended and those that may not be looked at.
pub fn leftovers(marker: &str) -> Vec<Leftover> {
    let folders = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let mut found: Vec<_> = folders.filter_map(|folder| leftover(&folder, marker)).collect();
    found.sort_by_key(|leftover| leftover.process);
    found
}

fn leftover(folder: &Path, marker: &str) -> Option<Leftover> {
    let process: u32 = folder.file_name()?.to_str()?.parse().ok()?;
    let stat = fs::read_to_string(folder.join("stat")).ok()?;
    let ended = stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with(['Z', 'X']));
    if ended || process == std::process::id() {
        return None;
    }
    let in_files = ["environ", "cmdline", "mountinfo"].iter().any(|name| {
        fs::read(folder.join(name)).is_ok_and(|bytes| bytes.windows(marker.len()).any(|part| part == marker.as_bytes()))
    });
    let in_links = ["cwd", "exe", "root"]
        .iter()
        .any(|name| fs::read_link(folder.join(name)).is_ok_and(|target| target.to_string_lossy().contains(marker)));
    let command = fs::read(folder.join("cmdline")).unwrap_or_default();
    let command = String::from_utf8_lossy(&command).replace('\0', " ").trim_end().to_owned();
    (in_files || in_links).then_some(Leftover { process, command })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Running, command};

    fn found(marker: &str, id: u32) -> bool {
        leftovers(marker).iter().any(|leftover| leftover.process == id)
    }

    #[test]
    fn a_process_is_found_by_environment_argument_or_folder() {
        let folder = tempfile::Builder::new().prefix("understudy-leftover-").tempdir().unwrap();
        let marker = folder.path().file_name().unwrap().to_str().unwrap();
        let commands = [0, 1, 2].map(|way| {
            let mut shell = command("sh");
            shell.args(["-c", "read line"]);
            match way {
                0 => shell.env("MARKER", marker),
                1 => shell.arg(marker),
                _ => shell.current_dir(folder.path()),
            };
            shell
        });
        for command in commands {
            let what = format!("{command:?}");
            let running = Running::start(command);
            let id = running.id();
            // The environment of a process can be read once it has become the new program.
            crate::wait_until(&format!("{what} is found"), std::time::Duration::from_secs(30), || found(marker, id));
            running.finish();
            assert!(!found(marker, id));
        }
    }
}
