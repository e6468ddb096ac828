//! Finding code by words, names and paths, in text that was pushed: the retrieval that needs no compiler and no model.
//!
//! Files are ranked first ([`rank`]), by BM25 over their words with those of the path counted five times, raised by names
//! that the query writes and the file defines; files that the query names come first. The best pieces of the best files
//! ([`pieces`]) are the excerpts.

mod index;
mod mentions;
mod pieces;
mod rank;
mod standing;
mod text;
mod words;

pub use text::TextRetrieval;
