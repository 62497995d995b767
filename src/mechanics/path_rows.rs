//! Rows of Jacobians in coordinates of kinetic energy, three rows of four contacts at once.
//!
//! The rows of a contact with the ground differ from zero at the coordinates of one path of the
//! tree: the base and the joints that carry the foot. On a path everything is dense: the b-th
//! coordinate of each path is slot b, `L` has in row b an entry for every slot above it, and two
//! contacts have those slots in common in which their paths agree, the first so many. So four
//! contacts are computed at once, each in a lane with its own entries of `L`: the four legs of a
//! quadruped, or four corners of a sole.
//!
//! Whose rows are what is planned when rows or tree change. From state to state it is only looked
//! whether the rest of J is zero.

use crate::branch::BranchPattern;
use crate::mass_factor::MassFactorRef;
use crate::quad::{LANES, Quad, ZERO, set_lane};

/// Rows of a contact.
pub(crate) const ROWS: usize = 3;
/// Bits of a word of a set.
const WORD: usize = u64::BITS as usize;

/// Three numbers of each of four contacts.
type Block = [Quad; ROWS];

/// `W = J C⁻¹` by paths; see the [module](self).
#[derive(Clone, Debug, Default)]
pub(crate) struct PathRows {
    row_count: usize,
    dim: usize,
    /// The path of each triple of rows, root first, `dim` numbers for each.
    paths: Vec<usize>,
    /// Their lengths.
    depths: Vec<usize>,
    /// The columns that are not on the path of each triple, as sets.
    outside: Vec<u64>,
    groups: Vec<Group>,
    /// What two groups have in common, if one is turned by 0 to 3 lanes: (a, b ≤ a, turn).
    common: Vec<Common>,
    /// Entry (slot) of each group, one group after the other.
    w: Vec<Block>,
    /// Stands for rows of L that are not there.
    zeros: Vec<f64>,
}

/// Up to four triples of rows.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    /// Its first entry.
    start: usize,
    /// Slots of its longest path.
    depth: usize,
    /// Slots that are the same coordinate in all lanes.
    shared: usize,
}

/// Slots that two groups have in common, lane by lane.
#[derive(Clone, Copy, Debug, Default)]
struct Common {
    /// In all lanes.
    least: usize,
    /// In any lane.
    most: usize,
    lanes: [usize; LANES],
}

impl PathRows {
    /// Memory for `row_capacity` rows of a robot with nv = `dim` velocities.
    pub(crate) fn new(dim: usize, row_capacity: usize) -> Self {
        let mut new = Self { dim, zeros: vec![0.0; dim], ..Self::default() };
        new.reserve(row_capacity);
        new
    }

    fn reserve(&mut self, row_count: usize) {
        let triples = row_count.div_ceil(ROWS);
        if self.depths.capacity() >= triples {
            return;
        }
        let (dim, groups) = (self.dim, triples.div_ceil(LANES));
        self.paths.reserve(triples * dim);
        self.depths.reserve(triples);
        self.outside.reserve(triples * dim.div_ceil(WORD));
        self.groups.reserve(groups);
        self.common.reserve(groups * (groups + 1) / 2 * LANES);
        self.w.resize(groups * dim, [ZERO; ROWS]);
    }

    fn path(&self, triple: usize) -> &[usize] {
        match self.depths.get(triple) {
            Some(&depth) => &self.paths[triple * self.dim..][..depth],
            None => &[],
        }
    }

