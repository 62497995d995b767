//! The formulation in which a step is solved, and what happens if it is not: parameters.

use legwork_block::Invalid;
use legwork_block::quantity::{Dimensionless, Positive};
use legwork_contact::soft_constraints::{FrictionLaw, Method};
use legwork_qp::Cone;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::contact::friction_cone::cone_shape;
use crate::solvers::on_fail::OnFail;

/// The formulation in which the constraint solver solves a step.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum ConstraintMethod {
    /// Convex minimisation over velocities by Newton's method, with Coulomb's circular cone; its
    /// cost goes with bodies and rows.
    #[default]
    Velocities,
    /// The same law as a program in forces, dense, whose cost goes with the cube of the rows: by
    /// the active-set method, warm, or by Clarabel's interior points where a contact has friction
    /// and the cone is circular; those are exact to about 1e-6.
    Forces {
        /// Friction cone: `Circular` (the default), `Pyramid(sides: 4, fit: Circumscribed)`.
        #[serde(default = "circular")]
        cone: Cone,
    },
    /// Drumwright's program as it is written, by the same solvers: the least forces that are at
    /// least those of the springs. That is the law for a single row, for rows that do not push each
    /// other harder, and for joints; elsewhere springs at rest may push. A sliding contact is
    /// pressed harder, so that friction stops it, unless `zeta` exceeds about `(Δt B W)²`, with the
    /// tangential B and W the inverse inertia at the contact; above, a body on several contacts
    /// slips rather than load them unevenly.
    LeastForces {
        /// ζ, the weight of normal forces and limits against tangential forces, above zero [1];
        /// default 1 s/Δt, the paper's.
        #[serde(default)]
        zeta: Option<Positive<Dimensionless>>,
        /// Friction cone: `Circular` (the default), `Pyramid(sides: 4, fit: Circumscribed)`.
        #[serde(default = "circular")]
        cone: Cone,
    },
}

fn circular() -> Cone {
    Cone::Circular
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
            Self::LeastForces { .. } if on_fail == OnStepFail::Associated => {
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

/// What to do when a step of constraints is not solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum OnStepFail {
    /// Stop the run with a fault.
    #[default]
    Stop,
    /// Repeat the forces of the last step that was solved, at most this many steps in a row; then
    /// stop.
    HoldLast {
        /// Most steps in a row [1].
        max: u32,
    },
    /// No constraint and contact acts in this step: bodies go on as if there were none.
    Zero,
    /// Solve the step under the convex law, `friction_law: Associated`; stop if that fails.
    Associated,
}

impl OnStepFail {
    /// The policy once the convex law was tried.
    pub(crate) fn last_resort(self) -> OnFail {
        match self {
            Self::Stop | Self::Associated => OnFail::Stop,
            Self::HoldLast { max } => OnFail::HoldLast { max },
            Self::Zero => OnFail::Zero,
        }
    }
}
