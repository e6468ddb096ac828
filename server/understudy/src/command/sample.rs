//! `understudy try`: the whole walk on a small crate that the binary carries in itself.

use std::path::Path;

use anstream::{eprintln, println};
use task::{Engine, ExitCode};

use super::request::{Ask, carry_out, request};
use crate::args::{Common, Repo};
use crate::failure::Failure;
use crate::render;
use crate::wiring::{self, Front};

/// The task that is shown: four types of the crate have a method of this name, one is meant.
const TASK: &str = "rename `VersionReq::matches` to `accepts`";

macro_rules! sample {
    ($($path:literal),+ $(,)?) => {
        &[$(($path, include_str!(concat!("../../sample/", $path)))),+]
    };
}

/// semver 1.0.28, as its manifest says.
const FILES: &[(&str, &str)] = sample![
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "src/display.rs",
    "src/error.rs",
    "src/eval.rs",
    "src/identifier.rs",
    "src/impls.rs",
    "src/lib.rs",
    "src/parse.rs",
    "tests/node/mod.rs",
    "tests/test_autotrait.rs",
    "tests/test_identifier.rs",
    "tests/test_version.rs",
    "tests/test_version_req.rs",
    "tests/util/mod.rs",
];

pub fn try_it(keep: bool) -> Result<ExitCode, Failure> {
    let opened = wiring::open(Front::Terminal)?;
    let failed = |error: std::io::Error| Failure::infrastructure(format!("the sample cannot be written: {error}"));
    // A name that nobody else can have taken, gone with the value whatever happens.
    let home = tempfile::Builder::new().prefix("understudy-try-").tempdir().map_err(failed)?;
    let folder = home.path().join("semver");
    write_sample(&folder).map_err(failed)?;
    eprintln!("{}", render::heading("Understudy tries a task on semver, a small crate that it carries in itself:"));
    eprintln!("  understudy run '{TASK}'\n");
    let common = Common {
        repo: Repo { repo: folder.clone() },
        acceptance_criteria: Vec::new(),
        paths: Vec::new(),
        max_attempts: None,
        timeout: None,
        request_id: None,
        allow_file: Vec::new(),
        json: false,
        apply: false,
    };
    let ask = Ask::new(Engine::Compiler, TASK);
    let request = request(&opened, super::request::folder(&folder)?, &common, ask)?;
    let code = carry_out(&opened, &common, request)?;
    if keep {
        // The folder is the user's from now on.
        let _kept = home.keep();
        println!("\nThe sample is in {}: none of its files was changed.", folder.display());
    } else {
        println!("\nNone of the sample's files was changed. `understudy try --keep` leaves it there to play with.");
    }
    Ok(code)
}

fn write_sample(folder: &Path) -> std::io::Result<()> {
    for (path, text) in FILES {
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, text)?;
    }
    Ok(())
}
