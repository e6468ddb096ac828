//! Golden scenarios: tasks as developers ask them, on small real applications with what registries install for them. Each
//! has a right, a wrong and a cheating model, and each of those gets the verdict that it deserves.
//!
//! `tests/data/golden-APP.txt` is an application. `golden-APP-TASK.txt` lays over it what a developer wrote beforehand; its
//! member `request` is the task (the first line) with the flags that belong to it, `golden/` is what must come of it,
//! `model/` are the scripts.

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
        let models = below(&mut overlay, "model")
            .into_iter()
            .map(|entry| (entry.path.to_str().unwrap().to_owned(), String::from_utf8(entry.bytes).unwrap()));
        let models = models.collect();
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

    /// The model did all that it had in mind, and none of it was called verified; `reasons` are those that each of its
    /// tries was refused for, in their order.
    #[track_caller]
    fn is_refused(&self, answer: &Answer, reasons: &[&str]) {
        assert_eq!(self.scene.model.left(), 0, "{}\n{answer:?}", self.scene.model.transcript());
        assert_eq!(answer.verdict(), "stopped", "{answer:?}");
        let judgements = self.judgements(answer);
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
