//! Products of half-lines and second-order cones: Jordan's product, steps to the boundary, and
//! Nesterov and Todd's scaling.

use legwork_linalg::{all_finite, dot};
use std::ops::Range;

/// Half-lines first, then second-order cones of these rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Cones {
    linear: usize,
    blocks: Vec<Range<usize>>,
}

impl Cones {
    /// m rows of which the last are cones of these sizes.
    pub(super) fn set(&mut self, m: usize, sizes: &[usize]) {
        self.linear = m - sizes.iter().sum::<usize>();
        self.blocks.clear();
        let mut start = self.linear;
        for size in sizes {
            self.blocks.push(start..start + size);
            start += size;
        }
    }

    pub(super) fn for_each_block(&self, act: impl FnMut(Range<usize>)) {
        self.blocks.iter().cloned().for_each(act);
    }

    /// e: 1 for half-lines, (1, 0, …) for cones.
    pub(super) fn write_identity(&self, out: &mut [f64]) {
        out.fill(0.0);
        out[..self.linear].fill(1.0);
        self.blocks.iter().for_each(|block| out[block.start] = 1.0);
    }

    /// `sᵀz` over the number of half-lines and cones; 0 without any.
    pub(super) fn mean_product(&self, s: &[f64], z: &[f64]) -> f64 {
        let count = self.linear + self.blocks.len();
        if count == 0 { 0.0 } else { dot(s, z) / count as f64 }
    }

    /// `out -= u ∘ v`, with `(u ∘ v)_0 = uᵀv` and `u_0 v_i + v_0 u_i` below.
    pub(super) fn subtract_product(&self, u: &[f64], v: &[f64], out: &mut [f64]) {
        for ((out, u), v) in out.iter_mut().zip(u).zip(v).take(self.linear) {
            *out -= u * v;
        }
        for block in &self.blocks {
            let (u, v, out) = (&u[block.clone()], &v[block.clone()], &mut out[block.clone()]);
            out[0] -= dot(u, v);
            for i in 1..u.len() {
                out[i] -= u[0] * v[i] + v[0] * u[i];
            }
        }
    }

    /// Solves `l ∘ x = v` in place.
    pub(super) fn divide(&self, l: &[f64], v: &mut [f64]) {
        for (v, l) in v.iter_mut().zip(l).take(self.linear) {
            *v /= l;
        }
        for block in &self.blocks {
            let (l, v) = (&l[block.clone()], &mut v[block.clone()]);
            let first = (l[0] * v[0] - dot(&l[1..], &v[1..])) / product_of_eigenvalues(l);
            v[0] = first;
            for i in 1..l.len() {
                v[i] = (v[i] - l[i] * first) / l[0];
            }
        }
    }

    /// Largest α for which `v + α d` is in all cones, given that v is; infinite if there is none.
    pub(super) fn longest_step(&self, v: &[f64], d: &[f64]) -> f64 {
        let mut longest = f64::INFINITY;
        for (v, d) in v.iter().zip(d).take(self.linear) {
            if *d < 0.0 {
                longest = longest.min(-v / d);
            }
        }
        for block in &self.blocks {
            let (v, d) = (&v[block.clone()], &d[block.clone()]);
            longest = longest.min(longest_step_in_cone(v, d));
        }
        longest
    }
}

/// `t_0² − |t_1|²` without cancellation at the boundary.
fn product_of_eigenvalues(t: &[f64]) -> f64 {
    let length = dot(&t[1..], &t[1..]).sqrt();
    (t[0] - length) * (t[0] + length)
}

