//! What each contact adds to the Newton system: the facets of its pyramid, factored.
//!
//! All is stored by components, contacts adjacent and their number padded to [`LANES`]: x is
//! `(t1 of all, t2 of all, n of all)`, and facets are stored likewise, one number at a time. Loops
//! then run over contacts. Contacts of the padding, and facets that a contact does not have, have
//! no normal and a slack of one.

use crate::cone::ConeShape;
use legwork_linalg::lanes::{LANES, Lanes, load, padded, store};
use legwork_linalg::triangle;

/// Facets of all contacts, and the blocks `B = ε I + Cᵀ S⁻¹ Z C`.
#[derive(Clone, Debug, Default)]
pub(super) struct Scaling {
    /// Contacts, and those with the padding.
    count: usize,
    width: usize,
    /// Facets of the contact that has most.
    slots: usize,
    /// Inward unit normals C: three arrays of `slots × width`.
    normals: [Vec<f64>; 3],
    /// One for existing facets, zero for missing ones; `slots × width`.
    live: Vec<f64>,
    live_count: usize,
    /// One for contacts without friction. No row involves their tangential forces, which stay zero.
    smooth: Vec<f64>,
    regularisation: f64,
    /// D of each contact, `D Dᵀ = B⁻¹`: `B = RᵀR` and `D = R⁻¹`, both upper triangular; the
    /// triangle by rows: (0,0), (0,1), (0,2), (1,1), (1,2), (2,2).
    blocks: [Vec<f64>; 6],
}

impl Scaling {
    pub(super) fn set(&mut self, cone: &ConeShape, friction: &[f64], regularisation: f64) {
        (self.count, self.width) = (friction.len(), padded(friction.len()));
        let slope = |mu: f64| cone.facet_friction(mu);
        let has_facets = |mu: f64| slope(mu) > 0.0 && slope(mu).is_finite();
        let has_pyramid = friction.iter().any(|&mu| has_facets(mu));
        self.slots = if has_pyramid { cone.sides() } else { 1 };
        let size = self.slots * self.width;
        for normals in &mut self.normals {
            normals.clear();
            normals.resize(size, 0.0);
        }
        self.live.clear();
        self.live.resize(size, 0.0);
        self.smooth.clear();
        self.smooth.resize(self.width, 1.0);
        for block in &mut self.blocks {
            block.resize(self.width, 0.0);
        }
        self.regularisation = regularisation;
        for (contact, &mu) in friction.iter().enumerate() {
            self.smooth[contact] = if slope(mu) > 0.0 { 0.0 } else { 1.0 };
            if has_facets(mu) {
                let length = (1.0 + slope(mu) * slope(mu)).sqrt();
                for (facet, [c, s]) in cone.facets().iter().enumerate() {
                    let at = facet * self.width + contact;
                    self.normals[0][at] = -c / length;
                    self.normals[1][at] = -s / length;
                    self.normals[2][at] = slope(mu) / length;
                    self.live[at] = 1.0;
                }
            } else {
                self.normals[2][contact] = 1.0;
                self.live[contact] = 1.0;
            }
        }
        self.live_count = self.live.iter().filter(|live| **live != 0.0).count();
    }

    /// Whether contact `i` has tangential forces.
    pub(super) fn has_friction(&self, i: usize) -> bool {
        self.smooth[i] == 0.0
    }

    /// Entries per component of x.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Facets, including missing ones.
    pub(super) fn facet_count(&self) -> usize {
        self.live.len()
    }

    /// One for existing facets, zero for missing ones.
    pub(super) fn live(&self) -> &[f64] {
        &self.live
    }

    /// Existing facets.
    pub(super) fn live_count(&self) -> usize {
        self.live_count
    }

    pub(super) fn regularisation(&self) -> f64 {
        self.regularisation
    }

    /// `C x`: how far inside each facet the forces are; zero for missing facets.
    pub(super) fn facets_of(&self, x: &[f64], out: &mut [f64]) {
        let w = self.width;
        let (x0, rest) = x.split_at(w);
        let (x1, x2) = rest.split_at(w);
        for (slot, out) in out.chunks_exact_mut(w.max(1)).enumerate() {
            let [n0, n1, n2] = self.slot(slot);
            for c in 0..w {
                out[c] = n0[c] * x0[c] + n1[c] * x1[c] + n2[c] * x2[c];
            }
        }
    }

    /// `out −= Cᵀ z`.
    pub(super) fn add_multipliers(&self, z: &[f64], out: &mut [f64]) {
        let w = self.width;
        for (slot, z) in z.chunks_exact(w.max(1)).enumerate() {
            for (normals, out) in self.slot(slot).into_iter().zip(out.chunks_exact_mut(w)) {
                for c in 0..w {
                    out[c] -= z[c] * normals[c];
                }
            }
        }
    }

