//! [`TreePath`]: where something is inside a tree.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::text::is_deceptive;

/// A relative path of raw bytes, `/`-separated, without `.`, `..`, empty components or NUL.
///
/// Names need not be UTF-8. In JSON, on screens and in logs a path is its *escaped* form: bytes that are not UTF-8 and
/// characters that could deceive a reader are `\xNN`, a backslash is doubled; [`TreePath::parse_escaped`] is the exact
/// inverse.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreePath(Vec<u8>);

/// Why bytes are not a [`TreePath`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    #[error("the path is empty")]
    Empty,
    #[error("`{0}` is absolute; a path inside a tree is relative")]
    Absolute(String),
    #[error("`{0}` has an empty, `.` or `..` component")]
    Component(String),
    #[error("`{0}` contains a NUL byte")]
    Nul(String),
    #[error("`{0}` has a backslash that is neither doubled nor the start of \\xNN")]
    Escape(String),
}

impl TreePath {
    /// Checks the bytes and keeps them as they are.
    ///
    /// # Errors
    /// Says which rule the bytes break.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Result<Self, PathError> {
        let bytes = bytes.into();
        if bytes.is_empty() {
            return Err(PathError::Empty);
        }
        if bytes.contains(&0) {
            return Err(PathError::Nul(escape(&bytes)));
        }
        if bytes[0] == b'/' {
            return Err(PathError::Absolute(escape(&bytes)));
        }
        if bytes.split(|&byte| byte == b'/').any(|part| matches!(part, b"" | b"." | b"..")) {
            return Err(PathError::Component(escape(&bytes)));
        }
        Ok(Self(bytes))
    }

    /// Reads the escaped form that [`fmt::Display`] writes.
    ///
    /// # Errors
    /// When the escape is malformed or the bytes are not a path.
    pub fn parse_escaped(text: &str) -> Result<Self, PathError> {
        let mut bytes = Vec::with_capacity(text.len());
        let mut rest = text.as_bytes();
        while let Some((&first, tail)) = rest.split_first() {
            rest = tail;
            if first != b'\\' {
                bytes.push(first);
                continue;
            }
            let broken = || PathError::Escape(text.to_owned());
            match rest {
                [b'\\', tail @ ..] => {
                    bytes.push(b'\\');
                    rest = tail;
                }
                [b'x', high, low, tail @ ..] => {
                    let digits = [*high, *low];
                    let digits = std::str::from_utf8(&digits).map_err(|_| broken())?;
                    bytes.push(u8::from_str_radix(digits, 16).map_err(|_| broken())?);
                    rest = tail;
                }
                _ => return Err(broken()),
            }
        }
        Self::new(bytes)
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The path as text, where it is UTF-8.
    pub fn to_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    pub fn components(&self) -> impl Iterator<Item = &[u8]> {
        self.0.split(|&byte| byte == b'/')
    }

    /// The last component.
    pub fn file_name(&self) -> &[u8] {
        self.0.rsplit(|&byte| byte == b'/').next().unwrap_or(&self.0)
    }

    /// The folder that holds this path; `None` at the top of the tree.
    pub fn parent(&self) -> Option<Self> {
        let slash = self.0.iter().rposition(|&byte| byte == b'/')?;
        Some(Self(self.0[..slash].to_vec()))
    }

    /// This path followed by another one.
    pub fn join(&self, tail: &Self) -> Self {
        Self([&self.0, &b"/"[..], &tail.0].concat())
    }

    /// What follows `folder/`, when this path lies below that folder.
    pub fn strip_prefix(&self, folder: &Self) -> Option<Self> {
        let tail = self.0.strip_prefix(&folder.0[..])?.strip_prefix(b"/")?;
        Some(Self(tail.to_vec()))
    }
}

fn escape(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(bytes.len());
    let hex = |out: &mut String, bytes: &[u8]| {
        for byte in bytes {
            let _ = write!(out, "\\x{byte:02x}");
        }
    };
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            let deceptive = is_deceptive(c) || c == '\n' || c == '\t';
            match c {
                '\\' => out.push_str("\\\\"),
                c if deceptive => hex(&mut out, c.encode_utf8(&mut [0; 4]).as_bytes()),
                c => out.push(c),
            }
        }
        hex(&mut out, chunk.invalid());
    }
    out
}

impl fmt::Display for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&escape(&self.0))
    }
}

impl fmt::Debug for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{self}`")
    }
}

impl std::str::FromStr for TreePath {
    type Err = PathError;

    /// Takes the text literally, backslashes included.
    fn from_str(text: &str) -> Result<Self, PathError> {
        Self::new(text)
    }
}

impl Serialize for TreePath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TreePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse_escaped(&text).map_err(D::Error::custom)
    }
}

impl JsonSchema for TreePath {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TreePath".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "A path inside the tree, `/`-separated; a backslash is doubled, other bytes than UTF-8 are \\xNN."
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_that_could_leave_the_tree_are_refused() {
        for bad in ["", "/etc/passwd", "../x", "a/../b", "a//b", "./a", "a/", "a\0b"] {
            assert!(TreePath::new(bad).is_err(), "{bad:?}");
        }
        assert_eq!("src/lib.rs".parse::<TreePath>().unwrap().file_name(), b"lib.rs");
    }

    #[test]
    fn names_that_would_deceive_a_terminal_are_shown_escaped() {
        let path = TreePath::new(b"a\x1b[2J\xff\xe2\x80\xae.rs".to_vec()).unwrap();
        assert_eq!(path.to_string(), "a\\x1b[2J\\xff\\xe2\\x80\\xae.rs");
    }

    proptest! {
        #[test]
        fn the_escaped_form_names_exactly_one_path(bytes in prop::collection::vec(any::<u8>(), 1..40)) {
            if let Ok(path) = TreePath::new(bytes) {
                prop_assert_eq!(TreePath::parse_escaped(&path.to_string()), Ok(path.clone()));
                let json = serde_json::to_string(&path).unwrap();
                prop_assert_eq!(serde_json::from_str::<TreePath>(&json).unwrap(), path);
            }
        }
    }
}
