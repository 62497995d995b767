//! The thread that owns the sessions.

mod answer;
pub(crate) mod beside;
mod called;
mod client;
pub(crate) mod describe;
mod edit;
mod export;
mod going;
mod live;
mod past;
mod tap;
mod wires;
mod writing;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use legwork_study::{Cancel, Model, Session};
use serde_json::{Value, json};

use crate::protocol::{self, Incoming, PROTOCOL, Refusal};
use crate::socket::{self, Link, Out};
use client::Client;
use edit::Disk;
use live::Live;
use past::Told;
use writing::Writing;

/// What is shown.
pub enum Subject {
    /// A session of a diagram.
    Live {
        /// The diagram.
        model: Model,
        /// The session.
        session: Box<Session>,
        /// Where forks are recorded, in directories of their names.
        out: Option<PathBuf>,
    },
}

/// A recording that is fetched.
pub(crate) type Saved = Arc<Mutex<Option<Arc<[u8]>>>>;

/// What the engine hears.
pub(crate) enum Event {
    /// A page has come.
    Open { client: u64, link: Link },
    /// It says something, or something that makes no sense.
    Said { client: u64, said: Result<Incoming, (Option<u64>, String)> },
    /// It has gone.
    Gone { client: u64 },
    /// A past has been gone over.
    Past(Told),
    /// What a page asked for is done.
    Done { client: u64, id: u64, outcome: Result<Value, Refusal> },
}

/// How long the engine waits if there is nothing to do.
const IDLE: Duration = Duration::from_millis(50);
/// How long it waits with news for a page.
const SOON: Duration = Duration::from_millis(3);
/// Events that are heard between two stretches of a run.
const MOST_HEARD: usize = 64;

/// All sessions and all pages.
pub(crate) struct Engine {
    title: String,
    /// By index; those that were closed are gone.
    sources: Vec<Option<Live>>,
    clients: BTreeMap<u64, Client>,
    inbox: Receiver<Event>,
    /// For threads that go over a past.
    events: SyncSender<Event>,
    cancel: Cancel,
    out: Option<PathBuf>,
    disk: Disk,
    writing: Arc<Writing>,
    /// How many recordings began as texts changed.
    edits: usize,
    /// What is wrong with the files, if they do not compile.
    broken: Option<Value>,
    /// What pages know of the text that runs.
    told_text: Value,
    /// The recording that a page asked for last.
    recording: Saved,
    /// Whether runs are being repeated, to be compared or saved.
    comparing: Arc<AtomicBool>,
}

impl Engine {
    pub(crate) fn new(
        subject: Subject,
        inbox: Receiver<Event>,
        events: SyncSender<Event>,
        cancel: Cancel,
        recording: Saved,
    ) -> Self {
        let Subject::Live { model, session, out } = subject;
        let title = model.program().name.clone();
        let mut disk = Disk::default();
        disk.remember(&model);
        let run = Live::new(FIRST, model, *session);
        let (sources, clients) = (vec![Some(run)], BTreeMap::new());
        let (writing, comparing) = (Arc::default(), Arc::default());
        let (edits, broken, told_text) = (0, None, Value::Null);
        Self {
            title,
            sources,
            clients,
            inbox,
            events,
            cancel,
            out,
            disk,
            writing,
            edits,
            broken,
            told_text,
            recording,
            comparing,
        }
    }

    /// Works until it is cancelled; the sessions as they are then.
    pub(crate) fn run(mut self) -> Vec<(String, Session)> {
        while !self.cancel.is_cancelled() {
            let mut wait = self.time_to_spare();
            for _ in 0..MOST_HEARD {
                match self.inbox.recv_timeout(wait) {
                    Ok(event) => self.hear(event),
                    Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
                }
                wait = Duration::ZERO;
            }
            self.follow_disk();
            self.go_on();
            self.publish();
        }
        self.clients.clear();
        let sources = self.sources.into_iter().flatten();
        sources.map(|live| (live.name, live.session)).collect()
    }

    /// How long nothing has to be done unless something is heard.
    fn time_to_spare(&self) -> Duration {
        let news = self.clients.values().any(|client| self.has_news(client));
        let limit = if news { SOON } else { IDLE };
        let due = self.live().filter_map(|(_, live)| live.due()).min();
        due.map_or(limit, |due| due.min(limit))
    }

    fn live(&self) -> impl Iterator<Item = (usize, &Live)> {
        let sources = self.sources.iter().enumerate();
        sources.filter_map(|(index, source)| Some((index, source.as_ref()?)))
    }

    fn hear(&mut self, event: Event) {
        match event {
            Event::Open { client, link } => self.open(client, link),
            Event::Gone { client } => self.forget(client),
            Event::Past(told) => self.take_past(told),
            Event::Done { client, id, outcome } => {
                self.send(client, protocol::reply(Some(id), outcome));
            }
            Event::Said { client, said } => match said {
                Ok(Incoming::Ack(sequence)) => {
                    if let Some(client) = self.clients.get_mut(&client) {
                        client.acknowledge(sequence);
                    }
                }
                Ok(Incoming::Request { id, source, action }) => {
                    if let Some(outcome) = self.answer(client, id, source, action) {
                        self.send(client, protocol::reply(Some(id), outcome));
                    }
                }
                Err((id, why)) => {
                    let why = format!("not understood: {why}");
                    self.send(client, protocol::reply(id, Err(why.into())));
                }
            },
        }
    }

