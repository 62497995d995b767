//! Listens, and lets in who may come in.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use legwork_study::{Cancel, Session};

use crate::assets;
use crate::engine::beside::RECORDING_PATH;
use crate::engine::{Engine, Event, Saved, Subject};
use crate::http::{self, Head, Status};
use crate::keep;
use crate::limits;
use crate::offline::Offline;
use crate::protocol::Incoming;
use crate::socket;

/// Events that wait for the engine; who sends more waits.
const MOST_EVENTS: usize = 256;
/// Bytes of a token.
const TOKEN_BYTES: usize = 16;
/// How often the listener looks whether it is to end.
const LOOK: Duration = Duration::from_millis(50);
/// How long writing an answer may stand still.
const WRITE_TIME: Duration = Duration::from_secs(10);

/// Where to listen.
#[derive(Debug, Clone, Default)]
pub struct ServerOptions {
    /// Another address than that of the loopback interface.
    pub host: Option<IpAddr>,
    /// The port; any that is free without.
    pub port: Option<u16>,
    /// Where the token is kept for the next server, see [`crate::keep::place`].
    pub keep: Option<PathBuf>,
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// Nobody can listen there.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// There are no random numbers for a token.
    #[error("cannot make a token: {0}")]
    Token(String),
    /// A thread cannot be made.
    #[error("cannot start a thread: {0}")]
    Thread(io::Error),
}

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    gate: Arc<Gate>,
}

/// Who is let in.
struct Gate {
    token: String,
    /// What `Host` may be.
    hosts: Vec<String>,
    /// If it listens on all addresses of the machine, its port: `Host` may then be any address, but
    /// no name, which could be made to lead here.
    any: Option<u16>,
    /// Name of the cookie: those of other ports are sent too.
    cookie: String,
}

impl Server {
    /// Listens.
    ///
    /// # Errors
    /// If the address is taken, or there is no token.
    pub fn bind(options: &ServerOptions) -> Result<Self, PageError> {
        let host = options.host.unwrap_or(Ipv4Addr::LOCALHOST.into());
        let address = SocketAddr::new(host, options.port.unwrap_or(0));
        let listener = TcpListener::bind(address);
        let listener = listener.map_err(|source| PageError::Listen { address, source })?;
        let local = listener.local_addr();
        let local = local.map_err(|source| PageError::Listen { address, source })?;
        let port = local.port();
        let any = local.ip().is_unspecified().then_some(port);
        let mut hosts = match local {
            SocketAddr::V4(_) if any.is_some() => vec![format!("127.0.0.1:{port}")],
            SocketAddr::V6(_) if any.is_some() => vec![format!("[::1]:{port}")],
            local => vec![local.to_string()],
        };
        if local.ip().is_loopback() || any.is_some() {
            hosts.push(format!("localhost:{port}"));
        }
        let token = match (&options.keep, token()?) {
            (Some(file), fresh) => keep::keep(file, fresh),
            (None, fresh) => fresh,
        };
        let gate = Gate { token, hosts, any, cookie: format!("legwork-{port}") };
        Ok(Self { listener, gate: gate.into() })
    }

    /// What to open in the browser; who has it may do all that the page can.
    pub fn address(&self) -> String {
        format!("http://{}/?token={}", self.gate.hosts[0], self.gate.token)
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.listener.local_addr().map_or(0, |address| address.port())
    }

    /// Shows a subject until it is cancelled; name and session of the run and of its forks, as the
    /// pages left them.
    ///
    /// # Errors
    /// If a thread cannot be made.
    pub fn serve(
        self,
        subject: Subject,
        cancel: &Cancel,
    ) -> Result<Vec<(String, Session)>, PageError> {
        let (events, inbox) = sync_channel(MOST_EVENTS);
        let saved = Saved::default();
        let engine =
            Engine::new(subject, inbox, events.clone(), cancel.clone(), Arc::clone(&saved));
        let engine = spawn("engine", move || engine.run()).map_err(PageError::Thread)?;
        self.listen(&Shown::Live(events, saved), &|| {
            cancel.is_cancelled() || engine.is_finished()
        })?;
        // A panic of the engine is a mistake of this program, and goes on here.
        Ok(engine.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    }

    /// Gives a page that needs no server, until it is cancelled.
    ///
    /// # Errors
    /// If it cannot listen.
    pub fn give(self, page: Offline, cancel: &Cancel) -> Result<(), PageError> {
        self.listen(&Shown::Page(page.html.into()), &|| cancel.is_cancelled())
    }

    fn listen(self, shown: &Shown, is_over: &dyn Fn() -> bool) -> Result<(), PageError> {
        self.listener.set_nonblocking(true).map_err(PageError::Thread)?;
        let (open, clients) = (Arc::<AtomicUsize>::default(), Arc::<AtomicU64>::default());
        while !is_over() {
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    std::thread::sleep(LOOK.min(Duration::from_millis(5)));
                    continue;
                }
                // One that has gone again, or no handle is left: others may come.
                Err(_) => {
                    std::thread::sleep(LOOK);
                    continue;
                }
            };
            let guest = Guest {
                gate: Arc::clone(&self.gate),
                shown: shown.clone(),
                clients: Arc::clone(&clients),
                place: Place::take(&open),
            };
            // Who cannot be served is not.
            let _ = spawn("connection", move || guest.welcome(stream));
        }
        Ok(())
    }
}

fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<std::thread::JoinHandle<T>> {
    std::thread::Builder::new().name(name.to_owned()).spawn(work)
}

/// A text that nobody can guess.
pub(crate) fn token() -> Result<String, PageError> {
    let mut bytes = [0; TOKEN_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| PageError::Token(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// What there is for who is let in.
#[derive(Clone)]
enum Shown {
    /// The files of the page, and an engine that hears events.
    Live(SyncSender<Event>, Saved),
    /// One file that needs nothing else.
    Page(Arc<str>),
}

/// One of the connections that there may be.
struct Place(Option<Arc<AtomicUsize>>);

impl Place {
    /// A place; an empty one if there is none left.
    fn take(open: &Arc<AtomicUsize>) -> Self {
        if open.fetch_add(1, Ordering::AcqRel) < limits::CONNECTIONS {
            return Self(Some(Arc::clone(open)));
        }
        open.fetch_sub(1, Ordering::AcqRel);
        Self(None)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(open) = &self.0 {
            open.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

impl Gate {
    /// Whether the request names this server: a page of another name that resolves to it does not.
    fn names_us(&self, head: &Head) -> bool {
        let is_address = |host: &str| {
            let address = host.parse::<SocketAddr>().ok();
            address.is_some_and(|address| self.any == Some(address.port()))
        };
        let host = head.header("host");
        host.is_some_and(|host| self.hosts.iter().any(|known| known == host) || is_address(host))
    }

    /// Whether it comes from a page of this server.
    fn is_of_our_page(&self, head: &Head) -> bool {
        let origin = head.header("origin").and_then(|origin| origin.strip_prefix("http://"));
        origin.is_some() && origin == head.header("host")
    }

    /// Whether it has the token.
    fn knows_token(&self, head: &Head) -> bool {
        let given = head.argument("token").into_iter().chain(head.cookies(&self.cookie));
        given.fold(false, |known, token| known | same(token.as_bytes(), self.token.as_bytes()))
    }
}

/// Whether two texts are the same, in a time that does not tell where they differ.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

/// A connection that has been accepted.
struct Guest {
    gate: Arc<Gate>,
    shown: Shown,
    clients: Arc<AtomicU64>,
    place: Place,
}

impl Guest {
    fn welcome(self, mut stream: TcpStream) {
        // Sockets may inherit it from the listener.
        let prepared = stream
            .set_nonblocking(false)
            .and_then(|()| stream.set_nodelay(true))
            .and_then(|()| stream.set_write_timeout(Some(WRITE_TIME)));
        if prepared.is_err() {
            return;
        }
        if self.place.0.is_none() {
            let _ = http::answer(&mut stream, Status::BUSY, &[], b"too many connections");
            return;
        }
        let wait = |stream: &TcpStream, time| stream.set_read_timeout(Some(time));
        let head = match Head::read(&mut stream, wait) {
            Ok(head) => head,
            Err(status) => return refuse(&mut stream, status),
        };
        if !self.gate.names_us(&head) || !self.gate.knows_token(&head) {
            return refuse(&mut stream, Some(Status::FORBIDDEN));
        }
        if head.method != "GET" {
            return refuse(&mut stream, Some(Status::NOT_ALLOWED));
        }
        match (&self.shown, head.path.as_str()) {
            (Shown::Page(page), "/") => {
                // Its program and its style are in it; it fetches nothing.
                let policy = "default-src 'none'; script-src 'unsafe-inline'; style-src \
                     'unsafe-inline'; img-src data: blob:; media-src blob:; frame-ancestors 'none'";
                let (page, media_type) = (page.as_bytes(), assets::media_type(assets::INDEX));
                self.answer(&mut stream, policy, &[("Content-Type", media_type)], page);
            }
            (Shown::Page(_), _) => refuse(&mut stream, Some(Status::NOT_FOUND)),
            (Shown::Live(events, _), "/socket") => {
                let events = events.clone();
                self.open(stream, head, &events);
            }
            (Shown::Live(_, saved), RECORDING_PATH) => {
                let saved = saved.lock().unwrap_or_else(PoisonError::into_inner).clone();
                let Some(bytes) = saved else {
                    return refuse(&mut stream, Some(Status::NOT_FOUND));
                };
                let headers = [
                    ("Content-Type", "application/octet-stream"),
                    ("Content-Disposition", "attachment; filename=\"run.mcap\""),
                ];
                self.answer(&mut stream, "default-src 'none'", &headers, &bytes);
            }
            (Shown::Live(..), "/") => self.give(&mut stream, &head, assets::INDEX),
            (Shown::Live(..), path) => {
                self.give(&mut stream, &head, path.strip_prefix('/').unwrap_or(path));
            }
        }
    }

    /// Gives a file of the page.
    fn give(&self, stream: &mut TcpStream, head: &Head, name: &str) {
        let Some(packed) = assets::packed(name) else {
            return refuse(stream, Some(Status::NOT_FOUND));
        };
        let host = head.header("host").unwrap_or_default();
        let policy = format!(
            "default-src 'self'; connect-src 'self' ws://{host}; img-src 'self' data: blob:; \
             worker-src 'self' blob:; style-src 'self' 'unsafe-inline'; object-src 'none'; \
             base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        );
        let mut headers = vec![("Content-Type", assets::media_type(name))];
        let takes_gzip = head.header("accept-encoding").is_some_and(|list| list.contains("gzip"));
        let unpacked = if takes_gzip { None } else { assets::unpacked(name) };
        if unpacked.is_none() {
            headers.push(("Content-Encoding", "gzip"));
        }
        self.answer(stream, &policy, &headers, unpacked.as_deref().unwrap_or(packed));
    }

    /// Gives a body under a policy of what its page may do.
    fn answer(&self, stream: &mut TcpStream, policy: &str, more: &[(&str, &str)], body: &[u8]) {
        let Gate { cookie, token, .. } = &*self.gate;
        let cookie = format!("{cookie}={token}; Path=/; HttpOnly; SameSite=Strict");
        let mut headers = vec![
            ("Content-Security-Policy", policy),
            ("Set-Cookie", cookie.as_str()),
            ("Cache-Control", "no-store"),
            ("Referrer-Policy", "no-referrer"),
            ("X-Content-Type-Options", "nosniff"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
        ];
        headers.extend(more);
        let _ = http::answer(stream, Status(200, "OK"), &headers, body);
    }

    /// Opens the socket of a page.
    fn open(self, mut stream: TcpStream, head: Head, events: &SyncSender<Event>) {
        if !self.gate.is_of_our_page(&head) {
            return refuse(&mut stream, Some(Status::FORBIDDEN));
        }
        let asks = |name: &str, word: &str| {
            head.header(name).is_some_and(|value| value.to_ascii_lowercase().contains(word))
        };
        let is_known = head.header("sec-websocket-version") == Some("13");
        let key = head
            .header("sec-websocket-key")
            .filter(|_| is_known && asks("upgrade", "websocket") && asks("connection", "upgrade"));
        let Some(key) = key else { return refuse(&mut stream, Some(Status::BAD_REQUEST)) };
        let accept = tungstenite::handshake::derive_accept_key(key.as_bytes());
        let answer = format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Accept: {accept}\r\n\r\n"
        );
        // A page that sleeps reads nothing for as long as it likes.
        let opened = io::Write::write_all(&mut stream, answer.as_bytes())
            .and_then(|()| stream.set_read_timeout(None))
            .and_then(|()| stream.set_write_timeout(None))
            .and_then(|()| stream.try_clone());
        let Ok(handle) = opened else { return };
        let (link, outgoing) = socket::link(Some(handle));
        let client = self.clients.fetch_add(1, Ordering::Relaxed);
        if events.send(Event::Open { client, link }).is_err() {
            return;
        }
        let _ = socket::talk(&stream, head.rest, outgoing, |text| {
            let said = Incoming::parse(text);
            events.send(Event::Said { client, said }).is_ok()
        });
        let _ = events.send(Event::Gone { client });
    }
}

/// Says no. Who is refused learns nothing of the page.
fn refuse(stream: &mut TcpStream, status: Option<Status>) {
    if let Some(status) = status {
        let headers =
            [("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store")];
        let _ = http::answer(stream, status, &headers, status.1.as_bytes());
    }
}
