//! Which tests of the base are which tests of the candidate, where the change itself renamed things.
//!
//! Only a rename that we made maps ids, and only onto an id that really ran: a test that is simply gone stays vanished.

use std::collections::BTreeSet;

use checks::{Case, Renames};
use task::{ItemId, Plan, StepAction};

/// The mapping for the plan's renames.
pub(crate) fn of(plan: Option<&Plan>, cases: &[Case]) -> Renames {
    let mut renames = Renames::new();
    let steps = plan.iter().flat_map(|plan| &plan.steps);
    for step in steps {
        let StepAction::Rename { symbol, new_name, .. } = &step.action else { continue };
        let old_name = symbol.rsplit("::").next().unwrap_or(symbol);
        for case in cases {
            let (Some(base), Some(candidate)) = (&case.base, &case.candidate) else { continue };
            let here: BTreeSet<&ItemId> = candidate.items.iter().map(|item| &item.id).collect();
            for item in base.items.iter().filter(|item| !here.contains(&item.id)) {
                let renamed = ItemId { path: renamed(&item.id.path, old_name, new_name), ..item.id.clone() };
                if here.contains(&renamed) {
                    renames.insert(item.id.clone(), renamed);
                }
            }
        }
    }
    renames
}

/// The path with every whole word that is the old name replaced: `a::old::test`, `src/old.rs - old::f`.
fn renamed(path: &str, old_name: &str, new_name: &str) -> String {
    let mut out = String::with_capacity(path.len());
    let mut word = String::new();
    let flush = |word: &mut String, out: &mut String| {
        out.push_str(if word == old_name { new_name } else { word });
        word.clear();
    };
    for c in path.chars() {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
        } else {
            flush(&mut word, &mut out);
            out.push(c);
        }
    }
    flush(&mut word, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_of_a_test_path_follow_the_rename() {
        assert_eq!(renamed("parser::tests::parser_works", "parser", "reader"), "reader::tests::parser_works");
        assert_eq!(renamed("src/parser.rs - parser::Parser", "parser", "reader"), "src/reader.rs - reader::Parser");
    }
}
