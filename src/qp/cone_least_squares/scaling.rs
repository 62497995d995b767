//! What each contact adds to the Newton system: the facets of its pyramid, factored.

use crate::cone::ConeShape;

/// D of one contact, `D Dᵀ = B⁻¹`: `B = RᵀR` and `D = R⁻¹`, both upper triangular.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Block {
    /// Upper triangle by rows: (0,0), (0,1), (0,2), (1,1), (1,2), (2,2).
    entries: [f64; 6],
}

impl Block {
    /// `D x`.
    pub(super) fn times(&self, x: &[f64]) -> [f64; 3] {
        let [a, b, c, d, e, f] = self.entries;
        [a * x[0] + b * x[1] + c * x[2], d * x[1] + e * x[2], f * x[2]]
    }

    /// `Dᵀ x`.
    pub(super) fn transposed(&self, x: &[f64]) -> [f64; 3] {
        let [a, b, c, d, e, f] = self.entries;
        [a * x[0], b * x[0] + d * x[1], c * x[0] + e * x[1] + f * x[2]]
    }

    /// Of the root R of B; `None` if B is singular or not finite.
    fn of(root: &Root) -> Option<Self> {
        let [r00, r01, r02] = root.rows[0];
        let [_, r11, r12] = root.rows[1];
        let r22 = root.rows[2][2];
        let (a, d, f) = (1.0 / r00, 1.0 / r11, 1.0 / r22);
        let b = -r01 * d * a;
        let e = -r12 * f * d;
        let c = -(r01 * e + r02 * f) * a;
        let entries = [a, b, c, d, e, f];
        entries.iter().all(|x| x.is_finite()).then_some(Self { entries })
    }
}

/// R with `RᵀR = B`, upper triangular, that takes rows in one by one. Rotations keep what ε gives to
/// a direction where the sums of B would round it away: a force on an edge of its pyramid has two
/// facets whose weights are near the largest numbers.
struct Root {
    rows: [[f64; 3]; 3],
}

impl Root {
    /// The root of a diagonal matrix.
    fn diagonal(diagonal: [f64; 3]) -> Self {
        let mut rows = [[0.0; 3]; 3];
        for (i, d) in diagonal.into_iter().enumerate() {
            rows[i][i] = d.sqrt();
        }
        Self { rows }
    }

    /// `B ← B + v vᵀ`.
    fn add(&mut self, mut v: [f64; 3]) {
        for (k, row) in self.rows.iter_mut().enumerate() {
            if v[k] == 0.0 {
                continue;
            }
            let length = (row[k] * row[k] + v[k] * v[k]).sqrt();
            let (c, s) = (row[k] / length, v[k] / length);
            for (r, v) in row.iter_mut().zip(&mut v).skip(k) {
                (*r, *v) = (c * *r + s * *v, c * *v - s * *r);
            }
        }
    }
}

/// How friction bounds the force of a contact.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// No tangential force.
    Normal,
    /// In the pyramid of slope μ'.
    Pyramid { slope: f64 },
    /// Tangential force without limit.
    Free,
}

/// Facets of all contacts, and the blocks `B = ε I + Cᵀ S⁻¹ Z C`.
#[derive(Clone, Debug, Default)]
pub(super) struct Scaling {
    kinds: Vec<Kind>,
    directions: Vec<[f64; 2]>,
    blocks: Vec<Block>,
    regularisation: f64,
    facet_count: usize,
}

impl Scaling {
    pub(super) fn set(&mut self, cone: &ConeShape, friction: &[f64], regularisation: f64) {
        self.directions.clear();
        self.directions.extend_from_slice(cone.facets());
        self.kinds.clear();
        self.kinds.extend(friction.iter().map(|&mu| match cone.facet_friction(mu) {
            slope if slope <= 0.0 => Kind::Normal,
            slope if slope.is_finite() => Kind::Pyramid { slope },
            _ => Kind::Free,
        }));
        self.blocks.clear();
        self.blocks.resize(friction.len(), Block::default());
        self.regularisation = regularisation;
        self.facet_count = self.kinds.iter().map(|&kind| self.facets(kind)).sum();
    }

