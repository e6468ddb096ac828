//! What the oracle says next: it reads what it changes, makes the change hunk by hunk, and is done.

use std::collections::VecDeque;
use std::ops::Range;

use serde_json::{Value, json};

use super::fix::{Changed, Hunk};

/// A file of so many lines is read at once.
const WHOLE: usize = 400;
/// Lines around a change that are read with it, where a file is longer.
const AROUND: usize = 30;
/// How often the end of the step is tried.
const ENDS: usize = 3;

/// One call of a tool.
pub struct Act {
    pub tool: &'static str,
    pub arguments: Value,
}

/// What there is to do, in this order.
#[derive(Debug, Clone)]
enum Next {
    Read(usize),
    Edit(usize, usize),
    /// Everything that is left of a file in one call: its parts alone would leave the text broken.
    Rest(usize, usize),
    Create(usize),
    Delete(usize),
    Done,
}

/// The play, and where it stands.
pub struct Script {
    title: String,
    files: Vec<Changed>,
    /// Each file as it is now.
    now: Vec<String>,
    /// By how many lines what is below the last change has moved.
    shift: Vec<isize>,
    next: Option<VecDeque<Next>>,
    last: Option<Next>,
    /// What becomes of a file if the last call works.
    pending: Option<(usize, String, isize)>,
    ends: usize,
    /// What the harness did not take, in its words.
    pub refused: Vec<String>,
}

impl Script {
    pub fn new(title: &str, files: Vec<Changed>) -> Self {
        let now = files.iter().map(|file| file.before.clone()).collect();
        let shift = vec![0; files.len()];
        let (next, last, pending, ends, refused) = (None, None, None, 0, Vec::new());
        Self { title: title.to_owned(), files, now, shift, next, last, pending, ends, refused }
    }

    /// The calls that answer a request of the Messages API.
    pub fn next(&mut self, body: &Value) -> Vec<Act> {
        let messages = body["messages"].as_array().cloned().unwrap_or_default();
        let opening = texts(messages.first());
        if opening.contains("# Stage: planning") {
            self.refused.extend(failed(messages.last()));
            return vec![self.plan()];
        }
        if opening.contains("# Stage: diagnosing") {
            return vec![Act { tool: "diagnose", arguments: json!({"cause": "unknown", "fix": "none"}) }];
        }
        if self.next.is_none() {
            self.next = Some(self.todo(&opening));
        } else {
            self.came(failed(messages.last()));
        }
        let next = self.next.as_mut().and_then(VecDeque::pop_front).unwrap_or(Next::Done);
        self.last = Some(next.clone());
        self.act(&next)
    }

    fn plan(&self) -> Act {
        let paths: Vec<&str> = self.files.iter().map(|file| file.path.as_str()).collect();
        let step = json!({"id": "1", "title": self.title, "paths": paths, "delivers": self.title});
        Act { tool: "propose_plan", arguments: json!({"because": "", "steps": [step]}) }
    }

    fn todo(&self, opening: &str) -> VecDeque<Next> {
        let mut todo = VecDeque::new();
        for (at, file) in self.files.iter().enumerate() {
            if file.is_new {
                todo.push_back(Next::Create(at));
            } else if file.after.is_none() {
                todo.push_back(Next::Delete(at));
            } else {
                if !opening.contains(&format!("what=\"{}, all of it\"", file.path)) {
                    todo.push_back(Next::Read(at));
                }
                todo.extend((0..file.hunks.len()).map(|hunk| Next::Edit(at, hunk)));
            }
        }
        todo.push_back(Next::Done);
        todo
    }

