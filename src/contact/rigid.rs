//! Rigid contact by Gauss's principle of least constraint, at velocity and at acceleration level.
//!
//! # Velocity level (default)
//!
//! Semi-implicit Euler advances `ν⁺ = ν + Δt (ν̇_f + M⁻¹Jᵀ f)` and then the configuration with ν⁺.
//! The contact velocity after the step is `v⁺ = J ν⁺`, J taken at the known configuration, and the
//! gap is `φ⁺ = φ + Δt v_n⁺` to first order. Divided by Δt (normal rows once more):
//!
//! `a = v⁺/Δt + e_n φ/Δt² = G f + b`, `b = J ν̇_f + J ν/Δt + e_n φ/Δt²`,
//!
//! so `a_n ≥ 0` says `φ⁺ ≥ 0`, and `f_n a_n = 0` says that force acts only where the gap closes.
//! The constraint is on `J(q) ν⁺`, so no `J̇ν` appears. A contact far from
//! the ground has a large positive b_n and no force; touchdown needs no event; what touches stays
//! at `φ = 0` and does not drift.
//!
//! The solvers minimise one convex objective for normal and friction forces together. Its
//! optimality couples the two: a sliding contact has `a_n = μ |a_t|` instead of 0, that is a gap of
//! `Δt μ |v_t|` (0.7 mm at 1 m/s, 1 ms and μ = 0.7). In steady sliding normal force and friction
//! are right on average. But a contact that *begins* to slide on the ground takes up that gap
//! within one step, so it leaves the ground at `μ |v_t|` and comes back after a flight of `2 μ
//! |v_t|/g`. Where feet touch down with slip, or slip at speed, wrap the solver in
//! [`legwork_qp::CoulombFixedPoint`], which removes the coupling.
//!
//! # Penetration
//!
//! With φ < 0 the row would require a velocity of `-φ/Δt` out of the ground: 1 mm in 1 ms is 1 m/s,
//! a jump of 5 cm. [`RecoveryLimit`] caps it, so that recovery injects at most `½ v²/G_nn` per
//! contact, and nothing if the speed is zero.
//!
//! # Acceleration level
//!
//! `b = J ν̇_f + J̇ν (+ J ν/Δt)` for closed contacts only: paper eqs. (13)-(18), the last term
//! being that of (13c). Without that term a contact that already slides at constant speed has no
//! tangential *acceleration* to oppose, so friction at constant speed is lost; errors in velocity
//! and position are never corrected, so contacts drift; and touchdown needs an [`crate::impact`].
//!
//! # Assembly
//!
//! Only rows that matter are computed: those of active contacts, without tangential rows that are
//! zero, as those of a joint limit. With `M = CᵀC` and `W = J C⁻¹`, `G = W Wᵀ` and `J ν̇_f = W z`
//! for `z = C ν̇_f = C⁻ᵀ(Sᵀτ + f_ext − h)`. Closed chains act on W and z by [`ClosedChain`].
//!
//! # References
//! - N. Guedelha, V. Pasandi et al., *A flexible MATLAB/Simulink simulator for robotic
//!   floating-base systems in contact with the ground* (2024), eqs. (13)-(18).
//! - D. Stewart, J. Trinkle, *An implicit time-stepping scheme for rigid body dynamics with
//!   inelastic collisions and Coulomb friction*, Int. J. Numer. Meth. Eng. 39 (1996).
//! - M. Anitescu, *Optimization-based simulation of nonsmooth rigid multibody dynamics*, Math.
//!   Program. 105 (2006): the convex relaxation and its artefact.

use legwork_linalg::all_finite;
use legwork_mechanics::{ClosedChain, MassFactorRef, WeightedJacobian};

/// How fast a penetrating contact may be pushed out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecoveryLimit {
    /// Share β of the penetration to remove per step, in [0, 1].
    pub fraction: f64,
    /// Highest speed out of the ground that recovery may cause, ≥ 0 [m/s].
    pub max_speed: f64,
}

impl Default for RecoveryLimit {
    /// β = 0.2 and 0.02 m/s, from which a body jumps 0.02 mm.
    fn default() -> Self {
        Self { fraction: 0.2, max_speed: 0.02 }
    }
}

