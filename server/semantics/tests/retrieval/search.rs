//! What is found, in which order, and why.

use task::port::Query;

use super::support::{files, known, path, push, search, text, tree};

const PAGES: [(&str, &str); 5] = [
    (
        "src/pages.rs",
        "/// One page of users.\npub struct UserPage;\n\nimpl UserPage {\n    /// The cursor of the next one.\n    pub fn next_cursor(&self) -> Cursor { todo() }\n}\n",
    ),
    ("src/cursor.rs", "pub struct Cursor(u64);\n\nfn unrelated() {}\n"),
    ("src/main.rs", "mod pages;\nfn main() { run() }\n"),
    ("tests/pages.rs", "#[test]\nfn the_next_cursor_of_a_page() { next_cursor() }\n"),
    ("README.md", "# Pages\nEvery page has a cursor.\n"),
];

#[test]
fn words_are_found_whatever_the_case_they_are_written_in() {
    let retrieve = tree(&PAGES);
    for query in ["next cursor", "nextCursor", "next_cursor", "NEXT-CURSOR", "the next cursors cursor"] {
        assert_eq!(files(&*retrieve, query)[0], "src/pages.rs", "{query}");
    }
}

#[test]
fn an_excerpt_is_a_whole_item_with_the_reason() {
    let found = &search(&*tree(&PAGES), "where is next_cursor computed")[0];
    assert_eq!((found.first_line, found.last_line), (5, 6));
    assert_eq!(found.symbol.as_deref(), Some("UserPage::next_cursor"));
    assert_eq!(found.text, "    /// The cursor of the next one.\n    pub fn next_cursor(&self) -> Cursor { todo() }\n");
    assert!(found.reason.contains("defines UserPage::next_cursor"), "{}", found.reason);
    assert!(found.reason.contains("words: "), "{}", found.reason);
}

#[test]
fn files_that_the_query_names_come_first() {
    let retrieve = tree(&PAGES);
    for query in [
        "next cursor of pages in src/main.rs",
        "next cursor of pages\nthread 'main' panicked at /home/me/pages/src/main.rs:2:13:",
        "next cursor of pages, see https://example.org/o/r/blob/v1/src/main.rs#L2-L3",
        "next cursor of pages: main.rs",
        "next cursor of pages\n  File \"src/main.rs\", line 2, in main",
    ] {
        let found = &search(&*retrieve, query)[0];
        assert_eq!(found.path.to_string(), "src/main.rs", "{query}");
        assert!(found.reason.contains("named by the query"), "{}", found.reason);
    }
}

#[test]
fn a_line_that_the_query_names_is_in_the_excerpt() {
    let body: String = (1..=400).map(|line| format!("let cursor_{line} = {line};\n")).collect();
    let body = format!("fn first() {{ page(); }}\nfn long() {{\n{body}}}\n");
    let retrieve = tree(&[("src/long.rs", &body), ("src/other.rs", "fn page() {}\n")]);
    let found = &search(&*retrieve, "error at src/long.rs:300 in page")[0];
    assert_eq!(found.symbol.as_deref(), Some("long"));
    assert!(found.first_line <= 300 && 300 <= found.last_line, "{}-{}", found.first_line, found.last_line);
    assert!(found.last_line - found.first_line < 60);
    assert!(found.text.contains("cursor_298"), "{}", found.text);
}

#[test]
fn tests_and_prose_can_be_left_out() {
    let retrieve = tree(&PAGES);
    let query = Query { text: "page cursor".into(), most: 10, source_only: true };
    let found = known(retrieve.search(&query));
    assert!(!found.is_empty());
    assert!(found.iter().all(|excerpt| excerpt.path.to_string().starts_with("src/")), "{found:?}");
    let all = files(&*retrieve, "page cursor");
    assert!(all.contains(&"tests/pages.rs".to_owned()) && all.contains(&"README.md".to_owned()), "{all:?}");
}

#[test]
fn equal_questions_have_equal_answers() {
    let same: Vec<(String, String)> =
        (0..40).map(|number| (format!("src/f{number:02}.rs"), "fn page_cursor() {}\n".to_owned())).collect();
    let same: Vec<(&str, &str)> = same.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let forward = tree(&same);
    let backward = tree(&same.iter().rev().copied().collect::<Vec<_>>());
    let first = search(&*forward, "page cursor");
    assert_eq!(first.len(), 10);
    assert_eq!(first[0].path.to_string(), "src/f00.rs");
    assert_eq!(first, search(&*forward, "page cursor"));
    assert_eq!(first, search(&*backward, "page cursor"));
}

#[test]
fn a_tree_that_changed_in_steps_answers_like_one_pushed_at_once() {
    let steps = tree(&PAGES);
    search(&*steps, "page");
    for round in 0..200 {
        let body = format!("fn round_{round}() {{ page_cursor() }}\n");
        push(
            &*steps,
            vec![(path("src/moving.rs"), text(&body)), (path(&format!("src/gone{round}.rs")), text("fn page() {}"))],
        );
        search(&*steps, "page");
        push(&*steps, vec![(path(&format!("src/gone{round}.rs")), None)]);
    }
    let mut whole = PAGES.to_vec();
    whole.push(("src/moving.rs", "fn round_199() { page_cursor() }\n"));
    let whole = tree(&whole);
    for query in ["page cursor", "round", "moving", "round_199", "gone", "users page next"] {
        assert_eq!(search(&*steps, query), search(&*whole, query), "{query}");
    }
}

#[test]
fn code_outside_of_all_items_is_found() {
    let mut body = "const app = express();\n\n".to_owned();
    for number in 0..80 {
        body.push_str(&format!("app.get('/other{number}', (req, res) => {{\n  res.json({number});\n}});\n"));
    }
    body.push_str("app.get('/users', (req, res) => {\n  res.json(listUsers());\n});\n");
    let found = &search(&*tree(&[("app.js", &body)]), "users list endpoint")[0];
    assert!(found.text.contains("listUsers"), "{}", found.text);
    assert!(found.last_line - found.first_line < 60);
}

#[test]
fn a_query_without_words_finds_nothing() {
    let retrieve = tree(&PAGES);
    assert!(search(&*retrieve, "").is_empty());
    assert!(search(&*retrieve, "the of and").is_empty());
    assert!(search(&*retrieve, "zebra").is_empty());
    assert!(known(retrieve.search(&Query { text: "page".into(), most: 0, source_only: false })).is_empty());
    assert!(search(&*tree(&[]), "page").is_empty());
}

#[test]
fn a_path_that_says_it_is_enough() {
    let found = &search(&*tree(&[("src/throttling.yaml", "a: 1\n"), ("src/x.rs", "fn y() {}\n")]), "throttling")[0];
    assert_eq!((found.path.to_string().as_str(), &*found.reason), ("src/throttling.yaml", "path"));
}
