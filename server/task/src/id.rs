//! Names of things, each its own type so that one cannot be passed for another.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// An identifier that has not the form it must have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {what}")]
pub struct IdError {
    text: String,
    what: &'static str,
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident, $what:literal, $valid:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(try_from = "String")]
        #[schemars(with = "String")]
        pub struct $name(String);

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;

            fn try_from(text: String) -> Result<Self, IdError> {
                let valid: fn(&str) -> bool = $valid;
                if valid(&text) { Ok(Self(text)) } else { Err(IdError { text: crate::printable(&text), what: $what }) }
            }
        }

        impl std::str::FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                Self::try_from(text.to_owned())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }
    };
}

fn is_hex(text: &str, lengths: std::ops::RangeInclusive<usize>) -> bool {
    lengths.contains(&text.len()) && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_word(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

text_id! {
    /// A task. Short enough to type: it appears in every command that continues one.
    TaskId, "a task id (letters, digits, `-`, `_`, `.`; at most 64)", is_word
}
text_id! {
    /// The caller's own name for a request; asking twice under one name starts one task.
    RequestId, "a request id (letters, digits, `-`, `_`, `.`; at most 64)", is_word
}
text_id! {
    /// An immutable git tree in our store: the name of exact bytes.
    TreeId, "a tree id (40 lower-case hex digits)", |text| is_hex(text, 40..=40)
}
text_id! {
    /// A hunk, by content: the same change of the same base has the same id (see [`crate::Hunk`]).
    HunkId, "a hunk id (16 lower-case hex digits)", |text| is_hex(text, 16..=16)
}
text_id! { PlanId, "a plan id", is_word }
text_id! { StepId, "a step id", is_word }
text_id! {
    /// SHA-256 over something that must not change unnoticed, in lower-case hex.
    Digest, "a SHA-256 digest (64 lower-case hex digits)", |text| is_hex(text, 64..=64)
}

impl Digest {
    /// The digest of length-prefixed parts, so that no two lists of parts collide by concatenation.
    pub fn of<P: AsRef<[u8]>>(parts: impl IntoIterator<Item = P>) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            let part = part.as_ref();
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

impl HunkId {
    /// The first 64 bits of a digest: enough to name the hunks of one diff, short enough to type.
    pub(crate) fn from_digest(digest: &Digest) -> Self {
        Self(digest.as_str()[..16].to_owned())
    }
}

macro_rules! number_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

number_id! {
    /// The position of an event in its task's journal, counted from 1.
    Sequence
}
number_id! {
    /// Who owns a task at present: it grows each time a process takes the task over, and whatever an older owner still
    /// tries is refused.
    Epoch
}
number_id! {
    /// Which try this is, counted from 1 within a task.
    AttemptId
}
number_id! {
    /// Milliseconds since the Unix epoch, as the machine's clock said. For people; never to order events.
    UnixMillis
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_keeps_the_borders_between_its_parts() {
        assert_ne!(Digest::of(["ab", "c"]), Digest::of(["a", "bc"]));
        assert_eq!(Digest::of(["ab", "c"]), Digest::of([b"ab", &b"c"[..]]));
    }

    #[test]
    fn malformed_ids_are_named_in_the_error() {
        let err = "DEADBEEF".parse::<TreeId>().unwrap_err();
        assert_eq!(err.to_string(), "`DEADBEEF` is not a tree id (40 lower-case hex digits)");
    }
}
