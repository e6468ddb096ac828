//! Tasks for a language model, from the command line to the verdict: the model is scripted, everything else is real.

mod events;
mod expectation;
mod golden;
mod graph;
mod killed;
mod misbehaviour;
pub mod scene;
