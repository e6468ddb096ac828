//! How cargo would start each test program and each run of doc tests: cargo is asked to do it, with a recorder in the
//! place of a runner and another in the place of rustdoc.
//!
//! So folder, variables, library paths and arguments are cargo's own, whatever its version and configuration say, and
//! no rule of cargo's is rebuilt here.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sandbox::{Jailed, Mount};

/// Where the recorder lies inside.
const RECORDER: &str = "/run/understudy/recorder";
/// Where the recorder of doc tests lies inside: a program, as cargo takes no arguments with it.
const DOC_RECORDER: &str = "/run/understudy/rustdoc";
const MARK: &[u8] = b"understudy-start ";
const DOC_MARK: &[u8] = b"understudy-doc ";
/// Prints folder, arguments and variables as hex on one line after a mark.
const SCRIPT: &str = "{ printf '%s\\0' \"$(pwd -P)\" \"$#\" \"$@\"; env -0; } | od -An -v -tx1 | tr -d ' \\n' \
                      | { printf 'MARK'; cat; echo; }\n";

/// How a program would have been started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Start {
    pub program: PathBuf,
    pub args: Vec<OsString>,
    pub folder: PathBuf,
    pub env: BTreeMap<OsString, OsString>,
}

/// The variable that names a runner for programs of a target such as `x86_64-unknown-linux-gnu`.
pub(crate) fn variable(target: &str) -> String {
    format!("CARGO_TARGET_{}_RUNNER", target.to_ascii_uppercase().replace(['-', '.'], "_"))
}

/// Makes a cargo command record instead of run. `rustdoc` is the toolchain's.
pub(crate) fn recording(mut cargo: Jailed, target: &str, rustdoc: &Path) -> Jailed {
    use std::os::unix::ffi::OsStrExt as _;
    let text = |mark: &[u8]| SCRIPT.replace("MARK", &String::from_utf8_lossy(mark)).into_bytes();
    // What cargo asks rustdoc about itself is rustdoc's to answer.
    let program = [
        b"#!/bin/sh\nfor arg; do case $arg in --test) test=1;; esac; done\nset -- '",
        rustdoc.as_os_str().as_bytes(),
        b"' \"$@\"\n[ -n \"$test\" ] || exec \"$@\"\n",
        &text(DOC_MARK),
    ];
    cargo.mounts.push(Mount::File { inside: RECORDER.into(), data: Arc::from(text(MARK)) });
    cargo.mounts.push(Mount::File { inside: DOC_RECORDER.into(), data: Arc::from(program.concat()) });
    cargo.env(variable(target), format!("/bin/sh {RECORDER}")).env("RUSTDOC", DOC_RECORDER)
}

/// What a recording command would have started, in cargo's order.
#[derive(Debug, Default)]
pub(crate) struct Starts {
    pub programs: Vec<Start>,
    pub docs: Vec<Start>,
}

pub(crate) fn starts(stdout: &[u8], target: &str) -> Starts {
    let lines = |mark| stdout.split(|&byte| byte == b'\n').filter_map(move |line| line.strip_prefix(mark));
    let read = |hex: &[u8]| start(&unhex(hex)?, target);
    let mut docs: Vec<Start> = lines(DOC_MARK).filter_map(read).collect();
    docs.iter_mut().for_each(without_recorder);
    Starts { programs: lines(MARK).filter_map(read).collect(), docs }
}

/// Cargo hands the runner of programs to rustdoc too.
fn without_recorder(start: &mut Start) {
    const OURS: [&str; 4] = ["--test-runtool", "/bin/sh", "--test-runtool-arg", RECORDER];
    if let Some(at) = start.args.windows(OURS.len()).position(|window| window == OURS) {
        start.args.drain(at..at + OURS.len());
    }
}

fn start(record: &[u8], target: &str) -> Option<Start> {
    let mut fields = record.split(|&byte| byte == 0).map(|field| OsString::from_vec(field.to_vec()));
    let folder = PathBuf::from(fields.next()?);
    let count: usize = fields.next()?.to_str()?.parse().ok()?;
    let mut args: Vec<OsString> = fields.by_ref().take(count).collect();
    if args.is_empty() {
        return None;
    }
    let program = PathBuf::from(args.remove(0));
    let variables = fields.filter_map(|field| {
        let bytes = field.into_vec();
        let equals = bytes.iter().position(|&byte| byte == b'=')?;
        Some((OsString::from_vec(bytes[..equals].to_vec()), OsString::from_vec(bytes[equals + 1..].to_vec())))
    });
    let mut env: BTreeMap<OsString, OsString> = variables.collect();
    // What the recording itself left there.
    for name in [variable(target).as_str(), "RUSTDOC", "_", "OLDPWD", "SHLVL"] {
        env.remove(std::ffi::OsStr::new(name));
    }
    Some(Start { program, args, folder, env })
}

fn unhex(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    text.chunks(2).map(|pair| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_start_is_read_back() {
        let record = b"/w/a\x002\x00/t/deps/a-1\x00--x\x00PATH=/bin\x00CARGO_TARGET_X_Y_RUNNER=sh\x00NAME=a=b\n\x00";
        let hex: String = record.iter().map(|byte| format!("{byte:02x}")).collect();
        let starts = starts(format!("noise\nunderstudy-start {hex}\n").as_bytes(), "x-y").programs;
        assert_eq!(starts.len(), 1);
        assert_eq!(starts[0].program, PathBuf::from("/t/deps/a-1"));
        assert_eq!(starts[0].args, ["--x"]);
        let env: BTreeMap<OsString, OsString> =
            [("PATH".into(), "/bin".into()), ("NAME".into(), "a=b\n".into())].into();
        assert_eq!(starts[0].env, env);
    }
}
