//! `understudy prove`: a change that anyone made is judged against its base.

use std::path::Path;

use task::{Candidate, Engine, ExitCode};
use worktree::Workspace;

use super::input::read;
use super::request::{Ask, carry_out, folder, front, request};
use crate::args::Prove;
use crate::failure::Failure;
use crate::wiring;

/// A patch larger than this is not a change that someone reviews.
const LARGEST_PATCH: u64 = 256 << 20;

pub fn prove(args: &Prove) -> Result<ExitCode, Failure> {
    let patch = args.patch.as_deref().map(|path| read("patch", path, LARGEST_PATCH)).transpose()?;
    let folder = folder(&args.common.repo.repo)?;
    let opened = wiring::open_on(front(&args.common), &folder)?;
    let (candidate, description) = match (patch, &args.branch) {
        (Some(bytes), _) => {
            let artifact = opened.house.journal.put_artifact(&bytes)?;
            (Candidate::Patch { artifact }, "prove a patch against the working tree".to_owned())
        }
        (None, Some(name)) => {
            // A name that means nothing is a bad request, not a failure of ours: it is found before a task begins.
            let workspace = Workspace::open(Path::new(&folder), &opened.house.state).map_err(agent::Error::from)?;
            let known = worktree::merge_base_with_head(&workspace, name);
            known.map_err(|error| Failure::usage(agent::Error::from(error).chain()))?;
            (Candidate::Branch { name: name.clone() }, format!("prove branch {name}"))
        }
        (None, None) => (Candidate::Worktree, "prove the working tree against HEAD".to_owned()),
    };
    let ask = Ask { candidate: Some(candidate), ..Ask::new(Engine::Patch, description) };
    let request = request(&opened, folder, &args.common, ask)?;
    carry_out(&opened, &args.common, request)
}
