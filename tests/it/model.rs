//! Tasks for a language model, from the command line to the verdict: the model is scripted, everything else is real.

mod expectation;
mod misbehaviour;
mod scene;
