//! Forward dynamics under equality constraints.
//!
//! Of all accelerations with `J ν̇ + γ = 0` the robot takes the one nearest to its free
//! acceleration in the metric of `M` (Gauss's principle):
//!
//! ```text
//! M ν̇ = Sᵀτ + f_ext − h + Jᵀλ          J ν̇ + γ = 0
//! ```
//!
//! That is [`ClosedChain`] for rows of any units, between the forces and ν̇.
//!
//! Reference: F. E. Udwadia, R. E. Kalaba, *A new perspective on constrained motion* (1992);
//! R. Featherstone, *Rigid Body Dynamics Algorithms* (2008), sec. 8.

use crate::closed_chain::ClosedChain;
use crate::forward_dynamics::generalised_force;
use crate::mass_factor::MassFactor;
use crate::model::Model;

/// Scratch memory of [`constrained_forward_dynamics`].
#[derive(Clone, Debug)]
pub struct ConstrainedDynamics {
    chain: ClosedChain,
    row_count: usize,
}

/// Result of [`constrained_forward_dynamics`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constrained {
    /// Number of independent rows.
    pub rank: usize,
    /// Largest `|J ν̇ + γ|` over the dependent rows [units of γ]: beyond rounding, the constraints
    /// contradict one another.
    pub residual: f64,
}

/// Input of [`constrained_forward_dynamics`].
#[derive(Clone, Copy, Debug)]
pub struct ConstraintProblem<'a> {
    /// `J` (nc × nv, column-major).
    pub jacobian: &'a [f64],
    /// `γ` (nc): `J̇ν`, plus stabilisation terms if wanted; `J ν̇ + γ = 0`.
    pub bias: &'a [f64],
    /// `h` (nv).
    pub bias_force: &'a [f64],
    /// `τ` (n).
    pub joint_torques: &'a [f64],
    /// `f_ext` (nv), generalised.
    pub external_force: &'a [f64],
}

impl ConstrainedDynamics {
    /// Memory for `model` under `row_count` constraint rows.
    #[must_use]
    pub fn new(model: &Model, row_count: usize) -> Self {
        let chain = ClosedChain::new(row_count, model.velocity_dim(), 0).of_any_units();
        Self { chain, row_count }
    }
}

/// Forward dynamics under the equality constraints `J ν̇ + γ = 0`.
///
/// | symbol | argument | shape | meaning |
/// |---|---|---|---|
/// | M | `factor` | nv × nv | mass matrix, by its factor |
/// | J, γ, h, τ, f_ext | `problem` | | see [`ConstraintProblem`] |
/// | λ | `multipliers` | nc | constraint forces on the robot; zero in dependent rows |
/// | ν̇ | `out` | nv | [m/s², rad/s², rad/s² or m/s²] |
///
/// Where rows depend on one another λ is not unique: this is a solution with few entries, ν̇ is
/// the same for all. O(nc nv (depth + rank)), allocates nothing.
///
/// # Panics
/// If a slice has the wrong length or the workspace was made for another number of rows.
#[doc(alias("KKT dynamics", "Gauss principle", "loop closure"))]
pub fn constrained_forward_dynamics(
    model: &Model,
    factor: &MassFactor,
    problem: &ConstraintProblem<'_>,
    workspace: &mut ConstrainedDynamics,
    multipliers: &mut [f64],
    out: &mut [f64],
) -> Constrained {
    let nc = problem.bias.len();
    assert_eq!(workspace.row_count, nc, "rows of the workspace");
    assert_eq!(multipliers.len(), nc, "length of multipliers");
    let ConstraintProblem { jacobian, bias, .. } = problem;
    let ConstraintProblem { bias_force, joint_torques, external_force, .. } = problem;
    assert_eq!(jacobian.len(), nc * model.velocity_dim(), "length of jacobian");
    generalised_force(model, bias_force, joint_torques, external_force, out);
    if nc == 0 {
        factor.solve_in_place(out);
        return Constrained { rank: 0, residual: 0.0 };
    }

    let (factor, chain) = (factor.view(), &mut workspace.chain);
    chain.clear();
    for (row, &bias) in bias.iter().enumerate() {
        chain.push(row, jacobian.iter().skip(row).step_by(nc).copied(), bias);
    }
    chain.eliminate(factor);

    // From forces to z = C ν̇ of the free robot, to that of the constrained one, to ν̇.
    factor.half_solve_in_place(out);
    chain.constrain(out);
    chain.forces_into(multipliers);
    let found = Constrained { rank: chain.rank(), residual: chain.residual(out) };
    factor.half_solve_transposed_in_place(out);
    found
}