/// The first positive root of `(v_0 + α d_0)² = |v_1 + α d_1|²`, or where `v_0 + α d_0` is zero.
fn longest_step_in_cone(v: &[f64], d: &[f64]) -> f64 {
    let a = d[0] * d[0] - dot(&d[1..], &d[1..]);
    let b = v[0] * d[0] - dot(&v[1..], &d[1..]);
    let c = product_of_eigenvalues(v);
    let mut longest = if d[0] < 0.0 { -v[0] / d[0] } else { f64::INFINITY };
    let discriminant = b * b - a * c;
    if discriminant >= 0.0 {
        // Roots of a α² + 2 b α + c, both without cancellation.
        let q = -(b + discriminant.sqrt().copysign(b));
        for root in [q / a, c / q] {
            if root > 0.0 {
                longest = longest.min(root);
            }
        }
    }
    longest
}

/// W with `W z = W⁻¹ s = λ`.
#[derive(Clone, Debug, Default)]
pub(super) struct NesterovTodd {
    /// √(s/z) of half-lines, then the unit vectors w̄ of cones.
    axis: Vec<f64>,
    /// η of each cone: `W = η (2 v vᵀ − J)` with w̄ = v ∘ v.
    size: Vec<f64>,
    lambda: Vec<f64>,
}

impl NesterovTodd {
    /// The scaling of s and z; false if one is not inside its cone.
    pub(super) fn set(&mut self, cones: &Cones, s: &[f64], z: &[f64]) -> bool {
        self.axis.clear();
        self.axis.extend(s.iter().zip(z).take(cones.linear).map(|(s, z)| (s / z).sqrt()));
        self.size.clear();
        for block in &cones.blocks {
            let (s, z) = (&s[block.clone()], &z[block.clone()]);
            let (of_s, of_z) = (product_of_eigenvalues(s).sqrt(), product_of_eigenvalues(z).sqrt());
            let scaled = dot(s, z) / (of_s * of_z);
            let twice = 2.0 * (0.5 * (1.0 + scaled)).sqrt();
            self.axis.push((s[0] / of_s + z[0] / of_z) / twice);
            let rest = s.iter().zip(z).skip(1);
            self.axis.extend(rest.map(|(s, z)| (s / of_s - z / of_z) / twice));
            self.size.push((of_s / of_z).sqrt());
        }
        self.lambda.clear();
        self.lambda.extend(s.iter().zip(z).take(cones.linear).map(|(s, z)| (s * z).sqrt()));
        self.lambda.extend_from_slice(&z[cones.linear..]);
        for (block, eta) in cones.blocks.iter().zip(&self.size) {
            let (w, x) = (&self.axis[block.clone()], &mut self.lambda[block.clone()]);
            reflect(w, 1.0, x);
            x.iter_mut().for_each(|x| *x *= eta);
        }
        let is_positive = |size: &f64| *size > 0.0 && size.is_finite();
        all_finite(&self.axis)
            && all_finite(&self.lambda)
            && self.axis[..cones.linear].iter().all(is_positive)
            && self.size.iter().all(is_positive)
    }

    pub(super) fn lambda(&self) -> &[f64] {
        &self.lambda
    }

    /// `W⁻¹ x` in place.
    pub(super) fn divide(&self, cones: &Cones, x: &mut [f64]) {
        for (x, w) in x.iter_mut().zip(&self.axis).take(cones.linear) {
            *x /= w;
        }
        for (block, eta) in cones.blocks.iter().zip(&self.size) {
            let (w, x) = (&self.axis[block.clone()], &mut x[block.clone()]);
            reflect(w, -1.0, x);
            x.iter_mut().for_each(|x| *x /= eta);
        }
    }
}

/// `x_0 ← w_0 x_0 ± w_1ᵀx_1`, `x_1 ← x_1 + (± x_0 + w_1ᵀx_1/(1 + w_0)) w_1`: the scaling of a unit
/// vector w̄, or its inverse.
fn reflect(w: &[f64], sign: f64, x: &mut [f64]) {
    let along = dot(&w[1..], &x[1..]);
    let first = w[0] * x[0] + sign * along;
    let share = sign * x[0] + along / (1.0 + w[0]);
    x[0] = first;
    for (x, w) in x.iter_mut().zip(w).skip(1) {
        *x += share * w;
    }
}
