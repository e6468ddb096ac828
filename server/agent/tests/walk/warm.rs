//! Compilers wait on the shelf between the tasks of a server.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agent::{Compilers, Place, Shelf};
use sandbox::{CancelToken, Sandbox};
use task::port::{
    Absent, Answer, Change, Compiler, Gate, GateReport, Generation, Impact, Problem, Refactor, Refactored, Refactoring,
    Reference, Symbol, Symbols,
};
use task::{Edit, EditSet, Engine, FileEdit, TreePath};

use crate::home::{Home, tree_path};

const TEXT: &str = "-- a.rs --\nwords\n-- b.rs --\nb\n";
const LONG: Duration = Duration::from_secs(600);

/// What the doubles did.
#[derive(Default)]
struct Log {
    opened: AtomicUsize,
    /// Compilers that are gone.
    ended: AtomicUsize,
    rebased: AtomicUsize,
    /// The token of the task that a compiler was bound to last.
    bound: Mutex<Option<CancelToken>>,
    /// The answer to the next questions of the kind.
    refuses: AtomicBool,
    crashes: AtomicBool,
}

/// A compiler that upper-cases the first word of a file.
struct Words {
    log: Arc<Log>,
    base: Mutex<BTreeMap<TreePath, Arc<[u8]>>>,
    generation: AtomicU64,
    absent: Absent,
}

impl Words {
    fn is_at(&self, at: Generation) -> bool {
        self.generation.load(Ordering::SeqCst) == at.0
    }

    fn take(&self, change: Change) {
        assert!(change.generation.0 > self.generation.swap(change.generation.0, Ordering::SeqCst));
        let mut base = self.base.lock().unwrap();
        if base.is_empty() {
            base.extend(change.files.into_iter().filter_map(|(path, bytes)| Some((path, bytes?))));
        }
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        self.log.ended.fetch_add(1, Ordering::SeqCst);
    }
}

impl Refactor for Words {
    fn refactor(&self, at: Generation, asked: &Refactoring) -> Answer<Refactored> {
        let Refactoring::Assist { path, .. } = asked else { panic!("{asked:?}") };
        if self.log.crashes.load(Ordering::SeqCst) {
            return Answer::Unknown { reason: "the compiler process ended".into() };
        }
        assert!(self.is_at(at));
        let text = self.base.lock().unwrap()[path].clone();
        let new = String::from_utf8(text.to_vec()).unwrap().trim_end().to_uppercase();
        let edits = vec![Edit::new(0..new.len(), new)];
        let edits = EditSet { files: vec![FileEdit::Replace { path: path.clone(), edits }] };
        Answer::Known { value: Refactored::Edits { edits, limitations: Vec::new() }, missing: Vec::new() }
    }

    fn quick_fixes(&self, at: Generation, problem: &Problem) -> Answer<Vec<EditSet>> {
        self.absent.quick_fixes(at, problem)
    }
}

impl Symbols for Words {
    fn find(&self, at: Generation, name: &str) -> Answer<Vec<Symbol>> {
        self.absent.find(at, name)
    }

    fn outline(&self, at: Generation, path: &TreePath) -> Answer<Vec<Symbol>> {
        self.absent.outline(at, path)
    }

    fn references(&self, at: Generation, path: &TreePath, offset: usize) -> Answer<Vec<Reference>> {
        self.absent.references(at, path, offset)
    }
}

impl Gate for Words {
    fn gate(&self, at: Generation, _: &[TreePath]) -> GateReport {
        assert!(self.is_at(at));
        GateReport::Clean { missing: Vec::new() }
    }
}

impl Impact for Words {
    fn affected(&self, at: Generation, changed: &[TreePath]) -> Answer<Vec<String>> {
        self.absent.affected(at, changed)
    }
}

impl Compiler for Words {
    fn push(&self, change: Change) {
        self.take(change);
    }

    fn rebase(&self, base: Change) -> bool {
        if self.log.refuses.load(Ordering::SeqCst) {
            return false;
        }
        self.log.rebased.fetch_add(1, Ordering::SeqCst);
        self.base.lock().unwrap().clear();
        self.take(base);
        true
    }
}

struct Counting {
    shelf: Shelf,
    log: Arc<Log>,
}

impl Compilers for Counting {
    fn open(&self, place: &Place) -> Arc<dyn Compiler> {
        self.log.opened.fetch_add(1, Ordering::SeqCst);
        *self.log.bound.lock().unwrap() = Some(place.cancel.clone());
        let absent = Absent { reason: "not asked here".into() };
        let (base, generation) = (Mutex::default(), AtomicU64::new(0));
        Arc::new(Words { log: Arc::clone(&self.log), base, generation, absent })
    }

    fn shelf(&self) -> Option<&Shelf> {
        Some(&self.shelf)
    }

    fn release(&self, _: &dyn Compiler) -> bool {
        *self.log.bound.lock().unwrap() = None;
        !self.log.crashes.load(Ordering::SeqCst)
    }

    fn renew(&self, _: &dyn Compiler, place: &Place) {
        *self.log.bound.lock().unwrap() = Some(place.cancel.clone());
    }
}

