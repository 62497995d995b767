//! Inelastic impacts on closed contacts.
//!
//! Integrating the equation of motion over the instant of impact leaves `M (ν⁺ - ν⁻) = Jᵀ F`, F
//! being the contact impulses. Inelastic means that the impulse removes as much kinetic energy as
//! its constraints allow: `min ½ FᵀGF + Fᵀ J ν⁻`, whose objective *is* the change of kinetic
//! energy. Since F = 0 is allowed, kinetic energy never grows, in no mode.
//!
//! The objective alone lets impulses be as large as friction can use. [`ImpactMode::TwoPhase`]
//! bounds them: first the normal impulses κ that stop the approach, then all components that take
//! out most energy with `Σ F_n ≤ κ` and no approach.
//!
//! A solver's answer leaves an approach of the size of its tolerance. It is removed by small normal
//! impulses, which stay in every cone and, being a minimum of the same objective, cannot raise the
//! energy either.
//!
//! # References
//! - N. Guedelha et al. (2024), eqs. (19)-(24). Their eq. (7) prints `-M ν⁻` on the right-hand
//!   side; it must be `+M ν⁻`, with which eq. (8) agrees.
//! - E. Drumwright, D. Shell, *Modeling contact friction and joint friction in dynamic robotic
//!   simulation using the principle of maximum dissipation*, WAFR 2010: the two phases.

use legwork_linalg::{MinimumNorm, all_finite, axpy, max_abs};
use legwork_qp::{
    Cone, ConeShape, ContactMethod, ContactProblem, ContactProblemData, GeneralActiveSet, Outcome,
    PyramidActiveSet, PyramidFit, Qp, Status,
};

/// What the impulses of an impact may do.
#[doc(alias("inelastic collision", "restitution", "Newton impact"))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema))]
pub enum ImpactMode {
    /// All closed contacts come to rest, tangentially too, and may be pulled: `J ν⁺ = 0`, the
    /// default of the paper. Redundant contacts share the impulse of least norm.
    Stick,
    /// Impulses push along the normals, without friction.
    NormalOnly,
    /// Impulses lie in the friction cones.
    #[default]
    Frictional,
    /// Impulses lie in the friction pyramids, and together push no more than those of `NormalOnly`:
    /// friction does not wedge a body against the ground. Needs a pyramid.
    TwoPhase,
}

/// The data of an impact, as borrowed slices.
#[derive(Clone, Copy, Debug)]
pub struct ImpactProblem<'a> {
    /// G, 3k × 3k: contact velocity per impulse [1/kg].
    pub inverse_inertia: &'a [f64],
    /// Contact velocities before the impact, relative to the ground, 3k [m/s].
    pub velocity: &'a [f64],
    /// μ, k.
    pub friction: &'a [f64],
    /// Nonzero where the contact is closed, k.
    pub closed: &'a [f64],
    /// A typical impulse, > 0 [N s] (e.g. body weight × time step / k).
    pub impulse_scale: f64,
}

/// An impact law with its memory.
#[derive(Clone, Debug)]
pub struct Impact {
    /// What the impulses of an impact may do.
    pub mode: ImpactMode,
    problem: ContactProblemData,
    factor: MinimumNorm,
    /// Impulses of the closed contacts, and G of them.
    reduced: Vec<f64>,
    reduced_inertia: Vec<f64>,
    /// Contact velocities after the impulses so far, 3k.
    after: Vec<f64>,
    normals: PyramidActiveSet,
    pyramid: ConeShape,
    correction: Vec<f64>,
    second: Option<Box<SecondPhase>>,
}

/// Memory of the quadratic program of the second phase.
#[derive(Clone, Debug)]
struct SecondPhase {
    solver: GeneralActiveSet,
    gradient: Vec<f64>,
    rows: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

/// Rows with less than this share of their diagonal of G left are redundant.
const RANK_TOLERANCE: f64 = 1e-11;
/// Approach velocity, relative to the largest velocity before the impact, that counts as zero.
const NO_APPROACH: f64 = 1e-13;
/// Rounds that remove the remaining approach.
const CORRECTIONS: usize = 4;
/// By how much the bounds of the second phase are wider than the first phase's answer, relative.
const SLACK: f64 = 1e-9;

impl Impact {
    /// Memory for `contact_count` contacts with impulses in `cone`.
    #[must_use]
    #[expect(clippy::expect_used, reason = "a constant")]
    pub fn new(mode: ImpactMode, contact_count: usize, cone: ConeShape) -> Self {
        let n = 3 * contact_count;
        let mut factor = MinimumNorm::default();
        factor.reserve(n);
        let second = (mode == ImpactMode::TwoPhase).then(|| {
            let row_count = contact_count * (cone.sides() + 2) + 1;
            Box::new(SecondPhase {
                solver: GeneralActiveSet::new(n, row_count),
                gradient: vec![0.0; n],
                rows: vec![0.0; n * row_count],
                lower: vec![0.0; row_count],
                upper: vec![0.0; row_count],
            })
        });
        let four = Cone::Pyramid { sides: 4, fit: PyramidFit::Inscribed };
        Self {
            mode,
            normals: PyramidActiveSet::new(contact_count, 4),
            pyramid: ConeShape::new(four).expect("a pyramid may have four sides"),
            problem: ContactProblemData::new(contact_count, cone),
            factor,
            reduced: vec![0.0; n],
            reduced_inertia: vec![0.0; n * n],
            after: vec![0.0; n],
            correction: vec![0.0; n],
            second,
        }
    }

