//! Constraints as virtual spring-dampers, integrated implicitly: stable at any stiffness and step.
//!
//! Joints, limits and contacts with friction are rows `φ̇ = G v` with stiffness K and damping B.
//! Their forces are those of the step's *end*,
//!
//! `λ₁ = -K φ₁ - B φ̇₁`, `φ₁ = φ₀ + h φ̇₁`, `φ̇₁ = G v₁ + h Ġv₀`, `M v₁ = p + h Gᵀλ₁`,
//! `p = M v₀ + h f`,
//!
//! so K = 10¹⁵ N/m at h = 0.1 s is a valid constraint, redundant rows share their load, and no row
//! is rigid, hence nothing is indeterminate. The caller advances the configuration with v₁.
//!
//! # Tour
//!
//! - [`ConstraintProblem`]: the bodies (blocks of M) and [`Law`]s of one step; [`SpringDamper`] and
//!   [`Friction`] are the parameters of a row, [`SpringDamper::hertz`] and
//!   [`SpringDamper::elastic_element`] two ways to obtain them.
//! - [`SoftConstraintSolver::solve`]: v₁ and λ₁.
//! - [`Method`]: the form of the problem. In velocities, sparse (the default); in forces, dense, by
//!   active sets or second-order cones; or as the program of least forces that the paper solves.
//! - [`SoftConstraintSolver::velocity_program`], [`SoftConstraintSolver::force_program`]: the whole
//!   step as a cone program, for files and other solvers; [`contact_problem`]: the same step for
//!   the solvers of [`legwork_qp::ContactProblem`].
//!
//! # One convex problem in velocities
//!
//! With D = h² K + h B a row's impulse `γ = h λ₁` is linear in its velocity u = G v₁, with slope
//! -D. Bilateral rows take it as it is, unilateral rows its positive part, contacts the nearest
//! point of their cone in the metric of 1/D. Each is minus the gradient of a convex ℓ(u), so the
//! step is
//!
//! `min_v ½ (v - v*)ᵀ M (v - v*) + Σ ℓ_i(G_i v)`,
//!
//! strictly convex, without constraints, of nv unknowns however many rows: an elastic
//! foundation of 900 elements under a cube is a problem of six unknowns. Newton's method with exact
//! line search solves it (Castro et al. call this SAP); its matrix `M + Gᵀ C G` is sparse by
//! bodies. For rows without friction it is the linear complementarity problem
//! `0 ≤ λ ⟂ (W + D⁻¹) λ + (G v* - û)/h ≥ 0` with `W = G M⁻¹ Gᵀ`; with bilateral rows alone the
//! linear system of eqs. (59)-(62).
//!
//! An outer iteration makes three things exact that the convex problem does not have: rows too
//! stiff for one linear system in floating point, nonlinear springs (Hertz), and Coulomb's normal
//! force of sliding contacts, which the convex problem makes float at height h μ × slip speed. For
//! the last it iterates the contacts' slips; where those do not converge, as with several contacts
//! of unequal friction under one stiff body, bounds on their friction.
//!
//! # Differences from the paper
//!
//! - The quadratic programs of eqs. (83)-(85) and (176)-(198) are [`Method::LeastForces`]. Their
//!   minimum is the intended law `λ = max(0, …)` where rows do not make each other push more (one
//!   row, a stack), in general not; the other methods solve the law itself. Friction is what their
//!   β requires, `λ_t` as near to the tangential spring-damper as the cone permits, but a contact
//!   never
//!   pushes harder to make that possible.
//! - The force `-M̂ Ġv₀` of eq. (53) is the caller's [`SpringDamper::preload`], zero by default.
//! - Ġv₀ is the caller's [`SpringDamper::rate_bias`]. The paper has it, eq. (39). It does not
//!   change
//!   the order of the constraint's error, about `½ h² |Ġv|` with it and without. But it is
//!   explicit: a pendulum in absolute coordinates at h = 0.1 s gains energy with it and never
//!   without it. Zero gives unconditional stability.
//! - eq. (123) prints φ = +d^{3/2}; here φ is the gap, negative in contact, and the power belongs
//!   to the law. eq. (121) lacks Hertz's 4/3, which [`SpringDamper::hertz`] takes as a factor.
//!   Because the law is met at the end of the step, the depth at rest is Hertz's at every h.
//! - Friction without memory (K_r = 0) creeps at `λ_t / B`; with the paper's `B = 10⁶/h` that is
//!   10⁻⁸ m/s for a newton at h = 0.01 s.
//!
//! # Example
//!
//! A ball of 2 kg that comes within reach of a spring:
//!
//! ```
//! use legwork_contact::soft_constraints::{
//!     BodyIndex, ConstraintProblem, ConstraintSolution, Law, Rows, SoftConstraintSolver,
//!     SpringDamper,
//! };
//!
//! let (h, m, k, b) = (0.01, 2.0, 1e5, 10.0);
//! let step = |gap: f64, speed: f64| {
//!     let mut problem = ConstraintProblem::new(&[1], h);
//!     problem.set_mass(BodyIndex(0), &[m]);
//!     problem.set_momentum(&[speed], &[-9.81 * m]);
//!     problem.push(Rows::Dense(&[1.0]), Law::Unilateral(SpringDamper::new(gap, k, b)));
//!     let mut after = ConstraintSolution { velocity: vec![speed], ..Default::default() };
//!     let outcome = SoftConstraintSolver::default().solve(&problem, &mut after);
//!     assert!(outcome.status.is_usable());
//!     after
//! };
//!
//! // The force is that at the end of the step: m (v₁ - v₀) = h (λ₁ - m g).
//! let (gap, speed) = (1e-3, -0.3);
//! let after = step(gap, speed);
//! let (v, force) = (after.velocity[0], after.forces[0]);
//! assert!((force + k * (gap + h * v) + b * v).abs() < 1e-9 * force);
//! assert!((m * (v - speed) - h * (force - 9.81 * m)).abs() < 1e-12);
//!
//! // Out of reach the force is zero.
//! assert_eq!(step(1e-2, speed).forces[0], 0.0);
//! ```
//!
//! # References
//!
//! E. M. Drumwright, *An unconditionally stable first-order constraint solver for multibody
//! systems* (2019).
//!
//! A. M. Castro, F. N. Permenter, X. Han, *An unconstrained convex formulation of compliant
//! contact*, IEEE Trans. Robotics (2022).

mod dense_view;
mod energy;
mod force_program;
mod lag;
mod least_forces;
mod local_law;
mod newton;
mod options;
mod problem;
mod products;
mod solver;
mod squares;
mod velocity_program;

pub use dense_view::{ViewError, contact_problem};
pub use options::{ConstraintSolution, FrictionLaw, Method, ProgramSolver, SolverOptions};
pub use problem::{
    BodyIndex, ConstraintIndex, ConstraintProblem, Friction, Law, Rows, SpringDamper,
};
pub use solver::SoftConstraintSolver;
