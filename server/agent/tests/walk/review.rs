//! Hunks are kept and rejected, on the diff of the task and on the diff of a rebase.

use std::collections::BTreeSet;

use agent::{Applied, Approval, Walk};
use task::{Candidate, Engine, Event, HunkId, PublicationEnd, TreeId};

use crate::home::{Home, hunks, one, tree_path};

const TEXT: &str = "-- a.txt --\none\ntwo\nthree\nfour\nfive\nsix\nseven\n-- gone.txt --\nbye\n";

/// Two hunks in one file, and a file that goes.
const PATCH: &str = "\
--- a/a.txt
+++ b/a.txt
@@ -1,7 +1,7 @@
 one
-two
+TWO
 three
 four
 five
-six
+SIX
 seven
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-bye
";

/// A folder where the file was.
const INSIDE: &str = "--- /dev/null\n+++ b/gone.txt/inside\n@@ -0,0 +1 @@\n+hello\n";

fn approval(tree: &TreeId) -> Approval {
    Approval { tree: tree.clone(), unverified: true, consent: Vec::new() }
}

fn apply(home: &Home, walk: &mut Walk<'_>, tree: &TreeId) -> Applied {
    walk.apply(&approval(tree), &home.publisher()).unwrap()
}

/// A hunk of the diff under review, by file and place in it.
fn hunk(walk: &Walk<'_>, path: &str, at: usize) -> HunkId {
    let report = walk.report(None).unwrap();
    report.hunks.iter().filter(|hunk| hunk.path.to_string() == path).nth(at).unwrap().id.clone()
}

#[test]
fn verdicts_last_and_what_is_kept_is_written_and_nothing_else() {
    let home = Home::new(TEXT);
    let id = home.walked(home.patch(PATCH));
    let mut walk = home.take(&id);
    let whole = walk.state().tree.clone().unwrap();
    let revision = walk.state().revision;
    assert_eq!(walk.kept_tree().unwrap(), whole, "nothing is rejected");
    let (two, six) = (hunk(&walk, "a.txt", 0), hunk(&walk, "a.txt", 1));

    walk.reject(&one(&two), Some("not now")).unwrap();
    let written = home.events(&id).len();
    walk.reject(&one(&two), None).unwrap();
    walk.keep(&one(&six)).unwrap();
    assert_eq!(home.events(&id).len(), written, "a verdict that holds already is no news");
    walk.give_back().unwrap();

    let mut walk = home.take(&id);
    let report = walk.report(None).unwrap();
    let rejected: Vec<&HunkId> = report.hunks.iter().filter(|hunk| hunk.rejected).map(|hunk| &hunk.id).collect();
    assert_eq!((rejected, report.revision), (vec![&two], revision + 1));
    let kept = walk.kept_tree().unwrap();
    assert_eq!((report.kept_tree, report.kept_verdict), (Some(kept.clone()), None));
    assert_eq!(report.tree, Some(whole.clone()), "the diff under review is still the whole one");
    let not_yet = apply(&home, &mut walk, &kept);
    assert!(matches!(not_yet, Applied::Refused { reason } if reason.contains("was not checked yet")));

    assert_eq!(walk.check_kept().unwrap(), kept);
    let report = walk.report(None).unwrap();
    assert_eq!((report.revision, report.kept_verdict.as_deref()), (revision + 1, Some("not verified")));
    assert_eq!(apply(&home, &mut walk, &kept), Applied::Ended(PublicationEnd::Applied));
    assert_eq!(home.project.text("a.txt"), "one\ntwo\nthree\nfour\nfive\nSIX\nseven\n");
    assert!(!home.project.path().join("gone.txt").exists());
    walk.undo(&home.publisher()).unwrap();
    assert_eq!(home.project.text("a.txt"), "one\ntwo\nthree\nfour\nfive\nsix\nseven\n");

    walk.keep(&one(&two)).unwrap();
    assert_eq!(walk.kept_tree().unwrap(), whole);
    assert!(walk.state().rejected.is_empty());
}

