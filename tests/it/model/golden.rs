//! Golden scenarios: tasks as developers ask them, on small real applications with what registries install for them. Each
//! has a right, a wrong and a cheating model, and each of those gets the verdict that it deserves.
//!
//! `tests/data/golden-APP.txt` is an application. `golden-APP-TASK.txt` lays over it what a developer wrote beforehand; its
//! member `request` is the task (the first line) with the flags that belong to it, `golden/` is what must come of it,
//! `model/` are the scripts, in which a line `<golden/PATH>` stands for what is there.

mod express;
mod installed;
mod rust;

use std::collections::BTreeMap;
use std::path::Path;

use support::model::Script;
use support::{Archive, Entry, Project, assert_same, repository};
use task::Judgement;

use super::events::events;
use super::scene::{Scene, Wire};
use crate::stage::{Answer, contents};

/// To what is asked about a limit: how many, who counts as one, bursts, exemptions, and what holds without counters.
const ANSWERS: [&str; 5] = ["1", "1", "no", "1", "let everybody in and report it"];

struct Golden {
    scene: Scene,
    request: Vec<String>,
    expected: Archive,
    models: BTreeMap<String, String>,
}

impl Golden {
    /// The application with the developer's part of a task, committed. Nobody has begun yet.
    fn new(app: &str, task: &str, prepare: impl FnOnce(&Project)) -> Self {
        let read = |name: String| {
            let path = repository().join("tests/data").join(name);
            Archive::parse(&std::fs::read_to_string(path).unwrap())
        };
        let (mut project, mut overlay) = (read(format!("golden-{app}.txt")), read(format!("golden-{app}-{task}.txt")));
        let request = overlay.take("request").lines().map(str::to_owned).collect();
        let expected = Archive { description: String::new(), entries: below(&mut overlay, "golden") };
        let text = |entry: &Entry| String::from_utf8(entry.bytes.clone()).unwrap();
        let filled =
            |script: String, entry: &Entry| script.replace(&format!("<golden/{}>", entry.path.display()), &text(entry));
        let script = |entry: Entry| {
            let script = expected.entries.iter().fold(text(&entry), filled);
            (entry.path.to_str().unwrap().to_owned(), script)
        };
        let models = below(&mut overlay, "model").into_iter().map(script).collect();
        project.entries.extend(overlay.entries);
        let project = Project::of(&project).committed();
        prepare(&project);
        let scene = Scene::with(project, Script::parse(""), Wire::Anthropic);
        Self { scene, request, expected, models }
    }

    /// A model takes the task on, in a home where others may have tried before it.
    #[track_caller]
    fn play(&mut self, model: &str, wire: Wire, code: i32, arguments: &[&str]) -> Answer {
        let script = self.models.get(model).unwrap_or_else(|| panic!("there is no model `{model}`"));
        self.scene.recast(Script::parse(script), wire);
        let arguments: Vec<&str> = self.request.iter().map(String::as_str).chain(arguments.iter().copied()).collect();
        self.scene.run(code, &arguments)
    }

    /// What was judged about each tree that a model called finished.
    fn judgements(&self, answer: &Answer) -> Vec<Judgement> {
        let judgement = |event| match event {
            task::Event::Checked { judgement, .. } => judgement.map(|it| *it),
            _ => None,
        };
        events(&self.scene, answer).into_iter().filter_map(judgement).collect()
    }

    /// A model that asks what nothing in the repository says, before anything is edited, and goes on with what it is told.
    #[track_caller]
    fn play_asking(&mut self, model: &str, wire: Wire, answers: &[&str]) -> Answer {
        let asked = self.play(model, wire, 7, &["--plan", "auto"]);
        let questions = asked.report["waiting"]["questions"].as_array().map_or(0, Vec::len);
        assert_eq!((questions, asked.list("hunks").len()), (answers.len(), 0), "{asked:?}");
        let id = asked.id();
        let words: Vec<&str> = ["tasks", "answer", &id].iter().chain(answers).copied().collect();
        let answer = self.scene.ask(0, &words);
        self.scene.settled(&answer);
        answer
    }

    /// A model that does all that it had in mind without any of it being called verified; `reasons` are those that each of
    /// its tries is refused for, in their order.
    #[track_caller]
    fn refuses(&mut self, model: &str, wire: Wire, reasons: &[&str]) {
        let tries = reasons.len().to_string();
        let answer = self.play(model, wire, 4, &["--plan", "skip", "--max-attempts", &tries]);
        assert_eq!(self.scene.model.left(), 0, "{}\n{answer:?}", self.scene.model.transcript());
        assert_eq!(answer.verdict(), "stopped", "{answer:?}");
        let judgements = self.judgements(&answer);
        let found: Vec<String> = judgements.iter().map(|judgement| judgement.reasons.join("; ")).collect();
        assert_eq!(found.len(), reasons.len(), "{found:#?}");
        for (found, reason) in found.iter().zip(reasons) {
            assert!(found.contains(reason), "`{reason}` is not in `{found}`");
        }
        assert!(judgements.iter().all(|judgement| !judgement.verified), "{judgements:#?}");
        // Whoever reads the report is told, too.
        assert!(reasons.iter().any(|reason| answer.reasons().contains(reason)), "{}", answer.reasons());
    }

    /// Verified, and what is written by the developer's yes is what must come of the task, to the byte.
    #[track_caller]
    fn is_right(&self, answer: &Answer) {
        answer.says("verified", "");
        assert_eq!(self.scene.model.left(), 0, "{}", self.scene.model.transcript());
        let stage = &self.scene.stage;
        let expected = stage.edited(|copy| self.expected.unpack(&copy.path()));
        stage.say(0, &["tasks", "apply", &answer.id(), "--tree", &answer.tree()], b"");
        assert_same(&contents(expected.fingerprint()), &contents(stage.project.fingerprint()));
    }
}

/// Takes the entries below a folder out of an archive, with their paths inside it.
fn below(archive: &mut Archive, folder: &str) -> Vec<Entry> {
    let all = std::mem::take(&mut archive.entries).into_iter();
    let (inside, rest): (Vec<Entry>, Vec<Entry>) = all.partition(|entry| entry.path.starts_with(folder));
    archive.entries = rest;
    let strip = |entry: Entry| Entry { path: entry.path.strip_prefix(folder).map(Path::to_owned).unwrap(), ..entry };
    inside.into_iter().map(strip).collect()
}
