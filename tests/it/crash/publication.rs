//! SIGKILL around every event of a publication and of a selection: repeating the command comes to the same files, and
//! what is written already is not written again.

use serde_json::Value;
use support::{Project, Understudy, assert_same};

use super::{KILLED, newest, tasks, text, understudy, with_patch};

/// A verified task whose diff has two hunks in one file, and a new file.
struct Proved {
    understudy: Understudy,
    project: Project,
    report: Value,
}

impl Proved {
    fn new() -> Self {
        let (project, patch) = with_patch("warns", |project| {
            project.replace("src/lib.rs", "let mut sum", "let sum");
            project.replace("src/lib.rs", "let mut result", "let result");
            project.write("notes/why.txt", "not needed\n");
        });
        let understudy = understudy();
        let report = understudy.run(&project.path(), ["prove", "--patch", &patch, "--json"]).ended_with(0).json();
        Self { understudy, project, report }
    }

    fn id(&self) -> String {
        text(&self.report["task"]["id"])
    }

    /// The files after a publication of everything.
    fn target(&self) -> Vec<(&'static str, String)> {
        let lib = self.project.text("src/lib.rs");
        vec![("src/lib.rs", lib.replace("let mut ", "let ")), ("notes/why.txt", "not needed\n".to_owned())]
    }

    fn is_target(&self, target: &[(&str, String)]) -> bool {
        target.iter().all(|(path, text)| {
            std::fs::read_to_string(self.project.path().join(path)).is_ok_and(|found| found == *text)
        })
    }

    fn crash(&self, arguments: &[&str], point: &str) -> Option<Value> {
        let crash = [("UNDERSTUDY_CRASH_AT", point)];
        let finished = self.understudy.start_with(&self.project.path(), arguments, &crash).finish();
        if finished.signal() == KILLED { None } else { Some(finished.ended_with(0).json()) }
    }

    fn run(&self, arguments: &[&str]) -> Value {
        self.understudy.run(&self.project.path(), arguments).ended_with(0).json()
    }
}

#[test]
fn a_publication_killed_at_any_event_is_finished_by_repeating_it() {
    let proved = Proved::new();
    let (id, tree) = (proved.id(), text(&proved.report["tree"]));
    let apply = ["tasks", "apply", &id, "--tree", &tree, "--json"];
    let undo = ["tasks", "undo", &id, "--json"];
    let target = proved.target();
    let base = proved.project.fingerprint().without_times();
    for side in ["before", "after"] {
        for number in 1.. {
            let when = format!("{side} event {number}");
            let ended = proved.crash(&apply, &format!("{side}:{number}")).is_some();
            let found = proved.project.fingerprint();
            let written = proved.is_target(&target);
            if !written {
                assert_same(&base, &found.clone().without_times());
            }
            assert_eq!(tasks(&proved.understudy, &proved.project)[0]["verdict"], "verified", "killed {when}");
            if !ended {
                proved.run(&apply);
            }
            assert!(proved.is_target(&target), "killed {when}");
            if written {
                assert_same(&found, &proved.project.fingerprint());
            }
            proved.run(&undo);
            assert_same(&base, &proved.project.fingerprint().without_times());
            if ended {
                assert_eq!(number, 4, "prepared, requested, published");
                break;
            }
        }
    }
}

#[test]
fn an_undo_killed_at_any_event_is_finished_by_repeating_it() {
    let proved = Proved::new();
    let (id, tree) = (proved.id(), text(&proved.report["tree"]));
    let apply = ["tasks", "apply", &id, "--tree", &tree, "--json"];
    let undo = ["tasks", "undo", &id, "--json"];
    let base = proved.project.fingerprint().without_times();
    for point in ["before:1", "after:1", "before:2", "after:2", "before:3", "after:3"] {
        proved.run(&apply);
        assert!(proved.crash(&undo, point).is_none(), "{point}");
        // Whatever the dead one came to: asking again takes back what is there, or says that nothing is.
        let again = proved.understudy.run(&proved.project.path(), undo);
        let expected = if point == "after:3" { 7 } else { 0 };
        again.ended_with(expected);
        assert_same(&base, &proved.project.fingerprint().without_times());
    }
}

