//! [`Scene`]: a project, a scripted model, and the command that is configured to ask it.
//!
//! The server checks every request. Whatever a scene is about, what its provider reported is in the ledger and exceeds no
//! limit of the task, by no token and by no millionth of a dollar.

use serde_json::Value;
use support::Project;
use support::model::{Rules, Script, ScriptedModel, Usage, Wire as Spoken};

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
        let wrong = self.overspent(&answer);
        assert!(wrong.is_empty(), "{wrong:?}\n{}", self.model.transcript());
        answer
    }

    /// Where the ledger of a report has less than the provider reported, and where either exceeds a limit of the task.
    pub fn overspent(&self, answer: &Answer) -> Vec<String> {
        let mut wrong = Vec::new();
        let (usage, limits) = (&answer.report["usage"], &answer.report["task"]["limits"]);
        let calls: Vec<_> = self.model.seen().into_iter().zip(self.model.usages()).collect();
        let sum = |count: fn(Spoken, &Usage) -> u64| -> u64 {
            calls.iter().filter_map(|(seen, usage)| Some(count(seen.wire, usage.as_ref()?))).sum()
        };
        let tokens = sum(|_, usage| usage.sent() + usage.output);
        for (limit, reported, held) in
            [("max_tokens", tokens, &usage["tokens"]), ("budget_microdollars", sum(cost), &usage["microdollars"])]
        {
            // Commands that show no task have no ledger; where nothing was priced, nothing was asked.
            let held = held.as_u64().unwrap_or(if usage.is_object() { 0 } else { u64::MAX });
            if held < reported {
                wrong.push(format!("{limit}: the provider reported {reported}, the ledger holds {held}"));
            }
            if limits[limit].as_u64().is_some_and(|most| reported.max(held) > most) {
                wrong.push(format!("{limit} is {}, and {reported} were reported, {held} held", limits[limit]));
            }
        }
        wrong
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

/// Millionths of a dollar at the listed prices of the models that scenes ask, rounded down.
fn cost(wire: Spoken, usage: &Usage) -> u64 {
    let (input, cached, written, output) = match wire {
        Spoken::Anthropic => (300, 30, 375, 1500),
        Spoken::OpenAi => (200, 50, 0, 800),
    };
    (usage.input * input + usage.cached * cached + usage.cache_written * written + usage.output * output) / 100
}

/// What may stand in no request: the developer's home, and whatever a test calls secret.
fn rules(stage: &Stage) -> Rules {
    let home = stage.understudy.state().ancestors().nth(2).unwrap().to_str().unwrap().to_owned();
    Rules::default().forbid(&home).forbid("canary-secret").may_compact()
}
