//! Samples of the signals that are watched, taken at each major step.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use legwork_block::Slot;
use legwork_program::{LogChannel, Rate};
use legwork_runtime::recording::Stamp;

use crate::store::Store;

/// What is watched of a session. The session's look and the engine share it; both are one thread.
#[derive(Debug, Clone, Default)]
pub(super) struct Tap(Arc<Mutex<Tracks>>);

/// The watched signals by number, and when they were last seen.
#[derive(Debug, Default)]
pub(super) struct Tracks {
    all: Vec<Track>,
    /// Time of the last major step that was seen [s].
    pub(super) last: Option<f64>,
    /// The latest time of one since samples were taken back: steps may have been repeated.
    latest: Option<f64>,
}

/// A signal that is, or was, watched.
#[derive(Debug)]
pub(super) struct Track {
    pub(super) path: String,
    slots: Vec<Slot>,
    rate: Rate,
    is_watched: bool,
    /// Whether the present program has it.
    is_there: bool,
    pub(super) store: Store,
    /// Rows after this time are its own; those up to it are to come from the past, if they do.
    pub(super) own_from: f64,
}

impl Tap {
    pub(super) fn lock(&self) -> MutexGuard<'_, Tracks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tracks {
    /// Takes a sample of each signal that is due.
    pub(super) fn see(&mut self, stamp: &Stamp, at_tick: bool, arena: &[f64]) {
        self.last = Some(stamp.t);
        self.latest = Some(self.latest.map_or(stamp.t, |latest| latest.max(stamp.t)));
        for track in &mut self.all {
            let is_due = match track.rate {
                Rate::Continuous => true,
                rate => at_tick && rate.due(stamp.tick),
            };
            if track.is_watched && track.is_there && is_due {
                track.store.push(stamp.t, track.slots.iter().map(|slot| &arena[slot.range()]));
            }
        }
    }

    pub(super) fn track(&self, number: usize) -> Option<&Track> {
        self.all.get(number).filter(|track| track.is_watched)
    }

    pub(super) fn track_mut(&mut self, number: usize) -> Option<&mut Track> {
        self.all.get_mut(number).filter(|track| track.is_watched)
    }

    pub(super) fn find(&self, path: &str) -> Option<usize> {
        self.all.iter().position(|track| track.path == path)
    }

    /// Whether a signal is watched.
    pub(super) fn is_watched(&self, number: usize) -> bool {
        self.track(number).is_some()
    }

    /// Watches a signal from now on; its number, which a path keeps.
    pub(super) fn watch(&mut self, path: &str, channel: &LogChannel) -> usize {
        let slots = channel.signal.slots.clone();
        let leaves = slots.iter().map(|slot| slot.len as usize).sum();
        let own_from = self.last.unwrap_or(f64::NEG_INFINITY);
        let (path, rate) = (path.to_owned(), channel.rate);
        let store = Store::new(leaves);
        let track = Track { path, slots, rate, is_watched: true, is_there: true, store, own_from };
        match self.find(&track.path) {
            Some(number) if self.all[number].is_watched => number,
            Some(number) => {
                self.all[number] = track;
                number
            }
            None => {
                self.all.push(track);
                self.all.len() - 1
            }
        }
    }

    /// Number and path of what is watched.
    pub(super) fn watched(&self) -> Vec<(usize, String)> {
        let all = self.all.iter().enumerate().filter(|(_, track)| track.is_watched);
        all.map(|(number, track)| (number, track.path.clone())).collect()
    }

    /// Watches the signal of another program in place of one; false if it has another size.
    pub(super) fn replace(&mut self, number: usize, channel: &LogChannel) -> bool {
        let slots = &channel.signal.slots;
        let leaves: usize = slots.iter().map(|slot| slot.len as usize).sum();
        let track = self.all.get_mut(number).filter(|track| track.store.leaves() == leaves);
        track.is_some_and(|track| {
            (track.slots, track.rate, track.is_there) = (slots.clone(), channel.rate, true);
            true
        })
    }

    /// Takes no samples of a signal that the present program has not.
    pub(super) fn hide(&mut self, number: usize) {
        if let Some(track) = self.all.get_mut(number) {
            track.is_there = false;
        }
    }

    /// Takes no samples until signals are found again.
    pub(super) fn hide_all(&mut self) {
        self.all.iter_mut().for_each(|track| track.is_there = false);
    }

    /// Watches a signal no more, and forgets its samples.
    pub(super) fn release(&mut self, number: usize) {
        if let Some(track) = self.all.get_mut(number) {
            track.is_watched = false;
            track.store = Store::new(track.store.leaves());
        }
    }

    /// Takes back what was seen at and after `t`, or after it; the last times that are left.
    pub(super) fn cut(&mut self, t: f64, including: bool) -> Vec<(usize, Option<f64>)> {
        let t = if including { t } else { t.next_up() };
        if self.latest.is_none_or(|latest| latest < t) {
            return Vec::new();
        }
        self.last = self.last.filter(|last| *last < t);
        self.latest = self.last;
        let mut cuts = Vec::new();
        for (number, track) in self.all.iter_mut().enumerate().filter(|(_, t)| t.is_watched) {
            track.store.cut(t);
            track.own_from = track.own_from.min(t.next_down());
            cuts.push((number, track.store.last()));
        }
        cuts
    }
}