fn compilers(idle: Duration) -> Arc<Counting> {
    Arc::new(Counting { shelf: Shelf::new(idle), log: Arc::default() })
}

/// A house with these compilers. Nothing is run in its jail: the project has no checks.
fn home(compilers: &Arc<Counting>) -> Home {
    let mut home = Home::new(TEXT);
    home.house.sandbox = Ok(Sandbox::open().unwrap());
    home.house.compilers = Arc::clone(compilers) as Arc<dyn Compilers>;
    home
}

/// A task of its own, with a token of its own; answers the new text of the file.
fn shouted(home: &mut Home, file: &str) -> String {
    home.house.cancel = CancelToken::new();
    let request = home.request(&format!("assist shout at {file}:1:1"), Engine::Compiler, None);
    let id = home.walked(request);
    let walk = home.take(&id);
    let tree = walk.state().tree.clone().unwrap();
    let new = agent::file_of(&*home.house.journal, &home.house.state, &id, &tree, &tree_path(file));
    String::from_utf8(new.unwrap().unwrap()).unwrap()
}

fn counts(compilers: &Counting) -> [usize; 4] {
    let count = |counter: &AtomicUsize| counter.load(Ordering::SeqCst);
    let log = &compilers.log;
    [count(&log.opened), count(&log.rebased), count(&log.ended), compilers.shelf.waiting()]
}

#[test]
fn the_second_task_gets_the_compiler_of_the_first_with_its_own_base() {
    let compilers = compilers(LONG);
    let mut home = home(&compilers);
    assert_eq!(shouted(&mut home, "a.rs"), "WORDS\n");
    assert_eq!(counts(&compilers), [1, 0, 0, 1]);
    assert!(compilers.log.bound.lock().unwrap().is_none(), "nobody's cancellation ends a compiler that waits");
    home.project.write("a.rs", "other\n");
    assert_eq!(shouted(&mut home, "a.rs"), "OTHER\n");
    assert_eq!(shouted(&mut home, "b.rs"), "B\n");
    assert_eq!(counts(&compilers), [1, 2, 0, 1]);
}

#[test]
fn a_compiler_that_does_not_take_the_base_is_replaced() {
    let compilers = compilers(LONG);
    let mut home = home(&compilers);
    shouted(&mut home, "a.rs");
    compilers.log.refuses.store(true, Ordering::SeqCst);
    assert_eq!(shouted(&mut home, "b.rs"), "B\n");
    assert_eq!(counts(&compilers), [2, 0, 1, 1]);
}

#[test]
fn a_compiler_that_crashed_does_not_wait() {
    let compilers = compilers(LONG);
    let mut home = home(&compilers);
    compilers.log.crashes.store(true, Ordering::SeqCst);
    let request = home.request("assist shout at a.rs:1:1", Engine::Compiler, None);
    let id = home.walked(request);
    assert!(home.take(&id).state().tree.is_none() || home.take(&id).report(None).unwrap().hunks.is_empty());
    assert_eq!(counts(&compilers), [1, 0, 1, 0]);
    compilers.log.crashes.store(false, Ordering::SeqCst);
    assert_eq!(shouted(&mut home, "a.rs"), "WORDS\n");
    assert_eq!(counts(&compilers), [2, 0, 1, 1]);
}

#[test]
fn a_task_in_another_slot_gets_another_compiler() {
    let compilers = compilers(LONG);
    let mut home = home(&compilers);
    shouted(&mut home, "a.rs");
    let workspace = worktree::Workspace::open(&home.folder(), &home.house.state).unwrap();
    let first = worktree::Slot::lease(&workspace).unwrap();
    shouted(&mut home, "a.rs");
    assert_eq!(counts(&compilers), [2, 0, 0, 2]);
    drop(first);
    shouted(&mut home, "b.rs");
    assert_eq!(counts(&compilers), [2, 1, 0, 2]);
}

#[test]
fn two_compilers_wait_at_most_and_the_newest_stay() {
    let compilers = compilers(LONG);
    let mut homes: Vec<Home> = (0..3).map(|_| home(&compilers)).collect();
    for home in &mut homes {
        shouted(home, "a.rs");
    }
    assert_eq!(counts(&compilers), [3, 0, 1, 2]);
    shouted(&mut homes[2], "b.rs");
    shouted(&mut homes[1], "b.rs");
    assert_eq!(counts(&compilers), [3, 2, 1, 2]);
    shouted(&mut homes[0], "b.rs");
    assert_eq!(counts(&compilers), [4, 2, 2, 2]);
    drop(homes);
    let log = Arc::clone(&compilers.log);
    drop(compilers);
    assert_eq!(log.ended.load(Ordering::SeqCst), 4, "with the shelf all of them end");
}

#[test]
fn a_compiler_that_nobody_asks_for_ends() {
    let compilers = compilers(Duration::from_millis(1));
    let mut home = home(&compilers);
    shouted(&mut home, "a.rs");
    let begin = Instant::now();
    while counts(&compilers) != [1, 0, 1, 0] {
        assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", counts(&compilers));
        std::thread::yield_now();
    }
    assert_eq!(shouted(&mut home, "b.rs"), "B\n");
    assert_eq!(compilers.log.opened.load(Ordering::SeqCst), 2);
}
