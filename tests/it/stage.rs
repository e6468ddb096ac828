//! [`Stage`]: a project, the command in a home of its own, and the promise that holds around every question: nothing of
//! the developer's changes before an approval, afterwards exactly what was approved does, and nothing stays running.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use support::{Fingerprint, Project, Understudy, assert_same};

pub struct Stage {
    pub project: Project,
    pub understudy: Understudy,
}

/// What the command said with `--json`.
pub struct Answer {
    pub report: Value,
    /// What the process ended with.
    pub code: Option<i32>,
    /// For the message of a failed assertion.
    pub stderr: String,
}

/// The change that a scenario makes, as a developer makes it.
pub type Edit = fn(&Project);

impl Stage {
    pub fn new(project: Project) -> Self {
        Self { project, understudy: Understudy::new(env!("CARGO_BIN_EXE_understudy")) }
    }

    /// A committed project from `tests/data/NAME.txt`.
    pub fn data(name: &str) -> Self {
        Self::new(Project::data(name).committed())
    }

    /// A committed project from the text of an archive.
    pub fn text(archive: &str) -> Self {
        Self::new(Project::new(archive).committed())
    }

    /// Runs the command with `--json`; it must end with `code`, change nothing in the folder, and leave nothing behind.
    #[track_caller]
    pub fn ask(&self, code: i32, arguments: &[&str]) -> Answer {
        self.ask_with(code, arguments, b"")
    }

    /// The same with something on standard input.
    #[track_caller]
    pub fn ask_with(&self, code: i32, arguments: &[&str], input: &[u8]) -> Answer {
        let before = self.project.fingerprint();
        let answer = self.say(code, arguments, input);
        assert_same(&before, &self.project.fingerprint());
        answer
    }

    /// The same without the look at the folder: for the commands whose purpose is to write.
    #[track_caller]
    pub fn say(&self, code: i32, arguments: &[&str], input: &[u8]) -> Answer {
        let arguments: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
        let running = self.understudy.start(&self.project.path(), &arguments);
        let finished = running.feed(input).ended_with(code);
        self.understudy.assert_nothing_left();
        Answer { report: finished.json(), code: finished.code(), stderr: finished.stderr }
    }

    /// Asks without an opinion about the exit code.
    #[track_caller]
    pub fn ask_any(&self, arguments: &[&str]) -> Answer {
        let before = self.project.fingerprint();
        let arguments: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
        let finished = self.understudy.run(&self.project.path(), &arguments);
        self.understudy.assert_nothing_left();
        assert_same(&before, &self.project.fingerprint());
        Answer { report: finished.json(), code: finished.code(), stderr: finished.stderr }
    }

    /// Proves a patch that lies beside the project.
    #[track_caller]
    pub fn prove(&self, code: i32, patch: &[u8]) -> Answer {
        let path = self.project.beside("change.patch");
        fs::write(&path, patch).unwrap();
        self.ask(code, &["prove", "--patch", path.to_str().unwrap()])
    }

    /// A copy of the project as it stands, in which `edit` was made. Its git has the edit in the index.
    pub fn edited(&self, edit: impl FnOnce(&Project)) -> Project {
        let copy = Project::new("");
        copy_folder(self.project.path(), copy.path());
        if !copy.path().join(".git").exists() {
            let _ = copy.git(["init", "--quiet", "--initial-branch=main"]);
            copy.commit("Begin");
        }
        edit(&copy);
        remove_empty_folders(&copy.path());
        copy
    }

    /// What `git diff` says that an edit is.
    pub fn patch(&self, edit: impl FnOnce(&Project)) -> Vec<u8> {
        patch_of(&self.edited(edit))
    }

    /// Writes what the answer speaks of, whatever it is, compares the folder with what was to come of it, and takes it
    /// back again.
    #[track_caller]
    pub fn apply_and_undo(&self, answer: &Answer, expected: &Project) {
        let before = self.project.fingerprint();
        let (id, tree) = (answer.id(), answer.tree());
        self.say(0, &["tasks", "apply", &id, "--tree", &tree, "--unverified", "--consent", "**"], b"");
        let applied = self.project.fingerprint();
        assert_same(&contents(expected.fingerprint()), &contents(applied));
        self.say(0, &["tasks", "undo", &id], b"");
        let after = self.project.fingerprint();
        assert_same(&git_folder(&before), &git_folder(&after));
        assert_same(&contents(before), &contents(after));
    }
}