impl RecoveryLimit {
    /// How far a contact may come nearer in this step [m]: φ, or `-min(β |φ|, v_max Δt)` inside the
    /// ground, which it must go out.
    #[must_use]
    pub fn way(&self, gap: f64, time_step: f64) -> f64 {
        if gap < 0.0 { (self.fraction * gap).max(-self.max_speed * time_step) } else { gap }
    }
}

/// What gives way under a contact.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ground {
    /// Stiffness K and damping D of linear springs, `(K, D)` [N/m, N s/m]; `None` for rigid
    /// contacts.
    pub spring: Option<(f64, f64)>,
    /// How fast overlap is removed from rigid contacts.
    pub recovery: RecoveryLimit,
}

impl Ground {
    /// The gap term γ of b and the compliance R of a normal row with the gap φ [m/s², 1/kg].
    ///
    /// Rigid ground: `γ = way(φ)/Δt²`, R = 0. With springs `f = −K (φ + Δt v⁺) − D v⁺`, so `R =
    /// 1/(Δt (K Δt + D))` and `γ = K φ R`; D only in overlap.
    #[must_use]
    pub fn terms(&self, gap: f64, time_step: f64) -> (f64, f64) {
        match self.spring {
            None => (self.recovery.way(gap, time_step) / (time_step * time_step), 0.0),
            Some((stiffness, damping)) => {
                let damping = if gap < 0.0 { damping } else { 0.0 };
                let compliance = 1.0 / (time_step * (stiffness * time_step + damping));
                (stiffness * gap * compliance, compliance)
            }
        }
    }
}

/// The rows of k contacts that an assembly completes.
#[derive(Debug)]
pub struct ContactRows<'a> {
    /// Nonzero where a contact acts, k.
    pub active: &'a [f64],
    /// J, 3k × nv, column-major: zero in contacts that do not act. That of the closed mechanism
    /// afterwards, so that `J M⁻¹ Jᵀ` is G.
    pub jacobian: &'a mut [f64],
    /// What acts on b beside the motion, 3k: `Jν/Δt`, `J̇ν`. Afterwards with `J ν̇_f`, and zero in
    /// rows that were left out.
    pub bias: &'a mut [f64],
    /// G, 3k × 3k, written.
    pub inverse_inertia: &'a mut [f64],
    /// If given, G is zero but in the rows and columns of contacts that are nonzero here, k: where
    /// it was written last, few of many contacts acted.
    pub was_active: Option<&'a [f64]>,
    /// μ, k: set to zero where there are no tangential rows.
    pub friction: &'a mut [f64],
}

/// The assembled rows of a contact.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// The first of them among 3k.
    row: usize,
    /// The first of them among those assembled.
    at: usize,
    /// Whether there are three, or the normal row alone.
    has_three: bool,
}

impl Part {
    /// Copies its numbers from one column, from some place in it, to another.
    #[inline(always)]
    fn copy(self, (from, start): (&[f64], usize), (to, target): (&mut [f64], usize)) {
        // Of known length, a copy is two instructions.
        match (from[start..].first_chunk::<3>(), to[target..].first_chunk_mut::<3>()) {
            (Some(from), Some(to)) if self.has_three => *to = *from,
            _ => to[target] = from[start],
        }
    }
}

/// `G ← 0`, which is zero already but in the rows and columns of contacts that `was_active`.
fn clear(inverse_inertia: &mut [f64], was_active: Option<&[f64]>) {
    let Some(was_active) = was_active else { return inverse_inertia.fill(0.0) };
    let all = 3 * was_active.len();
    let acted = || was_active.iter().enumerate().filter(|(_, active)| **active != 0.0);
    for (c, _) in acted() {
        for column in inverse_inertia[3 * c * all..3 * (c + 1) * all].chunks_exact_mut(all) {
            acted().for_each(|(i, _)| column[3 * i..3 * i + 3].fill(0.0));
        }
    }
}