    /// Takes up what came of the last call.
    fn came(&mut self, failed: Vec<String>) {
        let pending = self.pending.take();
        if failed.is_empty() {
            if let Some((at, text, shift)) = pending {
                self.now[at] = text;
                self.shift[at] += shift;
            }
            return;
        }
        let Some(todo) = &mut self.next else { return };
        match self.last {
            Some(Next::Edit(at, hunk)) => {
                todo.retain(|next| !matches!(next, Next::Edit(file, _) if *file == at));
                todo.push_front(Next::Rest(at, hunk));
            }
            Some(Next::Done) if self.ends < ENDS => {
                self.refused.extend(failed);
                todo.push_front(Next::Done);
            }
            _ => self.refused.extend(failed),
        }
    }

    fn act(&mut self, next: &Next) -> Vec<Act> {
        let act = |tool, arguments| vec![Act { tool, arguments }];
        match *next {
            Next::Read(at) => self.read(&self.files[at]),
            Next::Edit(at, hunk) => act("edit", self.edit(at, hunk..hunk + 1)),
            Next::Rest(at, hunk) => act("edit", self.edit(at, hunk..self.files[at].hunks.len())),
            Next::Create(at) => {
                let file = &self.files[at];
                act("create", json!({"path": file.path, "text": file.after.clone().unwrap_or_default()}))
            }
            Next::Delete(at) => act("delete", json!({"path": self.files[at].path})),
            Next::Done => {
                self.ends += 1;
                act("done", json!({"summary": self.title}))
            }
        }
    }

    /// A short file as a whole, a long one where it is changed.
    fn read(&self, file: &Changed) -> Vec<Act> {
        let lines = file.before.lines().count();
        if lines <= WHOLE {
            return vec![Act { tool: "read", arguments: json!({"path": file.path}) }];
        }
        let mut windows: Vec<Range<usize>> = Vec::new();
        for hunk in &file.hunks {
            let window = hunk.start.saturating_sub(AROUND)..(hunk.start + hunk.count + AROUND).min(lines);
            match windows.last_mut() {
                Some(last) if window.start <= last.end => last.end = window.end,
                _ => windows.push(window),
            }
        }
        let read = |window: &Range<usize>| {
            let (first, last) = (window.start + 1, window.end);
            Act { tool: "read", arguments: json!({"path": file.path, "first_line": first, "last_line": last}) }
        };
        windows.iter().map(read).collect()
    }

    /// The arguments of an edit that makes these hunks.
    fn edit(&mut self, at: usize, hunks: Range<usize>) -> Value {
        let (file, text) = (&self.files[at], &self.now[at]);
        let pieces = pieces(text, &file.hunks[hunks.clone()], self.shift[at]);
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let edits: Vec<Value> = pieces
            .iter()
            .map(|piece| json!({"path": file.path, "old": lines[piece.lines.clone()].concat(), "new": piece.new}))
            .collect();
        let (mut after, mut end) = (String::new(), 0);
        for piece in &pieces {
            after.extend(lines[end..piece.lines.start].iter().copied());
            after.push_str(&piece.new);
            end = piece.lines.end;
        }
        after.extend(lines[end..].iter().copied());
        let shift = after.split_inclusive('\n').count() as isize - lines.len() as isize;
        self.pending = Some((at, after, shift));
        json!({ "edits": edits })
    }
}

/// Lines that are taken as `old`, and what stands there afterwards.
struct Piece {
    lines: Range<usize>,
    new: String,
}

/// Hunks with as many lines around them as make each the only one in the text; what meets becomes one.
fn pieces(text: &str, hunks: &[Hunk], shift: isize) -> Vec<Piece> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let own = |hunk: &Hunk| {
        let start = hunk.start.saturating_add_signed(shift).min(lines.len());
        start..(start + hunk.count).min(lines.len())
    };
    let mut ranges: Vec<Range<usize>> = hunks.iter().map(own).collect();
    loop {
        for range in &mut ranges {
            while !is_the_only_one(text, &lines[range.clone()].concat()) && *range != (0..lines.len()) {
                *range = range.start.saturating_sub(1)..(range.end + 1).min(lines.len());
            }
        }
        let before = ranges.len();
        ranges = ranges.into_iter().fold(Vec::new(), |mut joined: Vec<Range<usize>>, range| {
            match joined.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => joined.push(range),
            }
            joined
        });
        if ranges.len() == before {
            break;
        }
    }
    let piece = |range: Range<usize>| {
        let (mut new, mut at) = (String::new(), range.start);
        for hunk in hunks {
            let own = own(hunk);
            if own.start >= range.start && own.end <= range.end {
                new.extend(lines[at..own.start].iter().copied());
                new.push_str(&hunk.new);
                at = own.end;
            }
        }
        new.extend(lines[at..range.end].iter().copied());
        Piece { lines: range, new }
    };
    ranges.into_iter().map(piece).collect()
}