/// What `git diff` says that stands in the working tree of a project, against HEAD.
pub fn patch_of(edited: &Project) -> Vec<u8> {
    edited.git(["add", "--all"]);
    let path = edited.beside("made.patch");
    edited.git(["diff", "--cached", "--binary", "--no-renames", "--output", path.to_str().unwrap()]);
    fs::read(path).unwrap()
}

/// Names, modes and bytes of everything but git's own folder.
pub fn contents(print: Fingerprint) -> Fingerprint {
    print.without(".git").without_times()
}

/// Everything about git's own folder, times included.
fn git_folder(print: &Fingerprint) -> Fingerprint {
    print.only(".git")
}

/// Git knows no empty folders: one that loses its last file goes with it.
fn remove_empty_folders(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() && entry.file_name() != ".git" {
            remove_empty_folders(&entry.path());
            // Refused while something is left in it.
            drop(fs::remove_dir(entry.path()));
        }
    }
}

fn copy_folder(from: PathBuf, to: PathBuf) {
    let mut copy = support::command("cp");
    let status = copy.arg("--archive").arg("--no-target-directory").arg(from).arg(to).status().unwrap();
    assert!(status.success(), "{copy:?}");
}

impl Answer {
    pub fn text(&self, field: &str) -> String {
        self.report[field].as_str().unwrap_or_else(|| panic!("no `{field}` in {self:#?}")).to_owned()
    }

    pub fn verdict(&self) -> String {
        self.text("verdict")
    }

    pub fn tree(&self) -> String {
        self.text("tree")
    }

    pub fn id(&self) -> String {
        self.report["task"]["id"].as_str().unwrap().to_owned()
    }

    pub fn list(&self, field: &str) -> &[Value] {
        self.report[field].as_array().map_or(&[], Vec::as_slice)
    }

    /// Why it is not verified, one sentence a line.
    pub fn reasons(&self) -> String {
        let reasons = self.list("reasons").iter().filter_map(Value::as_str);
        reasons.collect::<Vec<_>>().join("\n")
    }

    /// What the evidence does not cover, with the file before each sentence that has one.
    pub fn limitations(&self) -> String {
        let line = |it: &Value| format!("{} {}", it["path"].as_str().unwrap_or("-"), it["text"].as_str().unwrap());
        self.list("limitations").iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// Ids of the hunks, in the order of the diff.
    pub fn hunks(&self) -> Vec<String> {
        self.list("hunks").iter().map(|hunk| hunk["id"].as_str().unwrap().to_owned()).collect()
    }

    /// The comparison of one check with the base.
    pub fn check(&self, id: &str) -> &Value {
        let found = self.list("checks").iter().find(|check| check["check"] == id);
        found.unwrap_or_else(|| panic!("no check `{id}` in {:#}", self.report["checks"]))
    }

    /// # Panics
    /// When the word is another one, or no reason or limitation says this.
    #[track_caller]
    pub fn says(&self, verdict: &str, because: &str) -> &Self {
        if let Some(problem) = self.differs(verdict, because) {
            panic!("{problem}");
        }
        self
    }

    /// What differs from an expected answer: the word, and a part of a reason, or of a limitation where there is none.
    pub fn differs(&self, verdict: &str, because: &str) -> Option<String> {
        let (word, reasons, limitations) = (self.verdict(), self.reasons(), self.limitations());
        let said = if reasons.is_empty() { &limitations } else { &reasons };
        let fits = word == verdict && said.contains(because) && (word != "verified" || reasons.is_empty());
        (!fits).then(|| {
            format!(
                "expected {verdict}: {because}\nfound {word}: {reasons}\nlimitations: {limitations}\n{}",
                self.stderr
            )
        })
    }
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#}\n--- stderr\n{}", self.report, self.stderr)
    }
}
