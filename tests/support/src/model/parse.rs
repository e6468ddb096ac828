//! Scripts as readable text.
//!
//! ```text
//! # A line that begins with a hash is for the reader.
//! > cursor pagination
//! say: I look at the route first.
//! call read {"path": "src/users.js"}
//!
//! >
//! if-result: read
//! think: The array is sliced nowhere.
//! call edit {"path": "src/users.js"}
//! with old <<END
//!   return users;
//! END
//! with new <<END
//!   return page(users, cursor);
//! END
//! usage-factor: 1.5
//! ```
//!
//! Each `>` begins a move; what stands behind it must be said by the last message. The other lines complete the move:
//!
//! | line | meaning |
//! |---|---|
//! | `say: TEXT`, `think: TEXT`, `refuse: TEXT` | in this order in the answer |
//! | `call TOOL JSON` | a call; `with KEY VALUE` or `with /json/pointer VALUE` puts a text into its arguments |
//! | `raw-call TOOL TEXT` | a call whose arguments are this text |
//! | `long KEY N` | a text of so many letters in the arguments of the call, `with` for what nobody wants to read |
//! | `id: TEXT` | the id of the call before it, such as one that was used before |
//! | `status: 429`, `retry-after: 2`, `error: CODE MESSAGE`, `context-overflow`, `garbage`, `hang`, `filtered`, `page` | no good answer |
//! | `cut-off`, `stop: REASON` | why it stops |
//! | `unbounded` | it goes on beyond the `max_tokens` of the request |
//! | `dies-after: N`, `ends-after: N`, `fails-after: N`, `hangs-after: N`, `chopped` | what happens to the stream |
//! | `usage-factor: F`, `no-usage` | what is reported |
//! | `expect: TEXT`, `if-tool: TOOL`, `if-result: TOOL`, `if-text: TEXT`, `if-model: MODEL`, `times: N` (or `ever`) | when |
//!
//! A text (or JSON) of several lines is written `<<WORD`, the lines, and a line with the word alone; it has no line
//! ending behind its last line, so leave an empty one where it should.

use std::path::Path;
use std::str::FromStr;

use serde_json::Value;

use super::Script;
use super::beginnings::{context_overflow, empty, filtered, garbage, page, refuse, status};
use super::moves::Move;
use super::reply::Part;

impl Script {
    /// The moves that a text describes (the module's own page has the format).
    ///
    /// # Panics
    /// On a line that says nothing known, naming it.
    pub fn parse(text: &str) -> Self {
        let mut lines = text.lines().enumerate();
        let mut moves: Vec<Move> = Vec::new();
        while let Some((number, line)) = lines.next() {
            let at = |problem: String| -> ! { panic!("line {} of the script, `{line}`: {problem}", number + 1) };
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(text) = line.strip_prefix('>') {
                let expected = Some(text.trim().to_owned()).filter(|text| !text.is_empty());
                moves.push(Move { expected: expected.into_iter().collect(), ..empty() });
                continue;
            }
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            let mut text = rest.to_owned();
            if let Some((start, end)) = rest.split_once("<<")
                && !end.is_empty()
                && end.chars().all(|character| character.is_ascii_uppercase())
            {
                let body: Vec<_> = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != end).collect();
                text = format!("{start}{}", body.join("\n"));
            }
            let Some(begun) = moves.pop() else { at("the first move has not begun: write `>` first".to_owned()) };
            moves.push(completed(begun, word, &text).unwrap_or_else(|problem| at(problem)));
        }
        Self::from(moves)
    }

    /// The moves that a file describes.
    ///
    /// # Panics
    /// When the file cannot be read or understood.
    pub fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path);
        Self::parse(&text.unwrap_or_else(|error| panic!("the script {} cannot be read: {error}", path.display())))
    }
}

fn completed(mut begun: Move, word: &str, text: &str) -> Result<Move, String> {
    Ok(match word {
        "say:" => begun.say(text),
        "think:" => {
            begun.parts.push(Part::Thinking { text: text.to_owned(), signature: String::new() });
            begun
        }
        "refuse:" => merged(begun, refuse(text)),
        "call" => {
            let (tool, args) = text.split_once([' ', '\n']).unwrap_or((text, "{}"));
            let args: Value = serde_json::from_str(args).map_err(|error| format!("no JSON: {error}"))?;
            begun.call(tool, args)
        }
        "raw-call" => {
            let (tool, args) = text.split_once(' ').unwrap_or((text, ""));
            begun.raw_call(tool, args)
        }
        "with" => {
            let (key, value) = text.split_once(' ').ok_or("it names a key and a text")?;
            put(&mut begun, key, value)?;
            begun
        }
        "long" => {
            let (key, length) = text.split_once(' ').ok_or("it names a key and a length")?;
            put(&mut begun, key, &"x".repeat(number(length)?))?;
            begun
        }
        "id:" => match begun.parts.last_mut() {
            Some(Part::Call { id, .. }) => {
                text.clone_into(id);
                begun
            }
            _ => return Err("no call stands before it".to_owned()),
        },
        "unbounded" => begun.unbounded(),
        "status:" => merged(begun, status(number(text)?)),
        "retry-after:" if begun.failure.is_some() => begun.retry_after(text),
        "error:" if begun.failure.is_some() => {
            let (code, message) = text.split_once(' ').unwrap_or((text, ""));
            begun.error(code, message)
        }
        "context-overflow" => merged(begun, context_overflow()),
        "page" => merged(begun, page()),
        "garbage" => Move { trouble: garbage().trouble, ..begun },
        "hang" => begun.hangs(),
        "filtered" => merged(begun, filtered()),
        "cut-off" => begun.cut_off_at_length(),
        "stop:" => begun.stop_reason(text),
        "dies-after:" => begun.dies_after(number(text)?),
        "ends-after:" => begun.ends_after(number(text)?),
        "fails-after:" => begun.fails_after(number(text)?),
        "hangs-after:" => begun.hangs_after(number(text)?),
        "chopped" => begun.chopped(),
        "usage-factor:" => begun.usage_factor(number(text)?),
        "no-usage" => begun.no_usage(),
        "expect:" => begun.expect(text),
        "if-tool:" => begun.if_tool(text),
        "if-result:" => begun.if_result(text),
        "if-text:" => begun.if_text(text),
        "if-model:" => begun.if_model(text),
        "times:" if text == "ever" => begun.times(usize::MAX),
        "times:" => begun.times(number(text)?),
        _ => return Err("no such line is known here".to_owned()),
    })
}

/// A move that was begun, with the parts, the end and the failure of another one.
fn merged(mut begun: Move, other: Move) -> Move {
    begun.parts.extend(other.parts);
    Move { stop: other.stop.or(begun.stop), failure: other.failure.or(begun.failure), ..begun }
}

fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` is no such number"))
}

/// Puts a text into the arguments of the last call.
fn put(begun: &mut Move, key: &str, text: &str) -> Result<(), String> {
    let Some(Part::Call { args, .. }) = begun.parts.last_mut() else {
        return Err("no call stands before it".to_owned());
    };
    let mut all: Value = serde_json::from_str(args).map_err(|error| format!("the call's arguments: {error}"))?;
    let pointer = if key.starts_with('/') { key.to_owned() } else { format!("/{key}") };
    let (above, last) = pointer.rsplit_once('/').unwrap_or_default();
    let place = all.pointer_mut(above).and_then(Value::as_object_mut);
    place.ok_or_else(|| format!("the arguments have no object at `{above}`"))?.insert(last.to_owned(), text.into());
    *args = all.to_string();
    Ok(())
}
