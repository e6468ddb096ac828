//! What a scene of a misbehaving model is expected to come to, as its archive says it in the member `expect`.
//!
//! | line | meaning |
//! |---|---|
//! | `project: NAME` | the archive below `tests/data` that the scene's own files are laid over; `model-sums` without it |
//! | `wire: openai` | on this wire only |
//! | `task: TEXT`, `accept: TEXT`, `with: ARGUMENTS` | the command, as words |
//! | `exit: N`, `then N: ARGUMENTS` | what it ends with; commands that follow, where `{id}` is the task |
//! | `verdict: WORD`, `because: TEXT`, `limitation: TEXT` | of the last answer; each text is part of what is said |
//! | `files: A B`, `lines: +1 -1`, `diff: TEXT`, `no diff: TEXT` | the diff |
//! | `requests: N`, `attempts: N` | how much was tried |
//! | `ledger: more` | the ledger holds more than was reported, as some call never said what it cost |

use support::{Archive, repository};

use super::scene::Wire;
use crate::stage::Answer;

/// What the developer asks for unless a scene says otherwise, and how it is known to be done.
const TASK: &str = "An empty list has the mean 0";

#[derive(Debug)]
pub struct Expectation {
    lines: Vec<(String, String)>,
}

impl Expectation {
    /// # Panics
    /// On a line that is no `key: value` or has a key that says nothing.
    pub fn parse(text: &str) -> Self {
        const KEYS: [&str; 17] = [
            "project",
            "wire",
            "task",
            "accept",
            "with",
            "exit",
            "verdict",
            "because",
            "limitation",
            "files",
            "lines",
            "diff",
            "no diff",
            "requests",
            "attempts",
            "ledger",
            "then",
        ];
        let lines = text.lines().filter(|line| !line.trim().is_empty()).map(|line| {
            let (key, value) = line.split_once(": ").unwrap_or_else(|| panic!("`{line}` is no expectation"));
            assert!(KEYS.contains(&key) || key.starts_with("then "), "`{key}` says nothing");
            (key.to_owned(), value.to_owned())
        });
        Self { lines: lines.collect() }
    }

    pub fn all<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        self.lines.iter().filter(move |(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    pub fn one<'a>(&'a self, key: &'a str) -> Option<&'a str> {
        self.all(key).next()
    }

    /// The archive that the scene's own files are laid over.
    pub fn project(&self) -> Archive {
        let name = self.one("project").unwrap_or("model-sums");
        let path = repository().join("tests/data").join(name).with_extension("txt");
        Archive::parse(&std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
    }

    pub fn wires(&self) -> Vec<Wire> {
        match self.one("wire") {
            None => vec![Wire::Anthropic, Wire::Openai],
            Some("anthropic") => vec![Wire::Anthropic],
            Some("openai") => vec![Wire::Openai],
            Some(other) => panic!("`{other}` is no wire"),
        }
    }

    /// The first command; `issue` is the file with the text of an issue, where that is the task.
    pub fn arguments(&self, issue: Option<&str>) -> Vec<String> {
        let mut words: Vec<String> = ["run", "--engine", "model"].map(str::to_owned).to_vec();
        words.extend(self.all("with").flat_map(str::split_whitespace).map(str::to_owned));
        words.extend(self.all("accept").flat_map(|text| ["--accept".to_owned(), text.to_owned()]));
        match issue {
            Some(path) => words.extend(["--issue".to_owned(), path.to_owned()]),
            None => words.push(self.one("task").unwrap_or(TASK).to_owned()),
        }
        words
    }

    /// The commands that follow the first, with what each ends with.
    pub fn then(&self, id: &str) -> Vec<(i32, Vec<String>)> {
        let steps = self.lines.iter().filter_map(|(key, value)| Some((key.strip_prefix("then ")?, value)));
        let words = |text: &str| text.split_whitespace().map(|word| word.replace("{id}", id)).collect();
        steps.map(|(code, text)| (code.parse().unwrap(), words(text))).collect()
    }

    /// What differs from it, in sentences.
    pub fn differs(&self, answer: &Answer) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut differ = |what: &str, expected: &str, found: &str| {
            wrong.push(format!("{what}: expected `{expected}`, found `{found}`"));
        };
        let (verdict, reasons, limitations) = (answer.verdict(), answer.reasons(), answer.limitations());
        let expected = self.one("verdict").expect("a scene has a verdict");
        if verdict != expected {
            differ("the verdict", expected, &verdict);
        }
        // What is not verified says why; what is, has nothing to say against it.
        if (verdict == "verified") != reasons.is_empty() {
            differ("reasons", "some, unless it is verified", &reasons);
        }
        for (key, said) in [("because", &reasons), ("limitation", &limitations)] {
            for text in self.all(key).filter(|text| !said.contains(*text)) {
                differ(key, text, said);
            }
        }
        let diff = answer.text("diff");
        let names = diff.lines().filter_map(|line| line.strip_prefix("diff --git a/")?.split(" b/").next());
        let files = Some(names.collect::<Vec<_>>().join(" ")).filter(|names| !names.is_empty());
        let files = files.unwrap_or_else(|| "none".to_owned());
        let expected = self.one("files").expect("a scene names the files of its diff");
        if files != expected {
            differ("files of the diff", expected, &files);
        }
        let count = |sign: char| diff.lines().filter(|line| line.starts_with(sign) && !is_header(line)).count();
        let lines = format!("+{} -{}", count('+'), count('-'));
        if let Some(expected) = self.one("lines").filter(|expected| *expected != lines) {
            differ("lines of the diff", expected, &lines);
        }
        for text in self.all("diff").filter(|text| !diff.contains(*text)) {
            differ("the diff", text, &diff);
        }
        for text in self.all("no diff").filter(|text| diff.contains(*text)) {
            differ("the diff", &format!("not {text}"), &diff);
        }
        let attempts = answer.list("attempts").len().to_string();
        if let Some(expected) = self.one("attempts").filter(|expected| *expected != attempts) {
            differ("attempts", expected, &attempts);
        }
        wrong
    }
}

fn is_header(line: &str) -> bool {
    line.starts_with("+++ ") || line.starts_with("--- ")
}
