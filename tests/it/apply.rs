//! Writing: only an approval that names the tree writes, and it writes exactly those bytes.

mod approval;
mod bytes;
mod moved;
mod obstacles;

use serde_json::Value;
use support::{Finished, Project, Understudy};

use crate::crash::{text, understudy, with_patch};

/// A task with a diff, and the folder that it may be written to.
struct Task {
    understudy: Understudy,
    project: Project,
    report: Value,
}

impl Task {
    /// Proves a change of a project of `tests/data`; `code` is how that ends.
    fn proved(name: &str, change: impl FnOnce(&Project), code: i32) -> Self {
        let (project, patch) = with_patch(name, change);
        let understudy = understudy();
        let report = understudy.run(&project.path(), ["prove", "--patch", &patch, "--json"]).ended_with(code).json();
        Self { understudy, project, report }
    }

    fn id(&self) -> String {
        text(&self.report["task"]["id"])
    }

    fn tree(&self) -> String {
        text(&self.report["tree"])
    }

    /// The ids of the hunks in a file.
    fn hunks(&self, path: &str) -> Vec<String> {
        let hunks = self.report["hunks"].as_array().unwrap().iter();
        hunks.filter(|hunk| hunk["path"] == path).map(|hunk| text(&hunk["id"])).collect()
    }

    /// `understudy tasks VERB ID ...`.
    fn tasks(&self, verb: &str, more: &[&str]) -> Finished {
        let id = self.id();
        let words = ["tasks", verb, &id].into_iter().chain(more.iter().copied());
        self.understudy.run(&self.project.path(), words)
    }

    fn apply(&self, tree: &str, more: &[&str]) -> Finished {
        let words: Vec<&str> = ["--tree", tree].into_iter().chain(more.iter().copied()).collect();
        self.tasks("apply", &words)
    }

    fn undo(&self) -> Finished {
        self.tasks("undo", &[])
    }
}

/// Both warnings of `warns` mended.
fn mend(project: &Project) {
    project.replace("src/lib.rs", "let mut sum", "let sum");
    project.replace("src/lib.rs", "let mut result", "let result");
}
