//! `understudy explain`: a question about the code, answered with the lines that show it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use agent::{Citation, ExplainAsk, Explanation};
use anstream::{eprintln, println};
use task::{Engine, ExitCode, TreePath, dollars};

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
    let explanation = agent::explain(&opened.house, &ExplainAsk { folder, question, at, limits })?;
    // The moving line ends with the house.
    drop(opened);
    if args.json {
        request::print_json(&explanation)?;
    } else {
        print(&explanation, &top);
    }
    Ok(ExitCode::Done)
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

fn print(explanation: &Explanation, top: &Path) {
    println!("{}", explanation.text.trim_end());
    if !explanation.citations.is_empty() {
        println!("{}", render::heading("shown by"));
    }
    for citation in &explanation.citations {
        print_citation(citation, top);
    }
    for unfounded in &explanation.unfounded {
        eprintln!("{} {}", render::doubtful("warning:"), task::printable(unfounded));
    }
    let spent = &explanation.spent;
    let cost = spent.microdollars.map_or("no price is known".to_owned(), dollars);
    let model = task::printable(&explanation.model);
    eprintln!("{}", render::dim(format!("{model}, {} tokens, {cost}", render::grouped(spent.tokens()))));
}

/// The place as terminals and editors open it, relative to where the command was started.
fn print_citation(citation: &Citation, top: &Path) {
    let path = on_disk(top, &citation.path);
    let here = std::env::current_dir().and_then(|here| here.canonicalize()).ok();
    let shown = here.as_ref().and_then(|here| path.strip_prefix(here).ok()).unwrap_or(&path);
    let place = format!("{}:{}-{}", shown.display(), citation.first_line, citation.last_line);
    println!("{}", render::place(task::printable(&place)));
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
