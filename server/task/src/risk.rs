//! Marks on files whose change does more than it seems: they run by themselves, steer agents, run elsewhere with
//! secrets, or change what is trusted.

use std::sync::LazyLock;

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::TreePath;
use crate::text::is_deceptive;

/// Why a file needs a closer look. The first three need a consent of their own before they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Runs when the project is opened, saved, built or entered.
    RunsByItself,
    /// Steers coding agents or this tool.
    SteersAgents,
    /// Runs elsewhere, often with secrets.
    RunsElsewhere,
    /// Changes what is trusted or how the work is judged.
    ChangesTrust,
    /// Not text, or contains characters that hide or reorder text; or its name can be taken for another.
    HardToRead,
}

impl Risk {
    pub fn needs_consent(self) -> bool {
        matches!(self, Self::RunsByItself | Self::SteersAgents | Self::RunsElsewhere)
    }

    pub fn sentence(self) -> &'static str {
        match self {
            Self::RunsByItself => "runs by itself when the project is opened, built or entered",
            Self::SteersAgents => "steers coding agents",
            Self::RunsElsewhere => "runs elsewhere, often with secrets",
            Self::ChangesTrust => "changes what is trusted or how work is judged",
            Self::HardToRead => "is not plain readable text, or has a name that looks like another",
        }
    }

    /// The marks of a path, by name alone and without regard to case.
    pub fn of_path(path: &TreePath) -> Vec<Self> {
        let text = String::from_utf8_lossy(path.as_bytes());
        let lower = text.to_lowercase();
        let parts: Vec<&str> = lower.split('/').collect();
        let name = parts.last().copied().unwrap_or_default();
        let mut risks: Vec<Self> = MARKS
            .iter()
            .filter(|mark| match mark.kind {
                Kind::Folder => parts.contains(&mark.pattern),
                Kind::Name => fits(mark.pattern, name),
                Kind::Pair => parts.windows(2).any(|pair| mark.pattern.split('/').eq(pair.iter().copied())),
            })
            .map(|mark| mark.risk)
            .collect();
        // A link with the name of this folder makes one of whatever it leads to.
        if name == ".github" {
            risks.push(Self::RunsElsewhere);
        }
        let odd = |text: &str| LOOKALIKE.iter().any(|shape| shape.is_match(text)) || text.contains(is_deceptive);
        if odd(&text) || odd(&lower) || text.contains('\u{fffd}') {
            risks.push(Self::HardToRead);
        }
        risks.sort_unstable();
        risks.dedup();
        risks
    }
}

/// What of a path a pattern is compared with.
enum Kind {
    Folder,
    Name,
    Pair,
}

struct Mark {
    risk: Risk,
    kind: Kind,
    pattern: &'static str,
}

/// The table, which says at its top how it is read.
static MARKS: LazyLock<Vec<Mark>> = LazyLock::new(|| {
    let lines = include_str!("risk/marks.txt").lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(|line| row(line).into_iter().flatten()).collect()
});

fn row(line: &'static str) -> Option<Vec<Mark>> {
    let mut words = line.split(' ');
    let risk: Risk = serde_json::from_value(words.next()?.into()).ok()?;
    let kind: fn() -> Kind = match words.next()? {
        "folder" => || Kind::Folder,
        "name" => || Kind::Name,
        "pair" => || Kind::Pair,
        _ => return None,
    };
    Some(words.map(|pattern| Mark { risk, kind: kind(), pattern }).collect())
}

fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((head, tail)) => name.len() >= head.len() + tail.len() && name.starts_with(head) && name.ends_with(tail),
        None => name == pattern,
    }
}

