//! A provider on loopback that knows the answer: the Messages API, streamed, with usage.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use task::port::Used;

use super::bill::Bill;
use super::script::{Act, Script};
use crate::Failure;

/// Bytes of a request at most.
const MOST: u64 = 64 * 1024 * 1024;

/// A server that plays one script. It ends when it is dropped.
pub struct Oracle {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

struct Shared {
    play: Mutex<Play>,
    over: AtomicBool,
}

/// What was asked and answered.
pub struct Play {
    pub script: Script,
    pub bill: Bill,
    /// The time that our answers took: it is no part of the harness.
    pub busy: Duration,
}

impl Oracle {
    pub fn start(script: Script, bill: Bill) -> Result<Self, Failure> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let play = Mutex::new(Play { script, bill, busy: Duration::ZERO });
        let shared = Arc::new(Shared { play, over: AtomicBool::new(false) });
        let own = Arc::clone(&shared);
        let accepting = std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if own.over.load(Relaxed) {
                    break;
                }
                let shared = Arc::clone(&own);
                std::thread::spawn(move || {
                    // A connection that breaks is the client's to mend.
                    let _ = shared.serve(&stream);
                    let _ = stream.shutdown(Shutdown::Both);
                });
            }
        });
        Ok(Self { address, shared, accepting: Some(accepting) })
    }

    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn play(&self) -> MutexGuard<'_, Play> {
        self.shared.play()
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        self.shared.over.store(true, Relaxed);
        // The thread waits for a connection; any will do.
        let reached = TcpStream::connect(self.address).is_ok();
        if let Some(accepting) = self.accepting.take().filter(|_| reached) {
            let _ = accepting.join();
        }
    }
}

impl Shared {
    fn play(&self) -> MutexGuard<'_, Play> {
        self.play.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let (mut reader, mut out) = (BufReader::new(stream), stream);
        while let Some((path, body)) = read(&mut reader)? {
            let start = Instant::now();
            let mut play = self.play();
            match path.trim_start_matches("/v1") {
                "/messages/count_tokens" => {
                    let counted = json!({"input_tokens": play.bill.count(&body)}).to_string();
                    whole(&mut out, "200 OK", &counted)?;
                }
                "/messages" => {
                    let used = play.bill.charge(&body);
                    let acts = play.script.next(&body);
                    let output = acts.iter().map(|act| 8 + play.bill.counter.tokens(&act.arguments.to_string())).sum();
                    play.bill.answered(output);
                    stream_answer(&mut out, &acts, &Used { output, ..used }, play.bill.requests.len())?;
                }
                _ => whole(&mut out, "404 Not Found", "{}")?,
            }
            play.busy += start.elapsed();
        }
        Ok(())
    }
}

/// The next request of a connection: its path and its body. None when the client has ended it.
fn read(reader: &mut BufReader<&TcpStream>) -> io::Result<Option<(String, Value)>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut length = 0;
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = Vec::new();
    reader.by_ref().take(length.min(MOST)).read_to_end(&mut body)?;
    Ok(Some((path, serde_json::from_slice(&body).unwrap_or_default())))
}

fn whole(out: &mut &TcpStream, status: &str, body: &str) -> io::Result<()> {
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
    out.write_all((head + body).as_bytes())
}

/// Calls as the events of a stream.
fn stream_answer(out: &mut &TcpStream, acts: &[Act], used: &Used, number: usize) -> io::Result<()> {
    let usage = json!({
        "input_tokens": used.input, "cache_read_input_tokens": used.cache_read,
        "cache_creation_input_tokens": used.cache_written, "output_tokens": 1,
    });
    let message = json!({"id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": super::MODEL,
        "content": [], "usage": usage});
    let mut events = vec![json!({"type": "message_start", "message": message})];
    for (index, act) in acts.iter().enumerate() {
        let call = json!({"type": "tool_use", "id": format!("call_{number}_{index}"), "name": act.tool, "input": {}});
        let delta = json!({"type": "input_json_delta", "partial_json": act.arguments.to_string()});
        events.push(json!({"type": "content_block_start", "index": index, "content_block": call}));
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let stop = json!({"stop_reason": if acts.is_empty() { "end_turn" } else { "tool_use" }});
    events.push(json!({"type": "message_delta", "delta": stop, "usage": {"output_tokens": used.output}}));
    events.push(json!({"type": "message_stop"}));
    out.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")?;
    for event in events {
        let text = format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default());
        out.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes())?;
    }
    out.write_all(b"0\r\n\r\n")
}
