//! The compiler's assists, by id, and the quick fixes that are made of them.

use ra_ap_ide::{Assist, AssistResolveStrategy};
use ra_ap_ide_db::FileRange;
use ra_ap_syntax::{TextRange, TextSize};
use task::port::{Problem, Refactored};
use task::{EditSet, TreePath};

use super::edits::Gathered;
use super::rename::refused;
use crate::analysis::Analysis;
use crate::settings;

/// Assists that mend compile errors, the most likely first.
const MENDING: &[&str] = &[
    "auto_import",
    "add_missing_match_arms",
    "add_missing_impl_members",
    "add_missing_default_members",
    "fix_visibility",
    "qualify_path",
    "qualify_method_call",
    "add_lifetime_to_type",
    "add_turbo_fish",
];

/// Diagnostics' own fixes that mend what they are about, the most certain first. Others change style, or add what only
/// a person may decide, such as `unsafe`.
const FIXES: &[&str] = &[
    "fill_missing_fields",
    "expected-field-found-method-call-fix",
    "expected-method-found-field-fix",
    "method_call_to_assoc_func_call_fix",
    "add_await",
    "array_length",
    "str_ref_to_owned",
    "remove_semicolon",
    "insert_wrapped_unit",
    "remove_unnecessary_wrapper",
    "wrap_in_constructor",
    "make_reference_mutable",
    "add_reference_here",
    "add_deref_here",
    "increase_field_visibility",
    "use-drop-function",
    "remove_generic_args",
    "add_mod_declaration",
];

/// At most this many ways to mend one error are worth trying.
const CANDIDATE_CAP: usize = 12;

impl Analysis {
    /// Runs one assist at a line and column, both from 1; the column counts characters.
    pub(crate) fn assist(&self, id: &str, path: &TreePath, line: u32, column: u32) -> Refactored {
        let (file, offset) = match self.place(path, line, column) {
            Ok(place) => place,
            Err(reason) => return refused(reason),
        };
        let assists = self.assists(FileRange { file_id: file, range: TextRange::empty(offset) });
        let wanted: Vec<&Assist> = assists.iter().filter(|assist| assist.id.0 == id).collect();
        match wanted.as_slice() {
            [] => {
                let mut known: Vec<&str> = assists.iter().map(|assist| assist.id.0).collect();
                known.sort_unstable();
                known.dedup();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                refused(format!("there is no assist `{id}` at {path}:{line}:{column}; there are: {known}"))
            }
            // Several under one id are several targets, such as one import for each crate that has the name.
            [first, ..] => match self.edits_of(first) {
                Ok(gathered) if gathered.limitations.is_empty() => {
                    Refactored::Edits { edits: gathered.into_set(), limitations: Vec::new() }
                }
                Ok(gathered) => refused(
                    gathered.limitations.into_iter().map(|limitation| limitation.text).collect::<Vec<_>>().join("; "),
                ),
                Err(reason) => refused(reason),
            },
        }
    }

    /// Ways to mend a compile error, best first; those that leave a `todo!()` for a person come last.
    pub(crate) fn quick_fixes(&self, problem: &Problem) -> Vec<EditSet> {
        let (Some(text), Some(file)) = (self.text(&problem.path), self.file_id(&problem.path)) else {
            return Vec::new();
        };
        let (start, end) = (text.to_lf(problem.start), text.to_lf(problem.end));
        let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(end.max(start))) else { return Vec::new() };
        let whole = TextRange::new(start.into(), end.into());
        let mut ranges = vec![whole, TextRange::empty(whole.start()), TextRange::empty(whole.end())];
        // The compiler may mark a whole path while the assist wants the cursor inside its first name.
        if whole.len() > TextSize::new(1) {
            ranges.push(TextRange::empty(whole.start() + TextSize::new(1)));
        }
        let mut ranked: Vec<((bool, usize, bool), EditSet)> = Vec::new();
        for range in ranges {
            for assist in self.assists(FileRange { file_id: file, range }) {
                let Some(rank) = rank(&assist) else { continue };
                let Ok(gathered) = self.edits_of(&assist) else { continue };
                if !gathered.limitations.is_empty() || gathered.replacements.is_empty() || needs_cursor(&gathered) {
                    continue;
                }
                let todo = leaves_todo(&gathered);
                // One import for the file goes before one for the function that the error is in.
                let everywhere = self.import_everywhere(&problem.path, whole, &assist);
                let ways = everywhere.into_iter().map(|edits| (false, edits)).chain([(true, gathered.into_set())]);
                for (local, edits) in ways {
                    if !ranked.iter().any(|(_, known)| *known == edits) {
                        ranked.push(((todo, rank, local), edits));
                    }
                }
            }
        }
        ranked.sort_by_key(|(rank, _)| *rank);
        ranked.into_iter().map(|(_, edits)| edits).take(CANDIDATE_CAP).collect()
    }

    fn assists(&self, range: FileRange) -> Vec<Assist> {
        let found = self.ide().assists_with_fixes(
            &settings::assists(),
            &settings::diagnostics(),
            AssistResolveStrategy::All,
            range,
        );
        found.unwrap_or_default()
    }

    fn edits_of(&self, assist: &Assist) -> Result<Gathered, String> {
        let change = assist.source_change.as_ref().ok_or("the assist offers no edit")?;
        let mut gathered = Gathered::default();
        self.gather(change, &mut gathered)?;
        Ok(gathered)
    }
}

fn rank(assist: &Assist) -> Option<usize> {
    let id = assist.id.0;
    let fix = FIXES.iter().position(|known| *known == id);
    let mending = MENDING.iter().position(|known| *known == id).map(|at| FIXES.len() + at);
    fix.or(mending)
}

/// Whether an edit only makes sense for somebody who stands at a cursor.
fn needs_cursor(gathered: &Gathered) -> bool {
    texts(gathered).any(|text| text.contains("$0") || text.contains("${") || text.contains("unimplemented!("))
}

/// Whether an edit compiles but leaves something for a person to write.
fn leaves_todo(gathered: &Gathered) -> bool {
    texts(gathered).any(|text| text.contains("todo!("))
}

fn texts(gathered: &Gathered) -> impl Iterator<Item = &str> {
    let replaced = gathered.replacements.values().flatten().map(|edit| edit.replacement.as_str());
    replaced.chain(gathered.creations.values().map(String::as_str))
}
