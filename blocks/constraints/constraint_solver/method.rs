//! The formulation in which a step is solved, and what happens if it is not: parameters.

use legwork_block::quantity::{Dimensionless, Positive};
use legwork_block::{Invalid, parameters};
use legwork_contact::soft_constraints::{FrictionLaw, Method};
use legwork_qp::Cone;

use crate::contact::friction_cone::cone_shape;
use crate::solvers::on_fail::OnFailOr;

/// The formulation in which the constraint solver solves a step.
#[parameters]
#[derive(Copy, Default)]
pub enum ConstraintMethod {
    /// Convex minimisation over velocities by Newton's method, with Coulomb's circular cone; its
    /// cost goes with bodies and rows.
    #[default]
    Velocities,
    /// The same law as a program in forces, dense, whose cost goes with the cube of the rows: by
    /// the active-set method, warm, or by Clarabel's interior points where a contact has friction
    /// and the cone is circular; those are exact to about 1e-6.
    Forces {
        /// Friction cone: `Circular`, `Pyramid(sides: 4, fit: Circumscribed)`.
        #[default = Cone::Circular]
        cone: Cone,
    },
    /// Drumwright's program as it is written, by the same solvers: the least forces that are at
    /// least those of the springs. That is the law for a single row, for rows that do not push each
    /// other harder, and for joints; elsewhere springs at rest may push. A sliding contact is
    /// pressed harder, so that friction stops it, unless `zeta` exceeds about `(Δt B W)²`, with the
    /// tangential B and W the inverse inertia at the contact; above, a body on several contacts
    /// slips rather than load them unevenly. Pressing can gain energy: the run counts the steps
    /// whose forces do, and how much.
    LeastForces {
        /// ζ, the weight of normal forces and limits against tangential forces, above zero [1];
        /// default 1 s/Δt, the paper's.
        zeta: Option<Positive<Dimensionless>>,
        /// Friction cone: `Circular`, `Pyramid(sides: 4, fit: Circumscribed)`.
        #[default = Cone::Circular]
        cone: Cone,
    },
}

impl ConstraintMethod {
    /// Refuses what is no cone, and a law of sliding where the program has its own.
    pub(crate) fn check(&self, law: FrictionLaw, on_fail: OnStepFail) -> Result<(), Invalid> {
        match self {
            Self::Velocities => Ok(()),
            Self::Forces { cone } => cone_shape(*cone).map(|_| ()),
            Self::LeastForces { .. } if law == FrictionLaw::Associated => {
                let message = "expected `Coulomb` with `method: LeastForces`, which has a law of \
                               sliding of its own";
                Err(Invalid::parameter("friction_law", message))
            }
            Self::LeastForces { .. } if on_fail.fallback().is_some() => {
                let message = "expected another policy with `method: LeastForces`, which has a \
                               law of sliding of its own";
                Err(Invalid::parameter("on_fail", message))
            }
            Self::LeastForces { cone, .. } => cone_shape(*cone).map(|_| ()),
        }
    }

    /// The solver's option in steps of this length [s].
    pub(crate) fn method(&self, time_step: f64) -> Method {
        match *self {
            Self::Velocities => Method::Velocities,
            Self::Forces { cone } => Method::Forces { cone },
            Self::LeastForces { zeta, cone } => Method::LeastForces {
                zeta: zeta.map_or(1.0 / time_step, |zeta| zeta.value()),
                cone,
            },
        }
    }
}

/// What to do when a step of constraints is not solved; with `Zero` no constraint and contact acts.
pub type OnStepFail = OnFailOr<FallbackLaw>;

/// The law of friction under which a step is solved instead.
#[parameters]
#[derive(Copy, PartialEq, Eq)]
pub enum FallbackLaw {
    /// The convex law, that of `friction_law: Associated`; the run stops if that fails.
    Associated,
}
