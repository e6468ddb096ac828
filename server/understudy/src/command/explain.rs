//! `understudy explain`: a question about the code, answered with the lines that show it.

use std::ffi::OsStr;
use std::io::IsTerminal as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use agent::{Citation, ExplainAsk, Explanation};
use anstream::{eprintln, println};
use task::{Accounts, Engine, ExitCode, TreePath, dollars};

use super::request;
use crate::args::Explain;
use crate::failure::Failure;
use crate::settings::Settings;
use crate::wiring::{self, Front};
use crate::{models, render};

/// Lines of a citation that are shown; the place says how many there are.
const SHOWN: usize = 12;

pub fn explain(args: &Explain) -> Result<ExitCode, Failure> {
    let question = args.question.join(" ");
    if question.trim().is_empty() {
        return Err(Failure::usage("the question is empty"));
    }
    let settings = Settings::load()?;
    let models = models::open(&settings);
    models.usable().map_err(|reason| Failure::usage(format!("a question needs a language model: {reason}")))?;
    let at = args.at.as_deref().map(place).transpose()?;
    let mut limits = settings.limits(Engine::Model);
    if let Some(budget) = args.budget_usd {
        limits.budget_microdollars = Some(request::dollars(budget)?);
    }
    let folder = request::folder(&args.repo.repo)?;
    let front = if args.json { Front::Json } else { Front::Terminal };
    let opened = wiring::open_with(settings, models, front, Some(&folder))?;
    let top = agent::top(Path::new(&folder), &opened.house.state)?;
    if let Some((path, _)) = &at
        && !on_disk(&top, path).is_file()
    {
        return Err(Failure::usage(format!("there is no file {path} in {}", task::printable(&top.to_string_lossy()))));
    }
    wiring::cancel_on_interrupt(&opened.house.cancel);
    let mut accounts = Accounts::default();
    // At a terminal a line moves.
    let quiet = args.json || std::io::stderr().is_terminal();
    let slow = (!quiet).then(|| render::waiting_for("an answer".to_owned()));
    let explained = agent::explain_counted(&opened.house, &ExplainAsk { folder, question, at, limits }, &mut accounts);
    // The moving line ends with the house.
    drop((opened, slow));
    let explanation = match explained {
        Ok(explanation) => explanation,
        Err(error) => return Err(unanswered(error, &accounts)),
    };
    if args.json {
        request::print_json(&explanation)?;
    } else {
        print(&explanation, &top, &accounts);
    }
    Ok(ExitCode::Done)
}

/// Why no answer came, and what was paid for it all the same.
fn unanswered(error: agent::Error, accounts: &Accounts) -> Failure {
    let cancelled = matches!(error, agent::Error::Cancelled);
    let mut failure = Failure::from(error);
    if cancelled {
        failure.sentence = "the question was cancelled".to_owned();
    }
    if accounts.tokens() > 0 {
        failure.sentence.push_str(&format!("\n{}", cost(accounts)));
    }
    failure
}

/// What a question cost, with what of it is only reserved.
fn cost(accounts: &Accounts) -> String {
    let dollars = |microdollars: Option<u64>| microdollars.map_or("no price is known".to_owned(), dollars);
    let assumed = accounts.assumed();
    let mut text = format!(
        "{} tokens, {}",
        render::grouped(accounts.tokens()),
        dollars(accounts.is_priced().then(|| accounts.microdollars()))
    );
    if assumed.calls > 0 {
        let reserved = assumed.microdollars.map(|cost| format!(", {}", task::dollars(cost))).unwrap_or_default();
        text.push_str(&format!(
            "; of it up to {} tokens{reserved} are reserved for what nobody told the cost of",
            render::grouped(assumed.tokens)
        ));
    }
    text
}

