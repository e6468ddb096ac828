//! Writing what was proved: consent for files that act by themselves, and a workspace that moved on meanwhile.

use support::assert_same;

use crate::stage::{Stage, contents, patch_of};

#[test]
fn a_build_script_works_is_marked_and_needs_its_own_consent() {
    let stage = Stage::data("sums");
    let edited = stage.edited(|it| {
        it.write("build.rs", "fn main() {\n    println!(\"cargo::rustc-env=SUMS=1\");\n}\n");
        it.replace(
            "src/lib.rs",
            "//! Sums.\n",
            "//! Sums.\n\n/// Set by the build script.\npub const SUMS: &str = env!(\"SUMS\");\n",
        );
    });
    let answer = stage.prove(0, &patch_of(&edited));
    answer.says("verified", "");
    let hunk = answer.list("hunks").iter().find(|hunk| hunk["path"] == "build.rs").unwrap();
    assert_eq!(hunk["needs_consent"], true, "{hunk:#}");
    assert_eq!(hunk["risks"][0], "runs_by_itself", "{hunk:#}");
    let (id, tree) = (answer.id(), answer.tree());
    for arguments in [&[][..], &["--consent", "src/**"]] {
        let all: Vec<&str> = ["tasks", "apply", &id, "--tree", &tree].iter().chain(arguments).copied().collect();
        let refused = stage.ask(7, &all);
        assert!(refused.reasons().contains("build.rs runs by itself"), "{refused:?}");
    }
    stage.say(0, &["tasks", "apply", &id, "--tree", &tree, "--consent", "build.rs"], b"");
    assert_same(&contents(edited.fingerprint()), &contents(stage.project.fingerprint()));
    stage.say(0, &["tasks", "undo", &id], b"");
}

#[test]
fn without_an_approval_that_names_the_tree_nothing_is_written() {
    let stage = Stage::data("sums");
    let good = stage.prove(0, &stage.patch(|it| it.replace("src/lib.rs", "a + b", "b + a")));
    let bad = stage.prove(3, &stage.patch(|it| it.replace("src/lib.rs", "a + b", "a - b")));
    let before = stage.project.fingerprint();
    for (arguments, because) in [
        (vec!["tasks", "apply", &good.id()], "naming the tree is the approval"),
        (vec!["tasks", "apply", &good.id(), "--tree", &bad.tree()], "has no tree"),
        (vec!["tasks", "apply", &bad.id(), "--tree", &bad.tree()], "is not verified"),
        (vec!["tasks", "undo", &good.id()], "has written nothing"),
    ] {
        let finished = stage.understudy.run(&stage.project.path(), &arguments).ended_with(7);
        let said = format!("{}{}", finished.text(), finished.stderr);
        assert!(said.contains(because), "{arguments:?}: {said}");
    }
    // With no terminal to ask at, `--apply` says what would write.
    let path = stage.project.beside("change.patch");
    let patch = path.to_str().unwrap();
    std::fs::write(&path, stage.patch(|it| it.replace("src/lib.rs", "a + b", "b + a"))).unwrap();
    let finished = stage.understudy.run(&stage.project.path(), ["prove", "--patch", patch, "--apply"]).ended_with(7);
    assert!(finished.text().contains(&format!("--tree {}", good.tree())), "{}", finished.text());
    assert_same(&before, &stage.project.fingerprint());
}

#[test]
fn a_rename_here_and_a_new_use_of_the_old_name_there_is_not_verified() {
    let stage = Stage::data("sums");
    let answer = stage.prove(
        0,
        &stage.patch(|it| {
            let text = it.text("src/lib.rs");
            it.write("src/lib.rs", text.replace("twice(", "double("));
        }),
    );
    answer.says("verified", "");
    // Meanwhile, in another file, the developer goes on with the old name.
    stage.project.write("tests/mine.rs", "#[test]\nfn mine() {\n    assert_eq!(sums::twice(4), 8);\n}\n");
    let moved = stage.ask(7, &["tasks", "apply", &answer.id(), "--tree", &answer.tree()]);
    assert!(moved.reasons().starts_with("nothing was written: the files moved on"), "{moved:?}");
    moved.says("not verified", "cargo build: 1 new failure: sums test mine");
    assert_ne!(moved.tree(), answer.tree());
    // The rebased tree is a tree of its own, with an approval of its own.
    stage.ask(7, &["tasks", "apply", &answer.id(), "--tree", &moved.tree()]);
    let expected = stage.edited(|it| {
        let text = it.text("src/lib.rs");
        it.write("src/lib.rs", text.replace("twice(", "double("));
    });
    stage.say(0, &["tasks", "apply", &answer.id(), "--tree", &moved.tree(), "--unverified"], b"");
    assert_same(&contents(expected.fingerprint()), &contents(stage.project.fingerprint()));
}

#[test]
fn a_change_elsewhere_that_agrees_is_checked_and_approved_anew() {
    let stage = Stage::data("sums");
    let answer = stage.prove(0, &stage.patch(|it| it.replace("src/lib.rs", "a + b", "b + a")));
    stage.project.write("tests/mine.rs", "#[test]\nfn mine() {\n    assert_eq!(sums::twice(4), 8);\n}\n");
    let moved = stage.ask(7, &["tasks", "apply", &answer.id(), "--tree", &answer.tree()]);
    assert_eq!(moved.verdict(), "verified", "{moved:?}");
    stage.say(0, &["tasks", "apply", &answer.id(), "--tree", &moved.tree()], b"");
    assert!(stage.project.text("src/lib.rs").contains("b + a"));
}

#[test]
fn text_that_changed_where_the_diff_changes_it_has_diverged() {
    let stage = Stage::data("sums");
    let answer = stage.prove(0, &stage.patch(|it| it.replace("src/lib.rs", "a + b", "b + a")));
    stage.project.replace("src/lib.rs", "a + b", "a.wrapping_add(b)");
    let diverged = stage.ask(8, &["tasks", "apply", &answer.id(), "--tree", &answer.tree()]);
    assert!(diverged.reasons().contains("src/lib.rs"), "{diverged:?}");
    // Undo, too, writes nothing where the text moved on.
    let stage = Stage::data("sums");
    let answer = stage.prove(0, &stage.patch(|it| it.replace("src/lib.rs", "a + b", "b + a")));
    stage.say(0, &["tasks", "apply", &answer.id(), "--tree", &answer.tree()], b"");
    stage.project.replace("src/lib.rs", "b + a", "b.wrapping_add(a)");
    stage.ask(8, &["tasks", "undo", &answer.id()]);
}
