//! Frames of both protocols: a header with the length, then JSON.
//!
//! Ours, as a reader here takes what a client claims: a length is bounded before memory is asked
//! for, and bytes that are no JSON are answered rather than the end of the connection.

use std::io::{self, BufRead, Read as _, Write};

use serde_json::Value;

/// Longest line of a header [bytes].
const LONGEST_LINE: u64 = 4096;
/// Most lines of a header.
const MOST_LINES: usize = 32;
/// Longest message [bytes].
const LONGEST_MESSAGE: u64 = 64 << 20;

/// What comes from a client.
pub(crate) enum Incoming {
    Message(Value),
    /// Bytes that are no JSON, and why.
    Garbage(String),
    /// The client has gone, or what it says has no frames.
    Closed(io::Result<()>),
}

/// Reads on a thread of its own, to the end or until `take` says that nobody listens any more.
pub(crate) fn read_all(
    mut input: impl BufRead + Send + 'static,
    mut take: impl FnMut(Incoming) -> bool + Send + 'static,
) {
    std::thread::spawn(move || {
        loop {
            let incoming = match read(&mut input) {
                Ok(Some(Ok(message))) => Incoming::Message(message),
                Ok(Some(Err(why))) => Incoming::Garbage(why),
                Ok(None) => Incoming::Closed(Ok(())),
                Err(error) => Incoming::Closed(Err(error)),
            };
            let is_last = matches!(incoming, Incoming::Closed(_));
            if !take(incoming) || is_last {
                return;
            }
        }
    });
}

/// The next message; in the second place why its bytes are no JSON. Nothing at the end.
///
/// # Errors
/// If it cannot be read, or it has no header of which the next message could be found.
pub fn read(input: &mut impl BufRead) -> io::Result<Option<Result<Value, String>>> {
    let mut length = None;
    for count in 0.. {
        let mut line = Vec::new();
        input.take(LONGEST_LINE).read_until(b'\n', &mut line)?;
        if line.is_empty() && count == 0 {
            return Ok(None);
        }
        let line = line.strip_suffix(b"\n").ok_or_else(|| wrong("a header has no end"))?;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            break;
        }
        if count == MOST_LINES {
            return Err(wrong("a header has too many lines"));
        }
        let line = std::str::from_utf8(line).map_err(|_| wrong("a header is not UTF-8"))?;
        let (name, value) = line.split_once(':').ok_or_else(|| wrong("a header has no colon"))?;
        if name.trim().eq_ignore_ascii_case("Content-Length") {
            let value = value.trim().parse().map_err(|_| wrong("Content-Length is no number"))?;
            length = Some(value);
        }
    }
    let length: u64 = length.ok_or_else(|| wrong("a header has no Content-Length"))?;
    if length > LONGEST_MESSAGE {
        return Err(wrong("a message is longer than 64 MiB"));
    }
    let mut bytes = Vec::new();
    if input.take(length).read_to_end(&mut bytes)? as u64 != length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(serde_json::from_slice(&bytes).map_err(|error| error.to_string())))
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Writes a message.
///
/// # Errors
/// If nobody takes it.
pub fn write(output: &mut impl Write, message: &Value) -> io::Result<()> {
    let text = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}
