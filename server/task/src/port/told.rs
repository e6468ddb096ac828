//! [`Told`]: a text that may be sent to a language model.

use serde::{Deserialize, Serialize};

use crate::Redactor;

/// Where a text comes from. Whatever is not ours or the developer's own words is quoted, and is data, never an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Ours: instructions, facts about the task.
    Product,
    /// What the developer typed: the task, answers, steering, rejections.
    Developer,
    /// Text of an issue or of another page that somebody wrote.
    Issue,
    /// Files of the repository.
    Repository,
    /// What commands printed.
    Output,
    /// What the model said before.
    Model,
}

/// A text that may be sent: it has an origin, a cap, and passed the redactor. There is no other way to make one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    origin: Origin,
    text: String,
}

impl Told {
    /// At most `cap` bytes of the text are sent; a note says how much was left out.
    pub fn new(origin: Origin, text: &str, cap: usize, redactor: &Redactor) -> Self {
        let clean = redactor.redact(text);
        let text = if clean.len() <= cap {
            clean
        } else {
            let head = clean.floor_char_boundary(cap.saturating_mul(2) / 3);
            let tail = clean.ceil_char_boundary(clean.len() - cap.saturating_sub(head));
            format!("{}\n[{} bytes left out]\n{}", &clean[..head], tail - head, &clean[tail..])
        };
        Self { origin, text }
    }

    pub fn origin(&self) -> Origin {
        self.origin
    }

    pub fn text(&self) -> &str {
        &self.text
    }
}