    /// A page that takes nothing any more is given up.
    fn send(&mut self, client: u64, text: String) {
        let link = self.clients.get(&client).map(|client| &client.link);
        if link.is_some_and(|link| !link.send(Out::Text(text))) {
            self.forget(client);
        }
    }

    fn send_to_all(&mut self, message: &Value) {
        let clients: Vec<u64> = self.clients.keys().copied().collect();
        for client in clients {
            self.send(client, message.to_string());
        }
    }

    fn open(&mut self, id: u64, link: Link) {
        self.clients.insert(id, Client::new(link));
        let hello = json!({
            "protocol": PROTOCOL,
            "version": env!("CARGO_PKG_VERSION"),
            "title": self.title,
            "live": true,
            "sources": self.live().map(|(index, _)| index).collect::<Vec<_>>(),
        });
        self.send(id, json!({ "hello": hello }).to_string());
        let models: Vec<Value> =
            self.live().map(|(index, live)| describe::model(index, &live.about())).collect();
        for model in models {
            self.send(id, json!({ "model": model }).to_string());
        }
        // Whoever is there already gets the same news.
        self.tell_text();
        self.send(id, json!({ "text": self.told_text }).to_string());
    }

    /// A page has gone: what it alone watched is watched no more.
    fn forget(&mut self, client: u64) {
        let Some(client) = self.clients.remove(&client) else { return };
        for (source, number) in client.watching.into_keys() {
            self.release(source, number);
        }
    }

    /// Stops watching a signal if no page does.
    fn release(&mut self, source: usize, number: usize) {
        let is_watched =
            self.clients.values().any(|client| client.watching.contains_key(&(source, number)));
        if let (false, Some(Some(live))) = (is_watched, self.sources.get_mut(source)) {
            live.tap.lock().release(number);
        }
    }

    /// Goes on with the run that is behind of those that go.
    fn go_on(&mut self) {
        let now = Instant::now();
        let going = self.sources.iter_mut().enumerate();
        let due = going.filter_map(|(index, live)| Some((index, live.as_mut()?)));
        let due = due.filter(|(_, live)| live.due_at(now) == Some(Duration::ZERO));
        let Some((source, live)) =
            due.min_by(|(_, a), (_, b)| a.session.time().total_cmp(&b.session.time()))
        else {
            return;
        };
        if let Some((asked, text)) = live.stretch(now) {
            self.settle(source);
            for (client, id) in asked {
                self.send(client, protocol::reply(Some(id), Ok(json!({ "text": text }))));
            }
        }
    }

    /// Takes samples back where a run has gone back, and tells pages of its new place.
    fn settle(&mut self, source: usize) {
        let Some(Some(live)) = self.sources.get_mut(source) else { return };
        let cuts = live.settle();
        self.clients.values_mut().for_each(|client| client.cut(source, &cuts));
        if live.has_other_text() {
            self.show_text(source);
        }
    }

    fn has_news(&self, client: &Client) -> bool {
        client.is_ready() && self.live().any(|(index, live)| client.lacks(index, live))
    }

    /// Sends to each page what it lacks, as far as it takes more.
    fn publish(&mut self) {
        for live in self.sources.iter_mut().flatten() {
            live.note_progress();
        }
        let mut lost = Vec::new();
        for (id, client) in &mut self.clients {
            let mut alive = true;
            for (index, source) in self.sources.iter_mut().enumerate() {
                if let Some(live) = source {
                    alive &= client.tell_state(index, live);
                }
            }
            if alive && client.is_ready() {
                alive = client.send_frames(&mut self.sources);
            }
            if !alive {
                lost.push(*id);
            }
        }
        lost.into_iter().for_each(|client| self.forget(client));
    }
}

/// Answers the frames of a page one after the other, as far as they are frames; the texts that it
/// gets. It is what a server does without a socket: for tests with bytes that no page sends.
pub fn converse(subject: Subject, frames: &[u8]) -> Vec<String> {
    let (events, inbox) = sync_channel(MOST_HEARD);
    let mut engine = Engine::new(subject, inbox, events, Cancel::default(), Saved::default());
    let (link, outgoing) = socket::link(None);
    let mut told = Vec::new();
    engine.hear(Event::Open { client: 0, link });
    let stream = socket::Given { read: frames };
    socket::read_texts(stream, Vec::new(), |text| {
        engine.hear(Event::Said { client: 0, said: Incoming::parse(text) });
        for _ in 0..MOST_HEARD {
            engine.go_on();
            engine.publish();
        }
        while let Ok(event) = engine.inbox.try_recv() {
            engine.hear(event);
        }
        told.extend(outgoing.texts());
        engine.clients.contains_key(&0)
    });
    engine.cancel.cancel();
    told
}

/// Name of the session that a page begins with.
const FIRST: &str = "main";
