//! What a developer rejected and why, in words that the next try at the same thing is held to.

use std::path::Path;

use task::port::Journal;
use task::{Event, HunkId, TaskId};
use worktree::{Authors, Store, Workspace};

use crate::evidence::author;
use crate::walk::fold;
use crate::{Error, risks};

/// Lines of a rejected hunk that are repeated.
const SHOWN: usize = 20;

/// One sentence with the change for each hunk that was rejected with a reason and is not kept again.
///
/// # Errors
/// When there is no such task, or it has no diff.
pub fn rejections(journal: &dyn Journal, state_folder: &Path, id: &TaskId) -> Result<Vec<String>, Error> {
    let records = journal.records(id)?;
    let state = fold(id, &records)?;
    let Some((base, tree)) = state.reviewed() else {
        return Err(Error::Sentence(format!("task {id} has no diff yet")));
    };
    let mut reasons: Vec<(HunkId, String)> = Vec::new();
    for record in &records {
        match &record.event {
            Ok(Event::HunkRejected { hunk, reason: Some(reason) }) if state.rejected.contains(hunk) => {
                reasons.retain(|(known, _)| known != hunk);
                reasons.push((hunk.clone(), reason.clone()));
            }
            _ => {}
        }
    }
    let workspace = Workspace::open(Path::new(&state.request.workspace), state_folder)?;
    let store = Store::open(&workspace)?;
    let diff = risks::diff(&store, base, tree, &Authors::all(author(&state)))?;
    let said = reasons.into_iter().filter_map(|(id, reason)| {
        let (file, hunk) = diff.hunks().find(|(_, hunk)| hunk.id == id)?;
        let lines = |sign: char, bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            text.lines().take(SHOWN).map(|line| format!("{sign}{line}\n")).collect::<String>()
        };
        let change = lines('-', &hunk.old_bytes) + &lines('+', &hunk.new_bytes);
        Some(format!("In {} this change was rejected, because {}:\n{change}", file.path, task::printable(&reason)))
    });
    Ok(said.collect())
}
