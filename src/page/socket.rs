//! A WebSocket with a thread that reads and one that writes.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Message, WebSocket};

use crate::limits;

/// From how many messages on a page is behind.
const BEHIND: usize = 8;

/// A message to a page.
#[derive(Debug)]
pub(crate) enum Out {
    Text(String),
    Binary(Vec<u8>),
}

impl Out {
    fn len(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Binary(bytes) => bytes.len(),
        }
    }
}

/// Where the engine leaves messages for a page. It does not wait.
#[derive(Debug)]
pub(crate) struct Link {
    sender: SyncSender<Out>,
    waiting: Arc<Waiting>,
    /// To end the connection.
    stream: Option<TcpStream>,
}

/// What waits to be written.
#[derive(Debug, Default)]
struct Waiting {
    messages: AtomicUsize,
    bytes: AtomicUsize,
}

/// Where the connection takes messages from.
pub(crate) struct Outgoing {
    receiver: Receiver<Out>,
    waiting: Arc<Waiting>,
}

/// A link; `stream` is shut down when it is dropped.
pub(crate) fn link(stream: Option<TcpStream>) -> (Link, Outgoing) {
    let (sender, receiver) = sync_channel(limits::QUEUED);
    let waiting = Arc::<Waiting>::default();
    (Link { sender, waiting: Arc::clone(&waiting), stream }, Outgoing { receiver, waiting })
}

impl Link {
    /// Leaves a message; false if the page takes none any more, or takes them too slowly.
    pub(crate) fn send(&self, out: Out) -> bool {
        let len = out.len();
        let before = self.waiting.bytes.fetch_add(len, Ordering::Relaxed);
        self.waiting.messages.fetch_add(1, Ordering::Relaxed);
        // One message may be as large as it is.
        if before > 0 && before + len > limits::QUEUED_BYTES {
            return false;
        }
        match self.sender.try_send(out) {
            Ok(()) => true,
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => false,
        }
    }

    /// Whether messages that may be left out should be.
    pub(crate) fn is_behind(&self) -> bool {
        self.waiting.messages.load(Ordering::Relaxed) >= BEHIND
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if let Some(stream) = &self.stream {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Outgoing {
    /// The next message; nothing when the engine has given up the page.
    pub(crate) fn next(&self) -> Option<Out> {
        let out = self.receiver.recv().ok()?;
        self.waiting.messages.fetch_sub(1, Ordering::Relaxed);
        self.waiting.bytes.fetch_sub(out.len(), Ordering::Relaxed);
        Some(out)
    }
}

impl Outgoing {
    /// The texts that wait; nothing waits then.
    pub(crate) fn texts(&self) -> Vec<String> {
        let mut texts = Vec::new();
        while let Ok(out) = self.receiver.try_recv() {
            self.waiting.messages.fetch_sub(1, Ordering::Relaxed);
            self.waiting.bytes.fetch_sub(out.len(), Ordering::Relaxed);
            if let Out::Text(text) = out {
                texts.push(text);
            }
        }
        texts
    }
}

/// A stream of given bytes; what is written to it goes nowhere.
pub(crate) struct Given<'b> {
    pub(crate) read: &'b [u8],
}

impl Read for Given<'_> {
    fn read(&mut self, part: &mut [u8]) -> io::Result<usize> {
        self.read.read(part)
    }
}

impl Write for Given<'_> {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// One side of a stream that two threads write to: whole frames, one after the other.
struct Half {
    stream: TcpStream,
    lock: Arc<Mutex<()>>,
}

impl Read for Half {
    fn read(&mut self, part: &mut [u8]) -> io::Result<usize> {
        self.stream.read(part)
    }
}

impl Write for Half {
    /// Writes all: what is passed is whole frames.
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        let _guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.stream.write_all(part)?;
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// The limits of what is read.
fn config() -> WebSocketConfig {
    WebSocketConfig::default()
        .max_message_size(Some(limits::MESSAGE))
        .max_frame_size(Some(limits::MESSAGE))
        .read_buffer_size(16 << 10)
        .write_buffer_size(0)
}

/// Reads texts from a stream on which a handshake has been made, to its end or the first mistake;
/// `rest` came behind the handshake. Ends early if `take` says false.
pub(crate) fn read_texts<S: Read + Write>(
    stream: S,
    rest: Vec<u8>,
    mut take: impl FnMut(&str) -> bool,
) {
    let mut socket = WebSocket::from_partially_read(stream, rest, Role::Server, Some(config()));
    loop {
        match socket.read() {
            Ok(Message::Text(text)) if !take(&text) => return,
            // A page sends texts alone.
            Ok(Message::Binary(_)) => {
                let _ = socket.close(None);
                let _ = socket.flush();
                return;
            }
            Ok(_) => {}
            // A read with a time limit ends early where the machine stands still for a while.
            Err(tungstenite::Error::Io(why)) if why.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Reads and writes until one side ends it.
pub(crate) fn talk(
    stream: &TcpStream,
    rest: Vec<u8>,
    outgoing: Outgoing,
    take: impl FnMut(&str) -> bool,
) -> io::Result<()> {
    let lock = Arc::<Mutex<()>>::default();
    let half = Half { stream: stream.try_clone()?, lock: Arc::clone(&lock) };
    let writer = std::thread::Builder::new().name("page writer".into()).spawn(move || {
        let mut socket = WebSocket::from_raw_socket(half, Role::Server, Some(config()));
        while let Some(out) = outgoing.next() {
            let message = match out {
                Out::Text(text) => Message::text(text),
                Out::Binary(bytes) => Message::binary(bytes),
            };
            if socket.send(message).is_err() {
                break;
            }
        }
        let _ = socket.get_ref().stream.shutdown(Shutdown::Both);
    })?;
    read_texts(Half { stream: stream.try_clone()?, lock }, rest, take);
    let _ = stream.shutdown(Shutdown::Both);
    // Ends when the engine has dropped the link.
    drop(writer);
    Ok(())
}
