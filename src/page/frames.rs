//! Binary frames.

use legwork_scene::{Moment, Surface};

use crate::protocol::{MESH, POSE, SAMPLES};
use crate::store::Rows;

/// Flags of a signal in a frame of samples.
pub(crate) const REPLACES: u32 = 1;
const THINNED: u32 = 2;
pub(crate) const OVERLAPS: u32 = 4;

/// A frame in the making; its sequence is set when it is sent.
#[derive(Debug, Clone)]
pub(crate) struct Frame(Vec<u8>);

/// A signal's part of a frame of samples.
pub(crate) struct Sampled<'s> {
    pub(crate) number: u32,
    pub(crate) leaves: usize,
    pub(crate) flags: u32,
    pub(crate) rows: Rows<'s>,
}

impl Frame {
    fn new(kind: u32, source: usize) -> Self {
        let mut frame = Self(Vec::new());
        [kind, 0, source as u32, 0].into_iter().for_each(|word| frame.word(word));
        frame
    }

    /// The bytes, with their place in the order of all.
    pub(crate) fn into_bytes(mut self, sequence: u32) -> Vec<u8> {
        self.0[4..8].copy_from_slice(&sequence.to_le_bytes());
        self.0
    }

    fn word(&mut self, word: u32) {
        self.0.extend(word.to_le_bytes());
    }

    fn count(&mut self, count: usize) {
        // What is counted is in memory, in parts of four bytes and more.
        self.word(u32::try_from(count).unwrap_or(u32::MAX));
    }

    fn singles(&mut self, numbers: impl IntoIterator<Item = f64>) {
        numbers.into_iter().for_each(|number| self.0.extend((number as f32).to_le_bytes()));
    }

    fn doubles(&mut self, numbers: &[f64]) {
        let at = self.0.len();
        self.0.resize(at + size_of_val(numbers), 0);
        let places = self.0[at..].as_chunks_mut().0;
        places.iter_mut().zip(numbers).for_each(|(place, number)| *place = number.to_le_bytes());
    }

    /// Poses, centres of mass and contacts.
    pub(crate) fn pose(source: usize, moment: &Moment) -> Self {
        let mut frame = Self::new(POSE, source);
        frame.doubles(&[moment.t]);
        for pose in moment.links.iter().flatten() {
            frame.singles(pose.position.into_iter().chain(pose.orientation));
        }
        frame.singles(moment.centers.iter().copied().flatten());
        frame.count(moment.contacts.len());
        for contact in &moment.contacts {
            let touches = u32::from(contact.gap <= 0.0);
            frame.word(touches | u32::from(contact.force.is_some()) << 1);
            let force = contact.force.unwrap_or_default();
            frame.singles(contact.position.into_iter().chain(contact.normal).chain(force));
            frame.singles([contact.friction]);
        }
        frame
    }

    /// Samples of signals.
    pub(crate) fn samples(source: usize, signals: &[Sampled<'_>]) -> Self {
        let mut frame = Self::new(SAMPLES, source);
        let numbers = signals.iter().map(|signal| signal.rows.t.len() * (signal.leaves + 1));
        frame.0.reserve(16 * (signals.len() + 1) + 8 * numbers.sum::<usize>());
        frame.count(signals.len());
        for Sampled { number, leaves, flags, rows } in signals {
            frame.word(*number);
            frame.count(rows.t.len());
            frame.count(*leaves);
            frame.word(flags | if rows.thinned { THINNED } else { 0 });
            frame.doubles(&rows.t);
            frame.doubles(&rows.values);
        }
        frame
    }

    /// The surface of a mesh.
    pub(crate) fn mesh(source: usize, path: &str, surface: &Surface) -> Self {
        let mut frame = Self::new(MESH, source);
        frame.count(path.len());
        frame.0.extend(path.as_bytes());
        frame.0.resize(frame.0.len().next_multiple_of(4), 0);
        frame.count(surface.vertices.len());
        frame.count(surface.patches.len());
        frame.singles(surface.vertices.iter().copied().flatten());
        for patch in &surface.patches {
            frame.singles(patch.color.unwrap_or([-1.0; 4]));
            frame.count(patch.triangles.len());
            patch.triangles.iter().flatten().for_each(|corner| frame.word(*corner));
        }
        frame
    }
}
