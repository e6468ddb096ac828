//! `understudy prove` on changes with known answers: the word, the exit code and the decisive reason are right each
//! time, and what is written after an approval is exactly the change.

mod changes;
mod doors;
mod ecosystems;
mod evidence;
mod files;
mod folders;
mod hostile;
mod limits;
mod publish;

use crate::stage::{Edit, Stage};

/// A change and what has to be said about it.
struct Change {
    name: &'static str,
    edit: Edit,
    verdict: &'static str,
    /// A part of one of the reasons; of a limitation where it is verified.
    because: &'static str,
}

/// Proves each change of a project in turn, applies it whatever the verdict, and takes it back: the evidence of the
/// base is collected once.
///
/// # Panics
/// When any answer is not as expected, with all that are not.
#[track_caller]
fn assert_answers(stage: &Stage, changes: &[Change]) {
    let mut wrong = Vec::new();
    for change in changes {
        let edited = stage.edited(change.edit);
        let code = if change.verdict == "verified" { 0 } else { 3 };
        let path = stage.project.beside("change.patch");
        std::fs::write(&path, crate::stage::patch_of(&edited)).unwrap();
        let answer = stage.ask_any(&["prove", "--patch", path.to_str().unwrap()]);
        if answer.code != Some(code) {
            wrong.push(format!("{}: ended with {:?}, not {code}\n{}", change.name, answer.code, answer.stderr));
        }
        wrong.extend(answer.differs(change.verdict, change.because).map(|it| format!("{}: {it}", change.name)));
        stage.apply_and_undo(&answer, &edited);
    }
    assert!(wrong.is_empty(), "{} of {} answers are wrong\n\n{}", wrong.len(), changes.len(), wrong.join("\n\n"));
}
