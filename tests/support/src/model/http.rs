//! As much of HTTP/1.1 as a client of a model needs: requests with a length or in chunks, answers whole or streamed.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;

/// Bytes of the request line and the headers together.
const HEAD_CAP: usize = 64 * 1024;
/// Larger bodies are not read at all. The cap that a test sets is far below.
const BODY_CAP: usize = 64 * 1024 * 1024;

#[derive(Debug)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    /// Names in lower case, in the order of the wire.
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Request {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }
}

pub(super) fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
}

/// The next request of a connection, or none when the client has closed it.
///
/// # Errors
/// `InvalidData` says what is wrong with the request; everything else is the connection's own end.
pub(super) fn read(stream: &mut BufReader<TcpStream>) -> io::Result<Option<Request>> {
    let mut room = HEAD_CAP;
    let Some(first) = line(stream, &mut room)? else { return Ok(None) };
    let mut words = first.split(' ');
    let (Some(method), Some(path), Some("HTTP/1.1"), None) = (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(invalid(format!("`{first}` is no HTTP/1.1 request line")));
    };
    let mut request =
        Request { method: method.to_owned(), path: path.to_owned(), headers: Vec::new(), body: Vec::new() };
    loop {
        let text = line(stream, &mut room)?.ok_or(ErrorKind::UnexpectedEof)?;
        if text.is_empty() {
            break;
        }
        let (name, value) = text.split_once(':').ok_or_else(|| invalid(format!("`{text}` is no header")))?;
        request.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    if request.header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
        stream.get_mut().write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    if request.header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
        request.body = chunks(stream)?;
    } else if let Some(length) = request.header("content-length") {
        let length = length.parse().map_err(|_| invalid(format!("`{length}` is no length")))?;
        take(stream, length, &mut request.body)?;
    }
    Ok(Some(request))
}

fn invalid(text: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, text)
}

/// One line without its ending; none at the end of the stream.
fn line(stream: &mut BufReader<TcpStream>, room: &mut usize) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    let read = stream.by_ref().take(*room as u64).read_until(b'\n', &mut bytes)?;
    *room -= read;
    if read == 0 && *room > 0 {
        return Ok(None);
    }
    let text = String::from_utf8(bytes).map_err(|_| invalid("a header is not UTF-8".to_owned()))?;
    let text = text.strip_suffix("\r\n").ok_or_else(|| invalid(format!("the head is over {HEAD_CAP} bytes or cut")))?;
    Ok(Some(text.to_owned()))
}

fn take(stream: &mut BufReader<TcpStream>, length: usize, body: &mut Vec<u8>) -> io::Result<()> {
    if body.len().saturating_add(length) > BODY_CAP {
        return Err(invalid(format!("the body is over {BODY_CAP} bytes")));
    }
    let start = body.len();
    body.resize(start + length, 0);
    stream.read_exact(&mut body[start..])
}

fn chunks(stream: &mut BufReader<TcpStream>) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let text = line(stream, &mut HEAD_CAP.clone())?.ok_or(ErrorKind::UnexpectedEof)?;
        let digits = text.split(';').next().unwrap_or_default();
        let length = usize::from_str_radix(digits, 16).map_err(|_| invalid(format!("`{text}` is no chunk")))?;
        take(stream, length, &mut body)?;
        // Behind the last chunk stand trailers, if any, and an empty line.
        while !line(stream, &mut HEAD_CAP.clone())?.ok_or(ErrorKind::UnexpectedEof)?.is_empty() {}
        if length == 0 {
            return Ok(body);
        }
    }
}

/// An answer with a length.
pub(super) fn answer(
    stream: &mut TcpStream,
    status: u16,
    headers: &[(&str, String)],
    kind: &str,
    body: &str,
) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {status} {}\r\ncontent-type: {kind}\r\n", reason(status));
    head.extend(headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")));
    stream.write_all(format!("{head}content-length: {}\r\n\r\n{body}", body.len()).as_bytes())
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        404 => "Not Found",
        413 => "Content Too Large",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "As Scripted",
    }
}

/// An answer of server-sent events.
#[derive(Debug)]
pub(super) struct Events<'a> {
    stream: &'a mut TcpStream,
    /// Sends a few bytes at a time, so that characters and events arrive in parts.
    chopped: bool,
}

impl<'a> Events<'a> {
    pub(super) fn start(stream: &'a mut TcpStream, chopped: bool) -> io::Result<Self> {
        let kind = "content-type: text/event-stream; charset=utf-8\r\ncache-control: no-cache";
        stream.write_all(format!("HTTP/1.1 200 OK\r\n{kind}\r\ntransfer-encoding: chunked\r\n\r\n").as_bytes())?;
        Ok(Self { stream, chopped })
    }

    pub(super) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let size = if self.chopped { 7 } else { bytes.len().max(1) };
        for part in bytes.chunks(size) {
            let mut chunk = format!("{:x}\r\n", part.len()).into_bytes();
            chunk.extend([part, b"\r\n"].concat());
            self.stream.write_all(&chunk)?;
        }
        Ok(())
    }

    pub(super) fn finish(self) -> io::Result<()> {
        self.stream.write_all(b"0\r\n\r\n")
    }

    pub(super) fn socket(&self) -> &TcpStream {
        self.stream
    }
}