    /// Numbers of a column of J in the rows of a triple.
    #[inline]
    fn entries<'j>(&self, jacobian: &'j [f64], triple: usize, k: usize) -> &'j [f64; ROWS] {
        let column = &jacobian[k * self.row_count + ROWS * triple..];
        column.first_chunk().unwrap_or(&[0.0; ROWS])
    }

    /// `W ← J C⁻¹`. False, and no W, if some rows are not on a path.
    pub(crate) fn set(
        &mut self,
        factor: MassFactorRef<'_>,
        inverse_roots: &[f64],
        jacobian: &[f64],
        row_count: usize,
    ) -> bool {
        let is_known = row_count == self.row_count && self.fits(factor.pattern, jacobian);
        if !is_known && !self.plan(factor.pattern, jacobian, row_count) {
            self.row_count = 0;
            return false;
        }
        let mut w = std::mem::take(&mut self.w);
        for (g, group) in self.groups.iter().enumerate() {
            let w = &mut w[group.start..group.start + group.depth];
            self.load(g, jacobian, w);
            self.half_solve(g, factor, inverse_roots, w);
        }
        self.w = w;
        true
    }

    /// Whether the paths are still those of the tree, and J is zero outside of them.
    fn fits(&self, pattern: &BranchPattern, jacobian: &[f64]) -> bool {
        let height = self.dim.div_ceil(WORD);
        (0..self.depths.len()).all(|triple| {
            if let Some((tip, above)) = self.path(triple).split_last()
                && pattern.ancestors(*tip) != above
            {
                return false;
            }
            let words = self.outside[triple * height..(triple + 1) * height].iter().enumerate();
            // The bits of all numbers but their signs.
            let mut bits = 0;
            for (word, &set) in words {
                let mut left = set;
                while left != 0 {
                    let k = WORD * word + left.trailing_zeros() as usize;
                    left &= left - 1;
                    let [x, y, z] = self.entries(jacobian, triple, k);
                    bits |= (x.to_bits() | y.to_bits() | z.to_bits()) << 1;
                }
            }
            bits == 0
        })
    }

    /// Finds the paths of all rows, three by three; false if some have none.
    #[cold]
    fn plan(&mut self, pattern: &BranchPattern, jacobian: &[f64], row_count: usize) -> bool {
        if !row_count.is_multiple_of(ROWS) {
            return false;
        }
        self.reserve(row_count);
        self.row_count = row_count;
        let (dim, height) = (self.dim, self.dim.div_ceil(WORD));
        self.paths.clear();
        self.depths.clear();
        self.outside.clear();
        for triple in 0..row_count.div_ceil(ROWS) {
            let is_moved = |&k: &usize| self.entries(jacobian, triple, k).iter().any(|x| *x != 0.0);
            let tip = (0..dim).filter(is_moved).max_by_key(|&k| pattern.ancestors(k).len());
            let moved = (0..dim).filter(is_moved).count();
            let (start, first) = (self.paths.len(), self.outside.len());
            if let Some(tip) = tip {
                self.paths.extend_from_slice(pattern.ancestors(tip));
                self.paths.push(tip);
            }
            self.depths.push(self.paths.len() - start);
            self.outside.resize(first + height, 0);
            let outside = &mut self.outside[first..];
            (0..dim).for_each(|k| outside[k / WORD] |= 1 << (k % WORD));
            let path = &self.paths[start..];
            path.iter().for_each(|&k| outside[k / WORD] &= !(1 << (k % WORD)));
            let on_path =
                |k: &&usize| self.entries(jacobian, triple, **k).iter().any(|x| *x != 0.0);
            if path.iter().filter(on_path).count() != moved {
                return false;
            }
            self.paths.resize(start + dim, 0);
        }
        self.plan_groups();
        true
    }

    /// Which slots lanes and groups have in common.
    fn plan_groups(&mut self) {
        self.groups.clear();
        self.common.clear();
        let (triples, mut start) = (self.depths.len(), 0);
        for g in 0..triples.div_ceil(LANES) {
            let lanes = LANES * g..triples.min(LANES * (g + 1));
            let depth = self.depths[lanes.clone()].iter().copied().max().unwrap_or(0);
            let shared = lanes.map(|b| self.common_slots(LANES * g, b)).min().unwrap_or(0);
            self.groups.push(Group { start, depth, shared });
            start += depth;
        }
        for a in 0..self.groups.len() {
            for (b, turn) in (0..=a).flat_map(|b| (0..LANES).map(move |turn| (b, turn))) {
                let mut common = Common { least: usize::MAX, ..Common::default() };
                for (l, slots) in common.lanes.iter_mut().enumerate() {
                    let (x, y) = (LANES * a + l, LANES * b + (l + turn) % LANES);
                    // Rows that are not there are zero: any slot will do.
                    *slots = usize::MAX;
                    if x < triples && y < triples {
                        *slots = self.common_slots(x, y);
                        common.least = common.least.min(*slots);
                        common.most = common.most.max(*slots);
                    }
                }
                common.least = common.least.min(common.most);
                self.common.push(common);
            }
        }
    }

    /// Slots at which two paths are the same.
    fn common_slots(&self, a: usize, b: usize) -> usize {
        self.path(a).iter().zip(self.path(b)).take_while(|(x, y)| x == y).count()
    }

    /// `W ← J`.
    #[inline]
    fn load(&self, g: usize, jacobian: &[f64], w: &mut [Block]) {
        let lanes: [&[usize]; LANES] = std::array::from_fn(|l| self.path(LANES * g + l));
        for (b, w) in w.iter_mut().enumerate() {
            // By values: numbers that are stored one by one cannot be loaded together at once.
            let [p, q, r, s]: [&[f64; ROWS]; LANES] = std::array::from_fn(|l| {
                let entries = |&k| self.entries(jacobian, LANES * g + l, k);
                lanes[l].get(b).map_or(&[0.0; ROWS], entries)
            });
            w[0] = Quad::from([p[0], q[0], r[0], s[0]]);
            w[1] = Quad::from([p[1], q[1], r[1], s[1]]);
            w[2] = Quad::from([p[2], q[2], r[2], s[2]]);
        }
    }

    /// `W ← W C⁻¹`, from the leaves to the root: `W_a −= L_ba W_b` at all slots a above b, then
    /// `W_b ← D_b^(−½) W_b`.
    #[inline]
    fn half_solve(
        &self,
        g: usize,
        factor: MassFactorRef<'_>,
        inverse_roots: &[f64],
        w: &mut [Block],
    ) {
        let shared = self.groups[g].shared;
        let lanes: [&[usize]; LANES] = std::array::from_fn(|l| self.path(LANES * g + l));
        for b in (0..w.len()).rev() {
            let (above, own) = w.split_at_mut(b);
            let Some(own) = own.first_mut() else { break };
            let value = *own;
            if b < shared {
                let k = lanes[0][b];
                let row = &factor.rows[factor.pattern.row(k)];
                for (w, l) in above.iter_mut().zip(row) {
                    subtract(w, Quad::splat(*l), &value);
                }
                scale(own, Quad::splat(inverse_roots[k]));
                continue;
            }
            let mut root = [0.0; LANES];
            let rows: [&[f64]; LANES] = std::array::from_fn(|l| match lanes[l].get(b) {
                Some(&k) => {
                    root[l] = inverse_roots[k];
                    &factor.rows[factor.pattern.row(k)]
                }
                None => &self.zeros[..b],
            });
            let [p, q, r, s] = rows;
            let rows = p.iter().zip(q).zip(r.iter().zip(s));
            for (w, ((p, q), (r, s))) in above.iter_mut().zip(rows) {
                subtract(w, Quad::from([*p, *q, *r, *s]), &value);
            }
            scale(own, Quad::from(root));
        }
    }

    fn entries_of(&self, g: usize) -> &[Block] {
        let Group { start, depth, .. } = self.groups[g];
        &self.w[start..start + depth]
    }

    /// `out ← W z`.
    pub(crate) fn product_into(&self, z: &[f64], out: &mut [f64]) {
        for (g, out) in out.chunks_mut(ROWS * LANES).enumerate() {
            let lanes: [&[usize]; LANES] = std::array::from_fn(|l| self.path(LANES * g + l));
            let mut sums = [ZERO; ROWS];
            for (b, w) in self.entries_of(g).iter().enumerate() {
                let at = |l: usize| lanes[l].get(b).map_or(0.0, |&k| z[k]);
                let z = Quad::from([at(0), at(1), at(2), at(3)]);
                for (sum, w) in sums.iter_mut().zip(w) {
                    *sum += *w * z;
                }
            }
            let sums = sums.map(Quad::to_array);
            for (l, out) in out.chunks_mut(ROWS).enumerate() {
                out.iter_mut().zip(&sums).for_each(|(out, sum)| *out = sum[l]);
            }
        }
    }

    /// `z ← z + Wᵀ f`.
    pub(crate) fn add_transposed_product(&self, forces: &[f64], z: &mut [f64]) {
        for (g, forces) in forces.chunks(ROWS * LANES).enumerate() {
            let mut f = [[0.0; LANES]; ROWS];
            for (l, forces) in forces.chunks(ROWS).enumerate() {
                f.iter_mut().zip(forces).for_each(|(f, force)| f[l] = *force);
            }
            let [p, q, r] = f.map(Quad::from);
            let lanes: [&[usize]; LANES] = std::array::from_fn(|l| self.path(LANES * g + l));
            for (b, [x, y, w]) in self.entries_of(g).iter().enumerate() {
                let sums = (*x * p + *y * q + *w * r).to_array();
                for (path, sum) in lanes.iter().zip(sums) {
                    if let Some(&k) = path.get(b) {
                        z[k] += sum;
                    }
                }
            }
        }
    }

    /// `G = W Wᵀ`, exactly symmetric.
    pub(crate) fn gram_into(&self, out: &mut [f64]) {
        let mut pairs = self.common.chunks_exact(LANES);
        for a in 0..self.groups.len() {
            for b in 0..=a {
                let Some(turns) = pairs.next() else { return };
                if turns.iter().all(|common| common.most == 0) {
                    self.write_zeros((a, b), out);
                    continue;
                }
                let (x, y) = (self.entries_of(a), self.entries_of(b));
                for (turn, common) in turns.iter().enumerate() {
                    // The lanes of one group meet each other by turns of 0, 1 and 2.
                    if a == b && turn == 3 {
                        continue;
                    }
                    let block = match turn {
                        0 => products::<0>(x, y, common),
                        1 => products::<1>(x, y, common),
                        2 => products::<2>(x, y, common),
                        _ => products::<3>(x, y, common),
                    };
                    let lanes = if a == b && turn == 2 { 2 } else { LANES };
                    let block = block.map(|row| row.map(Quad::to_array));
                    for l in 0..lanes {
                        let place = (LANES * a + l, LANES * b + (l + turn) % LANES);
                        self.write(&block, l, place, out);
                    }
                }
            }
        }
    }

    /// Writes the blocks of G of groups that have no slot in common, as those of two bodies.
    fn write_zeros(&self, (a, b): (usize, usize), out: &mut [f64]) {
        let nc = self.row_count;
        let rows = |g: usize| ROWS * LANES * g..(ROWS * LANES * (g + 1)).min(nc);
        for (columns, rows) in [(rows(b), rows(a)), (rows(a), rows(b))] {
            columns.for_each(|column| out[column * nc..][rows.clone()].fill(0.0));
        }
    }

    /// Writes one lane of a block of G, and mirrored.
    #[inline]
    fn write(
        &self,
        block: &[[[f64; LANES]; ROWS]; ROWS],
        l: usize,
        (a, b): (usize, usize),
        out: &mut [f64],
    ) {
        let (triples, nc) = (self.depths.len(), self.row_count);
        if a >= triples || b >= triples {
            return;
        }
        let [x, y, z] = block;
        for j in 0..ROWS {
            if let Some(to) = out[(ROWS * b + j) * nc + ROWS * a..].first_chunk_mut() {
                *to = [x[j][l], y[j][l], z[j][l]];
            }
        }
        for (i, row) in block.iter().enumerate() {
            if let Some(to) = out[(ROWS * a + i) * nc + ROWS * b..].first_chunk_mut() {
                *to = [row[0][l], row[1][l], row[2][l]];
            }
        }
    }

    /// Calls `entry(row, coordinate, value)` for every entry of W on a path.
    pub(crate) fn for_each(&self, mut entry: impl FnMut(usize, usize, f64)) {
        for triple in 0..self.depths.len() {
            let w = self.entries_of(triple / LANES);
            for (&k, w) in self.path(triple).iter().zip(w) {
                for (r, w) in w.iter().enumerate() {
                    entry(ROWS * triple + r, k, w.as_array()[triple % LANES]);
                }
            }
        }
    }
}

