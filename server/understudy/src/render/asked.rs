//! What a task is, for whoever comes back to it: what was asked, where, when, and how far it is.

use std::time::{SystemTime, UNIX_EPOCH};

use agent::{Report, TaskRecord};
use anstream::println;

use super::style::{bold, dim};
use super::theirs::{indented, one_line};

/// Lines of the text that are shown; `--json` has it all.
const SHOWN: usize = 12;

pub fn print_task(report: &Report) {
    let task = &report.task;
    println!("{} {}  {}", bold("task"), bold(&task.id), one_line(&task.title));
    if let Some(text) = more_than_title(task) {
        println!("{}", indented(&text, 2));
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let age = u64::try_from(now.as_millis()).unwrap_or(u64::MAX).saturating_sub(task.created.0);
    let facts = format!("{}; {} engine; begun {}; {}", task.workspace, task.engine, ago(age), task.status);
    println!("  {}", dim(one_line(&facts)));
}

/// The text, where its title is not all of it.
fn more_than_title(task: &TaskRecord) -> Option<String> {
    let text = task.description.trim();
    if text == task.title {
        return None;
    }
    let mut lines: Vec<&str> = text.lines().take(SHOWN).collect();
    if text.lines().count() > SHOWN {
        lines.push("[...]");
    }
    Some(lines.join("\n"))
}

fn ago(ms: u64) -> String {
    let minutes = ms / 60_000;
    let (number, unit) = match minutes {
        0 => return "less than a minute ago".to_owned(),
        1..120 => (minutes, "minute"),
        120..2_880 => (minutes / 60, "hour"),
        _ => (minutes / 1_440, "day"),
    };
    format!("{number} {unit}{} ago", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn when_a_task_began_is_said_in_whole_units() {
        for (minutes, text) in
            [(0, "less than a minute ago"), (1, "1 minute ago"), (119, "119 minutes ago"), (120, "2 hours ago")]
        {
            assert_eq!(ago(minutes * 60_000), text);
        }
        assert_eq!(ago(3 * 24 * 60 * 60_000), "3 days ago");
    }
}
