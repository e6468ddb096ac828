//! A report as text.

use agent::Report;
use anstream::{eprintln, print, println};
use task::{Comparison, Limitation, PublicationEnd, Verdict, Wait};

use super::style::{bold, dim, doubtful, duration, good, heading, place, poor};
use super::theirs::{indented, one_line};
use super::work::{print_criteria, print_plan, print_questions, print_usage};

/// Limitations shown before the rest is counted.
const LIMITATIONS: usize = 12;

/// Everything, in the order in which a person asks: what changed, what judged it, what it does not cover, what next.
pub fn print_report(report: &Report) {
    print_plan(report);
    if !report.diff.is_empty() {
        let (plus, minus) = line_counts(&report.diff);
        let files = report.diff.lines().filter(|line| line.starts_with("diff --git ")).count();
        println!(
            "{}  {files} file{}, {} {}",
            heading("diff"),
            s(files),
            good(format!("+{plus}")),
            poor(format!("-{minus}"))
        );
        print!("{}", super::diff::render(&report.diff, &report.hunks));
    }
    if !report.checks.is_empty() {
        println!("{}", heading("checks, here against base"));
        report.checks.iter().for_each(print_check);
    }
    print_criteria(report);
    print_limitations(&report.limitations);
    print_usage(report);
    print_verdict(report);
}

/// How the task ended, why, and what may follow.
fn print_verdict(report: &Report) {
    println!();
    let verdict = match report.exit_code {
        0 => good(bold(&report.verdict)),
        3 | 7 => doubtful(bold(&report.verdict)),
        _ => poor(bold(&report.verdict)),
    };
    match (report.verdict.as_str(), &report.tree) {
        ("verified", Some(tree)) => {
            let known = report.checks.iter().any(|check| check.verdict == Verdict::KnownFailure);
            let how = if known { "passed, or failed exactly as at base," } else { "passed" };
            println!("{verdict}  every required check {how} on exactly this tree, {tree}");
            let unread: Vec<String> = report
                .limitations
                .iter()
                .filter(|it| it.text == checks::UNREAD)
                .filter_map(|it| Some(it.path.as_ref()?.to_string()))
                .collect();
            if !unread.is_empty() {
                println!("  {}", doubtful(format!("but no check read what was changed in {}", unread.join(", "))));
            }
        }
        _ => println!("{verdict}"),
    }
    // The questions of a task that waits are shown with their options.
    let asked = matches!(report.waiting, Some(Wait::Answers { .. }));
    for reason in report.reasons.iter().filter(|_| !asked) {
        println!("{}", indented(reason, 2));
    }
    print_questions(report);
    for publication in &report.publications {
        let what = match &publication.end {
            None => "was asked for, and nobody has seen how it ended".to_owned(),
            Some(PublicationEnd::Applied) if publication.undoes.is_some() => "taken back".to_owned(),
            Some(PublicationEnd::Applied) => "written".to_owned(),
            Some(PublicationEnd::Partial { missing, reason }) => {
                format!("partial, {} files missing: {}", missing.len(), one_line(reason))
            }
            Some(PublicationEnd::Refused { reason }) => format!("refused: {}", one_line(reason)),
            Some(PublicationEnd::Diverged { .. }) => "diverged: nothing was written".to_owned(),
        };
        println!("  publication {}: {what} ({} files)", publication.number, publication.files.len());
    }
    if !report.timings.is_empty() {
        let times: Vec<String> = report
            .timings
            .iter()
            .filter(|it| it.ms > 0)
            .map(|it| format!("{} {}", it.station, duration(it.ms)))
            .collect();
        println!("{}", dim(format!("time: {}", times.join(", "))));
    }
    if !report.next.is_empty() {
        println!("{}", heading("next"));
        let width = report.next.iter().map(|step| step.what.len()).max().unwrap_or(0);
        for step in &report.next {
            println!("  {:width$}  {}", step.what, place(&step.command));
            if let Some(note) = &step.note {
                println!("  {:width$}  {}", "", doubtful(one_line(note)));
            }
        }
    }
}

fn print_check(check: &Comparison) {
    let word = check.verdict.word();
    let mark = match check.verdict {
        Verdict::Passed => good(format!("  ✓ {word:14}")),
        Verdict::KnownFailure => doubtful(format!("  ~ {word:14}")),
        _ => poor(format!("  ✗ {word:14}")),
    };
    let mut facts = vec![format!("{} passed", check.passed)];
    let mut count = |n: usize, what: &str| {
        if n > 0 {
            facts.push(format!("{n} {what}"));
        }
    };
    count(check.new_failures.len(), "failing here and not at base");
    count(check.known_failures.len(), "failing as at base");
    count(check.fixed.len(), "fixed");
    count(check.vanished.len(), "vanished");
    count(check.not_judged.len(), "not judged");
    count(check.added as usize, "added");
    println!("{mark} {:34} {}", one_line(&check.check.to_string()), dim(facts.join(", ")));
    if let Some(reason) = &check.reason
        && check.verdict != Verdict::Passed
    {
        println!("{}", indented(reason, 6));
    }
    for item in check.new_failures.iter().take(10) {
        println!("      {} {}", poor("new"), one_line(&item.id.to_string()));
        for line in item.excerpt.lines().take(12) {
            println!("        {}", dim(task::printable(line)));
        }
    }
    for id in check.vanished.iter().take(10) {
        println!("      {} {}", poor("vanished"), one_line(&id.to_string()));
    }
    for id in check.fixed.iter().take(10) {
        println!("      {} {}", good("fixed"), one_line(&id.to_string()));
    }
}

fn print_limitations(limitations: &[Limitation]) {
    if limitations.is_empty() {
        return;
    }
    println!("{}", heading("limitations"));
    for limitation in limitations.iter().take(LIMITATIONS) {
        let at = match (&limitation.path, limitation.line) {
            (Some(path), Some(line)) => format!("{} ", place(format!("{path}:{line}"))),
            (Some(path), None) => format!("{} ", place(path)),
            _ => String::new(),
        };
        println!("  {at}{}", one_line(&limitation.text));
    }
    if limitations.len() > LIMITATIONS {
        println!("  {}", dim(format!("and {} more; `--json` has them all", limitations.len() - LIMITATIONS)));
    }
}

fn line_counts(diff: &str) -> (usize, usize) {
    let lines = |mark: char, header: &str| {
        diff.lines().filter(|line| line.starts_with(mark) && !line.starts_with(header)).count()
    };
    (lines('+', "+++ "), lines('-', "--- "))
}

fn s(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// One clear sentence about what could not be done; what follows it on further lines stands below it.
pub fn print_error(text: &str) {
    eprintln!("{} {}", poor(bold("error:")), indented(text, 2).trim_start());
}
