//! The scripted model, from outside: a client that speaks HTTP by hand against the real server.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod caches;
mod checks;
mod client;
mod life;
mod rules;
mod scripts;
mod trouble;
mod wires;
