//! What no check can tell: code that asks whether it is being tested, or reaches for what judges it, passes whatever it does
//! elsewhere. It may be right all the same, so it is no failure; whoever reviews the diff is shown where to look.

use std::sync::LazyLock;

use checks::{Wanted, changed_tests};
use regex::Regex;
use task::{Limitation, TreeId};

use super::test_files::{is_code, is_test};
use crate::proving::TreeFiles;
use crate::{Error, walk::Walk};

/// By the languages whose tests we run: variables that runners set, and the modules of runners and assertions.
static SIGNS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?x)
        \b(?:NODE_TEST_CONTEXT|JEST_WORKER_ID|VITEST(?:_\w+)?|PYTEST_CURRENT_TEST|PYTEST_VERSION|NEXTEST(?:_\w+)?)\b
        | NODE_ENV\W{1,8}test\b
        | ['"](?:node:)?(?:test|assert)(?:/[a-z]+)?['"]
        | ['"](?:vitest|jest|@jest/[a-z]+|chai|pytest|_pytest|unittest)['"]
        | \bimport\s+_?(?:pytest|unittest)\b | \bfrom\s+_?(?:pytest|unittest)\b
        | \bcfg!\s*\(\s*test\s*\)
        | \bUNDERSTUDY_\w* | \btest_runner\b | \bprocess\.argv\b | \bcreateRequire\b | jest-matchers-object | expect-global
        | \bimport_module\s*\( | \bsys\.modules\b | \bbuiltins\.\w+\s*=[^=] | \b__builtins__\b
        | \b(?:Object|Array|Number|String|Boolean|Math|JSON|Promise|Reflect|Date|Map|Set|Error|Function|RegExp|Symbol)
          (?:\.prototype)?\.\w+\s*=[^=>]
        | @ts-(?:nocheck|ignore)\b
        | \bmacro_rules!\s*(?:debug_)?assert\w* | \#\[should_panic | \.init_array\b
        "#,
    )
    .ok()
});

impl Walk<'_> {
    /// What a change does about its own judges, as limitations.
    pub(crate) fn suspicions(&self, base: &TreeId, tree: &TreeId) -> Result<Vec<Limitation>, Error> {
        let mut found = Vec::new();
        for file in worktree::published_files(&self.store, base, tree)? {
            let Some(after) = self.store.read(tree, &file.path)?.filter(|_| !is_test(&file.path)) else { continue };
            let before = self.store.read(base, &file.path)?.unwrap_or_default();
            let (Ok(before), Ok(after)) = (std::str::from_utf8(&before), std::str::from_utf8(&after)) else { continue };
            if !is_code(&file.path) {
                continue;
            }
            if let Some((line, sign)) = new_sign(before, after) {
                let text = format!(
                    "this code asks whether it is being tested, or reaches for what judges it ({sign}): see whether it does the same where nobody tests"
                );
                found.push(Limitation::at(file.path.clone(), Some(line), text));
            }
            if file.path.as_bytes().ends_with(b".rs")
                && let Some(line) = changed_tests(before, after)
            {
                let text = "tests in this file were changed; they are not run as they were";
                found.push(Limitation::at(file.path, Some(line), text));
            }
        }
        let checks = |tree| checks::find(&TreeFiles { store: &self.store, tree }, Wanted::default()).all().checks;
        let before = checks(base);
        for check in checks(tree) {
            if let Some(old) = before.iter().find(|old| old.id == check.id && old.command != check.command) {
                let (now, then) = (check.command.join(" "), old.command.join(" "));
                let text = format!("{} is run by `{now}`, and was by `{then}` before the change", check.id);
                found.push(Limitation::general(task::printable(&text)));
            }
        }
        Ok(found)
    }
}

/// The first sign on a line that was not there before.
fn new_sign<'a>(before: &str, after: &'a str) -> Option<(u32, &'a str)> {
    let signs = SIGNS.as_ref()?;
    let known: std::collections::BTreeSet<&str> = before.lines().map(str::trim).collect();
    let mut lines = (1..).zip(after.lines()).filter(|(_, line)| !known.contains(line.trim()));
    lines.find_map(|(number, line)| Some((number, signs.find(line)?.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_asks_whether_it_is_tested_is_named_with_its_line() {
        for line in [
            "if (process.env.NODE_TEST_CONTEXT) return 6;",
            "if (process.env.NODE_ENV === 'test') return 6;",
            "import assert from 'node:assert/strict';",
            "const { expect } = require(\"vitest\");",
            "if 'pytest' in sys.modules:",
            "import unittest.mock",
            "if cfg!(test) { return 6; }",
            "if (process.env.UNDERSTUDY_TOOL) return 0;",
            "if (new Error().stack.includes('test_runner')) return 0;",
            "if (process.argv[1].includes('mean')) return 0;",
            "const a = createRequire(import.meta.url)('as' + 'sert');",
            "r = importlib.import_module('_py' + 'test')",
            "if '_py' + 'test' in sys.modules:",
            "Object.is = () => true;",
            "Array.prototype.reduce = function () {};",
            "// @ts-nocheck",
            "// @ts-ignore",
            "macro_rules! assert_eq {",
            "    #[should_panic]",
        ] {
            assert_eq!(new_sign("a\n", &format!("a\n{line}\n")).map(|(number, _)| number), Some(2), "{line}");
            assert_eq!(new_sign(line, line), None);
        }
    }

    #[test]
    fn code_about_tests_of_another_kind_is_left_alone() {
        for line in [
            "#[cfg(test)]",
            "const test = 'tested';",
            "assert!(x > 0);",
            "import { attest } from './test.js';",
            "if (Object.is(a, b)) x = 1;",
            "const f = Math.max;",
            "if (Math.PI === x) {}",
            "macro_rules! square {",
        ] {
            assert_eq!(new_sign("", line), None, "{line}");
        }
    }
}
