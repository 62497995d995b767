//! Serial chains over the lanes: a chain is cut into four stretches, one per lane.
//!
//! A chain has one body per step, so that of four lanes three would idle. But whatever is a sum
//! along the chain (velocities, bias accelerations, forces, inertias: all are about one point in
//! the same axes) can be summed in four stretches at once, each from zero, after which every
//! stretch adds what the stretches before it, or behind it, have summed up. Placements compose
//! instead: each stretch begins at the identity, and is then moved to where the one before it ends.
//!
//! The group before those of the chain is its start: it holds no body, but what the stretches begin
//! from. On the way back to the root it gathers their sums.
//!
//! Sums over stretches are the two-level prefix sums of G. E. Blelloch, *Prefix sums and their
//! applications* (1990), sec. 1.2.

use std::ops::RangeInclusive;

use crate::body::{Axis, Body};
use crate::layout::Place;
use crate::quad::{LANES, Laned};

/// Bodies from which on a chain is cut: with fewer, a stretch before the last could be one body
/// short, and the last group would not hold its sums.
const SHORTEST: usize = 9;

/// One serial chain of the layout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    /// The group that its stretches begin from.
    pub(crate) start: usize,
    /// Its last group.
    pub(crate) end: usize,
    /// The root that carries it.
    pub(crate) root: Place,
    /// How many bodies it has.
    pub(crate) len: usize,
}

/// The bodies of a tree from the root outwards, if they are one chain that is worth cutting.
pub(crate) fn serial(root: usize, bodies: &[Body], children: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut chain = Vec::new();
    let mut tip = root;
    while let [next] = children[tip][..] {
        if !matches!(bodies[next].axis, Axis::Revolute | Axis::Prismatic) {
            return None;
        }
        chain.push(next);
        tip = next;
    }
    (children[tip].is_empty() && chain.len() >= SHORTEST).then_some(chain)
}

impl Chain {
    /// Its groups, those of the first bodies of the stretches first.
    pub(crate) fn groups(&self) -> RangeInclusive<usize> {
        self.start + 1..=self.end
    }

    /// Where body `i` of the chain is.
    pub(crate) fn place(&self, i: usize) -> Place {
        let length = self.end - self.start;
        (self.start + 1 + i % length, i / length)
    }

    /// Which body of the chain is in a lane of one of its groups.
    #[inline(always)]
    pub(crate) fn index(&self, group: usize, lane: usize) -> usize {
        group - self.start - 1 + lane * (self.end - self.start)
    }

    /// The first stretch begins from the value of the root, the others from zero.
    #[inline]
    pub(crate) fn begin<S, T: Laned>(&self, states: &mut [S], field: impl Fn(&mut S) -> &mut T) {
        let root = *field(&mut states[self.root.0]);
        let mut first = T::zero();
        first.add_lane(0, &root, self.root.1);
        *field(&mut states[self.start]) = first;
    }

    /// Adds to each stretch, start included, the sums of those before it.
    #[inline]
    pub(crate) fn carry_out<S, T: Laned>(
        &self,
        states: &mut [S],
        field: impl Fn(&mut S) -> &mut T,
    ) {
        let sums = *field(&mut states[self.end]);
        let mut before = T::zero();
        for lane in 1..LANES {
            let earlier = before;
            before.add_lane(lane, &earlier, lane - 1);
            before.add_lane(lane, &sums, lane - 1);
        }
        for state in &mut states[self.start..=self.end] {
            field(state).add_all(&before);
        }
    }

    /// Adds to each stretch the sums of those behind it, which the start has gathered, and all of
    /// them to the root.
    #[inline]
    pub(crate) fn carry_in<S, T: Laned>(&self, states: &mut [S], field: impl Fn(&mut S) -> &mut T) {
        let sums = *field(&mut states[self.start]);
        let mut behind = T::zero();
        for lane in (1..LANES).rev() {
            let later = behind;
            behind.add_lane(lane - 1, &later, lane);
            behind.add_lane(lane - 1, &sums, lane);
        }
        for state in &mut states[self.groups()] {
            field(state).add_all(&behind);
        }
        let root = field(&mut states[self.root.0]);
        root.add_lane(self.root.1, &sums, 0);
        root.add_lane(self.root.1, &behind, 0);
    }
}
