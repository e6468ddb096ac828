//! The journal on real folders, with real processes that die, stop and fill the disk.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod concurrent;
mod crash;
mod disk;
mod keep;
mod lease;
mod support;
