//! How the solution of a step changes with its problem: the implicit function theorem.
//!
//! At the solution `M v₁ = p + Gᵀγ(G v₁)`, so a change of the problem changes v₁ by
//!
//! `(M + Gᵀ C G) dv = dp - dM v₁ + dGᵀγ + Gᵀ dγ`,
//!
//! with C the curvatures (`-∂γ/∂u`) of the laws and dγ their change at constant v. The matrix is
//! that of Newton's method; the lagged quantities (see [`super::local_law`]) follow by the same
//! fixed-point iteration that the solver uses, so stiff rows lose no accuracy here either. At the
//! exact transition between open, sticking and sliding this is a one-sided derivative.

use super::local_law::LawChange;
use super::newton::{row_values, set_row_values};
use super::options::{ConstraintSolution, FrictionLaw, Method};
use super::problem::{ConstraintIndex, ConstraintProblem, Law, Rows};
use super::solver::SoftConstraintSolver;
use legwork_qp::{Outcome, Status};

/// Passes of the fixed-point iteration.
const PASS_LIMIT: u32 = 200;
/// Relative residual at which the iteration ends.
const TOLERANCE: f64 = 1e-12;
/// Relative residual below which a pass that no longer halves it is limited by round-off.
const ROUND_OFF: f64 = 1e-7;

/// Change of a constraint's numbers; see [`super::SpringDamper`] and [`super::Friction`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LawTangent {
    /// Of (φ_r, φ_s, φ₀) [m].
    pub deformation: [f64; 3],
    /// Of the tangential and of the normal or only K [N/m].
    pub stiffness: [f64; 2],
    /// Of the tangential and of the normal or only B [N s/m].
    pub damping: [f64; 2],
    /// Of (Ġ_r v₀, Ġ_s v₀, Ġv₀) [m/s²].
    pub rate_bias: [f64; 3],
    /// Of the preload [N].
    pub preload: f64,
    /// Of μ [1].
    pub friction: f64,
}

/// A direction in which a problem changes.
#[derive(Clone, Debug, Default)]
pub struct ProblemTangent {
    /// `dp - dM v₁ + h dGᵀλ₁`, nv; the last term is [`Self::add_rows`]'s [N s].
    pub momentum: Vec<f64>,
    /// `dG v₁` of all rows [m/s]; written by [`Self::add_rows`].
    pub row_velocity: Vec<f64>,
    /// Changes of the laws, by constraint.
    pub laws: Vec<LawTangent>,
}

impl ProblemTangent {
    /// No change.
    #[must_use]
    pub fn zero(problem: &ConstraintProblem) -> Self {
        Self {
            momentum: vec![0.0; problem.velocity_dim()],
            row_velocity: vec![0.0; problem.row_count()],
            laws: vec![LawTangent::default(); problem.constraint_count()],
        }
    }

    /// Adds a change dG of a constraint's rows at this solution.
    ///
    /// # Panics
    /// If the rows have the wrong size.
    pub fn add_rows(
        &mut self,
        problem: &ConstraintProblem,
        solution: &ConstraintSolution,
        constraint: ConstraintIndex,
        change: Rows<'_>,
    ) {
        let range = problem.rows_of(constraint);
        let (count, h) = (range.len(), problem.time_step);
        let forces = &solution.forces[range.clone()];
        let mut add = |columns: std::ops::Range<usize>, g: &[f64]| {
            assert_eq!(g.len(), count * columns.len(), "expected {count} rows per velocity");
            for (column, j) in g.chunks_exact(count).zip(columns) {
                for (i, g) in column.iter().enumerate() {
                    self.row_velocity[range.start + i] += g * solution.velocity[j];
                    self.momentum[j] += h * g * forces[i];
                }
            }
        };
        match change {
            Rows::Dense(g) => add(0..problem.velocity_dim(), g),
            Rows::Bodies(parts) => {
                for &(body, g) in parts {
                    add(problem.velocities_of(body), g);
                }
            }
        }
    }
}

