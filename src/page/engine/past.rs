//! Samples from before a signal was watched: a second session goes over the past once more, in a
//! thread of its own, and comes to the same bits.

use std::sync::mpsc::SyncSender;

use legwork_program::LogChannel;
use legwork_study::{Cancel, Edit, Error, Model, Session, Snapshot};

use super::Event;
use super::tap::Tap;
use crate::store::Store;

/// What is to be gone over.
pub(super) struct Past {
    pub(super) source: usize,
    /// Which session of the source: it is replaced where the diagram changes.
    pub(super) session: u64,
    pub(super) model: Model,
    /// Where it begins; t = 0 without.
    pub(super) begin: Option<Snapshot>,
    pub(super) edits: Vec<Edit>,
    /// To the first step at or after this time [s].
    pub(super) until: f64,
    /// Number, own path and place of each signal.
    pub(super) signals: Vec<(usize, String, LogChannel)>,
}

/// What came of it.
pub(crate) struct Told {
    pub(super) source: usize,
    pub(super) session: u64,
    /// By number.
    pub(super) stores: Vec<(usize, Store)>,
    pub(super) problem: Option<Error>,
}

impl Past {
    /// Goes over it, and tells the engine.
    pub(super) fn begin(self, events: SyncSender<Event>, cancel: Cancel) {
        let work = move || {
            let (source, session) = (self.source, self.session);
            let (stores, problem) = self.go(&cancel);
            // The engine may have ended.
            let _ = events.send(Event::Past(Told { source, session, stores, problem }));
        };
        // Without a thread the samples begin now.
        let _ = std::thread::Builder::new().name("past".into()).spawn(work);
    }

    fn go(self, cancel: &Cancel) -> (Vec<(usize, Store)>, Option<Error>) {
        let Self { model, begin, edits, until, signals, .. } = self;
        let session = match &begin {
            Some(snapshot) => model.resume(snapshot),
            None => Ok(model.session()),
        };
        let mut session = match session {
            Ok(session) => session,
            Err(error) => return (Vec::new(), Some(error)),
        };
        session.forget_rows();
        session.cancel_by(cancel.clone());
        let tap = Tap::default();
        let mut numbers = Vec::new();
        for (number, path, channel) in &signals {
            numbers.push((*number, tap.lock().watch(path, channel), path.clone()));
        }
        let shared = tap.clone();
        session.look_by(move |stamp, at_tick, arena| shared.lock().see(stamp, at_tick, arena));
        // Each text has them elsewhere, or has them not.
        let find = |session: &mut Session| {
            for (_, own, path) in &numbers {
                let channel = session.channel(path).ok();
                if !channel.is_some_and(|channel| tap.lock().replace(*own, &channel)) {
                    tap.lock().hide(*own);
                }
            }
        };
        find(&mut session);
        let problem = session.repeat(&edits, until, find).err();
        let mut tracks = tap.lock();
        let taken = numbers.iter().filter_map(|(number, own, _)| {
            let track = tracks.track_mut(*own)?;
            Some((*number, std::mem::take(&mut track.store)))
        });
        (taken.collect(), problem)
    }
}
