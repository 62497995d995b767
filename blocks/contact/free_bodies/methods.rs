//! How contact forces between bodies are computed: parameters.

use legwork_block::quantity::{
    Damping, Dimensionless, Length, NonNegative, Positive, Pressure, Stiffness, Velocity,
};
use legwork_block::{Invalid, parameters};
use legwork_contact::free_bodies::{Elasticity, RegularisedContact};
use legwork_contact::soft_constraints::FrictionLaw;
use legwork_contact::{Ground, RecoveryLimit};
use legwork_qp::Cone;

use crate::constraints::constraint_solver::{ConstraintMethod, OnStepFail};

/// How contact forces are found.
#[parameters]
pub enum ContactMethod {
    /// Implicit spring-dampers of any stiffness at any step, by the constraint solver: sparse, for
    /// thousands of bodies.
    Constraints {
        /// Springs along the normals.
        spring: ContactSpring,
        /// Damping B along the normals [N s/m].
        #[default = 0]
        damping: NonNegative<Damping>,
        /// B along the tangents [N s/m]; default 10⁶ kg/Δt.
        friction_damping: Option<NonNegative<Damping>>,
        /// The formulation: `Velocities` (the default), `Forces(cone: Circular)`,
        /// `LeastForces(zeta: 100)`, see `ConstraintSolver`; those in forces are dense, and begin
        /// every step anew.
        #[default]
        method: ConstraintMethod,
        /// `Coulomb` (the default) or `Associated`: faster, but a contact that slides at speed v
        /// hovers by `Δt μ v`.
        #[default]
        friction_law: FrictionLaw,
        /// Largest residual, relative, above zero [1].
        #[default = 1e-10]
        tol: f64,
        /// What to do when a step is not solved.
        #[default]
        on_fail: OnStepFail,
    },
    /// Gauss's principle at velocity level, solved by the function `solve`: any solver block of the
    /// contact problem. Dense, for tens of bodies.
    Rigid {
        /// Most contacts at once, the size of the problem; more are a fault [1].
        contacts: usize,
        /// Friction cone: `Circular` (the default), or `Pyramid(sides: 4, fit: Inscribed)`, whose
        /// error depends on the direction; see `GaussContact`.
        #[default = Cone::Circular]
        cone: Cone,
        /// Stiffness K of linear springs in the contacts [N/m]; default: nothing gives way.
        stiffness: Option<Positive<Stiffness>>,
        /// Their damping in overlap [N s/m]; default 0.
        damping: Option<NonNegative<Damping>>,
        /// Without stiffness: highest speed at which overlap is pushed out [m/s].
        #[default = "0.02 m/s"]
        recovery_speed: NonNegative<Velocity>,
        /// Without stiffness: share of an overlap to remove in one step, up to 1 [1].
        #[default = 0.2]
        recovery_share: NonNegative<Dimensionless>,
    },
    /// Forces of springs, dampers and regularised friction, at smaller steps of their own.
    Compliant {
        /// Springs along the normals.
        spring: ContactSpring,
        /// Damping along the normals in overlap [N s/m].
        #[default = 0]
        damping: NonNegative<Damping>,
        /// Slip speed at which friction is full [m/s]; a loaded contact creeps below it.
        #[default = "0.1 mm/s"]
        slip_speed: Positive<Velocity>,
        /// Small steps per step, 1 or more [1].
        #[default = 20]
        steps: u32,
    },
}

/// The spring along the normal of a contact.
#[parameters]
pub enum ContactSpring {
    /// Hertz's spheres: `f = 4/3 E* √r d^{3/2}` with `1/r = 1/r₁ + 1/r₂`, 1/r of ground and faces
    /// being 0.
    Hertz {
        /// Combined modulus E* of two bodies, and of a body and the ground [Pa].
        modulus: Positive<Pressure>,
        /// Radius r of contacts between cuboids, and with the ground [m].
        #[default = "1 cm"]
        edge_radius: Positive<Length>,
    },
    /// A linear spring in each contact: `f = K d`.
    Spring {
        /// K [N/m].
        stiffness: Positive<Stiffness>,
    },
}

/// Most contacts of a dense problem: its matrix has 5.6·10⁷ entries at this size.
pub(super) const MOST_CONTACTS: usize = 2_500;

impl ContactSpring {
    pub(super) fn elasticity(&self) -> Elasticity {
        match self {
            Self::Hertz { modulus, edge_radius } => {
                Elasticity::Hertz { modulus: modulus.value(), edge_radius: edge_radius.value() }
            }
            Self::Spring { stiffness } => Elasticity::Spring { stiffness: stiffness.value() },
        }
    }
}

impl ContactMethod {
    pub(super) fn check(&self) -> Result<(), Invalid> {
        let bad = |message: String| Err(Invalid::parameter("contact", message));
        match self {
            Self::Constraints { tol, .. } if !(*tol > 0.0 && tol.is_finite()) => {
                bad(format!("expected a residual above zero, found {tol}"))
            }
            Self::Constraints { method, friction_law, on_fail, .. } => {
                method.check(*friction_law, *on_fail)
            }
            Self::Rigid { contacts, .. } if !(1..=MOST_CONTACTS).contains(contacts) => {
                bad(format!("expected 1 to {MOST_CONTACTS} contacts, found {contacts}"))
            }
            Self::Rigid { stiffness: None, damping: Some(_), .. } => {
                bad("expected damping of springs, found no `stiffness`".to_owned())
            }
            Self::Rigid { recovery_share, .. } if recovery_share.value() > 1.0 => {
                bad(format!("expected a share of at most 1, found {}", recovery_share.value()))
            }
            Self::Compliant { steps: 0, .. } => bad("expected small steps, found none".to_owned()),
            _ => Ok(()),
        }
    }

    /// What gives way in rigid contacts.
    pub(super) fn ground(&self) -> Ground {
        match self {
            Self::Rigid { stiffness, damping, recovery_speed, recovery_share, .. } => Ground {
                spring: stiffness.map(|k| (k.value(), damping.map_or(0.0, NonNegative::value))),
                recovery: RecoveryLimit {
                    fraction: recovery_share.value(),
                    max_speed: recovery_speed.value(),
                },
            },
            Self::Constraints { .. } | Self::Compliant { .. } => Ground::default(),
        }
    }

    /// The law of compliant contacts and their small steps.
    pub(super) fn regularised(&self) -> Option<(RegularisedContact, u32)> {
        let Self::Compliant { spring, damping, slip_speed, steps } = self else { return None };
        let law = RegularisedContact {
            elasticity: spring.elasticity(),
            damping: damping.value(),
            slip_speed: slip_speed.value(),
        };
        Some((law, *steps))
    }
}
