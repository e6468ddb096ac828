//! What the request says must hold when the task is done, and whether anything that ran says so.

use schemars::JsonSchema;
use serde::Serialize;
use task::{Engine, Receipt, State, TreeId};

use super::Judged;
use crate::model_engine::{Met, met};

/// An acceptance criterion of the request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Criterion {
    pub text: String,
    pub held: Held,
}

/// Whether a criterion holds at the tree of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Held {
    Yes,
    No,
    /// Nothing that ran on this tree says so. That is no yes.
    NotShown,
}

/// The criteria of a task with a model. The other engines are judged by checks alone.
pub(crate) fn criteria(state: &State, tree: Option<&TreeId>, receipts: &[(Receipt, Judged)]) -> Vec<Criterion> {
    let request = &state.request;
    if request.engine != Engine::Model {
        return Vec::new();
    }
    let of_tree: Vec<&Receipt> =
        receipts.iter().map(|(receipt, _)| receipt).filter(|receipt| Some(&receipt.tree) == tree).collect();
    let held = |text: &String| match met(text, of_tree.iter().copied()) {
        _ if of_tree.is_empty() => Held::NotShown,
        Met::Yes => Held::Yes,
        Met::No(..) => Held::No,
        Met::Unknown => Held::NotShown,
    };
    request.acceptance_criteria.iter().map(|text| Criterion { text: text.clone(), held: held(text) }).collect()
}
