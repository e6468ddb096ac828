//! Reads the document of a plan back. Whatever is wrong with it is said with its line, all of it at once.

use std::collections::BTreeMap;

use task::{Plan, Scope, Step, StepAction, StepId};

use crate::grammar;
use crate::plan_document::{
    ACCEPTANCE, AFTER, CHECKS, DELIVERS, DOES, EVERYTHING, FILES, MAY_CHANGE, PARTS, REASONING, SYMBOLS, TITLE,
    unescaped,
};

/// A longer document was not written by a developer.
const LARGEST: usize = 1 << 20;
/// Faults that are said at once.
const MOST_FAULTS: usize = 20;

/// The plan that a developer made of this one, as its next version.
///
/// # Errors
/// Every fault of the document, one sentence a line, each with the line it is on.
pub fn read_plan(text: &str, current: &Plan) -> Result<Plan, String> {
    if text.len() > LARGEST {
        return Err(format!("line 1: the document has more than {LARGEST} bytes"));
    }
    let mut reader = Reader { current, faults: Vec::new() };
    let steps = reader.steps(text);
    let plan = Plan {
        id: current.id.clone(),
        version: current.version.saturating_add(1),
        revised_from: Some(current.version),
        steps: steps.iter().map(|(_, step)| step.clone()).collect(),
    };
    reader.judge(&plan, &steps);
    if reader.faults.is_empty() {
        return Ok(plan);
    }
    reader.faults.sort_by_key(|(line, _)| *line);
    let more = reader.faults.len().saturating_sub(MOST_FAULTS);
    let mut said: Vec<String> =
        reader.faults.iter().take(MOST_FAULTS).map(|(line, fault)| format!("line {line}: {fault}")).collect();
    if more > 0 {
        said.push(format!("and {more} more"));
    }
    Err(said.join("\n"))
}

/// A line with its number, counted from 1.
type Line<'t> = (usize, &'t str);

/// A step as it stands in the document.
struct Section<'t> {
    line: usize,
    heading: &'t str,
    parts: BTreeMap<&'static str, (usize, Vec<Line<'t>>)>,
}

struct Reader<'c> {
    current: &'c Plan,
    faults: Vec<(usize, String)>,
}