    /// The problem of the impulses that was solved last.
    #[must_use]
    pub fn problem(&self) -> &ContactProblemData {
        &self.problem
    }

    /// Solves the impact: writes the impulses F (3k [N s]), which change the velocity of the robot
    /// by `M⁻¹Jᵀ F` and that of the contacts by `G F`.
    ///
    /// `solver` is called in modes [`ImpactMode::NormalOnly`] and [`ImpactMode::Frictional`]. In
    /// the latter two and in [`ImpactMode::TwoPhase`] no closed contact approaches afterwards,
    /// beyond rounding of the velocities before.
    ///
    /// # Panics
    /// If a shape does not fit, or in mode [`ImpactMode::TwoPhase`] if the cone is circular.
    pub fn apply(
        &mut self,
        input: &ImpactProblem<'_>,
        solver: &mut dyn ContactMethod,
        impulses: &mut [f64],
    ) -> Outcome {
        let n = self.problem.bias.len();
        assert_eq!(impulses.len(), n, "impulses need 3k values");
        self.problem.inverse_inertia.copy_from_slice(input.inverse_inertia);
        self.problem.bias.copy_from_slice(input.velocity);
        self.problem.active.copy_from_slice(input.closed);
        self.problem.friction.copy_from_slice(input.friction);
        self.problem.force_scale = input.impulse_scale;
        let outcome = match self.mode {
            ImpactMode::Stick => return self.stick(impulses),
            ImpactMode::NormalOnly | ImpactMode::TwoPhase => {
                self.problem.friction.fill(0.0);
                solver.solve(&self.problem.view(), impulses)
            }
            ImpactMode::Frictional => solver.solve(&self.problem.view(), impulses),
        };
        if !outcome.status.is_usable() {
            return outcome;
        }
        self.stop_approach(impulses);
        if self.mode != ImpactMode::TwoPhase {
            return outcome;
        }
        let outcome = self.second_phase(input.friction, impulses);
        if outcome.status.is_usable() {
            self.stop_approach(impulses);
        }
        outcome
    }

    /// `after ← v + G F`; returns the fastest approach left of a closed contact [m/s].
    fn velocities_after(&mut self, impulses: &[f64]) -> f64 {
        let n = impulses.len();
        self.after.copy_from_slice(&self.problem.bias);
        let columns = self.problem.inverse_inertia.chunks_exact(n.max(1));
        for (column, &impulse) in columns.zip(impulses) {
            if impulse != 0.0 {
                axpy(impulse, column, &mut self.after);
            }
        }
        let contacts = self.after.chunks_exact(3).zip(&self.problem.active);
        contacts.filter(|(_, c)| **c != 0.0).map(|(v, _)| -v[2]).fold(0.0, f64::max)
    }

    /// Removes the approach that a solver has left, by normal impulses.
    fn stop_approach(&mut self, impulses: &mut [f64]) {
        let before = max_abs(&self.problem.bias);
        let scale = self.problem.force_scale;
        self.problem.friction.fill(0.0);
        for _ in 0..CORRECTIONS {
            let approach = self.velocities_after(impulses);
            if approach <= NO_APPROACH * before {
                break;
            }
            // The problem from here on: the remaining approach is its scale.
            self.problem.bias.swap_with_slice(&mut self.after);
            self.problem.force_scale = approach / self.problem.view().mean_diagonal();
            // Without friction all pyramids are equal.
            let problem = ContactProblem { cone: &self.pyramid, ..self.problem.view() };
            let outcome = self.normals.solve(&problem, &mut self.correction);
            self.problem.bias.swap_with_slice(&mut self.after);
            if !outcome.status.is_usable() {
                break;
            }
            axpy(1.0, &self.correction, impulses);
        }
        self.problem.force_scale = scale;
    }

