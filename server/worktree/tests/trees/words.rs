//! Which words of a changed line stand out.

use worktree::changed_words;

#[test]
fn a_renamed_word_stands_out_whole() {
    let (gone, come) = changed_words("if req.matches(&é) {", "if req.accepts(&é) {");
    let words = std::slice::from_ref(&(7..14));
    assert_eq!((&*gone, &*come), (words, words));
}

#[test]
fn lines_that_share_nothing_are_not_emphasised() {
    assert_eq!(changed_words("let a;", "fn b() {}"), (vec![], vec![]));
}
