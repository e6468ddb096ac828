//! What a person sees: a report as text. Everything that comes from a repository passes [`task::printable`].

mod diff;
mod live;
mod report;
mod style;
mod words;
mod work;

pub use live::Live;
pub use report::{print_error, print_report};
pub use style::{bold, dim, doubtful, good, heading, place, poor};
pub use words::{grouped, limits, plan, question};
