//! The unified diff in colour, each place with the ids of the hunks that can be kept or rejected there.

use std::fmt::Write as _;

use agent::HunkRecord;

use super::style::{bold, dim, doubtful, good, place, poor};

/// Renders a whole unified diff.
pub fn render(diff: &str, hunks: &[HunkRecord]) -> String {
    let mut out = String::with_capacity(diff.len() * 2);
    let mut path = String::new();
    let mut body = false;
    for line in diff.lines() {
        let shown = task::printable(line);
        if line.starts_with("diff --git ") {
            body = false;
            let _ = writeln!(out, "{}", bold(&shown));
        } else if let Some(range) = line.strip_prefix("@@ ") {
            body = true;
            let ids = ids_in(hunks, &path, range);
            let _ = writeln!(out, "{} {}", place(&shown), dim(ids));
        } else if !body {
            if let Some(name) = line.strip_prefix("+++ b/").or_else(|| line.strip_prefix("--- a/")) {
                name.clone_into(&mut path);
                path = path.trim_end_matches('\t').to_owned();
            }
            let _ = writeln!(out, "{}", dim(&shown));
        } else {
            let shown = match line.as_bytes().first() {
                Some(b'+') => good(&shown),
                Some(b'-') => poor(&shown),
                Some(b'\\') => dim(&shown),
                _ => shown,
            };
            let _ = writeln!(out, "{shown}");
        }
    }
    let whole: Vec<&HunkRecord> = hunks.iter().filter(|hunk| hunk.kind != task::HunkKind::Text).collect();
    for hunk in whole {
        let kind = format!("{:?}", hunk.kind).to_lowercase();
        let _ = writeln!(out, "{} {}", dim(format!("hunk {}", hunk.id)), dim(format!("{kind} {}", hunk.path)));
    }
    for hunk in hunks.iter().filter(|hunk| hunk.needs_consent) {
        for risk in hunk.risks.iter().filter(|risk| risk.needs_consent()) {
            let _ = writeln!(
                out,
                "{}",
                doubtful(format!("{} {}: hunk {} needs its own consent", hunk.path, risk.sentence(), hunk.id))
            );
        }
    }
    out
}

/// The ids of the text hunks whose base lines lie in this `-a,b +c,d` range.
fn ids_in(hunks: &[HunkRecord], path: &str, range: &str) -> String {
    let old = range.split_whitespace().next().unwrap_or_default().trim_start_matches('-');
    let (start, count) = old.split_once(',').unwrap_or((old, "1"));
    let (start, count): (u32, u32) = (start.parse().unwrap_or(0), count.parse().unwrap_or(0));
    let inside = hunks.iter().filter(|hunk| {
        hunk.kind == task::HunkKind::Text
            && (hunk.path.to_str() == Some(path) || hunk.old_path.to_str() == Some(path))
            && (start..=start + count).contains(&hunk.base_start)
    });
    let ids: Vec<&str> = inside.map(|hunk| hunk.id.as_str()).collect();
    if ids.is_empty() { String::new() } else { format!("hunk {}", ids.join(" ")) }
}
