//! As much of HTTP as the page needs: one request a connection, of a head alone.

use std::io::{self, ErrorKind, Read, Write};
use std::time::{Duration, Instant};

use crate::limits;

/// The head of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) method: String,
    /// Without the query.
    pub(crate) path: String,
    pub(crate) query: String,
    headers: Vec<(String, String)>,
    /// What came behind it.
    pub(crate) rest: Vec<u8>,
}

/// Why a request has no answer but this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Status(pub(crate) u16, pub(crate) &'static str);

impl Status {
    pub(crate) const BAD_REQUEST: Self = Self(400, "Bad Request");
    pub(crate) const FORBIDDEN: Self = Self(403, "Forbidden");
    pub(crate) const NOT_FOUND: Self = Self(404, "Not Found");
    pub(crate) const NOT_ALLOWED: Self = Self(405, "Method Not Allowed");
    pub(crate) const TOO_LARGE: Self = Self(431, "Request Header Fields Too Large");
    pub(crate) const BUSY: Self = Self(503, "Service Unavailable");
}

impl Head {
    /// The only header of this name; nothing if there is none or several that differ.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        let first = found.next()?;
        found.all(|other| other.1 == first.1).then_some(first.1.as_str())
    }

    /// The values of a cookie.
    pub(crate) fn cookies<'h>(&'h self, name: &'h str) -> impl Iterator<Item = &'h str> {
        let lists = self.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case("cookie"));
        let pairs = lists.flat_map(|(_, list)| list.split(';'));
        pairs.filter_map(move |pair| pair.trim().strip_prefix(name)?.strip_prefix('='))
    }

    /// A value of the query.
    pub(crate) fn argument(&self, name: &str) -> Option<&str> {
        self.query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
    }

    /// The head at the beginning of `bytes`; nothing while it is not whole.
    fn parse(bytes: &[u8]) -> Result<Option<Self>, Status> {
        let mut headers = [httparse::EMPTY_HEADER; limits::HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        let length = match request.parse(bytes) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(httparse::Error::TooManyHeaders) => return Err(Status::TOO_LARGE),
            Err(_) => return Err(Status::BAD_REQUEST),
        };
        let target = request.path.unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let header = |header: &httparse::Header<'_>| {
            Some((header.name.to_owned(), std::str::from_utf8(header.value).ok()?.to_owned()))
        };
        let headers: Option<Vec<_>> = request.headers.iter().map(header).collect();
        Ok(Some(Self {
            method: request.method.unwrap_or_default().to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            headers: headers.ok_or(Status::BAD_REQUEST)?,
            rest: bytes[length..].to_vec(),
        }))
    }

    /// Reads a head; `wait` bounds the next reading.
    ///
    /// # Errors
    /// What to answer; nothing if nobody would read it.
    pub(crate) fn read<S: Read>(
        stream: &mut S,
        wait: impl Fn(&S, Duration) -> io::Result<()>,
    ) -> Result<Self, Option<Status>> {
        let begin = Instant::now();
        let (mut bytes, mut part) = (Vec::new(), [0; 2048]);
        loop {
            let left =
                limits::HEAD_TIME.checked_sub(begin.elapsed()).filter(|left| !left.is_zero());
            wait(stream, left.ok_or(None)?).map_err(|_| None)?;
            match stream.read(&mut part) {
                Ok(0) => return Err(None),
                Ok(count) => bytes.extend_from_slice(&part[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => return Err(None),
            }
            if bytes.len() > limits::HEAD {
                return Err(Some(Status::TOO_LARGE));
            }
            if let Some(head) = Self::parse(&bytes).map_err(Some)? {
                return Ok(head);
            }
        }
    }
}

/// Writes a whole answer.
///
/// # Errors
/// If the other side has gone.
pub(crate) fn answer(
    stream: &mut impl Write,
    Status(code, reason): Status,
    headers: &[(&str, &str)],
    body: &[u8],
) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {code} {reason}\r\n");
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    head += &format!("Content-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    stream.write_all(&[head.as_bytes(), body].concat())?;
    stream.flush()
}
