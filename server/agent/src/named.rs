//! Trees and hunks as people type them: by the beginning of their ids.

use std::collections::BTreeSet;
use std::path::Path;

use task::port::Journal;
use task::{HunkId, State, TaskId, TreeId};
use worktree::{Authors, Store, Workspace};

use crate::evidence::author;
use crate::walk::fold;
use crate::{Error, risks};

/// Fewer digits are not a name but a guess.
const FEWEST: usize = 4;

/// The tree of a task that these hex digits name: the whole id, or the beginning of exactly one that may be approved. A
/// whole id is taken as it is, so that whoever acts on it says why it cannot.
///
/// # Errors
/// Where the digits begin no tree of the task, or several.
pub fn tree_named(journal: &dyn Journal, id: &TaskId, text: &str) -> Result<TreeId, Error> {
    if let Ok(tree) = text.parse() {
        return Ok(tree);
    }
    let state = fold(id, &journal.records(id)?)?;
    let all: BTreeSet<&TreeId> = state.offered.iter().map(|offered| &offered.tree).collect();
    one_of(&format!("a tree of task {id}"), text, all.iter().map(|tree| tree.as_str()))?
        .parse()
        .map_err(|error: task::IdError| Error::Sentence(error.to_string()))
}

/// The hunks of the diff under review that these texts name, each a whole id or the beginning of exactly one.
///
/// # Errors
/// Where one of them begins no hunk of the diff, or several.
pub fn hunks_named(
    journal: &dyn Journal,
    state_folder: &Path,
    id: &TaskId,
    texts: &[String],
) -> Result<BTreeSet<HunkId>, Error> {
    let state = fold(id, &journal.records(id)?)?;
    let all = hunks(&state, state_folder)?;
    let named = texts.iter().map(|text| {
        let whole = one_of(&format!("a hunk of task {id}"), text, all.iter().map(HunkId::as_str))?;
        whole.parse().map_err(|error: task::IdError| Error::Sentence(error.to_string()))
    });
    named.collect()
}

/// Every hunk of the diff under review.
fn hunks(state: &State, state_folder: &Path) -> Result<BTreeSet<HunkId>, Error> {
    let Some((base, tree)) = state.reviewed() else {
        return Err(Error::Sentence(format!("task {} has no diff yet", state.request.id)));
    };
    let workspace = Workspace::open(Path::new(&state.request.workspace), state_folder)?;
    let diff = risks::diff(&Store::open(&workspace)?, base, tree, &Authors::all(author(state)))?;
    Ok(diff.hunks().map(|(_, hunk)| hunk.id.clone()).collect())
}

/// The one id that begins like this.
fn one_of<'a>(what: &str, text: &str, all: impl Iterator<Item = &'a str>) -> Result<&'a str, Error> {
    let shown = task::printable(text);
    if text.len() < FEWEST {
        return Err(Error::Sentence(format!(
            "`{shown}` does not name {what}: give at least {FEWEST} digits of its id"
        )));
    }
    let begun: Vec<&str> = all.filter(|id| id.starts_with(text)).collect();
    match begun.as_slice() {
        [only] => Ok(only),
        [] => Err(Error::Sentence(format!("`{shown}` is not {what}, nor the beginning of its id"))),
        several => Err(Error::Sentence(format!("`{shown}` may be {what} in several ways: {}", several.join(", ")))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_exactly_one_id_is_its_name() {
        let all = ["0123456789abcdef", "0123f56789abcdef", "ffff000000000000"];
        let found = |text| one_of("a hunk", text, all.into_iter()).map_err(|error| error.to_string());
        assert_eq!(found("ffff"), Ok(all[2]));
        assert_eq!(found("01234"), Ok(all[0]));
        assert_eq!(found(all[1]), Ok(all[1]));
        for (text, why) in [
            ("fff", "at least 4 digits"),
            ("0123", "in several ways: 0123456789abcdef, 0123f56789abcdef"),
            ("abcd", "is not a hunk"),
            ("FFFF", "is not a hunk"),
        ] {
            assert!(found(text).unwrap_err().contains(why), "{:?}", found(text));
        }
    }
}