/// Assembles the problem of rigid contact.
#[derive(Clone, Debug)]
pub struct ContactAssembly {
    /// Index of each assembled row among 3k.
    rows: Vec<usize>,
    /// Those of each contact.
    parts: Vec<Part>,
    /// Those rows of J.
    jacobian: Vec<f64>,
    weighted: WeightedJacobian,
    /// G of those rows.
    inertia: Vec<f64>,
    /// One number for each of those rows.
    values: Vec<f64>,
}

impl ContactAssembly {
    /// Memory for `contact_count` contacts of a world with nv = `velocity_dim`.
    #[must_use]
    pub fn new(contact_count: usize, velocity_dim: usize) -> Self {
        let rows = 3 * contact_count;
        Self {
            rows: Vec::with_capacity(rows),
            parts: Vec::with_capacity(contact_count),
            jacobian: vec![0.0; rows * velocity_dim],
            weighted: WeightedJacobian::new(velocity_dim, rows),
            inertia: vec![0.0; rows * rows],
            values: vec![0.0; rows],
        }
    }

    /// `G = J M⁻¹ Jᵀ` and `b ← b + J ν̇_f`, both of the closed mechanism if `chain` is not open.
    /// Whether G and the J of a closed mechanism are finite.
    ///
    /// | symbol | argument | shape | meaning |
    /// |---|---|---|---|
    /// | M = CᵀC | `factor` | nv × nv | mass matrix, by its factor |
    /// | z = C ν̇_f | `motion` | nv | motion without contact forces; what `chain` leaves of it after |
    /// | J, b, G, μ | `out` | | see [`ContactRows`] |
    ///
    /// # Panics
    /// If a shape does not fit.
    pub fn respond(
        &mut self,
        factor: MassFactorRef<'_>,
        motion: &mut [f64],
        chain: &mut ClosedChain,
        out: &mut ContactRows<'_>,
    ) -> bool {
        let all = 3 * out.active.len();
        let Self { rows, parts, jacobian, weighted, inertia, values } = self;
        assert_eq!(out.jacobian.len(), all * motion.len(), "J needs 3k x nv values");
        assert_eq!((out.bias.len(), out.inverse_inertia.len()), (all, all * all), "b and G of 3k");

        // The rows that matter. What has no tangential rows has no friction.
        rows.clear();
        parts.clear();
        for (i, _) in out.active.iter().enumerate().filter(|(_, active)| **active != 0.0) {
            let mut columns = out.jacobian.chunks_exact(all);
            let has_tangent = columns.any(|j| j[3 * i] != 0.0 || j[3 * i + 1] != 0.0);
            if !has_tangent {
                out.friction[i] = 0.0;
            }
            let row = if has_tangent { 3 * i } else { 3 * i + 2 };
            parts.push(Part { row, at: rows.len(), has_three: has_tangent });
            rows.extend(row..3 * i + 3);
        }
        // If those are not all, the rest works on a copy without the others.
        let count = rows.len();
        let is_whole = count == all;
        let size = count * motion.len();
        if !is_whole && count > 0 {
            let columns = out.jacobian.chunks_exact(all);
            for (to, from) in jacobian.chunks_exact_mut(count).zip(columns) {
                parts.iter().for_each(|part| part.copy((from, part.row), (to, part.at)));
            }
        }
        let (j, g) = match is_whole {
            true => (&mut *out.jacobian, &mut *out.inverse_inertia),
            false => (&mut jacobian[..size], &mut inertia[..count * count]),
        };
        let values = &mut values[..count];

        // b ← b + W z, with W = J C⁻¹. The chain takes from z what it forbids.
        weighted.set(factor, j, count);
        chain.constrain(motion);
        weighted.product_into(motion, values);
        let mut rest = 0;
        for (&row, value) in rows.iter().zip(&*values) {
            out.bias[rest..row].fill(0.0);
            out.bias[row] += value;
            rest = row + 1;
        }
        out.bias[rest..].fill(0.0);

        // G = W Wᵀ; in a closed mechanism only what the chain leaves of W acts.
        chain.project(weighted, j);
        weighted.gram_into(g);
        let is_finite = all_finite(g) && (chain.rank() == 0 || all_finite(j));
        // Back among the rows that do not matter.
        if is_whole {
            return is_finite;
        }
        // Where the same contacts act with all their rows, all that was written is written again.
        let is_same = out.was_active == Some(out.active) && parts.iter().all(|part| part.has_three);
        if !is_same {
            clear(out.inverse_inertia, out.was_active);
        }
        if count == 0 {
            return is_finite;
        }
        for (&column, from) in rows.iter().zip(inertia[..count * count].chunks_exact(count)) {
            let to = &mut out.inverse_inertia[column * all..(column + 1) * all];
            parts.iter().for_each(|part| part.copy((from, part.at), (to, part.row)));
        }
        if chain.rank() > 0 {
            let columns = jacobian[..size].chunks_exact(count);
            for (to, from) in out.jacobian.chunks_exact_mut(all).zip(columns) {
                rows.iter().zip(from).for_each(|(&row, j)| to[row] = *j);
            }
        }
        is_finite
    }

