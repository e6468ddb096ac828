//! Normalised identity of failures: what stays the same when the same failure shows in another tree, run or folder.

use std::path::Path;

use task::{Digest, ItemId, Signature};

/// Longer messages are cut here and told apart by a digest of the rest.
const LONGEST: usize = 400;

/// The signature of a failure: whose it is, what class it is of, what it said.
pub(crate) fn signature(id: &ItemId, class: &str, message: &str, shadow: &Path) -> Signature {
    let mut message = normalise(message, shadow);
    if message.len() > LONGEST {
        let cut = message.floor_char_boundary(LONGEST);
        let rest = Digest::of([&message[cut..]]);
        message.truncate(cut);
        message.push_str(" … ");
        message.push_str(&rest.as_str()[..12]);
    }
    Signature([id.package.as_str(), &id.target, &id.path, class, &message].join(" | "))
}

/// The text without what varies: paths of this machine, line numbers, addresses, durations, random and temporary names,
/// thread and process ids. Plain small numbers stay, for `left: 3` and `left: 4` are different failures.
pub(crate) fn normalise(text: &str, shadow: &Path) -> String {
    let shadow = shadow.to_string_lossy();
    let text = if shadow.len() > 1 { text.replace(&*format!("{shadow}/"), "") } else { text.to_owned() };
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    // The word before the present one, for `line 12` and `ThreadId(3)`.
    let mut before = String::new();
    while let Some(c) = rest.chars().next() {
        if let Some(length) = absolute_path(rest, &out) {
            out.push_str("<path>");
            rest = &rest[length..];
        } else if is_word(c) {
            let (word, tail) = word(rest);
            let token = replaced(word, &before, &out, tail);
            out.push_str(token);
            before.clear();
            before.push_str(word);
            rest = tail;
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The length of an absolute path at the start of `rest`, if there is one.
fn absolute_path(rest: &str, before: &str) -> Option<usize> {
    let after = rest.strip_prefix('/')?.chars().next()?;
    let starts =
        before.chars().next_back().is_none_or(|c| !is_word(c) && !matches!(c, '/' | '.' | '>' | ':' | '-' | '<'));
    if !starts || !(is_word(after) || after == '.') {
        return None;
    }
    let end = |c: char| {
        c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>' | '(' | ')' | '|' | ',' | ';' | ':' | ']')
    };
    Some(rest.find(end).unwrap_or(rest.len()))
}

/// The word at the start; a number keeps its fraction, and a random id its dashes.
fn word(rest: &str) -> (&str, &str) {
    if let Some(length) = uuid(rest) {
        return rest.split_at(length);
    }
    let mut end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
    if rest[..end].bytes().all(|byte| byte.is_ascii_digit()) {
        let fraction = rest[end..].strip_prefix('.').map(|tail| tail.find(|c| !is_word(c)).unwrap_or(tail.len()));
        if let Some(length) = fraction.filter(|length| *length > 0 && rest.as_bytes()[end + 1].is_ascii_digit()) {
            end += 1 + length;
        }
    }
    if rest[end..].starts_with("µs") && rest[..end].bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        end += "µs".len();
    }
    rest.split_at(end)
}

fn uuid(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes().get(..36)?;
    let fits = bytes.iter().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    });
    (fits && !rest.as_bytes().get(36).is_some_and(u8::is_ascii_alphanumeric)).then_some(36)
}

