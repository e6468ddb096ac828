//! Which test runner a script of `package.json` starts. Scripts are shell: what is not plainly understood is not run.

use std::collections::BTreeMap;

use crate::npm::options::kept;
use crate::tool::{Tool, is_assignment};

/// How a script starts a runner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Started {
    pub tool: Tool,
    /// `NAME=value`
    pub env: Vec<String>,
    pub args: Vec<String>,
}

/// Scripts that call scripts are followed this far.
const DEEPEST: usize = 4;

/// The runners that a script starts, in its order. Linters, compilers and other commands beside them are passed over.
pub(crate) fn runners(script: &str, scripts: &BTreeMap<String, String>) -> Vec<Started> {
    let mut found = Vec::new();
    follow(script, scripts, DEEPEST, &mut found);
    found
}

fn follow(script: &str, scripts: &BTreeMap<String, String>, depth: usize, found: &mut Vec<Started>) {
    for command in commands(script).unwrap_or_default() {
        if let Some(called) = called(&command) {
            if let (Some(script), 1..) = (scripts.get(called), depth) {
                follow(script, scripts, depth - 1, found);
            }
        } else if let Some(started) = started(&command) {
            found.push(started);
        }
    }
}

/// The name of the script that a command calls: `npm run unit`, `yarn unit`, `pnpm run unit`.
fn called(command: &[String]) -> Option<&str> {
    let words: Vec<&str> = command.iter().map(String::as_str).filter(|word| !is_assignment(word)).collect();
    match words.as_slice() {
        ["npm" | "pnpm" | "yarn" | "bun", "run" | "run-script", name, ..] if !name.starts_with('-') => Some(name),
        ["npm" | "pnpm" | "yarn", "test" | "t", ..] => Some("test"),
        ["yarn" | "pnpm", name, ..] if !matches!(*name, "exec" | "dlx") && !name.starts_with('-') => {
            // `yarn jest` starts a program, unless a script has that name.
            (Tool::of_program(name).is_none()).then_some(name)
        }
        _ => None,
    }
}

/// A command that starts a runner we know.
fn started(command: &[String]) -> Option<Started> {
    let mut env = Vec::new();
    let mut rest = command;
    while let Some((word, after)) = rest.split_first() {
        let program = word.rsplit('/').next().unwrap_or(word);
        if is_assignment(word) {
            env.push(word.clone());
        } else if let Some(tool) = Tool::of_program(program) {
            let args = after.iter().map(String::as_str);
            if program == "tsx" {
                let args: Vec<String> = ["--import", "tsx"].into_iter().chain(args).map(str::to_owned).collect();
                return node(env, &args);
            }
            if tool == Tool::Node {
                return node(env, after);
            }
            if tool == Tool::Mocha {
                // It hands options of node's on to another process, which the report would not reach.
                let (own, flags) = options_of_mocha(after);
                env.extend((!flags.is_empty()).then(|| format!("NODE_OPTIONS={}", flags.join(" "))));
                return Some(Started { tool, env, args: own });
            }
            return Some(Started { tool, env, args: kept(tool, after) });
        } else if !WRAPPERS.contains(&program) && !word.starts_with('-') && env.len() == command.len() - rest.len() {
            return None;
        }
        rest = after;
    }
    None
}

/// The words that are mocha's own, and those that are node's.
fn options_of_mocha(words: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut own, mut flags) = (Vec::new(), Vec::new());
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if ["--import", "--loader", "--experimental-loader"].contains(&word.as_str()) {
            flags.push(word.clone());
            flags.extend(rest.next().cloned());
        } else if word.starts_with("--import=") || word.starts_with("--experimental-") {
            flags.push(word.clone());
        } else {
            own.push(word.clone());
        }
    }
    (kept(Tool::Mocha, &own), flags)
}

/// Programs that start the command which their own words end with.
const WRAPPERS: [&str; 12] =
    ["cross-env", "cross-env-shell", "env", "npx", "pnpx", "bunx", "pnpm", "yarn", "c8", "nyc", "dotenv", "env-cmd"];

