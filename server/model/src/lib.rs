//! Language models over HTTP, behind the port [`task::port::Model`].
//!
//! [`Settings`] say which model serves which stage; [`Panel`] asks it. Two wires are spoken: `anthropic` (Messages) and
//! `openai` (chat completions, and whatever is compatible with them). Before each attempt its worst case is reserved in
//! the ledger of the task, and settled after it; what fails for a while is asked again, as long as patience and budget
//! last. [`Metered`] does the same around models that somebody else reaches.
//!
//! Nothing here knows files, processes or the journal. Keys are never printed, never part of an error, and never sent to
//! another host than the one that settings name.

mod anthropic;
mod choice;
mod count;
mod error;
mod experience;
mod fault;
mod known;
mod line;
mod meter;
mod metered;
mod openai;
mod panel;
mod pause;
mod place;
mod prices;
mod remote;
mod settings;
mod source;
mod sse;
mod wire;

pub use error::SettingsError;
pub use metered::Metered;
pub use panel::Panel;
pub use prices::{Price, list_price};
pub use settings::{Adaptive, Key, ModelSettings, ProviderSettings, Settings, StageSettings, Thinking, Wire};
