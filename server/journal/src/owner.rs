//! Which process owns a task, and whether it still runs. A process id alone is not enough: ids are used again, and after
//! a reboot all of them are.

use std::fs;
use std::io;

use crate::problem::Problem;

const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// One process, for as long as the machine is up and beyond.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Owner {
    pub process: u32,
    /// Clock ticks between boot and the start of the process.
    pub start: u64,
    pub boot: String,
}

/// What a process does at present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    Running,
    /// By a signal or a debugger. It may go on at any moment, and finds itself superseded then.
    Stopped,
    Ended,
}

impl Owner {
    pub(crate) fn ourselves() -> Result<Self, Problem> {
        let process = std::process::id();
        let path = format!("/proc/{process}/stat");
        let text = fs::read_to_string(&path).map_err(|source| Problem::files(path.as_ref(), source))?;
        let (_, start) =
            parse(&text).ok_or_else(|| Problem::files(path.as_ref(), io::ErrorKind::InvalidData.into()))?;
        Ok(Self { process, start, boot: boot()? })
    }

    pub(crate) fn life(&self) -> Result<Life, Problem> {
        if self.boot != boot()? {
            return Ok(Life::Ended);
        }
        let Ok(text) = fs::read_to_string(format!("/proc/{}/stat", self.process)) else { return Ok(Life::Ended) };
        Ok(match parse(&text) {
            Some((_, start)) if start != self.start => Life::Ended,
            Some(('Z' | 'X' | 'x', _)) | None => Life::Ended,
            Some(('T' | 't', _)) => Life::Stopped,
            Some(_) => Life::Running,
        })
    }
}

fn boot() -> Result<String, Problem> {
    match fs::read_to_string(BOOT_ID) {
        Ok(text) => Ok(text.trim().to_owned()),
        Err(source) => Err(Problem::files(BOOT_ID.as_ref(), source)),
    }
}

/// State and start time (fields 3 and 22 of proc_pid_stat(5)). The command in field 2 may hold spaces and brackets.
fn parse(stat: &str) -> Option<(char, u64)> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    let start = fields.nth(18)?.parse().ok()?;
    Some((state, start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_name_full_of_brackets_does_not_hide_the_state() {
        let stat = "7 (a) T 1 (b) S 1 7 7 0 -1 4194304 103 0 0 0 0 0 0 0 20 0 1 0 93492 3133440 380";
        assert_eq!(parse(stat), Some(('S', 93492)));
        assert_eq!(parse("7 (cut"), None);
    }

    #[test]
    fn another_start_time_or_boot_is_another_process() {
        let us = Owner::ourselves().unwrap();
        assert_eq!(us.life().unwrap(), Life::Running);
        assert_eq!(Owner { start: us.start + 1, ..us.clone() }.life().unwrap(), Life::Ended);
        assert_eq!(Owner { boot: "another".into(), ..us }.life().unwrap(), Life::Ended);
    }
}
