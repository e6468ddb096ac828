//! Items of files, and where names are defined.

use task::port::{Retrieve, SymbolKind};

use super::support::{known, listed, path, tree, unknown};

fn outline(name: &str, text: &str) -> Vec<String> {
    listed(&known(tree(&[(name, text)]).outline(&path(name))))
}

#[test]
fn rust_items_have_their_attributes_and_comments() {
    let text = "\
//! The file.
use std::fmt; // not of the struct

/// A page.
///
/// With lines.
#[derive(Debug)]
pub struct Page<T> {
    rows: Vec<T>,
} // trails

impl<T: Clone> crate::Show for &mut pages::Page<T> {
    const SIZE: usize = 20;
    /// Shows it.
    fn show(&self) {
        fn inner() {}
    }
}

pub trait Show { fn show(&self); }
macro_rules! page { () => {} }
mod tests {
    #[test]
    fn shows() {}
}
";
    let expected = [
        "Page 4-10",
        "Page::SIZE 13-13",
        "Page::show 14-17",
        "Page::show::inner 16-16",
        "Show 20-20",
        "Show::show 20-20",
        "page 21-21",
        "tests 22-25",
        "tests::shows 23-24",
    ];
    assert_eq!(outline("src/page.rs", text), expected);
}

#[test]
fn python_items_have_their_decorators() {
    let text = "\
LIMIT = 20
# Of pages.
class Page(Base):
    \"\"\"A page.\"\"\"
    size = 3

    @property
    def rows(self):
        local = 1
        return self._rows

    async def load(self): pass

@app.route('/x')
@cached
def show(): pass
";
    let expected = ["LIMIT 1-1", "Page 2-11", "Page::rows 7-10", "Page::load 12-12", "show 14-16"];
    let found = outline("app/page.py", text);
    assert_eq!(found[0], expected[0]);
    assert_eq!(found[2..], expected[2..]);
    assert!(found[1].starts_with("Page 2-1"), "{found:?}");
}

#[test]
fn go_methods_carry_the_type_of_their_receiver() {
    let text = "\
package page

// Page is one.
type Page[T any] struct{ rows []T }

type (
\tShower interface{ Show() }
\tSize = int
)

const Limit = 20

// Show shows.
func (p *Page[T]) Show() {}

func New() *Page[int] { local := 1; _ = local; return nil }
";
    let expected = ["Page 3-4", "Shower 7-7", "Size 8-8", "Limit 11-11", "Page::Show 13-14", "New 16-16"];
    assert_eq!(outline("page.go", text), expected);
}

#[test]
fn scripts_export_functions_in_many_ways() {
    let text = "\
/** Limits. */
export const limit = (max) => {
  const local = 1;
  const inner = () => local;
  return inner;
};
const LIMIT = 20;
exports.show = function () {};
Page.prototype.render = function () {};
export default class Page {
  load = async () => {};
  show() { return <b/>; }
}
describe('page', () => { it('shows', () => {}); });
";
    let expected = [
        "limit 1-6",
        "limit::inner 4-4",
        "LIMIT 7-7",
        "show 8-8",
        "Page::render 9-9",
        "Page 10-13",
        "Page::load 11-11",
        "Page::show 12-12",
    ];
    assert_eq!(outline("src/page.jsx", text), expected);
}

#[test]
fn typescript_has_types_and_namespaces() {
    let text = "\
@Injectable()
export class Pages<T> {
  constructor(private readonly rows: T[]) {}
  @Get() find(id: number): T { return this.rows[id]; }
}
export interface Row { id: number }
type Id = string;
export enum Kind { A }
declare namespace api { function load(): void; }
export default function () {}
";
    let expected = [
        "Pages 1-5",
        "Pages::constructor 3-3",
        "Pages::find 4-4",
        "Row 6-6",
        "Id 7-7",
        "Kind 8-8",
        "api 9-9",
        "api::load 9-9",
        "default 10-10",
    ];
    assert_eq!(outline("src/pages.ts", text), expected);
    assert_eq!(outline("src/pages.tsx", "export const App: FC = () => <div/>;\n"), ["App 1-1"]);
}

#[test]
fn the_ranges_are_bytes_of_the_text() {
    let text = "/// ü\nfn größe() {}\nstruct Ä;\n";
    let items = known(tree(&[("a.rs", text)]).outline(&path("a.rs")));
    let cut = |from, to| &text[from..to];
    assert_eq!(cut(items[0].start, items[0].end), "/// ü\nfn größe() {}");
    let name = &items[0].symbol.definition;
    assert_eq!((cut(name.start, name.end), name.line), ("größe", 2));
    assert_eq!(items[1].symbol.kind, SymbolKind::Struct);
}

#[test]
fn broken_text_has_an_outline_all_the_same() {
    let found = outline("a.rs", "fn one() {}\nfn two( {\nstruct S;\nimpl S { fn three(&self) {} }\n");
    assert!(found.iter().any(|item| item.starts_with("one")), "{found:?}");
    assert!(found.iter().any(|item| item.contains("three")), "{found:?}");
}

#[test]
fn an_unknown_language_is_said_so() {
    let retrieve = tree(&[("Makefile", "all:\n"), ("a.rs", "")]);
    assert!(unknown(retrieve.outline(&path("Makefile"))).contains("no grammar"));
    assert!(unknown(retrieve.outline(&path("b.rs"))).contains("no text file"));
    assert!(known(retrieve.outline(&path("a.rs"))).is_empty());
}

fn defined(retrieve: &dyn Retrieve, name: &str) -> Vec<String> {
    let items = known(retrieve.definitions(name));
    items.iter().map(|item| format!("{}#{}", item.symbol.definition.path, item.symbol.name)).collect()
}

#[test]
fn definitions_are_found_by_any_end_of_their_path() {
    let retrieve = tree(&[
        ("src/a.rs", "pub struct Page;\nimpl Page { pub fn show(&self) {} }\nfn other() { page.show() }\n"),
        ("src/b.py", "class Page:\n    def show(self): pass\n"),
        ("src/c.js", "class View { show() {} }\n"),
        ("src/d.go", "package d\nfunc (v *View) show() {}\n"),
        ("notes.md", "fn show is called\n"),
    ]);
    let all = ["src/a.rs#Page::show", "src/b.py#Page::show", "src/c.js#View::show", "src/d.go#View::show"];
    assert_eq!(defined(&*retrieve, "show"), all);
    assert_eq!(defined(&*retrieve, "Page::show"), all[..2]);
    assert_eq!(defined(&*retrieve, "View.show"), all[2..]);
    assert!(defined(&*retrieve, "how").is_empty());
    assert!(defined(&*retrieve, "").is_empty());
}

#[test]
fn definitions_follow_the_text() {
    let retrieve = tree(&[("a.rs", "fn old() {}\n"), ("b.rs", "fn stays() {}\n")]);
    assert_eq!(defined(&*retrieve, "old"), ["a.rs#old"]);
    super::support::push(
        &*retrieve,
        vec![(path("a.rs"), super::support::text("fn fresh() {}\n")), (path("b.rs"), None)],
    );
    assert!(defined(&*retrieve, "old").is_empty());
    assert!(defined(&*retrieve, "stays").is_empty());
    assert_eq!(defined(&*retrieve, "fresh"), ["a.rs#fresh"]);
}