impl SoftConstraintSolver {
    /// Factors the derivative's matrix at a solution that [`Self::solve`] has just found.
    ///
    /// `NumericalTrouble` if the matrix has no factor; `InvalidData` for
    /// [`FrictionLaw::Associated`] with a nonlinear law under friction and for other methods than
    /// [`Method::Velocities`], whose derivatives are not offered.
    pub fn linearise(
        &mut self,
        problem: &ConstraintProblem,
        solution: &ConstraintSolution,
    ) -> Status {
        let is_relaxed = self.options.friction_law == FrictionLaw::Associated;
        let is_nonlinear = |law: &Law| match law {
            Law::Contact(normal, friction) => normal.exponent != 1.0 && friction.coefficient > 0.0,
            _ => false,
        };
        let nonlinear = problem.constraints().iter().any(|c| is_nonlinear(&c.law));
        let is_ours = self.options.method == Method::Velocities
            && self.laws.len() == problem.constraint_count();
        if !is_ours || (is_relaxed && nonlinear) {
            return Status::InvalidData;
        }
        match self.newton.factor_at(problem, &self.laws, &solution.velocity) {
            Some(()) => Status::Solved,
            None => Status::NumericalTrouble,
        }
    }

    /// `dv₁` and `dλ₁` for a change of the problem, after [`Self::linearise`].
    ///
    /// O(pattern of the factor) per pass; one pass and a check unless contacts slide or rows are
    /// stiff. Allocates. The residual of the outcome is that of the linear equation, relative.
    ///
    /// # Panics
    /// If the tangent is not that of a problem of this size.
    pub fn derivative(
        &mut self,
        problem: &ConstraintProblem,
        tangent: &ProblemTangent,
        change: &mut ConstraintSolution,
    ) -> Outcome {
        let (nv, rows) = (problem.velocity_dim(), problem.row_count());
        let sizes = (tangent.momentum.len(), tangent.row_velocity.len(), tangent.laws.len());
        assert_eq!(sizes, (nv, rows, problem.constraint_count()), "the tangent has other sizes");
        change.velocity.clear();
        change.velocity.resize(nv, 0.0);
        change.forces.clear();
        change.forces.resize(rows, 0.0);
        // Multipliers and slips lag by a pass, as in the step itself.
        let (mut multipliers, mut slips) = (vec![0.0; rows], vec![0.0; problem.constraint_count()]);
        let mut next_slips = slips.clone();
        let (mut row_velocity, mut impulses) = (vec![0.0; rows], vec![0.0; rows]);
        let (mut residual, mut product) = (vec![0.0; nv], vec![0.0; nv]);
        let mut last = f64::INFINITY;
        for pass in 0..PASS_LIMIT {
            let lagged = (&multipliers[..], &slips[..]);
            self.impulse_change(
                problem,
                tangent,
                &change.velocity,
                lagged,
                &mut row_velocity,
                &mut impulses,
                &mut next_slips,
            );
            // What is left of `M dv = dp + Gᵀ dγ`, beside its terms.
            residual.copy_from_slice(&tangent.momentum);
            problem.add_transposed_rows_times(&impulses, &mut residual);
            problem.mass_times(&change.velocity, &mut product);
            let scale = self
                .momentum_norm(&tangent.momentum)
                .max(self.momentum_norm(&product))
                .max(self.momentum_norm(&residual));
            residual.iter_mut().zip(&product).for_each(|(r, p)| *r -= p);
            let norm = self.momentum_norm(&residual);
            let relative = if norm == 0.0 { 0.0 } else { norm / scale };
            let is_round_off = relative <= ROUND_OFF && norm > 0.5 * last;
            if relative <= TOLERANCE || is_round_off || !relative.is_finite() {
                let ok = relative.is_finite();
                let status = if ok { Status::Solved } else { Status::NumericalTrouble };
                for (force, impulse) in change.forces.iter_mut().zip(&impulses) {
                    *force = impulse / problem.time_step;
                }
                return Outcome { status, iterations: pass, residual: relative };
            }
            // A Newton step with the factor of the solution; the next pass lags behind it.
            last = norm;
            self.newton.solve(&mut residual);
            change.velocity.iter_mut().zip(&residual).for_each(|(v, r)| *v += r);
            self.impulse_change(
                problem,
                tangent,
                &change.velocity,
                lagged,
                &mut row_velocity,
                &mut impulses,
                &mut next_slips,
            );
            multipliers.copy_from_slice(&impulses);
            slips.copy_from_slice(&next_slips);
        }
        Outcome { status: Status::MaxIterations, iterations: PASS_LIMIT, residual: last }
    }