    /// Writes G and v of the closed contacts into `reduced_inertia` and `reduced`, or the gradient
    /// of the second phase; returns how many rows they have.
    fn reduce(&mut self, into_gradient: bool) -> usize {
        let (n, problem) = (self.problem.bias.len(), &self.problem);
        let rows = || (0..n).filter(|&i| problem.active[i / 3] != 0.0);
        let mut entries = self.reduced_inertia.iter_mut();
        for column in rows() {
            for (row, entry) in rows().zip(entries.by_ref()) {
                *entry = problem.inverse_inertia[column * n + row];
            }
        }
        let gradient = match &mut self.second {
            Some(second) if into_gradient => &mut second.gradient,
            _ => &mut self.reduced,
        };
        for (value, row) in gradient.iter_mut().zip(rows()) {
            *value = problem.bias[row];
        }
        rows().count()
    }

    /// All components that take out most energy, bounded by the first phase's impulses.
    #[expect(clippy::expect_used, reason = "the mode is that of `new`")]
    fn second_phase(&mut self, friction: &[f64], impulses: &mut [f64]) -> Outcome {
        let size = self.reduce(true);
        let cone = &self.problem.cone;
        let (sides, contacts) = (cone.sides(), size / 3);
        assert!(sides > 0, "the second phase needs a pyramid, found the circular cone");
        let second = self.second.as_mut().expect("`new` made the second phase of this mode");
        let row_count = contacts * (sides + 2) + 1;
        let inertia = &self.reduced_inertia[..size * size];
        let rows = &mut second.rows[..row_count * size];
        let (lower, upper) = (&mut second.lower[..row_count], &mut second.upper[..row_count]);
        rows.fill(0.0);
        lower.fill(f64::NEG_INFINITY);
        upper.fill(f64::INFINITY);
        let fastest = max_abs(&self.problem.bias);
        let closed = (0..friction.len()).filter(|&i| self.problem.active[i] != 0.0);
        let mut total = 0.0;
        // Rows of a contact: its facets, `F_n ≥ 0`, no approach. The last row of all bounds the
        // sum.
        for (at, contact) in closed.enumerate() {
            let (first, column) = (at * (sides + 2), 3 * at * row_count);
            for (j, &[c, s]) in cone.facets().iter().enumerate() {
                let row = column + first + j;
                rows[row] = c;
                rows[row + row_count] = s;
                rows[row + 2 * row_count] = -cone.facet_friction(friction[contact]);
                upper[first + j] = 0.0;
            }
            let (push, approach) = (first + sides, first + sides + 1);
            rows[column + 2 * row_count + push] = 1.0;
            lower[push] = 0.0;
            for (j, g) in inertia.chunks_exact(size).map(|g| g[3 * at + 2]).enumerate() {
                rows[j * row_count + approach] = g;
            }
            lower[approach] = -second.gradient[3 * at + 2] - SLACK * fastest;
            rows[column + 2 * row_count + row_count - 1] = 1.0;
            total += impulses[3 * contact + 2];
        }
        upper[row_count - 1] = total * (1.0 + SLACK);
        // Kinetic energy after the impact, up to a constant.
        let qp = Qp {
            hessian: inertia,
            gradient: &second.gradient[..size],
            rows,
            row_lower: lower,
            row_upper: upper,
            lower: &[],
            upper: &[],
        };
        let answer = &mut self.reduced[..size];
        let outcome = second.solver.solve(&qp, answer);
        if outcome.status.is_usable() {
            let n = impulses.len();
            impulses.fill(0.0);
            let rows = (0..n).filter(|&i| self.problem.active[i / 3] != 0.0);
            for (row, &value) in rows.zip(answer.iter()) {
                impulses[row] = value;
            }
        }
        outcome
    }

    /// Least-norm solution of `G F = -v` over the closed contacts.
    fn stick(&mut self, impulses: &mut [f64]) -> Outcome {
        let n = impulses.len();
        impulses.fill(0.0);
        let size = self.reduce(false);
        let inertia = &self.reduced_inertia[..size * size];
        // G of closed contacts is semidefinite; what is not has numbers that are not finite.
        let is_semidefinite = self.factor.factor(inertia, size, RANK_TOLERANCE).is_some();
        if !(is_semidefinite && all_finite(&self.reduced[..size])) {
            return Outcome { status: Status::InvalidData, iterations: 0, residual: f64::NAN };
        }
        let before = max_abs(&self.reduced[..size]);
        // A second solve removes the rounding of the first.
        for _ in 0..2 {
            let reduced = &mut self.reduced[..size];
            self.factor.solve(reduced);
            let rows = (0..n).filter(|&i| self.problem.active[i / 3] != 0.0);
            for (row, value) in rows.zip(reduced) {
                impulses[row] -= *value;
            }
            self.velocities_after(impulses);
            let rows = (0..n).filter(|&i| self.problem.active[i / 3] != 0.0);
            for (row, value) in rows.zip(&mut self.reduced) {
                *value = self.after[row];
            }
        }
        let after = max_abs(&self.reduced[..size]);
        let residual = if before > 0.0 { after / before } else { 0.0 };
        let status = if residual < 1e-8 { Status::Solved } else { Status::Inaccurate };
        Outcome { status, iterations: 1, residual }
    }
}
