//! Worlds of many free bodies: convex solids in absolute coordinates over a plane.
//!
//! # Tour
//!
//! - [`Scene`]: the bodies, the ground, gravity and friction; [`Motion`]: positions and velocities
//!   of the bodies.
//! - [`Contacts::find`]: the contacts that can close within a step, by [`crate::collision`].
//! - [`FreeMotion::begin`]: inertia and momentum of a step without contacts;
//!   [`FreeMotion::advance`]: the step itself, with the velocities that a method found.
//! - Three methods that find them: [`push_constraints`] for [`crate::soft_constraints`],
//!   [`RigidContacts`] for any solver of [`legwork_qp::ContactProblem`], [`CompliantStep`] for
//!   forces of springs at smaller steps.
//!
//! # One step
//!
//! Semi-implicit Euler: `M v₁ = M v + Δt f + Δt Jᵀλ`, then `x₁ = x + Δt v₁` and a turn by ω₁ that
//! keeps the angular momentum `I ω₁` and so changes the spin once more, see
//! [`FreeMotion::advance`]. M, J and gaps are those at the step's beginning.
//!
//! The contacts of a step are those which can close within it: nearer than the relative motion of
//! the pair, or than the motion of any body along their normal, as an impact may pass its velocity
//! on.
//!
//! | symbol | identifier | shape | unit | meaning |
//! |---|---|---|---|---|
//! | n | `scene.bodies.len()` | | | bodies |
//! | x | `positions` | 3n | m | centres |
//! | | `orientations` | 4n | | unit quaternions (w, x, y, z), `world_from_body` |
//! | v | `velocities` | 6n | m/s, rad/s | of each body, linear first, world axes |

mod compliant;
mod contacts;
mod implicit;
mod motion;
mod rigid;

use nalgebra::Vector3;

use crate::collision::Solid;
use crate::geometry::Plane;
pub use compliant::{CompliantStep, PairFriction, RegularisedContact};
pub use contacts::{Contact, Contacts};
pub use implicit::push_constraints;
pub use motion::{FreeMotion, energy};
pub use rigid::{FreeProblem, RigidContacts};

/// Velocities of a body.
pub const DOF: usize = 6;

/// A rigid body whose principal axes are those of its solid.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// What collides.
    pub solid: Solid,
    /// Mass, > 0 [kg].
    pub mass: f64,
    /// Principal moments of inertia, > 0 [kg m²].
    pub moments: Vector3<f64>,
    /// Whether nothing moves it. Its velocity must be zero.
    pub is_fixed: bool,
}

impl Body {
    /// A body of uniform density.
    #[must_use]
    pub fn uniform(solid: Solid, mass: f64) -> Self {
        let moments = mass * solid.moments_per_mass();
        Self { solid, mass, moments, is_fixed: false }
    }

    /// Whether its inertia is the same about all axes, so that its orientation does not matter.
    #[must_use]
    pub fn is_round(&self) -> bool {
        matches!(self.solid, Solid::Sphere { .. })
    }
}

/// The bodies, and their common parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// The bodies.
    pub bodies: Vec<Body>,
    /// The ground.
    pub ground: Plane,
    /// Acceleration of free fall along −z, ≥ 0 [m/s²].
    pub gravity: f64,
    /// Coulomb friction μ of all contacts, ≥ 0 [1].
    pub friction: f64,
}

/// Positions and velocities of the bodies; see the module docs for the shapes.
#[derive(Clone, Copy, Debug)]
pub struct Motion<'a> {
    /// Centres, 3n [m].
    pub positions: &'a [f64],
    /// Unit quaternions, 4n.
    pub orientations: &'a [f64],
    /// Velocities, 6n [m/s, rad/s].
    pub velocities: &'a [f64],
}

/// Stiffness of the springs between two bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Elasticity {
    /// Hertz's spheres, `f = 4/3 E* √r d^{3/2}`.
    Hertz {
        /// Combined modulus E* [Pa].
        modulus: f64,
        /// Radius r of a cuboid's edges and corners [m].
        edge_radius: f64,
    },
    /// Linear springs, `f = K d`.
    Spring {
        /// K [N/m].
        stiffness: f64,
    },
}

impl Elasticity {
    /// Stiffness K [N/m^e] and exponent e of a contact with this radius of curvature [m]; `None`
    /// means that of an edge.
    #[must_use]
    pub fn stiffness(&self, radius: Option<f64>) -> (f64, f64) {
        match *self {
            Self::Hertz { modulus, edge_radius } => {
                (4.0 / 3.0 * modulus * radius.unwrap_or(edge_radius).sqrt(), 1.5)
            }
            Self::Spring { stiffness } => (stiffness, 1.0),
        }
    }
}

pub(crate) fn three(numbers: &[f64]) -> Vector3<f64> {
    Vector3::new(numbers[0], numbers[1], numbers[2])
}
