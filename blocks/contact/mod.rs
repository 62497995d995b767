//! Contact with the ground and between bodies: where robots touch, contact forces by several
//! models, impacts, and numbers that judge them.

mod collisions;
mod compliant_contact;
mod contact_forces;
mod contact_metrics;
mod contact_patch;
pub(crate) mod contact_point;
mod depth;
mod free_bodies;
pub(crate) mod friction_cone;
pub(crate) mod gauss_contact;
mod geometry;
pub(crate) mod ground;
pub(crate) mod hulls;
mod impact;
mod implicit_contact;
mod response;
pub(crate) mod shape;
mod sole;

use legwork_block::Registry;

pub use collisions::{Collisions, LinkShape};
pub use compliant_contact::CompliantContact;
pub use contact_forces::ContactForces;
pub use contact_metrics::ContactMetrics;
pub use contact_patch::ContactPatch;
pub use contact_point::ContactPoint;
pub use free_bodies::{
    BodyGroup, BodyPlaces, BoxGroup, ContactMethod, ContactSpring, FreeBodies, SolidGroup,
    SolidShape, SphereGroup,
};
pub use gauss_contact::GaussContact;
pub use ground::{BodySurface, Cuboid, Ground};
pub use impact::Impact;
pub use implicit_contact::ImplicitContact;
pub use shape::{ContactShape, PatchShape};

/// Adds the blocks of this shelf.
pub(crate) fn register(r: &mut Registry) {
    let mut shelf =
        r.shelf("contact", "Where robots touch, contact forces, impacts, and metrics of contact.");
    shelf.block::<Collisions>("Collisions(robot: \"go\", self_collision: true)");
    shelf.block::<CompliantContact>("CompliantContact(mu: 0.7)");
    shelf.block::<ContactForces>("ContactForces()");
    shelf.block::<ContactMetrics>("ContactMetrics(mu: 0.7, settle: \"0.3 s\")");
    shelf.block::<ContactPatch>(
        "ContactPatch(robot: \"go\", frame: \"FL_foot\", shape: Circle(radius: \"2 cm\"))",
    );
    shelf.block::<ContactPoint>("ContactPoint(robot: \"go\", frame: \"FL_foot\")");
    shelf.block::<FreeBodies>(
        "FreeBodies(bodies: [Spheres(radius: \"10 cm\", mass: \"1 kg\", at: Lattice(count: 10))], \
         contact: Constraints(spring: Hertz(modulus: \"100 GPa\")))",
    );
    shelf.block::<GaussContact>("GaussContact(mu: 0.7)");
    shelf.ground::<Ground>();
    shelf.block::<Impact>("Impact(mu: 0.7)");
    shelf.block::<ImplicitContact>("ImplicitContact(law: (mu: 0.7))");
}
