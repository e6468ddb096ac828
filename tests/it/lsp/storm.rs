//! A developer, an editor and a server that do whatever comes to their minds, in an order that a coin decides: at every
//! moment each file is the base with some of the hunks and with everything that was typed.

use serde_json::{Value, json};
use support::{Client, Editor, Manner};

use super::{Bytes, FILES, Room, apply, bytes, line, mended, reviewed, undo};

const ACTS: usize = 40;
const OPEN: [&str; 3] = ["src/lib.rs", "src/words.rs", "src/dos.rs"];
const MANNERS: [Manner; 14] = [
    Manner::Honest,
    Manner::Honest,
    Manner::FirstVersionOnly,
    Manner::OpenOnly,
    Manner::Refuses,
    Manner::SaysNo,
    Manner::TypesMeanwhile,
    Manner::TypesUnnoticed,
    Manner::TypesAfter,
    Manner::SlowChange,
    Manner::SavesAtRandom(7),
    Manner::ClosesBefore,
    Manner::ClosesAfter,
    Manner::NeverSaves,
];

struct Storm {
    room: Room,
    editor: Editor,
    id: String,
    base: Bytes,
    coin: u64,
    typed: usize,
    /// What happened, for the message of a failed test.
    story: Vec<String>,
}

impl Storm {
    fn new(client: fn(&std::path::Path) -> Client, seed: u64) -> Self {
        let room = Room::data("desk");
        let editor = room.editor(client);
        OPEN.iter().for_each(|path| editor.open(path));
        let base = bytes(&editor);
        let (id, _) = reviewed(&editor, json!("fix warnings"));
        let coin = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        Self { room, editor, id, base, coin, typed: 0, story: Vec::new() }
    }

    fn below(&mut self, count: usize) -> usize {
        self.coin ^= self.coin << 13;
        self.coin ^= self.coin >> 7;
        self.coin ^= self.coin << 17;
        (self.coin >> 33) as usize % count
    }

    /// The files without what was typed into them.
    fn stripped(&self) -> Bytes {
        bytes(&self.editor).into_iter().map(|(path, bytes)| (path, strip(&bytes))).collect()
    }

    /// Each line is as at base or as mended, and nothing that was typed is gone.
    #[track_caller]
    fn check(&self) {
        let (found, mended) = (self.stripped(), mended(&self.base));
        let lines =
            |bytes: &[u8]| -> Vec<Vec<u8>> { bytes.split_inclusive(|it| *it == b'\n').map(<[u8]>::to_vec).collect() };
        for path in FILES {
            let (found, base, mended) = (lines(&found[path]), lines(&self.base[path]), lines(&mended[path]));
            let fits = found.len() == base.len()
                && found.iter().enumerate().all(|(at, line)| *line == base[at] || *line == mended[at]);
            assert!(fits, "{path} is neither:\n{}\n{}", self.editor.text(path), self.story.join("\n"));
        }
        let losses = self.editor.look(|desk| desk.losses());
        assert!(losses.is_empty(), "{losses:?}\n{}", self.story.join("\n"));
    }

    fn publish(&mut self, act: fn(&Editor, &str) -> Value, what: &str) {
        let before = self.stripped();
        let outcome = act(&self.editor, &self.id);
        let word = outcome["outcome"].as_str().unwrap_or_default().to_owned();
        self.story.push(format!("    {what}: {word}: {}", outcome["sentence"]));
        // What an editor reports late is there once it is.
        let expected = |storm: &Self| match (word.as_str(), what) {
            ("applied" | "already there", "apply") => storm.shows_kept(),
            ("applied", _) => storm.stripped() == storm.base || storm.stripped() != before,
            ("refused" | "diverged" | "moved", _) => storm.stripped() == before,
            _ => true,
        };
        let this = &*self;
        let story = this.story.join("\n");
        this.editor.poll(&format!("{word} is true\n{story}"), |_| expected(this).then_some(()));
    }

    /// Whether the files are what is kept, but for what was typed since.
    fn shows_kept(&self) -> bool {
        let tree = super::text(&line(&self.editor, &self.id)["kept_tree"]);
        self.stripped().iter().all(|(path, found)| {
            let uri = format!("understudy:/{}/{tree}/{path}", self.id);
            let document = self.editor.ask("understudy/document", json!({ "uri": uri }));
            *found == strip(document["text"].as_str().unwrap().as_bytes())
        })
    }

    fn act(&mut self) {
        let path = OPEN[self.below(OPEN.len())];
        let kind = self.below(14);
        match kind {
            0..=3 => {
                self.typed += 1;
                let typed = format!("// typed {}\n", self.typed);
                self.editor.open(path);
                let text = self.editor.text(path);
                // At the top, or at the end: beside the hunks, never in them.
                let ends = if text.contains("\r\n") { typed.replace('\n', "\r\n") } else { typed };
                if self.below(2) == 0 {
                    self.editor.append(path, &ends);
                } else {
                    self.editor.type_before(path, "//! ", &ends);
                }
            }
            4 => self.editor.save(path),
            5 => {
                self.editor.save(path);
                self.editor.close(path);
            }
            6 => self.editor.open(path),
            7 => {
                let hunks = super::report(&self.editor, &self.id)["hunks"].as_array().unwrap().clone();
                let hunk = &hunks[self.below(hunks.len())];
                let verb = if hunk["rejected"] == true { "keep" } else { "reject" };
                let line = line(&self.editor, &self.id);
                let argument = json!({"task": self.id, "revision": line["revision"], "hunks": [hunk["id"]]});
                drop(self.editor.answer(self.editor.send_command(&format!("understudy.hunk.{verb}"), argument)));
                self.settle();
            }
            8 => {
                self.editor.restart(&self.room.understudy);
                self.settle();
            }
            9..=11 => {
                let manner = MANNERS[self.below(MANNERS.len())];
                self.story.push(format!("    {manner:?}"));
                self.editor.set_manner(manner);
                self.publish(apply, "apply");
            }
            _ => self.publish(undo, "undo"),
        }
        self.story.push(format!("{kind} {path}"));
        self.editor.set_manner(Manner::Honest);
    }

    /// Waits until nothing works on the task.
    fn settle(&self) {
        let (editor, id) = (&self.editor, &self.id);
        editor.poll("nothing works on the task", |editor| {
            let line = line(editor, id);
            let quiet = ["review", "ended"].iter().any(|it| line["status"] == *it);
            let checked =
                line["kept_verdict"].is_string() || line["rejected"] == 0 || line["rejected"] == line["hunks"];
            (quiet && checked).then_some(())
        });
    }
}

/// A text without the lines that the developer typed.
fn strip(text: &[u8]) -> Vec<u8> {
    let text = String::from_utf8(text.to_vec()).unwrap();
    text.split_inclusive('\n').filter(|line| !line.starts_with("// typed")).collect::<String>().into_bytes()
}

fn storm(client: fn(&std::path::Path) -> Client, seed: u64) {
    let mut storm = Storm::new(client, seed);
    for _ in 0..ACTS {
        storm.act();
        storm.check();
    }
    storm.room.quit(storm.editor);
}

#[test]
fn whatever_happens_in_an_editor_of_ours_files_are_base_hunks_and_what_was_typed() {
    storm(Client::vscode, 1);
}

#[test]
fn whatever_happens_in_a_plain_editor_files_are_base_hunks_and_what_was_typed() {
    storm(Client::helix, 2);
}
