//! The walk in this process: a real journal, real trees, real files; no jail, so that nothing is verified and nothing
//! takes long.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod documents;
mod ended;
mod home;
mod report;
mod review;
mod trigger;
mod warm;
