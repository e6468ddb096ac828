//! Trees in memory, and short forms of questions.

use std::sync::Arc;

use semantics::TextRetrieval;
use task::TreePath;
use task::port::{Answer, Change, Excerpt, Generation, Item, Query, Retrieval as _, Retrieve};

pub fn path(name: &str) -> TreePath {
    name.parse().unwrap()
}

pub fn text(bytes: impl AsRef<[u8]>) -> Option<Arc<[u8]>> {
    Some(Arc::from(bytes.as_ref()))
}

pub fn push(retrieve: &dyn Retrieve, files: Vec<(TreePath, Option<Arc<[u8]>>)>) {
    retrieve.push(Change { generation: Generation(1), files });
}

/// A tree of these files, pushed.
pub fn tree(files: &[(&str, &str)]) -> Arc<dyn Retrieve> {
    let retrieve = TextRetrieval.open();
    push(&*retrieve, files.iter().map(|(name, body)| (path(name), text(body))).collect());
    retrieve
}

#[track_caller]
pub fn known<T>(answer: Answer<T>) -> T {
    match answer {
        Answer::Known { value, .. } => value,
        Answer::Unknown { reason } => panic!("unknown: {reason}"),
    }
}

#[track_caller]
pub fn unknown<T>(answer: Answer<T>) -> String {
    match answer {
        Answer::Known { .. } => panic!("an answer where none was expected"),
        Answer::Unknown { reason } => reason,
    }
}

pub fn search(retrieve: &dyn Retrieve, query: &str) -> Vec<Excerpt> {
    known(retrieve.search(&Query { text: query.to_owned(), most: 10, source_only: false }))
}

/// The files of the answer, in order.
pub fn files(retrieve: &dyn Retrieve, query: &str) -> Vec<String> {
    let mut files = Vec::new();
    for excerpt in search(retrieve, query) {
        let file = excerpt.path.to_string();
        if !files.contains(&file) {
            files.push(file);
        }
    }
    files
}

/// `Outer::inner first-last` of each item.
pub fn listed(items: &[Item]) -> Vec<String> {
    items.iter().map(|item| format!("{} {}-{}", item.symbol.name, item.first_line, item.last_line)).collect()
}