#[inline(always)]
fn subtract(w: &mut Block, l: Quad, value: &Block) {
    for (w, value) in w.iter_mut().zip(value) {
        *w -= l * *value;
    }
}

#[inline(always)]
fn scale(w: &mut Block, factor: Quad) {
    for w in w {
        *w *= factor;
    }
}

/// `Σ_b x_b y_bᵀ` lane by lane, y turned by so many lanes.
#[inline(always)]
fn products<const TURN: usize>(x: &[Block], y: &[Block], common: &Common) -> [Block; ROWS] {
    let mut sums = [[ZERO; ROWS]; ROWS];
    let mut add = |x: &Block, y: &Block| {
        let y = y.map(turned::<TURN>);
        for (sums, x) in sums.iter_mut().zip(x) {
            for (sum, y) in sums.iter_mut().zip(&y) {
                *sum += *x * *y;
            }
        }
    };
    let all = x.iter().zip(y);
    all.clone().take(common.least).for_each(|(x, y)| add(x, y));
    for (b, (x, y)) in all.enumerate().take(common.most).skip(common.least) {
        let mut is_in = ZERO;
        for (l, slots) in common.lanes.iter().enumerate() {
            set_lane(&mut is_in, l, f64::from(u8::from(b < *slots)));
        }
        add(&x.map(|x| x * is_in), y);
    }
    sums
}

#[inline(always)]
fn turned<const TURN: usize>(quad: Quad) -> Quad {
    let [a, b, c, d] = quad.to_array();
    match TURN {
        0 => quad,
        1 => Quad::from([b, c, d, a]),
        2 => Quad::from([c, d, a, b]),
        _ => Quad::from([d, a, b, c]),
    }
}
