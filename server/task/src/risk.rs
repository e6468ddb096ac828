//! Marks on files whose change does more than it seems: they run by themselves, steer agents, run elsewhere with
//! secrets, or change what is trusted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::TreePath;

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
    /// Not text, or contains characters that hide or reorder text.
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
            Self::HardToRead => "is not plain readable text",
        }
    }

    /// The marks of a path, by name alone and without regard to case.
    pub fn of_path(path: &TreePath) -> Vec<Self> {
        let lower = path.as_bytes().to_ascii_lowercase();
        let parts: Vec<&[u8]> = lower.split(|&byte| byte == b'/').collect();
        let Some(name) = parts.last() else { return Vec::new() };
        let text = String::from_utf8_lossy(name);
        // The last part counts too: a link with the name of such a folder makes one of whatever it leads to.
        let in_folder = |list: &[&str]| parts.iter().any(|part| list.iter().any(|name| name.as_bytes() == *part));
        let named = |list: &[&str]| {
            list.iter().any(|pattern| match pattern.split_once('*') {
                Some((head, tail)) => {
                    text.len() >= head.len() + tail.len() && text.starts_with(head) && text.ends_with(tail)
                }
                None => text == *pattern,
            })
        };
        let below = |folder: &str, name: &str| {
            parts.windows(2).any(|pair| pair[0] == folder.as_bytes() && pair[1] == name.as_bytes())
        };
        let mut risks = Vec::new();
        if in_folder(RUNS_FOLDERS) || named(RUNS_NAMES) {
            risks.push(Self::RunsByItself);
        }
        if in_folder(STEERS_FOLDERS) || named(STEERS_NAMES) || below(".github", "copilot-instructions.md") {
            risks.push(Self::SteersAgents);
        }
        if in_folder(ELSEWHERE_FOLDERS)
            || named(ELSEWHERE_NAMES)
            || below(".github", "workflows")
            || below(".github", "actions")
            || *name == b".github"
        {
            risks.push(Self::RunsElsewhere);
        }
        if in_folder(TRUST_FOLDERS) || named(TRUST_NAMES) {
            risks.push(Self::ChangesTrust);
        }
        risks
    }
}

const RUNS_FOLDERS: &[&str] = &[
    ".vscode",
    ".idea",
    ".zed",
    ".helix",
    ".vim",
    ".fleet",
    ".devcontainer",
    ".direnv",
    ".cargo",
    ".husky",
    ".githooks",
    ".mvn",
    ".git",
    ".yarn",
];
const RUNS_NAMES: &[&str] = &[
    "*.code-workspace",
    ".envrc",
    "mise.toml",
    ".mise*",
    ".tool-versions",
    ".nvim.lua",
    ".exrc",
    ".vimrc",
    ".nvimrc",
    ".lazy.lua",
    ".dir-locals*.el",
    "*.sublime-project",
    "rust-analyzer.toml",
    ".rust-analyzer.toml",
    "nextest.toml",
    "rust-toolchain",
    "rust-toolchain.toml",
    "build.rs",
    "eslint.config.*",
    ".eslintrc*",
    "prettier.config.*",
    ".prettierrc*",
    "stylelint.config.*",
    "tailwind.config.*",
    "vite.config.*",
    "vitest.config.*",
    "jest.config.*",
    "webpack.config.*",
    "babel.config.*",
    "postcss.config.*",
    "tsconfig*.json",
    "conftest.py",
    "sitecustomize.py",
    "*.pth",
    "setup.py",
    "setup.cfg",
    "pyproject.toml",
    ".pre-commit-config.yaml",
    "lefthook.*",
    ".gitattributes",
    ".gitmodules",
    ".gitconfig",
    "build.gradle*",
    "settings.gradle*",
    "gradlew*",
    "mvnw*",
    ".bazelrc",
    "build.bazel",
    "flake.nix",
    "shell.nix",
    "default.nix",
    "cmakepresets.json",
    "go.work",
];
const STEERS_FOLDERS: &[&str] = &[
    ".cursor",
    ".claude",
    ".codex",
    ".gemini",
    ".agents",
    ".windsurf",
    ".clinerules",
    ".roo",
    ".continue",
    ".kiro",
    ".junie",
    ".opencode",
];
const STEERS_NAMES: &[&str] = &[
    "agents.md",
    "claude.md",
    "gemini.md",
    ".cursorrules",
    ".windsurfrules",
    ".aider*",
    ".goosehints",
    "opencode.json*",
    ".mcp.json",
    ".aiexclude",
    "understudy.toml",
    ".worktreeinclude",
];
const ELSEWHERE_FOLDERS: &[&str] = &[".circleci", ".buildkite", ".forgejo", ".gitea", ".woodpecker", "k8s", "helm"];
const ELSEWHERE_NAMES: &[&str] = &[
    "action.yml",
    "action.yaml",
    ".gitlab-ci.yml",
    "azure-pipelines.yml",
    "jenkinsfile",
    ".travis.yml",
    ".woodpecker.y*ml",
    ".drone.yml",
    ".cirrus.yml",
    "*appveyor.yml",
    "cloudbuild.y*ml",
    "bitbucket-pipelines.yml",
    "dockerfile*",
    "docker-compose*",
    "compose*.yml",
    "compose*.yaml",
    "makefile",
    "justfile",
    "taskfile*",
    "procfile",
    "*.tf",
    "codeowners",
    "dependabot.yml",
    "renovate.json*",
];
const TRUST_FOLDERS: &[&str] = &["tests", "test", "__tests__", "snapshots", "__snapshots__", "vendor", "third_party"];
const TRUST_NAMES: &[&str] = &[
    "*.lock",
    "cargo.toml",
    "package.json",
    "package-lock.json",
    "pnpm-lock.yaml",
    ".npmrc",
    ".yarnrc*",
    ".pnpmfile.cjs",
    "pip.conf",
    "requirements*",
    "*_test.*",
    "test_*",
    "*.test.*",
    "*.spec.*",
    "*.snap",
    ".gitignore",
    "clippy.toml",
    "deny.toml",
];

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
        ] {
            assert!(Risk::of_path(&path.parse().unwrap()).contains(&risk), "{path}");
        }
        assert_eq!(Risk::of_path(&"src/builder.rs".parse().unwrap()), []);
    }
}
