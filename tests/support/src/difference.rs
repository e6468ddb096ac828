//! Differences between two prints of a path, in words.

use std::path::Path;

use crate::fingerprint::Print;

/// One line, or nothing where nothing differs.
pub(crate) fn describe(path: &Path, before: Option<&Print>, after: Option<&Print>) -> Option<String> {
    let name = if path.as_os_str().is_empty() { ".".into() } else { path.display().to_string() };
    let whole = |print: &Print| format!("(mode {:o}, {} bytes)", print.mode, print.bytes.len());
    match (before, after) {
        (None, None) => None,
        (Some(before), None) => Some(format!("- {name} {}", whole(before))),
        (None, Some(after)) => Some(format!("+ {name} {}", whole(after))),
        (Some(before), Some(after)) if before == after => None,
        (Some(before), Some(after)) => Some(format!("~ {name}: {}", changes(before, after).join("; "))),
    }
}

fn changes(before: &Print, after: &Print) -> Vec<String> {
    let mut changes = Vec::new();
    if before.mode != after.mode {
        changes.push(format!("mode {:o} -> {:o}", before.mode, after.mode));
    }
    if before.bytes != after.bytes {
        changes.push(first_line(&before.bytes, &after.bytes));
    }
    if before.mtime != after.mtime {
        let time = |mtime: Option<i128>| mtime.map_or("no time".into(), |mtime| format!("{mtime} ns"));
        changes.push(format!("changed at {} -> {}", time(before.mtime), time(after.mtime)));
    }
    changes
}

fn first_line(before: &[u8], after: &[u8]) -> String {
    let lines = |bytes: &[u8]| -> Vec<String> {
        bytes.split_inclusive(|byte| *byte == b'\n').map(|line| String::from_utf8_lossy(line).into_owned()).collect()
    };
    let (before, after) = (lines(before), lines(after));
    let same = before.iter().zip(&after).take_while(|(before, after)| before == after).count();
    let line = |lines: &[String]| {
        lines.get(same).map_or("missing".into(), |line| format!("{:?}", line.chars().take(120).collect::<String>()))
    };
    format!("line {} was {}, is {}", same + 1, line(&before), line(&after))
}
