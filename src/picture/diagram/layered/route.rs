//! Wires: horizontal through the columns, vertical on tracks of their own in the channels between.

use std::collections::BTreeMap;

use super::order::{Columns, Vertex};
use super::tracks::{Strand, assign_tracks};
use super::{End, GRID, Level, PlacedLevel};

/// Distance between vertical tracks [px].
const TRACK: i32 = 10;
/// Room between a column and the first track [px].
const MARGIN: i32 = 15;

/// Lanes on which nets run back, around the columns between.
struct Lane {
    net: usize,
    y: i32,
    first: usize,
    last: usize,
}

/// Draws all wires and fixes all coordinates; `y` holds the tops of the vertices.
pub(super) fn route(level: &Level, columns: &Columns, y: &[i32]) -> PlacedLevel {
    let lanes = lanes(level, columns, y);
    let channels = channels(level, columns, y, &lanes);
    let (mut low, mut high) = (i32::MAX, i32::MIN);
    for (v, &top) in y.iter().enumerate() {
        (low, high) = (low.min(top), high.max(top + columns.heights[v]));
    }
    for strand in channels.iter().flatten() {
        let (a, b) = strand.span();
        (low, high) = (low.min(a), high.max(b));
    }
    if low > high {
        (low, high) = (0, 0);
    }
    let mut channels = channels;
    let (row_x, row_width, width) = abscissae(level, columns, &mut channels);
    let mut items = vec![(0, 0); level.items.len()];
    for (v, vertex) in columns.vertices.iter().enumerate() {
        if let Vertex::Item(i) = *vertex {
            let row = columns.row_of[v];
            let slack = row_width[row] - level.items[i].width;
            items[i] = (row_x[row] + slack / 2, y[v] - low);
        }
    }
    let numbered = |channel: &Vec<Strand>| {
        // In reverse order, since the first one counts.
        let strands = channel.iter().enumerate().rev();
        strands.map(|(at, strand)| (strand.net, at)).collect()
    };
    let first = channels.iter().map(numbered).collect();
    let (lanes, channels, items_at) = (&lanes[..], &channels[..], &items[..]);
    let map = Map { level, columns, y, lanes, channels, first, items: items_at, width };
    let routes = (0..level.nets.len())
        .map(|n| {
            (0..level.nets[n].sinks.len())
                .map(|s| {
                    let mut way = map.way(n, s);
                    for point in &mut way {
                        point.1 -= low;
                    }
                    straighten(way)
                })
                .collect()
        })
        .collect();
    let borders = columns
        .chains
        .iter()
        .map(|chain| {
            chain
                .iter()
                .find(|(_, v)| matches!(columns.vertices[*v], Vertex::Border(_)))
                .map(|(_, v)| y[*v] - low)
        })
        .collect();
    PlacedLevel { width, height: high - low, items, borders, routes }
}

/// The row of an end: the left border is row 0, the right one the last.
fn sink_row(columns: &Columns, end: End) -> usize {
    match end {
        End::Item { item, .. } => columns.row_of[item],
        End::Border => columns.rows.len() - 1,
    }
}

fn root_row(columns: &Columns, end: End) -> usize {
    match end {
        End::Item { item, .. } => columns.row_of[item],
        End::Border => 0,
    }
}

