//! Documentation as text with the way back to the comment it came from.

use ra_ap_syntax::ast::{self, AstToken, CommentPlacement};
use ra_ap_syntax::{AstNode, NodeOrToken, SyntaxNode};

/// One line of documentation without its comment marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocLine {
    pub text: String,
    /// Where `text` starts in the file, in the compiler's offsets.
    pub offset: usize,
}

/// The documentation of one item, or a whole Markdown file.
#[derive(Debug, Clone)]
pub struct DocBlock {
    /// The item; `None` for a Markdown file.
    pub owner: Option<SyntaxNode>,
    /// `//!` rather than `///`.
    pub inner: bool,
    pub lines: Vec<DocLine>,
}

impl DocBlock {
    /// The text as Markdown, with the start of each line in it.
    pub fn markdown(&self) -> (String, Vec<usize>) {
        let mut text = String::new();
        let mut starts = Vec::with_capacity(self.lines.len());
        for line in &self.lines {
            starts.push(text.len());
            text.push_str(&line.text);
            text.push('\n');
        }
        (text, starts)
    }

    /// The place in the file of an offset of [`DocBlock::markdown`].
    pub fn origin(&self, starts: &[usize], offset: usize) -> Option<usize> {
        let index = starts.partition_point(|start| *start <= offset).checked_sub(1)?;
        let line = self.lines.get(index)?;
        let column = offset - starts[index];
        (column <= line.text.len()).then_some(line.offset + column)
    }
}

/// Every run of doc comments of a file.
pub fn blocks(file: &ast::SourceFile) -> Vec<DocBlock> {
    let mut found: Vec<(SyntaxNode, DocBlock)> = Vec::new();
    for element in file.syntax().descendants_with_tokens() {
        let NodeOrToken::Token(token) = element else { continue };
        let Some(comment) = ast::Comment::cast(token) else { continue };
        let Some(placement) = comment.kind().doc else { continue };
        let Some(parent) = comment.syntax().parent() else { continue };
        let inner = placement == CommentPlacement::Inner;
        let mut lines = Vec::new();
        push_lines(&comment, &mut lines);
        match found.last_mut() {
            Some((last, block)) if *last == parent && block.inner == inner => block.lines.append(&mut lines),
            _ => found.push((parent.clone(), DocBlock { owner: Some(owner(parent, inner)), inner, lines })),
        }
    }
    let mut blocks: Vec<DocBlock> = found.into_iter().map(|(_, block)| block).collect();
    for block in &mut blocks {
        unindent(&mut block.lines);
    }
    blocks
}

/// A Markdown file as one block.
pub fn markdown_file(text: &str) -> DocBlock {
    let mut lines = Vec::new();
    let mut offset = 0;
    for line in text.split('\n') {
        lines.push(DocLine { text: line.to_owned(), offset });
        offset += line.len() + 1;
    }
    DocBlock { owner: None, inner: true, lines }
}

/// Inner comments lie in the list of their item, or in the body of a function.
fn owner(parent: SyntaxNode, inner: bool) -> SyntaxNode {
    if !inner || ast::SourceFile::can_cast(parent.kind()) {
        return parent;
    }
    let item = parent.ancestors().skip(1).find(|node| ast::Item::can_cast(node.kind()));
    item.unwrap_or(parent)
}

fn push_lines(comment: &ast::Comment, lines: &mut Vec<DocLine>) {
    let Some((text, start)) = comment.doc_comment() else { return };
    let mut offset = usize::from(comment.syntax().text_range().start()) + usize::from(start);
    let block = comment.kind().shape.is_block();
    let starred =
        block && text.split('\n').skip(1).all(|line| line.trim_start().starts_with('*') || line.trim().is_empty());
    for (index, line) in text.split('\n').enumerate() {
        let cut = if starred && index > 0 { line.find('*').map_or(0, |at| at + 1) } else { 0 };
        lines.push(DocLine { text: line[cut..].trim_end().to_owned(), offset: offset + cut });
        offset += line.len() + 1;
    }
}

/// Removes the indentation that all lines share, as rustdoc does.
fn unindent(lines: &mut [DocLine]) {
    let indent = |line: &DocLine| line.text.len() - line.text.trim_start_matches(' ').len();
    let shared = lines.iter().filter(|line| !line.text.trim().is_empty()).map(indent).min().unwrap_or(0);
    for line in lines {
        let cut = shared.min(line.text.len());
        line.text.drain(..cut);
        line.offset += cut;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ra_ap_syntax::{Edition, SourceFile};

    fn parsed(text: &str) -> Vec<DocBlock> {
        blocks(&SourceFile::parse(text, Edition::Edition2024).tree())
    }

    #[test]
    fn every_line_knows_where_it_comes_from() {
        let text = "//! Top.\n\n/// First `a`\n///  second\npub fn f() {}\n/** Block\n * starred\n */\nstruct S;\n";
        let blocks = parsed(text);
        assert_eq!(blocks.len(), 3);
        for block in &blocks {
            for line in &block.lines {
                assert!(text[line.offset..].starts_with(&line.text), "{line:?}");
            }
        }
        assert_eq!(blocks[1].lines[1].text, " second");
        assert_eq!(blocks[2].lines[1].text, "starred");
        let (markdown, starts) = blocks[1].markdown();
        let at = markdown.find("second").unwrap();
        assert_eq!(blocks[1].origin(&starts, at), text.find("second"));
    }

    #[test]
    fn comments_that_are_not_documentation_are_left_alone() {
        assert!(parsed("// a\n//// b\n/* c */\n/**/\nfn f() {}\n").is_empty());
    }
}
