//! Pairs of nearby points, by a grid of cells.

/// The cells of points; keeps only memory from one call to the next.
#[doc(alias("broad phase", "spatial hash", "uniform grid"))]
#[derive(Debug, Clone, Default)]
pub struct Neighbours {
    /// Cell and index of each point, sorted.
    cells: Vec<(u128, usize)>,
}

/// Bits of a coordinate of a cell.
const BITS: u32 = 42;
/// Coordinates beyond this share a cell, so that every cell has neighbours.
const FARTHEST: i64 = 1 << (BITS - 2);

/// A cell as one number, by which cells are in the order of x, then y, then z.
const fn number(x: i64, y: i64, z: i64) -> u128 {
    ((x + 2 * FARTHEST) as u128) << (2 * BITS)
        | ((y + 2 * FARTHEST) as u128) << BITS
        | (z + 2 * FARTHEST) as u128
}

/// Half of the 26 cells around a cell, so that every pair of cells is seen once, by what their
/// numbers differ: first and last of the columns along z, whose cells are adjacent in the order.
const AHEAD: [[u128; 2]; 5] = [
    ahead([0, 0, 1], [0, 0, 1]),
    ahead([0, 1, -1], [0, 1, 1]),
    ahead([1, -1, -1], [1, -1, 1]),
    ahead([1, 0, -1], [1, 0, 1]),
    ahead([1, 1, -1], [1, 1, 1]),
];

const fn ahead([a, b, c]: [i64; 3], [d, e, f]: [i64; 3]) -> [u128; 2] {
    let own = number(0, 0, 0);
    [number(a, b, c) - own, number(d, e, f) - own]
}

impl Neighbours {
    /// Calls `f(i, j)` once for every pair of points nearer than `reach`, and for some that are
    /// farther: those in one cell of that size, or in two that touch. The order follows from the
    /// positions. O(n log n) where no cell holds many points.
    ///
    /// | symbol | argument | shape | meaning |
    /// |---|---|---|---|
    /// | x | `positions` | 3n | points [m] |
    /// | | `reach` | | > 0 [m] |
    pub fn for_each_pair(
        &mut self,
        positions: &[f64],
        reach: f64,
        mut f: impl FnMut(usize, usize),
    ) {
        let cell = |i: usize| {
            let farthest = FARTHEST as f64;
            let at = |k: usize| (positions[3 * i + k] / reach).floor();
            let [x, y, z] = [0, 1, 2].map(|k| at(k).clamp(-farthest, farthest) as i64);
            number(x, y, z)
        };
        // From the order of the last call, if that had as many points: it has hardly changed.
        let count = positions.len() / 3;
        if self.cells.len() != count {
            self.cells.clear();
            self.cells.extend((0..count).map(|i| (0, i)));
        }
        self.cells.iter_mut().for_each(|(number, i)| *number = cell(*i));
        self.cells.sort_unstable();
        // Where the cells ahead begin: as the cells rise, so do these.
        let mut starts = [0; AHEAD.len()];
        for (at, &(cell, i)) in self.cells.iter().enumerate() {
            let own = self.cells[at + 1..].iter().take_while(|(other, _)| *other == cell);
            own.for_each(|&(_, j)| f(j.max(i), j.min(i)));
            for (start, ends) in starts.iter_mut().zip(AHEAD) {
                let [first, last] = ends.map(|end| cell + end);
                let behind = self.cells[*start..].iter().take_while(|(other, _)| *other < first);
                *start += behind.count();
                let there = self.cells[*start..].iter().take_while(|(other, _)| *other <= last);
                there.for_each(|&(_, j)| f(j.max(i), j.min(i)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use legwork_qp::problems::Random;

    use super::*;

    /// Every near pair once, as the search among all pairs finds them.
    #[test]
    fn near_pairs_are_those_of_the_search_among_all() {
        let mut random = Random::new(2);
        for (count, reach) in [(1, 1.0), (60, 0.3), (200, 0.7), (200, 5.0)] {
            let x: Vec<f64> = (0..3 * count).map(|_| random.normal()).collect();
            let distance = |i: usize, j: usize| {
                (0..3).map(|k| (x[3 * i + k] - x[3 * j + k]).powi(2)).sum::<f64>().sqrt()
            };
            let mut found = Vec::new();
            Neighbours::default().for_each_pair(&x, reach, |i, j| {
                if distance(i, j) < reach {
                    found.push((i, j));
                }
            });
            found.sort_unstable();
            let pairs = (0..count).flat_map(|i| (0..i).map(move |j| (i, j)));
            let expected: Vec<_> = pairs.filter(|&(i, j)| distance(i, j) < reach).collect();
            assert_eq!(found, expected, "{count} points, reach {reach}");
        }
    }

    /// Points outside all bounds are still paired.
    #[test]
    fn far_points_are_no_neighbours_of_themselves() {
        let x = [0.0, 0.0, 1.0, 1e20, 0.0, 1.0, 1e300, -1e300, 0.0];
        Neighbours::default().for_each_pair(&x, 0.1, |i, j| assert_ne!(i, j));
    }
}
