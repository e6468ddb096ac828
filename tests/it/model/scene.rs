//! [`Scene`]: a project and a scripted model from one archive, and the command that is configured to ask it.
//!
//! An archive in `tests/data` holds the files of a project and, as the member `model`, the script of the model. The
//! server checks every request; a scene that is dropped has compared the ledger with what the provider reported.

use serde_json::Value;
use support::model::{Rules, Script, ScriptedModel, Usage};
use support::{Archive, Project, repository};

use crate::stage::{Answer, Stage};

pub struct Scene {
    pub stage: Stage,
    pub model: ScriptedModel,
}

/// The wire that a scene speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    Anthropic,
    Openai,
}

impl Scene {
    /// From `tests/data/NAME.txt`, with the script that is a member of it.
    pub fn data(name: &str, wire: Wire) -> Self {
        let path = repository().join("tests/data").join(name).with_extension("txt");
        Self::text(&std::fs::read_to_string(path).unwrap(), wire)
    }

    /// From the text of an archive with a member `model`.
    pub fn text(archive: &str, wire: Wire) -> Self {
        let mut archive = Archive::parse(archive);
        let script = Script::parse(&archive.take("model"));
        Self::with(Project::of(&archive).committed(), script, wire)
    }

    /// A committed project and what its model says.
    pub fn with(project: Project, script: impl Into<Script>, wire: Wire) -> Self {
        let mut stage = Stage::new(project);
        stage.understudy = stage.understudy.with("SCRIPTED_KEY", Rules::KEY);
        let model = ScriptedModel::start_with(rules(&stage), script);
        let scene = Self { stage, model };
        scene.configure(&scene.model.base_url(), wire);
        scene
    }

    /// Another model takes the place of the one before, in the same home.
    pub fn recast(&mut self, script: impl Into<Script>, wire: Wire) {
        self.model = ScriptedModel::start_with(rules(&self.stage), script);
        self.configure(&self.model.base_url(), wire);
    }

    /// Points the command at a provider.
    pub fn configure(&self, base_url: &str, wire: Wire) {
        let (wire, id) = match wire {
            Wire::Anthropic => ("anthropic", "claude-sonnet-4-5"),
            Wire::Openai => ("openai", "gpt-4.1"),
        };
        self.stage.understudy.configure(&format!(
            "[model]\nuse = \"scripted/{id}\"\npatience = 2\n[model.providers.scripted]\nwire = \"{wire}\"\n\
             base_url = \"{base_url}\"\nkey_env = \"SCRIPTED_KEY\"\nprices = \"{wire}\"\n"
        ));
    }

    /// Runs a task; the folder stays as it is, the requests were right, and the ledger agrees with the provider.
    #[track_caller]
    pub fn run(&self, code: i32, arguments: &[&str]) -> Answer {
        let arguments: Vec<&str> = ["run", "--engine", "model"].iter().chain(arguments).copied().collect();
        let answer = self.ask(code, &arguments);
        self.settled(&answer);
        answer
    }

    /// Any command with the key in its environment.
    #[track_caller]
    pub fn ask(&self, code: i32, arguments: &[&str]) -> Answer {
        let answer = self.stage.ask(code, arguments);
        self.model.assert_clean();
        answer
    }

    /// Every token that the provider reported is in the ledger, and no more, where each call came to its end.
    #[track_caller]
    pub fn settled(&self, answer: &Answer) {
        let Usage { output, .. } = self.model.totals();
        let reported = self.model.totals().sent() + output;
        let usage = &answer.report["usage"];
        assert_eq!(usage["tokens"], Value::from(reported), "{usage}\n{}", self.model.transcript());
    }
}

/// What may stand in no request: the developer's home, and whatever a test calls secret.
fn rules(stage: &Stage) -> Rules {
    let home = stage.understudy.state().ancestors().nth(2).unwrap().to_str().unwrap().to_owned();
    Rules::default().forbid(&home).forbid("canary-secret").may_compact()
}