/// `node --test ...`, or node with the file of another runner.
fn node(mut env: Vec<String>, words: &[String]) -> Option<Started> {
    if words.iter().any(|word| word == "--test") {
        let words: Vec<String> = words.iter().filter(|word| *word != "--test").cloned().collect();
        return Some(Started { tool: Tool::Node, env, args: kept(Tool::Node, &words) });
    }
    let at = words.iter().position(|word| !word.starts_with('-'))?;
    let program = words[at].rsplit('/').next()?;
    let tool = match program.split('.').next()? {
        "jest" => Tool::Jest,
        "vitest" => Tool::Vitest,
        _ => return None,
    };
    let flags = kept(Tool::Node, &words[..at]);
    if !flags.is_empty() {
        env.push(format!("NODE_OPTIONS={}", flags.join(" ")));
    }
    Some(Started { tool, env, args: kept(tool, &words[at + 1..]) })
}

impl Tool {
    fn of_program(name: &str) -> Option<Self> {
        match name {
            "node" | "tsx" => Some(Self::Node),
            "vitest" => Some(Self::Vitest),
            "jest" => Some(Self::Jest),
            "mocha" | "_mocha" => Some(Self::Mocha),
            _ => None,
        }
    }
}

/// The commands of a line of shell, as words. `None` where it uses more than quotes and lists of commands.
fn commands(script: &str) -> Option<Vec<Vec<String>>> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut chars = script.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        end if end == c => break,
                        '\\' if c == '"' => word.push(chars.next()?),
                        '$' | '`' if c == '"' => return None,
                        other => word.push(other),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(chars.next()?),
            '&' | '|' | ';' | '\n' => {
                while chars.next_if(|next| matches!(next, '&' | '|')).is_some() {}
                commands.last_mut()?.extend(word.take());
                commands.push(Vec::new());
            }
            '$' | '`' | '<' | '>' | '(' | ')' => return None,
            c if c.is_whitespace() => commands.last_mut()?.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    commands.last_mut()?.extend(word);
    Some(commands)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(script: &str) -> Vec<String> {
        let scripts = [("unit", "vitest run --coverage src"), ("loop", "npm run loop")];
        let scripts = scripts.map(|(name, script)| (name.to_owned(), script.to_owned())).into();
        let text = |it: Started| [it.env, vec![it.tool.name().to_owned()], it.args].concat().join(" ");
        runners(script, &scripts).into_iter().map(text).collect()
    }

    #[test]
    fn a_runner_is_found_behind_variables_wrappers_and_other_scripts() {
        for (script, wanted) in [
            ("node --test", "node --test"),
            ("NODE_ENV=test node --test --test-reporter spec test/", "NODE_ENV=test node --test test/"),
            ("cross-env A=1 npx jest --coverage --runInBand", "A=1 jest --runInBand"),
            ("tsc --noEmit && vitest --config 'a b.ts'", "vitest --config a b.ts"),
            ("npm run unit", "vitest src"),
            ("c8 --reporter lcov node --import tsx --test \"test/**/*.ts\"", "node --test --import tsx test/**/*.ts"),
            ("tsx --test test/a.ts", "node --test --import tsx test/a.ts"),
            (
                "node --experimental-vm-modules node_modules/jest/bin/jest.js -t one a.js",
                "NODE_OPTIONS=--experimental-vm-modules jest a.js",
            ),
            ("yarn jest", "jest"),
            (
                "nyc mocha --import tsx -r ./setup --reporter dot --exit 'test/**/*.js'",
                "NODE_OPTIONS=--import tsx mocha -r ./setup --exit test/**/*.js",
            ),
        ] {
            assert_eq!(found(script), [wanted], "{script}");
        }
    }

    #[test]
    fn a_run_of_some_files_keeps_the_options_and_their_values() {
        let words = ["--import", "./setup.mjs", "test/a.js", "--no-warnings", "b.js"].map(str::to_owned);
        let options = crate::npm::options::options(Tool::Node, &words);
        assert_eq!(options, ["--import", "./setup.mjs", "--no-warnings"]);
    }

    #[test]
    fn what_is_not_understood_is_no_runner() {
        for script in ["ava", "node test.js", "jest $(cat list)", "echo jest", "npm run loop", "npm run none", "'"] {
            assert_eq!(found(script), Vec::<String>::new(), "{script}");
        }
    }
}
