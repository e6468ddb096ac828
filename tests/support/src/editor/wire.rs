//! Messages on a pipe: a header that says how long, then JSON. By hand, so that nothing here shares a fault with the
//! library that the server uses.

use std::io::{self, BufRead, Write};

use serde_json::Value;

/// The next message, or `None` where the pipe ended between two messages.
///
/// # Errors
/// When what comes is no message: a header without a length, text that is not JSON, or an end in the middle.
pub(crate) fn read(pipe: &mut impl BufRead) -> io::Result<Option<Value>> {
    let mut length = None;
    let mut line = String::new();
    loop {
        line.clear();
        if pipe.read_line(&mut line)? == 0 {
            return if length.is_none() { Ok(None) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
        }
        let Some(header) = line.strip_suffix("\r\n") else { return Err(wrong(format!("header {line:?}"))) };
        if header.is_empty() {
            break;
        }
        if let Some(number) = header.strip_prefix("Content-Length: ") {
            length = Some(number.parse().map_err(|_| wrong(format!("length {number:?}")))?);
        }
    }
    let mut body = vec![0; length.ok_or_else(|| wrong("a header without a length".to_owned()))?];
    pipe.read_exact(&mut body)?;
    let message = serde_json::from_slice(&body);
    message.map(Some).map_err(|error| wrong(format!("{error} in {:?}", String::from_utf8_lossy(&body))))
}

pub(crate) fn write(pipe: &mut impl Write, message: &Value) -> io::Result<()> {
    let body = message.to_string();
    write!(pipe, "Content-Length: {}\r\n\r\n{body}", body.len())?;
    pipe.flush()
}

fn wrong(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_written_is_read_back_message_by_message() {
        let messages = [json!({"jsonrpc": "2.0", "method": "é"}), json!({"id": 1, "result": null})];
        let mut pipe = Vec::new();
        messages.iter().for_each(|message| write(&mut pipe, message).unwrap());
        let mut pipe = pipe.as_slice();
        assert_eq!(read(&mut pipe).unwrap().as_ref(), Some(&messages[0]));
        assert_eq!(read(&mut pipe).unwrap().as_ref(), Some(&messages[1]));
        assert_eq!(read(&mut pipe).unwrap(), None);
    }

    #[test]
    fn what_is_no_message_is_an_error() {
        for text in
            ["Content-Length: 4\r\n\r\n{}", "\r\n{}", "hello\n", "Content-Length: 2\r\n\r\nno", "Content-Length: 2"]
        {
            assert!(read(&mut text.as_bytes()).is_err(), "{text}");
        }
    }
}
