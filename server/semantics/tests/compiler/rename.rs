//! Renames on real projects.

use task::port::Refactored;

use crate::Case;
use crate::support::{Project, package, published};

pub const CASES: &[Case] = &[
    ("rename::reaches_code_links_doctests_and_nothing_of_the_same_name", reaches_everything),
    ("rename::of_semver_matches_leaves_the_comparator_alone", semver_matches),
    ("rename::of_a_module_moves_its_files", module_moves),
    ("rename::keeps_byte_order_mark_and_line_endings", keeps_bytes),
    ("rename::of_trait_items_fields_and_variants_reaches_impls_and_shorthands", traits_and_variants),
    ("rename::refuses_what_would_change_a_meaning", refuses),
    ("rename::at_a_place_is_of_what_stands_there", at_a_place),
    ("rename::reaches_markdown_that_is_included_as_documentation", readme),
];

const DEMO: &str = r#"//! Uses [`Point::area`] and the area of others.
//!
//! ```
//! # use demo::Point;
//! let p = Point { width: 2, height: 3 };
//! assert_eq!(p.area(), 6);
//! ```

/// A point. See [`area`](Self::area), [Point::area()] and [`Other::area`].
#[derive(Debug, Clone)]
pub struct Point { pub width: u32, pub height: u32 }

pub struct Other;

impl Other {
    /// ```
    /// demo::Other.area();
    /// ```
    pub fn area(&self) -> u32 { 0 }
}

impl Point {
    /// The area.
    pub fn area(&self) -> u32 { self.width * self.height }
    pub fn double(&self) -> u32 { 2 * self.area() } // area in a comment
}

pub fn text() -> &'static str { "area" }

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn works() { assert_eq!(Point { width: 1, height: 1 }.area(), Other.area() + 1); }
}
"#;

#[track_caller]
fn edits(
    project: &Project,
    symbol: &str,
    new: &str,
) -> (std::collections::BTreeMap<String, Option<String>>, Vec<String>) {
    match project.rename(symbol, new) {
        Refactored::Edits { edits, limitations } => {
            let said = limitations
                .iter()
                .map(|limitation| format!("{:?}:{:?} {}", limitation.path, limitation.line, limitation.text))
                .collect();
            (project.applied(&edits), said)
        }
        other => panic!("{other:?}"),
    }
}

fn reaches_everything() {
    let project = package(&[("src/lib.rs", DEMO)]);
    let (new, limitations) = edits(&project, "Point::area", "surface");
    let expected = DEMO
        .replace("[`Point::area`]", "[`Point::surface`]")
        .replace("p.area()", "p.surface()")
        .replace("[`area`](Self::area), [Point::area()]", "[`surface`](Self::surface), [Point::surface()]")
        .replace("pub fn area(&self) -> u32 { self.width", "pub fn surface(&self) -> u32 { self.width")
        .replace("self.area()", "self.surface()")
        .replace("height: 1 }.area()", "height: 1 }.surface()");
    assert_eq!(new["src/lib.rs"].as_deref(), Some(expected.as_str()), "{new:#?}");
    assert!(limitations.iter().any(|text| text.contains("in a string")), "{limitations:#?}");
    assert!(limitations.iter().any(|text| text.contains("in a comment")), "{limitations:#?}");
}

fn semver_matches() {
    let project = published("semver-1.0.28");
    let (new, limitations) = edits(&project, "VersionReq::matches", "accepts");
    let uses = |path: &str| new[path].as_deref().unwrap().matches("accepts").count();
    assert_eq!((new.len(), uses("src/lib.rs"), uses("tests/test_version_req.rs")), (2, 3, 2), "{new:?}");
    assert!(limitations.iter().any(|text| text.contains("README.md")), "{limitations:#?}");
    assert!(new["src/lib.rs"].as_deref().unwrap().contains("pub fn accepts(&self, version: &Version)"));
}

#[track_caller]
fn refusal(project: &Project, symbol: &str, new: &str) -> String {
    match project.rename(symbol, new) {
        Refactored::Refused { reason } => reason,
        other => panic!("{other:?}"),
    }
}

fn module_moves() {
    let project = package(&[
        (
            "src/lib.rs",
            "//! Lib. See [`shapes`] and [`shapes::round::Circle`].\npub mod shapes;\npub use shapes::round::Circle;\n",
        ),
        (
            "src/shapes.rs",
            "//! Shapes.\npub mod round;\npub fn unit() -> round::Circle { crate::shapes::round::Circle }\n",
        ),
        ("src/shapes/round.rs", "//! Round.\npub struct Circle;\n"),
        ("src/shapes/notes.txt", "about shapes\n"),
    ]);
    let (new, limitations) = edits(&project, "demo::shapes", "forms");
    assert_eq!(new["src/shapes.rs"], None);
    assert_eq!(new["src/shapes/round.rs"], None);
    assert_eq!(new["src/forms/round.rs"].as_deref(), Some("//! Round.\npub struct Circle;\n"));
    let text = new["src/forms.rs"].as_deref().unwrap();
    assert!(text.contains("crate::forms::round::Circle"), "{text}");
    let text = new["src/lib.rs"].as_deref().unwrap();
    assert_eq!(
        text,
        "//! Lib. See [`forms`] and [`forms::round::Circle`].\npub mod forms;\npub use forms::round::Circle;\n"
    );
    assert!(limitations.iter().any(|text| text.contains("notes.txt")), "{limitations:#?}");
}

