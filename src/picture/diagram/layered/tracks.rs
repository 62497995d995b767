//! Vertical tracks of the wires in one channel between columns.

use std::collections::BTreeSet;

use super::GRID;

/// Number of rounds in which strands are taken out and inserted again.
const ROUNDS: usize = 6;
/// Approximate number of pairs of strands compared in one channel. It keeps the time for thousands
/// of boxes below minutes; the drawing is less tidy.
const MOST_WORK: usize = 1 << 22;

/// A net in one channel: heights at which it leaves to the left and to the right.
#[derive(Debug, Clone, Default)]
pub(super) struct Strand {
    pub(super) net: usize,
    pub(super) left: BTreeSet<i32>,
    pub(super) right: BTreeSet<i32>,
    /// Number of the track, then its abscissa [px].
    pub(super) x: i32,
    /// If the net needed two tracks: index of the other strand, height of the bridge. The first
    /// strand holds the left ends, the other the right ends.
    pub(super) bridge: Option<(usize, i32)>,
}

impl Strand {
    pub(super) fn span(&self) -> (i32, i32) {
        let low = self.left.first().into_iter().chain(self.right.first()).min();
        let high = self.left.last().into_iter().chain(self.right.last()).max();
        (low.copied().unwrap_or(0), high.copied().unwrap_or(0))
    }

    pub(super) fn is_straight(&self) -> bool {
        let (low, high) = self.span();
        low == high
    }

    /// Whether a wire would run on top of a wire if this strand's track lay left of the other's.
    fn covers(&self, other: &Self) -> bool {
        self.net != other.net && self.right.intersection(&other.left).next().is_some()
    }

    /// Crossings if this strand's track lies left of the other's; a wire on top of a wire counts
    /// like a thousand.
    fn cost_left_of(&self, other: &Self) -> i64 {
        let inside = |ends: &BTreeSet<i32>, (low, high): (i32, i32)| match low + 1 < high {
            true => ends.range(low + 1..high).count(),
            false => 0,
        };
        let mut cost = inside(&other.left, self.span());
        cost += inside(&self.right, other.span());
        cost += if self.covers(other) { 1000 } else { 0 };
        cost as i64
    }
}

/// Orders the tracks of a channel for few crossings and lets strands that do not meet share one;
/// `x` becomes the number of the track.
pub(super) fn assign_tracks(channel: &mut Vec<Strand>) {
    for _ in 0..=channel.len().min(MOST_WORK / pairs(channel) / ROUNDS) {
        let order = track_order(channel);
        let Some(b) = overlap(channel, &order) else {
            let mut placed: Vec<usize> = Vec::new();
            for s in order {
                let (low, high) = channel[s].span();
                let mut track = 0;
                for &p in &placed {
                    let (p_low, p_high) = channel[p].span();
                    if p_low <= high + GRID / 2 && low <= p_high + GRID / 2 {
                        track = track.max(channel[p].x + 1);
                    }
                }
                channel[s].x = track;
                placed.push(s);
            }
            return;
        };
        split(channel, b);
    }
    // Still in each other's way: every strand gets a track of its own.
    for (track, s) in track_order(channel).into_iter().enumerate() {
        channel[s].x = track as i32;
    }
}

/// Number of pairs of strands in a channel, at least one.
fn pairs(channel: &[Strand]) -> usize {
    channel.len().pow(2).max(1)
}

/// The strands that need a track, from left to right: each is inserted where it costs least, then
/// taken out and inserted again until nothing changes.
fn track_order(channel: &[Strand]) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::new();
    let strands: Vec<usize> = (0..channel.len()).filter(|&s| !channel[s].is_straight()).collect();
    for round in 0..ROUNDS.min(MOST_WORK / pairs(channel)).max(1) {
        let before = order.clone();
        for &s in &strands {
            if round > 0 {
                order.retain(|&other| other != s);
            }
            let mut cost: i64 = order.iter().map(|&o| channel[s].cost_left_of(&channel[o])).sum();
            let mut best = (cost, 0);
            for (i, &o) in order.iter().enumerate() {
                cost += channel[o].cost_left_of(&channel[s]);
                cost -= channel[s].cost_left_of(&channel[o]);
                best = best.min((cost, i + 1));
            }
            order.insert(best.1, s);
        }
        if order == before {
            break;
        }
    }
    order
}

/// A strand whose left end lies on the right end of a strand to the left of it.
fn overlap(channel: &[Strand], order: &[usize]) -> Option<usize> {
    for (i, &a) in order.iter().enumerate() {
        for &b in &order[i + 1..] {
            if channel[a].covers(&channel[b]) && channel[b].bridge.is_none() {
                return Some(b);
            }
        }
    }
    None
}

/// Gives strand `b` two tracks, joined at a height where nothing else runs.
fn split(channel: &mut Vec<Strand>, b: usize) {
    let taken: BTreeSet<i32> =
        channel.iter().flat_map(|s| s.left.iter().chain(&s.right)).copied().collect();
    let (low, high) = channel[b].span();
    let middle = (low + high) / 2;
    let mut bridge = middle - middle.rem_euclid(GRID) + GRID / 2;
    while taken.contains(&bridge) {
        bridge += GRID;
    }
    let other = channel.len();
    let right = std::mem::take(&mut channel[b].right);
    let net = channel[b].net;
    channel[b].right = BTreeSet::from([bridge]);
    channel[b].bridge = Some((other, bridge));
    channel.push(Strand {
        net,
        left: BTreeSet::from([bridge]),
        right,
        x: 0,
        bridge: Some((b, bridge)),
    });
}
