//! A page, and what it knows.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::json;

use super::describe;
use super::live::Live;
use crate::frames::{Frame, OVERLAPS, REPLACES, Sampled};
use crate::socket::{Link, Out};

/// Least time between two batches of frames.
const FRAME_TIME: Duration = Duration::from_millis(16);
/// Most numbers of a signal in a frame; what is beyond is thinned.
const MOST_NUMBERS: usize = 1 << 18;

/// A page.
pub(super) struct Client {
    pub(super) link: Link,
    /// Sequence of the last binary frame.
    sequence: u32,
    /// The frame that is to be acknowledged.
    awaited: Option<u32>,
    sent_at: Option<Instant>,
    /// By source: the versions of pose and state that it has.
    poses: BTreeMap<usize, u64>,
    states: BTreeMap<usize, u64>,
    /// By source and number of a signal.
    pub(super) watching: BTreeMap<(usize, usize), Cursor>,
    /// By source, the signals whose values come with each state.
    pub(super) values: BTreeMap<usize, Vec<String>>,
}

/// How far a page has the samples of a signal.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cursor {
    /// Time of the last sample that was sent.
    sent: Option<f64>,
    /// What was sent before counts no more.
    replaces: bool,
    /// The last sample that was sent, and those after it, count no more.
    overlaps: bool,
}

impl Cursor {
    /// Samples after `last` have been taken back.
    pub(super) fn cut(&mut self, last: Option<f64>) {
        match (self.sent, last) {
            (None, _) => {}
            (Some(_), None) => (self.sent, self.replaces) = (None, true),
            (Some(sent), Some(last)) if sent > last => {
                (self.sent, self.overlaps) = (Some(last), true);
            }
            _ => {}
        }
    }

    /// All samples are to be sent again.
    pub(super) fn begin_anew(&mut self) {
        *self = Self { replaces: true, ..Self::default() };
    }
}

impl Client {
    pub(super) fn new(link: Link) -> Self {
        Self {
            link,
            sequence: 0,
            awaited: None,
            sent_at: None,
            poses: BTreeMap::new(),
            states: BTreeMap::new(),
            watching: BTreeMap::new(),
            values: BTreeMap::new(),
        }
    }

    /// The page has all binary frames up to this.
    pub(super) fn acknowledge(&mut self, sequence: u32) {
        let is_last = self.awaited.is_some_and(|awaited| sequence.wrapping_sub(awaited) < 1 << 31);
        if is_last {
            self.awaited = None;
        }
    }

    /// Whether it takes the next batch.
    pub(super) fn is_ready(&self) -> bool {
        self.awaited.is_none() && self.sent_at.is_none_or(|sent| sent.elapsed() >= FRAME_TIME)
    }

    /// Whether there are frames for it.
    pub(super) fn lacks(&self, source: usize, live: &Live) -> bool {
        let tracks = live.tap.lock();
        let lacks = |(&(of, number), cursor): (&(usize, usize), &Cursor)| {
            of == source
                && tracks.track(number).is_some_and(|track| {
                    cursor.replaces || cursor.overlaps || track.store.last() > cursor.sent
                })
        };
        self.poses.get(&source) != Some(&live.pose_version()) || self.watching.iter().any(lacks)
    }

    fn next_sequence(&mut self) -> u32 {
        self.sequence = self.sequence.wrapping_add(1);
        self.sequence
    }

    /// Sends a frame that was asked for. False if the page takes none.
    pub(super) fn send_frame(&mut self, frame: Frame) -> bool {
        let sequence = self.next_sequence();
        self.link.send(Out::Binary(frame.into_bytes(sequence)))
    }

    /// Samples of a source have been taken back: by number, the last times that are left.
    pub(super) fn cut(&mut self, source: usize, cuts: &[(usize, Option<f64>)]) {
        for (number, last) in cuts {
            if let Some(cursor) = self.watching.get_mut(&(source, *number)) {
                cursor.cut(*last);
            }
        }
    }

    /// Forgets what it has of a source.
    pub(super) fn forget(&mut self, source: usize) {
        self.poses.remove(&source);
        self.states.remove(&source);
    }

    /// Sends the state of a source if it has another, and is not behind.
    pub(super) fn tell_state(&mut self, source: usize, live: &mut Live) -> bool {
        let version = live.state_version();
        if self.states.get(&source) == Some(&version) || self.link.is_behind() {
            return true;
        }
        self.states.insert(source, version);
        let mut state = describe::state(source, live);
        if let Some(paths) = self.values.get(&source).filter(|paths| !paths.is_empty()) {
            state["values"] = describe::values(paths, live);
        }
        self.link.send(Out::Text(json!({ "state": state }).to_string()))
    }

    /// Sends poses and samples that it lacks, as one batch.
    pub(super) fn send_frames(&mut self, sources: &mut [Option<Live>]) -> bool {
        let mut frames = Vec::new();
        for (index, source) in sources.iter_mut().enumerate() {
            let Some(live) = source else { continue };
            let version = live.pose_version();
            if self.poses.insert(index, version) != Some(version)
                && let Some(moment) = live.moment()
            {
                frames.push(Frame::pose(index, moment));
            }
            frames.extend(self.samples(index, live));
        }
        if frames.is_empty() {
            return true;
        }
        self.sent_at = Some(Instant::now());
        let alive = frames.into_iter().all(|frame| self.send_frame(frame));
        self.awaited = Some(self.sequence);
        alive
    }

    /// The samples of a source that it lacks.
    fn samples(&mut self, source: usize, live: &Live) -> Option<Frame> {
        let tracks = live.tap.lock();
        let mut sampled = Vec::new();
        for (&(_, number), cursor) in self.watching.range_mut((source, 0)..(source + 1, 0)) {
            let Some(track) = tracks.track(number) else { continue };
            let from = cursor.sent.unwrap_or(f64::NEG_INFINITY);
            let rows = track.store.rows(from, cursor.overlaps, MOST_NUMBERS);
            if rows.t.is_empty() && !cursor.replaces {
                continue;
            }
            let flags = if cursor.replaces { REPLACES } else { 0 }
                | if cursor.overlaps { OVERLAPS } else { 0 };
            let sent = rows.t.last().copied().or(cursor.sent);
            *cursor = Cursor { sent, ..Cursor::default() };
            let (number, leaves) = (number as u32, track.store.leaves());
            sampled.push(Sampled { number, leaves, flags, rows });
        }
        (!sampled.is_empty()).then(|| Frame::samples(source, &sampled))
    }
}
