//! Server-sent events, as bytes arrive: no byte is looked at twice but those of an unfinished line.

/// One event. What it says is bytes: an odd encoding is a matter for whoever reads it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) data: Vec<u8>,
}

/// An event is larger than anything that a model says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLarge;

/// Bytes of one event, and of one line.
const MOST: usize = 16 * 1024 * 1024;

/// Reads the stream. Lines end with LF, CR or CRLF; a comment, `id` and `retry` say nothing here.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    line: Vec<u8>,
    /// The last byte was a CR, so that a LF now belongs to it.
    after_cr: bool,
    /// Something of the first line was read: a byte order mark can only stand before it.
    begun: bool,
    event: Event,
    has_data: bool,
}

impl Reader {
    /// The events that these bytes complete.
    pub(crate) fn read(&mut self, mut bytes: &[u8]) -> Result<Vec<Event>, TooLarge> {
        let mut events = Vec::new();
        while let Some(&first) = bytes.first() {
            if std::mem::take(&mut self.after_cr) && first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let text = &bytes[..end.unwrap_or(bytes.len())];
            if self.line.len() + text.len() + self.event.data.len() > MOST {
                return Err(TooLarge);
            }
            self.line.extend_from_slice(text);
            let Some(end) = end else { break };
            self.after_cr = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            let mut line = std::mem::take(&mut self.line);
            if !std::mem::replace(&mut self.begun, true) && line.starts_with("\u{feff}".as_bytes()) {
                line.drain(..3);
            }
            events.extend(self.take(&line));
            line.clear();
            self.line = line;
        }
        Ok(events)
    }

    fn take(&mut self, line: &[u8]) -> Option<Event> {
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            return std::mem::take(&mut self.has_data).then_some(event);
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &line[..colon] {
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push(b'\n');
                }
                self.event.data.extend_from_slice(value);
            }
            b"event" => self.event.name = String::from_utf8_lossy(value).into_owned(),
            _ => {}
        }
        None
    }

    /// What a server that forgot the last empty line meant to send.
    pub(crate) fn rest(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.take(&line);
        }
        self.take(b"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(name: &str, data: &str) -> Event {
        Event { name: name.to_owned(), data: data.as_bytes().to_vec() }
    }

    const STREAM: &str = "\u{feff}: hello\n\nevent: one\ndata: {\"a\":\ndata:  \"é\"}\r\n\r\ndata\rdata:x\r\rid: 7\n\nretry: 1\nevent: lost\n\n\
                          data: [DONE]\n\nevent:two\r\ndata: end";

    fn expected() -> Vec<Event> {
        vec![event("one", "{\"a\":\n \"é\"}"), event("", "\nx"), event("", "[DONE]"), event("two", "end")]
    }

    #[test]
    fn every_way_to_split_a_stream_gives_the_same_events() {
        let bytes = STREAM.as_bytes();
        for one in 0..=bytes.len() {
            for two in one..=bytes.len() {
                let mut reader = Reader::default();
                let parts = [&bytes[..one], &bytes[one..two], &bytes[two..]];
                let mut events: Vec<_> = parts.iter().flat_map(|part| reader.read(part).unwrap()).collect();
                events.extend(reader.rest());
                assert_eq!(events, expected(), "split at {one} and {two}");
            }
        }
    }

    #[test]
    fn byte_by_byte_is_the_same() {
        let mut reader = Reader::default();
        let mut events: Vec<_> = STREAM.bytes().flat_map(|byte| reader.read(&[byte]).unwrap()).collect();
        events.extend(reader.rest());
        assert_eq!(events, expected());
        assert_eq!(reader.rest(), None);
    }

    #[test]
    fn a_line_without_end_and_an_event_without_end_are_cut_off() {
        let flood = vec![b'x'; MOST / 4];
        let mut reader = Reader::default();
        let results: Vec<_> = (0..5).map(|_| reader.read(&flood)).collect();
        assert_eq!(results.last(), Some(&Err(TooLarge)));
        let mut reader = Reader::default();
        let line = [b"data: ", &flood[..], b"\n"].concat();
        let results: Vec<_> = (0..5).map(|_| reader.read(&line)).collect();
        assert_eq!(results.last(), Some(&Err(TooLarge)));
    }

    #[test]
    fn bytes_that_are_no_text_pass_through() {
        let events = Reader::default().read(b"data: \xff\xfe\n\n").unwrap();
        assert_eq!(events, [Event { name: String::new(), data: vec![0xff, 0xfe] }]);
    }
}
