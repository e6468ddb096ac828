//! Projects of npm and python, with what the developer installed for them.

use std::fs;
use std::os::unix::fs::symlink;

use crate::stage::Stage;

const NPM: &str = "\
-- .gitignore --
node_modules
-- package.json --
{\"name\": \"top\", \"workspaces\": [\"packages/*\"]}
-- packages/core/package.json --
{\"name\": \"core\", \"main\": \"index.js\"}
-- packages/core/index.js --
module.exports = (a, b) => a + b;
-- packages/app/package.json --
{\"name\": \"app\", \"scripts\": {\"test\": \"node --test test/*.js\"}, \"dependencies\": {\"core\": \"*\"}}
-- packages/app/test/adds.js --
const test = require('node:test');
test('adds', () => require('node:assert').equal(require('core')(1, 2), 3));
-- packages/app/test/more.js --
require('node:test')('more', () => require('node:assert').ok(require('core')(0, 1)));
";

#[test]
fn a_package_is_judged_by_the_tests_of_those_that_use_it() {
    let stage = Stage::text(NPM);
    let modules = stage.project.path().join("node_modules");
    fs::create_dir(&modules).unwrap();
    symlink("../packages/core", modules.join("core")).unwrap();
    let core = "packages/core/index.js";
    stage.project.replace(core, "a + b", "b + a");
    stage.ask(0, &["prove", "--worktree"]).says("verified", "");
    stage.project.replace(core, "b + a", "a - b");
    let reason = "node --test in packages/app: 1 new failure: app node --test test/adds.js::adds";
    stage.ask(3, &["prove", "--worktree"]).says("not verified", reason);
    stage.project.replace(core, "a - b", "a + b");
    // A script that runs less than before hides nothing.
    stage.project.replace("packages/app/package.json", "test/*.js", "test/more.js");
    stage.ask(3, &["prove", "--worktree"]).says("not verified", "1 test vanished: app node --test test/adds.js::adds");
}

const PYTHON: &str = "\
-- .gitignore --
.venv
-- pyproject.toml --
[project]
name = \"adder\"
version = \"0.1.0\"
-- src/adder/__init__.py --
def add(a, b):
    return a + b
-- tests/test_add.py --
from adder import add


def test_adds():
    assert add(1, 2) == 3
";

#[test]
fn a_python_package_that_is_installed_editable_is_judged_as_it_is_in_the_tree() {
    let stage = Stage::text(PYTHON);
    let folder = stage.project.path();
    let run = |program: &str, arguments: &[&str]| {
        let output = support::command(program).args(arguments).current_dir(&folder).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    run("python3", &["-m", "venv", ".venv"]);
    run(".venv/bin/python", &["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "pytest==8.4.2"]);
    let libraries = fs::read_dir(folder.join(".venv/lib")).unwrap().next().unwrap().unwrap().path();
    let source = folder.canonicalize().unwrap().join("src");
    fs::write(libraries.join("site-packages/adder.pth"), source.to_str().unwrap()).unwrap();
    let (code, test) = ("src/adder/__init__.py", "tests/test_add.py");
    stage.project.replace(code, "a + b", "b + a");
    stage.ask(0, &["prove", "--worktree"]).says("verified", "");
    stage.project.replace(code, "b + a", "a - b");
    let reason = "pytest: 1 new failure: adder pytest tests/test_add.py::test_adds";
    stage.ask(3, &["prove", "--worktree"]).says("not verified", reason);
    stage.project.replace(test, "    assert", "    __import__('os')._exit(0)\n    assert");
    stage.ask(3, &["prove", "--worktree"]).says("not verified", "adder pytest (process)");
}