/// The process died between two files: one is written, the other is not.
#[test]
fn a_publication_killed_between_two_files_is_finished_by_repeating_it() {
    let proved = Proved::new();
    let (id, tree) = (proved.id(), text(&proved.report["tree"]));
    let apply = ["tasks", "apply", &id, "--tree", &tree, "--json"];
    let target = proved.target();
    assert!(proved.crash(&apply, "after:2").is_none());
    proved.project.write("notes/why.txt", "not needed\n");
    let half = proved.project.fingerprint();
    proved.run(&apply);
    assert!(proved.is_target(&target));
    let kept = |print: &support::Fingerprint| print.clone().without("src").without(".git");
    assert_same(&kept(&half), &kept(&proved.project.fingerprint()));
    let shown = proved.run(&["tasks", "show", &id, "--json"]);
    let ends: Vec<_> = shown["publications"].as_array().unwrap().iter().map(|it| &it["end"]["kind"]).collect();
    assert_eq!(ends, ["applied"]);
}

/// The developer went on typing before the publication could be finished.
#[test]
fn a_killed_publication_does_not_overwrite_what_was_typed_since() {
    let proved = Proved::new();
    let (id, tree) = (proved.id(), text(&proved.report["tree"]));
    let apply = ["tasks", "apply", &id, "--tree", &tree, "--json"];
    assert!(proved.crash(&apply, "after:2").is_none());
    proved.project.replace("src/lib.rs", "let mut sum = one", "let mut sum = 0 + one");
    let typed = proved.project.fingerprint();
    proved.understudy.run(&proved.project.path(), apply).ended_with(8);
    assert_same(&typed, &proved.project.fingerprint());
    // The dead publication has an end now, and so has this one: the hunk and the typing conflict.
    proved.understudy.run(&proved.project.path(), apply).ended_with(8);
    assert_same(&typed, &proved.project.fingerprint());
}

#[test]
fn a_selection_killed_at_any_event_comes_to_the_same_tree() {
    let proved = Proved::new();
    let id = proved.id();
    let hunk =
        text(&proved.report["hunks"].as_array().unwrap().iter().find(|it| it["path"] == "src/lib.rs").unwrap()["id"]);
    let before = proved.project.fingerprint();
    let arguments = ["tasks", "diff", &id, "--select", &hunk, "--json"];
    let points = ["before:1", "after:1", "before:2", "after:2"];
    for point in points {
        assert!(proved.crash(&arguments, point).is_none(), "{point}");
        proved.understudy.assert_nothing_left();
        let listed = tasks(&proved.understudy, &proved.project);
        assert_eq!((listed[0]["verdict"].as_str(), &listed[0]["owner"]), (Some("verified"), &Value::Null), "{point}");
    }
    let report = proved.run(&arguments);
    assert_eq!(report["verdict"], "verified");
    assert_eq!(report["hunks"].as_array().unwrap().len(), 1);
    assert_ne!(report["tree"], proved.report["tree"]);
    assert_same(&before, &proved.project.fingerprint());

    // Written from the selection, killed in between: exactly base and the kept hunk.
    let tree = text(&report["tree"]);
    let apply = ["tasks", "apply", &id, "--select", &hunk, "--tree", &tree, "--json"];
    let kept = proved.project.text("src/lib.rs").replacen("let mut ", "let ", 1);
    for point in ["after:1", "before:3"] {
        assert!(proved.crash(&apply, point).is_none(), "{point}");
    }
    proved.run(&apply);
    assert_eq!(proved.project.text("src/lib.rs"), kept);
    assert!(!proved.project.path().join("notes").exists());
    assert_eq!(newest(&proved.understudy, &proved.project), id);
}
