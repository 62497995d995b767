//! Contact with the ground and between bodies: where robots touch, contact forces by several
//! models, impacts, and numbers that judge them.

mod compliant_contact;
mod contact_forces;
mod contact_metrics;
mod contact_patch;
pub(crate) mod contact_point;
mod free_bodies;
pub(crate) mod friction_cone;
pub(crate) mod gauss_contact;
mod geometry;
mod ground;
mod impact;
mod implicit_contact;
mod shape;

use legwork_block::Registry;

pub use compliant_contact::CompliantContact;
pub use contact_forces::ContactForces;
pub use contact_metrics::ContactMetrics;
pub use contact_patch::ContactPatch;
pub use contact_point::ContactPoint;
pub use free_bodies::{
    BodyGroup, BodyPlaces, BoxGroup, ContactMethod, ContactSpring, FreeBodies, SphereGroup,
};
pub use gauss_contact::GaussContact;
pub use ground::{BodySurface, Ground};
pub use impact::Impact;
pub use implicit_contact::ImplicitContact;
pub use shape::{ContactShape, PatchShape};

/// Adds the blocks of this shelf.
pub(crate) fn register(r: &mut Registry) {
    r.block::<CompliantContact>("CompliantContact(mu: 0.7)");
    r.block::<ContactForces>("ContactForces()");
    r.block::<ContactMetrics>("ContactMetrics(mu: 0.7, settle: \"0.3 s\")");
    r.block::<ContactPatch>(
        "ContactPatch(robot: \"go\", frame: \"FL_foot\", shape: Circle(radius: \"2 cm\"))",
    );
    r.block::<ContactPoint>("ContactPoint(robot: \"go\", frame: \"FL_foot\")");
    r.block::<FreeBodies>(
        "FreeBodies(bodies: [Spheres(radius: \"10 cm\", mass: \"1 kg\", at: Lattice(count: 10))], \
         contact: Constraints(spring: Hertz(modulus: \"100 GPa\")))",
    );
    r.block::<GaussContact>("GaussContact(mu: 0.7)");
    r.block::<Impact>("Impact(mu: 0.7)");
    r.block::<ImplicitContact>("ImplicitContact(robot: \"go\", law: (mu: 0.7))");
}
