//! One verified change of five hunks in four files, of which two are open, put into editors of every manner: the outcome
//! is true, one act finishes what is half done and one act takes it back.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Value, json};
use support::{Client, Editor, Manner};

use super::{Bytes, Room, apply, bytes, golden, line, mended, report, reviewed, undo};

/// Manners after which the editor and the server still live, with outcomes that are true beside those that follow from
/// the bytes: where a person acts in the same moment, both sides of the moment are.
const MANNERS: [(Manner, &[&str]); 20] = [
    (Manner::Honest, &[]),
    (Manner::FirstVersionOnly, &[]),
    (Manner::OpenOnly, &[]),
    (Manner::Refuses, &[]),
    (Manner::Partial, &[]),
    (Manner::SaysYes, &[]),
    (Manner::SaysNo, &[]),
    (Manner::MakesSomethingElse, &[]),
    (Manner::TypesMeanwhile, &[]),
    (Manner::TypesUnnoticed, &["applied", "partial"]),
    (Manner::TypesAfter, &["applied", "partial"]),
    (Manner::SlowChange, &[]),
    (Manner::ClosesBefore, &[]),
    (Manner::ClosesAfter, &[]),
    (Manner::DropsAfter, &["applied"]),
    (Manner::SavesAtRandom(1), &[]),
    (Manner::SavesAtRandom(2), &[]),
    (Manner::SavesAtRandom(3), &[]),
    (Manner::SavesAtRandom(4), &[]),
    (Manner::NeverSaves, &[]),
];

const TYPED: &str = "// typed meanwhile\n";
const OPEN: [&str; 2] = ["src/lib.rs", "src/words.rs"];

struct Scene {
    room: Room,
    editor: Editor,
    id: String,
    base: Bytes,
}

impl Scene {
    fn new(client: fn(&std::path::Path) -> Client) -> Self {
        let room = Room::data("desk");
        let editor = room.editor(client);
        OPEN.iter().for_each(|path| editor.open(path));
        let before = room.fingerprint();
        let (id, line) = reviewed(&editor, json!("fix warnings"));
        assert_eq!((&line["verdict"], &line["kept_verdict"]), (&json!("verified"), &json!("verified")), "{line:#}");
        assert_eq!(report(&editor, &id)["diff"], golden("desk.diff").as_str());
        super::assert_untouched(&before, &room);
        let base = bytes(&editor);
        Self { room, editor, id, base }
    }

    /// The words that are true about the files as they are now, without what was typed beside.
    fn truth(&self) -> &'static [&'static str] {
        let mut found = bytes(&self.editor);
        for bytes in found.values_mut() {
            *bytes = String::from_utf8(std::mem::take(bytes)).unwrap().replace(TYPED, "").into_bytes();
        }
        match () {
            () if found == mended(&self.base) => &["applied", "already there"],
            () if found == self.base => &["refused", "diverged", "moved"],
            () => &["partial"],
        }
    }

    /// The developer goes on: what was typed is taken back, what an editor made up is too, documents are open again.
    fn tidy(&self) {
        self.editor.set_manner(Manner::Honest);
        self.editor.forget_typed();
        for path in OPEN {
            self.editor.open(path);
            let text = self.editor.text(path);
            let made_up = text.contains("something else");
            let wanted =
                if made_up { String::from_utf8(self.base[path].clone()).unwrap() } else { text.replace(TYPED, "") };
            if wanted != text {
                self.editor.rewrite(path, &wanted);
            }
        }
    }

    /// One publication in a manner. The outcome is true, and nothing typed is lost.
    fn publish(&self, manner: Manner, also: &[&str]) -> Value {
        self.editor.set_manner(manner);
        let outcome = apply(&self.editor, &self.id);
        let word = outcome["outcome"].as_str().unwrap();
        // What an editor reports late is there once it is.
        self.editor.poll(&format!("{manner:?}: {word} is true"), |_| {
            (also.contains(&word) || self.truth().contains(&word)).then_some(())
        });
        self.editor.assert_kept(true);
        let published = &line(&self.editor, &self.id)["publication"];
        let state = published["state"].as_str().unwrap_or_default();
        assert!(state == word || ["already there", "moved"].contains(&word), "{manner:?}: {word}, but {published}");
        outcome
    }

    fn finish(&self, what: &str) {
        let outcome = apply(&self.editor, &self.id);
        let word = outcome["outcome"].as_str().unwrap_or_default();
        assert!(["applied", "already there"].contains(&word), "{what}: finished as {outcome:#}");
        assert!(bytes(&self.editor) == mended(&self.base), "{what}: finished with other bytes");
    }

    fn take_back(&self, what: &str) {
        if line(&self.editor, &self.id)["next"].as_array().unwrap().contains(&json!("undo")) {
            let outcome = undo(&self.editor, &self.id);
            assert_eq!(outcome["outcome"], "applied", "{what}: taken back as {outcome:#}");
        }
        let found = bytes(&self.editor);
        let wrong: Vec<_> = found.iter().filter(|(path, bytes)| self.base[*path] != **bytes).map(|it| it.0).collect();
        assert!(wrong.is_empty(), "{what}: taken back, but not {wrong:?}");
    }

    /// Each `true` of `ways` finishes what the manner left, each `false` takes it back.
    fn play(&self, manner: Manner, also: &[&str], ways: &[bool]) {
        let what = format!("{manner:?}");
        for finishes in ways.iter().copied() {
            self.publish(manner, also);
            self.tidy();
            if finishes {
                self.finish(&what);
            }
            self.take_back(&what);
            OPEN.iter().for_each(|path| self.editor.save(path));
        }
    }
}

