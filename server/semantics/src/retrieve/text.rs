//! [`TextRetrieval`]: the port, over an index in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use task::TreePath;
use task::port::{Answer, Change, Definition, Excerpt, GateProblem, Item, Query, Retrieval, Retrieve, Symbol};

use super::index::Index;
use super::pieces::{Parsed, Piece, pieces};
use super::rank::{Ranked, rank};
use super::standing::MOST_SEARCHED;
use crate::syntax::{Cap, Found, Language, items, problems};

/// So many of the best files are looked into, and ranked anew with what their best piece is worth: this share of it.
const MOST_FILES: usize = 40;
const PIECE: f64 = 0.4;
/// So many pieces of one file, and what each after the first counts.
const MOST_OF_A_FILE: usize = 6;
const ANOTHER: f64 = 0.9;
/// An excerpt of lines nobody wrote by hand is cut.
const MOST_BYTES: usize = 8 << 10;
const MOST_DEFINITIONS: usize = 200;

/// Text of trees, made searchable in memory.
#[derive(Debug, Clone, Copy, Default)]
pub struct TextRetrieval;

impl Retrieval for TextRetrieval {
    fn open(&self) -> Arc<dyn Retrieve> {
        Arc::new(Text::default())
    }
}

/// Text of one tree. What is pushed costs nothing until something is asked.
#[derive(Debug, Default)]
struct Text {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    texts: BTreeMap<TreePath, Arc<[u8]>>,
    /// Pushed since the index was last asked.
    pending: BTreeMap<TreePath, Option<Arc<[u8]>>>,
    index: Index,
    items: BTreeMap<TreePath, Result<Arc<[Found]>, Cap>>,
    /// Files that were looked into.
    parsed: BTreeMap<TreePath, Arc<Parsed>>,
}

impl Text {
    fn state(&self) -> MutexGuard<'_, State> {
        // Each change is complete before anything that could panic follows it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn current(&mut self) -> &Index {
        let pending = std::mem::take(&mut self.pending);
        if !pending.is_empty() {
            self.index.update(pending.into_iter().collect());
        }
        &self.index
    }

    /// `None` for a language that is not known.
    fn items(&mut self, path: &TreePath) -> Option<Result<Arc<[Found]>, Cap>> {
        let language = Language::of(path)?;
        let text = self.texts.get(path)?;
        if let Some(known) = self.items.get(path) {
            return Some(known.clone());
        }
        let found = items(language, text).map(Arc::from);
        self.items.insert(path.clone(), found.clone());
        Some(found)
    }

    fn parsed(&mut self, path: &TreePath) -> Arc<Parsed> {
        if let Some(known) = self.parsed.get(path) {
            return Arc::clone(known);
        }
        let items = self.items(path).and_then(Result::ok).unwrap_or_else(|| Arc::from([]));
        let text = self.texts.get(path).map_or(&[][..], |text| &text[..text.len().min(MOST_SEARCHED)]);
        let parsed = Arc::new(Parsed::new(&String::from_utf8_lossy(text), items));
        self.parsed.insert(path.clone(), Arc::clone(&parsed));
        parsed
    }

    fn excerpts(&mut self, query: &Query) -> Vec<Excerpt> {
        let (asked, ranked) = rank(self.current(), &query.text, query.source_only);
        let mut looked_into = Vec::new();
        for ranked in ranked.iter().take(MOST_FILES) {
            let Some((path, weight)) =
                self.index.file(ranked.number).map(|file| (file.path.clone(), file.standing.weight))
            else {
                continue;
            };
            let mut found = pieces(&self.parsed(&path), &asked, ranked, MOST_OF_A_FILE);
            if found.is_empty() {
                found.push(beginning());
            }
            looked_into.push((ranked, path, weight, found));
        }
        let best_file = ranked.iter().map(|ranked| ranked.score).fold(f64::MIN_POSITIVE, f64::max);
        let worth = |weight: f64, found: &[Piece]| weight * found[0].score;
        let best_piece =
            looked_into.iter().map(|(.., weight, found)| worth(*weight, found)).fold(f64::MIN_POSITIVE, f64::max);
        let mut excerpts = Vec::new();
        for (ranked, path, weight, found) in looked_into {
            let Some(text) = self.texts.get(&path) else { continue };
            let text = String::from_utf8_lossy(&text[..text.len().min(MOST_SEARCHED)]);
            let score = (1.0 - PIECE) * ranked.score / best_file + PIECE * worth(weight, &found) / best_piece;
            let score = if ranked.named { score + 1.0 } else { score };
            let best = found[0].score.max(f64::MIN_POSITIVE);
            for (place, piece) in found.into_iter().enumerate() {
                let share = if place == 0 { 1.0 } else { ANOTHER * piece.score / best };
                excerpts.push(excerpt(&path, &text, piece, ranked, score * share));
            }
        }
        let place = |excerpt: &Excerpt| (excerpt.path.clone(), excerpt.first_line);
        excerpts.sort_by(|one, two| two.score.total_cmp(&one.score).then_with(|| place(one).cmp(&place(two))));
        excerpts.truncate(query.most);
        excerpts
    }
}

/// Only the path has to do with the query.
fn beginning() -> Piece {
    let words = Vec::new();
    Piece { first: 1, last: 20, symbol: None, score: 0.0, words, is_named: false }
}

