//! A comment asks for a task: it goes with the change, and stays where there is none.

use std::sync::Arc;

use agent::{Compilers, Place, Walk};
use sandbox::Sandbox;
use task::port::{
    Absent, Answer, Change, Compiler, Gate, GateReport, Generation, Impact, Problem, Refactor, Refactored, Refactoring,
    Reference, Symbol, Symbols,
};
use task::{Conclusion, Edit, EditSet, Engine, FileEdit, Scope, TreePath, Trigger};

use crate::home::{Home, tree_path};

const TEXT: &str =
    "-- a.rs --\n// understudy: assist shout at a.rs:2:1\nwords\nend // understudy: later\n-- b.rs --\nb\n";

/// A compiler that knows one assist: it writes a line in capitals.
struct Shouting(Absent);

impl Refactor for Shouting {
    fn refactor(&self, _: Generation, asked: &Refactoring) -> Answer<Refactored> {
        let Refactoring::Assist { path, line, .. } = asked else { panic!("{asked:?}") };
        // Without the comment above it the words stand in the first line.
        let edits = vec![Edit::new(0..5, "WORDS")];
        let files = if *line == 1 { vec![FileEdit::Replace { path: path.clone(), edits }] } else { Vec::new() };
        let edits = EditSet { files };
        Answer::Known { value: Refactored::Edits { edits, limitations: Vec::new() }, missing: Vec::new() }
    }

    fn quick_fixes(&self, at: Generation, problem: &Problem) -> Answer<Vec<EditSet>> {
        self.0.quick_fixes(at, problem)
    }
}

impl Symbols for Shouting {
    fn find(&self, at: Generation, name: &str) -> Answer<Vec<Symbol>> {
        self.0.find(at, name)
    }

    fn outline(&self, at: Generation, path: &TreePath) -> Answer<Vec<Symbol>> {
        self.0.outline(at, path)
    }

    fn references(&self, at: Generation, path: &TreePath, offset: usize) -> Answer<Vec<Reference>> {
        self.0.references(at, path, offset)
    }
}

impl Gate for Shouting {
    fn gate(&self, _: Generation, _: &[TreePath]) -> GateReport {
        GateReport::Clean { missing: Vec::new() }
    }
}

impl Impact for Shouting {
    fn affected(&self, at: Generation, changed: &[TreePath]) -> Answer<Vec<String>> {
        self.0.affected(at, changed)
    }
}

impl Compiler for Shouting {
    fn push(&self, _: Change) {}
}

impl Compilers for Shouting {
    fn open(&self, _: &Place) -> Arc<dyn Compiler> {
        Arc::new(Self(self.0.clone()))
    }
}

/// A house with that compiler. Nothing is run in its jail: the project has no checks.
fn home(text: &str) -> Home {
    let mut home = Home::new(text);
    home.house.sandbox = Ok(Sandbox::open().unwrap());
    home.house.compilers = Arc::new(Shouting(Absent { reason: "not asked here".into() }));
    home
}

/// Asks for what the comment in this line says.
fn asked<'h>(home: &'h Home, line: u32, task: &str, scope: &[&str]) -> Walk<'h> {
    let text = home.project.text("a.rs").lines().nth(line as usize - 1).unwrap().to_owned();
    let mut request = home.request(task, Engine::Compiler, None);
    request.trigger = Some(Trigger { path: tree_path("a.rs"), line, text });
    request.scope = Scope::new(scope.iter().map(|glob| (*glob).to_owned()).collect()).unwrap();
    let id = home.walked(request);
    home.take(&id)
}

fn new_text(home: &Home, walk: &Walk<'_>) -> String {
    let tree = walk.state().tree.clone().unwrap();
    let file = agent::file_of(&*home.house.journal, &home.house.state, walk.id(), &tree, &tree_path("a.rs"));
    String::from_utf8(file.unwrap().unwrap()).unwrap()
}

#[test]
fn the_comment_goes_with_the_change_and_places_below_it_follow() {
    let home = home(TEXT);
    let walk = asked(&home, 1, "assist shout at a.rs:2:1", &[]);
    assert_eq!(new_text(&home, &walk), "WORDS\nend // understudy: later\n");
    assert!(walk.state().base.is_some() && walk.state().base != walk.state().tree);
}

#[test]
fn a_comment_away_from_the_change_is_a_hunk_of_its_own() {
    let home = home("-- a.rs --\nwords\nmore\nend // understudy: assist shout at a.rs:1:1\n");
    let walk = asked(&home, 3, "assist shout at a.rs:1:1", &[]);
    assert_eq!(new_text(&home, &walk), "WORDS\nmore\nend\n");
    assert_eq!(walk.report(None).unwrap().hunks.len(), 2);
}

#[test]
fn where_nothing_is_to_do_the_comment_stays() {
    let home = home(TEXT);
    let walk = asked(&home, 1, "assist shout at a.rs:9:1", &[]);
    assert!(matches!(walk.state().conclusion, Some(Conclusion::NothingToDo { .. })), "{:?}", walk.state().conclusion);
    assert!(walk.report(None).unwrap().hunks.is_empty());
}

#[test]
fn a_comment_that_may_not_change_stays_and_is_named() {
    let home = home("-- a.rs --\n// understudy: assist shout at b.rs:1:1\n-- b.rs --\nwords\n");
    let walk = asked(&home, 1, "assist shout at b.rs:1:1", &["b.rs"]);
    let report = walk.report(None).unwrap();
    assert_eq!(report.hunks.len(), 1);
    let said = report.limitations.iter().find(|it| it.path == Some(tree_path("a.rs"))).unwrap();
    assert!(said.text.contains("outside the permitted paths"), "{said:?}");
}
