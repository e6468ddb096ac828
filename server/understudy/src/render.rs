//! What a person sees: a report as text. Everything that others wrote passes [`one_line`] or [`indented`], and with them
//! [`task::printable`].

mod asked;
mod diff;
mod live;
mod report;
mod slow;
mod style;
mod theirs;
mod words;
mod work;

pub use asked::print_task;
pub use live::Live;
pub use report::{print_error, print_report};
pub use slow::waiting_for;
pub use style::{bold, dim, doubtful, good, heading, place, poor};
pub use theirs::{indented, one_line};
pub use words::{grouped, limits, question};
