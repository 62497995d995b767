//! A page without a browser, which talks to a server over a real socket.

#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

mod attacks;
mod bits;
mod pressure;
mod talk;
mod texts;

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use legwork::study::{Cancel, Library, Session};
use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket};

use legwork_page::{Server, ServerOptions, Subject};

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A server in a thread of its own.
struct Running {
    address: String,
    cancel: Cancel,
    thread: Option<JoinHandle<Vec<(String, Session)>>>,
}

impl Running {
    /// Shows a diagram, recorded into a directory if there is one.
    fn of(diagram: &legwork::study::Diagram, out: Option<&Path>) -> Self {
        Self::at(diagram, out, &ServerOptions::default())
    }

    /// The same, at an address.
    fn at(diagram: &legwork::study::Diagram, out: Option<&Path>, options: &ServerOptions) -> Self {
        let model = diagram.compile().into_model().unwrap();
        let mut session = model.session();
        match out {
            Some(out) => session.record_into(out).unwrap(),
            None => session.forget_rows(),
        }
        let cancel = Cancel::default();
        session.cancel_by(cancel.clone());
        let server = Server::bind(options).unwrap();
        let address = server.address();
        let out = out.map(Path::to_owned);
        let subject = Subject::Live { model, session: Box::new(session), out };
        let shared = cancel.clone();
        let thread = std::thread::spawn(move || server.serve(subject, &shared).unwrap());
        Self { address, cancel, thread: Some(thread) }
    }

    fn demo(name: &str) -> Self {
        Self::of(&library().open(format!("demo:{name}")).unwrap(), None)
    }

    /// Host and port.
    fn host(&self) -> &str {
        self.address.strip_prefix("http://").unwrap().split('/').next().unwrap()
    }

    fn token(&self) -> &str {
        self.address.split("token=").nth(1).unwrap()
    }

    /// Ends it; the sessions as they are then.
    fn end(mut self) -> Vec<(String, Session)> {
        self.cancel.cancel();
        self.thread.take().unwrap().join().unwrap()
    }

    /// Sends raw bytes; what is answered until the other side closes.
    fn raw(&self, request: &str) -> String {
        String::from_utf8_lossy(&self.bytes(request)).into_owned()
    }