/// Names that can be taken for others: a word of letters of two scripts, or of letters of another script that all look
/// like Latin ones; letters and spaces that only look like the usual ones; what is not in the composed form in which
/// names are written; a space at an end.
static LOOKALIKE: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let others = r"[\p{Cyrillic}\p{Greek}\p{Armenian}\p{Cherokee}\p{Coptic}\p{Lisu}]";
    let shapes = [
        format!(r"\p{{Latin}}[\p{{Alphabetic}}\p{{M}}0-9]*{others}|{others}[\p{{Alphabetic}}\p{{M}}0-9]*\p{{Latin}}"),
        r"(?:^|\P{L})[аеорсухіјѕһԁԛԝοανυρ]+(?:\P{L}|$)".to_owned(),
        r"[\u{250}-\u{2af}\u{2000}-\u{200a}\u{2010}-\u{2015}\u{2024}-\u{2026}\u{2044}\u{2215}\u{29f8}\u{a0}\u{202f}\u{205f}\u{3000}]".to_owned(),
        r"[\u{2100}-\u{218b}\u{2460}-\u{24ff}\u{fb00}-\u{fb06}\u{ff01}-\u{ff5e}\u{1d400}-\u{1d7ff}]".to_owned(),
        r"[\p{Latin}\p{Greek}\p{Cyrillic}][\u{300}-\u{36f}]|[\u{1100}-\u{11ff}\u{f900}-\u{faff}]".to_owned(),
        r"(?:^|/)\s|\s(?:/|$)".to_owned(),
    ];
    shapes.iter().filter_map(|shape| Regex::new(shape).ok()).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_act_by_themselves_are_marked_whatever_their_case_and_depth() {
        for (path, risk) in [
            ("crates/x/Build.rs", Risk::RunsByItself),
            (".cargo/config.toml", Risk::RunsByItself),
            ("a/.GitHub/workflows/ci.yml", Risk::RunsElsewhere),
            ("sub/CLAUDE.md", Risk::SteersAgents),
            ("tests/api.rs", Risk::ChangesTrust),
            ("Cargo.lock", Risk::ChangesTrust),
            // Links with the names of folders.
            (".cargo", Risk::RunsByItself),
            (".vscode", Risk::RunsByItself),
            (".github", Risk::RunsElsewhere),
            ("x/rust-analyzer.toml", Risk::RunsByItself),
            (".helix/languages.toml", Risk::RunsByItself),
            (".config/nextest.toml", Risk::RunsByItself),
            (".forgejo/workflows/ci.yaml", Risk::RunsElsewhere),
            (".windsurfrules", Risk::SteersAgents),
            ("GNUmakefile", Risk::RunsByItself),
            ("app/build.gradle.kts", Risk::RunsByItself),
            ("gradle/wrapper/gradle-wrapper.properties", Risk::RunsByItself),
            ("CMakeLists.txt", Risk::RunsByItself),
            (".pnp.cjs", Risk::RunsByItself),
            (".mocharc.yml", Risk::RunsByItself),
            ("vitest.workspace.ts", Risk::RunsByItself),
            ("next.config.mjs", Risk::RunsByItself),
            ("a/node_modules/b/index.js", Risk::RunsByItself),
            ("tox.ini", Risk::RunsByItself),
            (".run/all.run.xml", Risk::RunsByItself),
            (".config/mise/config.toml", Risk::RunsByItself),
            (".python-version", Risk::RunsByItself),
            (".github/instructions/a.instructions.md", Risk::SteersAgents),
            (".github/copilot-instructions.md", Risk::SteersAgents),
            ("WARP.md", Risk::SteersAgents),
            (".rules", Risk::SteersAgents),
        ] {
            assert!(Risk::of_path(&path.parse().unwrap()).contains(&risk), "{path}");
        }
        for path in ["src/builder.rs", "src/gradle.rs", "lib/workspace.rs", "docs/instructions/a.md", "src/node.js"] {
            assert_eq!(Risk::of_path(&path.parse().unwrap()), [], "{path}");
        }
    }

    #[test]
    fn every_row_of_the_table_is_read() {
        let rows = include_str!("risk/marks.txt").lines().filter(|line| !line.starts_with('#'));
        let patterns: usize = rows.map(|row| row.split(' ').count() - 2).sum();
        assert_eq!((MARKS.len(), LOOKALIKE.len()), (patterns, 6));
        assert!(MARKS.iter().all(|mark| mark.pattern == mark.pattern.to_lowercase() && !mark.pattern.is_empty()));
    }

    #[test]
    fn names_that_can_be_taken_for_others_are_marked() {
        for name in [
            "src/\u{430}uth.rs",
            "src/\u{441}\u{43e}\u{440}\u{443}.rs",
            "src/cafe\u{301}.rs",
            "src/a\u{200b}b.rs",
            "src/\u{ff41}.rs",
            "src/lib.rs ",
            "a\u{2215}b.rs",
            "Ma\u{212a}efile.md",
        ] {
            assert_eq!(Risk::of_path(&name.parse().unwrap()), [Risk::HardToRead], "{name:?}");
        }
        for name in [
            "src/caf\u{e9}.rs",
            "\u{43e}\u{442}\u{447}\u{451}\u{442}.md",
            "\u{65e5}\u{672c}.txt",
            "a b.txt",
            "\u{fc}ber_\u{43c}\u{438}\u{440}.rs",
        ] {
            assert_eq!(Risk::of_path(&name.parse().unwrap()), [], "{name:?}");
        }
    }
}