impl Reader<'_> {
    fn fault(&mut self, line: usize, sentence: impl Into<String>) {
        self.faults.push((line, task::printable(&sentence.into())));
    }

    fn steps(&mut self, text: &str) -> Vec<(usize, Step)> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut sections: Vec<Section<'_>> = Vec::new();
        let mut part: Option<&'static str> = None;
        let mut titled = false;
        for (number, line) in text.lines().enumerate().map(|(at, line)| (at + 1, line.trim_end())) {
            if let Some(heading) = line.strip_prefix("### ") {
                part = self.part(number, heading.trim(), sections.last_mut());
            } else if let Some(heading) = line.strip_prefix("## ") {
                sections.push(Section { line: number, heading: heading.trim(), parts: BTreeMap::new() });
                part = None;
            } else if line.starts_with('#') {
                self.title(number, line, titled || !sections.is_empty());
                titled = true;
            } else if let (Some(part), Some(section)) = (part, sections.last_mut()) {
                if let Some((_, lines)) = section.parts.get_mut(part) {
                    lines.push((number, line));
                }
            } else if sections.is_empty() && !line.is_empty() && !line.starts_with('>') {
                self.fault(number, "only quoted lines (`> …`) stand before the first step");
            } else if !sections.is_empty() && !line.is_empty() {
                self.fault(number, format!("this belongs to no part of the step; begin one: {}", parts()));
            }
        }
        if !titled {
            self.fault(1, format!("the document begins with `{TITLE}{}`", self.current.version));
        }
        sections.into_iter().filter_map(|section| Some((section.line, self.step(&section)?))).collect()
    }

    fn title(&mut self, number: usize, line: &str, late: bool) {
        let version = line.strip_prefix(TITLE).map(|rest| rest.split([',', ' ', ':']).next().unwrap_or_default());
        match version.and_then(|version| version.parse::<u32>().ok()) {
            Some(version) if version != self.current.version => self.fault(
                number,
                format!("this is version {version} of the plan, which is at version {} by now", self.current.version),
            ),
            Some(_) if !late => {}
            _ => self.fault(
                number,
                format!("no heading of a plan: `{TITLE}N` begins it, `## NAME: TITLE` a step, `### PART` a part of one; a text that begins with `#` is written with a backslash before it"),
            ),
        }
    }

    fn part(&mut self, number: usize, heading: &str, section: Option<&mut Section<'_>>) -> Option<&'static str> {
        let known = PARTS.into_iter().find(|part| part.eq_ignore_ascii_case(heading));
        let Some(part) = known else {
            self.fault(number, format!("`{heading}` is no part of a step; there are {}", parts()));
            // What stands below it is not to blame.
            return Some("");
        };
        let Some(section) = section else {
            self.fault(number, "a part belongs to a step, which begins with `## NAME: TITLE`");
            return None;
        };
        if section.parts.insert(part, (number, Vec::new())).is_some() {
            self.fault(number, format!("this step has `{part}` twice"));
        }
        Some(part)
    }

    fn step(&mut self, section: &Section<'_>) -> Option<Step> {
        let (name, title) = section.heading.split_once(':').unwrap_or((section.heading, ""));
        let name = name.trim().trim_matches('`');
        let Ok(id) = name.parse::<StepId>() else {
            let shape = "a step begins with `## NAME: TITLE`, its name of letters, digits, `-` and `_`";
            self.fault(section.line, format!("`{name}` cannot name a step: {shape}"));
            return None;
        };
        let known = self.current.step(&id);
        let delivers = prose(section, DELIVERS);
        let action = match section.parts.get(DOES) {
            None => StepAction::Write { delivers },
            Some((line, _)) if !delivers.is_empty() => {
                self.fault(*line, format!("a step has either `{DELIVERS}` or `{DOES}`"));
                return None;
            }
            Some((line, _)) => {
                let text = prose(section, DOES);
                // What no text says, such as the proof of a change, can stay but not be asked for.
                let same = known.filter(|step| grammar::write(&step.action) == text).map(|step| step.action.clone());
                match same.map_or_else(|| grammar::parse(&text), Ok) {
                    Ok(action) => action,
                    Err(error) => {
                        self.fault(*line, error.to_string());
                        return None;
                    }
                }
            }
        };
        if delivers_nothing(&action) && !known.is_some_and(|step| delivers_nothing(&step.action)) {
            self.fault(section.line, format!("step {id} says nothing under `### {DELIVERS}`"));
        }
        Some(Step {
            title: unescaped_line(title.trim()),
            action,
            scope: Scope { paths: self.globs(section, &id), symbols: self.names(section, SYMBOLS) },
            acceptance: self.items(section, ACCEPTANCE).into_iter().map(|(_, text)| unescaped_line(&text)).collect(),
            checks: self.names(section, CHECKS),
            depends_on: self.after(section),
            reasoning: prose(section, REASONING),
            estimated_files: self.files(section),
            id,
        })
    }

    fn globs(&mut self, section: &Section<'_>, id: &StepId) -> Vec<String> {
        let items = self.items(section, MAY_CHANGE);
        if items.is_empty() {
            let line = section.parts.get(MAY_CHANGE).map_or(section.line, |(line, _)| *line);
            let what =
                format!("step {id} may change nothing: list globs under `### {MAY_CHANGE}`, or `* {EVERYTHING}`");
            self.fault(line, what);
        }
        if let [(_, only)] = items.as_slice()
            && only == EVERYTHING
        {
            return Vec::new();
        }
        let mut globs = Vec::new();
        for (line, item) in items {
            let glob = name(&item);
            if item == EVERYTHING {
                self.fault(line, format!("`{EVERYTHING}` stands alone, without other globs"));
            } else if let Err(error) = Scope::new(vec![glob.clone()]) {
                self.fault(line, error.to_string());
            }
            globs.push(glob);
        }
        globs
    }

    fn names(&mut self, section: &Section<'_>, part: &'static str) -> Vec<String> {
        self.items(section, part).into_iter().map(|(_, item)| name(&item)).collect()
    }

    fn after(&mut self, section: &Section<'_>) -> Vec<StepId> {
        let mut steps = Vec::new();
        for (line, item) in self.items(section, AFTER) {
            match name(&item).parse::<StepId>() {
                Ok(id) => steps.push(id),
                Err(error) => self.fault(line, error.to_string()),
            }
        }
        steps
    }

    fn files(&mut self, section: &Section<'_>) -> Option<u32> {
        let (line, _) = section.parts.get(FILES)?;
        let text = prose(section, FILES);
        match text.trim().parse() {
            Ok(files) => Some(files),
            Err(_) => {
                self.fault(*line, format!("`{FILES}` is a number"));
                None
            }
        }
    }

    /// The items of a list, each with its line. A line that is indented goes on with the item before it.
    fn items(&mut self, section: &Section<'_>, part: &'static str) -> Vec<(usize, String)> {
        let mut items: Vec<(usize, String)> = Vec::new();
        for (number, line) in section.parts.get(part).into_iter().flat_map(|(_, lines)| lines) {
            let item = line.strip_prefix("* ").or_else(|| line.strip_prefix("- "));
            match (item.map(str::trim), items.last_mut()) {
                (Some(item), _) => items.push((*number, item.to_owned())),
                (None, _) if line.is_empty() => {}
                (None, Some((_, last))) if line.starts_with([' ', '\t']) => {
                    last.push(' ');
                    last.push_str(line.trim());
                }
                _ => self.fault(*number, format!("`{part}` is a list: each line of it begins with `* `")),
            }
        }
        items
    }

    /// What is wrong with the plan as a whole, at the lines of the steps that are to blame.
    fn judge(&mut self, plan: &Plan, steps: &[(usize, Step)]) {
        if !self.faults.is_empty() {
            return;
        }
        let order = plan.order();
        let blamed = |fault: &str| {
            let in_circle = |step: &Step| fault.contains("circle") && order.iter().all(|done| done.id != step.id);
            let named = |step: &Step| fault.split([' ', ':', ',']).any(|word| word == step.id.as_str());
            // Of two with one name the second is one too many.
            let found = steps.iter().rev().find(|(_, step)| named(step));
            found.or_else(|| steps.iter().find(|(_, step)| in_circle(step))).map_or(1, |(line, _)| *line)
        };
        for fault in plan.faults() {
            let line = blamed(&fault);
            self.fault(line, fault);
        }
    }
}

