//! `understudy doctor`: what works here, what does not and how to mend it, by really trying.

use std::path::Path;

use agent::House;
use anstream::println;
use serde::Serialize;
use task::ExitCode;

use super::request::{folder, print_json};
use crate::failure::Failure;
use crate::models;
use crate::render;
use crate::settings::Settings;
use crate::wiring::{self, Front};

/// One thing that was tried.
#[derive(Debug, Serialize)]
pub struct Finding {
    what: String,
    works: bool,
    /// Works as far as it goes.
    note: bool,
    /// What was seen.
    detail: String,
    /// How to mend it.
    remedy: Option<String>,
}

pub fn doctor(repo: &Path, json: bool) -> Result<ExitCode, Failure> {
    let repo = folder(repo)?;
    let opened = wiring::open_on(Front::Json, &repo)?;
    let findings = findings(&opened.house, Some(Path::new(&repo)));
    if json {
        print_json(&findings)?;
    } else {
        println!("{}", text(&findings));
    }
    let broken = findings.iter().any(|finding| !finding.works);
    Ok(if broken { ExitCode::Infrastructure } else { ExitCode::Done })
}

/// Tries everything, also on a folder where one is named.
pub fn findings(house: &House, folder: Option<&Path>) -> Vec<Finding> {
    let mut findings = vec![Finding {
        what: "state folder".into(),
        works: true,
        note: false,
        detail: house.state.display().to_string(),
        remedy: None,
    }];
    for probe in sandbox::probe() {
        let works = probe.holds();
        let note = matches!(probe.verdict, sandbox::Verdict::Note(_));
        let detail = match probe.verdict {
            sandbox::Verdict::Holds => String::new(),
            sandbox::Verdict::Note(text) | sandbox::Verdict::Broken(text) => text,
        };
        findings.push(Finding { what: probe.what.to_owned(), works, note, detail, remedy: probe.remedy });
    }
    findings.extend(of_models(house));
    let examined = folder.map(|folder| agent::examine(house, folder)).unwrap_or_default();
    findings.extend(examined.into_iter().map(|examined| Finding {
        what: examined.what,
        works: examined.works,
        note: examined.note,
        detail: examined.detail,
        remedy: examined.remedy,
    }));
    findings
}

/// Which models there are and whether their keys are; nobody is asked. Whoever has none can do without.
fn of_models(house: &House) -> Vec<Finding> {
    let finding = |works, note, detail: String, remedy| Finding { what: "model".into(), works, note, detail, remedy };
    let found = Settings::load().map(|settings| models::open(&settings));
    let wanted = found.as_ref().is_ok_and(|models| models.wanted);
    let key_of = |name: &str| {
        let provider = name.split('/').next().unwrap_or_default();
        match found.as_ref().ok().and_then(|models| models.keys.get(provider)) {
            Some((key, place)) => format!("{key} from {place}"),
            None => {
                let problem = found.as_ref().ok().and_then(|models| models.problems.get(provider));
                problem.map_or("no key".to_owned(), |problem| format!("no key: {problem}"))
            }
        }
    };
    match &house.model {
        Ok(model) => models::served(&**model)
            .into_iter()
            .map(|served| {
                let price = if served.priced { "priced" } else { "no price known" };
                let detail = format!("{} for {}; {price}, {}", served.name, served.stages, key_of(&served.name));
                let remedy = "only tokens are limited; `price` of the model below [model.models] limits dollars too";
                finding(true, !served.priced, detail, (!served.priced).then(|| remedy.to_owned()))
            })
            .collect(),
        Err(reason) if wanted => vec![finding(false, false, "cannot be asked".to_owned(), Some(reason.clone()))],
        Err(reason) => vec![finding(true, true, "none".to_owned(), Some(reason.clone()))],
    }
}

/// For people: a line for each finding, and one for all.
pub fn text(findings: &[Finding]) -> String {
    let mut text = String::new();
    for finding in findings {
        let mark = if finding.note {
            render::doubtful("~")
        } else if finding.works {
            render::good("✓")
        } else {
            render::poor("✗")
        };
        text.push_str(&format!("{mark} {:42} {}\n", finding.what, render::one_line(&finding.detail)));
        if let Some(remedy) = &finding.remedy {
            for line in task::printable(remedy).lines() {
                text.push_str(&format!("  {:42} {}\n", "", render::dim(line)));
            }
        }
    }
    let broken = findings.iter().filter(|finding| !finding.works).count();
    let all = match broken {
        0 => render::good("everything that was tried works"),
        1 => render::doubtful(format!("1 of {} things that were tried does not work", findings.len())),
        n => render::doubtful(format!("{n} of {} things that were tried do not work", findings.len())),
    };
    text.push_str(&format!("\n{all}"));
    text
}