fn keeps_bytes() {
    let project = package(&[(
        "src/lib.rs",
        "\u{feff}//! [`Old`]\r\n/// ```\r\n/// let _ = demo::Old;\r\n/// ```\r\npub struct Old;\r\n\r\nimpl Old {\r\n    pub fn m(self) -> Old { self }\r\n}\r\n",
    )]);
    let (new, _) = edits(&project, "Old", "Newer");
    assert_eq!(new["src/lib.rs"].clone().unwrap(), project.text("src/lib.rs").replace("Old", "Newer"));
}

fn traits_and_variants() {
    let project = package(&[(
        "src/lib.rs",
        "pub trait Area { fn area(&self) -> u32; }\npub struct A;\nimpl Area for A { fn area(&self) -> u32 { 1 } }\npub enum Kind { One { size: u32 }, Two }\npub fn f(a: &A, k: Kind) -> u32 {\n    let size = 3;\n    let _ = Kind::One { size };\n    a.area() + match k { Kind::One { size } => size, Kind::Two => 0 }\n}\nimpl std::fmt::Display for A { fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { Ok(()) } }\n",
    )]);
    let (new, _) = edits(&project, "A::area", "surface");
    let text = new["src/lib.rs"].clone().unwrap();
    assert_eq!(text, project.text("src/lib.rs").replace("fn area", "fn surface").replace("a.area()", "a.surface()"));
    let (new, _) = edits(&project, "Kind::One::size", "length");
    let text = new["src/lib.rs"].clone().unwrap();
    assert!(text.contains("One { length: u32 }") && text.contains("Kind::One { length: size }"), "{text}");
    let (new, _) = edits(&project, "Kind::Two", "Second");
    assert_eq!(new["src/lib.rs"].clone().unwrap(), project.text("src/lib.rs").replace("Two", "Second"));
    let reason = refusal(&project, "A::fmt", "show");
    assert!(reason.contains("trait that is not part of this project"), "{reason}");
}

fn refuses() {
    let project = package(&[(
        "src/lib.rs",
        "pub fn taken() {}\npub fn one() -> u32 { let inner = 1; two() + inner }\npub fn two() -> u32 { 2 }\npub struct S { a: u32, b: u32 }\nimpl S { pub fn a(&self) -> u32 { self.a } pub fn b(&self) -> u32 { self.b } }\npub mod m { pub fn one() {} }\nmacro_rules! make { ($n:ident) => { pub struct $n; }; (fixed) => { pub struct Fixed; } }\nmake!(Made);\n",
    )]);
    assert!(refusal(&project, "crate::one", "taken").contains("already has `taken`"));
    assert!(refusal(&project, "S::a()", "b").contains("already has `b`"));
    assert!(refusal(&project, "field@S::a", "b").contains("already has `b`"));
    assert!(refusal(&project, "crate::one", "fn").contains("keyword"));
    assert!(refusal(&project, "crate::one", "a-b").contains("identifier"));
    assert!(refusal(&project, "crate::two", "inner").contains("would mean something else"));
    let Refactored::Ambiguous { candidates } = project.rename("one", "uno") else { panic!("one is two functions") };
    assert_eq!(candidates.iter().map(|symbol| symbol.name.as_str()).collect::<Vec<_>>(), ["demo::one", "demo::m::one"]);
    let Refactored::NotFound { nearest } = project.rename("takne", "x") else { panic!("there is no takne") };
    assert_eq!(nearest.first().map(String::as_str), Some("demo::taken"));
    assert_eq!(project.find("S::a()"), ["demo::S::a"]);
    let (new, _) = edits(&project, "Made", "Built");
    assert!(new["src/lib.rs"].clone().unwrap().contains("make!(Built)"));
}

fn readme() {
    let project = package(&[
        ("src/lib.rs", "#![doc = include_str!(\"../README.md\")]\npub fn old() -> u32 { 1 }\n"),
        ("README.md", "# Demo\n\nCalls [`old`], not old.\n\n```rust\nassert_eq!(demo::old(), 1);\n```\n"),
    ]);
    let (new, limitations) = edits(&project, "demo::old", "fresh");
    assert_eq!(
        new["README.md"].as_deref(),
        Some("# Demo\n\nCalls [`fresh`], not old.\n\n```rust\nassert_eq!(demo::fresh(), 1);\n```\n")
    );
    assert!(limitations.iter().any(|text| text.contains("README.md") && text.contains("Some(3)")), "{limitations:?}");
}

/// Names that mean several things, also one that no path can name.
fn at_a_place() {
    let text = "pub struct Point { pub x: u32 }\npub fn make(x: u32) -> Point {\n    let é = 1; let y = x + é;\n    Point { x: y }\n}\n\
                pub fn same(x: u32) -> Point { Point { x } }\n";
    let project = package(&[("src/lib.rs", text)]);
    let renamed =
        |symbol: &str, line: u32, column: u32| match project.rename_at(symbol, ("src/lib.rs", line, column), "z") {
            Refactored::Edits { edits, .. } => Ok(project.applied(&edits)["src/lib.rs"].clone().unwrap()),
            Refactored::Refused { reason } => Err(reason),
            other => panic!("{other:?}"),
        };
    let parameter = text.replace("make(x", "make(z").replace("= x +", "= z +");
    assert_eq!(renamed("x", 2, 13).as_ref(), Ok(&parameter), "where it is defined");
    assert_eq!(renamed("x", 3, 24), Ok(parameter), "where it is used, behind a character of two bytes");
    let field = text.replace("pub x", "pub z").replace("{ x: y", "{ z: y").replace("{ x }", "{ z: x }");
    assert_eq!(renamed("Point::x", 1, 24), Ok(field));
    assert!(renamed("y", 2, 13).unwrap_err().contains("is not called `y`"));
    assert!(renamed("x", 6, 40).unwrap_err().contains("two things at once"));
    assert!(renamed("x", 99, 1).unwrap_err().contains("has no line 99"));
}