fn delivers_nothing(action: &StepAction) -> bool {
    matches!(action, StepAction::Write { delivers } if delivers.trim().is_empty())
}

fn parts() -> String {
    let named: Vec<String> = PARTS.iter().map(|part| format!("`### {part}`")).collect();
    named.join(", ")
}

/// The text of a part, without the blank lines around it.
fn prose(section: &Section<'_>, part: &'static str) -> String {
    let lines = section.parts.get(part).map(|(_, lines)| lines.as_slice()).unwrap_or_default();
    let first = lines.iter().position(|(_, line)| !line.is_empty()).unwrap_or(lines.len());
    let last = lines.iter().rposition(|(_, line)| !line.is_empty()).map_or(first, |last| last + 1);
    let lines: Vec<String> = lines[first..last].iter().map(|(_, line)| unescaped_line(line)).collect();
    lines.join("\n")
}

/// A backslash alone stands for an empty line that matters.
fn unescaped_line(line: &str) -> String {
    if line == "\\" { String::new() } else { unescaped(line) }
}

/// A name, in backticks or not.
fn name(item: &str) -> String {
    let inner = item.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
    unescaped(inner.unwrap_or(item))
}

#[cfg(test)]
mod tests {
    use task::{Answer, Question};

    use super::*;
    use crate::plan_document::plan_document;

    fn plan(text: &str) -> Plan {
        let text = || text.to_owned();
        let step = |id: &str, action, after: &[&str]| Step {
            id: id.parse().unwrap(),
            title: text(),
            action,
            // A glob has a syntax of its own.
            scope: Scope { paths: vec!["src/**".into(), "a[`]b".into()], symbols: vec![text(), text()] },
            acceptance: vec![text(), "x".into(), text()],
            checks: vec![text()],
            depends_on: after.iter().map(|id| id.parse().unwrap()).collect(),
            reasoning: text(),
            estimated_files: Some(3),
        };
        let write = StepAction::Write { delivers: text() };
        let mut free = step("b.2", StepAction::FixWarnings, &["a"]);
        (free.scope.paths, free.estimated_files) = (Vec::new(), None);
        let replace = StepAction::Replace { pattern: format!("{}x", text()), template: text() };
        let steps = vec![step("a", write, &[]), free, step("c", replace, &["a", "b.2"])];
        Plan { id: "plan".parse().unwrap(), version: 4, revised_from: Some(2), steps }
    }

    fn written(plan: &Plan) -> String {
        let answer = Answer { question: "# Which?".into(), text: "one\n## two".into() };
        let question = Question { text: "How?\n### May change".into(), ..Question::default() };
        plan_document("do it\n# nicely", plan, &[question], &[answer])
    }

