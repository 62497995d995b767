//! The order of boxes and wires within each column: few crossings.

use super::{End, Level};

/// Approximate number of wire ends that all attempts but the first visit.
const MOST_WORK: usize = 1 << 17;

/// What is in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Vertex {
    /// A box.
    Item(usize),
    /// A net that passes to a later column.
    Through(usize),
    /// A net at the frame's border.
    Border(usize),
}

/// A piece of a net between neighbouring columns; pins are heights from the top of each end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    pub(super) left: usize,
    pub(super) left_pin: i32,
    pub(super) right: usize,
    pub(super) right_pin: i32,
}

/// Columns of vertices. Row 0 is the left border, rows 1, 2, … the columns, the last row the right
/// border; gap g lies between rows g and g + 1.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) vertices: Vec<Vertex>,
    pub(super) heights: Vec<i32>,
    pub(super) row_of: Vec<usize>,
    pub(super) rows: Vec<Vec<usize>>,
    pub(super) gaps: Vec<Vec<Segment>>,
    /// For each net, the vertices that carry it: (row, vertex), without boxes.
    pub(super) chains: Vec<Vec<(usize, usize)>>,
}

impl Columns {
    /// Vertices and segments of a level whose boxes are in `column`, not yet ordered well.
    pub(super) fn new(level: &Level, column: &[usize]) -> Self {
        let last = column.iter().map(|c| c + 2).max().unwrap_or(1);
        let mut columns = Self {
            vertices: Vec::new(),
            heights: Vec::new(),
            row_of: Vec::new(),
            rows: vec![Vec::new(); last + 1],
            gaps: vec![Vec::new(); last],
            chains: vec![Vec::new(); level.nets.len()],
        };
        for (i, item) in level.items.iter().enumerate() {
            columns.push(Vertex::Item(i), item.height, column[i] + 1);
        }
        for n in 0..level.nets.len() {
            columns.add_net(level, n);
        }
        columns
    }

    fn push(&mut self, vertex: Vertex, height: i32, row: usize) -> usize {
        let id = self.vertices.len();
        self.vertices.push(vertex);
        self.heights.push(height);
        self.row_of.push(row);
        self.rows[row].push(id);
        id
    }

    fn add_net(&mut self, level: &Level, n: usize) {
        let net = &level.nets[n];
        let last = self.rows.len() - 1;
        let (mut at, mut pin) = match net.root {
            End::Item { item, pin } => (item, level.items[item].outputs[pin]),
            End::Border => {
                let id = self.push(Vertex::Border(n), 0, 0);
                self.chains[n].push((0, id));
                (id, 0)
            }
        };
        let root_row = self.row_of[at];
        let rows: Vec<usize> = net
            .sinks
            .iter()
            .map(|sink| match sink.end {
                End::Item { item, .. } => self.row_of[item],
                End::Border => last,
            })
            .collect();
        let furthest = rows.iter().copied().max().unwrap_or(0);
        for next in root_row + 1..=furthest {
            let gap = next - 1;
            for (sink, _) in net.sinks.iter().zip(&rows).filter(|(_, row)| **row == next) {
                let (right, right_pin) = match sink.end {
                    End::Item { item, pin } => (item, level.items[item].inputs[pin]),
                    End::Border => {
                        let id = self.push(Vertex::Border(n), 0, last);
                        self.chains[n].push((last, id));
                        (id, 0)
                    }
                };
                self.gaps[gap].push(Segment { left: at, left_pin: pin, right, right_pin });
            }
            if next < furthest {
                let right = self.push(Vertex::Through(n), 0, next);
                self.chains[n].push((next, right));
                self.gaps[gap].push(Segment { left: at, left_pin: pin, right, right_pin: 0 });
                (at, pin) = (right, 0);
            }
        }
    }

    /// Orders the rows: barycentre sweeps from several starts, the best is kept, then neighbours
    /// swap as long as that helps.
    pub(super) fn reduce_crossings(&mut self) {
        let start = self.rows.clone();
        let mut best = (self.crossings(), self.rows.clone());
        let mut random = 0x2545_f491_4f6c_dd1d_u64;
        let size = self.vertices.len() + self.gaps.iter().map(Vec::len).sum::<usize>();
        for attempt in 0..(MOST_WORK / size.max(1)).clamp(1, 10) {
            self.rows.clone_from(&start);
            if attempt > 1 {
                for row in &mut self.rows {
                    shuffle(row, &mut random);
                }
            }
            for sweep in 0..16 {
                self.sweep((sweep + attempt) % 2 == 0);
                let crossings = self.crossings();
                if crossings < best.0 {
                    best = (crossings, self.rows.clone());
                }
                if best.0 == 0 {
                    break;
                }
            }
        }
        self.rows = best.1;
        self.swap_neighbours();
    }

