//! The gate on real projects.

use task::port::{Gate as _, GateReport};

use crate::Case;
use crate::support::package;

pub const CASES: &[Case] = &[("gate::names_what_an_edit_breaks_here_and_elsewhere", names_breakage)];

const LIB: &str = r#"//! A library.
mod shapes;
use std::collections::HashMap;
use shapes::{Shape, area};

pub fn count(words: &[&str]) -> HashMap<String, usize> {
    let mut found = HashMap::new();
    for word in words { *found.entry(word.to_string()).or_insert(0) += 1; }
    found
}

pub fn total(shapes: &[Shape]) -> u32 { shapes.iter().map(area).sum() }

pub fn name(shape: &Shape) -> &'static str {
    match shape { Shape::Square { .. } => "square", Shape::Circle(_) => "circle" }
}

pub fn side(shape: &Shape) -> u32 {
    match shape { Shape::Square { side } => *side, Shape::Circle(r) => shapes::twice(*r) }
}
"#;

const SHAPES: &str = r#"//! Shapes.
pub enum Shape { Square { side: u32 }, Circle(u32) }
pub fn area(shape: &Shape) -> u32 {
    match shape { Shape::Square { side } => side * side, Shape::Circle(r) => 3 * r * r }
}
pub fn twice(x: u32) -> u32 { x * 2 }
"#;

#[track_caller]
fn broken(report: &GateReport, file: &str, word: &str) {
    let GateReport::Errors { problems, .. } = report else { panic!("{report:?}") };
    let found = problems.iter().any(|problem| problem.path.to_string() == file && problem.message.contains(word));
    assert!(found, "{problems:#?}");
}

fn names_breakage() {
    // A whole file that is not compiled here is not judged, one that is compiled is.
    let elsewhere = "#![cfg(all(windows, not(unix)))]\nfn main() {}\n";
    let here = "#![cfg(unix)]\nfn main() {}\n";
    let project = package(&[
        ("src/lib.rs", LIB),
        ("src/shapes.rs", SHAPES),
        ("tests/elsewhere.rs", elsewhere),
        ("tests/here.rs", here),
    ]);
    let report = project.gate_after("tests/elsewhere.rs", "fn main() {}", "fn main() { nothing::at_all() }");
    assert!(matches!(report, GateReport::Clean { .. }), "{report:?}");
    broken(
        &project.gate_after("tests/here.rs", "fn main() {}", "fn main() { nothing::at_all() }"),
        "tests/here.rs",
        "nothing",
    );
    broken(&project.gate_after("src/lib.rs", "use std::collections::HashMap;\n", ""), "src/lib.rs", "HashMap");
    broken(&project.gate_after("src/shapes.rs", "pub fn twice(x: u32) -> u32 { x * 2 }\n", ""), "src/lib.rs", "twice");
    broken(&project.gate_after("src/shapes.rs", "{ side: u32 }", "{ edge: u32 }"), "src/lib.rs", "side");
    broken(&project.gate_after("src/shapes.rs", "Circle(u32) }", "Circle(u32), Dot }"), "src/lib.rs", "match arm");
    broken(&project.gate_after("src/lib.rs", "found\n}", "3\n}"), "src/lib.rs", "expected");
    // A module whose file is gone is missed where it is declared.
    project.push(vec![(crate::support::path("src/shapes.rs"), None)]);
    let report = project.compiler.gate(project.at(), &[crate::support::path("src/shapes.rs")]);
    broken(&report, "src/lib.rs", "shapes");
    project.push(vec![(crate::support::path("src/shapes.rs"), Some(SHAPES.as_bytes().into()))]);
    for (from, to) in [("found.entry", "/* same */ found.entry"), ("\"circle\"", "\"round\"")] {
        let report = project.gate_after("src/lib.rs", from, to);
        assert!(matches!(report, GateReport::Clean { .. }), "{report:?}");
    }
}
