//! What goes over the pipes between the server and its worker: length-prefixed JSON of owned values.

use std::io::{self, Read, Write};
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use task::TreePath;
use task::port::Generation;

use crate::load::Facts;
use crate::questions::{Question, Reply};

/// A frame longer than this is malformed. Text is sent in many frames, answers are far smaller.
const FRAME_CAP: u32 = 512 << 20;

/// From the server to the worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Files for the load or push that follows.
    Files(Vec<(TreePath, Body)>),
    /// The files so far are the base; work out with these facts what better ones leave as it is, `expected` being the
    /// question that will be asked then. Not answered, and broken off when the next order arrives.
    Warm { facts: Box<Facts>, generation: Generation, expected: Option<Box<Question>> },
    /// The files so far are the base, unless it was warmed; load it.
    Load { facts: Box<Facts>, generation: Generation, macros: bool },
    /// The files since then are new text.
    Push { generation: Generation },
    /// The files since then make the present text that of a new base, which differs from the one so far in these.
    Rebase { generation: Generation, differing: Vec<TreePath> },
    /// Answer this about the present text.
    Ask { id: u64, at: Generation, question: Question },
}

/// From the worker to the server.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    Loaded,
    /// The tree cannot be loaded, and why.
    NotLoaded {
        reason: String,
    },
    /// Whether what was loaded holds for the new base. If not, the worker is of no use any more.
    Rebased {
        holds: bool,
    },
    Answered {
        id: u64,
        reply: Reply,
        resident_bytes: u64,
    },
}

/// The text of one file on the wire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    Text(String),
    /// There is a file, but nothing that analysis looks at in it.
    Opaque,
    Gone,
}

impl Body {
    /// The body for bytes: text up to `cap` bytes goes over the wire whole.
    pub fn new(bytes: Option<&[u8]>, cap: usize) -> Body {
        match bytes {
            None => Body::Gone,
            Some(bytes) if bytes.len() > cap => Body::Opaque,
            Some(bytes) => std::str::from_utf8(bytes).map_or(Body::Opaque, |text| Body::Text(text.to_owned())),
        }
    }

    /// The bytes for the analysis; what is opaque is empty there.
    pub fn into_bytes(self) -> Option<Arc<[u8]>> {
        match self {
            Body::Text(text) => Some(text.into_bytes().into()),
            Body::Opaque => Some(Arc::from([])),
            Body::Gone => None,
        }
    }

    /// Its share of a frame.
    pub fn weight(&self) -> usize {
        match self {
            Body::Text(text) => text.len(),
            Body::Opaque | Body::Gone => 0,
        }
    }
}

/// Writes one frame.
///
/// # Errors
/// When the other side is gone.
pub fn write(to: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    let body = serde_json::to_vec(value).map_err(io::Error::other)?;
    let length = u32::try_from(body.len()).ok().filter(|length| *length <= FRAME_CAP);
    let length = length.ok_or_else(|| io::Error::other("a message is too long"))?;
    to.write_all(&length.to_le_bytes())?;
    to.write_all(&body)?;
    to.flush()
}

/// Reads one frame; `None` at the end of the stream.
///
/// # Errors
/// When the stream breaks off inside a frame or the frame is not what was expected.
pub fn read<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<Option<T>> {
    let mut length = [0; 4];
    match from.read_exact(&mut length) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let length = u32::from_le_bytes(length);
    if length > FRAME_CAP {
        return Err(io::Error::other("a message is longer than any message may be"));
    }
    // Not allocated up front: the length is the other side's word.
    let mut body = Vec::new();
    from.take(u64::from(length)).read_to_end(&mut body)?;
    if body.len() != length as usize {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    serde_json::from_slice(&body).map(Some).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_as_they_were_sent() {
        let mut pipe = Vec::new();
        let files = vec![("a.rs".parse::<TreePath>().unwrap(), Body::Text("fn é() {}\r\n".into()))];
        write(&mut pipe, &Order::Files(files.clone())).unwrap();
        write(&mut pipe, &Order::Push { generation: Generation(3) }).unwrap();
        let mut pipe = pipe.as_slice();
        let Some(Order::Files(read_back)) = read(&mut pipe).unwrap() else { panic!("not files") };
        assert_eq!(read_back, files);
        assert!(matches!(read(&mut pipe).unwrap(), Some(Order::Push { generation: Generation(3) })));
        assert!(read::<Order>(&mut pipe).unwrap().is_none());
    }

    #[test]
    fn broken_and_boundless_frames_are_errors() {
        assert!(read::<Report>(&mut &[9, 0, 0, 0, b'{'][..]).is_err());
        assert!(read::<Report>(&mut &[1, 0, 0, 0, b'{'][..]).is_err());
        assert!(read::<Report>(&mut &[255, 255, 255, 255][..]).is_err());
    }

    #[test]
    fn only_text_that_analysis_looks_at_is_sent() {
        assert_eq!(Body::new(Some(b"\xff"), 10), Body::Opaque);
        assert_eq!(Body::new(Some(b"abc"), 2), Body::Opaque);
        assert_eq!(Body::new(None, 2), Body::Gone);
        assert_eq!(Body::Opaque.into_bytes().as_deref(), Some(&b""[..]));
    }
}