    /// The place of each vertex in its row.
    fn indices(&self) -> Vec<usize> {
        let mut index = vec![0; self.vertices.len()];
        for row in &self.rows {
            for (i, &v) in row.iter().enumerate() {
                index[v] = i;
            }
        }
        index
    }

    /// A number that orders ends of segments along a row: place in the row, then height of the pin.
    fn position(&self, index: &[usize], v: usize, pin: i32) -> f64 {
        let within = f64::from(pin + 1) / f64::from(self.heights[v] + 2);
        index[v] as f64 + within
    }

    fn sweep(&mut self, rightwards: bool) {
        let gaps = self.gaps.len();
        let mut index = self.indices();
        for g in 0..gaps {
            let g = if rightwards { g } else { gaps - 1 - g };
            let row = if rightwards { g + 1 } else { g };
            let other = if rightwards { g } else { g + 1 };
            let scale = self.rows[other].len().max(1) as f64;
            // Sums by place in the row.
            let mut sums = vec![(0.0, 0.0); self.rows[row].len()];
            for s in &self.gaps[g] {
                let (v, w, pin) = if rightwards {
                    (s.right, s.left, s.left_pin)
                } else {
                    (s.left, s.right, s.right_pin)
                };
                let sum = &mut sums[index[v]];
                sum.0 += self.position(&index, w, pin) / scale;
                sum.1 += 1.0;
            }
            let own = self.rows[row].len().max(1) as f64;
            let key = |v: usize| match sums[index[v]] {
                (_, 0.0) => (index[v] as f64 + 0.5) / own,
                (sum, count) => sum / count,
            };
            let mut sorted = std::mem::take(&mut self.rows[row]);
            sorted.sort_by(|&a, &b| key(a).total_cmp(&key(b)));
            sorted.iter().enumerate().for_each(|(i, &v)| index[v] = i);
            self.rows[row] = sorted;
        }
    }

    fn crossings(&self) -> usize {
        let index = self.indices();
        self.gaps.iter().map(|gap| self.gap_crossings(gap, &index)).sum()
    }

    /// Inversions of the segments' right ends once they are sorted by their left ends, counted by
    /// merging.
    fn gap_crossings(&self, gap: &[Segment], index: &[usize]) -> usize {
        let mut ends: Vec<(f64, f64)> = gap
            .iter()
            .map(|s| {
                let left = self.position(index, s.left, s.left_pin);
                (left, self.position(index, s.right, s.right_pin))
            })
            .collect();
        ends.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let mut right: Vec<f64> = ends.into_iter().map(|end| end.1).collect();
        inversions(&mut right)
    }

    fn swap_neighbours(&mut self) {
        let mut links: Vec<[Vec<(usize, i32)>; 2]> =
            vec![[Vec::new(), Vec::new()]; self.vertices.len()];
        for s in self.gaps.iter().flatten() {
            links[s.right][0].push((s.left, s.left_pin));
            links[s.left][1].push((s.right, s.right_pin));
        }
        let mut index = self.indices();
        // Every swap removes crossings, so this ends; the bound only guards its length.
        for _ in 0..20 {
            let mut better = false;
            for r in 0..self.rows.len() {
                for i in 1..self.rows[r].len() {
                    let (u, v) = (self.rows[r][i - 1], self.rows[r][i]);
                    let mut gain = 0i64;
                    for (of_u, of_v) in links[u].iter().zip(&links[v]) {
                        for &(a, a_pin) in of_u {
                            let a = self.position(&index, a, a_pin);
                            for &(b, b_pin) in of_v {
                                let b = self.position(&index, b, b_pin);
                                gain += i64::from(a > b) - i64::from(a < b);
                            }
                        }
                    }
                    if gain > 0 {
                        self.rows[r].swap(i - 1, i);
                        index.swap(u, v);
                        better = true;
                    }
                }
            }
            if !better {
                break;
            }
        }
    }
}

fn shuffle(row: &mut [usize], state: &mut u64) {
    for i in (1..row.len()).rev() {
        // Xorshift (Marsaglia 2003): fixed start, so the picture is always the same.
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        row.swap(i, (*state % (i as u64 + 1)) as usize);
    }
}

fn inversions(values: &mut [f64]) -> usize {
    let n = values.len();
    if n < 2 {
        return 0;
    }
    let (a, b) = values.split_at_mut(n / 2);
    let mut count = inversions(a) + inversions(b);
    let mut merged = Vec::with_capacity(n);
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        if j == b.len() || (i < a.len() && a[i] <= b[j]) {
            merged.push(a[i]);
            i += 1;
        } else {
            count += a.len() - i;
            merged.push(b[j]);
            j += 1;
        }
    }
    values.copy_from_slice(&merged);
    count
}