/// One lane per net that runs back, above or below everything between its ends, the shorter ones
/// inside.
fn lanes(level: &Level, columns: &Columns, y: &[i32]) -> Vec<Lane> {
    let mut wanted: Vec<(usize, usize, usize)> = Vec::new();
    for (n, net) in level.nets.iter().enumerate() {
        let last = root_row(columns, net.root);
        let rows = net.sinks.iter().map(|sink| sink_row(columns, sink.end));
        if let Some(first) = rows.filter(|&row| row <= last).min() {
            wanted.push((last - first, n, first));
        }
    }
    wanted.sort_unstable();
    let mut lanes: Vec<Lane> = Vec::new();
    for (length, net, first) in wanted {
        let last = first + length;
        let (mut top, mut bottom) = (i32::MAX, i32::MIN);
        for &v in columns.rows[first..=last].iter().flatten() {
            (top, bottom) = (top.min(y[v]), bottom.max(y[v] + columns.heights[v]));
        }
        (top, bottom) = (top - 2 * GRID, bottom + 2 * GRID);
        // One row further on each side: lanes that meet in a channel differ in height.
        for lane in lanes.iter().filter(|l| l.first <= last + 1 && first <= l.last + 1) {
            (top, bottom) = (top.min(lane.y - GRID), bottom.max(lane.y + GRID));
        }
        let mut ends = vec![root_y(level, columns, y, net)];
        for sink in &level.nets[net].sinks {
            if sink_row(columns, sink.end) <= last {
                ends.push(sink_y(level, columns, y, net, sink.end));
            }
        }
        let above: i32 = ends.iter().map(|y| y - top).sum();
        let below: i32 = ends.iter().map(|y| bottom - y).sum();
        lanes.push(Lane { net, y: if above < below { top } else { bottom }, first, last });
    }
    lanes
}

fn root_y(level: &Level, columns: &Columns, y: &[i32], net: usize) -> i32 {
    match level.nets[net].root {
        End::Item { item, pin } => y[item] + level.items[item].outputs[pin],
        End::Border => carried(columns, y, net, 0),
    }
}

fn sink_y(level: &Level, columns: &Columns, y: &[i32], net: usize, end: End) -> i32 {
    match end {
        End::Item { item, pin } => y[item] + level.items[item].inputs[pin],
        End::Border => carried(columns, y, net, columns.rows.len() - 1),
    }
}

/// Height at which a net passes a row that holds no end of it.
fn carried(columns: &Columns, y: &[i32], net: usize, row: usize) -> i32 {
    columns.chains[net].iter().find(|(r, _)| *r == row).map_or(0, |(_, v)| y[*v])
}

/// The strands of every channel; channel g lies between rows g and g + 1.
fn channels(level: &Level, columns: &Columns, y: &[i32], lanes: &[Lane]) -> Vec<Vec<Strand>> {
    let mut channels: Vec<Vec<Strand>> = vec![Vec::new(); columns.gaps.len()];
    for (n, net) in level.nets.iter().enumerate() {
        let mut strands = vec![Strand { net: n, ..Strand::default() }; columns.gaps.len()];
        let root = root_row(columns, net.root);
        strands[root].left.insert(root_y(level, columns, y, n));
        for sink in &net.sinks {
            let row = sink_row(columns, sink.end);
            strands[row - 1].right.insert(sink_y(level, columns, y, n, sink.end));
        }
        for &(row, v) in &columns.chains[n] {
            if matches!(columns.vertices[v], Vertex::Through(_)) {
                strands[row - 1].right.insert(y[v]);
                strands[row].left.insert(y[v]);
            }
        }
        for lane in lanes.iter().filter(|lane| lane.net == n) {
            for row in lane.first..=lane.last {
                strands[row - 1].right.insert(lane.y);
                strands[row].left.insert(lane.y);
            }
        }
        for (gap, strand) in strands.into_iter().enumerate() {
            if !strand.left.is_empty() || !strand.right.is_empty() {
                channels[gap].push(strand);
            }
        }
    }
    for channel in &mut channels {
        assign_tracks(channel);
    }
    channels
}

