//! `understudy.explain`: a question about the code, answered with the lines that show it. An act like others, but about no
//! task: nothing of it is kept but the document that a plain client reads.

use std::path::Path;

use agent::{Citation, ExplainAsk, Explanation, House};
use lsp_types::Url;
use serde_json::{Value, json};
use task::TreePath;

use crate::act::{ActId, Crew, Done, failed};
use crate::folders::Folder;
use crate::mail::Refusal;
use crate::page;
use crate::rooms::Ask;

impl Crew {
    pub fn explain(
        &self,
        house: &House,
        act: ActId,
        ask: Ask,
        mut folder: Folder,
        at: Option<(TreePath, u32)>,
    ) -> Result<Done, Refusal> {
        let question = ask.description.clone();
        // The settings know what a question may cost.
        let request = self.rooms.request(ask).map_err(Refusal::BadParams)?;
        let asked = ExplainAsk { folder: request.workspace, question: question.clone(), at, limits: request.limits };
        let explanation = agent::explain(house, &asked).map_err(failed)?;
        folder.top = agent::top(&folder.path, &house.state).map_err(failed)?;
        if !self.facts.rich {
            let docs = agent::documents_folder(Path::new(&asked.folder), &house.state).map_err(failed)?;
            let path = docs.join(format!("explanation-{}.md", act.0));
            let uri = |citation: &Citation| uri(&folder, citation);
            let written = std::fs::write(&path, page::explanation(&question, &explanation, uri));
            written.map_err(|error| Refusal::Failed(format!("{} cannot be written: {error}", path.display())))?;
            self.open(&path);
        }
        value(&folder, &explanation).map(Done::Explained)
    }
}

fn uri(folder: &Folder, citation: &Citation) -> Option<Url> {
    Url::from_file_path(folder.document(&citation.path)).ok()
}

/// The explanation as it is, each citation with the document that it is in.
fn value(folder: &Folder, explanation: &Explanation) -> Result<Value, Refusal> {
    let mut value = serde_json::to_value(explanation)
        .map_err(|error| Refusal::Failed(format!("the answer cannot be written as JSON: {error}")))?;
    for (citation, written) in explanation.citations.iter().zip(value["citations"].as_array_mut().into_iter().flatten())
    {
        written["uri"] = json!(uri(folder, citation));
    }
    Ok(value)
}
