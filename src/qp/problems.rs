//! Seeded problem sets that tests and benches share.
//!
//! Masses, inertias and lengths are those of a small quadruped, so the figures read in its units.

use crate::cone::ConeShape;
use crate::contact_problem::ContactProblemData;

/// A small seeded generator (`SplitMix64`, G. Steele et al. 2014), equal on every machine.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The stream of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D_4C95_7F2D }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Close to standard normal: the centred sum of twelve uniforms.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    /// Uniform integer below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        ((self.uniform() * limit as f64) as usize).min(limit.saturating_sub(1))
    }
}

/// A positive definite problem: `G = BᵀB/(3k) + 0.1 I` and a bias of normal entries × 10.
#[must_use]
pub fn random_definite(seed: u64, contact_count: usize, cone: ConeShape) -> ContactProblemData {
    let mut random = Random::new(seed);
    let n = 3 * contact_count;
    let b: Vec<f64> = (0..n * n).map(|_| random.normal()).collect();
    let mut problem = ContactProblemData::new(contact_count, cone);
    gram(&b, n, n, 1.0 / n.max(1) as f64, &mut problem.inverse_inertia);
    for i in 0..n {
        problem.inverse_inertia[i * n + i] += 0.1;
    }
    problem.bias.iter_mut().for_each(|b| *b = 10.0 * random.normal());
    problem.friction.iter_mut().for_each(|mu| *mu = 0.2 + random.uniform());
    problem.force_scale = 10.0;
    problem
}

/// A rigid body of 9 kg on `contact_count` feet: G has rank at most 6, so more than two contacts
/// are redundant. Every fifth contact has no friction; with `masked` every fourth is inactive.
///
/// The bias is that of a body falling with gravity, a velocity and a wrench, at velocity level with
/// 1 ms steps, so some contacts stick, some slide and some open.
#[must_use]
pub fn rigid_body(
    seed: u64,
    contact_count: usize,
    cone: ConeShape,
    masked: bool,
) -> ContactProblemData {
    let mut random = Random::new(seed);
    let n = 3 * contact_count;
    let (mass, inertia) = (9.0, [0.07, 0.26, 0.24]);
    // J of each row as 6 numbers: the body's velocity is (linear, angular).
    let mut weighted = vec![0.0; 6 * n];
    let mut jacobian = vec![0.0; 6 * n];
    for contact in 0..contact_count {
        let r = [
            0.4 * random.uniform() - 0.2,
            0.3 * random.uniform() - 0.15,
            -0.3 + 0.01 * random.normal(),
        ];
        // v = v₀ + ω × r.
        let cross = [[0.0, r[2], -r[1]], [-r[2], 0.0, r[0]], [r[1], -r[0], 0.0]];
        for axis in 0..3 {
            let row = &mut jacobian[6 * (3 * contact + axis)..][..6];
            row[axis] = 1.0;
            row[3..].copy_from_slice(&cross[axis]);
            let scaled = &mut weighted[6 * (3 * contact + axis)..][..6];
            for i in 0..3 {
                scaled[i] = row[i] / f64::sqrt(mass);
                scaled[3 + i] = row[3 + i] / f64::sqrt(inertia[i]);
            }
        }
    }
    let mut problem = ContactProblemData::new(contact_count, cone);
    gram(&weighted, 6, n, 1.0, &mut problem.inverse_inertia);
    let velocity: Vec<f64> = (0..6).map(|_| 0.01 * random.normal()).collect();
    let mut free = [random.normal(), random.normal(), -9.81, 0.0, 0.0, 0.0];
    for i in 0..3 {
        free[3 + i] = random.normal() / inertia[i];
    }
    for (b, row) in problem.bias.iter_mut().zip(jacobian.chunks_exact(6)) {
        *b = (0..6).map(|i| row[i] * (free[i] + velocity[i] / 1e-3)).sum();
    }
    for contact in 0..contact_count {
        problem.friction[contact] =
            if contact % 5 == 4 { 0.0 } else { 0.3 + 0.6 * random.uniform() };
        if masked && contact % 4 == 1 {
            problem.active[contact] = 0.0;
        }
    }
    problem.force_scale = mass * 9.81 / contact_count.max(1) as f64;
    problem
}

/// `out = scale BᵀB` for a column-major `rows × n` matrix B.
fn gram(b: &[f64], rows: usize, n: usize, scale: f64, out: &mut [f64]) {
    for j in 0..n {
        for i in 0..n {
            let product =
                legwork_linalg::dot(&b[i * rows..(i + 1) * rows], &b[j * rows..(j + 1) * rows]);
            out[j * n + i] = scale * product;
        }
    }
}
