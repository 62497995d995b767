//! What a solve is asked for, and what it answers.

use legwork_qp::{Cone, ConeProgram, Outcome};

/// The form of problem in which a step is solved.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Method {
    /// Convex minimisation over velocities by Newton's method, with circular cones: sparse, for
    /// thousands of bodies and any number of rows.
    #[default]
    Velocities,
    /// The same law as a program in forces, dense in all rows: by the dual active-set method, warm,
    /// or by Clarabel if a contact has friction and the cone is circular.
    Forces {
        /// The friction cone.
        cone: Cone,
    },
    /// Drumwright's program (eqs. 83-85, 176-198) by the active-set method, or by conic least squares
    /// if a contact has friction and the cone is circular: the law where rows do not make each other
    /// push more, in general not.
    LeastForces {
        /// ζ, > 0, the weight of normal and unilateral forces against tangential ones [1]; the
        /// paper's is 1/h with h in seconds. A sliding contact is pressed on unless it exceeds
        /// about `(h B W)²`, with the tangential B and W = G M⁻¹ Gᵀ; a body on several contacts
        /// creeps if it does.
        zeta: f64,
        /// The friction cone.
        cone: Cone,
    },
}

/// A solver of the programs in forces in the place of [`Method`]'s own: writes the unknowns and
/// says how it ended. A program without cones is a quadratic one.
pub type ProgramSolver<'a> = dyn FnMut(&ConeProgram<'_>, &mut [f64]) -> Outcome + 'a;

/// The velocity in the normal law of a sliding contact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema))]
pub enum FrictionLaw {
    /// Coulomb's law: the normal force is that of its spring-damper, independent of the slip.
    #[default]
    Coulomb,
    /// The convex relaxation in one pass: a contact that slides at speed s behaves as if it also
    /// opened at μ s, so it floats at height h μ s. Faster; exact where nothing slides.
    Associated,
}

/// Limits and tolerances of [`super::SoftConstraintSolver`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolverOptions {
    /// The kind of program.
    pub method: Method,
    /// The friction law; [`Method::LeastForces`] has its own.
    pub friction_law: FrictionLaw,
    /// Largest residual of momentum and of the laws, relative to the momentum, > 0 [1].
    pub tolerance: f64,
    /// Newton steps of one inner problem.
    pub newton_limit: u32,
    /// Passes of the outer iteration, for each strategy.
    pub pass_limit: u32,
}

impl Default for SolverOptions {
    fn default() -> Self {
        Self {
            method: Method::Velocities,
            friction_law: FrictionLaw::Coulomb,
            tolerance: 1e-10,
            newton_limit: 100,
            pass_limit: 100,
        }
    }
}

/// Velocities and forces at the end of the step.
#[derive(Clone, Debug, Default)]
pub struct ConstraintSolution {
    /// v₁, nv. On entry the guess, e.g. v₀; it changes the cost, not the answer beyond the
    /// tolerance.
    pub velocity: Vec<f64>,
    /// λ₁ of all rows [N], a contact's in the order (r, s, n).
    pub forces: Vec<f64>,
    /// The active set that [`Method::Forces`] and [`Method::LeastForces`] without circular cones
    /// begin from and end with; empty, or of another problem's length, is a cold start.
    pub working_set: Vec<f64>,
    /// Energy that the forces of a method in forces put into bodies and springs in the step [J], 0
    /// with [`Method::Velocities`] and within rounding. The law gains none but by the rate biases;
    /// [`Method::LeastForces`] can.
    pub gained_energy: f64,
}
