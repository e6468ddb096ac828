//! Which engine takes a task: the one that was named, or the cheapest that can.

use agent::grammar;
use task::Engine;

use crate::failure::Failure;

/// The engine for a text. `model` says whether one is configured, or why not and what to do; `wanted`, whether the user
/// asked for any.
///
/// With `auto` the compiler takes what its grammar takes; a slip of the finger in that grammar is no reason to pay a model.
pub fn choose(name: &str, text: &str, model: Result<(), &str>, wanted: bool) -> Result<Engine, Failure> {
    let no_model = |reason: &str| Failure::usage(format!("the task needs a language model: {reason}"));
    match name {
        "compiler" => match grammar::parse(text) {
            Ok(_) => Ok(Engine::Compiler),
            Err(error) => {
                Err(Failure::usage(format!("{}\n`--engine auto` asks a language model.", grammar_of(&error))))
            }
        },
        "model" | "auto" if model.is_ok() && text.trim().is_empty() => Err(Failure::usage("the task is empty")),
        "model" => model.map(|()| Engine::Model).map_err(no_model),
        "auto" => match (grammar::parse(text), model) {
            (Ok(_), _) => Ok(Engine::Compiler),
            // Whoever has set up a model meant it: what is wrong with it comes first, and the grammar is no help.
            (Err(_), Err(reason)) if wanted && grammar::slip(text).is_none() => Err(no_model(reason)),
            (Err(error), Err(reason)) => Err(Failure::usage(format!(
                "{}\nAnything else needs a language model: {reason}\n\
                 `understudy prove` takes a change that another agent made.",
                grammar_of(&error)
            ))),
            (Err(_), Ok(())) => match grammar::slip(text) {
                Some(meant) => Err(Failure::usage(format!(
                    "did you mean `{}`? That costs nothing; `--engine model` gives the text to the model as it stands",
                    task::printable(&meant)
                ))),
                None => Ok(Engine::Model),
            },
        },
        "patch" => Err(Failure::usage("the patch engine takes a change: `understudy prove --patch FILE`")),
        other => Err(Failure::usage(format!(
            "`{}` is not an engine; `run` has auto, compiler and model",
            task::printable(other)
        ))),
    }
}

/// What to say to a text that the compiler engine cannot take: all that it can.
fn grammar_of(error: &grammar::GrammarError) -> String {
    let width = grammar::FORMS.iter().map(|(form, _)| form.len()).max().unwrap_or(0);
    let forms: String = grammar::FORMS.iter().map(|(form, what)| format!("\n  {form:width$}  {what}")).collect();
    format!("{error}. It takes:{forms}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(name: &str, text: &str, model: Result<(), &str>) -> String {
        match choose(name, text, model, false) {
            Ok(engine) => engine.as_str().to_owned(),
            Err(failure) => failure.sentence,
        }
    }

    #[test]
    fn the_compiler_takes_what_it_understands_and_the_model_the_rest() {
        for model in [Ok(()), Err("none")] {
            assert_eq!(chosen("auto", "fix warnings", model), "compiler");
        }
        for text in
            ["add pagination to /users", "rename the endpoint /users to /people", "fix error handling in the parser"]
        {
            assert_eq!(chosen("auto", text, Ok(())), "model", "{text}");
            let refusal = chosen("auto", text, Err("set it up"));
            assert!(refusal.contains("fix clippy [LINT...]") && refusal.contains("set it up"), "{refusal}");
        }
    }

    #[test]
    fn where_a_model_is_set_up_and_broken_that_is_the_reason() {
        let broken = Err("the key file has mode 644");
        let failure = choose("auto", "add pagination", broken, true).unwrap_err();
        assert_eq!(failure.sentence, "the task needs a language model: the key file has mode 644");
        let slip = choose("auto", "fix warings", broken, true).unwrap_err();
        assert!(slip.sentence.contains("It takes:"), "{}", slip.sentence);
        assert_eq!(choose("auto", "fix warnings", broken, true).unwrap().as_str(), "compiler");
    }

    #[test]
    fn a_slip_of_the_finger_costs_nothing() {
        let sentence = chosen("auto", "fix warings", Ok(()));
        assert!(sentence.starts_with("did you mean `fix warnings`?"), "{sentence}");
        assert_eq!(chosen("model", "fix warings", Ok(())), "model");
    }

    #[test]
    fn an_engine_that_was_named_is_the_one() {
        assert_eq!(chosen("model", "fix warnings", Ok(())), "model");
        assert!(chosen("model", "fix warnings", Err("set it up")).contains("set it up"));
        assert!(chosen("compiler", "add pagination", Ok(())).contains("rename SYMBOL"));
        assert_eq!(chosen("auto", " \n", Ok(())), "the task is empty");
        assert!(chosen("magic", "x", Ok(())).contains("`magic` is not an engine"));
    }
}