#[test]
fn a_verdict_that_no_tree_can_follow_is_refused_and_nothing_is_recorded() {
    let home = Home::new(TEXT);
    let id = home.walked(home.patch(&[PATCH, INSIDE].concat()));
    let mut walk = home.take(&id);
    let (gone, inside) = (hunk(&walk, "gone.txt", 0), hunk(&walk, "gone.txt/inside", 0));
    let before = home.events(&id).len();
    let unknown: HunkId = "0123456789abcdef".parse().unwrap();
    let refused = walk.reject(&[gone.clone(), unknown.clone()].into(), None).unwrap_err().to_string();
    assert!(refused.contains(unknown.as_str()), "{refused}");
    // Without the deletion there is no room for the folder.
    let refused = walk.reject(&one(&gone), None).unwrap_err().to_string();
    assert!(refused.contains(gone.as_str()), "{refused}");
    assert_eq!(home.events(&id).len(), before);
    walk.reject(&[gone.clone(), inside.clone()].into(), None).unwrap();
    assert!(walk.keep(&one(&inside)).is_err());
    walk.keep(&one(&gone)).unwrap();
    walk.reject(&hunks(&walk).into_iter().collect(), None).unwrap();
    assert_eq!(Some(walk.kept_tree().unwrap()), walk.state().base, "nothing is kept");
    assert!(walk.check_kept().unwrap_err().to_string().contains("nothing to check"));
}

#[test]
fn a_rebased_diff_is_reviewed_like_any_other() {
    let home = Home::new(TEXT);
    let id = home.walked(home.patch(PATCH));
    let mut walk = home.take(&id);
    let whole = walk.state().tree.clone().unwrap();
    walk.reject(&one(&hunk(&walk, "a.txt", 1)), None).unwrap();
    home.project.replace("a.txt", "four\n", "four and a half\n");
    let Applied::Moved { tree: rebased, .. } = apply(&home, &mut walk, &whole) else { panic!("the files moved") };

    assert!(walk.state().rejected.is_empty(), "verdicts belong to the hunks of one diff");
    let report = walk.report(None).unwrap();
    assert_eq!((report.tree.as_ref(), report.kept_tree.as_ref()), (Some(&rebased), Some(&rebased)));
    assert_ne!(report.base, walk.state().base);
    walk.reject(&one(&hunk(&walk, "a.txt", 0)), None).unwrap();
    let kept = walk.check_kept().unwrap();
    let shown = walk.report(Some(&kept)).unwrap();
    assert_eq!((shown.base, shown.hunks.len()), (report.base, 2), "a selection is shown against its own base");
    assert_eq!(apply(&home, &mut walk, &kept), Applied::Ended(PublicationEnd::Applied));
    assert_eq!(home.project.text("a.txt"), "one\ntwo\nthree\nfour and a half\nfive\nSIX\nseven\n");

    // The first tree is still relative to the first base: from here it is a change of files that moved.
    walk.undo(&home.publisher()).unwrap();
    assert!(matches!(apply(&home, &mut walk, &whole), Applied::Moved { tree, .. } if tree == rebased));
    home.project.replace("a.txt", "four and a half\n", "four\n");
    assert_eq!(apply(&home, &mut walk, &whole), Applied::Ended(PublicationEnd::Applied));
    assert_eq!(home.project.text("a.txt"), "one\nTWO\nthree\nfour\nfive\nSIX\nseven\n");
}

#[test]
fn a_working_tree_stays_under_review_as_a_whole() {
    let home = Home::new(TEXT);
    home.project.replace("a.txt", "two", "TWO");
    home.project.replace("a.txt", "six", "SIX");
    let id = home.walked(home.request("prove", Engine::Patch, Some(Candidate::Worktree)));
    let mut walk = home.take(&id);
    let two = hunk(&walk, "a.txt", 0);
    walk.reject(&one(&two), None).unwrap();
    let kept = walk.check_kept().unwrap();
    home.project.write("new.txt", "since\n");
    let Applied::Moved { tree: rebased, .. } = apply(&home, &mut walk, &kept) else { panic!("the files moved") };
    assert_eq!(walk.state().rejected, one(&two));
    assert_eq!(walk.kept_tree().unwrap(), kept);
    assert_eq!(apply(&home, &mut walk, &rebased), Applied::Ended(PublicationEnd::Applied));
    assert_eq!(home.project.text("a.txt"), "one\ntwo\nthree\nfour\nfive\nSIX\nseven\n");
    assert_eq!(home.project.text("new.txt"), "since\n");
}

#[test]
fn a_tree_is_checked_again_under_its_own_name() {
    let home = Home::new(TEXT);
    let id = home.walked(home.patch(PATCH));
    let mut walk = home.take(&id);
    let whole = walk.state().tree.clone().unwrap();
    let revision = walk.state().revision;
    walk.check_again(&whole).unwrap();
    let events = home.events(&id);
    assert!(matches!(events.last(), Some(Event::Rechecked { tree, kept, .. }) if *tree == whole && kept.len() == 3));
    assert_eq!(walk.state().revision, revision);
    let stranger: TreeId = "0123456789012345678901234567890123456789".parse().unwrap();
    assert!(walk.check_again(&stranger).is_err());
    assert_eq!(apply(&home, &mut walk, &whole), Applied::Ended(PublicationEnd::Applied));
}