    fn momentum_norm(&self, x: &[f64]) -> f64 {
        let diagonal = &self.newton.mass_diagonal;
        x.iter().zip(diagonal).map(|(x, m)| x * x / m).sum::<f64>().sqrt()
    }

    /// Changes of impulses and slips at a change of velocity and these of the lagged quantities.
    #[expect(clippy::too_many_arguments, reason = "three buffers that the caller owns")]
    fn impulse_change(
        &self,
        problem: &ConstraintProblem,
        tangent: &ProblemTangent,
        velocity: &[f64],
        (multipliers, slips): (&[f64], &[f64]),
        row_velocity: &mut [f64],
        impulses: &mut [f64],
        next_slips: &mut [f64],
    ) {
        let (h, is_coulomb) =
            (problem.time_step, self.options.friction_law == FrictionLaw::Coulomb);
        problem.rows_times(velocity, row_velocity);
        row_velocity.iter_mut().zip(&tangent.row_velocity).for_each(|(u, d)| *u += d);
        for (i, constraint) in problem.constraints().iter().enumerate() {
            let (first, rows) = (constraint.first_row, constraint.law.row_count());
            let u = row_values(&self.newton.row_velocity, first, rows);
            let mut change =
                self.law_change(&constraint.law, self.laws[i].slope(), u, h, &tangent.laws[i]);
            change.u = row_values(row_velocity, first, rows);
            change.multiplier = row_values(multipliers, first, rows);
            change.slip = slips[i];
            let (impulse, slip) = self.laws[i].change(u, self.lags[i].slip, &change);
            set_row_values(impulses, first, rows, impulse);
            next_slips[i] = if is_coulomb { slip } else { 0.0 };
        }
    }

    /// Changes of a law's numbers at constant u: of `γ = h (K sgn(d₁) |d₁|^e + λ_p - B φ̇₁)` and of
    /// D.
    fn law_change(
        &self,
        law: &Law,
        slope: f64,
        u: [f64; 3],
        h: f64,
        tangent: &LawTangent,
    ) -> LawChange {
        let normal = law.normal();
        let rate = u[2] + h * normal.rate_bias;
        let depth = -(normal.deformation + h * rate);
        let power = depth.signum() * libm::pow(depth.abs(), normal.exponent);
        let d_n = h * (h * slope + normal.damping);
        let mut change = LawChange { friction: tangent.friction, ..LawChange::default() };
        change.law[2] = h
            * (power * tangent.stiffness[1] - slope * tangent.deformation[2] + tangent.preload
                - rate * tangent.damping[1]
                - d_n * tangent.rate_bias[2]);
        change.conductance[1] = h * (h * tangent.stiffness[1] + tangent.damping[1]);
        if let Law::Contact(_, friction) = law {
            let d_t = h * (h * friction.stiffness + friction.damping);
            change.conductance[0] = h * (h * tangent.stiffness[0] + tangent.damping[0]);
            for (i, u) in u.iter().take(2).enumerate() {
                let rate = u + h * friction.rate_bias[i];
                let deformation = friction.deformation[i] + h * rate;
                change.law[i] = -h
                    * (deformation * tangent.stiffness[0]
                        + friction.stiffness * tangent.deformation[i]
                        + rate * tangent.damping[0]
                        + d_t * tangent.rate_bias[i]);
            }
        }
        change
    }
}