fn excerpt(path: &TreePath, text: &str, piece: Piece, ranked: &Ranked, score: f64) -> Excerpt {
    let mut lines = 0;
    let mut shown = String::new();
    for line in text.split_inclusive('\n').skip(piece.first as usize - 1).take((piece.last - piece.first) as usize + 1)
    {
        if lines > 0 && shown.len() + line.len() > MOST_BYTES {
            break;
        }
        let cut = line.floor_char_boundary(MOST_BYTES);
        shown.push_str(&line[..cut]);
        lines += 1;
    }
    let mut reasons = Vec::new();
    if ranked.named {
        reasons.push("named by the query".to_owned());
    }
    match &piece.symbol {
        Some(symbol) if piece.is_named => reasons.push(format!("defines {symbol}")),
        _ => {}
    }
    if !piece.words.is_empty() {
        reasons.push(format!("words: {}", piece.words.join(", ")));
    }
    if reasons.is_empty() {
        reasons.push("path".to_owned());
    }
    Excerpt {
        path: path.clone(),
        first_line: piece.first,
        last_line: piece.first + u32::max(lines, 1) - 1,
        symbol: piece.symbol,
        text: shown,
        reason: reasons.join("; "),
        score,
    }
}

fn item(path: &TreePath, found: &Found) -> Item {
    let definition =
        Definition { path: path.clone(), start: found.name_range.start, end: found.name_range.end, line: found.line };
    Item {
        symbol: Symbol { name: found.name.clone(), kind: found.kind, definition },
        start: found.range.start,
        end: found.range.end,
        first_line: found.first_line,
        last_line: found.last_line,
    }
}

fn known<T>(value: T) -> Answer<T> {
    Answer::Known { value, missing: Vec::new() }
}

fn unknown<T>(reason: impl Into<String>) -> Answer<T> {
    Answer::Unknown { reason: reason.into() }
}

impl Retrieve for Text {
    fn push(&self, change: Change) {
        let mut state = self.state();
        for (path, text) in change.files {
            if text.is_some() && state.texts.get(&path) == text.as_ref() {
                continue;
            }
            state.items.remove(&path);
            state.parsed.remove(&path);
            match &text {
                Some(text) => state.texts.insert(path.clone(), Arc::clone(text)),
                None => state.texts.remove(&path),
            };
            state.pending.insert(path, text);
        }
    }

    fn search(&self, query: &Query) -> Answer<Vec<Excerpt>> {
        known(self.state().excerpts(query))
    }

    fn outline(&self, path: &TreePath) -> Answer<Vec<Item>> {
        let mut state = self.state();
        if !state.texts.contains_key(path) {
            return unknown(format!("there is no text file {path}"));
        }
        match state.items(path) {
            Some(Ok(found)) => known(found.iter().map(|found| item(path, found)).collect()),
            Some(Err(cap)) => unknown(format!("{path} has no outline: {cap}")),
            None => unknown(format!("the items of {path} are not known: its language has no grammar here")),
        }
    }

    fn definitions(&self, name: &str) -> Answer<Vec<Item>> {
        let name = name.replace(['.', '#'], "::");
        let own = name.rsplit("::").next().unwrap_or(&name);
        if own.is_empty() {
            return known(Vec::new());
        }
        let tail = format!("::{name}");
        let mut state = self.state();
        state.current();
        let (mut out, mut missing) = (Vec::new(), Vec::new());
        for path in candidates(&state, own) {
            match state.items(&path) {
                Some(Ok(found)) => {
                    let fitting = found.iter().filter(|found| found.name == name || found.name.ends_with(&tail));
                    out.extend(fitting.map(|found| item(&path, found)));
                }
                Some(Err(cap)) => missing.push(format!("{path}: {cap}")),
                None => {}
            }
        }
        if out.len() > MOST_DEFINITIONS {
            missing.push(format!("{} more definitions of {name}", out.len() - MOST_DEFINITIONS));
            out.truncate(MOST_DEFINITIONS);
        }
        Answer::Known { value: out, missing }
    }

    fn syntax(&self, path: &TreePath, text: &[u8]) -> Answer<Vec<GateProblem>> {
        let Some(language) = Language::of(path) else {
            return unknown(format!("the language of {path} has no grammar here"));
        };
        if std::str::from_utf8(text).is_err() {
            return unknown(format!("{path} is not UTF-8"));
        }
        match problems(language, path, text) {
            Ok(found) => known(found),
            Err(cap) => unknown(format!("the syntax of {path} was not judged: {cap}")),
        }
    }
}

/// Files that may define a name, in the order of their paths. In Rust and Python a word that defines stands before it;
/// elsewhere it may be a method without one, so the name in the text has to do.
fn candidates(state: &State, own: &str) -> Vec<TreePath> {
    let defining: std::collections::BTreeSet<&TreePath> =
        state.index.with_definition(own).filter_map(|number| state.index.file(number)).map(|file| &file.path).collect();
    let may = |path: &TreePath, text: &[u8]| match Language::of(path) {
        None => false,
        Some(Language::Rust) => defining.contains(path) || text.len() > MOST_SEARCHED,
        Some(_) => defining.contains(path) || std::str::from_utf8(text).is_ok_and(|text| text.contains(own)),
    };
    state.texts.iter().filter(|(path, text)| may(path, text)).map(|(path, _)| path.clone()).collect()
}