    #[test]
    fn a_plan_that_is_written_and_read_is_the_same_plan_whatever_its_texts() {
        let alphabet = [
            "\\",
            "#",
            "u{23}",
            "u{",
            "`",
            "\n",
            "\r",
            " ",
            "\t",
            "* ",
            "\n## x",
            "\n### Checks",
            "> ",
            "\u{202e}",
            "ü",
        ];
        let mut texts = vec![String::new()];
        let mut longest = texts.clone();
        for _ in 0..2 {
            longest = longest.iter().flat_map(|text| alphabet.map(|more| format!("{text}{more}"))).collect();
            texts.extend(longest.iter().cloned());
        }
        for text in texts {
            let plan = plan(&text);
            let document = written(&plan);
            for document in [document.clone(), document.replace('\n', "\r\n"), format!("\u{feff}{document}")] {
                let read = read_plan(&document, &plan).unwrap_or_else(|fault| panic!("{text:?}: {fault}\n{document}"));
                assert_eq!((read.version, read.revised_from), (5, Some(4)));
                assert_eq!(read.steps, plan.steps, "{text:?}\n{document}");
            }
        }
    }

    #[test]
    fn what_a_developer_writes_by_hand_is_a_plan() {
        let current = plan("x");
        let document = "# Plan, version 4\n\n## new: Count \\d+\n### delivers\nA count.\n\n    code\n### May change\n- src/*.rs\n\
            ### Acceptance\n* it counts,\n  and well\n### after\n* b.2\n## b.2\n### does\nfix errors\n### May change\n* everything\n";
        let read = read_plan(document, &current).unwrap();
        let [new, old] = read.steps.as_slice() else { panic!("{read:?}") };
        assert_eq!(new.title, "Count \\d+");
        assert_eq!(new.action, StepAction::Write { delivers: "A count.\n\n    code".into() });
        assert_eq!(
            (new.scope.paths.as_slice(), new.acceptance.as_slice()),
            (&["src/*.rs".to_owned()][..], &["it counts, and well".to_owned()][..])
        );
        assert_eq!((&old.action, old.scope.paths.len()), (&StepAction::FixErrors, 0));
    }

    #[test]
    fn each_fault_is_said_with_its_line() {
        let current = plan("x");
        let good = "## a: A\n### Delivers\nit\n### May change\n* everything\n";
        for (document, fault) in [
            (good.to_owned(), "line 1: the document begins with `# Plan, version 4`"),
            (format!("# Plan, version 3\n{good}"), "line 1: this is version 3 of the plan, which is at version 4"),
            (format!("# Plan, version 4\nhello\n{good}"), "line 2: only quoted lines"),
            (format!("# Plan, version 4\n{good}### Dreams\n* x\n"), "line 7: `Dreams` is no part of a step"),
            (format!("# Plan, version 4\n{good}### May change\n* x\n"), "line 7: this step has `May change` twice"),
            (format!("# Plan, version 4\n{good}### Checks\nhello\n"), "line 8: `Checks` is a list"),
            (format!("# Plan, version 4\n{good}### Estimated files\nmany\n"), "line 7: `Estimated files` is a number"),
            (format!("# Plan, version 4\n{good}### After\n* `b`\n"), "line 2: step a depends on b"),
            (
                format!("# Plan, version 4\n{good}### After\n* a\n"),
                "line 2: the steps depend on each other in a circle",
            ),
            (format!("# Plan, version 4\n{good}{good}"), "line 7: two steps are called a"),
            (format!("# Plan, version 4\n{good}### Reasoning\n#include\n"), "line 8: no heading of a plan"),
            (format!("# Plan, version 4\n{good}## x y: B\n"), "line 7: `x y` cannot name a step"),
            (format!("# Plan, version 4\n{}", good.replace(": A\n", ": A\ntext\n")), "line 3: this belongs to no part"),
            ("# Plan, version 4\n## a: A\n### Delivers\nit\n".into(), "line 2: step a may change nothing"),
            (
                "# Plan, version 4\n## a: A\n### May change\n* a[\n* b\n### Delivers\nx".into(),
                "line 4: `a[` is not a path glob",
            ),
            ("# Plan, version 4\n## z: A\n### May change\n* b\n".into(), "line 2: step z says nothing"),
            (
                "# Plan, version 4\n## a: A\n### Does\nmagic\n### May change\n* b\n".into(),
                "line 3: `magic` is not a task",
            ),
            ("# Plan, version 4\n".into(), "line 1: the plan has no step"),
        ] {
            let said = read_plan(&document, &current).unwrap_err();
            assert!(said.starts_with(fault), "{said}\n{document}");
            assert_eq!(said.lines().count(), 1, "{said}\n{document}");
        }
        let both = "# Plan, version 4\n## a: A\n### Checks\nx\n### May change\n* a[\n";
        assert_eq!(read_plan(both, &current).unwrap_err().lines().count(), 3);
    }
}