    /// Zeroes the columns (of `r` values) of tangential forces that are not there.
    pub(super) fn drop_frictionless(&self, r: usize, columns: &mut [f64]) {
        for (kind, columns) in self.kinds.iter().zip(columns.chunks_exact_mut((3 * r).max(1))) {
            if matches!(kind, Kind::Normal) {
                columns[..2 * r].fill(0.0);
            }
        }
    }

    /// Facets of a contact.
    fn facets(&self, kind: Kind) -> usize {
        if let Kind::Pyramid { .. } = kind { self.directions.len() } else { 1 }
    }

    pub(super) fn facet_count(&self) -> usize {
        self.facet_count
    }

    pub(super) fn regularisation(&self) -> f64 {
        self.regularisation
    }

    pub(super) fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Inward normal of a facet, of length one.
    fn normal(&self, slope: f64, facet: usize) -> [f64; 3] {
        let [c, s] = self.directions[facet];
        let length = (1.0 + slope * slope).sqrt();
        [-c / length, -s / length, slope / length]
    }

    /// `C x`: how far inside each facet the forces are.
    pub(super) fn facets_of(&self, x: &[f64], out: &mut [f64]) {
        let mut at = 0;
        for (&kind, x) in self.kinds.iter().zip(x.chunks_exact(3)) {
            if let Kind::Pyramid { slope } = kind {
                for facet in 0..self.directions.len() {
                    let n = self.normal(slope, facet);
                    out[at] = n[0] * x[0] + n[1] * x[1] + n[2] * x[2];
                    at += 1;
                }
            } else {
                out[at] = x[2];
                at += 1;
            }
        }
    }

    /// `out −= Cᵀ z`.
    pub(super) fn add_multipliers(&self, z: &[f64], out: &mut [f64]) {
        let mut at = 0;
        for (&kind, out) in self.kinds.iter().zip(out.chunks_exact_mut(3)) {
            if let Kind::Pyramid { slope } = kind {
                for facet in 0..self.directions.len() {
                    let n = self.normal(slope, facet);
                    for (out, n) in out.iter_mut().zip(n) {
                        *out -= z[at] * n;
                    }
                    at += 1;
                }
            } else {
                out[2] -= z[at];
                at += 1;
            }
        }
    }

    /// Factors the blocks at slacks s and multipliers z; false if one is singular.
    pub(super) fn factor(&mut self, s: &[f64], z: &[f64]) -> bool {
        let mut at = 0;
        for i in 0..self.kinds.len() {
            let e = self.regularisation;
            // No row sees the tangential forces of a contact without friction; they stay zero.
            let tangential = if matches!(self.kinds[i], Kind::Normal) { 1.0 } else { e };
            let mut root = Root::diagonal([tangential, tangential, e]);
            if let Kind::Pyramid { slope } = self.kinds[i] {
                for facet in 0..self.directions.len() {
                    let weight = (z[at] / s[at]).sqrt();
                    root.add(self.normal(slope, facet).map(|n| weight * n));
                    at += 1;
                }
            } else {
                root.add([0.0, 0.0, (z[at] / s[at]).sqrt()]);
                at += 1;
            }
            match Block::of(&root) {
                Some(block) => self.blocks[i] = block,
                None => return false,
            }
        }
        true
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may stop")]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_the_root_of_the_inverse() {
        let vectors = [[1.0, 0.5, -0.2], [0.0, 2.0, 1.0], [-0.3, 0.0, 0.7], [4.0, 1.0, 1.0]];
        let mut root = Root::diagonal([0.1, 0.2, 0.3]);
        let mut full = [[0.1, 0.0, 0.0], [0.0, 0.2, 0.0], [0.0, 0.0, 0.3]];
        for v in vectors {
            root.add(v);
            for i in 0..3 {
                for j in 0..3 {
                    full[i][j] += v[i] * v[j];
                }
            }
        }
        let block = Block::of(&root).unwrap();
        for i in 0..3 {
            let mut unit = [0.0; 3];
            unit[i] = 1.0;
            let column = block.times(&block.transposed(&unit));
            for (j, row) in full.iter().enumerate() {
                let product: f64 = row.iter().zip(column).map(|(a, b)| a * b).sum();
                assert!((product - unit[j]).abs() < 1e-13, "{i} {j} {product}");
            }
        }
        assert!(Block::of(&Root::diagonal([1.0, 0.0, 1.0])).is_none());
    }
}
