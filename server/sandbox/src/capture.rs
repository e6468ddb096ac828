//! Takes in one output stream: keeps its beginning and its end, counts it, and calls back for each line.

use std::collections::VecDeque;

use crate::limits::Keep;
use crate::outcome::Captured;
use crate::streams::{OnLine, Stream};

/// A line without an end is handed over in pieces of this size.
const LONGEST_LINE: usize = 64 * 1024;

pub(crate) struct Collector {
    stream: Stream,
    keep: Keep,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    line: Vec<u8>,
    on_line: Option<OnLine>,
}

impl Collector {
    pub(crate) fn new(stream: Stream, keep: Keep, on_line: Option<OnLine>) -> Self {
        Collector { stream, keep, head: Vec::new(), tail: VecDeque::new(), total: 0, line: Vec::new(), on_line }
    }

    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let (head, rest) = bytes.split_at(bytes.len().min(self.keep.head - self.head.len()));
        self.head.extend_from_slice(head);
        let rest = &rest[rest.len().saturating_sub(self.keep.tail)..];
        let surplus = (self.tail.len() + rest.len()).saturating_sub(self.keep.tail);
        self.tail.drain(..surplus.min(self.tail.len()));
        self.tail.extend(rest);
        self.push_lines(bytes);
    }

    fn push_lines(&mut self, mut bytes: &[u8]) {
        let Some(on_line) = &self.on_line else { return };
        while !bytes.is_empty() {
            let room = LONGEST_LINE - self.line.len();
            let window = &bytes[..bytes.len().min(room)];
            match window.iter().position(|byte| *byte == b'\n') {
                Some(end) => {
                    self.line.extend_from_slice(&bytes[..end]);
                    on_line.call(self.stream, self.line.strip_suffix(b"\r").unwrap_or(&self.line));
                    self.line.clear();
                    bytes = &bytes[end + 1..];
                }
                None => {
                    self.line.extend_from_slice(window);
                    bytes = &bytes[window.len()..];
                    if self.line.len() == LONGEST_LINE {
                        on_line.call(self.stream, &self.line);
                        self.line.clear();
                    }
                }
            }
        }
    }

    /// The stream as a whole; a last line without an end is still a line.
    pub(crate) fn finish(mut self) -> Captured {
        if let Some(on_line) = &self.on_line
            && !self.line.is_empty()
        {
            on_line.call(self.stream, &self.line);
        }
        Captured { head: self.head, tail: std::mem::take(&mut self.tail).into(), total: self.total }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn beginning_and_end_are_kept_and_the_middle_is_counted() {
        let mut collector = Collector::new(Stream::Stdout, Keep { head: 4, tail: 3 }, None);
        for piece in ["ab", "cdef", "g", "hijklmnop"] {
            collector.push(piece.as_bytes());
        }
        let captured = collector.finish();
        assert_eq!((&*captured.head, &*captured.tail, captured.total), (&b"abcd"[..], &b"nop"[..], 16));
        assert_eq!(captured.dropped(), 9);
        assert_eq!(captured.lossy(), "abcd\n[9 bytes left out]\nnop");
    }

    #[test]
    fn lines_arrive_whole_and_without_their_ending() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&seen);
        let on_line = OnLine::new(move |_, line| sink.lock().unwrap().push(String::from_utf8_lossy(line).into_owned()));
        let mut collector = Collector::new(Stream::Stderr, Keep::default(), Some(on_line));
        for piece in ["on", "e\r\ntwo\n\nth", "ree"] {
            collector.push(piece.as_bytes());
        }
        collector.finish();
        assert_eq!(*seen.lock().unwrap(), ["one", "two", "", "three"]);
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(text: Vec<u8>, cuts: Vec<usize>, head in 0usize..40, tail in 0usize..40) {
            let mut collector = Collector::new(Stream::Stdout, Keep { head, tail }, None);
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (text.len() + 1)).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            for pair in cuts.windows(2) {
                collector.push(&text[pair[0]..pair[1]]);
            }
            let captured = collector.finish();
            let first = text.len().min(head);
            prop_assert_eq!(&captured.head, &text[..first]);
            prop_assert_eq!(&captured.tail, &text[first.max(text.len().saturating_sub(tail))..]);
            prop_assert_eq!(captured.total, text.len() as u64);
        }
    }
}
