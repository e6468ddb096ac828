//! The providers against real servers on loopback: a scripted model that checks every request, and servers that answer
//! with whatever bytes a test wants.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod budget;
mod cancel;
mod compatible;
mod deaths;
mod home;
mod hostile;
mod lent;
mod raw;
mod real;
mod retries;
mod round_trip;
