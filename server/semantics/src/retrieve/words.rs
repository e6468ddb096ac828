//! Text as words: identifiers as they are written, and the words they are made of.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Words that say nothing about code: small ones, and what every issue form asks for.
static SILENT: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "about actual after all also am an and any are as at be been before behavior behaviour being bug but by can com \
    could describe did do does down else expected following for from get github got had has have he how http https \
    if in into is issue it its just like may me might more must my need new no not now of on one only or other our \
    out over please reproduce same see she should so some steps such than that the their them then there these they \
    this those to too two up us use used using version very want was way we were what when where which who why will \
    with would www you your"
        .split(' ')
        .collect()
});

/// Names a word of an index. Stable, so that equal texts are ranked equally everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(u64);

impl Term {
    /// A word as one of its forms: `page`, `pages`, `paged`.
    pub fn of(word: &str) -> Self {
        Self::exact(stem(word))
    }

    /// FNV-1a over the bytes; two words that meet in it would only blur a ranking.
    pub fn exact(word: &str) -> Self {
        let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Self(word.as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, step))
    }
}

/// What the forms of an English word have in common, roughly. Short words are left alone.
fn stem(word: &str) -> &str {
    if word.len() < 5 || !word.is_ascii() {
        return word;
    }
    let cut = |ending: &str| word.strip_suffix(ending).filter(|rest| rest.len() >= 4);
    let plural = || cut("s").filter(|rest| !rest.ends_with(['s', 'u', 'i']));
    let rest = cut("ing").or_else(|| cut("ed")).or_else(plural).unwrap_or(word);
    rest.strip_suffix(['e', 'i', 'y']).unwrap_or(rest)
}

fn is_silent(word: &str) -> bool {
    word.len() < 2 && !word.starts_with(|c: char| c.is_ascii_digit()) || SILENT.contains(word)
}

/// Identifiers and numbers of two digits and more, as written, with where they begin.
pub fn identifiers(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |c: char| c == '_' || c.is_alphanumeric();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = text.get(at..)?;
            let start = at + rest.find(is_part)?;
            let end = text[start..].find(|c| !is_part(c)).map_or(text.len(), |length| start + length);
            at = end;
            let word = &text[start..end];
            if word.len() > 1 || !word.starts_with(|c: char| c.is_ascii_digit()) {
                return Some((start, word));
            }
        }
    })
}

/// The words of one identifier in lower case: `HTTPServer_v2` is `http`, `server`, `v`, `2`, and the whole of it.
/// Longer ones than a name can be are data, and have no words.
pub fn parts<'w>(identifier: &'w str, buffer: &'w mut String, mut each: impl FnMut(&str)) {
    const LONGEST: usize = 100;
    if identifier.len() > LONGEST {
        return;
    }
    let kind = |c: char| match c {
        '_' => Kind::Gap,
        c if c.is_numeric() => Kind::Digit,
        c if c.is_uppercase() => Kind::Upper,
        _ => Kind::Lower,
    };
    let mut flush = |part: &mut String, count: &mut usize| {
        if !part.is_empty() {
            *count += 1;
            if !is_silent(part) {
                each(part);
            }
            part.clear();
        }
    };
    buffer.clear();
    let (mut count, mut before) = (0, Kind::Gap);
    let mut characters = identifier.chars().peekable();
    while let Some(c) = characters.next() {
        let now = kind(c);
        let next = characters.peek().map_or(Kind::Gap, |&c| kind(c));
        let begins = match (before, now) {
            (_, Kind::Gap) | (Kind::Gap, _) => true,
            (Kind::Upper, Kind::Lower) => false,
            (Kind::Upper, Kind::Upper) => next == Kind::Lower,
            (before, now) => before != now,
        };
        if begins {
            flush(buffer, &mut count);
        }
        if now != Kind::Gap {
            buffer.extend(c.to_lowercase());
        }
        before = now;
    }
    flush(buffer, &mut count);
    if count > 1 {
        buffer.extend(identifier.trim_matches('_').chars().flat_map(char::to_lowercase));
        if buffer.len() > 3 {
            each(buffer);
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Gap,
    Digit,
    Upper,
    Lower,
}

/// Every word of a text, in order.
pub fn words(text: &str, mut each: impl FnMut(&str)) {
    let mut buffer = String::new();
    for (_, identifier) in identifiers(text) {
        parts(identifier, &mut buffer, &mut each);
    }
}
