//! `understudy run` with the forms that mend what rustc and clippy say, and what it answers to everything else.

use serde_json::Value;

use crate::stage::Stage;

const LIB: &str = "src/lib.rs";

#[test]
fn warnings_are_mended_to_a_fixpoint_and_the_rest_is_named() {
    let stage = Stage::data("lints");
    let answer = stage.ask(0, &["run", "fix warnings"]);
    answer.says("verified", "");
    let limitations = answer.limitations();
    assert!(limitations.contains("1 warning remains"), "{limitations}");
    assert!(limitations.contains("src/lib.rs remains: function `nobody_calls_it` is never used"), "{limitations}");
    let expected = stage.edited(|it| {
        it.replace(LIB, "use std::collections::BTreeMap;\n", "");
        it.replace(LIB, "let mut one", "let one");
        it.write("src/other.rs", "");
    });
    stage.apply_and_undo(&answer, &expected);

    // Once that is written, nothing that rustc can mend is left: it says so instead of proposing an empty diff.
    stage.say(0, &["tasks", "apply", &answer.id(), "--tree", &answer.tree()], b"");
    let answer = stage.ask(4, &["run", "fix", "warnings"]);
    answer.says("stopped", "1 warning remains");
}

#[test]
fn only_permitted_paths_are_mended() {
    let stage = Stage::data("lints");
    let answer = stage.ask(0, &["run", "fix warnings", "--paths", "src/other.rs"]);
    let expected = stage.edited(|it| it.write("src/other.rs", ""));
    let limitations = answer.limitations();
    assert!(limitations.contains("2 suggestions lie outside the permitted paths"), "{limitations}");
    stage.apply_and_undo(&answer, &expected);
}

#[test]
fn named_lints_of_clippy_are_mended_and_others_stay() {
    let stage = Stage::data("lints");
    let answer = stage.ask(0, &["run", "fix clippy clippy::needless_return"]);
    answer.says("verified", "");
    assert!(answer.list("checks").iter().any(|check| check["check"] == "cargo clippy"), "lints judge too: {answer:?}");
    let expected = stage.edited(|it| it.replace(LIB, "return 2;", "2"));
    stage.apply_and_undo(&answer, &expected);
    let answer = stage.ask(0, &["run", "fix clippy eq_op"]);
    answer.says("nothing to do", "clippy does not show these lints");
}

#[test]
fn a_lint_that_mending_another_brings_to_light_is_mended_too() {
    let stage = Stage::data("sums");
    stage.project.replace(LIB, "    a + b\n", "    let sum = a + b;\n    return sum;\n");
    let answer = stage.ask(0, &["run", "fix clippy needless_return"]);
    answer.says("verified", "");
    let expected = stage.edited(|it| it.replace(LIB, "    let sum = a + b;\n    return sum;\n", "    a + b\n"));
    stage.apply_and_undo(&answer, &expected);
}

#[test]
fn errors_with_a_suggestion_are_mended() {
    let stage = Stage::data("sums");
    stage.project.replace(LIB, "    a + b\n", "    let total = 0;\n    total += a + b;\n    total\n");
    let answer = stage.ask(0, &["run", "fix errors"]);
    answer.says("verified", "");
    let expected = stage.edited(|it| it.replace(LIB, "let total", "let mut total"));
    stage.apply_and_undo(&answer, &expected);
}

#[test]
fn where_the_goal_holds_there_is_nothing_to_do() {
    let stage = Stage::data("sums");
    for (task, because) in [
        ("fix warnings", "the compiler has no warning"),
        ("fix errors", "the project builds"),
        ("fix clippy", "clippy has nothing to say"),
    ] {
        let answer = stage.ask(0, &["run", task]);
        answer.says("nothing to do", because);
        assert!(answer.hunks().is_empty() && answer.text("diff").is_empty());
    }
}