    /// Whether assembled row `at` is the normal row of a contact without tangential rows.
    fn is_alone(&self, at: usize) -> bool {
        self.rows[at] % 3 == 2 && (at == 0 || self.rows[at - 1] + 1 != self.rows[at])
    }

    /// Mean diagonal of G over the rows of contacts with tangential rows, or over all if none has;
    /// 1 if it is zero, so that it can scale. Rows of a joint limit have units of their own.
    #[must_use]
    pub fn mean_diagonal(&self, inverse_inertia: &[f64]) -> f64 {
        let all = inverse_inertia.len().isqrt();
        let mean = |is_counted: &dyn Fn(usize) -> bool| {
            let counted = (0..self.rows.len()).filter(|&at| is_counted(at));
            let (sum, count) = counted.fold((0.0, 0.0), |(sum, count), at| {
                (sum + inverse_inertia[self.rows[at] * (all + 1)], count + 1.0)
            });
            (sum > 0.0).then(|| sum / count)
        };
        mean(&|at| !self.is_alone(at)).or_else(|| mean(&|_| true)).unwrap_or(1.0)
    }

    /// R = ε times the mean diagonal of G, ε being the `regularisation`; and where contacts have
    /// gaps, at velocity level, the ground's terms in the normal rows: `b += γ(φ)`, `R += R(φ)`.
    ///
    /// | symbol | argument | shape | meaning |
    /// |---|---|---|---|
    /// | φ | `ground` | k | the ground and the gaps; none at acceleration level |
    /// | G | `inverse_inertia` | 3k × 3k | of the last [`Self::respond`] |
    /// | b, R | `bias`, `compliance` | 3k | |
    ///
    /// # Panics
    /// If a shape does not fit.
    pub fn yield_rows(
        &self,
        ground: Option<(&Ground, &[f64])>,
        time_step: f64,
        regularisation: f64,
        inverse_inertia: &[f64],
        (bias, compliance): (&mut [f64], &mut [f64]),
    ) {
        let all = bias.len();
        compliance.fill(regularisation * self.mean_diagonal(inverse_inertia));
        for (at, &row) in self.rows.iter().enumerate().filter(|(_, row)| **row % 3 == 2) {
            let is_alone = self.is_alone(at);
            let own = inverse_inertia[row * (all + 1)];
            if is_alone && own > 0.0 {
                compliance[row - 2..=row].fill(regularisation * own);
            }
            let Some((ground, gaps)) = ground else { continue };
            // The stop of a joint does not give way with the ground.
            let rigid = Ground { spring: None, ..*ground };
            let ground = if is_alone { &rigid } else { ground };
            let (gap_term, of_ground) = ground.terms(gaps[row / 3], time_step);
            bias[row] += gap_term;
            compliance[row] += of_ground;
        }
    }

    /// `z ← z + Wᵀ f`: what contact forces (3k) add to the motion `C ν̇`, or impulses to `C ν`.
    ///
    /// # Panics
    /// If a shape does not fit.
    pub fn add_forces(&mut self, forces: &[f64], motion: &mut [f64]) {
        let values = &mut self.values[..self.rows.len()];
        values.iter_mut().zip(&self.rows).for_each(|(value, &row)| *value = forces[row]);
        self.weighted.add_transposed_product(values, motion);
    }
}