/// `PATH:LINE`, relative to the repository, with or without a column.
fn place(text: &str) -> Result<(TreePath, u32), Failure> {
    let odd = || Failure::usage(format!("`{}` is not a place; it is PATH:LINE, counted from 1", task::printable(text)));
    let mut parts: Vec<&str> = text.rsplitn(3, ':').collect();
    parts.reverse();
    let number = |part: &&str| part.parse::<u32>().ok().filter(|number| *number > 0);
    let (path, line) = match parts.as_slice() {
        [path, line, column] if number(column).is_some() && number(line).is_some() => {
            ((*path).to_owned(), number(line))
        }
        [start, rest, line] => (format!("{start}:{rest}"), number(line)),
        [path, line] => ((*path).to_owned(), number(line)),
        _ => return Err(odd()),
    };
    let path =
        TreePath::parse_escaped(path.trim_start_matches("./")).map_err(|error| Failure::usage(error.to_string()));
    Ok((path?, line.ok_or_else(odd)?))
}

fn on_disk(top: &Path, path: &TreePath) -> PathBuf {
    top.join(OsStr::from_bytes(path.as_bytes()))
}

fn print(explanation: &Explanation, top: &Path, accounts: &Accounts) {
    println!("{}", render::indented(&explanation.text, 2));
    if !explanation.citations.is_empty() {
        println!("{}", render::heading("shown by"));
    }
    for citation in &explanation.citations {
        print_citation(citation, top);
    }
    for unfounded in &explanation.unfounded {
        eprintln!("{} {}", render::doubtful("warning:"), render::one_line(unfounded));
    }
    let model = render::one_line(&explanation.model);
    eprintln!("{}", render::dim(format!("{model}, {}", cost(accounts))));
}

/// The place as terminals and editors open it, relative to where the command was started.
fn print_citation(citation: &Citation, top: &Path) {
    let path = on_disk(top, &citation.path);
    let here = std::env::current_dir().and_then(|here| here.canonicalize()).ok();
    let shown = here.as_ref().and_then(|here| path.strip_prefix(here).ok()).unwrap_or(&path);
    let place = format!("{}:{}-{}", shown.display(), citation.first_line, citation.last_line);
    println!("{}", render::place(render::one_line(&place)));
    for line in citation.text.lines().take(SHOWN) {
        println!("  {}", render::dim(task::printable(line)));
    }
    let hidden = citation.text.lines().count().saturating_sub(SHOWN);
    if hidden > 0 {
        println!("  {}", render::dim(format!("and {hidden} more lines")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_without_an_answer_says_what_it_cost() {
        let mut accounts = Accounts::default();
        assert_eq!(unanswered(agent::Error::Cancelled, &accounts).sentence, "the question was cancelled");
        let (stage, model) = (task::port::Stage::Explain, "m".to_owned());
        let worst = task::port::Reservation {
            stage,
            model,
            counted: 10,
            input: 1_500,
            output: 500,
            microdollars: Some(2_000),
            escalated: false,
        };
        accounts.reserve(task::port::CallId(1), &worst);
        let failure = unanswered(agent::Error::Cancelled, &accounts);
        assert_eq!(failure.code, ExitCode::Cancelled);
        assert!(failure.sentence.contains("2,000 tokens, $0.002; of it up to 2,000 tokens"), "{}", failure.sentence);
        let refused = unanswered(agent::Error::Provider("the key is wrong".to_owned()), &Accounts::default());
        assert_eq!((refused.code, refused.sentence.as_str()), (ExitCode::Infrastructure, "the key is wrong"));
    }

    #[test]
    fn a_place_is_a_path_and_a_line() {
        let read = |text| place(text).map(|(path, line)| (path.to_string(), line)).ok();
        assert_eq!(read("./src/lib.rs:12"), Some(("src/lib.rs".to_owned(), 12)));
        assert_eq!(read("src/lib.rs:12:5"), Some(("src/lib.rs".to_owned(), 12)));
        assert_eq!(read("a:b.rs:3"), Some(("a:b.rs".to_owned(), 3)));
        for odd in ["src/lib.rs", "src/lib.rs:", "src/lib.rs:0", "/etc/passwd:1", "../x:1", ":1", "x:-1", "x:one"] {
            assert_eq!(read(odd), None, "{odd}");
        }
    }
}