fn is_the_only_one(text: &str, part: &str) -> bool {
    !part.is_empty() && text.match_indices(part).take(2).count() == 1
}

/// All texts of a message.
fn texts(message: Option<&Value>) -> String {
    let blocks = message.and_then(|message| message["content"].as_array()).into_iter().flatten();
    blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}

/// The results in a message that say that a call failed.
fn failed(message: Option<&Value>) -> Vec<String> {
    let blocks = message.and_then(|message| message["content"].as_array()).into_iter().flatten();
    let failed = blocks.filter(|block| block["is_error"] == true);
    failed.map(|block| block["content"].as_str().unwrap_or_default().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(before: &str, hunks: &[(usize, usize, &str)]) -> Changed {
        let hunks = hunks.iter().map(|&(start, count, new)| Hunk { start, count, new: new.to_owned() }).collect();
        Changed { path: "a.rs".into(), before: before.into(), after: Some(String::new()), is_new: false, hunks }
    }

    /// What a file becomes when each edit is taken: up to each of these hunks.
    fn played(script: &mut Script, ends: &[usize]) -> String {
        let mut start = 0;
        for &end in ends {
            let arguments = script.edit(0, start..end);
            start = end;
            for edit in arguments["edits"].as_array().unwrap() {
                let old = edit["old"].as_str().unwrap();
                assert_eq!(script.now[0].matches(old).count(), 1, "{old:?}");
            }
            script.came(Vec::new());
        }
        script.now[0].clone()
    }

    #[test]
    fn hunks_one_by_one_and_together_make_the_same_text() {
        let before = "a\nb\na\nb\na\nc\na\nb\n";
        let hunks = [(0, 1, "x\ny\n"), (3, 0, "new\n"), (5, 2, ""), (8, 0, "end\n")];
        let wanted = "x\ny\nb\na\nnew\nb\na\nb\nend\n";
        let file = changed(before, &hunks);
        assert_eq!(played(&mut Script::new("t", vec![file.clone()]), &[1, 2, 3, 4]), wanted);
        assert_eq!(played(&mut Script::new("t", vec![file.clone()]), &[4]), wanted);
        assert_eq!(played(&mut Script::new("t", vec![file]), &[1, 4]), wanted);
    }

    #[test]
    fn an_edit_that_is_refused_is_made_with_the_rest_of_its_file() {
        let mut script = Script::new("t", vec![changed("a\nb\nc\n", &[(0, 1, "x\n"), (2, 1, "z\n")])]);
        let opening = json!({"role": "user", "content": [{"type": "text", "text": "# Stage: coding"}]});
        let refused =
            json!({"role": "user", "content": [{"type": "tool_result", "is_error": true, "content": "broken"}]});
        let taken = json!({"role": "user", "content": [{"type": "tool_result", "content": "changed"}]});
        let mut tools = Vec::new();
        for last in [&opening, &taken, &refused, &taken] {
            let acts = script.next(&json!({"messages": [opening, last]}));
            tools.push(format!("{} {}", acts[0].tool, acts[0].arguments["edits"].as_array().map_or(0, Vec::len)));
        }
        assert_eq!(tools, ["read 0", "edit 1", "edit 2", "done 0"]);
        assert!(script.refused.is_empty() && script.now[0] == "x\nb\nz\n");
    }
}
