//! The words of every file, and which files have them.
//!
//! One file is one document with two fields: what it says, and its path, whose words count five times.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use task::TreePath;

use super::standing::{MOST_SEARCHED, Role, Standing, standing};
use super::words::{Term, identifiers, parts, words};

/// How often each word of the path counts.
const PATH: u32 = 5;

/// A file that is searched.
#[derive(Debug)]
pub struct File {
    pub path: TreePath,
    pub standing: Standing,
    /// Words in it, the path's included.
    pub length: u32,
}

type Terms<V> = HashMap<Term, V>;

/// What is read out of one file, by any thread.
struct Document {
    file: File,
    counts: Vec<(Term, u32)>,
    defines: Vec<Term>,
}

/// Files keep their number for as long as their text stays; a changed file is a new number.
#[derive(Debug, Default)]
pub struct Index {
    files: Vec<Option<File>>,
    numbers: BTreeMap<TreePath, u32>,
    postings: Terms<Vec<(u32, u32)>>,
    /// Names as written, behind a word that defines: `fn name`, `class name`.
    definitions: Terms<Vec<u32>>,
    dead: usize,
}

impl Index {
    /// A file by its number, where it still has that text.
    pub fn file(&self, number: u32) -> Option<&File> {
        self.files.get(number as usize)?.as_ref()
    }

    /// All files with their numbers, in no particular order.
    pub fn files(&self) -> impl Iterator<Item = (u32, &File)> {
        self.numbers.values().filter_map(|&number| Some((number, self.file(number)?)))
    }

    /// The files that are wanted, at their numbers.
    pub fn by_number(&self, wanted: impl Fn(&File) -> bool) -> Vec<Option<&File>> {
        self.files.iter().map(|file| file.as_ref().filter(|file| wanted(file))).collect()
    }

    /// Files that have a word, with how often.
    pub fn with_word(&self, term: Term) -> impl Iterator<Item = (u32, u32)> {
        let all = self.postings.get(&term).map_or(&[][..], Vec::as_slice);
        all.iter().copied().filter(|&(number, _)| self.file(number).is_some())
    }

    /// Files in which a word that defines stands before this name.
    pub fn with_definition(&self, name: &str) -> impl Iterator<Item = u32> {
        let all = self.definitions.get(&Term::exact(name)).map_or(&[][..], Vec::as_slice);
        all.iter().copied().filter(|&number| self.file(number).is_some())
    }

    /// New text for some files; `None` for those that are gone.
    pub fn update(&mut self, changes: Vec<(TreePath, Option<Arc<[u8]>>)>) {
        for (path, _) in &changes {
            if let Some(number) = self.numbers.remove(path) {
                self.files[number as usize] = None;
                self.dead += 1;
            }
        }
        for document in read_all(changes) {
            self.add(document);
        }
        if self.dead > 64 && self.dead * 2 > self.files.len() {
            self.renumber();
        }
    }

    fn add(&mut self, document: Document) {
        // A tree of more files than a u32 counts does not fit into memory.
        let Ok(number) = u32::try_from(self.files.len()) else { return };
        for (term, count) in document.counts {
            self.postings.entry(term).or_default().push((number, count));
        }
        for name in document.defines {
            self.definitions.entry(name).or_default().push(number);
        }
        self.numbers.insert(document.file.path.clone(), number);
        self.files.push(Some(document.file));
    }

    /// Gives the numbers of files that are gone to others.
    fn renumber(&mut self) {
        let mut next = 0;
        let moved: Vec<Option<u32>> = self
            .files
            .iter()
            .map(|file| {
                file.as_ref().map(|_| {
                    next += 1;
                    next - 1
                })
            })
            .collect();
        let to = |number: u32| moved.get(number as usize).copied().flatten();
        self.files.retain(Option::is_some);
        self.numbers.values_mut().for_each(|number| *number = to(*number).unwrap_or(*number));
        self.postings.retain(|_, files| {
            files.retain_mut(|(number, _)| to(*number).map(|new| *number = new).is_some());
            !files.is_empty()
        });
        self.definitions.retain(|_, files| {
            files.retain_mut(|number| to(*number).map(|new| *number = new).is_some());
            !files.is_empty()
        });
        self.dead = 0;
    }
}

/// Reads files on two threads; the order of the answer is that of the question.
fn read_all(changes: Vec<(TreePath, Option<Arc<[u8]>>)>) -> Vec<Document> {
    let read = |some: &[(TreePath, Option<Arc<[u8]>>)]| -> Vec<Document> {
        let with_text = some.iter().filter_map(|(path, text)| Some((path, text.as_ref()?)));
        with_text.filter_map(|(path, text)| read(path, text)).collect()
    };
    let bytes =
        |(_, text): &(TreePath, Option<Arc<[u8]>>)| text.as_ref().map_or(0, |text| text.len().min(MOST_SEARCHED));
    let all: usize = changes.iter().map(bytes).sum();
    if all < 1 << 20 {
        return read(&changes);
    }
    let mut half = 0;
    let middle = changes
        .iter()
        .take_while(|change| {
            half += bytes(change);
            half < all / 2
        })
        .count();
    let (one, two) = changes.split_at(middle);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| read(two));
        let mut documents = read(one);
        match other.join() {
            Ok(rest) => documents.extend(rest),
            Err(panic) => std::panic::resume_unwind(panic),
        }
        documents
    })
}

fn read(path: &TreePath, text: &[u8]) -> Option<Document> {
    let standing = standing(path, text)?;
    let searched = String::from_utf8_lossy(&text[..text.len().min(MOST_SEARCHED)]);
    let mut counts = Terms::<u32>::new();
    let mut length = 0;
    let mut buffer = String::new();
    let mut defines = Vec::new();
    let mut before = "";
    for (_, identifier) in identifiers(&searched) {
        parts(identifier, &mut buffer, |word| {
            *counts.entry(Term::of(word)).or_default() += 1;
            length += 1;
        });
        if is_defining(before) && standing.role != Role::Data {
            defines.push(Term::exact(identifier));
        }
        // `static mut NAME`, `const fn name`.
        before = if identifier == "mut" { before } else { identifier };
    }
    path_words(path, |word| {
        *counts.entry(Term::of(word)).or_default() += PATH;
        length += PATH;
    });
    defines.sort_unstable();
    defines.dedup();
    let file = File { path: path.clone(), standing, length };
    Some(Document { file, counts: counts.into_iter().collect(), defines })
}

/// The words of a path without its ending.
fn path_words(path: &TreePath, each: impl FnMut(&str)) {
    let path = String::from_utf8_lossy(path.as_bytes());
    let stem = match path.rfind('.') {
        Some(dot) if dot > path.rfind('/').map_or(0, |slash| slash + 1) => &path[..dot],
        _ => &path,
    };
    words(stem, each);
}

fn is_defining(word: &str) -> bool {
    matches!(
        word,
        "class"
            | "const"
            | "def"
            | "enum"
            | "fn"
            | "func"
            | "function"
            | "interface"
            | "let"
            | "macro_rules"
            | "mod"
            | "static"
            | "struct"
            | "trait"
            | "type"
            | "union"
            | "var"
    )
}
