//! What is wrong with a text, line by line.

use super::support::{known, path, tree, unknown};

#[track_caller]
fn problems(name: &str, text: &str) -> Vec<String> {
    let found = known(tree(&[]).syntax(&path(name), text.as_bytes()));
    found.iter().map(|problem| format!("{}: {}", problem.line, problem.message)).collect()
}

#[test]
fn text_that_parses_has_no_problems() {
    let none: [String; 0] = [];
    assert_eq!(
        problems(
            "a.rs",
            "#![allow(x)]\nasync fn f<'a>(x: &'a str) -> impl Fn() { let Some(y) = z else { return; }; }\n"
        ),
        none
    );
    assert_eq!(problems("a.py", "match x:\n    case [1, *_]:\n        print(f\"{x!r}\")\n"), none);
    assert_eq!(problems("a.ts", "const x = y satisfies Z;\nexport type A<T> = T extends infer U ? U : never;\n"), none);
    assert_eq!(problems("a.jsx", "export default () => <a href='x'>{y?.z ?? 1}</a>;\n"), none);
    assert_eq!(problems("a.go", "package a\nfunc F[T any](x T) { for i := range 3 { _ = i } }\n"), none);
    assert_eq!(problems("empty.py", ""), none);
    assert_eq!(problems("bom.rs", "\u{feff}fn f() {}\r\n"), none);
}

#[test]
fn each_problem_says_its_line_and_what_is_wrong() {
    let found = problems("a.rs", "fn f() {\n    let x = ;\n}\n");
    assert!(found[0].starts_with("2: "), "{found:?}");
    let found = problems("a.js", "function f() {\n  if (x) {\n  return 1;\n}\n");
    assert!(
        found.iter().any(|problem| problem.contains("`}` is missing") || problem.contains("never closed")),
        "{found:?}"
    );
    let found = problems("a.py", "def f(:\n    pass\n");
    assert!(found[0].starts_with("1: "), "{found:?}");
    let found = problems("a.go", "package a\nfunc f() { x := [1, 2 }\n");
    assert!(found[0].starts_with("2: "), "{found:?}");
}

#[test]
fn the_first_five_problems_are_enough() {
    let text: String = (0..50).map(|number| format!("fn f{number}() {{ let x = ; }}\n")).collect();
    let found = problems("a.rs", &text);
    assert_eq!(found.len(), 5, "{found:?}");
    assert!(found[0].starts_with("1: ") && found[4].starts_with("5: "), "{found:?}");
}

#[test]
fn what_cannot_be_judged_is_unknown() {
    let retrieve = tree(&[]);
    assert!(unknown(retrieve.syntax(&path("a.zig"), b"x")).contains("no grammar"));
    assert!(unknown(retrieve.syntax(&path("a.rs"), b"// \xff\n")).contains("UTF-8"));
    let large = vec![b' '; 3 << 20];
    assert!(unknown(retrieve.syntax(&path("a.rs"), &large)).contains("bytes"));
}

#[test]
fn problems_show_no_bytes_that_could_deceive() {
    let found = problems("a.rs", "fn f() { \u{202e}\u{1b}[2J \u{7} @@@ }\n");
    assert!(
        !found.is_empty() && found.iter().all(|problem| !problem.contains(['\u{202e}', '\u{1b}', '\u{7}'])),
        "{found:?}"
    );
}