    fn slot(&self, slot: usize) -> [&[f64]; 3] {
        let at = slot * self.width..(slot + 1) * self.width;
        let [n0, n1, n2] = &self.normals;
        [&n0[at.clone()], &n1[at.clone()], &n2[at]]
    }

    /// Factors the blocks at the weights z/s of the facets; false if one is singular.
    ///
    /// Facets are added by rotations, which keep the contribution of ε to a direction where the
    /// sums of B would round it away: a force on an edge of its pyramid has two facets whose
    /// weights are near the largest numbers.
    pub(super) fn factor(&mut self, weights: &[f64]) -> bool {
        let mut is_finite = true;
        for at in (0..self.width).step_by(LANES) {
            let zero = Lanes::ZERO;
            let normal = Lanes::splat(self.regularisation.sqrt());
            let tangential = normal.max(load(&self.smooth[at..]));
            let mut rows =
                [[tangential, zero, zero], [zero, tangential, zero], [zero, zero, normal]];
            for slot in 0..self.slots {
                let at = slot * self.width + at;
                let weight = load(&weights[at..]).sqrt();
                let mut v = [0, 1, 2].map(|i| weight * load(&self.normals[i][at..]));
                triangle::update(&mut rows, &mut v);
            }
            for (block, value) in self.blocks.iter_mut().zip(triangle::inverse(&rows)) {
                store(value, &mut block[at..]);
                let mine = self.count.saturating_sub(at).min(LANES);
                is_finite &= block[at..at + mine].iter().all(|x| x.is_finite());
            }
        }
        is_finite
    }

    /// `x ← D x`.
    pub(super) fn times(&self, x: &mut [f64]) {
        let w = self.width;
        let (x0, rest) = x.split_at_mut(w);
        let (x1, x2) = rest.split_at_mut(w);
        let [a, b, c, d, e, f] = self.blocks.each_ref().map(|block| &block[..w]);
        for i in 0..w {
            x0[i] = a[i] * x0[i] + b[i] * x1[i] + c[i] * x2[i];
            x1[i] = d[i] * x1[i] + e[i] * x2[i];
            x2[i] *= f[i];
        }
    }

    /// `x ← Dᵀ x`.
    pub(super) fn transposed(&self, x: &mut [f64]) {
        let w = self.width;
        let (x0, rest) = x.split_at_mut(w);
        let (x1, x2) = rest.split_at_mut(w);
        let [a, b, c, d, e, f] = self.blocks.each_ref().map(|block| &block[..w]);
        for i in 0..w {
            x2[i] = c[i] * x0[i] + e[i] * x1[i] + f[i] * x2[i];
            x1[i] = b[i] * x0[i] + d[i] * x1[i];
            x0[i] *= a[i];
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may stop")]
mod tests {
    use super::*;
    use crate::cone::{Cone, PyramidFit};

    #[test]
    fn a_block_is_the_inverse() {
        let cone = ConeShape::new(Cone::Pyramid { sides: 5, fit: PyramidFit::Inscribed }).unwrap();
        let mut scaling = Scaling::default();
        scaling.set(&cone, &[0.5, 0.0, f64::INFINITY, 0.1, 1.2], 0.3);
        let count = scaling.facet_count();
        let weights: Vec<f64> = (0..count).map(|i| 0.1 + (i * 7 % 11) as f64).collect();
        assert!(scaling.factor(&weights));
        let w = scaling.width();
        for contact in 0..5 {
            for axis in 0..3 {
                let mut unit = vec![0.0; 3 * w];
                unit[axis * w + contact] = 1.0;
                let mut x = unit.clone();
                scaling.transposed(&mut x);
                scaling.times(&mut x);
                // B x, from its definition.
                let mut facets = vec![0.0; count];
                scaling.facets_of(&x, &mut facets);
                for (facet, weight) in facets.iter_mut().zip(&weights) {
                    *facet *= -weight;
                }
                let mut image = vec![0.0; 3 * w];
                scaling.add_multipliers(&facets, &mut image);
                for (i, (image, x)) in image.iter_mut().zip(&x).enumerate() {
                    let smooth = i < 2 * w && i % w == 1;
                    *image += if smooth { 1.0 } else { 0.3 } * x;
                }
                for c in 0..5 {
                    for a in 0..3 {
                        let (found, wanted) = (image[a * w + c], unit[a * w + c]);
                        assert!(
                            (found - wanted).abs() < 1e-13,
                            "{contact} {axis}: {c} {a} {found}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_singular_block_is_seen() {
        let cone = ConeShape::new(Cone::Pyramid { sides: 4, fit: PyramidFit::Inscribed }).unwrap();
        let mut scaling = Scaling::default();
        scaling.set(&cone, &[f64::INFINITY], 0.0);
        assert!(!scaling.factor(&vec![1.0; scaling.facet_count()]));
    }
}