/// What stands for a word: itself, or a mark for its kind where it varies.
fn replaced<'a>(word: &'a str, before: &str, out: &str, tail: &str) -> &'a str {
    const UNITS: [&str; 10] = ["ns", "us", "µs", "ms", "s", "sec", "secs", "second", "seconds", "m"];
    let digits = word.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (number, unit) = word.split_at(digits);
    let decimal = !number.is_empty() && unit.is_empty();
    if word.contains('-') {
        return "<id>";
    }
    if !number.is_empty() && UNITS.contains(&unit) {
        return "<time>";
    }
    if decimal
        && tail
            .strip_prefix(' ')
            .is_some_and(|tail| UNITS.contains(&tail.split(|c| !is_word(c)).next().unwrap_or(tail)))
    {
        return "<time>";
    }
    if word.len() > 2 && word.starts_with("0x") && word[2..].bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return "<address>";
    }
    if decimal && !word.contains('.') {
        // `file.rs:12:5`, and what such a number was replaced by.
        let mut back = out.chars().rev();
        let place = back.next() == Some(':') && back.next().is_some_and(|c| is_word(c) || matches!(c, '>' | '/' | ']'));
        let counted =
            matches!(before, "line" | "lines" | "column" | "thread" | "pid" | "process" | "port" | "ThreadId");
        if place || counted || word.len() >= 5 {
            return "<n>";
        }
    }
    let hex = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_hexdigit()) && text.bytes().any(|byte| byte.is_ascii_digit())
    };
    if (word.len() >= 8 && hex(word)) || (word.len() == 17 && word.starts_with('h') && hex(&word[1..])) {
        return "<hash>";
    }
    let random =
        |text: &str| text.len() >= 4 && text.bytes().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
    if word.strip_prefix("tmp").is_some_and(random) {
        return "<temporary>";
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain(text: &str) -> String {
        normalise(text, Path::new("/state/w/1/slot-0/shadow"))
    }

    #[test]
    fn what_varies_between_runs_is_gone() {
        for (said, kept) in [
            (
                "thread 'a' (28253) panicked at src/lib.rs:12:5:\n  no 3",
                "thread 'a' (<n>) panicked at src/lib.rs:<n>:<n>: no 3",
            ),
            ("at /state/w/1/slot-0/shadow/src/a.rs:3", "at src/a.rs:<n>"),
            ("open /tmp/.tmpXy12Zq/file: denied", "open <path>: denied"),
            ("took 0.06s, then 12 ms and 3µs", "took <time>, then <time> ms and <time>"),
            ("ThreadId(7) at 0x7ffee0 id 550e8400-e29b-41d4-a716-446655440000", "ThreadId(<n>) at <address> id <id>"),
            ("foo::h0123456789abcdef in .tmpAb12", "foo::<hash> in .<temporary>"),
            ("left: 3\n right: 4", "left: 3 right: 4"),
            ("connect 127.0.0.1:40123 refused", "connect 127.0.0.1:<n> refused"),
        ] {
            assert_eq!(plain(said), kept);
        }
    }

    #[test]
    fn long_messages_are_told_apart_by_their_ends() {
        let id = ItemId { package: "a".into(), target: "lib".into(), path: "t".into() };
        let long = |end: &str| signature(&id, "panic", &format!("{}{end}", "word ".repeat(200)), Path::new("/s"));
        assert_ne!(long("x"), long("y"));
        assert!(long("x").0.len() < 600);
    }

    proptest! {
        #[test]
        fn normalising_twice_changes_nothing(text in "[a-z0-9A-Z_:/.<>() \\n'\"µ-]{0,80}") {
            let once = plain(&text);
            prop_assert_eq!(plain(&once), once);
        }

        #[test]
        fn the_same_failure_elsewhere_has_the_same_signature(
            line in 1u32..100_000, column in 1u32..200, thread in 10_000u32..4_000_000, address in any::<u64>(),
            seconds in 0u32..1000, folder in "[a-z]{1,8}", name in "[A-Za-z0-9]{6}",
        ) {
            let said = |line: u32, column: u32, thread: u32, address: u64, seconds: u32, folder: &str, name: &str| {
                let shadow = format!("/home/{folder}/shadow");
                normalise(
                    &format!(
                        "thread 'x' ({thread}) panicked at {shadow}/src/a.rs:{line}:{column}: object 0x{address:x} \
                         in /tmp/{name}/f after {seconds}.5s, line {line}"
                    ),
                    Path::new(&shadow),
                )
            };
            let reference = said(1, 1, 12345, 1, 1, "u", "abcdef");
            prop_assert_eq!(said(line, column, thread, address, seconds, &folder, &name), reference);
        }
    }
}
