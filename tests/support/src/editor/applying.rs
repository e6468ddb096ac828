//! An edit that the server asks for, taken in the manner of the editor.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::desk::{Desk, Out};
use super::manner::{Coin, Manner};
use super::position::{self, Replacement};
use super::uri;

/// One entry of an edit.
#[derive(Debug, Clone)]
enum Part {
    Edit { path: PathBuf, version: Option<i64>, edits: Vec<Value> },
    Create(PathBuf),
    Delete(PathBuf),
    Rename(PathBuf, PathBuf),
}

impl Desk {
    pub(crate) fn take_edit(&mut self, request: &Value) {
        let edit = &request["params"]["edit"];
        let first = parts(edit).ok().and_then(|parts| match parts.into_iter().next() {
            Some(Part::Edit { path, .. }) => Some(path),
            _ => None,
        });
        match self.manner {
            Manner::Waits => return self.held.push(request.clone()),
            Manner::DiesBefore => return self.out.push(Out::Die),
            Manner::TypesMeanwhile | Manner::TypesUnnoticed => first.iter().for_each(|path| self.type_meanwhile(path)),
            Manner::ClosesBefore => first.iter().for_each(|path| {
                if self.is_dirty(path) {
                    self.save(path);
                }
                self.close(path);
            }),
            Manner::SavesAtRandom(seed) => {
                self.coin = Coin::new(seed + self.transcript().len() as u64);
                self.save_perhaps(first.as_deref());
            }
            _ => {}
        }
        let outcome = self.make(edit);
        match self.manner {
            Manner::DiesAfter => return self.out.push(Out::Die),
            Manner::TypesAfter => first.iter().for_each(|path| self.type_meanwhile(path)),
            Manner::SavesAtRandom(_) => self.save_perhaps(first.as_deref()),
            Manner::ClosesAfter | Manner::DropsAfter => first.iter().for_each(|path| {
                if self.manner == Manner::ClosesAfter {
                    self.save(path);
                }
                self.close(path);
            }),
            _ => {}
        }
        let answer = match (&outcome, self.manner) {
            (_, Manner::SaysNo) => json!({"applied": false, "failureReason": "no reason at all"}),
            (Ok(()), _) | (_, Manner::Partial | Manner::SaysYes | Manner::MakesSomethingElse) => {
                json!({"applied": true})
            }
            // Neovim skips what it takes for stale and says that it applied it.
            (Err(_), Manner::FirstVersionOnly) => json!({"applied": true}),
            (Err(why), _) => json!({"applied": false, "failureReason": why}),
        };
        self.reply(request, Ok(answer));
        if self.manner == Manner::SlowChange {
            self.out.sort_by_key(|out| matches!(out, Out::Later(_)));
        }
        if matches!(self.manner, Manner::SavesAtRandom(_)) {
            self.save_perhaps(first.as_deref());
        }
    }

    fn save_perhaps(&mut self, path: Option<&Path>) {
        if self.coin.heads() {
            path.into_iter().for_each(|path| self.save(path));
        }
    }

    /// All texts are computed before the first one changes.
    fn make(&mut self, edit: &Value) -> Result<(), String> {
        let parts = parts(edit)?;
        match self.manner {
            Manner::Refuses => return Err("the developer does not want it".to_owned()),
            Manner::SaysYes => return Ok(()),
            _ => self.compare_versions(&parts)?,
        }
        let mut made = Vec::new();
        for part in &parts {
            if let Part::Edit { path, edits, .. } = part {
                let text = self.text(path);
                let found = position::replacements(&text, edits, self.encoding)?;
                made.push((path.clone(), self.mangled(found)));
            }
        }
        for part in parts.iter().filter(|part| !matches!(part, Part::Edit { .. })) {
            self.operate(part)?;
        }
        for (path, edits) in made.iter().filter(|(_, edits)| !edits.is_empty()) {
            // An editor that is asked to edit a file opens it, and leaves it unsaved.
            self.open(path);
            let change = self.change(path, edits);
            match self.manner {
                Manner::SlowChange => self.say_later("textDocument/didChange", change),
                _ => self.notify("textDocument/didChange", change),
            }
        }
        Ok(())
    }

    fn mangled(&self, edits: Vec<Replacement>) -> Vec<Replacement> {
        let half = edits.len() / 2;
        match self.manner {
            // Last ones come first.
            Manner::Partial => edits.into_iter().skip(half.max(1)).collect(),
            Manner::MakesSomethingElse => edits
                .into_iter()
                .map(|edit| Replacement { text: "/* something else */\n".to_owned(), ..edit })
                .collect(),
            _ => edits,
        }
    }

    fn compare_versions(&self, parts: &[Part]) -> Result<(), String> {
        let compared = if self.manner == Manner::FirstVersionOnly { 1 } else { parts.len() };
        for part in &parts[..compared.min(parts.len())] {
            let Part::Edit { path, version: Some(version), .. } = part else { continue };
            let found = self.documents.get(path).map(|document| document.version);
            let fits = match found {
                _ if self.manner == Manner::TypesUnnoticed => true,
                None => self.manner == Manner::OpenOnly,
                Some(found) => found == *version,
            };
            if !fits {
                return Err(format!("{} is at {found:?}, not at {version}", path.display()));
            }
        }
        Ok(())
    }

    fn operate(&mut self, part: &Part) -> Result<(), String> {
        if !self.client.resource_operations {
            return Err("files are neither created nor deleted here".to_owned());
        }
        let said = |error: std::io::Error| error.to_string();
        match part {
            Part::Edit { .. } => Ok(()),
            Part::Create(path) => fs::write(path, "").map_err(said),
            Part::Delete(path) => {
                self.close(path);
                fs::remove_file(path).map_err(said)
            }
            Part::Rename(from, to) => {
                self.close(from);
                fs::rename(from, to).map_err(said)
            }
        }
    }
}

fn parts(edit: &Value) -> Result<Vec<Part>, String> {
    let file = |value: &Value| value.as_str().and_then(uri::path).ok_or_else(|| format!("{value} is no file"));
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    if let Some(changes) = edit["changes"].as_object() {
        let each = changes
            .iter()
            .map(|(uri, edits)| Ok(Part::Edit { path: file(&json!(uri))?, version: None, edits: list(edits) }));
        return each.collect();
    }
    let each = edit["documentChanges"].as_array().into_iter().flatten().map(|change| match change["kind"].as_str() {
        None => Ok(Part::Edit {
            path: file(&change["textDocument"]["uri"])?,
            version: change["textDocument"]["version"].as_i64(),
            edits: list(&change["edits"]),
        }),
        Some("create") => file(&change["uri"]).map(Part::Create),
        Some("delete") => file(&change["uri"]).map(Part::Delete),
        Some("rename") => Ok(Part::Rename(file(&change["oldUri"])?, file(&change["newUri"])?)),
        Some(kind) => Err(format!("{kind} is not known here")),
    });
    each.collect()
}
