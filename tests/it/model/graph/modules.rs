//! The project of 25 modules, and how they rest on each other.

use support::Project;

pub const MODULES: usize = 25;
/// The module that goes wrong at first; the last one of `core`.
pub const BROKEN: usize = 15;

/// The modules that a module builds upon.
pub fn after(number: usize) -> Vec<usize> {
    match number {
        1 => Vec::new(),
        3 => vec![1, 2],
        16..=20 => vec![BROKEN],
        21 => vec![2],
        _ => vec![number - 1],
    }
}

pub fn path(number: usize) -> String {
    let package = if number <= BROKEN { "core" } else { "app" };
    format!("{package}/src/m{number}.js")
}

pub fn test_name(number: usize) -> String {
    format!("m{number} gives {}", value(number))
}

fn value(number: usize) -> usize {
    number + after(number).into_iter().map(value).sum::<usize>()
}

/// What a module gives that nobody has written: an error.
pub fn stub(number: usize) -> String {
    format!("unwritten.m{number}")
}

/// What a module is to give.
pub fn sum(number: usize) -> String {
    let parts = after(number).into_iter().map(|other| format!("m{other}()"));
    parts.chain([number.to_string()]).collect::<Vec<_>>().join(" + ")
}

/// The text of a module that gives this.
pub fn golden(number: usize, sum: &str) -> String {
    let import = |other: &usize| {
        let folder = if (*other <= BROKEN) == (number <= BROKEN) { "." } else { "../../core/src" };
        format!("import {{ m{other} }} from '{folder}/m{other}.js';\n")
    };
    let imports: String = after(number).iter().map(import).collect();
    format!("{imports}export const m{number} = () => {sum};\n")
}

/// Nothing is written yet, and every test fails.
pub fn project() -> Project {
    let manifest = |name: &str| {
        format!("{{ \"name\": \"{name}\", \"type\": \"module\", \"scripts\": {{ \"test\": \"node --test\" }} }}\n")
    };
    let mut archive = String::new();
    let mut file = |path: &str, text: &str| archive.push_str(&format!("-- {path} --\n{text}"));
    for (package, numbers) in [("core", 1..=BROKEN), ("app", BROKEN + 1..=MODULES)] {
        file(&format!("{package}/package.json"), &manifest(package));
        let mut tests = String::from("import test from 'node:test';\nimport assert from 'node:assert/strict';\n");
        for number in numbers.clone() {
            file(&path(number), &golden(number, &stub(number)));
            tests.push_str(&format!("import {{ m{number} }} from './src/m{number}.js';\n"));
        }
        for number in numbers {
            let (name, value) = (test_name(number), value(number));
            tests.push_str(&format!("test('{name}', () => assert.equal(m{number}(), {value}));\n"));
        }
        file(&format!("{package}/modules.test.js"), &tests);
    }
    Project::new(&archive).committed()
}
