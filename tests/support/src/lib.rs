//! What the integration tests share: projects from readable archives, exact comparison of folders, the built
//! `understudy` command in a home of its own, and a language model that a test plays.
//!
//! A test reads like this: build a [`Project`], take its [`Fingerprint`], run [`Understudy`] on it, compare.
//! Everything here panics with what a reader needs to know, because it only runs inside tests.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod archive;
pub mod cases;
mod difference;
mod editor;
mod fingerprint;
mod leftover;
pub mod model;
mod place;
mod process;
mod project;
mod understudy;
mod wait;

pub use archive::{Archive, Entry, Kind};
pub use editor::{Asked, Client, Desk, Editor, Encoding, From, Manner};
pub use fingerprint::{Fingerprint, assert_same};
pub use leftover::{Leftover, leftovers};
pub use place::repository;
pub use process::{Finished, Running, command};
pub use project::Project;
pub use understudy::Understudy;
pub use wait::wait_until;
