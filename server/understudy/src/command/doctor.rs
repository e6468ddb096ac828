//! `understudy doctor`: what works here, what does not and how to mend it, by really trying.

use std::path::Path;

use anstream::println;
use serde::Serialize;
use task::ExitCode;

use super::request::{folder, print_json};
use crate::failure::Failure;
use crate::render;
use crate::wiring::{self, Front};

/// One thing that was tried.
#[derive(Debug, Serialize)]
struct Finding {
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
    let mut findings = vec![Finding {
        what: "state folder".into(),
        works: true,
        note: false,
        detail: opened.house.state.display().to_string(),
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
    for examined in agent::examine(&opened.house, Path::new(&repo)) {
        findings.push(Finding {
            what: examined.what,
            works: examined.works,
            note: examined.note,
            detail: examined.detail,
            remedy: examined.remedy,
        });
    }
    let broken = findings.iter().filter(|finding| !finding.works).count();
    if json {
        print_json(&findings)?;
    } else {
        for finding in &findings {
            let mark = if finding.note {
                render::doubtful("~")
            } else if finding.works {
                render::good("✓")
            } else {
                render::poor("✗")
            };
            println!("{mark} {:42} {}", finding.what, task::printable(&finding.detail));
            if let Some(remedy) = &finding.remedy {
                println!("  {:42} {}", "", render::dim(task::printable(remedy)));
            }
        }
        println!();
        match broken {
            0 => println!("{}", render::good("everything that was tried works")),
            n => println!(
                "{}",
                render::doubtful(format!("{n} of {} things that were tried do not work", findings.len()))
            ),
        }
    }
    Ok(if broken == 0 { ExitCode::Done } else { ExitCode::Infrastructure })
}