    /// The same as bytes.
    fn bytes(&self, request: &str) -> Vec<u8> {
        let mut stream = TcpStream::connect(self.host()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        // Who is refused early may not get all of it.
        let _ = stream.write_all(request.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer
    }

    /// The status of the answer to a request with these headers.
    fn status(&self, line: &str, headers: &[(&str, &str)]) -> u16 {
        let headers: String =
            headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let answer = self.raw(&format!("{line} HTTP/1.1\r\n{headers}\r\n"));
        answer.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0)
    }

    fn page(&self) -> Page {
        Page::open(self)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

fn library() -> Library {
    Library::new(legwork::blocks::register)
}

/// A page.
struct Page {
    socket: WebSocket<TcpStream>,
    asked: u64,
    /// Whether frames are acknowledged.
    acknowledges: bool,
    /// Texts that were no replies.
    told: Vec<Value>,
    /// Binary frames.
    frames: Vec<Vec<u8>>,
}

impl Page {
    fn open(running: &Running) -> Self {
        let (host, token) = (running.host(), running.token());
        let mut request =
            format!("ws://{host}/socket?token={token}").into_client_request().unwrap();
        request.headers_mut().insert("Origin", format!("http://{host}").parse().unwrap());
        let stream = TcpStream::connect(host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (socket, _) = tungstenite::client(request, stream).unwrap();
        Self { socket, asked: 0, acknowledges: true, told: Vec::new(), frames: Vec::new() }
    }

    fn say(&mut self, message: &Value) {
        self.socket.send(Message::text(message.to_string())).unwrap();
    }

    /// Reads one message; a reply if it is one.
    fn read(&mut self) -> Option<Value> {
        // A read with a time limit ends early where the machine stands still for a while.
        let message = loop {
            match self.socket.read() {
                Err(tungstenite::Error::Io(why)) if why.kind() == ErrorKind::Interrupted => {}
                read => break read.unwrap(),
            }
        };
        match message {
            Message::Text(text) => {
                let value: Value = serde_json::from_str(&text).unwrap();
                if value.get("reply").is_some() {
                    return Some(value);
                }
                self.told.push(value);
            }
            Message::Binary(bytes) => {
                if self.acknowledges {
                    let sequence = word(&bytes, 1);
                    self.say(&json!({ "ack": sequence }));
                }
                self.frames.push(bytes.to_vec());
            }
            _ => {}
        }
        None
    }

    /// Asks, and does not wait for the answer.
    fn begin(&mut self, source: usize, what: &str, arguments: Value) {
        self.asked += 1;
        let mut message = json!({ "id": self.asked, "source": source, "do": what });
        if let (Some(object), Value::Object(arguments)) = (message.as_object_mut(), arguments) {
            object.extend(arguments);
        }
        self.say(&message);
    }

    /// The next answer.
    fn reply(&mut self) -> Value {
        let begin = Instant::now();
        loop {
            if let Some(reply) = self.read() {
                return reply;
            }
            assert!(begin.elapsed() < PATIENCE, "no answer, last: {:?}", self.told.last());
        }
    }

    /// Asks; the whole answer.
    fn ask(&mut self, source: usize, what: &str, arguments: Value) -> Value {
        self.begin(source, what, arguments);
        loop {
            let reply = self.reply();
            if reply["reply"] == self.asked {
                return reply;
            }
        }
    }

    /// Asks; what came of it.
    fn done(&mut self, source: usize, what: &str, arguments: Value) -> Value {
        let asked = arguments.to_string();
        let reply = self.ask(source, what, arguments);
        assert!(reply.get("error").is_none(), "{what} {asked}: {reply}");
        reply["ok"].clone()
    }

    fn line(&mut self, text: &str) -> String {
        self.done(0, "line", json!({ "text": text }))["text"].as_str().unwrap().to_owned()
    }

    /// Reads until something that was told makes `found` say yes.
    fn until<T>(&mut self, mut found: impl FnMut(&Self) -> Option<T>) -> T {
        let begin = Instant::now();
        loop {
            if let Some(found) = found(self) {
                return found;
            }
            self.read();
            assert!(begin.elapsed() < PATIENCE, "never: {:?}", self.told.last());
        }
    }

    /// The last state of a source.
    fn state(&self, source: usize) -> Option<&Value> {
        let states = self.told.iter().rev().filter_map(|told| told.get("state"));
        states.into_iter().find(|state| state["source"] == source)
    }

    /// Samples of a signal as a page puts them together: times and rows.
    fn samples(&self, source: usize, number: u64) -> (Vec<f64>, Vec<Vec<f64>>) {
        let (mut t, mut rows): (Vec<f64>, Vec<Vec<f64>>) = Default::default();
        for frame in
            self.frames.iter().filter(|frame| word(frame, 0) == legwork_page::protocol::SAMPLES)
        {
            if word(frame, 2) as usize != source {
                continue;
            }
            let mut at = 5;
            for _ in 0..word(frame, 4) {
                let [own, count, leaves, flags] = [0, 1, 2, 3].map(|i| word(frame, at + i));
                let (count, leaves) = (count as usize, leaves as usize);
                let number_at = |i: usize| double(frame, at + 4 + 2 * i);
                if u64::from(own) == number {
                    if flags & 1 != 0 {
                        (t, rows) = Default::default();
                    }
                    if flags & 4 != 0 && count > 0 {
                        let kept = t.partition_point(|known| *known < number_at(0));
                        t.truncate(kept);
                        rows.truncate(kept);
                    }
                    for row in 0..count {
                        t.push(number_at(row));
                        let value = |leaf| number_at(count + row * leaves + leaf);
                        rows.push((0..leaves).map(value).collect());
                    }
                }
                at += 4 + 2 * (count + count * leaves);
            }
            assert_eq!(4 * at, frame.len(), "a frame is what its counts say");
        }
        (t, rows)
    }
}

/// Word `i` of a frame.
fn word(frame: &[u8], i: usize) -> u32 {
    u32::from_le_bytes(frame[4 * i..4 * i + 4].try_into().unwrap())
}

/// The double whose first word is `i`.
fn double(frame: &[u8], i: usize) -> f64 {
    f64::from_le_bytes(frame[4 * i..4 * i + 8].try_into().unwrap())
}
