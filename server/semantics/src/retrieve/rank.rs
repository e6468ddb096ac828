//! Which files answer a query best.

use std::collections::{BTreeMap, HashMap};

use task::TreePath;

use super::index::{File, Index};
use super::mentions::{Mentions, PathMention, mentions};
use super::standing::Role;
use super::words::{Term, identifiers, words};

/// How fast a repeated word stops counting, and how much long files are held back: the usual values.
const SATURATION: f64 = 1.2;
const BY_LENGTH: f64 = 0.75;
/// A word that the query repeats counts no more than this, and one of its first line so many times as much.
const MOST_REPEATS: u32 = 3;
const TITLE: f64 = 3.0;
/// What a written name counts where it is defined, in units of its rarity.
const DEFINED: f64 = 1.0;
/// A file name that fits more files than this names none of them.
const MOST_NAMED: usize = 3;
/// Of a longer query the beginning is read: what follows is a log.
const MOST_ASKED: usize = 64 << 10;
/// In a query of so few words each may be a name.
const FEW_WORDS: usize = 3;

/// A query, read.
#[derive(Debug)]
pub struct Asked {
    /// Words with what each counts when it is met: its rarity, and how often the query says it.
    pub words: Vec<(String, f64)>,
    pub mentions: Mentions,
}

/// A file with its score.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    pub number: u32,
    pub score: f64,
    /// The query names the file, and lines of it.
    pub named: bool,
    pub lines: Vec<(u32, u32)>,
    /// Names of the query that the file seems to define.
    pub defines: Vec<String>,
}

/// Files by score, best first; equal ones by path. Those that share nothing with the query are not among them.
pub fn rank(index: &Index, text: &str, source_only: bool) -> (Asked, Vec<Ranked>) {
    let text = &text[..text.floor_char_boundary(MOST_ASKED)];
    let mut mentions = mentions(text);
    if identifiers(text).nth(FEW_WORDS).is_none() {
        mentions.names = identifiers(text).map(|(_, word)| word.to_owned()).collect();
    }
    let eligible = |file: &File| !source_only || !matches!(file.standing.role, Role::Test | Role::Beside);
    let files = index.by_number(eligible);
    let file = |number: u32| files.get(number as usize).copied().flatten();
    // How rare a word is, is a question to code: locales and lists of data would drown it.
    let is_code = |file: &File| matches!(file.standing.role, Role::Source | Role::Test);
    let code = || files.iter().flatten().filter(|file| is_code(file));
    let all = code().count() as f64;
    let average = code().map(|file| f64::from(file.length)).sum::<f64>().max(1.0) / all.max(1.0);
    let mut asked = Asked { words: Vec::new(), mentions };
    let mut scores = HashMap::<u32, Ranked>::new();
    let fresh = |number| Ranked { number, score: 0.0, named: false, lines: Vec::new(), defines: Vec::new() };
    for (term, (word, said)) in said(text) {
        let with: Vec<(u32, u32)> = index.with_word(term).filter(|&(number, _)| file(number).is_some()).collect();
        let value = said * rarity(all, with.iter().filter(|&&(number, _)| file(number).is_some_and(is_code)).count());
        for (number, count) in with {
            let length = file(number).map_or(1.0, |file| f64::from(file.length) / average);
            let score = value * saturated(f64::from(count), length);
            scores.entry(number).or_insert_with(|| fresh(number)).score += score;
        }
        asked.words.push((word, value));
    }
    for name in &asked.mentions.names {
        let with: Vec<u32> = index.with_definition(name).filter(|&number| file(number).is_some()).collect();
        let value = DEFINED * rarity(all, with.iter().filter(|&&number| file(number).is_some_and(is_code)).count());
        for number in with {
            let ranked = scores.entry(number).or_insert_with(|| fresh(number));
            ranked.score += value;
            ranked.defines.push(name.clone());
        }
    }
    for ranked in scores.values_mut() {
        ranked.score *= file(ranked.number).map_or(1.0, |file| file.standing.weight);
    }
    let best = scores.values().map(|ranked| ranked.score).fold(1.0, f64::max);
    for mention in &asked.mentions.paths {
        for number in named_by(index, mention) {
            let ranked = scores.entry(number).or_insert_with(|| fresh(number));
            if !ranked.named {
                ranked.named = true;
                ranked.score += best;
            }
            ranked.lines.extend(mention.lines);
        }
    }
    let path = |ranked: &Ranked| index.file(ranked.number).map(|file| &file.path);
    let mut ranked: Vec<Ranked> = scores.into_values().collect();
    ranked.sort_by(|one, two| two.score.total_cmp(&one.score).then_with(|| path(one).cmp(&path(two))));
    (asked, ranked)
}

/// How a count within a text of this length, relative to the average, weighs against one.
pub fn saturated(count: f64, length: f64) -> f64 {
    count * (SATURATION + 1.0) / (count + SATURATION * (1.0 - BY_LENGTH + BY_LENGTH * length))
}

fn rarity(all: f64, with: usize) -> f64 {
    let with = with as f64;
    (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
}

/// The query's words, in an order of their own so that sums of floats come out equal, with how much each is said. What
/// issue forms bring along is not said: headings, check lists, hidden comments.
fn said(text: &str) -> BTreeMap<Term, (String, f64)> {
    let mut counts = BTreeMap::<Term, (String, u32, bool)>::new();
    let (mut in_code, mut in_comment) = (false, false);
    for (number, line) in text.lines().enumerate() {
        let start = line.trim_start();
        in_code ^= start.starts_with("```") || start.starts_with("~~~");
        in_comment |= !in_code && start.starts_with("<!--");
        let is_form = in_comment || !in_code && ["#", "- [ ]", "- [x]"].iter().any(|form| start.starts_with(form));
        in_comment &= !line.contains("-->");
        if number == 0 || !is_form {
            words(line, |word| {
                let count = counts.entry(Term::of(word)).or_insert_with(|| (word.to_owned(), 0, number == 0));
                count.1 += 1;
            });
        }
    }
    let weigh = |(word, count, in_title): (String, u32, bool)| {
        (word, f64::from(count.min(MOST_REPEATS)) * if in_title { TITLE } else { 1.0 })
    };
    counts.into_iter().map(|(term, count)| (term, weigh(count))).collect()
}

/// The files that a written path means: those that share the longest end with it, where these are few.
fn named_by(index: &Index, mention: &PathMention) -> Vec<u32> {
    let mut longest = 0;
    let mut fitting: Vec<(&TreePath, u32)> = Vec::new();
    for (number, file) in index.files() {
        let (common, whole) = mention.common(&file.path);
        if common < longest.max(1) || !whole && common < 2 {
            continue;
        }
        if common > longest {
            longest = common;
            fitting.clear();
        }
        fitting.push((&file.path, number));
    }
    if fitting.len() > MOST_NAMED {
        fitting.clear();
    }
    fitting.sort_unstable();
    fitting.into_iter().map(|(_, number)| number).collect()
}