#[test]
fn without_a_diff_there_is_nothing_to_review() {
    let home = Home::new(TEXT);
    let mut walk = Walk::begin(&home.house, home.patch(PATCH)).unwrap().unwrap();
    let none = BTreeSet::new();
    let tree: TreeId = "0123456789012345678901234567890123456789".parse().unwrap();
    for refused in [
        walk.reject(&none, None),
        walk.keep(&none),
        walk.kept_tree().map(drop),
        walk.check_kept().map(drop),
        walk.check_again(&tree),
        walk.select(&none).map(drop),
    ] {
        assert!(refused.unwrap_err().to_string().contains("no diff yet"));
    }
    let report = walk.report(None).unwrap();
    assert_eq!((report.revision, report.kept_tree, report.kept_verdict), (0, None, None));
    assert!(matches!(apply(&home, &mut walk, &tree), Applied::Refused { .. }));
}

#[test]
fn files_are_shown_of_the_trees_of_a_task_and_of_no_other() {
    let home = Home::new(TEXT);
    let id = home.walked(home.patch(PATCH));
    let mut walk = home.take(&id);
    let (base, whole) = (walk.state().base.clone().unwrap(), walk.state().tree.clone().unwrap());
    walk.reject(&one(&hunk(&walk, "a.txt", 1)), None).unwrap();
    let kept = walk.report(None).unwrap().kept_tree.unwrap();
    walk.give_back().unwrap();
    let file = |tree: &TreeId, path: &str| {
        agent::file_of(&*home.house.journal, &home.house.state, &id, tree, &tree_path(path)).map_err(|it| it.chain())
    };
    let text = |text: &str| Ok(Some(text.as_bytes().to_vec()));
    assert_eq!(file(&base, "gone.txt"), text("bye\n"));
    assert_eq!(file(&whole, "gone.txt"), Ok(None));
    assert_eq!(file(&kept, "a.txt"), text("one\nTWO\nthree\nfour\nfive\nsix\nseven\n"));
    let other = home.walked(home.patch(&PATCH.replace("SIX", "6")));
    let foreign = home.take(&other).state().tree.clone().unwrap();
    assert!(file(&foreign, "a.txt").unwrap_err().contains("has no tree"));

    let lines = agent::list(&*home.house.journal).unwrap();
    assert_eq!(lines.iter().map(|line| &line.id).collect::<Vec<_>>(), [&other, &id]);
    assert_eq!(lines[1].verdict.as_deref(), Some("not verified"));
    let docs = agent::documents_folder(&home.folder(), &home.house.state).unwrap();
    assert!(docs.ends_with("docs") && docs.is_dir());
    assert_eq!(agent::top(&home.folder(), &home.house.state).unwrap(), home.folder());
}

#[test]
fn trees_and_hunks_are_named_by_their_first_digits() {
    let home = Home::new(TEXT);
    let id = home.walked(home.patch(PATCH));
    let walk = home.take(&id);
    let tree = walk.state().tree.clone().unwrap();
    let hunk = hunk(&walk, "a.txt", 0);
    let journal = &*home.house.journal;
    assert_eq!(agent::tree_named(journal, &id, &tree.as_str()[..8]).unwrap(), tree);
    let named = |text: &str| agent::hunks_named(journal, &home.house.state, &id, &[text.to_owned()]);
    assert_eq!(named(&hunk.as_str()[..6]).unwrap(), one(&hunk));
    assert!(named("zzzz").unwrap_err().to_string().contains("zzzz"));
    assert!(agent::tree_named(journal, &id, "zzzz").is_err());
}

#[test]
fn a_manifest_needs_a_consent_of_its_own_where_what_it_runs_changes() {
    let before = r#"{"name": "x", "scripts": {"test": "node --test"}}"#;
    for (after, needs) in [
        (r#"{"name": "x", "scripts": {"test": "node --test", "postinstall": "node evil.js"}}"#, true),
        (r#"{"name": "x", "scripts": {"test": "node --test"}, "jest": {"preset": "./evil"}}"#, true),
        (r#"{"name": "x", "scripts": {"test": "node --test"}, "#, true),
        (r#"{"name": "y", "version": "1.0.0", "scripts": {"test": "node --test"}}"#, false),
    ] {
        let home = Home::new(&format!("-- package.json --\n{before}\n"));
        let id = home
            .walked(home.patch(&format!("--- a/package.json\n+++ b/package.json\n@@ -1 +1 @@\n-{before}\n+{after}\n")));
        let report = home.take(&id).report(None).unwrap();
        assert_eq!(report.hunks.iter().map(|hunk| hunk.needs_consent).collect::<Vec<_>>(), [needs], "{after}");
    }
}
