//! Trees against real folders and a real git.
#![expect(clippy::unwrap_used, reason = "this is a test binary; its helpers fail the test that calls them")]

mod home;

mod compare;
mod patch;
mod publish;
mod slot;
mod snapshot;
mod store;
mod words;
