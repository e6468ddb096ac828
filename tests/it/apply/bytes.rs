//! Published bytes are base and kept hunks, exactly.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use support::{Fingerprint, Project, assert_same};

use super::Task;

/// Changes a file of each form, in each way a file can change.
fn change_everything(project: &Project) {
    // What no check reads proves nothing, so one of the files is source text.
    project.replace("src/lib.rs", "    1\n", "    2 - 1\n");
    project.write("dos.txt", "one\r\n2\r\nthree\r\n");
    project.write("mixed.txt", "one\r\ntwo\nIII\r\n");
    project.write("marked.txt", "\u{FEFF}one\n2\n");
    project.write("open.txt", "one\n2");
    project.write("latin.txt", b"caf\xE9\n2\n");
    fs::set_permissions(project.path().join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    project.remove("link");
    symlink("open.txt", project.path().join("link")).unwrap();
    project.write("picture.bin", [0, 1, 2, 254, 253]);
    project.remove("old/gone.txt");
    fs::create_dir(project.path().join("new")).unwrap();
    fs::rename(project.path().join("old/moves.txt"), project.path().join("new/moved.txt")).unwrap();
    fs::remove_dir(project.path().join("old")).unwrap();
    project.write("new/deep/er.txt", "a new file in new folders");
    project.write("new/empty", "");
    project.write("new/name with spaces \u{1F980}.txt", "x\n");
}

#[test]
fn every_form_of_bytes_is_written_as_it_was_approved_and_taken_back() {
    let expected = Project::data("bytes").committed();
    change_everything(&expected);
    let task = Task::proved("bytes", change_everything, 0);
    let (base, git) = (task.project.fingerprint(), Fingerprint::of(task.project.path().join(".git")));
    task.apply(&task.tree(), &[]).ended_with(0);
    let applied = task.project.fingerprint();
    let files = |print: &Fingerprint| print.clone().without(".git").without_times();
    assert_same(&files(&expected.fingerprint()), &files(&applied));
    assert_same(&git, &Fingerprint::of(task.project.path().join(".git")));

    let again = task.apply(&task.tree(), &[]).ended_with(0);
    assert!(again.text().contains("nothing was written"), "{}", again.text());
    assert_same(&applied, &task.project.fingerprint());

    task.undo().ended_with(0);
    assert_same(&files(&base), &files(&task.project.fingerprint()));
    let twice = task.undo().ended_with(7);
    assert!(twice.text().contains("nothing that could be taken back"), "{}", twice.text());
    assert_same(&files(&base), &files(&task.project.fingerprint()));
}

/// `git apply` takes the diff of `--json`, which is UTF-8 whatever is in the files, and comes to the same folder.
#[test]
fn the_diff_is_one_that_git_takes() {
    let task = Task::proved("bytes", change_everything, 0);
    let patch = task.project.beside("diff");
    fs::write(&patch, task.report["diff"].as_str().unwrap()).unwrap();
    let by_git = Project::data("bytes").committed();
    by_git.git(["apply", "--whitespace=nowarn", patch.to_str().unwrap()]);
    task.apply(&task.tree(), &[]).ended_with(0);
    let files = |project: &Project| project.fingerprint().without(".git").without_times();
    assert_same(&files(&by_git), &files(&task.project));
}
