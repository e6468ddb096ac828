//! The options of each runner that a script may set: those that decide how tests are found and loaded. What only changes
//! how results are shown, how long somebody watches, or which of the tests run, is not taken over.

use crate::tool::Tool;

/// Whether an option is taken over, and whether its value is the next word.
enum Kept {
    Alone,
    WithValue,
}

/// The words of a script after its runner that are taken over, in their order.
pub(crate) fn kept(tool: Tool, words: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if !word.starts_with('-') {
            let verb = tool == Tool::Vitest && matches!(word.as_str(), "run" | "watch" | "dev");
            if !(verb && kept.is_empty()) {
                kept.push(word.clone());
            }
            continue;
        }
        let (name, value) = word.split_once('=').map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
        match known(tool, name) {
            Some(Kept::Alone) => kept.push(word.clone()),
            Some(Kept::WithValue) => {
                kept.push(word.clone());
                if value.is_none() {
                    kept.extend(rest.next().cloned());
                }
            }
            None if value.is_none() && takes_a_word(name) => drop(rest.next()),
            None => {}
        }
    }
    kept
}

/// The options among words that are taken over, without the files and filters between them.
pub(crate) fn options(tool: Tool, words: &[String]) -> Vec<String> {
    let mut options = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if let Some(kept) = known(tool, word.split('=').next().unwrap_or(word)) {
            options.push(word.clone());
            if matches!(kept, Kept::WithValue) && !word.contains('=') {
                options.extend(rest.next().cloned());
            }
        }
    }
    options
}

fn known(tool: Tool, name: &str) -> Option<Kept> {
    let (flags, valued): (&[&str], &[&str]) = match tool {
        Tool::Node => (
            &["--no-warnings", "--enable-source-maps", "--expose-gc", "--test-force-exit", "--preserve-symlinks"],
            &[
                "--import",
                "-r",
                "--require",
                "--loader",
                "--experimental-loader",
                "-C",
                "--conditions",
                "--test-concurrency",
                "--test-timeout",
                "--env-file",
                "--unhandled-rejections",
            ],
        ),
        Tool::Vitest => (
            &["--globals", "--no-file-parallelism", "--no-isolate", "--passWithNoTests", "--dom"],
            &[
                "-c",
                "--config",
                "-r",
                "--root",
                "--dir",
                "--project",
                "--environment",
                "--mode",
                "--workspace",
                "--pool",
                "--exclude",
                "--testTimeout",
            ],
        ),
        Tool::Jest => (
            &["--runInBand", "-i", "--forceExit", "--passWithNoTests", "--detectOpenHandles"],
            &[
                "-c",
                "--config",
                "--rootDir",
                "--roots",
                "--projects",
                "--env",
                "--testEnvironment",
                "--maxWorkers",
                "-w",
                "--testPathPattern",
                "--testPathPatterns",
                "--testPathIgnorePatterns",
                "--testMatch",
                "--testRegex",
                "--selectProjects",
                "--preset",
                "--testTimeout",
                "--setupFilesAfterEnv",
            ],
        ),
        Tool::Mocha => (
            &["--recursive", "--exit", "--parallel", "-p", "--check-leaks", "--allow-uncaught"],
            &[
                "-r",
                "--require",
                "--config",
                "--package",
                "--spec",
                "--extension",
                "--timeout",
                "-t",
                "--ui",
                "-u",
                "--file",
                "--ignore",
                "--exclude",
                "-j",
                "--jobs",
                "--retries",
            ],
        ),
        Tool::Cargo | Tool::Tsc | Tool::Pytest => (&[], &[]),
    };
    if flags.contains(&name) {
        Some(Kept::Alone)
    } else if valued.contains(&name) {
        Some(Kept::WithValue)
    } else if tool == Tool::Node && name.starts_with("--experimental-") && !name.contains("coverage") {
        // `--experimental-strip-types`, `--experimental-vm-modules` and their like.
        Some(Kept::Alone)
    } else {
        None
    }
}

/// Options that are not taken over and whose value is a word of its own, which must not be mistaken for a file.
fn takes_a_word(name: &str) -> bool {
    const VALUED: [&str; 14] = [
        "--test-reporter",
        "--test-reporter-destination",
        "--test-name-pattern",
        "--test-skip-pattern",
        "--test-shard",
        "--reporter",
        "--reporters",
        "--outputFile",
        "-t",
        "--testNamePattern",
        "--coverageDirectory",
        "--shard",
        "--coverageReporters",
        "--collectCoverageFrom",
    ];
    VALUED.contains(&name)
}
