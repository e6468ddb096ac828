//! What was sent in a conversation stays as it was: the caches of providers live on that.

use std::collections::HashMap;

use super::seen::Role;
use super::usage::Piece;
use super::{Rules, Seen, Wire};

#[derive(Debug, Default)]
pub(super) struct Conversations {
    turns: HashMap<(Wire, String, String), Vec<Turn>>,
    pub(super) rewrites: usize,
}

/// What is remembered of a request.
#[derive(Debug)]
struct Turn {
    number: usize,
    /// Tools, system and the first block of the messages.
    head: String,
    messages: Vec<Piece>,
    /// Messages of the assistant among them.
    answers: usize,
}

impl Conversations {
    /// A request begins anew, repeats an earlier one, or goes one answer further than an earlier one, whose bytes stay.
    pub(super) fn faults(&mut self, seen: &Seen, rules: &Rules) -> Vec<String> {
        let key = (seen.wire, seen.model.clone(), (rules.conversation)(seen));
        let turns = self.turns.entry(key).or_default();
        let turn = Turn::new(seen);
        let mut faults = Vec::new();
        if let Some(begun) = turns.first() {
            faults.extend(difference("tools, system or the first message", begun, &begun.head, &turn.head));
        }
        let start = turn.start(rules.stable);
        faults.extend(turns.iter().find_map(|earlier| {
            let earlier_start = earlier.start(rules.stable);
            let length = earlier_start.len().min(start.len());
            difference("the stable prefix", earlier, cut(&earlier_start, length), cut(&start, length))
        }));
        if let Some(last) =
            turns.last().filter(|_| turn.answers > 0 && !turns.iter().any(|earlier| turn.follows(earlier)))
        {
            self.rewrites += 1;
            if !rules.may_compact {
                let same = turn.messages.iter().zip(&last.messages).take_while(|(one, two)| one == two).count();
                let place = if same < last.messages.len() { "differs from" } else { "skips an answer after" };
                faults.push(format!("block {same} of the messages {place} request {}", last.number));
            }
        }
        turns.push(turn);
        faults
    }
}

impl Turn {
    fn new(seen: &Seen) -> Self {
        let pieces = &seen.pieces;
        let opening = pieces.head.iter().chain(pieces.messages.first());
        Self {
            number: seen.number,
            head: opening.map(|piece| piece.text.as_str()).collect(),
            messages: pieces.messages.iter().map(|piece| Piece { marked: false, ..piece.clone() }).collect(),
            answers: seen.messages.iter().filter(|message| message.role == Role::Assistant).count(),
        }
    }

    fn follows(&self, earlier: &Self) -> bool {
        let Some((last, rest)) = earlier.messages.split_last() else { return true };
        let continued = self.messages.get(rest.len()).is_some_and(|piece| {
            // A text at the end may have grown: it is a string at the end of an object.
            piece == last || last.text.strip_suffix("\"}").is_some_and(|text| piece.text.starts_with(text))
        });
        self.messages.starts_with(rest) && continued && self.answers <= earlier.answers + 1
    }

    /// The first bytes of the request.
    fn start(&self, bytes: usize) -> String {
        let rest = self.messages.iter().skip(1).map(|piece| piece.text.as_str());
        let mut text = String::new();
        for part in std::iter::once(self.head.as_str()).chain(rest) {
            if text.len() >= bytes {
                break;
            }
            text += part;
        }
        cut(&text, bytes).to_owned()
    }
}

/// Up to so many bytes, on a boundary of characters.
fn cut(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

fn difference(what: &str, before: &Turn, one: &str, two: &str) -> Option<String> {
    (one != two).then(|| {
        let at = one.bytes().zip(two.bytes()).take_while(|(one, two)| one == two).count();
        format!("{what} changed since request {}, at byte {at}", before.number)
    })
}