/// Whether the server waits for a text that never comes, as long as it waits for slow editors.
fn is_slow(manner: Manner) -> bool {
    matches!(manner, Manner::Partial | Manner::SaysYes | Manner::MakesSomethingElse)
}

fn play_all(
    client: fn(&std::path::Path) -> Client,
    chosen: impl Fn(Manner) -> bool,
    ways: fn(usize) -> &'static [bool],
) {
    let mut wrong = Vec::new();
    let mut scene = Scene::new(client);
    for (number, (manner, also)) in MANNERS.into_iter().enumerate().filter(|(_, (manner, _))| chosen(*manner)) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| scene.play(manner, also, ways(number)))) {
            let why = panic.downcast::<String>().map_or_else(|_| "panicked".to_owned(), |why| *why);
            wrong.push(format!("=== {manner:?}: {why}"));
            scene = Scene::new(client);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    scene.room.quit(scene.editor);
}

fn both(_: usize) -> &'static [bool] {
    &[true, false]
}

fn one(number: usize) -> &'static [bool] {
    if number.is_multiple_of(2) { &[true] } else { &[false] }
}

#[test]
fn in_a_plain_editor_every_manner_ends_true_and_can_be_finished_or_taken_back() {
    play_all(Client::helix, |manner| !is_slow(manner), both);
}

#[test]
fn in_an_editor_that_claims_what_it_did_not_do_the_text_counts() {
    // Each waits as long as the server waits for slow editors.
    play_all(
        Client::helix,
        is_slow,
        |number| if MANNERS[number].0 == Manner::Partial { both(number) } else { one(number) },
    );
}

#[test]
fn in_an_editor_of_ours_every_manner_ends_true_and_can_be_finished_or_taken_back() {
    play_all(Client::vscode, |manner| !is_slow(manner), one);
}

#[test]
fn in_an_editor_that_can_do_little_every_manner_ends_true_and_can_be_finished_or_taken_back() {
    play_all(Client::eglot, |manner| !is_slow(manner), one);
}

/// Who saved before an edit finds it saved afterwards, where the editor can be asked; who did not, does not.
#[test]
fn documents_are_saved_exactly_where_they_were_saved_before() {
    for (client, saved) in [(Client::vscode as fn(&std::path::Path) -> Client, true), (Client::helix, false)] {
        let scene = Scene::new(client);
        scene.editor.append("src/words.rs", "// mine\n");
        let outcome = apply(&scene.editor, &scene.id);
        assert_eq!(outcome["outcome"], "moved", "{outcome:#}");
        super::until(&scene.editor, &scene.id, &["review"]);
        let outcome = apply(&scene.editor, &scene.id);
        assert_eq!(outcome["outcome"], "applied", "{outcome:#}");
        let unsaved: &[&str] = if saved { &["src/words.rs"] } else { &OPEN };
        assert_eq!(outcome["unsaved"], json!(unsaved));
        let dirty = |path: &str| scene.editor.look(|desk| desk.is_dirty(&scene.editor.path(path)));
        assert_eq!(OPEN.map(dirty), [!saved, true]);
        scene.room.quit(scene.editor);
    }
}
