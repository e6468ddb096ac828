//! Which parts of a file answer a query best: items, and the lines between them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use task::port::SymbolKind;

use super::rank::{Asked, Ranked, saturated};
use super::words::{Term, words};
use crate::syntax::Found;

/// An excerpt has no more lines than this; of a longer item it is the part with most of the words.
const MOST_LINES: usize = 60;
/// Words of an item of ordinary length.
const ORDINARY: f64 = 160.0;
/// How often a word counts that the item's name has.
const IN_NAME: f64 = 3.0;
/// What an item counts that the query names, in units of a rare word, and one that holds a line that the query names.
const NAMED: f64 = 20.0;
const NAMED_LINE: f64 = 100.0;
/// Tests say every word of what they test.
const TEST: f64 = 0.5;

/// A run of lines, counted from 1, both included.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    pub first: u32,
    pub last: u32,
    pub symbol: Option<String>,
    pub score: f64,
    /// The query's words in it, those that count most first.
    pub words: Vec<String>,
    /// The query names the item.
    pub is_named: bool,
}

/// The words of each line of a text, and its items: what does not depend on the query.
#[derive(Debug)]
pub struct Parsed {
    lines: Vec<Vec<Term>>,
    items: Arc<[Found]>,
}

impl Parsed {
    pub fn new(text: &str, items: Arc<[Found]>) -> Self {
        let read = |line| {
            let mut terms = Vec::new();
            words(line, |word| terms.push(Term::of(word)));
            terms
        };
        Self { lines: text.lines().map(read).collect(), items }
    }
}

/// What one line has of the query: which of its words, and how many words at all.
#[derive(Debug, Default)]
struct Line {
    hits: Vec<usize>,
    length: usize,
}

/// The best pieces of a text that share something with the query, best first; none overlaps another.
pub fn pieces(parsed: &Parsed, asked: &Asked, ranked: &Ranked, most: usize) -> Vec<Piece> {
    let terms: HashMap<Term, usize> =
        asked.words.iter().enumerate().map(|(place, (word, _))| (Term::of(word), place)).collect();
    let line = |line: &Vec<Term>| Line {
        hits: line.iter().filter_map(|term| terms.get(term).copied()).collect(),
        length: line.len(),
    };
    let (lines, items): (Vec<Line>, _) = (parsed.lines.iter().map(line).collect(), &parsed.items);
    let scorer = Scorer { lines: &lines, terms: &terms, asked, ranked };
    let mut pieces: Vec<Piece> = Vec::new();
    let mut covered = vec![false; lines.len()];
    let holders: HashSet<usize> = items.iter().filter_map(|item| item.outer).collect();
    let shown = |&(place, item): &(usize, &Found)| !is_looked_into(item, holders.contains(&place));
    for (_, item) in items.iter().enumerate().filter(shown) {
        let (first, last) = (item.first_line as usize - 1, (item.last_line as usize).min(lines.len()));
        covered.get_mut(first..last).unwrap_or_default().fill(true);
        pieces.extend(scorer.piece(first, last, Some(item)));
    }
    let mut gap = 0;
    for at in 0..=lines.len() {
        if covered.get(at).copied().unwrap_or(true) {
            pieces.extend(scorer.piece(gap, at, None));
            gap = at + 1;
        }
    }
    pieces.sort_by(|one, two| two.score.total_cmp(&one.score).then(one.first.cmp(&two.first)));
    // An item in a function is also in the piece of the function.
    let mut kept: Vec<Piece> = Vec::new();
    for piece in pieces {
        if kept.len() == most {
            break;
        }
        if kept.iter().all(|other| piece.last < other.first || other.last < piece.first) {
            kept.push(piece);
        }
    }
    kept
}

/// Modules, and types that are too long to be shown, are looked at through what is in them.
fn is_looked_into(item: &Found, holds_items: bool) -> bool {
    let lines = (item.last_line - item.first_line) as usize + 1;
    match item.kind {
        SymbolKind::Module => lines > 3,
        SymbolKind::Struct | SymbolKind::Trait | SymbolKind::Constant => lines > MOST_LINES && holds_items,
        _ => false,
    }
}

struct Scorer<'a> {
    lines: &'a [Line],
    terms: &'a HashMap<Term, usize>,
    asked: &'a Asked,
    ranked: &'a Ranked,
}

impl Scorer<'_> {
    /// Lines from `first` to before `last`, counted from 0.
    fn piece(&self, first: usize, last: usize, item: Option<&Found>) -> Option<Piece> {
        let lines = self.lines.get(first..last).filter(|lines| !lines.is_empty())?;
        let mut counts: HashMap<usize, f64> = HashMap::new();
        lines.iter().flat_map(|line| &line.hits).for_each(|&place| *counts.entry(place).or_default() += 1.0);
        if let Some(item) = item {
            words(&item.name, |word| {
                if let Some(&place) = self.terms.get(&Term::of(word)) {
                    *counts.entry(place).or_default() += IN_NAME;
                }
            });
        }
        let length = lines.iter().map(|line| line.length).sum::<usize>() as f64 / ORDINARY;
        let mut values: Vec<(usize, f64)> = counts
            .iter()
            .map(|(&place, &count)| (place, self.asked.words[place].1 * saturated(count, length)))
            .collect();
        values.sort_by(|one, two| two.1.total_cmp(&one.1).then(one.0.cmp(&two.0)));
        let mut score: f64 = values.iter().map(|(_, value)| value).sum();
        let is_named = item.is_some_and(|item| self.names(item));
        if is_named {
            score += NAMED;
        }
        if item.is_some_and(|item| item.is_test) {
            score *= TEST;
        }
        let (mut first, mut last) = (first, last);
        let pointed = |&&(from, to): &&(u32, u32)| from as usize <= last && to as usize > first;
        let pointed = self.ranked.lines.iter().find(pointed);
        if pointed.is_some() {
            score += NAMED_LINE;
        }
        if score <= 0.0 {
            return None;
        }
        if last - first > MOST_LINES {
            first = match pointed {
                Some(&(from, _)) => (from as usize).saturating_sub(MOST_LINES / 2).clamp(first, last - MOST_LINES),
                None => self.densest(first, last),
            };
            last = first + MOST_LINES;
        }
        Some(Piece {
            first: u32::try_from(first).unwrap_or(u32::MAX - 1) + 1,
            last: u32::try_from(last).unwrap_or(u32::MAX),
            symbol: item.map(|item| item.name.clone()),
            score,
            words: values.iter().take(4).map(|&(place, _)| self.asked.words[place].0.clone()).collect(),
            is_named,
        })
    }

    /// The query writes the item's name; of `Outer::inner` alone, the last part is enough.
    fn names(&self, item: &Found) -> bool {
        self.asked.mentions.names.iter().any(|name| name == item.own_name())
    }

    /// Where the window begins that has most of the words.
    fn densest(&self, first: usize, last: usize) -> usize {
        let value = |line: &Line| line.hits.iter().map(|&place| self.asked.words[place].1).sum::<f64>();
        let values: Vec<f64> = self.lines[first..last].iter().map(value).collect();
        let mut sum: f64 = values[..MOST_LINES].iter().sum();
        let (mut best, mut start) = (sum, 0);
        for next in MOST_LINES..values.len() {
            sum += values[next] - values[next - MOST_LINES];
            if sum > best + 1e-9 {
                (best, start) = (sum, next + 1 - MOST_LINES);
            }
        }
        first + start
    }
}