/// Left edges and widths of the rows, and the whole width; tracks get their abscissae.
fn abscissae(
    level: &Level,
    columns: &Columns,
    channels: &mut [Vec<Strand>],
) -> (Vec<i32>, Vec<i32>, i32) {
    let mut row_width = vec![0; columns.rows.len()];
    for (v, vertex) in columns.vertices.iter().enumerate() {
        if let Vertex::Item(i) = *vertex {
            let width = &mut row_width[columns.row_of[v]];
            *width = level.items[i].width.max(*width);
        }
    }
    let mut label = vec![0; channels.len()];
    for sink in level.nets.iter().flat_map(|net| &net.sinks) {
        let label = &mut label[sink_row(columns, sink.end) - 1];
        *label = sink.label.max(*label);
    }
    let mut row_x = vec![0; columns.rows.len()];
    let mut at = 0;
    for (g, channel) in channels.iter_mut().enumerate() {
        let tracks = channel.iter().filter(|s| !s.is_straight()).map(|s| s.x + 1).max();
        for strand in channel.iter_mut() {
            strand.x = at + MARGIN + TRACK * strand.x;
        }
        let room = tracks.map_or(0, |tracks| TRACK * (tracks - 1));
        at += MARGIN + room + MARGIN.max(label[g] + 8);
        row_x[g + 1] = at;
        at += row_width[g + 1];
    }
    (row_x, row_width, at)
}

/// Everything that a way is made from.
struct Map<'a> {
    level: &'a Level,
    columns: &'a Columns,
    y: &'a [i32],
    lanes: &'a [Lane],
    channels: &'a [Vec<Strand>],
    /// For each channel, the first strand of each net.
    first: Vec<BTreeMap<usize, usize>>,
    items: &'a [(i32, i32)],
    width: i32,
}

impl Map<'_> {
    /// The corners from the root of net `n` to its sink `s`.
    fn way(&self, n: usize, s: usize) -> Vec<(i32, i32)> {
        let net = &self.level.nets[n];
        let sink = net.sinks[s].end;
        let (from, to) = (root_row(self.columns, net.root), sink_row(self.columns, sink));
        let start = root_y(self.level, self.columns, self.y, n);
        let end = sink_y(self.level, self.columns, self.y, n, sink);
        let start_x = match net.root {
            End::Item { item, .. } => self.items[item].0 + self.level.items[item].width,
            End::Border => 0,
        };
        let end_x = match sink {
            End::Item { item, .. } => self.items[item].0,
            End::Border => self.width,
        };
        let mut way = vec![(start_x, start)];
        if to > from {
            let mut at = start;
            for gap in from..to {
                let next =
                    if gap + 1 == to { end } else { carried(self.columns, self.y, n, gap + 1) };
                self.pass(gap, n, (at, true), (next, false), &mut way);
                at = next;
            }
        } else if let Some(lane) = self.lanes.iter().find(|lane| lane.net == n) {
            self.pass(from, n, (start, true), (lane.y, true), &mut way);
            self.pass(to - 1, n, (lane.y, false), (end, false), &mut way);
        }
        way.push((end_x, end));
        way
    }

    /// Corners of net `n` through a channel, from one end (height, whether at the left) to another.
    fn pass(
        &self,
        gap: usize,
        n: usize,
        from: (i32, bool),
        to: (i32, bool),
        way: &mut Vec<(i32, i32)>,
    ) {
        let Some(first) = self.first[gap].get(&n).map(|at| &self.channels[gap][*at]) else {
            return;
        };
        let track = |left: bool| match first.bridge {
            Some((other, _)) if !left => self.channels[gap][other].x,
            _ => first.x,
        };
        let (a, b) = (track(from.1), track(to.1));
        way.push((a, from.0));
        if let Some((_, bridge)) = first.bridge
            && a != b
        {
            way.push((a, bridge));
            way.push((b, bridge));
        }
        way.push((b, to.0));
    }
}

/// Without corners that are none.
pub(super) fn straighten(way: Vec<(i32, i32)>) -> Vec<(i32, i32)> {
    let mut out: Vec<(i32, i32)> = Vec::with_capacity(way.len());
    for point in way {
        if out.last() == Some(&point) {
            continue;
        }
        while let [.., a, b] = out.as_slice()
            && ((a.0 == b.0 && b.0 == point.0) || (a.1 == b.1 && b.1 == point.1))
        {
            out.pop();
        }
        out.push(point);
    }
    out
}