#[test]
fn a_text_that_no_engine_takes_is_refused_with_the_whole_grammar() {
    let stage = Stage::data("sums");
    let before = stage.project.fingerprint();
    let forms = [
        "rename SYMBOL [at PATH:LINE:COLUMN] to NEW",
        "fix warnings",
        "fix clippy [LINT...]",
        "fix errors",
        "replace PATTERN ==>> TEMPLATE",
        "assist ID at PATH:LINE:COLUMN",
    ];
    let finished = stage.understudy.run(&stage.project.path(), ["run", "add pagination to /users"]).ended_with(2);
    for form in forms {
        assert!(finished.stderr.contains(form), "{form} in {}", finished.stderr);
    }
    for (arguments, because) in [
        (["run", "rename onlyone", "--json"], "rename SYMBOL [at PATH:LINE:COLUMN] to NEW"),
        (["run", "fix warnings", "--engine=magic"], "magic"),
        (["run", "fix warnings", "--tools=fly"], "fly"),
        (["run", "fix warnings", "--paths=[a"], "[a"),
    ] {
        let finished = stage.understudy.run(&stage.project.path(), arguments).ended_with(2);
        assert!(finished.stderr.contains(because), "{arguments:?}: {}", finished.stderr);
    }
    support::assert_same(&before, &stage.project.fingerprint());
    let tasks = stage.understudy.run(&stage.project.path(), ["tasks", "list", "--json"]).ended_with(0).json();
    assert_eq!(tasks, Value::Array(Vec::new()), "a refused text is no task");
}

#[test]
fn one_request_id_is_one_task() {
    let stage = Stage::data("lints");
    let arguments = ["run", "fix warnings", "--request-id", "mine-1"];
    let first = stage.ask(0, &arguments);
    let second = stage.ask(0, &arguments);
    assert_eq!(first.report, second.report);
    let tasks = stage.understudy.run(&stage.project.path(), ["tasks", "list", "--json"]).ended_with(0).json();
    assert_eq!(tasks.as_array().map(Vec::len), Some(1), "{tasks:#}");
}

#[test]
fn evidence_that_still_holds_is_not_collected_again() {
    let stage = Stage::data("sums");
    let patch = stage.patch(|it| it.replace(LIB, "a + b", "b + a"));
    let first = stage.prove(0, &patch);
    let second = stage.prove(0, &patch);
    assert_ne!(first.id(), second.id());
    assert_eq!((first.tree(), &first.report["checks"]), (second.tree(), &second.report["checks"]));
    assert_eq!((&first.report["usage"]["commands"], &second.report["usage"]["commands"]), (&4.into(), &0.into()));
    // Runs have durations and artifacts of their own; a receipt that is used again has the same.
    assert_eq!(first.report["executions"], second.report["executions"]);
    let third = stage.prove(0, &stage.patch(|it| it.replace(LIB, "a + b", "b + a + 0")));
    let at_base = |answer: &crate::stage::Answer| -> Vec<Value> {
        let base = answer.text("base");
        answer.list("executions").iter().filter(|it| it["tree"] == base.as_str()).cloned().collect()
    };
    assert_eq!((at_base(&first), at_base(&first).len()), (at_base(&third), 2));
}

#[test]
fn the_object_has_the_documented_fields_and_the_schema_names_them() {
    let stage = Stage::data("sums");
    let schema = stage.understudy.run(&stage.project.path(), ["schema"]).ended_with(0).json();
    let good = stage.prove(0, &stage.patch(|it| it.replace(LIB, "a + b", "b + a")));
    let nothing = stage.prove(0, b"");
    for answer in [&good, &nothing] {
        let documented = ["verdict", "base", "tree", "diff", "hunks", "checks", "limitations", "usage", "timings"];
        for field in documented {
            assert!(!answer.report[field].is_null(), "{field} in {answer:?}");
        }
        assert_conforms("", &schema, &schema, &answer.report);
    }
}

/// Every required key is there, and no key is there that the schema does not name. Follows `$ref`, `items`, `anyOf`.
fn assert_conforms(at: &str, root: &Value, schema: &Value, value: &Value) {
    if let Some(name) = schema["$ref"].as_str() {
        let target = root.pointer(name.trim_start_matches('#')).unwrap_or_else(|| panic!("{at}: {name} leads nowhere"));
        return assert_conforms(at, root, target, value);
    }
    if let Some(all) = schema["anyOf"].as_array().filter(|_| !value.is_null()) {
        let real: Vec<&Value> = all.iter().filter(|it| it["type"] != "null").collect();
        if let [only] = real.as_slice() {
            assert_conforms(at, root, only, value);
        }
        return;
    }
    match value {
        Value::Object(object) if schema["properties"].is_object() => {
            for key in schema["required"].as_array().into_iter().flatten() {
                assert!(object.contains_key(key.as_str().unwrap()), "{at} has no {key}");
            }
            for (key, value) in object {
                let known = &schema["properties"][key];
                assert!(!known.is_null(), "{at}/{key} is not in the schema");
                assert_conforms(&format!("{at}/{key}"), root, known, value);
            }
        }
        Value::Array(items) => {
            items.iter().for_each(|item| assert_conforms(&format!("{at}/*"), root, &schema["items"], item))
        }
        _ => {}
    }
}
