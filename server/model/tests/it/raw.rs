//! A server that answers each connection with given bytes, whatever it is asked.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

#[derive(Debug)]
pub struct Raw {
    pub url: String,
    asked: Arc<Mutex<Vec<String>>>,
    server: Option<JoinHandle<()>>,
}

impl Raw {
    /// One answer for each connection; then it closes the door. Large answers are written as long as somebody reads.
    pub fn start(answers: Vec<Vec<u8>>) -> Self {
        let door = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", door.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let own = Arc::clone(&asked);
        let server = std::thread::spawn(move || {
            for answer in answers {
                let Ok((mut stream, _)) = door.accept() else { return };
                let request = request(&mut stream);
                if request.is_empty() {
                    return;
                }
                own.lock().unwrap().push(request);
                let _ = stream.write_all(&answer);
                let _ = stream.shutdown(Shutdown::Write);
                // Until the client has gone: a reset would take from it what it has not read yet.
                let _ = stream.read(&mut [0; 1]);
            }
        });
        Self { url, asked, server: Some(server) }
    }

    pub fn requests(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // Whatever answer was not fetched is not waited for.
        let _ =
            TcpStream::connect(self.url.trim_start_matches("http://")).map(|stream| stream.shutdown(Shutdown::Both));
        if let Some(server) = self.server.take() {
            server.join().unwrap();
        }
    }
}

fn request(stream: &mut TcpStream) -> String {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length =
                head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return text;
            }
        }
        match stream.read(&mut buffer) {
            Ok(length @ 1..) => bytes.extend_from_slice(&buffer[..length]),
            _ => return String::new(),
        }
    }
}

pub fn answer(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 {status}\r\nconnection: close\r\n{headers}\r\n").into_bytes();
    bytes.extend_from_slice(body.as_ref());
    bytes
}

pub fn stream(body: impl AsRef<[u8]>) -> Vec<u8> {
    answer("200 OK", "content-type: text/event-stream\r\n", body)
}

/// Chunks of a chat completion.
pub fn chunks(chunks: &[serde_json::Value]) -> Vec<u8> {
    let lines: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    stream(lines + "data: [DONE]\n\n")
}
