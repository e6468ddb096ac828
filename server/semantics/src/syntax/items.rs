//! The items of a text, each with all that belongs to it: attributes, decorators, the comment that stands over it.

use std::ops::Range;

use task::port::SymbolKind;
use tree_sitter::Node;

use super::shape::{Shape, is_inner_comment, marks_test, name, shape};
use super::{Cap, Language, parse};

/// Deeper items have no names of their own, and more of them are not listed: such text was made by a program.
const DEEPEST: usize = 16;
const MOST_ITEMS: usize = 50_000;

/// An item as it stands in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// With the items around it: `Outer::inner`.
    pub name: String,
    pub kind: SymbolKind,
    /// Byte range of the name, and its line.
    pub name_range: Range<usize>,
    pub line: u32,
    /// Byte range of the whole item.
    pub range: Range<usize>,
    pub first_line: u32,
    pub last_line: u32,
    /// The item around it, by its place in the list.
    pub outer: Option<usize>,
    /// A test, or something inside of tests.
    pub is_test: bool,
}

impl Found {
    /// The name without the items around it.
    pub fn own_name(&self) -> &str {
        self.name.rsplit("::").next().unwrap_or(&self.name)
    }
}

/// Comments and attributes that belong to the item that follows them at once.
#[derive(Debug, Clone, Copy)]
struct Lead {
    start: usize,
    row: usize,
    end_row: usize,
    is_test: bool,
}

/// What is known about the children of a node while they are walked.
#[derive(Debug, Clone, Default)]
struct Frame {
    shape: Shape,
    /// How many names this node put on the path.
    names: usize,
    item: Option<usize>,
    is_test: bool,
    /// Directly in a class or an `impl`.
    in_type: bool,
    /// Outside of all functions and types.
    is_top: bool,
    /// The range that an only child takes: `export`, decorators, `const`.
    wrap: Option<(usize, usize, usize, usize)>,
    lead: Option<Lead>,
    last_row: Option<usize>,
}

/// Every item of a text, in the order in which they begin.
///
/// # Errors
/// When the text is larger, or takes longer, than anything written by hand.
pub fn items(language: Language, text: &[u8]) -> Result<Vec<Found>, Cap> {
    let tree = parse::parse(language, text)?;
    let mut walk = Walk { language, text, path: Vec::new(), found: Vec::new() };
    let mut cursor = tree.walk();
    let mut frames = vec![Frame { is_top: true, ..Frame::default() }];
    if !cursor.goto_first_child() {
        return Ok(Vec::new());
    }
    loop {
        let parent = frames.last_mut().map(std::mem::take).unwrap_or_default();
        let (parent, own) = walk.visit(cursor.node(), parent);
        if let Some(last) = frames.last_mut() {
            *last = parent;
        }
        if let Some(own) = own {
            if cursor.goto_first_child() {
                frames.push(own);
                continue;
            }
            walk.path.truncate(walk.path.len() - own.names);
        }
        while !cursor.goto_next_sibling() {
            let left = frames.pop().unwrap_or_default();
            walk.path.truncate(walk.path.len() - left.names);
            if frames.is_empty() || !cursor.goto_parent() {
                return Ok(walk.found);
            }
        }
    }
}

struct Walk<'a> {
    language: Language,
    text: &'a [u8],
    path: Vec<String>,
    found: Vec<Found>,
}

impl Walk<'_> {
    /// Answers the parent's frame for the next sibling, and the frame for the children where they are to be walked.
    fn visit(&mut self, node: Node<'_>, mut parent: Frame) -> (Frame, Option<Frame>) {
        let shape = shape(self.language, node, parent.shape, parent.is_top);
        let (start, end) = (node.start_position().row, end_row(node));
        if shape == Shape::Lead {
            let bytes = &self.text[node.byte_range()];
            // What trails the item before on its last line belongs to that one, and `//!` to the file.
            if parent.last_row != Some(start) && !is_inner_comment(bytes) {
                let run = parent.lead.filter(|lead| lead.end_row + 1 >= start);
                let mut run =
                    run.unwrap_or(Lead { start: node.start_byte(), row: start, end_row: end, is_test: false });
                run.end_row = end;
                run.is_test |= marks_test(node.kind(), bytes);
                parent.lead = Some(run);
            }
            return (parent, None);
        }
        let lead = parent.lead.take().filter(|lead| lead.end_row + 1 >= start);
        parent.last_row = Some(end);
        let mut span = (node.start_byte(), node.end_byte(), start, end);
        if let Some(lead) = lead {
            (span.0, span.2) = (lead.start, lead.row);
        }
        let span = parent.wrap.unwrap_or(span);
        let mut own = Frame {
            shape,
            item: parent.item,
            is_test: parent.is_test || lead.is_some_and(|lead| lead.is_test),
            in_type: parent.in_type && !matches!(shape, Shape::Item(_)),
            is_top: parent.is_top && matches!(shape, Shape::Wrapper | Shape::Group | Shape::Item(SymbolKind::Module)),
            ..Frame::default()
        };
        match shape {
            Shape::Wrapper => own.wrap = Some(span),
            Shape::Item(kind) => self.item(node, kind, span, parent.in_type, &mut own),
            Shape::Impl => {
                own.in_type = true;
                if let Some((name, _)) = name(self.language, node, self.text) {
                    self.path.push(name);
                    own.names = 1;
                }
            }
            _ => {}
        }
        (parent, Some(own))
    }

    fn item(
        &mut self,
        node: Node<'_>,
        kind: SymbolKind,
        span: (usize, usize, usize, usize),
        in_type: bool,
        own: &mut Frame,
    ) {
        let Some((name, at)) = name(self.language, node, self.text) else { return };
        if self.path.len() >= DEEPEST || self.found.len() >= MOST_ITEMS {
            return;
        }
        own.is_test |= kind == SymbolKind::Module && matches!(&*name, "tests" | "test");
        own.is_test |= self.language == Language::Python && name.starts_with("test_");
        own.in_type = matches!(kind, SymbolKind::Struct | SymbolKind::Trait);
        let before = self.path.len();
        self.path.extend(name.split("::").map(str::to_owned));
        own.names = self.path.len() - before;
        let method = kind == SymbolKind::Function && (in_type || own.names > 1);
        self.found.push(Found {
            name: self.path.join("::"),
            kind: if method { SymbolKind::Method } else { kind },
            line: line(at.start_position().row),
            name_range: at.byte_range(),
            range: span.0..span.1,
            first_line: line(span.2),
            last_line: line(span.3),
            outer: own.item,
            is_test: own.is_test,
        });
        own.item = Some(self.found.len() - 1);
    }
}

/// The last row with something of the node on it: some comments hold the line break after them.
fn end_row(node: Node<'_>) -> usize {
    let end = node.end_position();
    if end.column == 0 { end.row.saturating_sub(1).max(node.start_position().row) } else { end.row }
}

fn line(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX - 1) + 1
}
